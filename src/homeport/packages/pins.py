"""`homeport.lock` as values: what may run. Reading and writing the text is `pins_text`'s work; no I/O here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Dependency:
    """One distribution of a runtime: exact version, hashes of all its files, no address."""

    name: str
    version: str
    hashes: tuple[str, ...]
    """`sha256:…` (PyPI) or `sha512-…` (npm), sorted."""
    marker: str = ""
    """The environments it belongs to (PEP 508), in a resolution for all platforms."""
    path: str = ""
    """npm only: where it lies below the runtime (`node_modules/…`)."""
    depends: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Runtime:
    """What one server's program is made of."""

    kind: Literal["python", "node"]
    requirement: str
    dependencies: tuple[Dependency, ...]
    digest: str
    """Over kind, requirement and dependencies: the name of its directory below `.homeport/runtimes/`."""


@dataclass(frozen=True, slots=True)
class Pin:
    """One server in the lock."""

    server: str
    source: str
    """What was written in `homeport.toml`, in one line: `python mcp-server-time==2026.10.19`, `command git`, a URL."""
    argv: tuple[str, ...] = ()
    """`{runtime}/bin/mcp-server-time …`; empty for a remote server."""
    runtime: Runtime | None = None
    surface: str = ""
    """Digest of `homeport.surface/<server>.json`; empty: not read yet."""


@dataclass(frozen=True, slots=True)
class Lock:
    """The whole file."""

    pins: Mapping[str, Pin] = field(default_factory=dict[str, Pin])
