"""What is agreed to, made of a project; and whether the lock still says what the project says."""

from __future__ import annotations

from pathlib import Path

import pytest

from homeport.packages.pins import new_runtime
from homeport.project import agreement
from homeport.project.model import Server
from homeport.project.parse import parse

TEXT = """\
[project]
name = "x"
[servers.clock]
runtime = { python = "clock==1.0" }
args = ["--fast"]
[servers.paint]
command = "./paint"
args = ["a"]
cwd = "sub"
env = { KEY = "{secret:key}" }
[servers.far]
url = "https://mcp.example.com/mcp"
headers = { Authorization = "Bearer {secret:far}" }
[servers.js]
runtime = { node = "@s/js@1.0.0", command = "other" }
[profiles.default.grants.clock]
can = ["now"]
[[profiles.default.grants.clock.rule]]
tool = "now"
pin = { zone = 1.50 }
deny = { zone = ["^x"] }
"""
RUNTIME = new_runtime("python", "clock==1.0", [])


def servers(text: str = TEXT) -> dict[str, Server]:
    return dict(parse(text.encode(), root=Path("/x")).servers)


def profiles(text: str = TEXT) -> str:
    return agreement.profiles_digest(parse(text.encode(), root=Path("/x")).profiles)


def test_a_source_is_told_in_one_line() -> None:
    assert {name: agreement.source_line(server.source) for name, server in servers().items()} == {
        "clock": "python clock==1.0",
        "paint": "command ./paint",
        "far": "https://mcp.example.com/mcp",
        "js": "node @s/js@1.0.0 (other)",
    }


def test_a_pin_is_current_until_its_server_changes() -> None:
    clock, paint, far = (servers()[name] for name in ("clock", "paint", "far"))
    pin = agreement.new_pin(clock, entry=("{runtime}/bin/clock",), runtime=RUNTIME)

    assert pin.argv == ("{runtime}/bin/clock", "--fast")
    assert agreement.is_current(clock, pin)
    assert agreement.is_current(paint, agreement.new_pin(paint))
    assert agreement.is_current(far, agreement.new_pin(far))


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("clock", "clock==1.0", "clock==1.1"),
        ("clock", '["--fast"]', '["--slow"]'),
        ("clock", '["--fast"]', "[]"),
        ("clock", 'runtime = { python = "clock==1.0" }', 'command = "clock"'),
        ("paint", '"./paint"', '"./other"'),
        ("paint", 'args = ["a"]', 'args = ["b"]'),
        ("far", "example.com", "example.org"),
        ("js", '"other"', '"another"'),
    ],
)
def test_a_changed_server_is_no_longer_what_is_locked(name: str, old: str, new: str) -> None:
    before = servers()[name]
    entry = ("{runtime}/bin/x",) if name in {"clock", "js"} else ()
    pin = agreement.new_pin(before, entry=entry, runtime=RUNTIME if entry else None)

    assert not agreement.is_current(servers(TEXT.replace(old, new))[name], pin)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('["now"]', '["now", "then"]'),
        ("1.50", "1.51"),
        ('"^x"', '"^y"'),
        ('tool = "now"', 'tool = "now"\nsensitive = ["zone"]'),
        (
            "[profiles.default.grants.clock]",
            "[profiles.default]\napproval = 'confirm'\n[profiles.default.grants.clock]",
        ),
    ],
)
def test_any_change_of_a_grant_or_rule_needs_a_new_agreement(old: str, new: str) -> None:
    assert profiles(TEXT.replace(old, new)) != profiles()


@pytest.mark.parametrize(
    ("old", "new"), [("[project]", "# moved down\n\n[project]"), ("1.50", "1.5"), ('["^x"]', '"^x"')]
)
def test_another_spelling_of_the_same_grants_is_the_same(old: str, new: str) -> None:
    assert profiles(TEXT.replace(old, new)) == profiles()


def test_a_launch_covers_what_is_locked() -> None:
    clock = servers()["clock"]
    pin = agreement.new_pin(clock, entry=("{runtime}/bin/clock",), runtime=RUNTIME)
    launch = agreement.launch(clock, pin)

    assert (launch.argv, launch.runtime) == (("{runtime}/bin/clock", "--fast"), RUNTIME.digest)
    assert agreement.launch_digest(clock, pin) != agreement.launch_digest(clock, None)
