"""A project that came from elsewhere starts nothing and grants nothing before its user agrees."""

from __future__ import annotations

import shutil

from tests.support.homeport import Home, scripted


def cloned(home: Home) -> Home:
    """The project of one user in the hands of another, who has agreed to nothing."""
    home.write(
        f'[project]\nname = "theirs"\n[servers.alpha]\n{scripted()}\n[profiles.default.grants.alpha]\ncan = ["*"]\n'
    )
    home.run("lock", "--yes")
    other = Home(home.root / "o")
    shutil.copytree(home.project, other.root / "project", ignore=shutil.ignore_patterns(".homeport"))
    return other


def test_a_call_is_refused_with_the_command_that_agrees(home: Home) -> None:
    other = cloned(home)
    told = other.run("call", "alpha", "echo", "--text", "x", check=1).stderr
    assert "homeport trust" in told


def test_up_serves_but_the_server_is_untrusted_and_nothing_is_listed(home: Home) -> None:
    other = cloned(home)
    with other.up():
        states = {row["name"]: row for row in other.json("ps")["servers"]}
    assert states["alpha"]["state"] == "untrusted"
    assert states["alpha"]["remedy"] == "homeport trust"


def test_trust_without_a_terminal_is_refused_and_yes_agrees(home: Home) -> None:
    other = cloned(home)
    assert "scripted.py" in other.run("trust", check=1).stderr
    other.run("trust", "--yes")
    assert other.run("call", "alpha", "echo", "--text", "hi").stdout.strip() == "hi"


def test_inside_an_agents_session_nobody_can_agree(home: Home) -> None:
    other = cloned(home)
    other.extra["CLAUDECODE"] = "1"
    assert "Claude Code" in other.run("trust", check=1).stderr


def test_a_changed_launch_ends_the_agreement(home: Home) -> None:
    other = cloned(home)
    other.run("trust", "--yes")
    for file in (other.project / "homeport.toml", other.project / "homeport.lock"):
        file.write_text(file.read_text().replace("scripted.py", "hostile.py"))
    assert "homeport trust" in other.run("call", "alpha", "echo", "--text", "x", check=1).stderr


def test_a_strangers_grants_count_for_nothing_even_where_the_launch_is_trusted(home: Home) -> None:
    other = cloned(home)
    other.run("trust", "--yes")
    file = other.project / "homeport.toml"
    file.write_text(file.read_text().replace("[profiles", "[profiles.wider.grants.alpha]\ncan = ['*']\n\n[profiles", 1))
    assert "homeport trust" in other.run("call", "alpha", "echo", "--text", "x", check=1).stderr


def test_a_grant_in_an_untrusted_project_says_that_it_does_not_count_yet(home: Home) -> None:
    other = cloned(home)
    told = other.run("grant", "alpha", "add", "--yes").stderr
    assert "until you agree" in told
    assert "homeport trust" in told


def test_what_is_agreed_to_is_shown_whole(home: Home) -> None:
    home.write(
        f'[project]\nname = "theirs"\n[servers.alpha]\n{scripted()}\n'
        '[profiles.default]\napproval = "confirm"\nrestrict = { text = ["acme*"] }\n'
        '[profiles.default.grants.alpha]\ncan = ["echo"]\nmay_ask = ["sampling"]\n'
        '[[profiles.default.grants.alpha.rule]]\ntool = "echo"\npin = { text = "fixed" }\n'
    )
    told = home.run("lock", check=1).stderr
    for part in ("approval confirm", "restrict: text = acme*", "may_ask: sampling", 'pin: text = "fixed"'):
        assert part in told


def test_a_changed_address_variable_ends_the_agreement(home: Home) -> None:
    server = scripted() + 'env = { API_URL = "https://one.example", KEY = "{env:HOME}" }\n'
    home.write(f'[project]\nname = "x"\n[servers.alpha]\n{server}\n[profiles.default.grants.alpha]\ncan = ["*"]\n')
    home.run("lock", "--yes")
    file = home.project / "homeport.toml"
    file.write_text(file.read_text().replace("one.example", "two.example"))
    assert "homeport trust" in home.run("call", "alpha", "where", check=1).stderr
