"""Envelopes: what a line is, and that members stay the bytes they were."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from homeport.upstreams import wire
from homeport.upstreams.session import Reply
from homeport.upstreams.wire import Answer, Asked, Noise, Told

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text(), JSON, max_size=5)


def test_a_result_is_the_bytes_between_the_envelope() -> None:
    line = b'{"jsonrpc":"2.0","id":7,"result":{ "a" : 1.0, "b":1e-400 ,"a":2 } }'
    assert wire.parse(line) == Answer(7, Reply(result=b'{ "a" : 1.0, "b":1e-400 ,"a":2 }'))


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b'{"jsonrpc":"2.0","method":"ping","id":1}', Asked(b"1", "ping", b"{}")),
        (b'{"jsonrpc":"2.0","method":"ping","id":"a\\u0062"}', Asked(b'"a\\u0062"', "ping", b"{}")),
        (b'{"jsonrpc":"2.0","method":"ping","id":-3,"params":{"x":[]}}', Asked(b"-3", "ping", b'{"x":[]}')),
        (b'{"jsonrpc":"2.0","method":"n","params":{}}', Told("n", b"{}")),
        (b'{"jsonrpc":"2.0","id":1,"error":{"code":1}}', Answer(1, Reply(error=b'{"code":1}'))),
        (b'{"jsonrpc":"2.0","id":"1","result":{}}', Answer(-1, Reply(result=b"{}"))),
        (b'{"jsonrpc":"2.0","id":null,"result":{}}', Answer(-1, Reply(result=b"{}"))),
        (b'{"jsonrpc":"2.0","id":1.0,"result":{}}', Answer(-1, Reply(result=b"{}"))),
        (b'{"jsonrpc":"2.0","id":' + b"9" * 10_000 + b',"result":{}}', Answer(-1, Reply(result=b"{}"))),
    ],
)
def test_a_line_is_what_its_members_make_it(line: bytes, kind: wire.Incoming) -> None:
    assert wire.parse(line) == kind


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"hello",
        b"[]",
        b"null",
        b'"x"',
        b"{}",
        b'{"jsonrpc":"2.0"}',
        b'{"id":1,"result":{}}',
        b'{"jsonrpc":"1.0","id":1,"result":{}}',
        b'{"jsonrpc":2.0,"id":1,"result":{}}',
        b'{"jsonrpc":"2.0","method":1}',
        b'{"jsonrpc":"2.0","method":"m","id":null}',
        b'{"jsonrpc":"2.0","method":"m","id":1.5}',
        b'{"jsonrpc":"2.0","method":"m","id":[1]}',
        b'{"jsonrpc":"2.0","method":"m","params":[1]}',
        b'{"jsonrpc":"2.0","method":"m","params":null}',
        b'[{"jsonrpc":"2.0","id":1,"result":{}}]',
        b'{"jsonrpc":"2.0","id":1,"result":{}} {}',
        b'{"jsonrpc":"2.0","id":1,"result":{',
        b"\xff\xfe",
        b'{"jsonrpc":"2.0","method":"\xff"}',
        b'{"jsonrpc":"2.0","id":1,"result":' + b"[" * 100_000,
    ],
)
def test_what_is_no_message_is_noise(line: bytes) -> None:
    assert isinstance(wire.parse(line), Noise)


@pytest.mark.parametrize("rest", [b"", b',"result":{},"error":{}', b',"result":null', b',"result":[]', b',"error":"x"'])
def test_a_response_that_is_none_names_its_fault(rest: bytes) -> None:
    parsed = wire.parse(b'{"jsonrpc":"2.0","id":4%b}' % rest)
    assert isinstance(parsed, Answer)
    assert parsed.id == 4
    assert parsed.fault


@given(st.binary(max_size=300))
def test_parse_never_raises(line: bytes) -> None:
    wire.parse(line)


@given(st.integers(0, 10**12), st.text(min_size=1), OBJECTS, st.sampled_from([None, 2]))
def test_a_request_is_one_line_that_reads_back(number: int, method: str, params: object, indent: int | None) -> None:
    line = wire.request(number, method, json.dumps(params, indent=indent).encode())
    assert b"\n" not in line
    assert json.loads(line) == {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


@given(OBJECTS, JSON)
def test_the_progress_token_is_ours_on_the_way_out_and_theirs_on_the_way_back(
    params: dict[str, object], token: object
) -> None:
    sent = json.dumps(params | {"_meta": {"progressToken": token, "other": 1.50}}).encode()
    swapped, theirs = wire.swap_progress_token(sent, 42)
    assert json.loads(swapped) == params | {"_meta": {"progressToken": 42, "other": 1.5}}
    assert theirs is not None
    told = wire.with_members(b'{"progressToken":42,"progress":1.50,"x":null}', progressToken=theirs)
    assert json.loads(told) == {"progressToken": token, "progress": 1.5, "x": None}
    assert b"1.50" in told


@pytest.mark.parametrize(
    "params",
    [b"{}", b'{"_meta":{}}', b'{"_meta":5,"progressToken":1}', b'{"arguments":{"progressToken":1}}', b"[", b""],
)
def test_parameters_without_a_progress_token_stay_the_same_bytes(params: bytes) -> None:
    assert wire.swap_progress_token(params, 1) == (params, None)


@pytest.mark.parametrize("raw", [b'"5"', b"5.0", b"-5", b"null", b"[]"])
def test_a_foreign_progress_token_is_nobodys(raw: bytes) -> None:
    assert wire.progress_token(b'{"progressToken":%b}' % raw) == -1
    assert wire.progress_token(b'{"progressToken":5}') == 5
    assert wire.progress_token(b"[]") == -1


def test_a_response_repeats_the_id_as_it_was_written() -> None:
    assert wire.response(b'"a\\u0062"', Reply(result=b"{\n}")) == b'{"jsonrpc":"2.0","id":"a\\u0062","result":{ }}'
    assert msgspec.json.decode(wire.response(b"1", Reply()))["error"]["code"] == -32603
