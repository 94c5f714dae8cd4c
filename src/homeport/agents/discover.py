"""Which agents are on this machine and what their config files say. Reads; starts, writes and contacts nothing."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from homeport.agents import documents
from homeport.agents.catalog import Agent, Catalog, Scope, Where
from homeport.agents.shapes import Seen, read_entry
from homeport.ground.errors import HomeportError, InvalidInput, Place, Problem, Unavailable

MAX_FILE: Final = 64 * 1024 * 1024
"""Larger files are told, not read: none of the agents writes one."""


@dataclass(frozen=True, slots=True)
class FoundServer:
    """One server in one file, with what was measured of it on this machine."""

    agent: str
    scope: Scope
    name: str
    place: Place
    value: Any
    """The entry as decoded; not always an object."""
    seen: Seen
    program: str = ""
    """Where its command was found; empty: nowhere (or it has none)."""
    missing: tuple[str, ...] = ()
    """Absolute paths among its arguments, and its working directory, that do not exist."""


@dataclass(frozen=True, slots=True)
class FoundFile:
    """One config file that exists."""

    agent: str
    scope: Scope
    path: Path
    servers: tuple[FoundServer, ...] = ()
    liberties: tuple[str, ...] = ()
    top: tuple[str, ...] = ()
    problem: Problem | None = None
    """Why it could not be read."""
    effective: bool = True
    """False: a file that this agent does not read its servers from."""
    writable: bool = True
    """Whether registration may go into this file (some are read by the agent only)."""


@dataclass(frozen=True, slots=True)
class FoundAgent:
    """One agent with a trace on this machine."""

    agent: Agent
    program: str = ""
    """Its program on PATH; empty: not found there."""
    marks: tuple[Path, ...] = ()
    files: tuple[FoundFile, ...] = ()

    @property
    def installed(self) -> bool:
        """Whether its program is here. A directory alone says only that it was installed once."""
        return bool(self.program) or (not self.agent.programs and bool(self.marks))


@dataclass(frozen=True, slots=True)
class Discovery:
    """Every agent found, in the catalogue's order."""

    agents: tuple[FoundAgent, ...] = ()

    def servers(self) -> Iterator[FoundServer]:
        """Every server of every effective file. A file that several agents read gives one for each of them."""
        for found in self.agents:
            for file in found.files:
                if file.effective:
                    yield from file.servers


def discover(catalog: Catalog, where: Where, *, project: Path | None = None) -> Discovery:
    """Look for every agent of the catalogue. Problems of single files are values in the answer.

    Raises `InvalidInput` (`agents.home`) if the home directory is unknown: paths below it would mean nothing.
    """
    if not where.home.is_absolute():
        message = "the home directory is not known"
        raise InvalidInput(message, code="agents.home", remedy="set HOME to an absolute path")
    return Discovery(tuple(found for agent in catalog if (found := look(agent, where, project)) is not None))


def look(agent: Agent, where: Where, project: Path | None = None) -> FoundAgent | None:
    """One agent's traces; None where it has none."""
    search = where.environment.get("PATH", "")
    program = next(filter(None, (shutil.which(name, path=search) for name in agent.programs)), "")
    marks = tuple(path for path in agent.marks(where) if _exists(path))
    files = tuple(_files(agent, where, project))
    if not program and not marks and not files:
        return None
    return FoundAgent(agent, program, marks, files)


def _exists(path: Path) -> bool:
    if "*" in path.name:
        return any(path.parent.glob(path.name)) if path.parent.is_dir() else False
    return path.exists()


def _files(agent: Agent, where: Where, project: Path | None) -> Iterator[FoundFile]:
    for path in agent.user_files(where):
        if path.exists() or path.is_symlink():
            found, data = _read(agent, "user", path, where)
            yield found
            if agent.project_local and project is not None and data is not None:
                yield from _local(agent, path, data, where, project)
    for path in agent.ineffective_files(where):
        if path.is_file():
            found, _ = _read(agent, "user", path, where, effective=False)
            if found.servers:
                yield found
    if project is None:
        return
    for paths, writable in ((agent.project_files, True), (agent.project_only_read, False)):
        for path in paths(where, project):
            if path.exists() or path.is_symlink():
                yield _read(agent, "project", path, where, project=project, writable=writable)[0]


def _local(agent: Agent, path: Path, data: bytes, where: Where, project: Path) -> Iterator[FoundFile]:
    """Servers that the user file keeps for one project (Claude Code's `projects.<directory>`)."""
    key_path = tuple(key.replace("{project}", str(project)) for key in agent.project_local)
    try:
        document = documents.read(data, agent, file=str(path), key_path=key_path)
    except HomeportError:
        return
    servers = tuple(_server(agent, "local", entry, where, project) for entry in document.entries)
    if servers:
        yield FoundFile(agent.id, "local", path, servers, writable=False)


def _read(
    agent: Agent,
    scope: Scope,
    path: Path,
    where: Where,
    *,
    project: Path | None = None,
    effective: bool = True,
    writable: bool = True,
) -> tuple[FoundFile, bytes | None]:
    try:
        data = read_bytes(path)
        document = documents.read(data, agent, file=str(path))
    except HomeportError as error:
        problem = error.problems()[0]
        found = FoundFile(agent.id, scope, path, problem=problem, effective=effective, writable=writable)
        return found, None
    servers = tuple(_server(agent, scope, entry, where, project) for entry in document.entries)
    found = FoundFile(
        agent.id, scope, path, servers, document.liberties, document.top, effective=effective, writable=writable
    )
    return found, data


def read_bytes(path: Path) -> bytes:
    """A config file's bytes. Never waits on a pipe and never reads a device.

    Raises `Unavailable` (`config.unreadable`) with the reason.
    """
    place = Place(str(path))
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except OSError as error:
        remedy = f"make {path} readable for this user"
        message = f"cannot be read: {error.strerror}"
        raise Unavailable(message, code="config.unreadable", place=place, remedy=remedy) from None
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            message = "is not a regular file"
            raise Unavailable(message, code="config.unreadable", place=place, remedy="replace it by a regular file")
        if status.st_size > MAX_FILE:
            message = f"has {status.st_size} bytes; at most {MAX_FILE} are read"
            raise Unavailable(message, code="config.too_large", place=place, remedy="look what filled it up")
        return file.read()


def _server(agent: Agent, scope: Scope, entry: documents.Entry, where: Where, project: Path | None) -> FoundServer:
    value: Any = entry.value
    seen = read_entry(agent, cast("Mapping[str, Any]", value)) if isinstance(value, dict) else Seen()
    base = project if scope != "user" and project is not None else where.home
    return FoundServer(
        agent.id,
        scope,
        entry.name,
        entry.place,
        cast("Any", value),
        seen,
        program=_program(seen.command, where, base),
        missing=tuple(_missing(agent, seen, where)),
    )


def _program(command: str, where: Where, base: Path) -> str:
    if not command:
        return ""
    if "/" in command or (where.platform == "win32" and "\\" in command):
        return shutil.which(str(base / command)) or ""
    return shutil.which(command, path=where.environment.get("PATH", "")) or ""


def _is_absolute(text: str) -> bool:
    return text.startswith("/") or Path(text).is_absolute()


def _missing(agent: Agent, seen: Seen, where: Where) -> Iterator[str]:
    """Only what is plainly a path of this system, whole: a guess would cry wolf."""
    for text in (*_scripts(seen), seen.cwd):
        if _is_plain_path(text, agent) and not Path(text).exists():
            yield text
    if _is_absolute(seen.command) and _is_plain_path(seen.command, agent) and not Path(seen.command).exists():
        yield seen.command


_INTERPRETERS: Final = ("python", "node", "bun", "deno", "ruby", "java", "bash", "sh", "pwsh", "tsx", "uv", "dotnet")


def _scripts(seen: Seen) -> Sequence[str]:
    """Arguments that must exist for the program to start: the script of an interpreter, and uv's `--directory`."""
    name = Path(seen.command).name.lower().removesuffix(".exe")
    if not name.startswith(_INTERPRETERS):
        return ()
    first = next((arg for arg in seen.args if not arg.startswith("-")), "")
    after = [arg for flag, arg in zip(seen.args, seen.args[1:], strict=False) if flag in {"--directory", "--project"}]
    return list(dict.fromkeys(filter(None, (first, *after))))


def _is_plain_path(text: str, agent: Agent) -> bool:
    return _is_absolute(text) and not any(mark in text for mark in ("$", "{", "*", "%"))
