"""Starts the children of one gateway and, when that gateway ends in whatever way, kills every one of them.

Runs as its own small process: `python -I -S reaper.py RECORD TOKEN`, standard library only. Descriptor 0 is a stream
socket with commands (4 bytes of length, JSON; a spawn carries three descriptors), descriptor 1 a pipe for events (one
JSON object a line). End of input on descriptor 0 is the gateway's death: no signal handler can be missed, no `kill -9`
is too quick. Since the children are *its* children and it is a subreaper on Linux, a grandchild in a session of its
own whose parent is gone becomes its child too, and is found.

`children.py` is the other side. The process facts below serve the orphan sweep as well.
"""

from __future__ import annotations

import array
import contextlib
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

VARIABLE = "HOMEPORT_CHILD"
"""In every child's environment: `<token of the gateway>.<number of the child>`; inherited by what it starts."""

GRACE = 0.3
"""Seconds between SIGTERM and SIGKILL when the gateway is gone."""


def started(pid: int) -> str:
    """When a process started, as an opaque text that no later process with this pid has; empty: no such process."""
    if sys.platform != "linux":
        shown = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
        return shown.stdout.strip()
    fields = _stat(pid)
    return f"{_boot()}.{fields[19]}" if fields and fields[0] not in "ZX" else ""


def _stat(pid: int) -> list[str]:
    """The fields of `/proc/PID/stat` after the name, which may hold blanks and parentheses."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return []
    return text.rpartition(")")[2].split()


def _boot() -> str:
    with contextlib.suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii")[:8]
    return ""


def _pids() -> Iterator[int]:
    with contextlib.suppress(OSError):
        yield from (int(name) for name in os.listdir("/proc") if name.isdigit())  # noqa: PTH208


def marked(mark: str) -> set[int]:
    """The processes whose environment says that they descend from a child: `TOKEN.` or `TOKEN.NUMBER`. Linux only."""
    whole = f"{VARIABLE}={mark}".encode()
    found: set[int] = set()
    for pid in _pids():
        with contextlib.suppress(OSError), Path(f"/proc/{pid}/environ").open("rb") as file:
            for entry in file.read(1 << 20).split(b"\0"):
                if entry == whole or (mark.endswith(".") and entry.startswith(whole)):
                    found.add(pid)
    return found


def descendants(root: int) -> set[int]:
    """Every process below `root`, zombies left out. Linux only."""
    parents: dict[int, int] = {}
    for pid in _pids():
        fields = _stat(pid)
        if fields and fields[0] not in "ZX":
            parents[pid] = int(fields[1])
    below: set[int] = set()
    fresh = {root}
    while fresh:
        fresh = {pid for pid, parent in parents.items() if parent in fresh} - below
        below |= fresh
    return below


def kill_group(leader: int, number: int) -> None:
    """Signal a process group; nothing happens when it is gone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, number)


def kill_all(pids: set[int]) -> None:
    """SIGKILL to each, those that are gone left out."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


class Reaper:
    """One gateway's children: spawn, signal, destroy, and the end of all."""

    def __init__(self, record: str, token: str) -> None:
        self.record = Path(record)
        self.token = token
        self.commands = socket.socket(fileno=0)
        self.processes: dict[int, subprocess.Popen[bytes]] = {}
        self.numbers: dict[int, int] = {}
        self.ending = False

    def run(self) -> None:
        """Serve until the gateway is gone, then leave nothing running."""
        _become_subreaper()
        self._note(owner=os.getppid(), reaper=os.getpid())
        wakeup, wake = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK) if hasattr(os, "pipe2") else _pipe()
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, self._woken)
        signal.signal(signal.SIGTERM, self._told_to_end)
        with selectors.DefaultSelector() as selector:
            selector.register(self.commands, selectors.EVENT_READ)
            selector.register(wakeup, selectors.EVENT_READ)
            while not self.ending:
                for key, _ in selector.select():
                    if key.fd == wakeup:
                        os.read(wakeup, 4096)
                        self._reap()
                    else:
                        self._command()
        self._end()

    def _woken(self, *_: object) -> None:
        """Only so that the signal is not ignored: the wakeup descriptor tells."""

    def _told_to_end(self, *_: object) -> None:
        self.ending = True

    def _note(self, **pids: int) -> None:
        """A line in the record for the sweep, should this process be killed too."""
        line = json.dumps({kind: [pid, started(pid)] for kind, pid in pids.items()})
        with contextlib.suppress(OSError), self.record.open("a", encoding="ascii") as file:
            file.write(line + "\n")

    def _tell(self, **event: Any) -> None:
        try:
            os.write(1, json.dumps(event).encode("ascii") + b"\n")
        except OSError:
            self.ending = True

    def _command(self) -> None:
        header, descriptors = _receive(self.commands, 4)
        body, _ = _receive(self.commands, int.from_bytes(header, "big")) if len(header) == 4 else (b"", [])
        if not body:
            self.ending = True
            return
        command = json.loads(body)
        try:
            match command["op"]:
                case "spawn":
                    self._spawn(command, descriptors)
                case "signal" if command["id"] in self.processes:
                    kill_group(self.processes[command["id"]].pid, command["signal"])
                case "destroy":
                    self._destroy(command["id"])
                case _:
                    pass
        finally:
            for descriptor in descriptors:
                os.close(descriptor)

    def _spawn(self, command: dict[str, Any], descriptors: list[int]) -> None:
        number = command["id"]
        stdin, stdout, stderr = descriptors
        try:
            process = subprocess.Popen(
                command["argv"],
                cwd=command["cwd"],
                env=command["env"] | {VARIABLE: f"{self.token}.{number}"},
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            )
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            self._tell(id=number, error=getattr(error, "strerror", None) or str(error))
            return
        self.processes[number] = process
        self.numbers[process.pid] = number
        self._note(child=process.pid)
        self._tell(id=number, pid=process.pid)

    def _reap(self) -> None:
        """Children that ended: kill what is left of their tree while the zombie still holds the group's number."""
        while ended := _ended_child():
            pid, status = ended
            number = self.numbers.pop(pid, None)
            if number is not None:
                self._destroy(number)
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1] if status is None else status)
            if number is not None:
                self.processes.pop(number).returncode = code
                self._tell(id=number, status=code)

    def _destroy(self, number: int) -> None:
        process = self.processes.get(number)
        if process is None:
            return
        kill_group(process.pid, signal.SIGKILL)
        # A fork may slip in between two looks; it inherits the mark, so the next look finds it.
        for _ in range(5):
            strays = marked(f"{self.token}.{number}") - {process.pid, os.getpid()}
            if not strays:
                return
            kill_all(strays)

    def _end(self) -> None:
        for process in self.processes.values():
            kill_group(process.pid, signal.SIGTERM)
        self._wait(GRACE)
        for process in self.processes.values():
            kill_group(process.pid, signal.SIGKILL)
        for _ in range(20):
            left = (descendants(os.getpid()) | marked(f"{self.token}.")) - {os.getpid()}
            if not left:
                break
            kill_all(left)
            self._wait(0.05)
        with contextlib.suppress(OSError):
            self.record.unlink()

    def _wait(self, seconds: float) -> None:
        """Reap for that long, or until no child is left."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self._reap()
            if not self.processes:
                return
            time.sleep(0.01)


def _receive(connection: socket.socket, size: int) -> tuple[bytes, list[int]]:
    """Exactly `size` bytes and the descriptors that came with them; empty bytes at the end of input."""
    data = b""
    descriptors: list[int] = []
    space = socket.CMSG_SPACE(3 * array.array("i").itemsize)
    while len(data) < size:
        try:
            piece, ancillary, _, _ = connection.recvmsg(size - len(data), space)
        except OSError:
            piece, ancillary = b"", []
        for _, _, raw in ancillary:
            received = array.array("i")
            received.frombytes(raw[: len(raw) - len(raw) % received.itemsize])
            descriptors += received
        if not piece:
            return b"", descriptors
        data += piece
    for descriptor in descriptors:
        os.set_inheritable(descriptor, False)
    return data, descriptors


def _ended_child() -> tuple[int, int | None] | None:
    """A child that ended: its pid, and its status if looking has already taken it from the zombie."""
    try:
        if hasattr(os, "waitid"):
            found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            return (found.si_pid, None) if found else None
        pid, status = os.waitpid(-1, os.WNOHANG)
        return (pid, status) if pid else None
    except ChildProcessError:
        return None


def _become_subreaper() -> None:
    if sys.platform == "linux":
        import ctypes

        set_child_subreaper = 36
        ctypes.CDLL(None).prctl(set_child_subreaper, 1, 0, 0, 0)


def _pipe() -> tuple[int, int]:
    read, write = os.pipe()
    os.set_blocking(read, False)
    os.set_blocking(write, False)
    return read, write


if __name__ == "__main__":
    Reaper(sys.argv[1], sys.argv[2]).run()
