"""The granted tools as a shell sees them: found, described, their flags read. Starts nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from homeport.calls.gate import Withheld
from homeport.calls.roster import Roster
from homeport.ground.errors import InvalidInput, Problem
from homeport.ground.exact import Json
from homeport.ops import roster as rosters
from homeport.ops.checking import entry_of, gate_of
from homeport.ops.context import Context
from homeport.surface.binding import Bound, Sources, bind
from homeport.surface.decide import Denied, GrantedTool
from homeport.surface.flags import Form, form


@dataclass(frozen=True, slots=True)
class Shelf:
    """What a profile may call now, and what is withheld."""

    tools: Sequence[GrantedTool]
    withheld: Sequence[Withheld]
    problems: Sequence[Problem]
    """Grants that do not fit the lock."""


def shelf(context: Context, profile: str, server: str = "") -> Shelf:
    """The tools of a profile, of one server or of all. Raises `InvalidInput` for an unknown server or profile."""
    roster = rosters.load(context, context.root().resolve())
    if server:
        entry_of(roster, server)
    view = roster.views.get(profile)
    if view is None:
        _require_profile(roster, profile)
        return Shelf((), _untrusted(roster), ())
    gate = gate_of(context)
    named = [server] if server else view.servers
    withheld = [why for name in named if name in roster.entries and (why := gate.check(roster.entries[name]))]
    missing = {why.server for why in withheld}
    tools = [tool for tool in view.tools(server) if tool.server not in missing and tool.for_model]
    return Shelf(tools, withheld, view.problems)


def _require_profile(roster: Roster, profile: str) -> None:
    if roster.profiles_trusted and profile != "default":
        known = ", ".join(sorted(roster.profiles)) or "none"
        raise InvalidInput(f"there is no profile {profile!r}", code="profile.unknown", remedy=f"known here: {known}")


def _untrusted(roster: Roster) -> Sequence[Withheld]:
    if roster.profiles_trusted:
        return ()
    sentence = "nobody on this machine has agreed to the grants of this project"
    return (Withheld("every server", "untrusted", sentence, "homeport trust"),)


def find(context: Context, profile: str, server: str, tool: str) -> GrantedTool | Denied | None:
    """A granted tool by its command name or verbatim. None: there is no such profile here, or it is not trusted."""
    roster = rosters.load(context, context.root().resolve())
    entry_of(roster, server)
    view = roster.views.get(profile)
    return view.command(tool, server) if view else None


def form_of(tool: GrantedTool) -> Form:
    """The flags of a tool."""
    return form(tool.definition.get("inputSchema"))


def bind_tokens(tool_form: Form, tokens: Sequence[str], sources: Sources) -> Bound:
    """Tokens to arguments. Raises `InvalidInput` (`call.*`)."""
    return bind(tool_form, tokens, sources)


def described(tool: GrantedTool, tool_form: Form | None = None) -> Mapping[str, Any]:
    """A tool as data for agents: the served definition, how it is called from a shell, how exactly its flags say it."""
    flags = tool_form or form_of(tool)
    return {
        "server": tool.server,
        "name": tool.name,
        "served": tool.served,
        "command": f"homeport call {tool.server} {tool.command}",
        "read_only": tool.read_only,
        "flags": {flag.spelling: flag.name for flag in flags.flags if not flag.hidden},
        "fidelity": dict(flags.fidelity),
        "granted_by": tool.reason.text,
        "definition": plain(dict(tool.definition)),
    }


def plain(value: Json) -> Any:
    """Exact JSON as what `json.dumps` takes; a number with a fraction becomes a float, for display only."""
    match value:
        case dict():
            return {key: plain(member) for key, member in value.items()}
        case list():
            return [plain(item) for item in value]
        case None | bool() | int() | str():
            return value
        case _:
            return float(value)
