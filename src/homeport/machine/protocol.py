"""Everything that is read from a machine, as one protocol, so that rules for Windows and macOS run in tests on Linux.

Paths are texts in the machine's own spelling (`paths_of` gives the matching path rules), never `pathlib` objects.
Nothing here writes, starts a process or opens a connection.
"""

from __future__ import annotations

import ntpath
import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Final, Literal, NamedTuple, Protocol, TypeAlias

from homeport.ground.errors import Unavailable

FileKind: TypeAlias = Literal["file", "directory", "other", "missing", "denied", "invalid_path", "hung", "unreadable"]


class FileFact(NamedTuple):
    """What is at a path, links followed. `other`: a FIFO, a socket, a device. A tuple: many are made a second."""

    kind: FileKind
    executable: bool = False
    size: int = 0
    modified: float = 0.0
    """Seconds since the epoch."""
    owner: int | None = None
    """User id; None where files have none."""
    mode: int = 0
    """Permission bits; 0 where files have none."""


MISSING: Final = FileFact("missing")


@dataclass(frozen=True, slots=True)
class Names:
    """The names in a directory, in no order. `complete` is False when the listing was cut off at its bound."""

    names: tuple[str, ...] = ()
    complete: bool = True
    trouble: str = ""
    """A `FileKind` when it could not be listed."""


@dataclass(frozen=True, slots=True)
class RegistryKey:
    """One key of the Windows registry: its values as text, its subkeys by name, in enumeration order."""

    values: Mapping[str, str] = field(default_factory=dict[str, str])
    """By name as stored; look up with `value`. The unnamed value is under the empty text."""
    subkeys: tuple[str, ...] = ()

    def value(self, name: str) -> str | None:
        """A value by name, in any case."""
        found = self.values.get(name)
        if found is None:
            wanted = name.casefold()
            found = next((text for key, text in self.values.items() if key.casefold() == wanted), None)
        return found


@dataclass(frozen=True, slots=True)
class ProcessFact:
    """One process. `executable` and `started` (seconds since the epoch) are None when they cannot be told."""

    alive: bool
    executable: str | None = None
    started: float | None = None


class CannotRead(Unavailable):
    """A file that could not be read; `reason` is a `FileKind`, `too_large` or `not_a_file`."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message, code=f"machine.{reason}")
        self.reason = reason


Hive: TypeAlias = Literal["HKLM", "HKCU"]
Bits: TypeAlias = Literal[32, 64]


class Machine(Protocol):
    """This computer, or one described by data."""

    @property
    def platform(self) -> str:
        """`win32`, `darwin`, `linux`, or what else `sys.platform` says."""
        ...

    @property
    def architecture(self) -> str:
        """Of the hardware, whatever the interpreter is translated from: `arm64`, `x86_64`, …"""
        ...

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment variables; on Windows looked up with `variable`."""
        ...

    @property
    def home(self) -> str:
        """This user's home directory; empty when unknown."""
        ...

    @property
    def user_id(self) -> int | None:
        """The user's id, where users have numbers."""
        ...

    def stat(self, path: str) -> FileFact:
        """What is at an absolute path, links followed."""
        ...

    def names(self, path: str, limit: int) -> Names:
        """At most `limit` names in a directory."""
        ...

    def read(self, path: str, limit: int) -> bytes:
        """A regular file of at most `limit` bytes. Raises `CannotRead`."""
        ...

    def link(self, path: str) -> str | None:
        """What a symbolic link says, or None when it is none."""
        ...

    def registry(self, hive: Hive, key: str, bits: Bits = 64) -> RegistryKey | None:
        """A registry key in one view, or None when there is none."""
        ...

    def process(self, pid: int) -> ProcessFact:
        """Whether a process is alive. One that may not be asked is alive."""
        ...

    def pe_version(self, path: str) -> str | None:
        """The binary file version of a PE file (`a.b.c.d`), None when it states none. Raises `CannotRead`."""
        ...


def paths_of(machine: Machine) -> ModuleType:
    """`ntpath` or `posixpath`."""
    return ntpath if machine.platform == "win32" else posixpath


def variable(machine: Machine, name: str) -> str | None:
    """An environment variable, in any case on Windows. An empty one counts as unset."""
    found = machine.environment.get(name)
    if found is None and machine.platform == "win32":
        wanted = name.upper()
        found = next((value for key, value in machine.environment.items() if key.upper() == wanted), None)
    return found or None
