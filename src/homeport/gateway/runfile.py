"""The run file of a gateway: where `connect` and the commands find it, and the lock that keeps it the only one.

The file is a hint; the lock is the truth. A gateway holds an advisory lock on `<key>.lock` as long as it lives, however
it ends, so a file left behind by a killed one is seen for what it is.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Self

from homeport.ground.errors import Conflict, Place, Unavailable
from homeport.ground.files import private_directory, replace_atomically

MAX_SOCKET_PATH: Final = 100
"""Bytes; the kernel's limit is 108 on Linux and 104 on macOS, its ending zero included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """What a running gateway says of itself."""

    pid: int
    started: str
    """The process's start time as the system counts it: a pid alone may have been given to another program."""
    version: str
    project: str
    """The project's directory."""
    socket: str
    host: str = ""
    port: int = 0
    """0: no HTTP endpoint."""
    detached: bool = False

    @property
    def endpoint(self) -> str:
        """The MCP endpoint of the default profile; empty without HTTP."""
        return f"http://{self.host}:{self.port}/mcp" if self.port else ""


class Claim:
    """The right to be a project's gateway, held until `release` or the end of this process."""

    def __init__(self, descriptor: int, file: Path) -> None:
        self._descriptor = descriptor
        self._file = file
        self._written = False

    def publish(self, running: Running) -> None:
        """Write the run file, once everything it names answers."""
        replace_atomically(self._file, json.dumps(asdict(running)).encode() + b"\n", mode=0o600)
        self._written = True

    def release(self) -> None:
        """Remove the run file and give the claim back."""
        if self._descriptor < 0:
            return
        if self._written:
            self._file.unlink(missing_ok=True)
        os.close(self._descriptor)
        self._descriptor = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def claim(run: Path, key: str) -> Claim:
    """Become the gateway of the project with this key.

    Raises `Conflict` (`gateway.running`) when another process is, `Unavailable` when the directory cannot be written.
    """
    private_directory(run)
    lock = run / f"{key}.lock"
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    except OSError as error:
        raise Unavailable(
            f"cannot be written: {error.strerror}",
            code="file.unwritable",
            place=Place(str(lock)),
            remedy=f"make {run} writable for this user, or set HOMEPORT_HOME to a directory that is",
        ) from None
    if not _lock_patiently(descriptor):
        os.close(descriptor)
        raise Conflict(
            "a gateway of this project is running already",
            code="gateway.running",
            remedy="homeport ps shows it; homeport down ends it",
        )
    return Claim(descriptor, run / f"{key}.json")


def running(run: Path, key: str) -> Running | None:
    """The gateway of the project with this key, if one is up. Never raises."""
    if not _locked(run / f"{key}.lock"):
        return None
    try:
        written: Any = json.loads((run / f"{key}.json").read_bytes())
        return Running(**_known(written))
    except (OSError, ValueError, TypeError):
        return None


def start_time(pid: int) -> str:
    """When a process started, as the system counts it; empty where it does not tell."""
    if sys.platform != "linux":
        return ""
    try:
        line = Path(f"/proc/{pid}/stat").read_text("latin-1")
    except OSError:
        return ""
    return line.rpartition(")")[2].split()[19]


def socket_path(run: Path, key: str, environment: Mapping[str, str]) -> Path:
    """Where the socket of a gateway goes: beside the run file, or where a path is short enough for the kernel.

    Every candidate lies in a directory that only this user may enter.
    """
    beside = run / f"{key}.sock"
    if len(os.fsencode(beside)) <= MAX_SOCKET_PATH:
        return beside
    runtime = environment.get("XDG_RUNTIME_DIR", "")
    roots = [Path(runtime) / "homeport"] if runtime.startswith("/") else []
    owner = os.getuid() if hasattr(os, "getuid") else 0
    for root in (*roots, Path("/tmp") / f"homeport-{owner}"):  # noqa: S108  # ownership is checked below
        candidate = root / f"{key}.sock"
        if len(os.fsencode(candidate)) <= MAX_SOCKET_PATH and _private(root, owner):
            return candidate
    raise Unavailable(
        f"no directory with a path short enough for a socket ({MAX_SOCKET_PATH} bytes)",
        code="gateway.socket_path",
        place=Place(str(run)),
        remedy="set XDG_RUNTIME_DIR, or HOMEPORT_HOME to a shorter path",
    )


def _private(directory: Path, owner: int) -> bool:
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        state = directory.lstat()
    except OSError:
        return False
    return state.st_uid == owner and not state.st_mode & 0o077 and not directory.is_symlink()


def _known(written: Any) -> dict[str, Any]:
    members: dict[str, Any] = dict(written)
    return {name: value for name, value in members.items() if name in Running.__dataclass_fields__}


def _lock(descriptor: int) -> bool:
    if sys.platform == "win32":
        import msvcrt

        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _lock_patiently(descriptor: int) -> bool:
    # `_locked` of another process holds the lock for an instant to see whether it is free.
    for _ in range(10):
        if _lock(descriptor):
            return True
        time.sleep(0.01)
    return False


def _locked(lock: Path) -> bool:
    try:
        descriptor = os.open(lock, os.O_RDWR)
    except OSError:
        return False
    try:
        return not _lock(descriptor)
    finally:
        os.close(descriptor)
