"""What goes upstream: the caller's members, our names, the leg's own metadata."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from homeport.calls import params
from homeport.calls.operation import Kind
from homeport.ground.errors import InvalidInput
from homeport.upstreams.session import Era, Negotiated

LEGACY = Negotiated(Era.LEGACY, "2025-11-25", b"{}", b"{}")
MODERN = Negotiated(
    Era.MODERN,
    "2026-07-28",
    b"{}",
    b"{}",
    meta=b'{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}',
)


def sent(received: dict[str, bytes], *, kind: Kind = Kind.TOOL, negotiated: Negotiated = LEGACY) -> dict[str, object]:
    return json.loads(params.upstream(kind, "own", received, arguments=b'{"a":1}', negotiated=negotiated))


def test_the_name_and_the_arguments_are_ours() -> None:
    assert sent({"name": b'"served__own"', "arguments": b'{"a":2}'}) == {"name": "own", "arguments": {"a": 1}}


def test_a_resource_is_named_by_its_uri() -> None:
    assert json.loads(
        params.upstream(Kind.RESOURCE, "memo://a", {"uri": b'"x"'}, arguments=None, negotiated=LEGACY)
    ) == {"uri": "memo://a"}


@pytest.mark.parametrize(("ref", "member"), [({"type": "ref/prompt", "name": "s__x"}, "name"), ({"uri": "u"}, "uri")])
def test_a_completion_names_the_servers_own(ref: dict[str, str], member: str) -> None:
    told = json.loads(
        params.upstream(Kind.COMPLETION, "own", {"ref": json.dumps(ref).encode()}, arguments=None, negotiated=LEGACY)
    )
    assert told["ref"] == {**ref, member: "own"}


def test_members_of_the_modern_era_go_to_modern_servers_only() -> None:
    received = {"inputResponses": b"{}", "requestState": b'"s"', "other": b"1"}
    assert sent(received).keys() == {"name", "arguments", "other"}
    assert sent(received, negotiated=MODERN).keys() >= {"inputResponses", "requestState", "other"}


def test_metadata_of_one_leg_stays_on_it() -> None:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2025-01-01",
        "io.modelcontextprotocol/clientInfo": {"name": "x"},
        "io.modelcontextprotocol/logLevel": "info",
        "progressToken": 7,
        "com.example/x": None,
    }
    received = {"_meta": json.dumps(meta).encode()}
    assert sent(received)["_meta"] == {"progressToken": 7, "com.example/x": None}
    assert sent(received, negotiated=MODERN)["_meta"] == {
        "progressToken": 7,
        "com.example/x": None,
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/logLevel": "info",
    }


numbers = st.sampled_from([b"1.0", b"1e400", b"12345678901234567890123", b'"\\u00e9"', b"[1,  2]"])
names = st.text(min_size=1).filter(lambda name: name not in {"name", "uri", "_meta", "arguments", "ref"})


@given(st.dictionaries(names, numbers))
def test_unknown_members_travel_as_the_bytes_they_were(received: dict[str, bytes]) -> None:
    encodable = {name: value for name, value in received.items() if name.encode("utf-8", "ignore").decode() == name}
    whole = params.upstream(Kind.TOOL, "own", encodable, arguments=None, negotiated=LEGACY)
    assert all(value in whole for name, value in encodable.items() if name not in {"inputResponses", "requestState"})


@pytest.mark.parametrize("raw", [b"", b"[]", b"{", b"null"])
def test_what_is_no_object_is_invalid(raw: bytes) -> None:
    with pytest.raises(InvalidInput):
        params.check(Kind.COMPLETION, {"ref": raw})
    with pytest.raises(InvalidInput):
        params.check(Kind.TOOL, {"_meta": raw})


@pytest.mark.parametrize(
    ("declared", "told"),
    [
        (b'{"sampling":{},"elicitation":{"form":{}},"x":1}', b'{"elicitation":{"form":{}}}'),
        (b"{}", b"{}"),
        (b"nonsense", b"{}"),
    ],
)
def test_a_server_is_told_what_it_may_use(declared: bytes, told: bytes) -> None:
    assert params.capabilities(declared, ("elicitation", "roots")) == told
