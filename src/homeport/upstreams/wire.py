"""JSON-RPC lines without their contents: what a line is, and how ours are written. Pure; members stay raw bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import msgspec

from homeport.upstreams.session import Reply

_EMPTY: Final = b"{}"
_LINE_ENDS: Final = bytes.maketrans(b"\r\n", b"  ")


@dataclass(frozen=True, slots=True)
class Answer:
    """A response. `id` is -1 when it is none that we could have given out; `fault` says why it is not usable."""

    id: int
    reply: Reply
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request of the server; `id` as it was written."""

    id: bytes
    method: str
    params: bytes


@dataclass(frozen=True, slots=True)
class Told:
    """A notification."""

    method: str
    params: bytes


@dataclass(frozen=True, slots=True)
class Noise:
    """Not a message; why."""

    why: str


Incoming: TypeAlias = Answer | Asked | Told | Noise


class _Envelope(msgspec.Struct):
    jsonrpc: str = ""
    id: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    method: str | msgspec.UnsetType = msgspec.UNSET
    params: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    result: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    error: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


_decode: Final = msgspec.json.Decoder(_Envelope).decode
_members: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
encode: Final = msgspec.json.Encoder().encode


def parse(line: bytes) -> Incoming:
    """What one line, or one HTTP body or event, says. Never raises."""
    try:
        envelope = _decode(line)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        return Noise(f"not a JSON-RPC message: {error}")
    if envelope.jsonrpc != "2.0":
        return Noise("a message without jsonrpc 2.0")
    identity = b"" if isinstance(envelope.id, msgspec.UnsetType) else bytes(envelope.id)
    if isinstance(envelope.method, str):
        return _said(envelope.method, identity, envelope.params)
    if not identity:
        return Noise("neither a method nor an id")
    return _answer(envelope, identity)


def _said(method: str, identity: bytes, raw: msgspec.Raw | msgspec.UnsetType) -> Incoming:
    params = _EMPTY if isinstance(raw, msgspec.UnsetType) else bytes(raw)
    if not params.startswith(b"{"):
        return Noise(f"{method} with params that are no object")
    if not identity:
        return Told(method, params)
    if identity[:1] == b'"' or _is_integer(identity):
        return Asked(identity, method, params)
    return Noise(f"{method} with an id that is neither text nor integer")


def _answer(envelope: _Envelope, identity: bytes) -> Answer:
    number = int(identity) if len(identity) < 20 and identity.isdigit() else -1
    result = None if isinstance(envelope.result, msgspec.UnsetType) else bytes(envelope.result)
    error = None if isinstance(envelope.error, msgspec.UnsetType) else bytes(envelope.error)
    fault = ""
    if (result is None) == (error is None):
        fault = "a response with neither result nor error" if result is None else "a response with result and error"
    elif not (result or error or b"").startswith(b"{"):
        fault = "a response whose result or error is no object"
    return Answer(number, Reply(result, error), fault)


def _is_integer(text: bytes) -> bool:
    return text.removeprefix(b"-").isdigit() and len(text) < 20


def request(number: int, method: str, params: bytes) -> bytes:
    """A request as one line, without its end."""
    return b'{"jsonrpc":"2.0","id":%d,"method":%b,"params":%b}' % (number, encode(method), one_line(params))


def notification(method: str, params: bytes) -> bytes:
    """A notification as one line, without its end."""
    return b'{"jsonrpc":"2.0","method":%b,"params":%b}' % (encode(method), one_line(params))


def response(identity: bytes, reply: Reply) -> bytes:
    """A response to a request of the server as one line, without its end."""
    name, value = (b"error", reply.error) if reply.result is None else (b"result", reply.result)
    return b'{"jsonrpc":"2.0","id":%b,"%b":%b}' % (identity, name, one_line(value or error_object(-32603, "no answer")))


def error_object(code: int, message: str) -> bytes:
    """The `error` member of a response."""
    return encode({"code": code, "message": message})


def one_line(raw: bytes) -> bytes:
    """The same JSON without line ends: they can only stand between its tokens, never in a string."""
    return raw.translate(_LINE_ENDS) if b"\n" in raw or b"\r" in raw else raw


def members(raw: bytes) -> dict[str, msgspec.Raw]:
    """The members of an object, each as it was written. Raises `msgspec.DecodeError`."""
    return _members(raw)


def with_members(raw: bytes, **values: Any) -> bytes:
    """The object with members set, the others as they were written."""
    return encode({**members(raw), **values})


def swap_progress_token(params: bytes, token: int) -> tuple[bytes, msgspec.Raw | None]:
    """Our own progress token in place of the caller's: callers of one session choose theirs without each other.

    Returns the parameters to send and the caller's token, None (and the same bytes) when there is none.
    """
    if b"progressToken" not in params:
        return params, None
    try:
        every = members(params)
        meta = members(bytes(every.get("_meta", _EMPTY)))
    except msgspec.DecodeError:
        return params, None
    theirs = meta.get("progressToken")
    if theirs is None:
        return params, None
    meta["progressToken"] = msgspec.Raw(b"%d" % token)
    every["_meta"] = msgspec.Raw(encode(meta))
    return encode(every), theirs


def progress_token(params: bytes) -> int:
    """Our token in a progress notification, -1 if it is none of ours."""
    try:
        raw = bytes(members(params).get("progressToken", b""))
    except msgspec.DecodeError:
        return -1
    return int(raw) if raw.isdigit() and len(raw) < 20 else -1
