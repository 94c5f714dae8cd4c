"""The header fields of a request, read once, and their agreement with the body (2026-07-28, *streamable-http*)."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Final

import msgspec
from msgspec import Raw

from homeport.gateway.faults import Fault
from homeport.gateway.messages import text

VERSION: Final = b"mcp-protocol-version"
METHOD: Final = b"mcp-method"
NAME: Final = b"mcp-name"
SESSION: Final = b"mcp-session-id"
PARAM_PREFIX: Final = b"mcp-param-"

NAME_MEMBERS: Final[Mapping[str, str]] = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""Methods whose target is mirrored into `Mcp-Name`, and the member of `params` that holds it."""

_SENTINEL_HEAD: Final = b"=?base64?"
_SENTINEL_TAIL: Final = b"?="
_UNIQUE: Final = frozenset({b"host", b"origin", b"authorization", b"content-length", VERSION, METHOD, NAME, SESSION})
"""Fields of which two readers must not see two values."""


class Headers:
    """The fields of one request, by lower-case name, and their size in bytes."""

    __slots__ = ("_values", "repeated", "size")

    def __init__(self, fields: Iterable[tuple[bytes, bytes]]) -> None:
        values: dict[bytes, bytes] = {}
        repeated: set[bytes] = set()
        size = 0
        for name, value in fields:
            size += len(name) + len(value) + 4
            if name in values:
                repeated.add(name)
            values[name] = value
        self._values = values
        self.repeated = repeated
        self.size = size

    def get(self, name: bytes) -> bytes | None:
        """A field's value without the blanks around it: some HTTP parsers leave them on."""
        value = self._values.get(name)
        return None if value is None else value.strip(b" \t")

    def ambiguous(self) -> bytes | None:
        """A field that was sent twice and must not be; None when there is none."""
        for name in self.repeated:
            if name in _UNIQUE or name.startswith(PARAM_PREFIX):
                return name
        return None

    def accepts(self, *kinds: bytes) -> bool:
        """Whether every one of these media types is accepted, by name or by wildcard."""
        accept = self.get(b"accept")
        if accept is None:
            return False
        ranges = {part.split(b";")[0].strip().lower() for part in accept.split(b",")}
        return all(kind in ranges or b"*/*" in ranges or kind.split(b"/")[0] + b"/*" in ranges for kind in kinds)


def decoded(value: bytes) -> str | None:
    """A header value with its `=?base64?…?=` form undone; None for one that is no text in canonical base64."""
    if not (value.startswith(_SENTINEL_HEAD) and value.endswith(_SENTINEL_TAIL) and len(value) >= 11):
        return value.decode("ascii") if value.isascii() else None
    payload = value[len(_SENTINEL_HEAD) : -len(_SENTINEL_TAIL)]
    try:
        plain = base64.b64decode(payload, validate=True)
        return plain.decode("utf-8") if base64.b64encode(plain) == payload else None
    except (binascii.Error, UnicodeDecodeError):
        return None


def check_routing(headers: Headers, version: str, method: str, params: Mapping[str, Raw]) -> None:
    """The routing fields must say what the body says. Raises `Fault` (`rpc.header_mismatch`)."""
    _same("MCP-Protocol-Version", headers.get(VERSION), version)
    _same("Mcp-Method", headers.get(METHOD), method)
    member = NAME_MEMBERS.get(method)
    target = text(params.get(member)) if member else None
    if target is None:
        return
    value = headers.get(NAME)
    _same("Mcp-Name", value, target, None if value is None else decoded(value))


def check_params(headers: Headers, paths: Sequence[tuple[str, tuple[str, ...]]], arguments: Raw | None) -> None:
    """Every recognised `Mcp-Param-*` field must say what the argument says. Raises `Fault` (`rpc.header_mismatch`)."""
    if not paths:
        return
    for name, path in paths:
        field = headers.get(name.lower().encode("ascii"))
        body = _value_at(arguments, path)
        if body is None:
            if field is not None:
                raise _mismatch(f"{name} is present, but the argument {'.'.join(path)} is not")
            continue
        if field is None:
            raise _mismatch(f"{name} is missing, but the argument {'.'.join(path)} is present")
        value = decoded(field)
        if value is None or not _says(value, body):
            raise _mismatch(f"{name} does not match the argument {'.'.join(path)}")


def _same(name: str, field: bytes | None, body: str, plain: str | None = None) -> None:
    if field is None:
        raise _mismatch(f"the header {name} is missing")
    if (plain if plain is not None else field.decode("latin-1")) != body:
        raise _mismatch(f"the header {name} does not match the body")


def _mismatch(message: str) -> Fault:
    return Fault(message, code="rpc.header_mismatch")


def _value_at(arguments: Raw | None, path: Sequence[str]) -> bytes | None:
    """The raw value at a path of members; None where there is none, or `null`."""
    value = arguments
    for part in path:
        if value is None or bytes(value)[:1] != b"{":
            return None
        try:
            value = msgspec.json.decode(value, type=dict[str, Raw]).get(part)
        except (msgspec.MsgspecError, RecursionError):
            return None
    raw = b"" if value is None else bytes(value)
    return None if raw in {b"", b"null"} else raw


def _says(field: str, body: bytes) -> bool:
    if body[:1] == b'"':
        return text(body) == field
    if body in {b"true", b"false"}:
        return field == body.decode("ascii")
    if len(body) > 400 or len(field) > 400:
        return False
    try:
        return Decimal(field) == Decimal(body.decode("ascii"))
    except (InvalidOperation, UnicodeDecodeError):
        return False
