"""What is sent upstream: the caller's members as received, under the upstream's own name, in the upstream's era. Pure.

Members of `_meta` that belong to one leg (`io.modelcontextprotocol/…`) are replaced; all others, trace context for one,
travel on unread.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from homeport.calls.operation import Kind
from homeport.ground.errors import InvalidInput
from homeport.surface.policy import AskBack
from homeport.upstreams.session import Era, Negotiated

PREFIX: Final = "io.modelcontextprotocol/"
LOG_LEVEL: Final = f"{PREFIX}logLevel"
_MODERN_ONLY: Final = frozenset({"inputResponses", "requestState"})
_ASK_METHODS: Final[Mapping[str, AskBack]] = {
    "elicitation/create": "elicitation",
    "sampling/createMessage": "sampling",
    "roots/list": "roots",
}

_members = msgspec.json.Decoder(dict[str, msgspec.Raw])


def asked_back(method: str) -> AskBack | None:
    """What a server's request asks for, in the words of `may_ask`; None for what is no such request."""
    return _ASK_METHODS.get(method)


def capabilities(declared: bytes, may_ask: Iterable[AskBack]) -> bytes:
    """The capabilities to tell a server, canonical: those of the caller that the grant lets it use."""
    allows = sorted(may_ask)
    if not allows:
        return b"{}"
    try:
        members = _members.decode(declared)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return b"{}"
    allowed = {name: members[name] for name in allows if name in members}
    return msgspec.json.encode(allowed)


def check(kind: Kind, received: Mapping[str, bytes]) -> None:
    """Refuse what could not be sent on. Raises `InvalidInput` (`params.invalid`)."""
    for member in ("_meta", *(("ref",) if kind is Kind.COMPLETION else ())):
        if member in received or member == "ref":
            _decoded(received.get(member, b""), member)


def upstream(
    kind: Kind,
    name: str,
    params: Mapping[str, bytes],
    *,
    arguments: bytes | None,
    negotiated: Negotiated,
) -> bytes:
    """The raw `params` object of the request. `arguments` replaces the caller's member. Raises `InvalidInput`."""
    modern = negotiated.era is Era.MODERN
    members: dict[str, msgspec.Raw] = {}
    target = _target(kind, name, params)
    members.update(target)
    for key, value in params.items():
        if key in target or key in {"_meta", "name", "uri"} or (key in _MODERN_ONLY and not modern):
            continue
        members[key] = msgspec.Raw(value)
    if arguments is not None:
        members["arguments"] = msgspec.Raw(arguments)
    meta = _meta(params, negotiated)
    if meta:
        members["_meta"] = msgspec.Raw(msgspec.json.encode(meta))
    return msgspec.json.encode(members)


def _target(kind: Kind, name: str, params: Mapping[str, bytes]) -> dict[str, msgspec.Raw]:
    raw = msgspec.Raw(msgspec.json.encode(name))
    if kind is Kind.RESOURCE:
        return {"uri": raw}
    if kind is not Kind.COMPLETION:
        return {"name": raw}
    reference = _decoded(params.get("ref", b""), "ref")
    reference["uri" if "uri" in reference else "name"] = raw
    return {"ref": msgspec.Raw(msgspec.json.encode(reference))}


def _meta(params: Mapping[str, bytes], negotiated: Negotiated) -> dict[str, msgspec.Raw]:
    """The caller's own members first, then what this session must carry; the transport swaps the progress token."""
    raw = params.get("_meta", b"")
    received = _decoded(raw, "_meta") if raw else {}
    meta = {key: value for key, value in received.items() if not key.startswith(PREFIX)}
    if negotiated.era is Era.MODERN:
        meta.update(_members.decode(negotiated.meta))
        if LOG_LEVEL in received:
            meta[LOG_LEVEL] = received[LOG_LEVEL]
    return meta


def _decoded(raw: bytes, what: str) -> dict[str, msgspec.Raw]:
    try:
        return _members.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise InvalidInput(f"{what} must be an object", code="params.invalid") from None
