"""The front end as it was built into the package: a handful of files, read once and kept."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from homeport.ground.errors import Place, Unavailable

STATIC: Final = Path(__file__).parent / "static"
INDEX: Final = "/index.html"

_TYPES: Final[Mapping[str, bytes]] = {
    ".html": b"text/html; charset=utf-8",
    ".js": b"text/javascript; charset=utf-8",
    ".css": b"text/css; charset=utf-8",
    ".svg": b"image/svg+xml",
}
_FOREVER: Final = b"public, max-age=31536000, immutable"
_ASK_AGAIN: Final = b"no-cache"


@dataclass(frozen=True, slots=True)
class BuiltFile:
    """One file with what its answer needs."""

    body: bytes
    content_type: bytes
    etag: bytes
    cache: bytes


def read_built(root: Path = STATIC) -> Mapping[str, BuiltFile]:
    """Every file below `root` by the path it is served under. Raises `Unavailable` (`console.not_built`)."""
    paths = sorted(path for path in root.rglob("*") if path.suffix in _TYPES)
    found = {f"/{path.relative_to(root).as_posix()}": _read(path) for path in paths}
    if INDEX not in found:
        raise Unavailable(
            "the console's front end is not in this installation",
            code="console.not_built",
            place=Place(str(root)),
            remedy="in a checkout: make frontend; else install homeport again",
        )
    return found


def _read(path: Path) -> BuiltFile:
    body = path.read_bytes()
    etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'.encode()
    # The names in assets/ hold a hash of the content; the others are asked for again.
    cache = _FOREVER if path.parent.name == "assets" else _ASK_AGAIN
    return BuiltFile(body, _TYPES[path.suffix], etag, cache)
