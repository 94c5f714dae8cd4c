"""Programs that the tests start as MCP servers."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent


def scripted_server(*options: str) -> tuple[str, ...]:
    """The command line of the well-behaved server; see `scripted.py`."""
    return (sys.executable, "-I", "-S", str(HERE / "scripted.py"), *options)


def hostile_server(mode: str, argument: str = "") -> tuple[str, ...]:
    """The command line of a server that misbehaves; see `hostile.py`."""
    return (sys.executable, "-I", "-S", str(HERE / "hostile.py"), mode, *([argument] if argument else []))
