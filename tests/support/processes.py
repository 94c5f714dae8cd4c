"""What tests ask the operating system about processes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from homeport.machine.reaper import started


def runs(pid: int) -> bool:
    """Whether a process runs (a zombie does not)."""
    return bool(started(pid))


async def becomes(condition: Callable[[], object], seconds: float = 10.0) -> bool:
    """Whether something outside this process becomes true in time."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while not condition():
        if loop.time() > deadline:
            return False
        await asyncio.sleep(0.005)
    return True


def pids_in(path: Path) -> list[int]:
    """The process ids that a test server wrote to a file, once it did."""
    return [int(word) for word in path.read_text("ascii").split()] if path.exists() else []
