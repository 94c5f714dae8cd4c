"""Everything a server offers, read whole: all pages of its lists, and the `ui://` documents that its tools name."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

import msgspec

from homeport.ground import exact
from homeport.ground.errors import HomeportError, InvalidInput, Problem, ProtocolViolation, Unavailable
from homeport.ground.exact import Json
from homeport.ground.limits import DEFAULT, Limits
from homeport.surface.lock import from_listing
from homeport.surface.model import ServerIdentity, Surface
from homeport.upstreams import era, wire
from homeport.upstreams.session import Exchange, Negotiated, Session

MAX_PAGES: Final = 200
"""`ui://` documents of one server."""


@dataclass(slots=True)
class Listing:
    """What a server offers, as it said it: definitions with exact numbers and members in their order."""

    negotiated: Negotiated
    tools: list[Json] = field(default_factory=list["Json"])
    prompts: list[Json] = field(default_factory=list["Json"])
    templates: list[Json] = field(default_factory=list["Json"])
    pages: dict[str, str] = field(default_factory=dict[str, str])
    """`ui://` URI to text."""
    problems: list[Problem] = field(default_factory=list[Problem])
    """What could not be read and was left out: a definition that is no exact JSON, a page that cannot be read."""
    ttl_ms: int | None = None
    """How long the tool list may be kept, as a modern server says."""

    def surface(self) -> Surface:
        """As the lock takes it."""
        info = _mapping(self.negotiated.server_info)
        return from_listing(
            server=ServerIdentity(
                _text(info.get("name")), _text(info.get("version")), protocol=self.negotiated.version
            ),
            instructions=self.negotiated.instructions,
            capabilities=_mapping(self.negotiated.capabilities),
            tools=self.tools,
            prompts=self.prompts,
            templates=self.templates,
            pages=self.pages,
        )


async def read_surface_lists(session: Session, *, limits: Limits = DEFAULT, pages: bool = True) -> Listing:
    """Read tools, prompts, resource templates and, unless `pages` is false, the tools' `ui://` documents.

    A kind that the server does not declare is not asked for, tools excepted: some declare nothing. Raises
    `Unavailable` (`upstream.list_failed` and what `Session.request` raises), `ProtocolViolation`
    (`upstream.list_too_long`, `upstream.list_loops`, `upstream.not_a_list`).
    """
    listing = Listing(session.negotiated)
    declared = _mapping(session.negotiated.capabilities)
    reader = _Reader(session, listing, limits)
    await reader.read("tools/list", "tools", listing.tools, declared="tools" in declared)
    if "prompts" in declared:
        await reader.read("prompts/list", "prompts", listing.prompts, declared=True)
    if "resources" in declared:
        # Templates are an optional part of `resources`: a server without any may not know the method.
        await reader.read("resources/templates/list", "resourceTemplates", listing.templates, declared=False)
    if pages:
        for uri in page_uris(listing.tools)[:MAX_PAGES]:
            await reader.page(uri)
    return listing


def page_uris(tools: list[Json]) -> list[str]:
    """The `ui://` documents that tool definitions name (MCP Apps: `_meta.ui.resourceUri`, older `ui/resourceUri`)."""
    found: dict[str, None] = {}
    for tool in tools:
        meta = tool.get("_meta") if isinstance(tool, dict) else None
        if isinstance(meta, dict):
            ui = meta.get("ui")
            uri = ui.get("resourceUri") if isinstance(ui, dict) else meta.get("ui/resourceUri")
            if isinstance(uri, str) and uri.startswith("ui://"):
                found[uri] = None
    return list(found)


class _Page(msgspec.Struct):
    """One page of any list."""

    items: list[msgspec.Raw]
    cursor: str | None = None
    ttl: int | float | None = None


class _Contents(msgspec.Struct):
    uri: str = ""
    text: str | None = None
    blob: str | None = None


class _Read(msgspec.Struct):
    contents: list[_Contents]


class _Reader:
    """Reads into a listing, within its limits."""

    def __init__(self, session: Session, listing: Listing, limits: Limits) -> None:
        self._session = session
        self._listing = listing
        self._limits = limits

    async def _ask(self, method: str, **params: Any) -> bytes:
        meta = self._session.negotiated.meta
        whole = params if meta == b"{}" else params | {"_meta": msgspec.Raw(meta)}
        reply = await self._session.request(method, wire.encode(whole), Exchange(timeout=self._limits.call_timeout))
        if reply.result is None:
            error = era.error_of(reply)
            raise Unavailable(f"{method} failed: {error.message} ({error.code})", code="upstream.list_failed")
        return reply.result

    async def read(self, method: str, member: str, into: list[Json], *, declared: bool) -> None:
        """All pages of one list. Not declared and not known is an empty list."""
        seen: set[str] = set()
        cursor: str | None = None
        while True:
            try:
                result = await self._ask(method, **({} if cursor is None else {"cursor": cursor}))
            except Unavailable as error:
                if declared or error.code != "upstream.list_failed":
                    raise
                return
            page = _page(result, method, member)
            self._take(page, member, into)
            if method == "tools/list" and page.ttl is not None:
                self._listing.ttl_ms = int(page.ttl)
            cursor = page.cursor
            if cursor is None:
                return
            if cursor in seen:
                raise _violation(f"{method} comes back to the same page for ever", "upstream.list_loops")
            seen.add(cursor)
            if len(seen) >= self._limits.list_pages or len(into) > self._limits.list_items:
                raise _violation(
                    f"{method} has more than {self._limits.list_pages} pages or {self._limits.list_items} items",
                    "upstream.list_too_long",
                )

    def _take(self, page: _Page, member: str, into: list[Json]) -> None:
        for raw in page.items:
            try:
                into.append(exact.loads(bytes(raw)))
            except InvalidInput as error:
                told = f"one of its {member} is left out: {error.message}"
                self._listing.problems.append(Problem(error.code, told))

    async def page(self, uri: str) -> None:
        """One document; one that cannot be read is a problem of its own."""
        try:
            self._listing.pages[uri] = _document(await self._ask("resources/read", uri=uri), uri)
        except (Unavailable, ProtocolViolation) as error:
            if not self._session.alive:
                raise
            self._listing.problems.append(Problem("upstream.page", f"the page {uri} cannot be read: {error.message}"))


def _page(result: bytes, method: str, member: str) -> _Page:
    try:
        members = wire.members(result)
        return _Page(
            items=msgspec.json.decode(members[member], type=list[msgspec.Raw]),
            cursor=msgspec.json.decode(members.get("nextCursor", b"null"), type=str | None),
            ttl=msgspec.json.decode(members.get("ttlMs", b"null"), type=int | float | None),
        )
    except (msgspec.DecodeError, KeyError):
        raise _violation(f"the answer to {method} is not a list of {member}", "upstream.not_a_list") from None


def _document(result: bytes, uri: str) -> str:
    try:
        contents = msgspec.json.decode(result, type=_Read).contents
    except msgspec.DecodeError:
        raise _violation("the answer to resources/read has no contents", "upstream.not_a_list") from None
    chosen = next((one for one in contents if one.uri == uri), contents[0] if contents else _Contents())
    if chosen.text is not None:
        return chosen.text
    try:
        return base64.b64decode(chosen.blob or "", validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        raise _violation("it is not text", "upstream.not_a_list") from None


def _violation(message: str, code: str) -> ProtocolViolation:
    return ProtocolViolation(message, code=code, whose="upstream")


def _mapping(raw: bytes) -> Mapping[str, Json]:
    """An object as exact JSON; empty for what cannot be read as one."""
    try:
        value = exact.loads(raw)
    except HomeportError:
        return {}
    return cast("dict[str, Json]", value) if isinstance(value, dict) else {}


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""
