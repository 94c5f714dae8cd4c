"""The files of a project that Homeport writes: `homeport.lock` and `homeport.surface/<server>.json`."""

from __future__ import annotations

from pathlib import Path

from homeport.ground.errors import InvalidInput, Place, Unavailable
from homeport.ground.files import replace_atomically
from homeport.ground.paths import LOCK_FILE, SURFACE_DIR
from homeport.packages import pins_text
from homeport.packages.pins import Lock
from homeport.surface import lock as surface_text
from homeport.surface.model import Surface


def read_lock(root: Path) -> Lock:
    """The lock; an empty one where there is none. Raises `InvalidInput` (`lock.*`): corrupt, or of a newer format."""
    file = root / LOCK_FILE
    data = _read(file)
    return Lock() if data is None else pins_text.parse(data, file=str(file))


def write_lock(root: Path, lock: Lock) -> None:
    """Replace the lock; equal bytes are left alone."""
    _write(root / LOCK_FILE, pins_text.dump(lock))


def surface_file(root: Path, server: str) -> Path:
    """Where a server's surface lies."""
    return root / SURFACE_DIR / f"{server}.json"


def read_surface(root: Path, server: str) -> Surface | None:
    """A locked surface; None where there is none. Raises `InvalidInput` (`surface.*`) for one that is damaged."""
    file = surface_file(root, server)
    data = _read(file)
    return None if data is None else surface_text.parse(data, file=str(file))


def write_surface(root: Path, server: str, surface: Surface) -> None:
    """Replace a surface; a file of equal digests is left alone."""
    file = surface_file(root, server)
    _write(file, surface_text.relock(_read(file), surface))


def remove_surface(root: Path, server: str) -> None:
    """Remove the surface of a server that is no longer in the project."""
    surface_file(root, server).unlink(missing_ok=True)


def expect_surface(root: Path, server: str, digest: str) -> Surface:
    """The surface that the lock speaks of. Raises `InvalidInput`: absent, damaged, or not the one in the lock."""
    file = surface_file(root, server)
    surface = read_surface(root, server)
    remedy = "homeport lock"
    if surface is None:
        raise InvalidInput(
            f"what {server} offers is not locked", code="surface.absent", place=Place(str(file)), remedy=remedy
        )
    if surface.digest != digest:
        raise InvalidInput(
            f"is not the one that {LOCK_FILE} speaks of: one of the two was changed by hand or is from another commit",
            code="surface.mismatch",
            place=Place(str(file)),
            remedy=remedy,
        )
    return surface


def _read(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unavailable(
            f"cannot be read: {error.strerror}",
            code="file.unreadable",
            place=Place(str(file)),
            remedy=f"make {file} readable for this user",
        ) from None


def _write(file: Path, data: bytes) -> None:
    if _read(file) != data:
        replace_atomically(file, data)
