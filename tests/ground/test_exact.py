"""Exact JSON: what goes in comes out, equal values have equal canonical bytes, bad input is a typed error."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from homeport.ground import exact
from homeport.ground.errors import InvalidInput

scalars = st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False, allow_infinity=False)
documents = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4)
)


@given(documents)
def test_a_document_survives_with_members_in_order(document: object) -> None:
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    assert exact.dumps(exact.loads(text)) == text


@given(documents)
def test_member_order_and_blanks_do_not_change_the_canonical_bytes(document: object) -> None:
    shuffled = json.dumps(document, sort_keys=True, indent=3)
    assert exact.canonical(exact.loads(json.dumps(document))) == exact.canonical(exact.loads(shuffled))


@given(documents)
def test_canonical_bytes_decode_to_an_equal_document(document: object) -> None:
    value = exact.loads(json.dumps(document))
    assert exact.loads(exact.canonical(value)) == value


@pytest.mark.parametrize(
    "text", ["0.1000000000000000055511151231257827", "1e400", "-0.0", "1.50", "1E5", "12345678901234567890"]
)
def test_a_number_keeps_its_spelling(text: str) -> None:
    assert exact.dumps(exact.loads(text)) == text


@pytest.mark.parametrize(
    ("one", "other"),
    [("1.0", "1"), ("1e0", "1"), ("100", "1e2"), ("0.50", "5e-1"), ("-0.0", "0"), ("1.5E3", "1500"), ("0e5", "0")],
)
def test_numbers_of_one_value_are_equal_and_canonically_one(one: str, other: str) -> None:
    assert exact.loads(one) == exact.loads(other)
    assert exact.canonical(exact.loads(one)) == exact.canonical(exact.loads(other))


def test_numbers_that_a_double_would_merge_stay_apart() -> None:
    assert exact.canonical(exact.loads("0.1")) != exact.canonical(exact.loads("0.1000000000000000055"))
    assert exact.canonical(exact.loads("9007199254740993")) != exact.canonical(exact.loads("9007199254740992"))


def test_an_exponent_chosen_to_exhaust_memory_is_kept_as_text() -> None:
    assert exact.canonical(exact.loads("1e999999999")) == b"1e999999999"


def test_keys_sort_by_utf16_code_units_as_rfc_8785_says() -> None:
    expected = '{"\U0001f600":2,"\ufb33":1}'.encode()
    assert exact.canonical(exact.loads('{"\\ufb33":1,"\\ud83d\\ude00":2}')) == expected


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"{", "json.syntax"),
        (b"", "json.syntax"),
        (b"[1] 2", "json.syntax"),
        (b"NaN", "json.number"),
        (b"-Infinity", "json.number"),
        (b'{"a":1,"a":2}', "json.duplicate_key"),
        (b"\xff", "json.encoding"),
        (b"[" * 201 + b"]" * 201, "json.depth"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "json.depth"),
        (b"1" * 5_000, "json.number"),
    ],
)
def test_what_is_not_one_json_value_is_refused_with_its_code(data: bytes, code: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        exact.loads(data)
    assert caught.value.code == code


def test_brackets_inside_strings_do_not_count_as_depth() -> None:
    text = json.dumps("[" * 5_000)
    assert exact.loads(text) == "[" * 5_000


@given(st.binary(max_size=60))
def test_any_bytes_give_a_value_or_the_one_error(data: bytes) -> None:
    with contextlib.suppress(InvalidInput):
        exact.loads(data)
