"""What commands write: nothing is lost when several write at once, and no project changes another's secret."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from tests.support.homeport import Home


def test_servers_added_at_once_are_all_there(home: Home) -> None:
    home.run("init")
    names = [f"server-{number}" for number in range(6)]
    with ThreadPoolExecutor(3) as several:
        list(several.map(lambda name: home.run("add", name, "--", "python3", "-c", "pass"), names))

    text = (home.project / "homeport.toml").read_text("utf-8")
    assert [name for name in names if f"[servers.{name}]" not in text] == []
    assert {path.name for path in home.project.iterdir()} == {"homeport.toml", ".homeport"}


def test_a_second_project_does_not_overwrite_the_secret_of_the_first(home: Home) -> None:
    file = home.project / "homeport.toml"
    written: list[str] = []
    for value in ("value-of-one", "value-of-two", "value-of-one"):
        home.run("add", "alpha", "--env", f"API_KEY={value}", "--", "python3", "-c", "pass")
        written.append(file.read_text("utf-8"))
        file.unlink()

    assert "{secret:alpha.API_KEY}" in written[0]
    assert "{secret:alpha.API_KEY-2}" in written[1]
    assert "{secret:alpha.API_KEY}" in written[2]
    assert not any("value-of" in text for text in written)
