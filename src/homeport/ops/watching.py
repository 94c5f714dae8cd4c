"""The roster in force in a running gateway: read again when its files change; a broken file leaves the old one."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final, TypeAlias

from homeport.calls.events import Bus, Event, Topic
from homeport.calls.gate import Gate
from homeport.calls.roster import Roster
from homeport.ground.errors import HomeportError
from homeport.ground.paths import LOCK_FILE, PROJECT_FILE, SURFACE_DIR
from homeport.ops import roster
from homeport.ops.context import Context
from homeport.upstreams.pool import Pool

POLL: Final = 1.0
"""Seconds between looks at the files. Four `stat` calls and one listing: no watcher library is worth its threads."""

Stamp: TypeAlias = tuple[tuple[str, int, int, int], ...]


class RosterSource:
    """Holds the roster and exchanges it. `current` is what the pipeline, the lists and the console ask."""

    def __init__(self, context: Context, root: Path, bus: Bus, gate: Gate, pool: Pool) -> None:
        self._context = context
        self._root = root
        self._bus = bus
        self._gate = gate
        self._pool = pool
        self._stamp = self._look()
        self._roster = roster.load(context, root)
        self.fault: HomeportError | None = None
        """Why the files on disk are not in force, if they are not."""

    def current(self) -> Roster:
        """The roster in force."""
        return self._roster

    async def watch(self) -> None:
        """Look at the files until cancelled."""
        while True:
            await asyncio.sleep(POLL)
            await self.reload(force=False)

    async def reload(self, *, force: bool = True) -> bool:
        """Read the files if they changed (or anyway); whether another roster is in force now."""
        stamp = await asyncio.to_thread(self._look)
        if stamp == self._stamp and not force:
            return False
        self._stamp = stamp
        try:
            fresh = await asyncio.to_thread(roster.load, self._context, self._root)
        except HomeportError as error:
            self._broken(error)
            return False
        self.fault = None
        if fresh.digest == self._roster.digest:
            return False
        await self._exchange(fresh)
        return True

    def _broken(self, error: HomeportError) -> None:
        self.fault = error
        told = {"code": error.code, "text": str(error), "remedy": error.remedy}
        self._bus.publish(Event(Topic.FAULT, told))

    async def _exchange(self, fresh: Roster) -> None:
        old, self._roster = self._roster, fresh
        gone = {entry.launch.digest for entry in old.entries.values() if entry.launch and entry.trusted}
        kept = {entry.launch.digest for entry in fresh.entries.values() if entry.launch and entry.trusted}
        self._gate.forget()
        self._bus.publish(Event(Topic.ROSTER, {"digest": fresh.digest}))
        await self._pool.retire(gone - kept)

    def _look(self) -> Stamp:
        files = [self._root / PROJECT_FILE, self._root / LOCK_FILE, self._context.paths.trust]
        surfaces = self._root / SURFACE_DIR
        if surfaces.is_dir():
            files += sorted(surfaces.glob("*.json"))
        return tuple(_mark(file) for file in files)


def _mark(file: Path) -> tuple[str, int, int, int]:
    try:
        state = file.stat()
    except OSError:
        return (file.name, 0, 0, 0)
    return (file.name, state.st_mtime_ns, state.st_size, state.st_ino)
