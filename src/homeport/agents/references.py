"""References to environment variables in agents' values, to and from ours. Pure.

Ours is `{env:NAME}`. Theirs differ in spelling and in where they are expanded; a text that looks like a reference is
one only to an agent that expands that spelling in that member.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from homeport.agents.catalog import References

_NAME: Final = r"([A-Za-z_][A-Za-z0-9_]*)"
_SPELLINGS: Final = {
    "${VAR:-default}": rf"\$\{{{_NAME}:-([^}}]*)\}}",
    "${VAR}": rf"\$\{{{_NAME}\}}",
    "${env:VAR}": rf"\$\{{env:{_NAME}\}}",
    "${env:NAME}": rf"\$\{{env:{_NAME}\}}",
    "{env:VAR}": rf"\{{env:{_NAME}\}}",
    "$env:VAR": rf"\$env:{_NAME}",
    "$VAR": rf"\${_NAME}",
    "%VAR% (Windows)": rf"%{_NAME}%",
    "${COPILOT_MCP_X}": r"\$\{(COPILOT_MCP_\w+)\}",
    "$COPILOT_MCP_X": r"\$(COPILOT_MCP_\w+)",
    "${{ secrets.NAME }}": r"\$\{\{\s*secrets\.([\w.-]+)\s*\}\}",
    "${{ inputs.NAME }}": r"\$\{\{\s*inputs\.([\w.-]+)\s*\}\}",
    "${input:id}": r"\$\{input:([\w.-]+)\}",
    "{{name@string::description}}": r"\{\{([\w.-]+)@\w+::[^}]*\}\}",
    "{{LIBRECHAT_USER_ID}}": r"\{\{([A-Z_]+)\}\}",
    "{file:path}": r"\{file:([^}]*)\}",
    "$(command)": r"\$\(([^)]*)\)",
    "${workspaceFolder}": r"\$\{(workspaceFolder)\}",
    "${workspaceFolderBasename}": r"\$\{(workspaceFolderBasename)\}",
    "${userHome}": r"\$\{(userHome)\}",
    "${pathSeparator}": r"\$\{(pathSeparator)\}",
    "${/}": r"\$\{(/)\}",
}
_ASKED: Final = frozenset({"${input:id}", "${{ inputs.NAME }}", "${{ secrets.NAME }}", "{{name@string::description}}"})
"""Spellings by which an agent asks its user, or its own store, for the value."""
_VARIABLES: Final = frozenset(
    {"${VAR:-default}", "${VAR}", "${env:VAR}", "${env:NAME}", "{env:VAR}", "$env:VAR", "$VAR", "%VAR% (Windows)"}
    | {"${COPILOT_MCP_X}", "$COPILOT_MCP_X"}
)


@dataclass(frozen=True, slots=True)
class Translation:
    """A value in our syntax."""

    text: str
    fallback: str | None = None
    """The whole value where the variables are not set (`${VAR:-default}`); None: there is no such default."""
    references: tuple[str, ...] = ()
    """What it refers to, as the agent spells it."""
    asked: tuple[str, ...] = ()
    """What the agent asks its user for; `{secret:…}` in the text."""


def found_in(references: References, what: str, text: str) -> Iterator[tuple[str, re.Match[str]]]:
    """Each reference that the agent would expand in a member (`env`, `args`, …), with its spelling, in order."""
    if what not in references.fields:
        return
    at = 0
    patterns = [
        (spelling, re.compile(_SPELLINGS[spelling])) for spelling in references.expands if spelling in _SPELLINGS
    ]
    while at < len(text):
        hits = [
            (match.start(), -match.end(), spelling, match)
            for spelling, pattern in patterns
            if (match := pattern.search(text, at))
        ]
        if not hits:
            return
        _, _, spelling, match = min(hits, key=lambda hit: hit[:2])
        yield spelling, match
        at = match.end()


def translate(references: References, what: str, text: str) -> Translation:
    """A value of an agent's entry in our syntax."""
    ours, defaults, at = "", "", 0
    spelled: list[str] = []
    asked: list[str] = []
    has_default = False
    for spelling, match in found_in(references, what, text):
        between = text[at : match.start()]
        at = match.end()
        if spelling not in _VARIABLES | _ASKED:
            ours, defaults = ours + between + match[0], defaults + between + match[0]
            continue
        kind = "secret" if spelling in _ASKED else "env"
        spelled.append(match[0])
        if kind == "secret":
            asked.append(match[1])
        reference = f"{{{kind}:{match[1]}}}"
        default = match[2] if spelling == "${VAR:-default}" else None
        has_default = has_default or default is not None
        ours += between + reference
        defaults += between + (reference if default is None else default)
    rest = text[at:]
    return Translation(ours + rest, defaults + rest if has_default else None, tuple(spelled), tuple(asked))
