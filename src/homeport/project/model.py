"""A project as values: what a person wrote in `homeport.toml`, already checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from homeport.declarations.model import Declaration
from homeport.ground.errors import Place
from homeport.ground.secrets import Chain
from homeport.surface.policy import Profile


@dataclass(frozen=True, slots=True)
class Command:
    """A program on this machine: `argv[0]` is searched on PATH unless it has a slash; relative to the project."""

    argv: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PythonRuntime:
    """A distribution from PyPI, resolved with all its dependencies into the lock."""

    requirement: str
    """`name==version`, extras allowed."""
    command: str = ""
    """The console script to run; empty: the one named like the distribution, else the only one."""
    args: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeRuntime:
    """A package from npm, resolved with all its dependencies into the lock."""

    requirement: str
    """`name@version` or `@scope/name@version`."""
    command: str = ""
    args: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PackageSource:
    """An `mcp` package of our own kind (`group/name@=version`)."""

    package: str
    args: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Remote:
    """A server reached over Streamable HTTP."""

    url: str
    headers: Mapping[str, Chain] = field(default_factory=dict[str, Chain])


Source: TypeAlias = Command | PythonRuntime | NodeRuntime | PackageSource | Remote


@dataclass(frozen=True, slots=True)
class Server:
    """One `[servers.NAME]`."""

    name: str
    source: Source
    env: Mapping[str, Chain] = field(default_factory=dict[str, Chain])
    cwd: str = ""
    """Relative to the project; empty: the project itself."""
    enabled: bool = True
    apps: bool = True
    isolation: Literal["shared", "caller"] = "shared"
    declaration: Declaration | None = None
    place: Place = Place()


@dataclass(frozen=True, slots=True)
class Project:
    """One `homeport.toml` with `[project]`."""

    root: Path
    """The directory that holds the file."""
    name: str
    servers: Mapping[str, Server] = field(default_factory=dict[str, Server])
    profiles: Mapping[str, Profile] = field(default_factory=dict[str, Profile])
    registries: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def file(self) -> Path:
        """The file itself."""
        return self.root / "homeport.toml"
