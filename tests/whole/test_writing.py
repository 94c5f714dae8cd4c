"""What commands write: nothing is lost when several write at once, and no project changes another's secret."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
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


def test_every_value_of_the_environment_goes_into_the_store(home: Home) -> None:
    address = "postgres://user:hunter22$word@db/x"
    home.run("add", "alpha", "--env", f"DATABASE_URL={address}", "--env", "HOME_OF={env:HOME}", "--", "python3")

    text = (home.project / "homeport.toml").read_text("utf-8")
    assert "{secret:alpha.DATABASE_URL}" in text
    assert "{env:HOME}" in text
    assert "hunter22" not in text


@pytest.mark.parametrize(
    "words",
    [
        ("--url", "https://example.test/mcp?api_key=hunter22hunter"),
        ("--url", "https://hunter22hunter@example.test/mcp"),
        ("--", "python3", "--token", "hunter22hunter"),
    ],
)
def test_a_secret_in_the_address_or_a_word_is_refused_without_telling_it(home: Home, words: tuple[str, ...]) -> None:
    home.run("init")
    refused = home.run("add", "alpha", *words, check=None)

    assert refused.returncode != 0
    assert "looks like a secret" in refused.stderr
    assert "hunter22" not in refused.stderr + (home.project / "homeport.toml").read_text("utf-8")
