"""Names for the command line: tools as commands, properties as flags. The wire name is never changed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

RESERVED_COMMANDS: Final = frozenset({"help", "version", "completion", "list", "describe", "lock", "skew", "diff"})


def kebab(name: str) -> str:
    """`getUser`, `admin.tools.list`, `A_B` as `get-user`, `admin-tools-list`, `a-b`; empty when nothing is left."""
    text = re.sub(r"([a-z0-9])([A-Z])", r"\1-\2", name)
    text = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1-\2", text)
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


@dataclass(frozen=True, slots=True)
class Named:
    """One tool to be named."""

    name: str
    override: str = ""
    """`name` in its rule."""
    explicit: bool = False
    """Granted by name, not by `*`."""


@dataclass(frozen=True, slots=True)
class Commands:
    """The command of each tool; and the clashes: `(command, tools)`."""

    commands: Mapping[str, str]
    clashes: Sequence[tuple[str, tuple[str, ...]]]
    """Among tools granted by name: they ask for a `name`, until then only the verbatim name reaches them."""
    renamed: Sequence[tuple[str, str]]
    """`(tool, command)` of tools granted by `*` that got a number."""


def commands(tools: Sequence[Named]) -> Commands:
    """One command for each tool, none twice; tools in the order of the lock."""
    wanted = {tool.name: _wanted(tool, number) for number, tool in enumerate(tools, 1)}
    explicit = [tool for tool in tools if tool.explicit or tool.override]
    counts = Counter(wanted[tool.name] for tool in explicit)
    found: dict[str, str] = {}
    clashing: dict[str, list[str]] = {}
    for tool in explicit:
        command = wanted[tool.name]
        if counts[command] > 1:
            clashing.setdefault(command, []).append(tool.name)
        found[tool.name] = tool.name if counts[command] > 1 else command
    renamed: list[tuple[str, str]] = []
    taken = set(found.values())
    for tool in tools:
        if tool.name in found:
            continue
        command = _free(wanted[tool.name], taken)
        if command != wanted[tool.name]:
            renamed.append((tool.name, command))
        taken.add(command)
        found[tool.name] = command
    clashes = [(command, tuple(names)) for command, names in clashing.items()]
    return Commands({tool.name: found[tool.name] for tool in tools}, clashes, renamed)


def _wanted(tool: Named, number: int) -> str:
    if tool.override:
        return tool.override
    command = kebab(tool.name) or f"tool-{number}"
    return f"tool-{command}" if command in RESERVED_COMMANDS else command


def _free(name: str, taken: Iterable[str]) -> str:
    known = set(taken)
    candidate, number = name, 2
    while candidate in known:
        candidate, number = f"{name}-{number}", number + 1
    return candidate
