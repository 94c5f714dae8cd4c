"""What a shell may complete of `homeport call`: granted names from the lock. Starts nothing and never raises.

What is completed is put on the command line as it is, and names come from servers: only plain ones are offered.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from homeport.ground.errors import HomeportError
from homeport.ops import roster as rosters
from homeport.ops.context import Context
from homeport.ops.toolbox import form_of
from homeport.surface.decide import GrantedTool, View
from homeport.surface.flags import ENGINE, Flag, help_line
from homeport.surface.visible import visible

Word: TypeAlias = tuple[str, str]
"""What is completed, and a line that says what it is."""

_PLAIN: Final = re.compile(r"[A-Za-z0-9_.,/+-][A-Za-z0-9_.,/+@%-]*", re.ASCII)
_OUTPUTS: Final = ("text", "json", "raw")
_NOT_YET: Final = frozenset({"query", "arg", "help", "version"})


def servers(context: Context, profile: str) -> list[Word]:
    """Servers with a granted tool."""
    view = _view(context, profile)
    return [(name, _count(view, name)) for name in view.servers if _tools(view, name)] if view else []


def tools(context: Context, profile: str, server: str) -> list[Word]:
    """Command names of the granted tools of a server."""
    view = _view(context, profile)
    return [(tool.command, _said(tool.definition.get("description"))) for tool in _tools(view, server)]


def flags(context: Context, profile: str, server: str, tool: str, given: Sequence[str]) -> list[Word]:
    """Flags of a tool that are not given yet, then those of the command itself."""
    found = _tool(context, profile, server, tool)
    if found is None:
        return []
    used = {token.partition("=")[0] for token in given}
    open_ones = [flag for flag in form_of(found).flags if flag.shape.listed or not used & _spellings(flag)]
    ours = [(f"--{name}", "") for name in ENGINE if name not in _NOT_YET and f"--{name}" not in used]
    return [*(word for flag in open_ones for word in _of(flag)), *ours]


def values(context: Context, profile: str, server: str, tool: str, flag: str) -> list[Word]:
    """What may follow a flag, where its schema lists it."""
    found = _tool(context, profile, server, tool)
    if found is None:
        return []
    named = form_of(found).by_token.get(flag)
    if named is None:
        return [(word, "") for word in _OUTPUTS] if flag == "--output" else []
    return [(choice, "") for choice in named.shape.choices if isinstance(choice, str) and _PLAIN.fullmatch(choice)]


def takes_value(context: Context, profile: str, server: str, tool: str, flag: str) -> bool:
    """Whether the next word belongs to this flag."""
    found = _tool(context, profile, server, tool)
    named = form_of(found).by_token.get(flag) if found else None
    return ENGINE.get(flag[2:], False) if named is None else not named.switch


def _view(context: Context, profile: str) -> View | None:
    with contextlib.suppress(HomeportError):
        return rosters.load(context, context.root().resolve()).views.get(profile)
    return None


def _tools(view: View | None, server: str) -> list[GrantedTool]:
    return [tool for tool in view.tools(server) if tool.for_model] if view else []


def _tool(context: Context, profile: str, server: str, tool: str) -> GrantedTool | None:
    view = _view(context, profile)
    found = view.command(tool, server) if view else None
    return found if isinstance(found, GrantedTool) else None


def _spellings(flag: Flag) -> set[str]:
    return {flag.spelling, flag.alias, flag.negation} - {""}


def _of(flag: Flag) -> Iterator[Word]:
    if not flag.hidden and _PLAIN.fullmatch(flag.spelling):
        yield flag.spelling, _said(help_line(flag))
        if flag.negation and _PLAIN.fullmatch(flag.negation):
            yield flag.negation, ""


def _count(view: View, server: str) -> str:
    return f"{len(_tools(view, server))} tools"


def _said(text: object) -> str:
    line = text.strip().partition("\n")[0] if isinstance(text, str) else ""
    return visible(line)[:80]
