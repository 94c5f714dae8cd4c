"""The rows of a running gateway: plain values for the console, for `homeport ps` and for `--json`.

They go out as JSON under these member names. Every text in them may have been written by a server; whoever shows it
shows it as text, and nothing here escapes or shortens it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

ServerState: TypeAlias = Literal["ready", "starting", "stopped", "failed", "untrusted", "withheld", "disabled", "fault"]
"""`stopped` is well: the server starts at its first call. `withheld`: what it needs of the machine is not here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Something about the whole project that a person should see: a file that cannot be read, a full journal."""

    code: str
    text: str
    remedy: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectRow:
    """The project that this gateway serves."""

    name: str
    root: str
    endpoint: str
    """Ends in `/mcp`."""
    version: str
    """Of Homeport."""
    profiles: Sequence[str] = ()
    trusted: bool = True
    """False: this user has not agreed to the project's `[profiles]`, so nothing is granted to anyone."""
    notices: Sequence[Notice] = ()
    """What is wrong now, e.g. a `homeport.toml` that is broken while the old one stays in force."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerRow:
    """One server of the project."""

    name: str
    source: str
    """In one line, for people: `python mcp-server-time==2026.10.19`."""
    state: ServerState
    sentence: str = ""
    """Why it is in this state; empty where the state says everything."""
    remedy: str = ""
    """A command, or a sentence with commands in backticks, that mends it."""
    tools_locked: int = 0
    tools_granted: int = 0
    """To the default profile."""
    pid: int | None = None
    era: str = ""
    version: str = ""
    """The protocol revision negotiated."""
    since_ms: int | None = None
    """When it came into this state, milliseconds since 1970."""
    stderr: Sequence[str] = ()
    """Its last lines, oldest first, scrubbed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRow:
    """One locked tool as one profile sees it."""

    server: str
    name: str
    """As the server names it."""
    served: str = ""
    """As an agent sees it in the aggregate; empty where it is not granted."""
    title: str = ""
    description: str = ""
    granted: bool = False
    reason: str = ""
    """Which rule granted or denied it."""
    read_only: bool = False
    destructive: bool = False
    schema: str = ""
    """Its input schema as JSON text (`ground.exact.dumps(…, indent=2)`): a browser's numbers would round it."""
