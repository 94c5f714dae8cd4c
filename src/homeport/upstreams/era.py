"""Which era a server speaks: what we send to find out, and what its answers mean. Pure.

Specification 2026-07-28: basic/versioning, and *Backward Compatibility* of both transports.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from homeport.ground.errors import ProtocolViolation, Unavailable
from homeport.upstreams import wire
from homeport.upstreams.session import (
    LATEST_LEGACY,
    LATEST_MODERN,
    LEGACY_VERSIONS,
    MODERN_VERSIONS,
    Era,
    Negotiated,
    Reply,
)

PREFIX: Final = "io.modelcontextprotocol/"
MODERN_CODES: Final = frozenset({-32020, -32021, -32022})
"""HeaderMismatch, MissingRequiredClientCapability, UnsupportedProtocolVersion: no legacy server knows these."""


def meta(version: str, client_info: bytes, capabilities: bytes) -> bytes:
    """The `_meta` of a modern request (basic/index, *Per-request protocol fields*)."""
    return wire.encode(
        {
            PREFIX + "protocolVersion": version,
            PREFIX + "clientInfo": msgspec.Raw(client_info),
            PREFIX + "clientCapabilities": msgspec.Raw(capabilities),
        }
    )


def discover_params(client_info: bytes, capabilities: bytes) -> bytes:
    """Parameters of `server/discover`."""
    return b'{"_meta":%b}' % meta(LATEST_MODERN, client_info, capabilities)


def initialize_params(client_info: bytes, capabilities: bytes) -> bytes:
    """Parameters of `initialize`."""
    return b'{"protocolVersion":"%b","capabilities":%b,"clientInfo":%b}' % (
        LATEST_LEGACY.encode("ascii"),
        capabilities,
        client_info,
    )


class _Discovered(msgspec.Struct):
    supported: list[str] = msgspec.field(name="supportedVersions", default_factory=list[str])
    capabilities: msgspec.Raw = msgspec.Raw(b"{}")
    instructions: str | None = None
    meta: dict[str, msgspec.Raw] = msgspec.field(name="_meta", default_factory=dict[str, msgspec.Raw])


class _Initialized(msgspec.Struct):
    version: str = msgspec.field(name="protocolVersion")
    capabilities: msgspec.Raw = msgspec.Raw(b"{}")
    info: msgspec.Raw = msgspec.field(name="serverInfo", default=msgspec.Raw(b"{}"))
    instructions: str | None = None


class _Error(msgspec.Struct):
    code: int = 0
    message: str = ""
    data: Any = None


def judge_probe(reply: Reply, client_info: bytes, capabilities: bytes) -> Negotiated | None:
    """What an answer to `server/discover` means: the modern session, or None for a legacy server.

    Raises `Unavailable` (`upstream.version`) for a modern server that shares no revision with us.
    """
    if reply.result is not None:
        try:
            found = msgspec.json.decode(reply.result, type=_Discovered)
        except msgspec.DecodeError:
            return None
        version = _shared(found.supported)
        return _modern(found, version, client_info, capabilities) if version else None
    error = error_of(reply)
    if error.code in MODERN_CODES:
        data: Any = error.data
        _shared(data.get("supported") or [] if isinstance(data, dict) else [])  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
    return None


def _modern(found: _Discovered, version: str, client_info: bytes, capabilities: bytes) -> Negotiated:
    return Negotiated(
        era=Era.MODERN,
        version=version,
        server_info=_object(found.meta.get(PREFIX + "serverInfo")),
        capabilities=_object(found.capabilities),
        instructions=found.instructions or "",
        meta=meta(version, client_info, capabilities),
    )


def _shared(supported: Sequence[object]) -> str:
    """The newest modern revision in common; empty: speak legacy. Raises `Unavailable` when nothing is in common."""
    for version in MODERN_VERSIONS:
        if version in supported:
            return version
    if any(version in supported for version in LEGACY_VERSIONS):
        return ""
    if not supported:
        return ""
    told = ", ".join(str(version)[:40] for version in supported[:5])
    raise Unavailable(
        f"it speaks MCP {told}; we speak {LATEST_MODERN} and {', '.join(LEGACY_VERSIONS)}",
        code="upstream.version",
        remedy="upgrade the server, or Homeport: homeport --version",
    )


def from_initialize(reply: Reply) -> Negotiated:
    """The legacy session that an answer to `initialize` opens.

    Raises `Unavailable` (`upstream.refused` when it is an error, `upstream.version`), `ProtocolViolation`
    (`upstream.not_mcp`).
    """
    if reply.result is None:
        error = error_of(reply)
        raise Unavailable(f"it refused to start a session: {error.message} ({error.code})", code="upstream.refused")
    try:
        found = msgspec.json.decode(reply.result, type=_Initialized)
    except msgspec.DecodeError as error:
        raise ProtocolViolation(
            f"its answer to initialize is not one: {error}", code="upstream.not_mcp", whose="upstream"
        ) from None
    if found.version not in LEGACY_VERSIONS:
        _shared([found.version])
    return Negotiated(
        era=Era.LEGACY,
        version=found.version,
        server_info=_object(found.info),
        capabilities=_object(found.capabilities),
        instructions=found.instructions or "",
    )


def error_of(reply: Reply) -> _Error:
    """Code and message of a JSON-RPC error, as far as it is one."""
    try:
        return msgspec.json.decode(reply.error or b"{}", type=_Error)
    except msgspec.DecodeError:
        return _Error(message="an error that is not one of JSON-RPC")


def _object(raw: msgspec.Raw | None) -> bytes:
    data = b"{}" if raw is None else bytes(raw)
    return data if data.startswith(b"{") else b"{}"
