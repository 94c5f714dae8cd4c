"""The running gateway as people see it: rows for the console, and for `ps`, `logs`, `restart` over the socket."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import homeport
from homeport.calls.approvals import Approvals, Choice
from homeport.calls.events import Bus, Event
from homeport.calls.gate import Gate, Withheld
from homeport.calls.pipeline import Pipeline
from homeport.calls.ports import AuditRow, Store
from homeport.calls.roster import Entry, Roster
from homeport.ground import exact
from homeport.ground.errors import HomeportError, InvalidInput, Unavailable
from homeport.ops.checking import entry_of
from homeport.ops.rows import Notice, ProjectRow, ServerRow, ServerState, ToolRow
from homeport.ops.watching import RosterSource
from homeport.surface.decide import Denied, GrantedTool
from homeport.upstreams.pool import Pool, Status, UpstreamState

_WITHHELD: Mapping[str, ServerState] = {
    "disabled": "disabled",
    "fault": "fault",
    "untrusted": "untrusted",
    "unavailable": "withheld",
}


@dataclass(frozen=True, slots=True)
class RunningDesk:
    """Implements `console.desk.Desk` for one running gateway."""

    source: RosterSource
    gate: Gate
    pool: Pool
    pipeline: Pipeline
    approvals: Approvals
    bus: Bus
    store: Store
    endpoint: str = ""

    @property
    def roster(self) -> Roster:
        """The roster in force."""
        return self.source.current()

    async def project(self) -> ProjectRow:
        """The project in force."""
        roster = self.roster
        return ProjectRow(
            name=roster.project,
            root=str(roster.root),
            endpoint=self.endpoint,
            version=homeport.__version__,
            profiles=sorted(roster.profiles) or ["default"],
            trusted=roster.profiles_trusted,
            notices=self._notices(),
        )

    async def servers(self) -> Sequence[ServerRow]:
        """Every server, by name."""
        roster = self.roster
        states: dict[str, UpstreamState] = {}
        for state in self.pool.states():
            if state.server not in states or state.status is Status.READY:
                states[state.server] = state
        rows: list[ServerRow] = []
        for name, entry in sorted(roster.entries.items()):
            await self.gate.refresh(entry)
            rows.append(server_row(roster, entry, self.gate.check(entry), states.get(name)))
        return rows

    async def tools(self, profile: str) -> Sequence[ToolRow]:
        """Every locked tool with its grant to a profile. Raises `InvalidInput` (`profile.unknown`)."""
        roster = self.roster
        if profile not in roster.profiles and profile != "default":
            known = ", ".join(sorted(roster.profiles)) or "none"
            raise InvalidInput(
                f"there is no profile {profile!r}", code="profile.unknown", remedy=f"known here: {known}"
            )
        return [row for entry in roster.entries.values() for row in tool_rows(roster, entry, profile)]

    async def calls(self, *, limit: int, filters: Mapping[str, str]) -> Sequence[AuditRow]:
        """Calls of this project, newest first."""
        chosen = {**filters, "project": str(self.roster.root)}
        return await asyncio.to_thread(lambda: list(self.store.rows(limit=limit, filters=chosen)))

    async def restart(self, name: str) -> None:
        """Stop the server and open it again; one that was not running is opened.

        Raises `InvalidInput` for an unknown one, `Unavailable` for one that may not be used here. Whether it came up
        is in its row.
        """
        entry = entry_of(self.roster, name)
        await self.gate.refresh(entry)
        withheld = self.gate.check(entry)
        if withheld is not None or entry.launch is None:
            sentence = withheld.sentence if withheld else f"{name} has no launch"
            remedy = withheld.remedy if withheld else "homeport lock"
            raise Unavailable(f"{name} is not started: {sentence}", code="server.withheld", remedy=remedy)
        if not await self.pool.restart(name):
            with contextlib.suppress(HomeportError):
                async with self.pool.lease(name, entry.launch):
                    pass

    def events(self, listener: Callable[[Event], None]) -> Callable[[], None]:
        """Tell the listener of every event from now on."""
        return self.bus.listen(listener)

    async def operator(self, verb: str, params: Mapping[str, Any]) -> Any:
        """What this user's commands ask over the socket; `down` and `call` are added where they are at home."""
        match verb:
            case "ps":
                rows = [asdict(row) for row in await self.servers()]
                project = asdict(await self.project())
                return {**project, "pid": os.getpid(), "servers": rows}
            case "logs":
                return self._logs(str(params.get("server") or ""), int(params.get("lines") or 100))
            case "restart":
                name = str(params.get("server"))
                await self.restart(name)
                return asdict(next(row for row in await self.servers() if row.name == name))
            case "reload":
                return {"changed": await self.source.reload()}
            case "approvals":
                return self._approvals()
            case "answer":
                choice = Choice(str(params.get("choice")))
                return asdict(self.approvals.answer(str(params.get("id")), choice, "terminal"))
            case "revoke":
                return {"revoked": self._revoke(str(params.get("tool")))}
            case _:
                raise InvalidInput(f"unknown verb {verb!r}", code="operator.verb", remedy="homeport down; homeport up")

    def _approvals(self) -> dict[str, Any]:
        project = str(self.roster.root)
        standing = [asdict(kept) for kept in self.approvals.standing() if kept.project == project]
        return {"waiting": [asdict(question) for question in self.approvals.pending()], "standing": standing}

    def _revoke(self, tool: str) -> int:
        project = str(self.roster.root)
        chosen = [
            kept
            for kept in self.approvals.standing()
            if f"{kept.server}/{kept.tool}" == tool and kept.project == project
        ]
        for kept in chosen:
            self.approvals.revoke(kept)
        return len(chosen)

    def _notices(self) -> list[Notice]:
        fault = self.source.fault
        return [Notice(code=fault.code, text=str(fault), remedy=fault.remedy)] if fault else []

    def _logs(self, server: str, lines: int) -> dict[str, list[str]]:
        names = [server] if server else sorted(self.roster.entries)
        if server:
            entry_of(self.roster, server)
        return {name: [line for _, said in self.pool.stderr(name, lines) for line in said] for name in names}


def server_row(roster: Roster, entry: Entry, withheld: Withheld | None, state: UpstreamState | None) -> ServerRow:
    """One server as a row. Pure."""
    view = roster.views.get("default")
    shown: ServerState = "stopped"
    sentence, remedy = "", ""
    if withheld is not None:
        shown, sentence, remedy = _WITHHELD[withheld.code], withheld.sentence, withheld.remedy
    elif state is not None:
        shown = state.status.value
        sentence, remedy = state.reason, state.remedy
    return ServerRow(
        name=entry.name,
        source=entry.source,
        state=shown,
        sentence=sentence,
        remedy=remedy,
        tools_locked=len(entry.surface.tools) if entry.surface else 0,
        tools_granted=len(view.tools(entry.name)) if view else 0,
        pid=(state.pid or None) if state else None,
        era=state.era if state else "",
        version=state.version if state else "",
        since_ms=int(state.since * 1000) if state else None,
        stderr=state.stderr if state else (),
    )


def tool_rows(roster: Roster, entry: Entry, profile: str) -> list[ToolRow]:
    """Every locked tool of a server as one profile sees it. Pure."""
    if entry.surface is None:
        return []
    view = roster.views.get(profile)
    rows: list[ToolRow] = []
    for name, item in entry.surface.tools.items():
        found = view.tool(name, entry.name) if view else None
        granted = found if isinstance(found, GrantedTool) else None
        denied = found if isinstance(found, Denied) else None
        hints = item.definition.get("annotations")
        hints = hints if isinstance(hints, dict) else {}
        rows.append(
            ToolRow(
                server=entry.name,
                name=name,
                served=granted.served if granted else "",
                title=_text(item.definition.get("title")) or _text(hints.get("title")),
                description=_text(item.definition.get("description")),
                granted=granted is not None,
                reason=_why(granted, denied, roster),
                read_only=hints.get("readOnlyHint") is True,
                destructive=hints.get("destructiveHint") is True,
                schema=exact.dumps(item.definition.get("inputSchema"), indent=2),
            )
        )
    return rows


def _why(granted: GrantedTool | None, denied: Denied | None, roster: Roster) -> str:
    if granted is not None:
        return granted.reason.text
    if denied is not None:
        return denied.reason.text
    if not roster.profiles_trusted:
        return "nobody on this machine has agreed to this project's grants; run `homeport trust`"
    return "the profile grants nothing of it"


def _text(value: exact.Json) -> str:
    return value if isinstance(value, str) else ""
