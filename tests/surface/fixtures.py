"""The fixture F of surface.md section 13, and short ways to a view."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from typing import Any

from homeport.ground import exact
from homeport.ground.errors import Place, Problem
from homeport.surface.decide import Denied, GrantedTool, View, compile_view
from homeport.surface.lock import from_listing
from homeport.surface.model import Surface
from homeport.surface.policy import Profile
from homeport.surface.policy_parse import parse_profiles
from homeport.surface.verdict import Objection, Violation

LIST_ISSUE = """{"name": "list_issue", "title": "List issues", "description": "Lists issues.", "inputSchema": {
"type": "object", "properties": {"owner": {"type": "string", "description": "Whose."},
"state": {"type": "string", "enum": ["open", "closed"]}, "limit": {"type": "integer", "minimum": 1, "maximum": 100},
"tags": {"type": "array", "items": {"type": "string"}}}, "required": ["owner"]},
"outputSchema": {"type": "object", "properties": {"issues": {"type": "array", "items": {"type": "object",
"properties": {"title": {"type": "string"}, "number": {"type": "integer"}}}}}, "required": ["issues"]},
"annotations": {"readOnlyHint": true}, "icons": [{"src": "data:,"}], "x-vendor": 1,
"_meta": {"ui": {"resourceUri": "ui://tracker/issues.html"}}}"""
DELETE = '{"name": "delete_repository", "inputSchema": {"type": "object"}, "annotations": {"destructiveHint": true}}'
SEARCH = (
    '{"name": "search", "inputSchema": {"type": "object", "properties": {"query": {"type": "string"}},'
    ' "required": ["query"]}}'
)


def loads(text: str) -> Any:
    return exact.loads(text)


F: Sequence[Any] = [loads(LIST_ISSUE), loads(DELETE), loads(SEARCH)]


def tool(name: str, schema: Any, **members: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": schema, **members}


def properties(**described: Any) -> dict[str, Any]:
    return {"type": "object", "properties": described}


def surface(*tools: Any) -> Surface:
    return from_listing(tools=tools or F)


def place_of(path: tuple[str | int, ...]) -> Place:
    return Place("homeport.toml", len(path), ".".join(map(str, path)))


def parsed(text: str) -> tuple[dict[str, Profile], list[Problem]]:
    """`text` is the inside of `[profiles]`."""
    return parse_profiles(tomllib.loads(text), place_of=place_of)


def codes(text: str) -> list[str]:
    return [problem.code for problem in parsed(text)[1]]


def view(text: str, *tools: Any, **surfaces: Surface) -> View:
    """A view of the profile `default` over the server `tracker`."""
    profiles, problems = parsed(text)
    assert problems == []
    return compile_view(profiles["default"], surfaces or {"tracker": surface(*tools)})


def granted(found: View, name: str) -> GrantedTool:
    entry = found.tool(name, "tracker")
    assert isinstance(entry, GrantedTool), entry
    return entry


def rule(lines: str, tool_name: str = "list_issue") -> str:
    """A grant of everything with one rule."""
    return f'[default.grants.tracker]\ncan = ["*"]\n[[default.grants.tracker.rule]]\ntool = "{tool_name}"\n{lines}\n'


ALL = '[default.grants.tracker]\ncan = ["*"]\n'


def objection(found: GrantedTool, arguments: bytes) -> Violation | Objection:
    """Why these arguments do not go through; they must not."""
    _, refused = found.check(arguments)
    assert refused is not None
    return refused


def denied(found: View, name: str, server: str = "tracker") -> Denied:
    """Why a tool is not there; it must not be."""
    entry = found.tool(name, server)
    assert isinstance(entry, Denied)
    return entry


def served(found: GrantedTool) -> Any:
    """The definition as served, for looking into it."""
    return found.definition
