"""This machine, read: file metadata, directory listings, bounded file reads, the registry, processes.

`LocalMachine(root=…)` reads an unpacked file tree as if it were `/`; links in it stay in it. Nothing is written, no
process is started, no connection is opened, no FIFO is waited for. What lies on a network file system is asked in a
thread of its own, so that a dead mount costs `HANG` seconds once and not every time.
"""

from __future__ import annotations

import errno
import os
import platform as platforms
import stat as stats
import sys
import threading
import time
from collections.abc import Callable, Mapping
from itertools import islice
from pathlib import Path
from typing import Final, TypeVar

from homeport.machine.protocol import (
    MISSING,
    Bits,
    CannotRead,
    FileFact,
    FileKind,
    Hive,
    Names,
    ProcessFact,
    RegistryKey,
)

T = TypeVar("T")

HANG: Final = 1.0
"""Seconds that a network file system may take for one answer."""

HUNG_FOR: Final = 60.0
"""Seconds for which a mount that did not answer is not asked again."""

MOUNTS_MAX_AGE: Final = 5.0
MAX_LINKS: Final = 40
MAX_PE: Final = 4 * 1024 * 1024 * 1024

NETWORK_FILE_SYSTEMS: Final = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "9p", "ceph", "glusterfs", "lustre", "autofs", "ncpfs", "davfs"}
)


class LocalMachine:
    """The computer this runs on, or a file tree below `root`."""

    def __init__(
        self,
        root: Path = Path("/"),
        environment: Mapping[str, str] | None = None,
        *,
        home: str | None = None,
    ) -> None:
        """`environment` defaults to this process's; `home` to what the environment says."""
        self._root = "" if root == Path("/") or sys.platform == "win32" else str(root.resolve())
        self._environment = os.environ if environment is None else environment
        self._home = home
        self._mounts = _Mounts(self._root)
        self._deadline = _Deadline()

    @property
    def platform(self) -> str:
        """`sys.platform`."""
        return sys.platform

    @property
    def architecture(self) -> str:
        """Of the hardware: an x86 interpreter under Rosetta says `arm64`."""
        if sys.platform == "darwin" and _sysctl("hw.optional.arm64") == 1:
            return "arm64"
        return platforms.machine()

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment variables."""
        return self._environment

    @property
    def home(self) -> str:
        """From the environment (`HOME`, `USERPROFILE`), else the account database."""
        if self._home is not None:
            return self._home
        named = self._environment.get("USERPROFILE" if sys.platform == "win32" else "HOME", "")
        if named or self._root:
            return named
        found = os.path.expanduser("~")  # noqa: PTH111  paths are texts here
        return "" if found == "~" else found

    @property
    def user_id(self) -> int | None:
        """The effective user id."""
        return os.geteuid() if sys.platform != "win32" else None

    def stat(self, path: str) -> FileFact:
        """What is at an absolute path, links followed."""
        return self._guarded(path, _stat, FileFact("hung"))

    def names(self, path: str, limit: int) -> Names:
        """At most `limit` names in a directory."""
        return self._guarded(path, lambda real: _names(real, limit), Names(trouble="hung"))

    def read(self, path: str, limit: int) -> bytes:
        """A regular file of at most `limit` bytes. Raises `CannotRead`."""
        found = self._guarded(path, lambda real: _read(real, limit), None)
        if found is None:
            raise CannotRead("hung", "its file system does not answer")
        if isinstance(found, CannotRead):
            raise found
        return found

    def link(self, path: str) -> str | None:
        """What a symbolic link says, or None when it is none."""
        directory, name = os.path.split(path)
        return self._guarded(directory, lambda real: _readlink(os.path.join(real, name)), None)  # noqa: PTH118

    def registry(self, hive: Hive, key: str, bits: Bits = 64) -> RegistryKey | None:
        """A registry key in one view; None off Windows."""
        if sys.platform != "win32":
            return None
        from homeport.machine.windows_registry import read_key

        return read_key(hive, key, bits)

    def process(self, pid: int) -> ProcessFact:
        """Whether a process is alive."""
        from homeport.machine.processes import look

        return look(pid, self._root)

    def pe_version(self, path: str) -> str | None:
        """The binary file version of a PE file. Raises `CannotRead`."""
        found = self._guarded(path, _pe_version, CannotRead("hung", "its file system does not answer"))
        if isinstance(found, CannotRead):
            raise found
        return found

    def _guarded(self, path: str, work: Callable[[str], T], hung: T) -> T:
        """`work` on the real path; in a thread with a deadline when a network file system may be involved."""
        if not self._root and not self._mounts.any():
            return work(path)
        return self._deadline.run(self._mounts.of(path), lambda: work(self._inside(path)), hung)

    def _inside(self, path: str) -> str:
        """Where a path is below the root, its links resolved as if the root were `/`."""
        if not self._root:
            return path
        done: list[str] = []
        todo = [part for part in reversed(path.split("/")) if part]
        links = 0
        while todo:
            part = todo.pop()
            if part in {".", ".."}:
                done[len(done) - (part == "..") :] = []
                continue
            said = _readlink("/".join((self._root, *done, part)))
            if said is None or links >= MAX_LINKS:
                done.append(part)
                continue
            links += 1
            done = [] if said.startswith("/") else done
            todo += [step for step in reversed(said.split("/")) if step]
        return "/".join((self._root, *done))


class _Mounts:
    """The network file systems of this machine, read again when older than `MOUNTS_MAX_AGE`."""

    def __init__(self, root: str) -> None:
        self._file = f"{root}/proc/self/mountinfo"
        self._read_at = float("-inf")
        self._points: tuple[str, ...] = ()

    def any(self) -> bool:
        """Whether there is one."""
        if sys.platform != "linux":
            return False
        now = time.monotonic()
        if now - self._read_at > MOUNTS_MAX_AGE:
            self._points, self._read_at = self._network_mounts(), now
        return bool(self._points)

    def of(self, path: str) -> str:
        """The network mount that a path is below; empty when it is below none that can be told from its text."""
        self.any()
        below = [point for point in self._points if path == point or path.startswith(point.rstrip("/") + "/")]
        return max(below, key=len, default="")

    def _network_mounts(self) -> tuple[str, ...]:
        try:
            with open(self._file, encoding="utf-8", errors="surrogateescape") as file:  # noqa: PTH123
                lines = file.read(4 * 1024 * 1024).splitlines()
        except OSError:
            return ()
        return network_mounts(lines)


def network_mounts(mountinfo: list[str]) -> tuple[str, ...]:
    """The mount points of network file systems in `/proc/self/mountinfo` (proc(5): fields 5 and, after `-`, 1)."""
    found: list[str] = []
    for line in mountinfo:
        before, _, after = line.partition(" - ")
        fields, kind = before.split(" "), after.split(" ")[0]
        if len(fields) > 4 and (kind in NETWORK_FILE_SYSTEMS or kind.startswith("fuse.")):
            found.append(_unescaped(fields[4]))
    return tuple(found)


def _unescaped(text: str) -> str:
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, character)
    return text


class _Deadline:
    """Runs work that may hang in a daemon thread, and remembers where it did."""

    def __init__(self, seconds: float = HANG) -> None:
        self._seconds = seconds
        self._hung: dict[str, float] = {}

    def run(self, where: str, work: Callable[[], T], hung: T) -> T:
        """The work's value, or `hung`. With `where` empty the work runs here."""
        if not where:
            return work()
        until = self._hung.get(where)
        if until is not None and time.monotonic() < until:
            return hung
        answers: list[T] = []
        thread = threading.Thread(target=lambda: answers.append(work()), name=f"stat {where}", daemon=True)
        thread.start()
        thread.join(self._seconds)
        if answers:
            self._hung.pop(where, None)
            return answers[0]
        self._hung[where] = time.monotonic() + HUNG_FOR
        return hung


def _kind_of(error: OSError | ValueError) -> FileKind:
    if not isinstance(error, OSError):
        return "invalid_path"
    match error.errno:
        case errno.ENOENT | errno.ENOTDIR | errno.ELOOP:
            return "missing"
        case errno.EACCES | errno.EPERM:
            return "denied"
        case errno.ENAMETOOLONG | errno.EINVAL:
            return "invalid_path"
        case _:
            return "unreadable"


def _stat(path: str) -> FileFact:
    try:
        found = os.stat(path)  # noqa: PTH116  a path object alone costs as much as the call
    except FileNotFoundError:
        return MISSING
    except (OSError, ValueError) as error:
        return FileFact(_kind_of(error))
    mode = found.st_mode
    if stats.S_ISREG(mode):
        kind: FileKind = "file"
    else:
        kind = "directory" if stats.S_ISDIR(mode) else "other"
    if sys.platform == "win32":
        return FileFact(kind, executable=True, size=found.st_size, modified=found.st_mtime)
    runs = kind == "file" and bool(mode & 0o111) and (mode & 0o111 == 0o111 or os.access(path, os.X_OK))
    return FileFact(kind, runs, found.st_size, found.st_mtime, found.st_uid, stats.S_IMODE(mode))


def _readlink(path: str) -> str | None:
    try:
        return os.readlink(path)  # noqa: PTH115
    except (OSError, ValueError):
        return None


def _names(path: str, limit: int) -> Names:
    try:
        with os.scandir(path) as entries:
            names = tuple(entry.name for entry in islice(entries, limit + 1))
    except (OSError, ValueError) as error:
        return Names(trouble=_kind_of(error))
    return Names(names[:limit], complete=len(names) <= limit)


def _open(path: str) -> int | CannotRead:
    """A descriptor of a regular file. Opened without blocking, so that a FIFO is refused and not waited for."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(path, flags | getattr(os, "O_NOCTTY", 0))
    except (OSError, ValueError) as error:
        return CannotRead(_kind_of(error), str(getattr(error, "strerror", None) or error))
    if not stats.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return CannotRead("not_a_file", "it is not a regular file")
    return descriptor


def _read(path: str, limit: int) -> bytes | CannotRead:
    descriptor = _open(path)
    if isinstance(descriptor, CannotRead):
        return descriptor
    try:
        with os.fdopen(descriptor, "rb") as file:
            data = file.read(limit + 1)
    except OSError as error:
        return CannotRead("unreadable", error.strerror or "it cannot be read")
    return data if len(data) <= limit else CannotRead("too_large", f"it is larger than {limit} bytes")


def _pe_version(path: str) -> str | CannotRead | None:
    import mmap

    from homeport.machine.pe import file_version

    descriptor = _open(path)
    if isinstance(descriptor, CannotRead):
        return descriptor
    try:
        size = os.fstat(descriptor).st_size
        if not 0 < size <= MAX_PE:
            return CannotRead("too_large", "it is no program") if size else CannotRead("unreadable", "it is empty")
        with mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ) as view:
            return file_version(view)
    except (OSError, ValueError) as error:
        return CannotRead("unreadable", str(error))
    finally:
        os.close(descriptor)


def _sysctl(name: str) -> int | None:
    """An integer of macOS's sysctl, by its C function: no process is started."""
    import ctypes

    try:
        function = ctypes.CDLL(None).sysctlbyname
    except (OSError, AttributeError):
        return None
    value, size = ctypes.c_int64(0), ctypes.c_size_t(8)
    failed = function(name.encode(), ctypes.byref(value), ctypes.byref(size), None, 0)
    return None if failed else value.value
