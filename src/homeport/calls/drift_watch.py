"""Is what a server offers now what was locked? Compared beside the calls, never before one.

When: a session opened, the server said `list_changed`, or the last comparison is older than `max_age`. One comparison
a server at a time. A tool whose live definition differs is refused until the lock says the same, by `surface accept`
or because the server went back; nothing here is told by hand.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Final, TypeAlias
from weakref import WeakSet

from homeport.calls.events import Bus, Event, Topic
from homeport.calls.roster import Entry
from homeport.ground.errors import HomeportError
from homeport.surface.drift import in_sync
from homeport.surface.model import Item, Surface
from homeport.upstreams.session import Session

MAX_AGE: Final = 60.0
MIN_AGE: Final = 5.0
"""A server's `ttlMs` may ask for less; this is the least."""
TIMEOUT: Final = 60.0
"""Of one comparison: all pages of all lists."""

Read: TypeAlias = Callable[[Session], Awaitable[Surface]]
Lease: TypeAlias = Callable[[], AbstractAsyncContextManager[Session]]


@dataclass(frozen=True, slots=True)
class _Live:
    at: float
    tools: Mapping[str, Item]
    quarantined: frozenset[str]


class DriftWatch:
    """Comparisons of one process. `read` lists a session's surface; `clock` is monotonic seconds."""

    def __init__(
        self, read: Read | None, clock: Callable[[], float], *, bus: Bus | None = None, max_age: float = MAX_AGE
    ) -> None:
        self._read = read
        self._clock = clock
        self._bus = bus
        self._max_age = max(MIN_AGE, max_age)
        self._live: dict[str, _Live] = {}
        self._seen: WeakSet[Session] = WeakSet()
        self._running: dict[str, asyncio.Task[None]] = {}
        self._told: dict[str, tuple[str, ...]] = {}
        self._same: dict[tuple[str, str], bool] = {}

    def drifted(self, entry: Entry, tool: str, digest: str) -> str:
        """How the live tool differs from the locked one with `digest`, in a few words; empty: it does not."""
        live = self._live.get(entry.name)
        if live is None:
            return ""
        if tool in live.quarantined:
            return "its live definition is unusable"
        found = live.tools.get(tool)
        if found is None:
            return "the server no longer offers it"
        locked = entry.surface.tools.get(tool) if entry.surface else None
        if found.digest == digest or (locked is not None and locked.digest == digest and self._agree(locked, found)):
            return ""
        return "its live definition differs from the locked one"

    def _agree(self, locked: Item, live: Item) -> bool:
        """Whether two definitions with unequal digests say the same. Remembered: this is asked at every call."""
        key = (locked.digest, live.digest)
        if key not in self._same:
            self._same[key] = in_sync(locked.definition, live.definition)
        return self._same[key]

    def all_drifted(self, entry: Entry) -> Mapping[str, str]:
        """Every locked tool that differs, with how."""
        if entry.surface is None:
            return {}
        found = {name: self.drifted(entry, name, item.digest) for name, item in entry.surface.tools.items()}
        return {name: how for name, how in found.items() if how}

    def added(self, entry: Entry) -> list[str]:
        """Tools the server offers now and the lock does not know: not served, only told."""
        live = self._live.get(entry.name)
        if live is None or entry.surface is None:
            return []
        return sorted(live.tools.keys() - entry.surface.tools.keys())

    def list_changed(self, server: str) -> None:
        """The server said so: the next call compares again."""
        live = self._live.get(server)
        if live:
            self._live[server] = _Live(float("-inf"), live.tools, live.quarantined)

    def due(self, entry: Entry, session: Session) -> bool:
        """Whether a comparison should run beside this call."""
        if self._read is None or entry.surface is None or entry.name in self._running:
            return False
        live = self._live.get(entry.name)
        return live is None or session not in self._seen or self._clock() - live.at >= self._max_age

    def start(self, entry: Entry, session: Session, lease: Lease) -> None:
        """Compare beside the call, under a lease of its own. The watch owns the task (`close`)."""
        # The comparison is recorded as begun, so that a server whose lists fail is not asked at every call.
        before = self._live.get(entry.name)
        tools = before.tools if before else _locked(entry)
        quarantined = before.quarantined if before else frozenset[str]()
        self._live[entry.name] = _Live(self._clock(), tools, quarantined)
        self._seen.add(session)
        task = asyncio.create_task(self._compare(entry, lease), name=f"drift {entry.name}")
        self._running[entry.name] = task
        task.add_done_callback(lambda _: self._running.pop(entry.name, None))

    async def settle(self) -> None:
        """Wait for the comparisons that are under way."""
        while self._running:
            await asyncio.wait(tuple(self._running.values()))

    async def close(self) -> None:
        """Stop comparing."""
        tasks = tuple(self._running.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _compare(self, entry: Entry, lease: Lease) -> None:
        if self._read is None:
            return
        try:
            async with asyncio.timeout(TIMEOUT), lease() as session:
                surface = await self._read(session)
        except (HomeportError, TimeoutError) as error:
            self._tell(entry, failed=str(error) or "the server did not list its tools in time")
            return
        self._same.clear()
        self._live[entry.name] = _Live(self._clock(), surface.tools, frozenset(surface.quarantined))
        self._tell(entry)

    def _tell(self, entry: Entry, failed: str = "") -> None:
        names = tuple(sorted(self.all_drifted(entry)))
        if self._bus is None or (not failed and self._told.get(entry.name, ()) == names):
            return
        if not failed:
            self._told[entry.name] = names
        data = {"server": entry.name, "tools": list(names), "failed": failed}
        self._bus.publish(Event(Topic.DRIFT, data))


def _locked(entry: Entry) -> Mapping[str, Item]:
    return entry.surface.tools if entry.surface else {}
