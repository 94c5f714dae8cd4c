"""What a client is offered: lock ∩ grants ∩ availability, as bytes made once.

No list starts a server. A catalogue belongs to one target (a profile, or one server of it), one roster and one set of
withheld servers; any of these changing makes a new one. Order is deterministic: by served name.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Final, Protocol, TypeAlias

from homeport.calls.gate import Withheld
from homeport.calls.roster import Entry, Roster
from homeport.gateway.messages import encode, exact_bytes
from homeport.gateway.routing import Target, aggregate_definition, aggregate_page
from homeport.ground.digests import of_bytes
from homeport.surface.decide import GrantedItem, GrantedResource, GrantedTool, View
from homeport.surface.headers import header_paths
from homeport.upstreams.session import LEGACY_VERSIONS, MODERN_VERSIONS, Era

WITHHELD_META: Final = "homeport/withheld"
SERVER_INFO_META: Final = "io.modelcontextprotocol/serverInfo"
LIST_TTL_MS: Final = 60_000
"""How long a client may keep a list; changes are told by `listChanged`, so this only bounds what it misses."""
DISCOVER_TTL_MS: Final = 60_000
WITHHELD_BYTES: Final = 2_000
"""Of `instructions`, for the withheld servers: they cost every conversation's context."""
KEPT: Final = 64
"""Catalogues kept; each is a profile or one server of it, so few exist."""


Mirrored: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]
"""Header fields, each with the path of the argument that it repeats."""


class ListKind(StrEnum):
    """The lists that come from the lock. Values are the member of the result that holds the items."""

    TOOLS = "tools"
    PROMPTS = "prompts"
    TEMPLATES = "resourceTemplates"


CHANGED: Final[Mapping[ListKind, str]] = {
    ListKind.TOOLS: "notifications/tools/list_changed",
    ListKind.PROMPTS: "notifications/prompts/list_changed",
    ListKind.TEMPLATES: "notifications/resources/list_changed",
}


class Gatekeeper(Protocol):
    """What is needed of `calls.gate.Gate`."""

    def check(self, entry: Entry) -> Withheld | None:
        """Why a server is withheld; None when it is not."""
        ...

    async def refresh(self, entry: Entry) -> None:
        """Look at the machine again if what is known is too old."""
        ...


class Names:
    """What the names that a client of one target uses mean. Needs the grants alone, so a call finds it ready."""

    def __init__(self, target: Target, view: View | None) -> None:
        self.target = target
        self.view = view
        self.servers = frozenset(view.servers) if view else frozenset[str]()
        self._mirrored: dict[str, Mirrored] = {}

    def tool(self, name: str) -> GrantedTool | None:
        """The granted tool of this name."""
        found = None if self.view is None else self.view.tool(name, self.target.server)
        return found if isinstance(found, GrantedTool) else None

    def prompt(self, name: str) -> GrantedItem | None:
        """The granted prompt of this name."""
        found = None if self.view is None else self.view.prompt(name, self.target.server)
        return found if isinstance(found, GrantedItem) else None

    def resource(self, uri: str) -> GrantedResource | None:
        """The granted resource of this address, as its server says it."""
        found = None if self.view is None else self.view.resource(uri, self.target.server)
        return found if isinstance(found, GrantedResource) else None

    def mirrored(self, name: str) -> Mirrored:
        """The `Mcp-Param-*` fields of a tool's arguments, with their paths."""
        known = self._mirrored.get(name)
        if known is None:
            tool = self.tool(name)
            if tool is None:
                return ()
            known = self._mirrored[name] = header_paths(tool.definition.get("inputSchema"))
        return known


class Catalogue:
    """Everything one target is offered, in both eras."""

    def __init__(self, target: Target, roster: Roster, withheld: Sequence[Withheld], version: str) -> None:
        self.target = target
        self.view: View | None = roster.views.get(target.profile)
        self.withheld = tuple(withheld)
        self._roster = roster
        self._version = version
        self._bytes: dict[tuple[str, Era], bytes] = {}

    @property
    def servers(self) -> tuple[str, ...]:
        """The servers it offers anything of, withheld ones left out."""
        if self.view is None:
            return ()
        missing = {why.server for why in self.withheld}
        named = (self.target.server,) if self.target.server else self.view.servers
        return tuple(name for name in named if name not in missing and name in self.view.servers)

    def page(self, kind: ListKind, era: Era) -> bytes:
        """A list as the result of its request."""
        return self._made((kind.value, era), lambda: self._list(kind, era))

    def digest(self, kind: ListKind) -> str:
        """Changes when the list does."""
        return of_bytes(self.page(kind, Era.LEGACY))

    def discover(self) -> bytes:
        """The result of `server/discover`."""
        return self._made(("discover", Era.MODERN), self._discover)

    def initialized(self, version: str) -> bytes:
        """The result of `initialize` at a revision."""
        return self._made((f"initialize {version}", Era.LEGACY), lambda: self._initialize(version))

    def instructions(self) -> str:
        """Withheld servers with their reason and remedy, then the granted servers' own instructions, as locked."""
        parts = [text for text in (self._about_withheld(), self._about_nothing()) if text]
        for server in self.servers:
            entry = self._roster.entries.get(server)
            said = entry.surface.instructions.strip() if entry and entry.surface else ""
            if said:
                parts.append(said if self.target.server else f"[{server}]\n{said}")
        return "\n\n".join(parts)

    def _made(self, key: tuple[str, Era], make: Callable[[], bytes]) -> bytes:
        made = self._bytes.get(key)
        if made is None:
            made = self._bytes[key] = make()
        return made

    def _list(self, kind: ListKind, era: Era) -> bytes:
        head: dict[str, Any] = {}
        if era is Era.MODERN:
            head = {"resultType": "complete", "ttlMs": LIST_TTL_MS, "cacheScope": "private"}
        meta = self._meta(era) if kind is ListKind.TOOLS else {}
        items = b",".join(self._items(kind))
        members = [encode(kind.value) + b":[" + items + b"]"]
        members += [encode(name) + b":" + encode(value) for name, value in head.items()]
        if meta:
            members.append(b'"_meta":' + encode(meta))
        return b"{" + b",".join(members) + b"}"

    def _items(self, kind: ListKind) -> list[bytes]:
        if self.view is None:
            return []
        offered = frozenset(self.servers)
        server = self.target.server
        if kind is ListKind.TOOLS:
            tools = [tool for tool in self.view.tools(server) if tool.for_model and tool.server in offered]
            return [self._tool(tool) for tool in tools]
        granted = self.view.prompts(server) if kind is ListKind.PROMPTS else self.view.templates(server)
        return [self._item(item, kind) for item in granted if item.server in offered]

    def _tool(self, tool: GrantedTool) -> bytes:
        if self.target.server:
            return exact_bytes(dict(tool.definition))
        return exact_bytes(aggregate_definition(tool.definition, tool.server, tool.served))

    def _item(self, item: GrantedItem, kind: ListKind) -> bytes:
        definition = item.item.definition
        if self.target.server:
            return exact_bytes(dict(definition))
        if kind is ListKind.PROMPTS:
            return exact_bytes(aggregate_definition(definition, item.server, item.served))
        template = definition.get("uriTemplate")
        if isinstance(template, str):
            return exact_bytes({**definition, "uriTemplate": aggregate_page(item.server, template)})
        return exact_bytes(dict(definition))

    def _discover(self) -> bytes:
        result: dict[str, Any] = {
            "resultType": "complete",
            "supportedVersions": [*MODERN_VERSIONS, *LEGACY_VERSIONS],
            "capabilities": self._capabilities(Era.MODERN),
            "ttlMs": DISCOVER_TTL_MS,
            "cacheScope": "private",
            "_meta": self._meta(Era.MODERN),
        }
        instructions = self.instructions()
        if instructions:
            result["instructions"] = instructions
        return encode(result)

    def _initialize(self, version: str) -> bytes:
        result: dict[str, Any] = {
            "protocolVersion": version,
            "capabilities": self._capabilities(Era.LEGACY),
            "serverInfo": self._identity(),
        }
        instructions = self.instructions()
        if instructions:
            result["instructions"] = instructions
        meta = self._meta(Era.LEGACY)
        if meta:
            result["_meta"] = meta
        return encode(result)

    def _capabilities(self, era: Era) -> dict[str, Any]:
        # Grants may change while a client is connected, so what it may get one day is declared from the first.
        declared: dict[str, Any] = {
            "tools": {"listChanged": True},
            "prompts": {"listChanged": True},
            "resources": {"listChanged": True},
            "completions": {},
        }
        if era is Era.LEGACY:
            declared["logging"] = {}
        return declared

    def _meta(self, era: Era) -> dict[str, Any]:
        meta: dict[str, Any] = {SERVER_INFO_META: self._identity()} if era is Era.MODERN else {}
        if self.withheld:
            meta[WITHHELD_META] = [
                {"server": why.server, "code": why.code, "sentence": why.sentence, "remedy": why.remedy}
                for why in self.withheld
            ]
        return meta

    def _identity(self) -> dict[str, str]:
        return {"name": "homeport", "title": f"Homeport: {self._roster.project}", "version": self._version}

    def _about_withheld(self) -> str:
        lines: list[str] = []
        size = 0
        for number, why in enumerate(self.withheld):
            line = f"{why.server} is not available: {why.sentence}" + (f" ({why.remedy})" if why.remedy else "")
            size += len(line.encode("utf-8", "replace")) + 1
            if size > WITHHELD_BYTES:
                lines.append(f"and {len(self.withheld) - number} more: `homeport check` tells.")
                break
            lines.append(line)
        return "\n".join(lines)

    def _about_nothing(self) -> str:
        profile = self.target.profile
        if not self._roster.profiles_trusted:
            return "This project's profiles are not trusted on this machine, so nothing is granted (homeport trust)."
        if self.view is None or self._items(ListKind.TOOLS):
            return ""
        if any(tool.for_model for tool in self.view.tools(self.target.server)):
            return ""
        return f"No tool is granted to the profile {profile} (homeport grant SERVER --read-only)."


class Lists:
    """Catalogues, made when asked for. `roster` gives the one in force."""

    def __init__(self, roster: Callable[[], Roster], gate: Gatekeeper, version: str) -> None:
        self._roster = roster
        self._gate = gate
        self._version = version
        self._kept: OrderedDict[tuple[Any, ...], Catalogue] = OrderedDict()
        self._names: dict[Target, Names] = {}

    def names(self, target: Target) -> Names:
        """What names mean at a target now."""
        view = self._roster().views.get(target.profile)
        known = self._names.get(target)
        if known is None or known.view is not view:
            known = self._names[target] = Names(target, view)
        return known

    async def catalogue(self, target: Target) -> Catalogue:
        """What this target is offered now; the machine is looked at again if that was too long ago."""
        roster = self._roster()
        for entry in _granted(roster, target):
            await self._gate.refresh(entry)
        return self.current(target)

    def current(self, target: Target) -> Catalogue:
        """What this target is offered, as far as is known without waiting."""
        roster = self._roster()
        withheld = tuple(why for entry in _granted(roster, target) if (why := self._gate.check(entry)) is not None)
        key = (target, roster.digest, withheld)
        known = self._kept.get(key)
        if known is not None:
            self._kept.move_to_end(key)
            return known
        made = self._kept[key] = Catalogue(target, roster, withheld, self._version)
        if len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return made


def supported(version: str) -> str:
    """The legacy revision to speak with a client that asks for `version`: the same, or the latest."""
    return version if version in LEGACY_VERSIONS else LEGACY_VERSIONS[0]


def _granted(roster: Roster, target: Target) -> list[Entry]:
    view = roster.views.get(target.profile)
    if view is None:
        return []
    named = (target.server,) if target.server else view.servers
    return [roster.entries[name] for name in named if name in roster.entries and name in view.servers]
