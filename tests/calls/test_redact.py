"""Arguments as a person may see them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from homeport.calls.redact import MAX_SHOWN, keys, shown


@pytest.mark.parametrize(
    ("arguments", "sensitive", "expected"),
    [
        ({"a": 1}, (), {"a": 1}),
        ({"API_Key": "x", "nested": [{"password": "y", "z": 1}]}, (), None),
        ({"a": {"b": "s", "c": 1}}, ("a.b",), {"a": {"b": "[hidden]", "c": 1}}),
        ({"list": [{"v": 1}, {"v": 2}]}, ("list[].v",), {"list": [{"v": "[hidden]"}, {"v": "[hidden]"}]}),
    ],
)
def test_what_is_secret_is_hidden(arguments: object, sensitive: tuple[str, ...], expected: object) -> None:
    text = shown(json.dumps(arguments).encode(), sensitive)
    expected = expected or {"API_Key": "[hidden]", "nested": [{"password": "[hidden]", "z": 1}]}
    assert json.loads(text) == expected


def test_long_arguments_are_cut() -> None:
    assert len(shown(json.dumps({"a": "x" * 100_000}).encode())) == MAX_SHOWN


@given(st.binary(max_size=100))
def test_any_bytes_are_shown_without_a_fault(data: bytes) -> None:
    assert isinstance(shown(data), str)
    assert isinstance(keys(data), list)


def test_the_names_are_sorted_and_bounded() -> None:
    assert keys(b'{"b":1,"a":2}') == ["a", "b"]
    assert len(keys(json.dumps({str(number): 0 for number in range(1000)}).encode())) == 64
    assert keys(b"[1]") == []
