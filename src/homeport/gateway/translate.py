"""Results and errors across the eras: what a client of one era is given of a server of the other. Pure.

Where both legs are of one era nothing here touches a byte. Across, the members that the caller's era requires are put
in front of the others, unknown members stay, and what cannot be said in the caller's era is a named refusal, never a
result that looks like another.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from homeport.calls.operation import Kind
from homeport.gateway.faults import INTERNAL, INVALID_PARAMS
from homeport.upstreams.session import Era

RESOURCE_NOT_FOUND: Final = -32002
"""Up to 2025-11-25; a modern server must not send it (2026-07-28, *basic*, error codes)."""
URL_ELICITATION: Final = -32042
"""2025-11-25 only."""

_NOT_CACHED: Final = b'"ttlMs":0,"cacheScope":"private",'


class _Head(Struct, rename="camel", gc=False):
    result_type: Raw = Raw(b"")
    ttl_ms: Raw = Raw(b"")


class _Error(Struct, gc=False):
    code: int
    message: str
    data: Raw = Raw(b"")


_head: Final = msgspec.json.Decoder(_Head)
_error: Final = msgspec.json.Decoder(_Error)


class Untranslatable(Exception):
    """A result that the caller's era has no word for. `code` is stable, `sentence` is for the caller."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence


def result(raw: bytes, kind: Kind, *, source: Era, to: Era) -> bytes:
    """A server's result for a caller of `to`. Raises `Untranslatable`."""
    if source is to:
        return raw
    return _for_modern(raw, kind) if to is Era.MODERN else _for_legacy(raw)


def error(raw: bytes, *, to: Era) -> bytes:
    """A server's JSON-RPC error for a caller of `to`; codes of the other era alone are replaced."""
    try:
        held = _error.decode(raw)
    except msgspec.MsgspecError:
        return msgspec.json.encode({"code": INTERNAL, "message": "the server answered with an error that is none"})
    if to is Era.LEGACY or held.code not in {RESOURCE_NOT_FOUND, URL_ELICITATION}:
        return raw
    if held.code == RESOURCE_NOT_FOUND:
        return _error_object(INVALID_PARAMS, held.message, held.data)
    reason = {"code": "era.url_elicitation"}
    return _error_object(
        INTERNAL,
        f"the server asks for a URL to be opened first, in a way that this client's era does not know: {held.message}",
        msgspec.json.encode(reason),
    )


def code_of(raw: bytes) -> int:
    """The code of a raw JSON-RPC error object; an internal error for what is none."""
    try:
        return _error.decode(raw).code
    except msgspec.MsgspecError:
        return INTERNAL


def asked_back_refusal(method: str) -> bytes:
    """The error a legacy server gets whose request cannot be put to a client of the other era."""
    message = f"{method} cannot be put to this client: it speaks 2026-07-28 and the server an earlier revision"
    return msgspec.json.encode({"code": INTERNAL, "message": message, "data": {"code": "era.ask_back"}})


def _for_modern(raw: bytes, kind: Kind) -> bytes:
    head = _read_head(raw)
    before = b""
    if not bytes(head.result_type):
        before = b'"resultType":"complete",'
    if kind is Kind.RESOURCE and not bytes(head.ttl_ms):
        before += _NOT_CACHED
    return _with_members(raw, before)


def _for_legacy(raw: bytes) -> bytes:
    kind = bytes(_read_head(raw).result_type)
    if kind in {b"", b'"complete"'}:
        return raw
    if kind == b'"input_required"':
        raise Untranslatable(
            "era.input_required",
            "the server asks for input in the way of 2026-07-28, which this client's era does not know yet here",
        )
    named = kind.decode("utf-8", "replace")[:80]
    raise Untranslatable(
        "era.result_type", f"the server answered with a result of type {named}, which only 2026-07-28 has"
    )


def _read_head(raw: bytes) -> _Head:
    try:
        return _head.decode(raw)
    except (msgspec.MsgspecError, RecursionError):
        raise Untranslatable("upstream.result", "the server's result is not a JSON object") from None


def _with_members(raw: bytes, before: bytes) -> bytes:
    """`before` as the first members of an object; it ends in a comma."""
    if not before:
        return raw
    rest = raw.lstrip()[1:].lstrip()
    return b"{" + (before[:-1] if rest.startswith(b"}") else before) + rest


def _error_object(code: int, message: str, data: bytes | Raw) -> bytes:
    members: dict[str, Any] = {"code": code, "message": message}
    if bytes(data):
        members["data"] = Raw(data)
    return msgspec.json.encode(members)


def error_object(code: int, message: str, data: Mapping[str, Any] | None = None) -> bytes:
    """A JSON-RPC error object of ours."""
    return _error_object(code, message, msgspec.json.encode(data) if data else b"")
