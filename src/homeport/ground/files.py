"""Writing a file so that a reader, or a crash, sees the old bytes or the new ones, never a part."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from homeport.ground.errors import Place, Unavailable


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


def _unwritable(path: Path, error: OSError) -> Unavailable:
    reason = error.strerror or type(error).__name__
    return Unavailable(
        f"cannot be written: {reason}",
        code="file.unwritable",
        place=Place(str(path)),
        remedy=f"make {path.parent} writable for this user, or free space on its disk",
    )
