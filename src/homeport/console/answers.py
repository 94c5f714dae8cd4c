"""What the console answers: JSON of one shape, files, and the headers that every answer carries."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from homeport.console.built import BuiltFile
from homeport.gateway.exchange import Fields, Send
from homeport.ground.errors import HomeportError, InvalidInput, Refused

POLICY: Final = (
    b"default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; font-src 'none'; "
    b"object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    b"require-trusted-types-for 'script'; trusted-types 'none'"
)
"""With the last two directives a browser refuses to turn a string into markup, whatever the front end forgets."""

ALWAYS: Final[Fields] = (
    (b"content-security-policy", POLICY),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
)

STATUS: Final[Mapping[str, int]] = {
    "invalid_input": 400,
    "refused": 403,
    "unavailable": 503,
    "protocol_violation": 502,
    "conflict": 409,
}
"""HTTP status by family of error; the single table of this edge."""

BY_CODE: Final[Mapping[str, int]] = {
    "console.signed_out": 401,
    "console.unknown_path": 404,
    "console.method": 405,
    "console.streams": 503,
}

_NO_STORE: Final = (b"cache-control", b"no-store")
_encode = msgspec.json.Encoder().encode


def encoded(value: Any) -> bytes:
    """Rows as JSON. A server can name a tool with half a surrogate pair, which no UTF-8 holds: escaped, it arrives."""
    try:
        return _encode(value)
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(value), separators=(",", ":")).encode("ascii")


def signed_out() -> Refused:
    """There is no session."""
    return Refused(
        "the console is for the person who runs this gateway, and this browser has no session with it",
        code="console.signed_out",
        remedy="homeport up",
    )


def unknown_path(path: str) -> InvalidInput:
    """Nothing is served there."""
    return InvalidInput(f"there is nothing at {path[:200]}", code="console.unknown_path")


async def send_json(send: Send, value: Any, *, status: int = 200, fields: Fields = ()) -> None:
    """A JSON answer."""
    await _send(send, status, encoded(value), [(b"content-type", b"application/json"), _NO_STORE, *fields])


async def send_error(send: Send, error: HomeportError, *, fields: Fields = ()) -> None:
    """`{"error": {"code", "message", "remedy"}}` with the status of its code or family."""
    status = BY_CODE.get(error.code) or STATUS.get(error.family, 500)
    body = {"error": {"code": error.code, "message": str(error), "remedy": error.remedy}}
    await send_json(send, body, status=status, fields=fields)


async def send_file(send: Send, file: BuiltFile, *, known: bytes | None = None, head: bool = False) -> None:
    """A built file; 304 when the browser holds it already."""
    fields = [(b"content-type", file.content_type), (b"etag", file.etag), (b"cache-control", file.cache)]
    if known == file.etag:
        await _send(send, 304, b"", fields)
    else:
        await _send(send, 200, file.body, fields, head=head)


async def send_page(send: Send, file: BuiltFile, *, status: int, fields: Fields = ()) -> None:
    """The page under an address that must leave nothing behind: a one-time link."""
    await _send(send, status, file.body, [(b"content-type", file.content_type), _NO_STORE, *fields])


async def _send(send: Send, status: int, body: bytes, fields: Fields, *, head: bool = False) -> None:
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": status, "headers": [*fields, *ALWAYS, length]})
    await send({"type": "http.response.body", "body": b"" if head else body})
