"""What comes in is one JSON-RPC message or a fault, and what goes out is one line."""

from __future__ import annotations

import contextlib
import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from homeport.gateway import messages
from homeport.gateway.faults import Fault, error_members, http_status
from homeport.gateway.messages import Notification, Request, Response

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def body(**members: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **members}).encode()


@given(identity=st.integers(-(10**30), 10**30) | st.text(max_size=50), params=st.dictionaries(st.text(), JSON))
def test_a_request_keeps_its_id_and_every_member(identity: object, params: dict[str, object]) -> None:
    message = messages.read(body(id=identity, method="tools/call", params=params))
    assert isinstance(message, Request)
    assert json.loads(message.id) == identity
    assert {name: json.loads(bytes(raw)) for name, raw in message.params.items()} == params


@given(data=st.binary(max_size=200))
def test_any_bytes_are_a_message_or_a_fault(data: bytes) -> None:
    with contextlib.suppress(Fault):
        assert messages.read(data)


@pytest.mark.parametrize(
    ("data", "code"),
    [
        pytest.param(b"", -32700, id="nothing"),
        pytest.param(b"{", -32700, id="half a body"),
        pytest.param(b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":"\xff"}}', -32700, id="not UTF-8"),
        pytest.param(b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":NaN}}', -32700, id="NaN"),
        pytest.param(b'{"jsonrpc":"2.0","id":1,"method":"x"} {}', -32700, id="two values"),
        pytest.param(b'[{"jsonrpc":"2.0","id":1,"method":"x"}]', -32600, id="a batch"),
        pytest.param(b"17", -32600, id="a number"),
        pytest.param(b'{"id":1,"method":"x"}', -32600, id="no jsonrpc"),
        pytest.param(b'{"jsonrpc":"1.0","id":1,"method":"x"}', -32600, id="another jsonrpc"),
        pytest.param(b'{"jsonrpc":"2.0","id":null,"method":"x"}', -32600, id="a null id"),
        pytest.param(b'{"jsonrpc":"2.0","id":1.5,"method":"x"}', -32600, id="a fractional id"),
        pytest.param(b'{"jsonrpc":"2.0","id":true,"method":"x"}', -32600, id="a boolean id"),
        pytest.param(b'{"jsonrpc":"2.0","id":{},"method":"x"}', -32600, id="an object as id"),
        pytest.param(b'{"jsonrpc":"2.0","id":' + b"9" * 10_000 + b',"method":"x"}', -32600, id="10,000 digits"),
        pytest.param(b'{"jsonrpc":"2.0","id":1,"method":7}', -32600, id="a number as method"),
        pytest.param(b'{"jsonrpc":"2.0","id":1,"method":"x","params":[1]}', -32600, id="params by position"),
        pytest.param(b'{"jsonrpc":"2.0","id":1}', -32600, id="neither request nor response"),
        pytest.param(b'{"jsonrpc":"2.0","id":1,"result":{},"error":{}}', -32600, id="result and error"),
        pytest.param(
            b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":' + b"[" * 300 + b"]" * 300 + b"}}",
            -32600,
            id="too deep",
        ),
        pytest.param(b"[" * 100_000, -32600, id="deep enough to exhaust a stack"),
    ],
)
def test_what_is_no_message_is_refused_by_its_code(data: bytes, code: int) -> None:
    with pytest.raises(Fault) as caught:
        messages.read(data)
    assert error_members(caught.value)["code"] == code
    assert http_status(code) == 400


def test_a_fault_names_the_request_where_its_id_was_readable() -> None:
    with pytest.raises(Fault) as caught:
        messages.read(b'{"jsonrpc":"2.0","id":"seven","method":"x","params":3}')
    assert caught.value.request == b'"seven"'


def test_a_bracket_in_a_string_is_not_depth() -> None:
    assert isinstance(messages.read(body(id=1, method="x", params={"a": "[" * 1000})), Request)


def test_notifications_and_responses_are_told_apart() -> None:
    assert isinstance(messages.read(body(method="notifications/initialized")), Notification)
    answered = messages.read(body(id="a", result={"x": 1}))
    assert answered == Response(b'"a"', b'{"x": 1}', None)
    assert messages.read(body(id=3, error={"code": 1})) == Response(b"3", None, b'{"code": 1}')


def test_only_responses_begin_with_an_id() -> None:
    head = b'{"jsonrpc":"2.0","id":'
    assert messages.result_of(b"1", b"{}").startswith(head)
    assert messages.error_of(b"", b"{}") == head + b'null,"error":{}}'
    assert not messages.request(b"1", "elicitation/create", b"{}").startswith(head)
    assert not messages.notification("notifications/progress", b"{}").startswith(head)


def test_line_breaks_between_tokens_do_not_break_the_line() -> None:
    spread = json.dumps({"a": ["x\ny", 1]}, indent=1).replace("\n", "\r\n").encode()
    assert b"\n" not in messages.one_line(spread)
    assert json.loads(messages.one_line(spread)) == json.loads(spread)


def test_half_a_surrogate_pair_comes_out_as_the_escape_it_was() -> None:
    written = messages.exact_bytes({"description": "\ud800 é"})
    assert written == '{"description":"\\ud800 é"}'.encode()


def test_raw_members_are_joined_unread() -> None:
    assert messages.joined({"a": b"1.50", "b": Raw(b'{"x":  1}')}) == b'{"a":1.50,"b":{"x":  1}}'
    assert msgspec.json.decode(messages.encode({"a": 1})) == {"a": 1}
