"""JSON-RPC messages at this edge: the envelope is read, everything in it stays the bytes it was.

A message is one JSON object in UTF-8. Batches, ids that are neither strings nor integers, and nesting beyond the limit
are refused (2025-11-25 and 2026-07-28, *basic*). What we write is one line, and a response begins with
`{"jsonrpc":"2.0","id":`, which nothing else does: `homeport.connect` finds ids by it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from homeport.gateway.faults import Fault
from homeport.ground import exact
from homeport.ground.errors import InvalidInput
from homeport.ground.limits import DEFAULT

MAX_ID: Final = 1024
"""Bytes of a request id as written. Ids are echoed and kept; nobody needs longer ones."""

_ABSENT: Final = Raw(b"")


class _Envelope(Struct, gc=False):
    jsonrpc: str | UnsetType = UNSET
    id: Raw = _ABSENT
    method: str | UnsetType = UNSET
    params: Raw = _ABSENT
    result: Raw = _ABSENT
    error: Raw = _ABSENT


class Request(Struct, frozen=True, gc=False):
    """A request: its id as raw JSON, its method, and every member of its `params`, raw."""

    id: bytes
    method: str
    params: dict[str, Raw]


class Notification(Struct, frozen=True, gc=False):
    """A notification."""

    method: str
    params: dict[str, Raw]


class Response(Struct, frozen=True, gc=False):
    """An answer to a request of ours: exactly one of `result` and `error`, raw."""

    id: bytes
    result: bytes | None
    error: bytes | None


Message: TypeAlias = Request | Notification | Response

_envelope: Final = msgspec.json.Decoder(_Envelope)
_members: Final = msgspec.json.Decoder(dict[str, Raw])
_text: Final = msgspec.json.Decoder(str)
_encoder: Final = msgspec.json.Encoder()


def read(body: bytes, *, depth: int = DEFAULT.depth) -> Message:
    """One message out of a body or a line.

    Raises `Fault`: `rpc.parse` for what is not JSON in UTF-8, `rpc.invalid` for JSON that is no message. Where an id
    was readable, the fault carries it.
    """
    envelope = _decode(body, depth)
    identity = bytes(envelope.id)
    if envelope.jsonrpc != "2.0":
        raise Fault('"jsonrpc" must be "2.0"', code="rpc.invalid", request=_echoable(identity))
    if identity and not _is_id(identity):
        raise Fault("an id is a string or an integer", code="rpc.invalid")
    if isinstance(envelope.method, str):
        params = _params(envelope.params, identity)
        return Request(identity, envelope.method, params) if identity else Notification(envelope.method, params)
    result, error = bytes(envelope.result), bytes(envelope.error)
    if not identity or bool(result) == bool(error):
        raise Fault("this is no request, notification or response", code="rpc.invalid", request=_echoable(identity))
    return Response(identity, result or None, error or None)


def members(raw: Raw | bytes) -> dict[str, Raw]:
    """The members of a raw JSON object. Raises `Fault` (`rpc.params`) if it is none."""
    try:
        return _members.decode(raw)
    except (msgspec.MsgspecError, RecursionError):
        raise Fault("an object is expected here", code="rpc.params") from None


def text(raw: Raw | bytes | None) -> str | None:
    """A raw JSON string decoded; None for anything else."""
    if raw is None:
        return None
    try:
        return _text.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def encode(value: Any) -> bytes:
    """A value of ours as one line of JSON; `Raw` members stay the bytes they are."""
    return _encoder.encode(value)


def exact_bytes(value: exact.Json) -> bytes:
    """A definition as it was received, as bytes; half a surrogate pair, which UTF-8 cannot hold, stays an escape."""
    # A lone surrogate stands in a string only, where its backslash form is the JSON escape.
    return exact.dumps(value).encode("utf-8", "backslashreplace")


def result_of(identity: bytes, result: bytes) -> bytes:
    """A response that holds a result."""
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (identity, result)


def error_of(identity: bytes, error: bytes) -> bytes:
    """A response that holds an error; an empty id becomes `null`."""
    return b'{"jsonrpc":"2.0","id":%b,"error":%b}' % (identity or b"null", error)


def notification(method: str, params: bytes = b"") -> bytes:
    """A notification of ours."""
    if params:
        return b'{"jsonrpc":"2.0","method":%b,"params":%b}' % (encode(method), params)
    return b'{"jsonrpc":"2.0","method":%b}' % encode(method)


def request(identity: bytes, method: str, params: bytes) -> bytes:
    """A request of ours to a legacy client."""
    return b'{"jsonrpc":"2.0","method":%b,"id":%b,"params":%b}' % (encode(method), identity, params or b"{}")


def joined(parts: Mapping[str, bytes | Raw]) -> bytes:
    """An object out of raw members, in their order."""
    return _encoder.encode({name: part if isinstance(part, Raw) else Raw(part) for name, part in parts.items()})


def one_line(raw: bytes) -> bytes:
    """Raw JSON without the line breaks a server put between its tokens; inside strings JSON has none."""
    if b"\n" in raw or b"\r" in raw:
        return raw.replace(b"\n", b" ").replace(b"\r", b" ")
    return raw


def _decode(body: bytes, depth: int) -> _Envelope:
    try:
        if not body.isascii():
            body.decode("utf-8")
        if body.count(b"[") + body.count(b"{") > depth:
            exact.check_depth(body.decode("utf-8"), depth)
        return _envelope.decode(body)
    except msgspec.ValidationError as error:
        raise Fault(f"not a JSON-RPC message: {error}", code="rpc.invalid") from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise Fault("the body is not one JSON value in UTF-8", code="rpc.parse") from None
    except (InvalidInput, RecursionError):
        raise Fault(f"nested deeper than {depth}", code="rpc.invalid") from None


def _params(raw: Raw, identity: bytes) -> dict[str, Raw]:
    if not bytes(raw):
        return {}
    try:
        return _members.decode(raw)
    except msgspec.MsgspecError:
        raise Fault('"params" must be an object', code="rpc.invalid", request=identity) from None


def _is_id(raw: bytes) -> bool:
    if len(raw) > MAX_ID:
        return False
    if raw[:1] == b'"':
        return text(raw) is not None
    return raw.lstrip(b"-").isdigit()


def _echoable(identity: bytes) -> bytes:
    return identity if identity and _is_id(identity) else b""
