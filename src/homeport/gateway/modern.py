"""Requests of 2026-07-28: each says everything itself, so nothing is kept between two of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from homeport.gateway.answers import Answer
from homeport.gateway.callers import ModernCaller, Push, client_of, level_of
from homeport.gateway.faults import Fault
from homeport.gateway.headers import Headers, check_params, check_routing
from homeport.gateway.lists import CHANGED, ListKind
from homeport.gateway.messages import Request, encode, joined, members, notification, text
from homeport.gateway.relay import Relay, dispatch
from homeport.gateway.routing import Target
from homeport.gateway.subscriptions import Listeners
from homeport.upstreams.session import LEGACY_VERSIONS, MODERN_VERSIONS, Era

PREFIX: Final = "io.modelcontextprotocol/"
LISTEN: Final = "subscriptions/listen"
DISCOVER: Final = "server/discover"
ACKNOWLEDGED: Final = "notifications/subscriptions/acknowledged"

FILTERS: Final[Mapping[str, ListKind]] = {
    "toolsListChanged": ListKind.TOOLS,
    "promptsListChanged": ListKind.PROMPTS,
    "resourcesListChanged": ListKind.TEMPLATES,
}


class Meta(Struct, gc=False):
    """The members of `_meta` that every modern request carries."""

    version: str | UnsetType = msgspec.field(default=UNSET, name=f"{PREFIX}protocolVersion")
    info: Raw = msgspec.field(default=Raw(b""), name=f"{PREFIX}clientInfo")
    capabilities: Raw = msgspec.field(default=Raw(b""), name=f"{PREFIX}clientCapabilities")
    level: Raw = msgspec.field(default=Raw(b""), name=f"{PREFIX}logLevel")


_meta: Final = msgspec.json.Decoder(Meta)


def says_modern(request: Request) -> bool:
    """Whether a request names its revision itself, as only modern ones do."""
    raw = request.params.get("_meta")
    if raw is None:
        return False
    try:
        return _meta.decode(raw).version is not UNSET
    except msgspec.MsgspecError:
        return f"{PREFIX}protocolVersion".encode() in bytes(raw)


class Modern:
    """The modern side of the gateway, for HTTP and for the socket."""

    def __init__(self, relay: Relay, listeners: Listeners) -> None:
        self._relay = relay
        self._listeners = listeners

    def admit(self, request: Request, headers: Headers | None) -> Meta:
        """The envelope of a request that may be served. Raises `Fault`: params, header mismatch, version."""
        meta = _read_meta(request)
        if headers is not None:
            check_routing(headers, str(meta.version), request.method, request.params)
        if meta.version not in MODERN_VERSIONS:
            raise unsupported(str(meta.version))
        if bytes(meta.level) and level_of(meta.level) is None:
            raise Fault("the log level is none of the eight", code="rpc.params")
        return meta

    async def serve(
        self, request: Request, meta: Meta, target: Target, headers: Headers | None, *, edge: str, push: Push
    ) -> Answer:
        """Answer an admitted request. Raises `Fault`."""
        if request.method == DISCOVER:
            return Answer(result=(await self._relay.lists.catalogue(target)).discover())
        if headers is not None and request.method == "tools/call":
            self._check_params(request, target, headers)
        client = client_of(edge, Era.MODERN, info=meta.info, capabilities=meta.capabilities, session="")
        caller = ModernCaller(client, push, level_of(meta.level) or "")
        return await dispatch(self._relay, request, target, caller)

    def listen(self, request: Request, target: Target, push: Push) -> Callable[[], None]:
        """Acknowledge a subscription and tell it of changes from now on. Returns how it ends. Raises `Fault`."""
        wanted = members(request.params.get("notifications", Raw(b"null")))
        kinds = {kind for name, kind in FILTERS.items() if bytes(wanted.get(name, b"")) == b"true"}
        agreed = {name: True for name, kind in FILTERS.items() if kind in kinds}
        tag = b'{"%bsubscriptionId":%b}' % (PREFIX.encode(), request.id)
        push(notification(ACKNOWLEDGED, joined({"_meta": tag, "notifications": encode(agreed)})))
        return self._listeners.add(
            target, kinds, lambda kind: push(notification(CHANGED[kind], joined({"_meta": tag})))
        )

    def _check_params(self, request: Request, target: Target, headers: Headers) -> None:
        name = text(request.params.get("name"))
        if name is not None:
            check_params(headers, self._relay.lists.names(target).mirrored(name), request.params.get("arguments"))


def ended(request: Request) -> bytes:
    """The result that ends a subscription from our side (2026-07-28, *subscriptions*, graceful closure)."""
    return b'{"resultType":"complete","_meta":{"%bsubscriptionId":%b}}' % (PREFIX.encode(), request.id)


def unsupported(version: str) -> Fault:
    """The error for a revision that is not spoken here, with those that are."""
    supported = [*MODERN_VERSIONS, *LEGACY_VERSIONS]
    return Fault(
        "Unsupported protocol version",
        code="rpc.version",
        data={"supported": supported, "requested": version[:100]},
    )


def _read_meta(request: Request) -> Meta:
    raw = request.params.get("_meta")
    try:
        meta = _meta.decode(raw) if raw is not None else Meta()
    except msgspec.MsgspecError as error:
        raise Fault(f"params._meta: {error}", code="rpc.params") from None
    if meta.version is UNSET:
        raise Fault(f"params._meta is missing {PREFIX}protocolVersion", code="rpc.params")
    if bytes(meta.capabilities)[:1] != b"{":
        raise Fault(f"params._meta is missing {PREFIX}clientCapabilities, or it is no object", code="rpc.params")
    return meta
