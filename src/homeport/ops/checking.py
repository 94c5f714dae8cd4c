"""`homeport check` and `explain`: is the application here, and the whole decision on a server or a tool."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from homeport.calls.gate import Gate
from homeport.calls.roster import Entry, Roster
from homeport.declarations.explain import explain
from homeport.declarations.model import Declaration
from homeport.declarations.readiness import gated
from homeport.ground.errors import InvalidInput
from homeport.machine.local import LocalMachine
from homeport.machine.protocol import Machine
from homeport.ops.context import Context
from homeport.project import parse


@dataclass(frozen=True, slots=True)
class Checked:
    """Whether one server's application is here."""

    server: str
    state: str
    offerable: bool
    sentence: str
    remedy: str
    trace: tuple[str, ...]
    """Every place looked at and why it failed, a line each; home directories as `~`."""
    data: Mapping[str, Any]
    """The trace as data."""


def checks(context: Context, server: str = "", machine: Machine | None = None) -> list[Checked]:
    """Every server of the project that declares what it needs, or the one. Starts and contacts nothing.

    `machine`: another one than this, e.g. a described one. Raises `InvalidInput` for an unknown server, and for one
    named that declares nothing.
    """
    project = parse.load(context.root())
    if server and server not in project.servers:
        raise _unknown(server, project.servers)
    chosen = [project.servers[server]] if server else list(project.servers.values())
    here = machine or LocalMachine(environment=context.environment)
    return [_checked(one.name, one.declaration, here) for one in chosen if one.declaration is not None]


def _checked(name: str, declaration: Declaration, machine: Machine) -> Checked:
    trace = explain(declaration, machine)
    answer = trace.evaluation.availability
    return Checked(
        server=name,
        state=answer.state,
        offerable=answer.offerable,
        sentence=trace.short(answer.sentence),
        remedy=trace.short(answer.remedy),
        trace=tuple(trace.text().splitlines()),
        data=trace.as_dict(),
    )


def entry_of(roster: Roster, server: str) -> Entry:
    """A server by name. Raises `InvalidInput` (`project.unknown_server`)."""
    entry = roster.entries.get(server)
    if entry is None:
        raise _unknown(server, roster.entries)
    return entry


def _unknown(server: str, known: Iterable[str]) -> InvalidInput:
    return InvalidInput(
        f"there is no server {server!r}",
        code="project.unknown_server",
        remedy=f"known here: {', '.join(sorted(known)) or 'none'}",
    )


def gate_of(context: Context) -> Gate:
    """The gate of this machine."""
    machine = LocalMachine(environment=context.environment)
    return Gate(machine, gated, time.monotonic, context.limits)
