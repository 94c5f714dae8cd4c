"""Schemas at work: bounds on what strangers send, selectors and patterns."""

from __future__ import annotations

import contextlib
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.surface.fixtures import properties

from homeport.ground.exact import Number
from homeport.surface import selectors
from homeport.surface.patterns import BadPattern, expressions, globs
from homeport.surface.schemas import Validator, decode, encode, validator
from homeport.surface.selectors import BadSelector, Unrenderable, values
from homeport.surface.visible import visible
from homeport.surface.weight import Unusable, max_instance_depth


def chain(length: int) -> dict[str, Any]:
    """Definitions that each refer twice to the next: 2^length subschemas for one value."""
    defs = {f"d{i}": {"allOf": [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(length)}
    return {"type": "object", "$defs": {**defs, f"d{length}": {"type": "string"}}, "$ref": "#/$defs/d0"}


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(depth):
        schema = properties(a=schema)
    return schema


@pytest.mark.parametrize(
    ("schema", "code"),
    [
        pytest.param(chain(40), "schema.too_large", id="doubling"),
        pytest.param({"anyOf": [{"type": "string"}] * 1_000_000}, "schema.too_large", id="a million branches"),
        pytest.param(nested(100), "schema.too_deep", id="deep"),
        pytest.param({"$ref": "file:///etc/passwd"}, "schema.reference", id="a file"),
        pytest.param({"$ref": 5}, "schema.invalid", id="no text"),
        pytest.param({"$id": "https://example.com/", "$ref": "other"}, "schema.reference", id="relative"),
        pytest.param({"$ref": "#nowhere"}, "schema.reference", id="anchor"),
        pytest.param({"not": {"$ref": "#"}}, "schema.endless", id="endless"),
        pytest.param({"pattern": "("}, "schema.invalid", id="pattern"),
        pytest.param("text", "schema.invalid", id="text"),
    ],
)
def test_a_schema_that_cannot_be_bounded_is_refused_quickly(schema: Any, code: str) -> None:
    started = time.perf_counter()
    with pytest.raises(Unusable) as caught:
        Validator(schema)
    assert caught.value.code == code
    assert time.perf_counter() - started < 20


def test_a_schema_that_multiplies_with_depth_bounds_the_depth() -> None:
    doubling: Any = properties(a={"allOf": [{"$ref": "#"}, {"$ref": "#"}]})
    limit = max_instance_depth(doubling)
    assert limit is not None
    value: Any = {}
    for _ in range(60):
        value = {"a": value}
    found = Validator(doubling).violation(value)
    assert found is not None
    assert found.keyword == "depth"
    assert Validator(doubling).violation({"a": {"a": {}}}) is None


def test_a_tree_is_no_such_schema() -> None:
    assert max_instance_depth(properties(left={"$ref": "#"}, right={"$ref": "#"})) is None
    assert max_instance_depth({"items": {"$ref": "#"}, "additionalProperties": {"$ref": "#"}}) is None


def test_anchors_and_definitions_with_escapes_are_followed() -> None:
    schema: Any = {"$defs": {"a/b~c": {"$anchor": "here", "type": "integer"}}, "properties": {"x": {"$ref": "#here"}}}
    assert Validator(schema).violation({"x": "text"}) is not None
    pointer: Any = {"$defs": {"a/b~c": {"type": "integer"}}, "properties": {"x": {"$ref": "#/$defs/a~1b~0c"}}}
    assert Validator(pointer).violation({"x": 1}) is None


def test_an_evil_pattern_in_a_schema_is_bounded() -> None:
    found = Validator(properties(a={"type": "string", "pattern": r"^(?=(a+)+$)(a+)+$"}))
    started = time.perf_counter()
    found.violation({"a": "a" * 5_000 + "b"})
    assert time.perf_counter() - started < 10


def test_numbers_are_compared_exactly() -> None:
    check = validator({"type": "object", "properties": {"n": {"minimum": Number("0.1000000000000000055")}}})
    assert check(b'{"n":0.1000000000000000055}') is None
    assert check(b'{"n":0.1000000000000000054}') is not None
    assert validator({"const": 9007199254740993})(b"9007199254740992") is not None


def test_a_violation_never_shows_the_value() -> None:
    found = Validator(properties(token={"type": "string", "maxLength": 3})).violation({"token": "hunter2-secret"})
    assert found is not None
    assert "hunter2" not in repr(found)


@given(st.binary(max_size=60))
def test_any_bytes_are_a_value_or_a_value_error(data: bytes) -> None:
    with contextlib.suppress(ValueError):
        encode(decode(data))


# Selectors


@pytest.mark.parametrize("text", ["", ".", "a.", ".a", "a..b", "a[", "a]", "a[0]", "[]", 'a"b', "a b[]x"])
def test_what_is_no_path_is_refused(text: str) -> None:
    with pytest.raises(BadSelector):
        selectors.parse(text)


@pytest.mark.parametrize(
    ("selector", "document", "texts"),
    [
        ("a", {"a": "x"}, ["x"]),
        ("a", {}, []),
        ("a", {"a": None}, ["null"]),
        ("a", {"a": True}, ["true"]),
        ("a", {"a": [["x"], "y"]}, ["x", "y"]),
        ("a[]", {"a": "x"}, ["x"]),
        ("a.b", {"a": [{"b": 1}, {"b": [2]}]}, ["1", "2"]),
        ('"a.b".c', {"a.b": {"c": "x"}}, ["x"]),
    ],
)
def test_a_selector_finds_all_values(selector: str, document: Any, texts: list[str]) -> None:
    assert values(selectors.parse(selector), document) == texts


@pytest.mark.parametrize(("selector", "document"), [("a", {"a": {}}), ("a.b", {"a": "x"}), ("a[]", {"a": [{}]})])
def test_a_value_of_another_form_is_not_overlooked(selector: str, document: Any) -> None:
    with pytest.raises(Unrenderable):
        values(selectors.parse(selector), document)


@pytest.mark.parametrize(
    ("text", "number"),
    [("1000000", "1e6"), ("1", "1.0"), ("0.1", "0.10"), ("-5", "-5.0"), ("0", "-0.0"), ("1.5", "15e-1")],
)
def test_numbers_have_one_text(text: str, number: str) -> None:
    assert values(selectors.parse("n"), decode(b'{"n":' + number.encode() + b"}")) == [text]


def test_a_selector_is_looked_up_through_branches_references_and_lists() -> None:
    schema: Any = {
        "$defs": {"o": {"properties": {"deep": {"type": "string"}}}},
        "anyOf": [{"properties": {"a": {"type": "array", "items": {"$ref": "#/$defs/o"}}}}, {"$ref": "#/$defs/o"}],
    }
    assert selectors.resolve(selectors.parse("a[].deep"), schema).scalar
    assert selectors.resolve(selectors.parse("a.deep"), schema).scalar
    assert selectors.resolve(selectors.parse("deep"), schema).scalar
    assert not selectors.resolve(selectors.parse("a"), schema).scalar
    assert selectors.resolve(selectors.parse("a.dep"), schema).names == ("deep",)
    assert not selectors.resolve(selectors.parse("deep[]"), schema).found


# Patterns


@pytest.mark.parametrize(
    ("glob", "text", "matches"),
    [
        ("co-*", "co-x", True),
        ("co-*", "co-x/y", False),
        ("co-**", "co-x/y", True),
        ("a?c", "abc", True),
        ("a?c", "a/c", False),
        ("[a-c]x", "bx", True),
        ("[!a-c]x", "bx", False),
        ("[^a]x", "bx", True),
        (r"a\*", "a*", True),
        (r"a\*", "ab", False),
        ("a.c", "abc", False),
        ("A", "a", False),
        ("a", "a\n", False),
        ("a*", "a\nb", True),
        ("(a|b)", "a", False),
    ],
)
def test_a_glob_matches_as_it_says(glob: str, text: str, matches: bool) -> None:
    assert (globs([glob]).first(text) is not None) is matches


@pytest.mark.parametrize("glob", ["", "[a", "a\\", "[]"])
def test_a_glob_that_cannot_be_meant_is_refused(glob: str) -> None:
    with pytest.raises(BadPattern):
        globs([glob])


@given(st.text(max_size=12))
def test_any_text_is_a_glob_or_a_bad_pattern_and_a_literal_one_matches_itself(text: str) -> None:
    try:
        found = globs([text])
    except BadPattern:
        return
    if not set(text) & set("*?[]\\"):
        assert found.first(text) == 0


@given(st.text(max_size=12))
def test_any_text_is_an_expression_or_a_bad_pattern(text: str) -> None:
    with contextlib.suppress(BadPattern):
        expressions([text]).first("some text")


def test_the_first_of_several_patterns_is_told() -> None:
    found = expressions(["^x", "b", "a"])
    assert found.first("ab") == 1
    assert found.first("zzz") is None


def test_a_large_pattern_is_searched_on_its_own_and_is_right() -> None:
    found = expressions([*(f"^{letter}{{1000}}$" for letter in "abcdefghijklm"), "^end$"])
    assert found.first("end") == 13
    assert found.first("b" * 1_000) == 1
    assert found.first("b" * 999) is None


def test_what_is_hidden_is_written_out() -> None:
    assert visible("a\u202eb\x00") == "a\\u{202e}b\\u{0}"
    assert visible("plain\nلغة 👨‍👩‍👧") == "plain\nلغة 👨‍👩‍👧"
