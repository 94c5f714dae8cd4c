"""What the console needs of the running gateway: one protocol that `ops.desk` implements, over the rows of `ops`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from homeport.calls.events import Event
from homeport.calls.ports import AuditRow
from homeport.ops.rows import ProjectRow, ServerRow, ToolRow


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
        """Tell the listener of every event from now on; it neither blocks nor raises. Returns what ends it.

        `calls.events.Bus.listen` is this. A call's row goes to the browser; of any other event the browser learns
        that it happened and reads state and tools again.
        """
        ...
