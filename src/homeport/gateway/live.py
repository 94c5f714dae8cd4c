"""`resources/list`: what a server has right now, asked live and filtered by the grants.

Only servers whose grant names resources and that declare any are asked, at the same time, each with its own deadline;
one that fails is missing from the list and in the log, and the others are there.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from typing import Final, Protocol

import msgspec
from msgspec import Raw, Struct

from homeport.calls.approvals import thread
from homeport.calls.params import capabilities
from homeport.calls.ports import Caller
from homeport.calls.roster import Entry, Roster
from homeport.gateway.lists import Catalogue
from homeport.gateway.messages import encode, text
from homeport.gateway.routing import aggregate_page
from homeport.ground.errors import HomeportError, ProtocolViolation
from homeport.ground.limits import Limits
from homeport.surface.decide import GrantedResource
from homeport.upstreams.launch import Launch
from homeport.upstreams.session import Era, Exchange, Session

DEADLINE: Final = 10.0
"""Seconds for one server's list: a list that waits for the slowest server is worse than a shorter one."""

_log = logging.getLogger("homeport.gateway")


class Leases(Protocol):
    """What is needed of `upstreams.pool.Pool`."""

    def lease(
        self,
        server: str,
        launch: Launch,
        *,
        principal: str = "",
        capabilities: bytes = b"{}",
        era: Era = Era.MODERN,
    ) -> AbstractAsyncContextManager[Session]:
        """An open session to use inside the block."""
        ...


class _Page(Struct, rename="camel"):
    resources: list[Raw] = []
    next_cursor: str | None = None


class _Uri(Struct):
    uri: str = ""


class LiveLists:
    """Asks the servers of a catalogue."""

    def __init__(self, roster: Callable[[], Roster], pool: Leases, limits: Limits) -> None:
        self._roster = roster
        self._pool = pool
        self._limits = limits

    async def resources(self, catalogue: Catalogue, caller: Caller) -> bytes:
        """The resources a target may read, by server and then as the server orders them."""
        entries = [entry for entry in map(self._roster().entries.get, catalogue.servers) if entry is not None]
        asked = [entry for entry in entries if _may_have(entry, catalogue)]
        lists = await asyncio.gather(*(self._of_server(entry, catalogue, caller) for entry in asked))
        head = b'"resultType":"complete","ttlMs":0,"cacheScope":"private",' if caller.client.era is Era.MODERN else b""
        return b"{%b%b:[%b]}" % (head, b'"resources"', b",".join(item for found in lists for item in found))

    async def _of_server(self, entry: Entry, catalogue: Catalogue, caller: Caller) -> list[bytes]:
        found: list[bytes] = []
        try:
            async with asyncio.timeout(DEADLINE):
                async for raw in self._pages(entry, catalogue, caller):
                    item = _granted(raw, entry.name, catalogue)
                    if item is not None:
                        found.append(item)
        except TimeoutError:
            _log.warning("%s did not list its resources within %g s", entry.name, DEADLINE)
        except HomeportError as error:
            _log.warning("%s: its resources cannot be listed: %s", entry.name, error.message)
        return found

    async def _pages(self, entry: Entry, catalogue: Catalogue, caller: Caller) -> AsyncIterator[Raw]:
        grant = catalogue.view.grant(entry.name) if catalogue.view else None
        if entry.launch is None or grant is None:
            return
        told = capabilities(caller.client.capabilities, grant.may_ask)
        principal = thread(catalogue.target.profile, caller.client, 0) if entry.isolation == "caller" else ""
        lease = self._pool.lease(
            entry.name, entry.launch, principal=principal, capabilities=told, era=caller.client.era
        )
        async with lease as session:
            cursor: str | None = None
            for _ in range(self._limits.list_pages):
                page = await _page(session, cursor)
                for raw in page.resources:
                    yield raw
                if page.next_cursor is None or page.next_cursor == cursor:
                    return
                cursor = page.next_cursor


async def _page(session: Session, cursor: str | None) -> _Page:
    params: dict[str, object] = {} if cursor is None else {"cursor": cursor}
    if session.negotiated.era is Era.MODERN:
        params["_meta"] = Raw(session.negotiated.meta)
    reply = await session.request("resources/list", encode(params), Exchange(timeout=DEADLINE))
    if reply.result is None:
        said = (reply.error or b"")[:200].decode("utf-8", "replace")
        raise ProtocolViolation(f"it answered with an error: {said}", code="upstream.list_failed", whose="upstream")
    try:
        return msgspec.json.decode(reply.result, type=_Page)
    except msgspec.MsgspecError as error:
        raise ProtocolViolation(f"no list: {error}", code="upstream.not_a_list", whose="upstream") from None


def _may_have(entry: Entry, catalogue: Catalogue) -> bool:
    grant = catalogue.view.grant(entry.name) if catalogue.view else None
    declares = entry.surface is not None and "resources" in entry.surface.capabilities
    return declares and grant is not None and bool(grant.resources)


def _granted(raw: Raw, server: str, catalogue: Catalogue) -> bytes | None:
    """The item as the target may see it; None when it may not."""
    try:
        uri = msgspec.json.decode(raw, type=_Uri).uri
    except msgspec.MsgspecError:
        return None
    if catalogue.view is None or not isinstance(catalogue.view.resource(uri, server), GrantedResource):
        return None
    served = uri if catalogue.target.server else aggregate_page(server, uri)
    if served == uri:
        return bytes(raw)
    members = msgspec.json.decode(raw, type=dict[str, Raw])
    return encode({name: served if name == "uri" and text(part) else part for name, part in members.items()})
