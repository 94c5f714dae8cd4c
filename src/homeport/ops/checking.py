"""`homeport check` and `explain`: is the application here, and the whole decision on a server or a tool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from homeport.calls.gate import Gate, Withheld
from homeport.calls.roster import Entry, Roster
from homeport.ground.errors import InvalidInput
from homeport.ground.reason import Reason
from homeport.ops.context import Context


@dataclass(frozen=True, slots=True)
class Standing:
    """One server here and now."""

    server: str
    source: str
    withheld: Withheld | None
    tools_locked: int
    tools_granted: int


def standings(roster: Roster, gate: Gate, profile: str = "default") -> list[Standing]:
    """Every server of the roster, by name."""
    view = roster.views.get(profile)
    return [
        Standing(
            server=name,
            source=entry.source,
            withheld=gate.check(entry),
            tools_locked=len(entry.surface.tools) if entry.surface else 0,
            tools_granted=len(view.tools(name)) if view else 0,
        )
        for name, entry in sorted(roster.entries.items())
    ]


def entry_of(roster: Roster, server: str) -> Entry:
    """A server by name. Raises `InvalidInput` (`project.unknown_server`)."""
    entry = roster.entries.get(server)
    if entry is None:
        raise InvalidInput(
            f"there is no server {server!r}",
            code="project.unknown_server",
            remedy=f"known here: {', '.join(sorted(roster.entries)) or 'none'}",
        )
    return entry


def reason_json(reason: Reason) -> Mapping[str, object]:
    """A reason as data."""
    return {
        "rule": reason.rule,
        "text": reason.text,
        "file": reason.file,
        "line": reason.line,
        "remedy": reason.remedy,
    }


def gate_of(context: Context) -> Gate:
    """The gate of this machine."""
    import time

    from homeport.declarations.availability import availability
    from homeport.machine.local import LocalMachine

    machine = LocalMachine(environment=context.environment)
    return Gate(machine, availability, time.monotonic, context.limits)
