"""`homeport explain`: the whole decision on a server or a tool, stage by stage. Sends and starts nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from homeport.calls import approvals
from homeport.calls.roster import Entry, Roster
from homeport.ground.errors import InvalidInput
from homeport.ground.reason import Reason
from homeport.ops import roster as rosters
from homeport.ops.checking import entry_of, gate_of
from homeport.ops.context import Context
from homeport.surface.decide import GrantedTool


@dataclass(frozen=True, slots=True)
class Step:
    """One stage of the path of a call and what it says."""

    stage: str
    passes: bool
    text: str
    rule: str = ""
    place: str = ""
    remedy: str = ""


def explain(context: Context, server: str, tool: str, *, profile: str, arguments: str = "") -> list[Step]:
    """Every stage that can be judged without sending: also those behind one that says no."""
    roster = rosters.load(context, context.root().resolve())
    entry = entry_of(roster, server)
    return list(_steps(context, roster, entry, tool, profile, arguments))


def _steps(context: Context, roster: Roster, entry: Entry, tool: str, profile: str, arguments: str) -> Iterator[Step]:
    yield _configured(entry)
    yield _trusted(entry)
    yield _available(context, entry)
    if not roster.profiles_trusted:
        text = "nobody on this machine has agreed to the grants of this project, so nothing is granted"
        yield Step("granted", passes=False, text=text, rule="trust.profiles", remedy="homeport trust")
        return
    view = roster.views.get(profile)
    if view is None:
        known = ", ".join(sorted(roster.profiles)) or "none"
        raise InvalidInput(f"there is no profile {profile!r}", code="profile.unknown", remedy=f"known here: {known}")
    if not tool:
        granted = view.tools(entry.name)
        names = ", ".join(each.name for each in granted) or "nothing"
        locked = len(entry.surface.tools) if entry.surface else 0
        text = f"{profile} may call {len(granted)} of {locked} tools: {names}"
        yield Step("granted", bool(granted), text, remedy="" if granted else f"homeport grant {entry.name} TOOL…")
        return
    found = view.command(tool, entry.name)
    yield _step("granted", found.reason, passes=isinstance(found, GrantedTool))
    if isinstance(found, GrantedTool):
        yield from _judged(roster, found, profile, arguments)


def _configured(entry: Entry) -> Step:
    if not entry.enabled:
        return Step("locked", passes=False, text="it is switched off (`enabled = false`)", rule="server.disabled")
    if entry.fault is not None:
        fault = entry.fault
        return Step(
            "locked", passes=False, text=fault.message, rule=fault.code, place=str(fault.place), remedy=fault.remedy
        )
    return Step("locked", passes=True, text=entry.source)


def _trusted(entry: Entry) -> Step:
    if entry.trusted:
        return Step("trusted", passes=True, text="this user agreed to its launch")
    text = "nobody on this machine has agreed to start it"
    return Step("trusted", passes=False, text=text, rule="trust.launch", remedy="homeport trust")


def _available(context: Context, entry: Entry) -> Step:
    answer = gate_of(context).availability(entry)
    if answer is None:
        return Step("available", passes=True, text="it needs nothing of this machine")
    text = answer.sentence or answer.state
    return Step("available", answer.offerable, text, answer.state, remedy=answer.remedy)


def _judged(roster: Roster, tool: GrantedTool, profile: str, arguments: str) -> Iterator[Step]:
    if arguments:
        _, problem = tool.check(arguments.encode())
        if problem is None:
            yield Step("arguments", passes=True, text="they fit the schema and no rule objects")
        else:
            yield _step("arguments", problem.reason, passes=False, text=problem.text)
    verdict = approvals.judge(approvals.level(roster.profiles[profile], "cli"), read_only=tool.read_only)
    level = roster.profiles[profile].approval
    said = {
        "run": "it runs without asking",
        "ask": "a person is asked at each call, or once for all",
        "refuse": "only tools that say they only read run, and this one does not",
    }[verdict]
    yield Step("approval", verdict != "refuse", f"{level}: {said}")


def _step(stage: str, reason: Reason, *, passes: bool, text: str = "") -> Step:
    place = f"{reason.file}:{reason.line}" if reason.file and reason.line else reason.file
    return Step(stage, passes, text or reason.text, reason.rule, place, reason.remedy)
