"""Writing a file so that a reader, or a crash, sees the old bytes or the new ones, never a part."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from typing import Final, cast

from homeport.ground.errors import Conflict, Place, Unavailable

_LOCK_WAIT: Final = 5.0


def replace_atomically(path: Path, data: bytes, *, mode: int = 0o644) -> None:
    """Write `data` beside `path` and rename it over. Parents are made. Raises `Unavailable` (`file.unwritable`)."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".new", dir=path.parent)
    except OSError as error:
        raise _unwritable(path, error) from None
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(mode)
        Path(temporary).replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise _unwritable(path, error) from None


def private_directory(path: Path) -> Path:
    """Make a directory that only this user may enter (0700), with its parents. Raises `Unavailable`."""
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        if os.name == "posix" and path.stat().st_mode & 0o077:
            path.chmod(0o700)
    except OSError as error:
        raise _unwritable(path, error) from None
    return path


@contextlib.contextmanager
def exclusively(lock: Path, *, code: str = "file.busy") -> Generator[None]:
    """One writer at a time, over processes; the operating system lets go of it when a holder dies.

    `lock` is a file of its own, since what it guards is replaced. It does not nest. Raises `Conflict` (`code`) when
    another holds it for 5 seconds, `Unavailable` (`file.unwritable`).
    """
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    except OSError as error:
        raise _unwritable(lock, error) from None
    try:
        deadline = time.monotonic() + _LOCK_WAIT
        while not _try_lock(descriptor):
            if time.monotonic() > deadline:
                raise Conflict(
                    "another homeport command is writing",
                    code=code,
                    place=Place(str(lock)),
                    remedy="run the command again when it is done",
                )
            time.sleep(0.02)
        yield
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int) -> bool:
    try:
        if os.name == "nt":
            import msvcrt

            locking: Callable[[int, int, int], None] = msvcrt.locking
            locking(descriptor, cast("Mapping[str, int]", vars(msvcrt))["LK_NBLCK"], 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _unwritable(path: Path, error: OSError) -> Unavailable:
    reason = error.strerror or type(error).__name__
    return Unavailable(
        f"cannot be written: {reason}",
        code="file.unwritable",
        place=Place(str(path)),
        remedy=f"make {path.parent} writable for this user, or free space on its disk",
    )
