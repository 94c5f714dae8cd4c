"""`homeport surface` and `cost`: what servers offer as locked, and how that differs from what they offer now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from homeport.calls.roster import Entry
from homeport.ground.errors import HomeportError, InvalidInput, Problem, Refused
from homeport.ops import pinned
from homeport.ops import roster as rosters
from homeport.ops.checking import entry_of
from homeport.ops.context import Context
from homeport.ops.locking import denied_tools
from homeport.ops.reading import Read, Unread, read_surfaces
from homeport.surface.cost import Cost, of_surface, of_view
from homeport.surface.drift import Difference, compare
from homeport.surface.lint import Finding, lint
from homeport.surface.model import Surface


@dataclass(frozen=True, slots=True)
class Compared:
    """One server's live surface beside the locked one."""

    server: str
    differences: Sequence[Difference]
    unread: Unread | None = None
    """Why it could not be compared."""


@dataclass(frozen=True, slots=True)
class Priced:
    """What one server's tools cost an agent's context."""

    server: str
    offered: Cost
    granted: Cost


def locked_surface(context: Context, server: str) -> Surface:
    """What a server offers, as locked. Raises `InvalidInput` where nothing is."""
    roster = rosters.load(context, context.root().resolve())
    entry_of(roster, server)
    return _surface(roster.root, server)


def _surface(root: Path, server: str) -> Surface:
    surface = pinned.read_surface(root, server)
    if surface is None:
        message = f"what {server} offers is not locked yet"
        raise InvalidInput(message, code="surface.absent", remedy=f"homeport lock {server}")
    return surface


def diff(context: Context, server: str = "") -> list[Compared]:
    """Start each trusted server (or the one) and compare what it offers with the lock."""
    roster = rosters.load(context, context.root().resolve())
    if server:
        entry_of(roster, server)
    chosen = {name: entry for name, entry in roster.entries.items() if name == server or (not server and entry.enabled)}
    barred = {name: why for name, entry in chosen.items() if (why := _barred(entry))}
    read = read_surfaces(
        context, {name: entry.launch for name, entry in chosen.items() if entry.launch and name not in barred}
    )
    rows: list[Compared] = []
    for name, entry in chosen.items():
        found = Unread(barred[name]) if name in barred else read[name]
        if isinstance(found, Read) and entry.surface:
            denied = denied_tools(roster.profiles, name)
            rows.append(Compared(name, compare(entry.surface, found.surface, denied=denied)))
        elif isinstance(found, Unread):
            rows.append(Compared(name, (), found))
    return rows


def _barred(entry: Entry) -> HomeportError | None:
    """Why a server is not compared at all: to say nothing of it would read as "in sync"."""
    if entry.fault or entry.surface is None or entry.launch is None:
        fault = entry.fault or Problem("surface.absent", f"what {entry.name} offers is not locked yet")
        return InvalidInput(fault.message, code=fault.code, remedy=fault.remedy or f"homeport lock {entry.name}")
    if not entry.trusted:
        message = f"nobody on this machine has agreed to start {entry.name}"
        return Refused(message, code="surface.untrusted", remedy="homeport trust")
    return None


def linted(context: Context, server: str = "") -> dict[str, list[Finding]]:
    """What is doubtful in the locked surfaces; offline."""
    roster = rosters.load(context, context.root().resolve())
    if server:
        entry_of(roster, server)
    return {
        name: lint(entry.surface)
        for name, entry in sorted(roster.entries.items())
        if entry.surface is not None and (not server or name == server)
    }


def priced(context: Context, profile: str) -> list[Priced]:
    """What each server's list costs, before and after the grants of a profile."""
    roster = rosters.load(context, context.root().resolve())
    view = roster.views.get(profile)
    return [
        Priced(name, of_surface(entry.surface), of_view(view, name) if view else Cost(0, 0, 0))
        for name, entry in sorted(roster.entries.items())
        if entry.surface is not None
    ]
