"""What the console needs of the running gateway: the rows it shows, and one protocol that `ops` implements.

The rows are plain values and go to the browser as JSON under these member names. Every text in them may have been
written by a server; the front end shows it as text, and nothing here escapes or shortens it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from homeport.calls.ports import AuditRow

ServerState: TypeAlias = Literal["ready", "starting", "stopped", "failed", "untrusted", "withheld", "disabled", "fault"]
"""`stopped` is well: the server starts at its first call. `withheld`: what it needs of the machine is not here."""


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


@dataclass(frozen=True, slots=True)
class CallSeen:
    """A row reached the journal: `begun`, `ended` or `refused`. The same id replaces the row shown before."""

    row: AuditRow


@dataclass(frozen=True, slots=True)
class StateChanged:
    """A server changed its state, or the project, lock or grants did: the listener reads them again."""


Event: TypeAlias = CallSeen | StateChanged


class Desk(Protocol):
    """The running gateway, as the console sees it. Every method may raise one of the five error families."""

    async def project(self) -> ProjectRow:
        """The project in force."""
        ...

    async def servers(self) -> Sequence[ServerRow]:
        """Every server of the project, ordered by name."""
        ...

    async def tools(self, profile: str) -> Sequence[ToolRow]:
        """Every locked tool with its grant. An unknown profile is `InvalidInput`."""
        ...

    async def calls(self, *, limit: int, filters: Mapping[str, str]) -> Sequence[AuditRow]:
        """Calls, newest first, one row each at its last stage; filters by field name, as `Store.rows` takes them."""
        ...

    async def restart(self, name: str) -> None:
        """Stop the server and start it again; returns when it answers. An unknown server is `InvalidInput`."""
        ...

    def events(self, listener: Callable[[Event], None]) -> Callable[[], None]:
        """Tell the listener of every event from now on, on the gateway's loop; it neither blocks nor raises.

        Returns what ends it.
        """
        ...
