"""The decision is one for every edge (surface.md section 14, law 5)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.servers import scripted
from tests.support.house import SERVER, Caller, surface

from homeport.calls.decision import Decided, Decider, Stopped
from homeport.calls.drift_watch import DriftWatch
from homeport.calls.gate import Gate
from homeport.calls.operation import Dry, Kind, Operation, Refusal
from homeport.calls.ports import Client
from homeport.calls.rates import Limiter
from homeport.calls.roster import Entry, Roster
from homeport.declarations.model import Availability, Declaration
from homeport.ground.exact import dumps
from homeport.surface.binding import Sources, bind
from homeport.surface.decide import GrantedTool, compile_view
from homeport.surface.flags import form
from homeport.surface.policy import Grant, Patterns, Profile, Rule
from homeport.upstreams.launch import StdioLaunch
from homeport.upstreams.session import Era

TOOLS = [tool["name"] for tool in scripted.TOOLS]
TEXTS = st.sampled_from(["", "a", "admin", "acme/x", "acme", "ok\n", "é"]) | st.text(max_size=4)
VALUES = TEXTS | st.none() | st.booleans() | st.integers(-3, 3) | st.lists(TEXTS, max_size=2)
ARGUMENTS = st.dictionaries(
    st.sampled_from(["text", "a", "b", "name", "bytes", "message", "code"]) | TEXTS, VALUES, max_size=3
)
NAMED = {"echo": "text", "env": "name", "delete": "name", "log": "text", "big": "bytes", "ask": "message"}
EDGES = [
    ("http", Era.LEGACY),
    ("http", Era.MODERN),
    ("socket", Era.LEGACY),
    ("socket", Era.MODERN),
    ("cli", Era.MODERN),
]


@st.composite
def rules(draw: st.DrawFn) -> Rule:
    """A rule on the one argument of a tool."""
    tool = draw(st.sampled_from(sorted(NAMED)))
    line = (Patterns(NAMED[tool], (draw(st.sampled_from(["^a", "^acme$", "x|y", "^1$", "a*"])),)),)
    optional = draw(st.sampled_from([(), (NAMED[tool],)]))
    match draw(st.sampled_from(["deny", "allow", "restrict", "pin"])):
        case "deny":
            return Rule(tool, deny=line)
        case "allow":
            return Rule(tool, allow=line, optional=optional)
        case "restrict":
            return Rule(tool, restrict=line, optional=optional)
        case _:
            return Rule(tool, pin={NAMED[tool]: draw(st.sampled_from(["acme", 1]))})


@st.composite
def grants(draw: st.DrawFn) -> Grant:
    """A grant with rules of some tools, each once."""
    never = tuple(draw(st.sets(st.sampled_from(TOOLS), max_size=3)))
    found = draw(st.lists(rules(), max_size=3, unique_by=lambda rule: rule.tool))
    return Grant(SERVER, can=("*",), never=never, rules=tuple(rule for rule in found if rule.tool not in never))


def unavailable(_: Declaration, __: Any) -> Availability:
    raise AssertionError


def decider(grant: Grant) -> tuple[Decider, Roster]:
    """The rules of the call path over one grant, and nothing that could send."""
    locked = surface()
    profile = Profile("default", grants={SERVER: grant})
    launch = StdioLaunch(("never-started",), Path("/"), {}, "sha256:0")
    roster = Roster(
        "test",
        Path("/"),
        {SERVER: Entry(SERVER, "command never-started", launch, locked, trusted=True)},
        profiles={"default": profile},
        views={"default": compile_view(profile, {SERVER: locked})},
        profiles_trusted=True,
    )
    gate = Gate(None, unavailable, time.monotonic)
    watch = DriftWatch(None, time.monotonic)
    return Decider(roster=lambda: roster, gate=gate, limiter=Limiter(time.monotonic), drift=watch), roster


def decision(made: Decider, edge: str, era: Era, name: str, arguments: bytes, *, dry: bool) -> tuple[object, ...]:
    """What is decided: the kind and rule of a refusal, or the bytes that would be sent."""
    caller = Caller(Client(edge=edge, era=era))
    operation = Operation(Kind.TOOL, "default", name, {"arguments": arguments}, caller, server=SERVER, dry_run=dry)
    found = made.find(operation)
    decided = found if isinstance(found, Stopped) else made.decide(operation, found)
    if isinstance(decided, Decided):
        decided.permit.release()
        return ("send", decided.arguments)
    outcome = decided.outcome
    if isinstance(outcome, Refusal):
        return (outcome.kind, outcome.reason.rule, outcome.text, tuple(outcome.details.items()))
    assert isinstance(outcome, Dry)
    return ("send", outcome.arguments)


@given(grants(), st.sampled_from([*TOOLS, "invented"]), ARGUMENTS)
def test_law_5_edges_eras_and_dry_runs_decide_alike(grant: Grant, name: str, arguments: Mapping[str, Any]) -> None:
    made, roster = decider(grant)
    raw = dumps(dict(arguments)).encode()
    decided = {decision(made, edge, era, name, raw, dry=dry) for edge, era in EDGES for dry in (False, True)}
    assert len(decided) == 1
    tool = roster.views["default"].command(name, SERVER)
    if isinstance(tool, GrantedTool):
        tokens = ["--args", raw.decode()]
        bound = bind(form(tool.definition.get("inputSchema")), tokens, Sources(pytest.fail, pytest.fail))
        assert decision(made, "cli", Era.MODERN, name, bound.arguments, dry=False) in decided
