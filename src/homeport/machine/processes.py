"""Whether a process is alive, which program it runs and since when. Asks the system; signals and starts nothing."""

from __future__ import annotations

import os
import sys

from homeport.machine.protocol import ProcessFact

MAX_PID = 2**31 - 1
DEAD = ProcessFact(alive=False)


def look(pid: int, root: str = "") -> ProcessFact:
    """A process of this machine. A process that may not be asked (another user's) is alive."""
    if not 0 < pid <= MAX_PID:
        return DEAD
    if sys.platform == "win32":
        from homeport.machine.windows_processes import look as look_windows

        return look_windows(pid)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return DEAD
    except OSError:
        return ProcessFact(alive=True)
    if sys.platform != "linux" or root:
        return ProcessFact(alive=True)
    return _from_proc(pid)


def _from_proc(pid: int) -> ProcessFact:
    """Program and start from `/proc` (proc(5): `stat` fields 3 and 22, `btime`)."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:  # noqa: PTH123
            fields = file.read(4096).rpartition(")")[2].split()
        state, ticks = fields[0], int(fields[19])
    except (OSError, ValueError, IndexError):
        return ProcessFact(alive=True)
    if state in {"Z", "X"}:
        return DEAD
    try:
        program: str | None = os.readlink(f"/proc/{pid}/exe")  # noqa: PTH115
    except OSError:
        program = None
    boot = _boot_time()
    started = boot + ticks / os.sysconf("SC_CLK_TCK") if boot is not None else None
    return ProcessFact(True, program, started)


def _boot_time() -> float | None:
    try:
        with open("/proc/stat", encoding="ascii", errors="replace") as file:  # noqa: PTH123
            for line in file:
                if line.startswith("btime "):
                    return float(line.split()[1])
    except (OSError, ValueError, IndexError):
        return None
    return None
