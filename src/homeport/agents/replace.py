"""The one module that writes into files of other programs: a compare-and-swap that loses nothing in silence.

    lock → clear away what a killed run left → write beside, fsync → read again, compare → swap → look at what came out

On Linux the swap is `renameat2(RENAME_EXCHANGE)`: the displaced bytes are then in our hands, and if another program
wrote in between, they are swapped back. Elsewhere the window between the comparison and the rename stays.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import hashlib
import os
import stat
import sys
import time
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from homeport.ground.errors import Conflict, Place, Unavailable
from homeport.ground.files import private_directory

LOCK_WAIT: Final = 10.0
"""Seconds to wait for another Homeport, or for an agent that says it is writing."""
FOREIGN_LOCK_STALE: Final = 10.0
"""Seconds after which an agent's lock counts as left behind."""
KEPT_VERSIONS: Final = 50
"""Displaced versions of one file that are kept; older ones go."""
_MARK: Final = ".homeport-"


class ChangedMeanwhileError(Exception):
    """The file is not what it was when the edit was made: make the edit again."""


@dataclass(frozen=True, slots=True)
class Swap:
    """One file to change: exactly these bytes into exactly those."""

    path: Path
    before: bytes | None
    """None: there must be no file."""
    after: bytes | None
    """None: the file goes."""
    mode: int = 0o600
    """For a new file."""
    inside: Path | None = None
    """A directory that the file, links followed, must not leave (a project)."""


@dataclass(frozen=True, slots=True)
class Swapped:
    """What was done."""

    path: Path
    """The real path."""
    kept: Path | None
    """The displaced file, moved here whole: a program that still had it open wrote into this copy."""
    notes: tuple[str, ...] = ()


class Disk:
    """The file operations of this module, one method each, so that a test can stop before any of them."""

    def step(self, name: str) -> None:
        """Called before each operation that changes something, with its name."""

    def exchange(self, first: Path, second: Path) -> bool:
        """Swap two names in one step; False where the system or the file system cannot."""
        return _renameat2(first, second, 2)

    def rename_new(self, source: Path, target: Path) -> bool:
        """Rename where nothing may be in the way; False where the system cannot. Raises `FileExistsError`."""
        return _renameat2(source, target, 1)


DISK: Final = Disk()


def real_path(path: Path, inside: Path | None = None) -> Path:
    """Where a config file really is: links are followed, and stay.

    Raises `Conflict`: `config.link` (a loop, to nowhere, or out of the project).
    """
    try:
        real = path.resolve(strict=False)
        if path.is_symlink() and not real.parent.is_dir():
            raise _conflict(path, "config.link", "is a link into a directory that does not exist")
    except (OSError, RuntimeError):
        raise _conflict(path, "config.link", "is a link that leads in a circle") from None
    if inside is not None and not real.is_relative_to(inside.resolve()):
        raise _conflict(path, "config.link", f"is a link out of the project, to {real}")
    return real


def _conflict(path: Path, code: str, message: str) -> Conflict:
    return Conflict(message, code=code, place=Place(str(path)), remedy=f"look at {path} and mend it by hand")


def swap(change: Swap, *, state: Path, disk: Disk = DISK) -> Swapped:
    """Make one change, or none. `state` is where locks and displaced files are kept.

    Raises `ChangedMeanwhileError` if the bytes are not `before`; `Conflict` (`config.link`, `config.not_regular`,
    `config.busy`, `config.lost_race` with both versions kept); `Unavailable` (`config.unwritable`, `config.read_only`).
    """
    real = real_path(change.path, change.inside)
    with _locked(real, state):
        _clear_away(real, state, disk)
        notes = _fit(real, change)
        try:
            return _swap(real, change, state, disk, notes)
        except FileNotFoundError as error:
            raise _unwritable(real, error) from None
        except FileExistsError:
            raise ChangedMeanwhileError from None
        except OSError as error:
            raise _unwritable(real, error) from None


def _unwritable(path: Path, error: OSError) -> Unavailable:
    message = f"cannot be written: {error.strerror or type(error).__name__}"
    remedy = f"make {path.parent} writable for this user, or free space on its disk"
    return Unavailable(message, code="config.unwritable", place=Place(str(path)), remedy=remedy)


def _fit(real: Path, change: Swap) -> tuple[str, ...]:
    """Whether the file may be replaced at all, and what a person should know about it."""
    try:
        status = real.lstat()
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise _unwritable(real, error) from None
    if not stat.S_ISREG(status.st_mode):
        raise _conflict(change.path, "config.not_regular", "is not a regular file")
    if not status.st_mode & 0o222 or not os.access(real, os.W_OK):
        remedy = f"make {real} writable if it shall be changed"
        raise Unavailable("is read-only", code="config.read_only", place=Place(str(real)), remedy=remedy)
    return ("it had several names (hard links); the others keep the old text",) if status.st_nlink > 1 else ()


def _swap(real: Path, change: Swap, state: Path, disk: Disk, notes: tuple[str, ...]) -> Swapped:
    if _bytes(real) != change.before:
        raise ChangedMeanwhileError
    if change.after is None:
        return _take_away(real, change, state, disk, notes)
    made = _missing_parents(real)
    disk.step("mkdir")
    real.parent.mkdir(parents=True, exist_ok=True)
    temporary = _write_beside(real, change, disk)
    try:
        if change.before is None:
            _create(real, temporary, disk)
            kept = None
        else:
            kept = _exchange(real, temporary, change, state, disk)
    except BaseException:
        with contextlib.suppress(OSError):
            if _bytes(temporary) == change.after:
                temporary.unlink()
        for directory in made:
            with contextlib.suppress(OSError):
                directory.rmdir()
        raise
    _sync(real.parent)
    return Swapped(real, kept, notes)


def _missing_parents(real: Path) -> list[Path]:
    """Directories that will be made, innermost first, so that a failure can take them away again."""
    missing: list[Path] = []
    parent = real.parent
    while not parent.exists():
        missing.append(parent)
        parent = parent.parent
    return missing


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _beside(real: Path) -> Path:
    return real.parent / f".{real.name}{_MARK}{os.getpid()}-{time.monotonic_ns():x}"


def _write_beside(real: Path, change: Swap, disk: Disk) -> Path:
    temporary = _beside(real)
    disk.step("create")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            disk.step("write")
            file.write(change.after or b"")
            file.flush()
            disk.step("fsync")
            os.fsync(file.fileno())
        disk.step("chmod")
        _like(temporary, real, change.mode)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    return temporary


def _like(temporary: Path, real: Path, mode: int) -> None:
    """Mode and owner of the file that is replaced; a new file gets `mode`."""
    try:
        status = real.stat()
    except FileNotFoundError:
        temporary.chmod(mode)
        return
    temporary.chmod(stat.S_IMODE(status.st_mode))
    if sys.platform != "win32":
        own = temporary.stat()
        if (own.st_uid, own.st_gid) != (status.st_uid, status.st_gid):
            os.chown(temporary, status.st_uid, status.st_gid)


def _create(real: Path, temporary: Path, disk: Disk) -> None:
    disk.step("rename")
    if not disk.rename_new(temporary, real):
        os.link(temporary, real)
        temporary.unlink()


def _exchange(real: Path, temporary: Path, change: Swap, state: Path, disk: Disk) -> Path | None:
    if _bytes(real) != change.before:
        raise ChangedMeanwhileError
    disk.step("exchange")
    if not disk.exchange(temporary, real):
        return _plain_replace(real, temporary, change, state, disk)
    if _bytes(temporary) != change.before:
        _swap_back(real, temporary, change, state, disk)
    return _keep(temporary, real, state, disk)


def _plain_replace(real: Path, temporary: Path, change: Swap, state: Path, disk: Disk) -> Path | None:
    kept = _kept_name(real, state)
    kept.write_bytes(change.before or b"")
    kept.chmod(0o600)
    disk.step("rename")
    temporary.replace(real)
    return kept


def _swap_back(real: Path, temporary: Path, change: Swap, state: Path, disk: Disk) -> None:
    """Another program wrote between our comparison and our swap: its version goes back to its place."""
    disk.step("exchange back")
    if not disk.exchange(temporary, real):
        raise _lost_race(real, _keep(temporary, real, state, disk))
    if _bytes(temporary) == change.after:
        raise ChangedMeanwhileError
    # It wrote once more, over our version: what it wrote is in our hands, what it wrote before is in place.
    raise _lost_race(real, _keep(temporary, real, state, disk))


def _lost_race(real: Path, kept: Path) -> Conflict:
    message = f"another program wrote into it at the same moment; a second version is kept in {kept}"
    remedy = f"close the program that writes it, compare the two, then run the command again: diff {real} {kept}"
    return Conflict(message, code="config.lost_race", place=Place(str(real)), remedy=remedy)


def _take_away(real: Path, change: Swap, state: Path, disk: Disk, notes: tuple[str, ...]) -> Swapped:
    if change.before is None:
        return Swapped(real, None, notes)
    aside = _beside(real)
    disk.step("rename")
    real.rename(aside)
    if _bytes(aside) != change.before:
        disk.step("rename back")
        try:
            if not disk.rename_new(aside, real):
                aside.rename(real)
        except FileExistsError:
            raise _lost_race(real, _keep(aside, real, state, disk)) from None
        raise ChangedMeanwhileError
    return Swapped(real, _keep(aside, real, state, disk), notes)


def _kept_name(real: Path, state: Path) -> Path:
    for above in (state, state / "backups"):
        private_directory(above)
    directory = private_directory(state / "backups" / _key(real))
    return (
        directory / f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{time.monotonic_ns():x}-{real.name.lstrip('.')}"
    )


def _keep(displaced: Path, real: Path, state: Path, disk: Disk) -> Path:
    """Move a displaced file to the backups as it is: whoever still has it open goes on writing into the kept one."""
    kept = _kept_name(real, state)
    for old in sorted(kept.parent.iterdir())[:-KEPT_VERSIONS]:
        old.unlink(missing_ok=True)
    disk.step("keep")
    try:
        displaced.rename(kept)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        kept.write_bytes(displaced.read_bytes())
        kept.chmod(0o600)
        displaced.unlink()
    return kept


def _clear_away(real: Path, state: Path, disk: Disk) -> None:
    """What a killed run left beside the file: our unfinished text goes, anything else is kept with the backups."""
    for left in real.parent.glob(f".{glob_escaped(real.name)}{_MARK}*") if real.parent.is_dir() else ():
        with contextlib.suppress(OSError):
            _keep(left, real, state, disk)


def glob_escaped(name: str) -> str:
    """A file name as a pattern for itself."""
    return "".join(f"[{mark}]" if mark in "*?[" else mark for mark in name)


def _sync(directory: Path) -> None:
    if sys.platform == "win32":
        return
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with contextlib.suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


# --- locks -------------------------------------------------------------------------------------------------------


def _key(real: Path) -> str:
    return hashlib.sha256(str(real).encode("utf-8", "surrogateescape")).hexdigest()[:16]


@contextlib.contextmanager
def _locked(real: Path, state: Path) -> Generator[None]:
    """Our own advisory lock on one file, and a wait for agents that lock theirs."""
    directory = private_directory(state / "locks")
    descriptor = os.open(directory / f"{_key(real)}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        deadline = time.monotonic() + LOCK_WAIT
        while not _try_lock(descriptor) or _foreign_lock(real):
            if time.monotonic() > deadline:
                raise _conflict(real, "config.busy", "is being written by another program")
            time.sleep(0.02)
        yield
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int) -> bool:
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


def _foreign_lock(real: Path) -> bool:
    """Cline holds `<file>.lock/`, Copilot `.mcp-writer.lock` beside its file; old ones were left behind."""
    for lock in (real.parent / f"{real.name}.lock", real.parent / ".mcp-writer.lock"):
        with contextlib.suppress(OSError):
            if time.time() - lock.stat().st_mtime < FOREIGN_LOCK_STALE:
                return True
    return False


_AT_FDCWD: Final = -100
_CANNOT: Final = frozenset({errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.EPERM})


def _renameat2(first: Path, second: Path, flags: int) -> bool:
    if sys.platform != "linux":
        return False
    function = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if function is None:
        return False
    if function(_AT_FDCWD, os.fsencode(first), _AT_FDCWD, os.fsencode(second), ctypes.c_uint(flags)) == 0:
        return True
    number = ctypes.get_errno()
    if number in _CANNOT:
        return False
    raise OSError(number, os.strerror(number), str(second))
