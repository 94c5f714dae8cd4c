"""Edits of the project file: what was asked for is there, and every other byte is as it was."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homeport.ground.errors import Conflict, InvalidInput
from homeport.project import edit
from homeport.project.parse import parse

MINE = """\
# my servers
[project]
name    = 'studio'   # odd blanks stay

# the clock
[servers.clock]
command = "clock"

[servers.paint]
command = "paint"   # the best
[servers.paint.app.linux]
presence = "executable"
location = "/opt/paint"

# who may
[profiles.default]
approval = "confirm"

[profiles.default.grants.clock]
can = ["now"]   # only this
[[profiles.default.grants.clock.rule]]
tool = "now"

[profiles.ci.grants.paint]
can = ["*"]
# the end
"""


def removed_lines(before: str, after: str) -> list[str]:
    import difflib

    return [
        line[2:]
        for line in difflib.ndiff(before.splitlines(), after.splitlines())
        if line.startswith("- ") and line[2:]
    ]


def test_a_new_project_is_a_valid_one() -> None:
    project = parse(edit.new_project('my "own" project').encode(), root=Path("/x"))

    assert (project.name, dict(project.servers), list(project.profiles)) == ('my "own" project', {}, ["default"])


def test_a_server_is_added_behind_the_others_and_nothing_else_changes() -> None:
    after = edit.add_server(MINE, "tracker", {"url": "https://x.example/mcp", "headers": {"A": "{secret:a}"}})

    assert removed_lines(MINE, after) == []
    assert after.index("[servers.paint.app.linux]") < after.index("[servers.tracker]") < after.index("# who may")
    assert '[servers.tracker]\nurl = "https://x.example/mcp"\nheaders = { A = "{secret:a}" }\n\n# who may' in after


def test_a_server_with_a_declaration_gets_tables_of_its_own() -> None:
    app = {"linux": {"presence": "executable", "location": [{"kind": "command", "name": "gimp"}]}}
    after = edit.add_server(MINE, "gimp", {"command": "gimp-mcp", "app": app, "requires": {"app": True}})

    assert "[servers.gimp.app.linux]\npresence" in after
    assert parse(after.encode(), root=Path("/x")).servers["gimp"].declaration is not None


def test_the_first_server_stands_before_the_profiles() -> None:
    after = edit.add_server(edit.new_project("x"), "a", {"command": "a"})

    assert after == '[project]\nname = "x"\n\n[servers.a]\ncommand = "a"\n\n[profiles.default]\n'


def test_a_server_of_the_same_name_is_a_conflict() -> None:
    with pytest.raises(Conflict) as caught:
        edit.add_server(MINE, "clock", {"command": "x"})

    assert caught.value.code == "project.server_exists"


def test_a_removed_server_takes_its_grants_and_rules_along_and_leaves_the_rest() -> None:
    after = edit.remove_server(MINE, "clock")

    assert removed_lines(MINE, after) == [
        "[servers.clock]",
        'command = "clock"',
        "[profiles.default.grants.clock]",
        'can = ["now"]   # only this',
        "[[profiles.default.grants.clock.rule]]",
        'tool = "now"',
    ]
    assert "clock" not in parse(after.encode(), root=Path("/x")).servers


def test_removing_a_server_that_is_not_there_names_those_that_are() -> None:
    with pytest.raises(InvalidInput) as caught:
        edit.remove_server(MINE, "clok")

    assert "clock, paint" in caught.value.remedy


def test_adding_and_removing_leaves_the_text_as_it_was() -> None:
    assert edit.remove_server(edit.add_server(MINE, "z", {"command": "z"}), "z") == MINE


def test_a_grant_is_changed_in_place_with_its_rules_and_comments_kept() -> None:
    after = edit.set_grant(MINE, "default", "clock", ["now", "then"], never=["reset"])

    assert after == MINE.replace('can = ["now"]', 'can = ["now", "then"]').replace(
        "# only this\n", '# only this\nnever = ["reset"]\n'
    )


def test_a_new_grant_stands_with_the_others_of_its_profile() -> None:
    after = edit.set_grant(MINE, "default", "paint", ["draw"])

    assert removed_lines(MINE, after) == []
    assert after.index('tool = "now"') < after.index("[profiles.default.grants.paint]") < after.index("[profiles.ci")


def test_an_emptied_key_is_removed_and_an_empty_can_is_written() -> None:
    once = edit.set_grant(MINE, "default", "clock", ["now"], prompts=["*"])
    after = edit.set_grant(once, "default", "clock", [], prompts=[])

    assert tomllib.loads(after)["profiles"]["default"]["grants"]["clock"] == {"can": [], "rule": [{"tool": "now"}]}


def test_an_unchanged_grant_leaves_the_text_alone() -> None:
    assert edit.set_grant(MINE, "default", "clock", ["now"]) == MINE


def test_a_grant_is_taken_away() -> None:
    assert "paint" not in parse(edit.remove_grant(MINE, "ci", "paint").encode(), root=Path("/x")).profiles
    assert edit.remove_grant(MINE, "default", "paint") == MINE


INLINE = """\
servers = { a = { command = "a" } }
profiles.default.grants.a.can = ["x"]
[project]
name = "x"
"""


def test_tables_written_in_one_line_are_edited_too() -> None:
    added = edit.add_server(INLINE, "b", {"command": "b"})
    granted = edit.set_grant(added, "default", "b", ["*"])
    project = parse(granted.encode(), root=Path("/x"))

    assert set(project.servers) == {"a", "b"}
    assert project.profiles["default"].grants["b"].can == ("*",)
    assert set(parse(edit.remove_server(granted, "a").encode(), root=Path("/x")).servers) == {"b"}


def test_windows_line_ends_stay() -> None:
    before = MINE.replace("\n", "\r\n")
    after = edit.set_grant(edit.add_server(before, "z", {"command": "z"}), "default", "clock", ["then"])

    assert after.count("\n") == after.count("\r\n")
    assert "\r\r" not in after


def test_text_that_is_not_toml_is_not_touched() -> None:
    with pytest.raises(InvalidInput):
        edit.add_server("[project\n", "a", {"command": "a"})


names = st.sampled_from(["a", "b", "clock", "paint", "new-one"])
profiles = st.sampled_from(["default", "ci", "other"])
texts = st.text(st.characters(codec="utf-8"), max_size=30)
tables = st.fixed_dictionaries(
    {"command": texts.filter(bool)},
    optional={"args": st.lists(texts, max_size=4), "env": st.dictionaries(texts, texts, max_size=2)},
)
operations = st.lists(
    st.tuples(st.just("add"), names, tables)
    | st.tuples(st.just("remove"), names, st.none())
    | st.tuples(st.just("grant"), names, st.tuples(profiles, st.lists(texts, max_size=3))),
    max_size=6,
)


@settings(max_examples=60)
@given(st.sampled_from([MINE, INLINE, MINE.replace("\n", "\r\n"), ""]), operations)
def test_any_series_of_edits_does_exactly_what_it_says(text: str, series: list[Any]) -> None:
    for verb, name, argument in series:
        document = tomllib.loads(text)
        servers = document.get("servers", {})
        if verb == "add" and name not in servers:
            text = edit.add_server(text, name, argument)
            document.setdefault("servers", {})[name] = argument
        elif verb == "remove" and name in servers:
            text = edit.remove_server(text, name)
            del servers[name]
            for profile in document.get("profiles", {}).values():
                profile.get("grants", {}).pop(name, None)
        elif verb == "grant":
            profile, can = argument
            text = edit.set_grant(text, profile, name, can)
            grants = document.setdefault("profiles", {}).setdefault(profile, {}).setdefault("grants", {})
            grants.setdefault(name, {})["can"] = can
        assert edit._pruned(tomllib.loads(text)) == edit._pruned(document)
