"""The second line against leaked processes: what a gateway and its reaper, both killed, have left running.

Each reaper keeps a record in `<state>/children/`. A record whose gateway and reaper are both gone is worked off: every
child in it that is still the same process (pid and start time) is killed with its group, and on Linux every process
that carries the record's token.
"""

from __future__ import annotations

import contextlib
import json
import signal
from dataclasses import dataclass
from pathlib import Path

from homeport.machine.reaper import kill_all, kill_group, marked, started


@dataclass(frozen=True, slots=True)
class Process:
    """A process as it was recorded."""

    pid: int
    started: str

    @property
    def alive(self) -> bool:
        """Whether the same process still runs."""
        return bool(self.started) and started(self.pid) == self.started


@dataclass(frozen=True, slots=True)
class Record:
    """The processes of one gateway."""

    keepers: tuple[Process, ...]
    """The gateway and its reaper: while one lives, the children are owned."""
    children: tuple[Process, ...]


def parse(text: str) -> Record:
    """A record's text; lines that a crash cut are passed over."""
    keepers: list[Process] = []
    children: list[Process] = []
    for line in text.splitlines():
        with contextlib.suppress(ValueError, TypeError, AttributeError):
            for kind, (pid, when) in json.loads(line).items():
                if int(pid) > 1:
                    (children if kind == "child" else keepers).append(Process(int(pid), str(when)))
    return Record(tuple(keepers), tuple(children))


def sweep(records: Path) -> int:
    """Kill what no living gateway owns any more; how many records were worked off. Blocking; never raises."""
    swept = 0
    with contextlib.suppress(OSError):
        for path in sorted(records.glob("*.jsonl")):
            record = parse(path.read_text("utf-8", "replace"))
            # An empty record belongs to a reaper that has just started.
            if not record.keepers or any(keeper.alive for keeper in record.keepers):
                continue
            for child in record.children:
                if child.alive:
                    kill_group(child.pid, signal.SIGKILL)
            kill_all(marked(f"{path.stem}."))
            path.unlink(missing_ok=True)
            swept += 1
    return swept
