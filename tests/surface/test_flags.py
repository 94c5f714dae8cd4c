"""Schemas as flags and tokens as arguments: rows C and D of surface.md section 13, S1-S50 of section 4.2."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from tests.surface.fixtures import ALL, F, granted, loads, properties, tool, view

from homeport.ground.errors import InvalidInput
from homeport.ground.exact import Json
from homeport.surface.binding import Bound, Sources, bind
from homeport.surface.flags import Form, form, help_line
from homeport.surface.naming import Named, commands, kebab

FILES = {"body.txt": "line one\nline $two & three\n", "nul.txt": "a\0b"}
ISSUE = form(F[0]["inputSchema"])


def run(found: Form, *tokens: str, stdin: str = "") -> Bound:
    return bind(found, tokens, Sources(FILES.__getitem__, lambda: stdin))


def sent(schema: Any, *tokens: str, stdin: str = "") -> Any:
    return json.loads(run(form(schema), *tokens, stdin=stdin).arguments)


def refused(schema: Json, *tokens: str) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        run(form(schema), *tokens)
    return caught.value


def one(schema: Json, *tokens: str) -> object:
    """What the property `f` becomes."""
    return sent(properties(f=schema), *tokens).get("f", "absent")


# C. Names


@pytest.mark.parametrize(
    ("name", "command"),
    [
        pytest.param("list_issue", "list-issue", id="surface-47"),
        ("getUser", "get-user"),
        ("HTTPServerStart", "http-server-start"),
        pytest.param("admin.tools.list", "admin-tools-list", id="surface-51"),
        ("a/b:c d", "a-b-c-d"),
        ("__x__", "x"),
        ("日本", ""),
    ],
)
def test_a_tools_name_becomes_a_command(name: str, command: str) -> None:
    assert kebab(name) == command


def test_two_named_tools_with_one_command_ask_for_a_name() -> None:  # surface-48, surface-50
    found = commands([Named("getUser", explicit=True), Named("get_user", explicit=True)])
    assert found.clashes == [("get-user", ("getUser", "get_user"))]
    assert found.commands == {"getUser": "getUser", "get_user": "get_user"}
    text = '[default.grants.tracker]\ncan = ["a_b", "a-b"]'
    clashing = view(text, tool("a_b", properties()), tool("a-b", properties()))
    assert [problem.code for problem in clashing.problems] == ["policy.command_clash"]


def test_the_same_two_under_a_wildcard_get_a_number_and_a_warning() -> None:  # surface-49
    found = view(ALL, tool("getUser", properties()), tool("get_user", properties()))
    assert [entry.command for entry in found.tools("tracker")] == ["get-user", "get-user-2"]
    assert [problem.code for problem in found.warnings] == ["policy.command_renamed"]
    assert found.problems == ()


def test_a_reserved_command_is_moved_and_a_nameless_one_numbered() -> None:  # surface-52
    found = commands([Named("help"), Named("日本"), Named("x", override="mine")])
    assert found.commands == {"help": "tool-help", "日本": "tool-2", "x": "mine"}


def test_a_tool_is_found_by_its_name_and_by_its_command() -> None:
    found = view(ALL)
    assert found.command("list_issue", "tracker") is found.command("list-issue", "tracker")


def test_reserved_properties_move_and_the_engines_flags_stay() -> None:  # surface-53, surface-54
    schema = properties(query={"type": "string"}, help={"type": "string"})
    bound = run(form(schema), "--arg-query", "a", "--query", "$.x", "--arg-help=h", "--help")
    assert json.loads(bound.arguments) == {"query": "a", "help": "h"}
    assert bound.engine == {"query": ("$.x",), "help": ("",)}
    assert run(form(schema), "--homeport-query", "$.y").engine == {"query": ("$.y",)}


def test_properties_that_fold_alike_keep_their_own_spelling() -> None:  # surface-55
    schema = properties(repoName={"type": "string"}, repo_name={"type": "string"})
    assert sent(schema, "--repoName", "a", "--repo_name", "b") == {"repoName": "a", "repo_name": "b"}


def test_a_property_is_also_reached_by_its_verbatim_name() -> None:
    assert sent(properties(repo_name={"type": "string"}), "--repo_name", "a") == {"repo_name": "a"}
    assert sent(properties(repo_name={"type": "string"}), "--repo-name", "a") == {"repo_name": "a"}


def test_a_property_named_like_a_negation_wins_over_it() -> None:  # surface-56
    schema = properties(cache={"type": "boolean"}, no_cache={"type": "boolean"})
    assert sent(schema, "--no-cache", "--cache=false") == {"no_cache": True, "cache": False}


@pytest.mark.parametrize("name", ["func", "self", "class", "command", "$filter", "имя", "%s", "json"])
def test_a_property_of_any_name_has_a_flag(name: str) -> None:  # surface-58
    found = form(properties(**{name: {"type": "string", "description": "100% sure"}}))
    assert json.loads(run(found, f"{found.flags[0].spelling}=x").arguments) == {name: "x"}
    assert "100% sure" in help_line(found.flags[0])  # surface-57


def test_an_empty_property_name_is_reached_as_json_only() -> None:  # surface-58
    found = form(properties(**{"": {"type": "string"}}))
    assert (found.flags, found.json_only) == ((), ("",))
    assert json.loads(run(found, "--args", '{"": "x"}').arguments) == {"": "x"}


def test_a_flag_is_never_abbreviated() -> None:  # surface-59, surface-95
    error = refused(F[0]["inputSchema"], "--own", "x")
    assert error.code == "call.unknown_flag"
    assert "--owner" in error.remedy


def test_deep_and_recursive_schemas_have_a_json_flag() -> None:  # surface-60, surface-61
    deep: Json = {"type": "string"}
    for _ in range(9):
        deep = properties(a=deep)
    assert form(properties(f=deep)).fidelity == {"f": "json"}
    recursive: Json = {"$defs": {"n": properties(next={"$ref": "#/$defs/n"})}, **properties(f={"$ref": "#/$defs/n"})}
    assert sent(recursive, '--f={"next":{}}') == {"f": {"next": {}}}
    loop: Json = {"$defs": {"n": {"$ref": "#/$defs/n"}}, **properties(f={"$ref": "#/$defs/n"})}
    assert form(loop).fidelity == {"f": "json"}


# S1-S50


@pytest.mark.parametrize(
    ("schema", "tokens", "value"),
    [
        pytest.param({"type": "string"}, ["--f="], "", id="S1"),
        pytest.param({"type": "integer"}, ["--f=1.0"], 1, id="S2"),
        pytest.param({"type": "integer"}, ["--f=+7"], 7, id="S2-sign"),
        pytest.param({"type": "number"}, ["--f", "1.50"], 1.5, id="S3"),
        pytest.param({"type": "boolean"}, ["--f"], True, id="S4"),
        pytest.param({"type": "boolean"}, ["--no-f"], False, id="S4-no"),
        pytest.param({"type": "boolean"}, ["--f=false"], False, id="S4-false"),
        pytest.param({"type": "boolean"}, [], "absent", id="S4-unset"),
        pytest.param({"type": "array", "items": {"type": "string"}}, ["--f=a,b"], ["a,b"], id="surface-78"),
        pytest.param({"type": "array", "items": {"type": "string"}}, ["--f=a", "--f=b"], ["a", "b"], id="surface-79"),
        pytest.param({"type": "array", "items": {"type": "string"}}, ['--f=["a","b"]'], ["a", "b"], id="surface-80"),
        pytest.param({"type": "array", "items": {"type": "string"}}, ["--f=[]"], [], id="surface-81"),
        pytest.param({"type": "array", "items": {"type": "string"}}, ["--f=[draft] x"], ["[draft] x"], id="S5-text"),
        pytest.param({"type": "array", "items": {"type": "string"}}, ["--f=[1]"], ["[1]"], id="S5-other"),
        pytest.param({"type": "array", "items": {"type": "integer"}}, ["--f=1", "--f", "2"], [1, 2], id="surface-82"),
        pytest.param({"type": "array", "items": {"type": "number"}}, ["--f=1.5", "--f=-2"], [1.5, -2], id="S6"),
        pytest.param(
            {"type": "array", "items": {"type": "boolean"}}, ["--f=true", "--f=false"], [True, False], id="S7"
        ),
        pytest.param({"type": "array"}, ['--f=[1,"a"]'], [1, "a"], id="S8"),
        pytest.param(
            {"type": "array", "items": {"type": "object"}},
            ['--f={"a":1}', '--f={"b":2}'],
            [{"a": 1}, {"b": 2}],
            id="S9",
        ),
        pytest.param({"type": "array", "items": {"type": "object"}}, ['--f=[{"a":1}]'], [{"a": 1}], id="surface-86"),
        pytest.param({"type": "array", "items": {"type": "array"}}, ["--f=[[1]]"], [[1]], id="S10"),
        pytest.param({"type": "array", "prefixItems": [{}, {}]}, ['--f=[1,"a"]'], [1, "a"], id="S11"),
        pytest.param({"type": "object"}, ['--f={"a":1}'], {"a": 1}, id="surface-83"),
        pytest.param({"enum": [1, 2]}, ["--f=2"], 2, id="surface-64"),
        pytest.param({"enum": ["1", 1]}, ["--f=1"], "1", id="S16-mixed"),
        pytest.param({"type": ["string", "null"], "enum": ["a", None]}, ["--f=@null"], None, id="S17"),
        pytest.param({"const": "v1"}, [], "absent", id="S18-optional"),
        pytest.param({"type": ["string", "null"]}, ["--f=@null"], None, id="surface-66"),
        pytest.param({"type": ["string", "integer"]}, ["--f=5"], 5, id="S20"),
        pytest.param({"type": ["string", "integer"]}, ["--f=5x"], "5x", id="S20-text"),
        pytest.param({"type": ["string", "integer"]}, ['--f:json="5"'], "5", id="S20-forced"),
        pytest.param({"anyOf": [{"type": "integer"}, {"type": "null"}]}, ["--f=5"], 5, id="surface-63"),
        pytest.param({"anyOf": [{"type": "integer"}, {"type": "null"}]}, [], "absent", id="surface-63-unset"),
        pytest.param({"anyOf": [{"type": "integer"}, {"type": "boolean"}]}, ["--f=true"], True, id="S22"),
        pytest.param({"oneOf": [properties(), properties()]}, ['--f={"k":1}'], {"k": 1}, id="S23"),
        pytest.param({"allOf": [{"type": "integer"}, {"minimum": 1}]}, ["--f=5"], 5, id="S24"),
        pytest.param({}, ["--f=text"], "text", id="surface-69"),
        pytest.param(True, ["--f=5"], 5, id="S28"),
        pytest.param({"type": "string", "default": "x"}, [], "absent", id="S39"),
    ],
)
def test_a_shape_becomes_a_value(schema: Json, tokens: Sequence[str], value: object) -> None:
    assert one(schema, *tokens) == value


def test_a_local_reference_is_followed() -> None:
    schema: Json = {"$defs": {"n": {"type": "integer"}}, **properties(f={"$ref": "#/$defs/n", "description": "d"})}
    assert sent(schema, "--f=5") == {"f": 5}


def test_a_required_const_is_filled_in_and_another_value_refused() -> None:  # surface-65
    schema: Json = {**properties(version={"const": "v1"}), "required": ["version"]}
    assert sent(schema) == {"version": "v1"}
    assert refused(schema, "--version=v2").code in {"call.value", "call.unknown_flag"}
    assert refused({**schema, "properties": {"f": {"const": 1}}}, "--f=2").code == "call.value"


def test_a_property_that_accepts_nothing_has_no_flag() -> None:
    assert refused(properties(f=False), "--f=1").code == "call.unknown_flag"


def test_required_without_a_property_comes_by_json() -> None:  # surface-70
    schema: Json = {**properties(), "required": ["ghost"]}
    assert form(schema).json_only == ("ghost",)
    assert sent(schema, "--args", '{"ghost": 1}') == {"ghost": 1}
    assert sent(schema, "--arg", "ghost=1") == {"ghost": 1}


def test_properties_of_root_alternatives_have_flags_and_the_schema_decides() -> None:  # surface-67
    schema: Json = {
        "type": "object",
        "oneOf": [
            {"properties": {"id": {"type": "integer"}}, "required": ["id"]},
            {"properties": {"name": {"type": "string"}}, "required": ["name"]},
        ],
    }
    assert sent(schema, "--id", "5") == {"id": 5}
    found = granted(view(ALL, tool("t", schema)), "t")
    assert found.check(b'{"id":5}')[1] is None
    assert found.check(b"{}")[1] is not None
    assert found.check(b'{"id":5,"name":"x"}')[1] is not None


def test_a_closed_schema_is_served_closed() -> None:  # surface-68
    schema: Json = {**properties(a={}), "additionalProperties": False}
    assert granted(view(ALL, tool("t", schema)), "t").definition["inputSchema"] == schema


def test_fidelity_is_told_per_property() -> None:
    schema = properties(
        a={"type": "string", "description": "d"}, b={"type": "integer", "minimum": 1}, c={"type": "object"},
        d={"type": "string", "enum": ["x"]},
    )  # fmt: skip
    assert form(schema).fidelity == {"a": "exact", "b": "checked", "c": "json", "d": "exact"}


def test_help_tells_type_choices_bounds_and_default() -> None:
    found = form(
        {**properties(f={"type": "integer", "minimum": 1, "default": 5, "description": "How\nmany"}), "required": ["f"]}
    )
    assert help_line(found.flags[0]) == "required; integer; minimum 1; default 5. How many"


# D. Binding


@pytest.mark.parametrize(
    ("tokens", "code"),
    [
        pytest.param(["--state", "merged"], "call.value", id="surface-73"),
        pytest.param(["--limit", "0x10"], "call.value", id="hexadecimal"),
        pytest.param(["--limit", "1_000"], "call.value", id="underscore"),
        pytest.param(["--limit", "NaN"], "call.value", id="surface-98"),
        pytest.param(["positional"], "call.positional", id="surface-96"),
        pytest.param(["--"], "call.positional", id="dashes"),
        pytest.param(["--owner"], "call.no_value", id="no value"),
        pytest.param(["--owner", "--limit"], "call.no_value", id="a flag as value"),
        pytest.param(["--owner=a", "--owner=b"], "call.repeated", id="twice"),
        pytest.param(["--args", "-", "--owner", "@-"], "call.stdin", id="surface-94"),
        pytest.param(["--args", "-", "--args", "-"], "call.repeated", id="surface-94-twice"),
        pytest.param(["--args", "[]"], "call.args", id="args no object"),
        pytest.param(["--args", '{"a":1,"a":2}'], "call.args", id="args duplicate"),
        pytest.param(["--owner=a\udcffb"], "call.value", id="surface-99"),
        pytest.param(["--owner", "@nul.txt"], "call.value", id="surface-99-nul"),
        pytest.param(["--dry-run=yes"], "call.value", id="switch with value"),
    ],
)
def test_a_command_line_that_cannot_be_meant_is_refused(tokens: list[str], code: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        run(ISSUE, *tokens, stdin="{}")
    assert caught.value.code == code


def test_choices_are_listed() -> None:  # surface-73
    with pytest.raises(InvalidInput, match="none of the choices") as caught:
        run(ISSUE, "--state", "merged")
    assert caught.value.remedy == "one of: open, closed"


def test_bad_json_is_refused_with_its_position() -> None:  # surface-84
    assert "line 1, column 2" in refused(properties(f={"type": "object"}), "--f={bad").message


def test_a_list_for_an_object_is_refused() -> None:  # surface-85
    assert refused(properties(f={"type": "object"}), "--f=[1]").code == "call.value"


def test_a_boolean_does_not_swallow_the_next_word() -> None:  # surface-88
    assert refused(properties(f={"type": "boolean"}), "--f", "false").remedy == "write --f=false"


@pytest.mark.parametrize(
    ("tokens", "arguments"),
    [
        pytest.param(["--limit", "010"], {"limit": 10}, id="surface-75"),
        pytest.param(["--limit", "5.0"], {"limit": 5}, id="surface-76"),
        pytest.param(["--limit", "99999999999999999999"], {"limit": 99999999999999999999}, id="surface-77"),
        pytest.param(["--owner", "000123"], {"owner": "000123"}, id="surface-87"),
        pytest.param(["--owner", ""], {"owner": ""}, id="surface-90"),
        pytest.param([], {}, id="surface-91"),
        pytest.param(["--owner", "@body.txt"], {"owner": FILES["body.txt"]}, id="surface-92"),
        pytest.param(["--owner", "@@body"], {"owner": "@body"}, id="literal at"),
        pytest.param(["--owner", "-"], {"owner": "from stdin"}, id="stdin"),
        pytest.param(
            ["--args", '{"owner":"a","limit":1}', "--owner", "b"], {"owner": "b", "limit": 1}, id="surface-93"
        ),
        pytest.param(["--limit", "-5"], {"limit": -5}, id="surface-97"),
        pytest.param(["--owner=-5"], {"owner": "-5"}, id="dash value"),
    ],
)
def test_tokens_become_arguments(tokens: list[str], arguments: object) -> None:
    assert json.loads(run(ISSUE, *tokens, stdin="from stdin").arguments) == arguments


def test_a_default_true_boolean_can_be_turned_off() -> None:  # surface-89
    assert one({"type": "boolean", "default": True}, "--no-f") is False


def test_exact_numbers_are_sent() -> None:
    found = form(loads('{"type":"object","properties":{"n":{"type":"number"},"i":{"type":"integer"}}}'))
    assert run(found, "--n=0.1000000000000000055", "--i=9007199254740993").arguments == (
        b'{"n":0.1000000000000000055,"i":9007199254740993}'
    )


def test_a_deprecated_flag_is_reported() -> None:
    assert run(form(properties(f={"type": "string", "deprecated": True})), "--f=x").deprecated == ("--f",)
