"""`homeport.lock` as values: what may run. Reading and writing the text is `pins_text`'s work; no I/O here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from homeport.ground import digests
from homeport.ground.exact import Json

FORMAT = 1

Kind: TypeAlias = Literal["python", "node"]


@dataclass(frozen=True, slots=True)
class Dependency:
    """One distribution of a runtime: exact version, hashes of all its files, no address."""

    name: str
    version: str
    hashes: tuple[str, ...]
    """`sha256:…` (PyPI) or `sha512-…` (npm), sorted."""
    marker: str = ""
    """The environments it belongs to, as the resolution is for all: PEP 508; npm: `os=…; cpu=…; libc=…; optional`."""
    path: str = ""
    """npm only: where it lies below the runtime (`node_modules/…`)."""
    depends: tuple[str, ...] = ()
    """npm only: `name@range`, with `optional:`, `peer:` or `peer-optional:` before it where it is one."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """What one server's program is made of."""

    kind: Kind
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

    def runtimes(self) -> Mapping[str, Runtime]:
        """Every runtime of the lock by its digest; servers with the same program share one."""
        return {pin.runtime.digest: pin.runtime for pin in self.pins.values() if pin.runtime is not None}


def new_runtime(kind: Kind, requirement: str, dependencies: Iterable[Dependency]) -> Runtime:
    """A runtime in its one form: dependencies sorted, and the digest over all of it."""
    ordered = tuple(sorted(dependencies, key=lambda each: (each.path, each.name, each.version, each.marker)))
    return Runtime(kind, requirement, ordered, runtime_digest(kind, requirement, ordered))


def runtime_digest(kind: Kind, requirement: str, dependencies: Iterable[Dependency]) -> str:
    """`sha256:…` over everything that decides which files are installed."""
    listed: list[Json] = [
        [each.name, each.version, list(each.hashes), each.marker, each.path, list(each.depends)]
        for each in dependencies
    ]
    return digests.of_json({"kind": kind, "requirement": requirement, "dependencies": listed})
