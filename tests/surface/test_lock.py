"""The surface file: rows B of surface.md section 13, quarantine, and what any bytes do."""

from __future__ import annotations

import contextlib
import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.surface.fixtures import DELETE, LIST_ISSUE, SEARCH, F, loads, properties, surface, tool

from homeport.ground import exact
from homeport.ground.errors import InvalidInput
from homeport.ground.exact import Json
from homeport.surface import lock
from homeport.surface.lock import dump, from_listing, parse, relock
from homeport.surface.model import ServerIdentity


def test_locking_an_unchanged_server_twice_gives_the_same_bytes() -> None:  # surface-27
    assert dump(surface()) == dump(surface())


def test_another_order_of_tools_leaves_the_file_as_it_is() -> None:  # surface-28
    first = dump(surface())
    assert relock(first, surface(*reversed(F))) == first


def test_another_order_of_members_leaves_the_file_as_it_is() -> None:
    first = dump(surface())
    shuffled = [exact.loads(json.dumps(json.loads(text), sort_keys=True)) for text in (LIST_ISSUE, DELETE, SEARCH)]
    other = surface(*shuffled)
    assert dump(other) != first
    assert relock(first, other) == first


def test_a_changed_definition_is_written() -> None:
    changed = surface(*F[:2], tool("search", properties(query={"type": "string"}, since={"type": "string"})))
    assert relock(dump(surface()), changed) == dump(changed)


def test_everything_offered_is_locked_whatever_is_granted() -> None:  # surface-29
    assert len(surface(*[tool(f"t{index}", properties()) for index in range(40)]).tools) == 40


def test_one_changed_byte_is_noticed_and_the_item_named() -> None:  # surface-39
    edited = dump(surface()).replace(b"Lists issues.", b"Lists issues!")
    with pytest.raises(InvalidInput) as caught:
        parse(edited, file="homeport.surface/tracker.json")
    assert caught.value.code == "surface.digest"
    assert "list_issue" in str(caught.value)
    assert str(caught.value).startswith("homeport.surface/tracker.json")


def test_a_newer_format_is_refused_with_what_to_do() -> None:  # surface-40
    with pytest.raises(InvalidInput) as caught:
        parse(dump(surface()).replace(b'"format": 1', b'"format": 2', 1))
    assert caught.value.code == "surface.newer_format"
    assert "newer" in caught.value.remedy


def test_a_file_above_the_cap_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:  # surface-41
    monkeypatch.setattr(lock, "MAX_FILE", 100)
    with pytest.raises(InvalidInput) as caught:
        parse(dump(surface()))
    assert caught.value.code == "surface.unreadable"


def test_a_name_listed_twice_is_quarantined_and_the_others_stand() -> None:  # surface-42
    found = surface(*F, loads(SEARCH))
    assert found.quarantined["search"].code == "item.duplicate"
    assert set(found.tools) == {"list_issue", "delete_repository"}


@pytest.mark.parametrize(
    ("schema", "code"),
    [
        pytest.param({"type": "string"}, "schema.not_object", id="surface-43"),
        pytest.param(None, "schema.missing", id="missing"),
        pytest.param(["x"], "schema.not_object", id="a list"),
        pytest.param({}, "schema.not_object", id="no type"),
        pytest.param(properties(a={"type": "int"}), "schema.invalid", id="S31"),
        pytest.param({"type": "object", "properties": 5}, "schema.invalid", id="S48"),
        pytest.param(properties(a={"$ref": "https://example.com/s.json"}), "schema.reference", id="surface-62"),
        pytest.param(properties(a={"$ref": "#/$defs/none"}), "schema.reference", id="dangling"),
        pytest.param({"type": "object", "allOf": [{"$ref": "#"}]}, "schema.endless", id="endless"),
        pytest.param({"type": "object", "$schema": "https://example.com/d"}, "schema.dialect", id="dialect"),
        pytest.param({"type": "object", "anyOf": [{}] * 20_000}, "schema.too_large", id="branches"),
        pytest.param(properties(a={"type": "number", "x-mcp-header": "A"}), "tool.header", id="S41"),
    ],
)
def test_an_unusable_tool_is_quarantined_alone(schema: Json, code: str) -> None:
    found = surface(*F, {"name": "bad", "inputSchema": schema} if schema is not None else {"name": "bad"})
    assert found.quarantined["bad"].code == code
    assert set(found.tools) == {"list_issue", "delete_repository", "search"}
    assert parse(dump(found)) == found


def test_a_bad_output_schema_quarantines_too() -> None:
    found = surface(tool("bad", properties(), outputSchema={"type": "array"}))
    assert found.quarantined["bad"].code == "output_schema.not_object"


@pytest.mark.parametrize("definition", [None, 5, "x", [], {}, {"name": 5}, {"name": ""}, {"name": "a\u0000b"}])
def test_a_definition_without_a_name_is_kept_aside(definition: Json) -> None:
    found = surface(*F, definition)
    assert len(found.quarantined) == 1
    assert len(found.tools) == 3
    assert parse(dump(found)) == found


def test_integers_and_decimals_survive_exactly() -> None:  # surface-44
    schema = properties(
        n={"type": "integer", "minimum": 9007199254740993}, d={"type": "number", "maximum": exact.Number("1e400")}
    )
    found = parse(dump(surface(tool("t", schema))))
    text = exact.dumps(dict(found.tools["t"].definition))
    assert "9007199254740993" in text
    assert "1e400" in text


def test_members_stay_in_the_order_received() -> None:
    found = parse(
        dump(surface(loads('{"z": 1, "name": "t", "inputSchema": {"type": "object"}, "a": {"y": 1, "b": 2}}')))
    )
    assert list(found.tools["t"].definition) == ["z", "name", "inputSchema", "a"]


def test_prompts_templates_pages_and_identity_are_locked() -> None:
    found = from_listing(
        server=ServerIdentity("Tracker", "1.2", "2025-11-25"),
        instructions="Say please.",
        capabilities={"tools": {}},
        prompts=[{"name": "review"}, {"name": "review"}],
        templates=[{"uriTemplate": "repo://{owner}/{name}", "name": "repo"}],
        pages={"ui://tracker/issues.html": "<p>"},
    )
    assert parse(dump(found)) == found
    assert found.quarantined["prompts/review"].code == "item.duplicate"
    assert found.pages["ui://tracker/issues.html"].startswith("sha256:")


def test_a_lone_surrogate_is_written_as_its_escape() -> None:
    found = surface(loads('{"name": "t", "description": "\\ud800", "inputSchema": {"type": "object"}}'))
    data = dump(found)
    assert b"\\ud800" in data
    assert parse(data) == found


def test_a_listing_of_thousands_is_locked() -> None:
    many = [tool(f"t{index}", properties(a={"type": "string"})) for index in range(2_000)]
    assert len(surface(*many).tools) == 2_000


@given(st.binary(max_size=300))
def test_any_bytes_are_a_surface_or_a_typed_error(data: bytes) -> None:
    with pytest.raises(InvalidInput):
        parse(data)


@given(st.randoms(use_true_random=False))
def test_a_damaged_file_is_a_typed_error(source: random.Random) -> None:
    data = bytearray(dump(surface()))
    for _ in range(3):
        data[source.randrange(len(data))] = source.randrange(256)
    with contextlib.suppress(InvalidInput):
        assert parse(bytes(data)) == surface()


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(JSON_VALUES)
def test_law_11_a_malformed_tool_changes_nothing_for_the_others(broken: Json) -> None:
    alone, beside = surface(*F), surface(*F, broken)
    assert {name: item.digest for name, item in beside.tools.items() if name in alone.tools} == {
        name: item.digest for name, item in alone.tools.items()
    }


@given(st.dictionaries(st.text(max_size=6) | st.just("__proto__"), JSON_VALUES, max_size=4))
def test_law_9_any_meta_is_kept_exactly(meta: dict[str, Json]) -> None:
    found = parse(dump(surface(tool("t", properties(), _meta=meta))))
    assert exact.dumps(dict(found.tools["t"].definition)["_meta"]) == exact.dumps(meta)


@given(st.permutations(list(F)))
def test_law_8_the_order_of_a_listing_changes_no_byte(tools: list[Json]) -> None:
    assert dump(surface(*tools)) == dump(surface())
