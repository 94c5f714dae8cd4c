"""A gateway's desk kept in memory: the console's tests put rows on it and press its buttons."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from homeport.calls.events import Bus, Event, Topic
from homeport.calls.ports import AuditRow
from homeport.ground.errors import HomeportError, InvalidInput
from homeport.ops.rows import ProjectRow, ServerRow, ToolRow


def call(number: int, **fields: Any) -> AuditRow:
    """A finished call, unless `fields` say otherwise."""
    made: dict[str, Any] = {
        "id": f"01J{number:020d}",
        "ts_ms": 1_790_000_000_000 + number * 1000,
        "stage": "ended",
        "profile": "default",
        "client": "claude-code 3.1.0",
        "edge": "socket",
        "session": "",
        "kind": "tools/call",
        "server": "time",
        "name": "get_current_time",
        "decision": "accept",
        "duration_ms": 12.4,
    }
    return AuditRow(**{**made, **fields})


class MemoryDesk:
    """Implements `console.desk.Desk`. `restarted` holds the names; `restart_fails` is raised by the next restart."""

    def __init__(
        self,
        servers: Sequence[ServerRow] = (),
        tools: Sequence[ToolRow] = (),
        rows: Sequence[AuditRow] = (),
        project: ProjectRow | None = None,
    ) -> None:
        self.bus = Bus()
        self.server_rows = list(servers)
        self.tool_rows = list(tools)
        self.call_rows = list(rows)
        self.project_row = project or ProjectRow(
            name="studio",
            root="/home/ada/studio",
            endpoint="http://127.0.0.1:7333/mcp",
            version="0.1.0",
            profiles=("default", "review"),
        )
        self.asked: list[Mapping[str, str]] = []
        self.restarted: list[str] = []
        self.restart_fails: HomeportError | None = None

    async def project(self) -> ProjectRow:
        return self.project_row

    async def servers(self) -> Sequence[ServerRow]:
        return self.server_rows

    async def tools(self, profile: str) -> Sequence[ToolRow]:
        if profile not in self.project_row.profiles:
            raise InvalidInput(f"there is no profile {profile}", code="profile.unknown", remedy="homeport profile")
        return self.tool_rows if profile == "default" else [replace(tool, granted=False) for tool in self.tool_rows]

    async def calls(self, *, limit: int, filters: Mapping[str, str]) -> Sequence[AuditRow]:
        self.asked.append({**filters, "limit": str(limit)})
        found = [row for row in self.call_rows if all(getattr(row, name) == value for name, value in filters.items())]
        return found[:limit]

    async def restart(self, name: str) -> None:
        if self.restart_fails is not None:
            raise self.restart_fails
        if name not in {row.name for row in self.server_rows}:
            raise InvalidInput(f"there is no server {name}", code="server.unknown", remedy="homeport ps")
        self.restarted.append(name)

    def events(self, listener: Callable[[Event], None]) -> Callable[[], None]:
        return self.bus.listen(listener)

    def see(self, row: AuditRow) -> None:
        """A row reaches the journal. On the loop's thread only."""
        self.call_rows = [row, *(held for held in self.call_rows if held.id != row.id)]
        self.bus.observe(row)

    def change(self, *servers: ServerRow) -> None:
        """Servers come into another state. On the loop's thread only."""
        fresh = {row.name: row for row in servers}
        self.server_rows = [fresh.pop(row.name, row) for row in self.server_rows] + list(fresh.values())
        self.bus.publish(Event(Topic.SERVER))
