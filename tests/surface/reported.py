"""What our own code says of the recorded servers: `python -m tests.surface.reported` writes `real/report.json`.

The report is reviewed when it changes: a new lint finding is a true one, or the rule is wrong and gets mended.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from homeport.surface.decide import GrantedTool, View, compile_view
from homeport.surface.flags import form
from homeport.surface.lint import lint
from homeport.surface.lock import parse
from homeport.surface.model import Surface
from homeport.surface.policy import Grant, Profile

REAL = Path(__file__).parent / "real"
REPORT = REAL / "report.json"
RECORDED = sorted(file for file in REAL.glob("*.json") if file != REPORT)


def recorded(file: Path) -> Surface:
    """A recorded surface."""
    return parse(file.read_bytes(), file=file.name)


def whole_view(name: str, surface: Surface) -> View:
    """Everything of one server granted."""
    return compile_view(Profile("default", grants={name: Grant(name, can=("*",))}), {name: surface})


def fidelity(tools: tuple[GrantedTool, ...]) -> dict[str, int]:
    """How many properties the flags say exactly, are checked besides, or are reached as JSON only."""
    counts = Counter(kind for tool in tools for kind in form(tool.definition.get("inputSchema")).fidelity.values())
    return dict(sorted(counts.items()))


def report(file: Path) -> dict[str, Any]:
    """One server in the report."""
    surface = recorded(file)
    tools = tuple(whole_view(file.stem, surface).tools(file.stem))
    return {
        "tools": len(surface.tools),
        "quarantined": sorted(surface.quarantined),
        "pages_only": [tool.name for tool in tools if not tool.for_model],
        "fidelity": fidelity(tools),
        "lint": [f"{found.severity} {found.code} {found.name} {found.path}".strip() for found in lint(surface)],
    }


if __name__ == "__main__":
    REPORT.write_text(json.dumps({file.stem: report(file) for file in RECORDED}, indent=1) + "\n", "utf-8")
