"""Bringing the runtimes of a project to the lock's shape: resolved, installed, with the program to start."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from homeport.ground.errors import Conflict, HomeportError, InvalidInput, Refused
from homeport.ops import pinned
from homeport.ops.context import Context
from homeport.packages import trust
from homeport.packages.pins import Lock, Pin, Runtime
from homeport.packages.runtimes import node, place, python
from homeport.packages.runtimes.node_program import Node
from homeport.packages.runtimes.uv import Uv
from homeport.project import agreement, parse
from homeport.project.model import NodeRuntime, PackageSource, Project, PythonRuntime, Server


@dataclass(frozen=True, slots=True)
class Tools:
    """The installers of this machine, found when they are first needed."""

    context: Context

    def resolve(self, source: PythonRuntime | NodeRuntime) -> Runtime:
        """The dependency set of a runtime. Reaches a registry."""
        if isinstance(source, PythonRuntime):
            return python.resolve(source.requirement, uv=self._uv())
        return node.resolve(source.requirement, node=self._node())

    def install(self, runtime: Runtime, target: Path) -> None:
        """Put a runtime where it belongs. Reaches a registry unless the files are cached."""
        if runtime.kind == "python":
            python.install(runtime, target, uv=self._uv())
        else:
            node.install(runtime, target, node=self._node())

    def entry(self, source: PythonRuntime | NodeRuntime, runtime: Runtime, target: Path) -> tuple[str, ...]:
        """The program to start, relative to the runtime."""
        ecosystem = python if isinstance(source, PythonRuntime) else node
        return (ecosystem.entry(runtime, target, source.command),)

    def _uv(self) -> Uv:
        return Uv.found(self.context.environment, home=self.context.home, platform=self.context.platform)

    def _node(self) -> Node:
        return Node(self.context.environment, self.context.paths.cache, self._uv())


def pinned_server(tools: Tools, root: Path, server: Server, old: Pin | None, *, upgrade: bool) -> Pin:
    """The pin of a server: the old one while it says what the project says, else resolved, installed and new.

    Raises what the installers raise; nothing of the server is started.
    """
    if old is not None and agreement.is_current(server, old) and not upgrade:
        if old.runtime is not None:
            ensure_installed(tools, root, old.runtime)
        return old
    surface = old.surface if old else ""
    match server.source:
        case PythonRuntime() | NodeRuntime():
            same = old.runtime if old and old.runtime and old.runtime.requirement == server.source.requirement else None
            tools.context.progress.step(f"resolving {server.source.requirement}")
            runtime = same if same and not upgrade else tools.resolve(server.source)
            target = ensure_installed(tools, root, runtime)
            return agreement.new_pin(
                server, entry=tools.entry(server.source, runtime, target), runtime=runtime, surface=surface
            )
        case PackageSource():
            raise InvalidInput(
                f"{server.name}: packages of Homeport's own kind are not supported yet",
                code="package.unsupported",
                place=server.place,
                remedy="use `runtime`, `command` or `url`",
            )
        case _:
            return agreement.new_pin(server, surface=surface)


def ensure_installed(tools: Tools, root: Path, runtime: Runtime) -> Path:
    """The directory of a runtime, installed if it is not yet."""
    target = place.directory(root, runtime)
    if not place.installed(root, runtime):
        place.local_directory(root)
        tools.context.progress.step(f"installing {runtime.requirement} ({len(runtime.dependencies)} packages)")
        tools.install(runtime, target)
    return target


@dataclass(frozen=True, slots=True)
class Synced:
    """What a `sync` did."""

    installed: tuple[str, ...]
    ready: tuple[str, ...]


def sync(context: Context, *, frozen: bool = False) -> Synced:
    """Install what the lock says and this user agreed to.

    `frozen`: a lock that does not match the project is a `Conflict` (`lock.stale`) instead of being passed over.
    Raises `Refused` (`trust.launch`) when a server was not agreed to, after the others are done.
    """
    root = context.root()
    project = parse.load(root)
    lock = pinned.read_lock(root)
    if frozen:
        require_current(project, lock)
    record = trust.read(context.paths.trust, root)
    tools = Tools(context)
    installed: list[str] = []
    ready: list[str] = []
    untrusted: list[str] = []
    for name, server in sorted(project.servers.items()):
        pin = lock.pins.get(name)
        if pin is None or pin.runtime is None:
            continue
        if not record.trusts(name, agreement.launch_digest(server, pin)):
            untrusted.append(name)
        elif place.installed(root, pin.runtime):
            ready.append(name)
        else:
            ensure_installed(tools, root, pin.runtime)
            installed.append(name)
            context.progress.done(f"installed {name}: {pin.runtime.requirement}")
    if untrusted:
        raise Refused(
            f"not installed, since nobody on this machine agreed to start them: {', '.join(untrusted)}",
            code="trust.launch",
            remedy="homeport trust",
        )
    return Synced(tuple(installed), tuple(ready))


def stale_servers(project: Project, lock: Lock) -> list[str]:
    """What differs between project and lock, a sentence each."""
    told: list[str] = []
    for name, server in sorted(project.servers.items()):
        pin = lock.pins.get(name)
        if pin is None:
            told.append(f"{name} is not locked")
        elif not agreement.is_current(server, pin):
            told.append(f"{name} was changed in homeport.toml since it was locked")
        elif not pin.surface and server.enabled:
            told.append(f"what {name} offers has not been read")
    return told + [
        f"{name} is locked but no longer in the project" for name in sorted(lock.pins.keys() - project.servers)
    ]


def require_current(project: Project, lock: Lock) -> None:
    """Raise `Conflict` (`lock.stale`) unless the lock matches the project."""
    told = stale_servers(project, lock)
    if told:
        raise Conflict(
            "the lock does not match the project: " + "; ".join(told), code="lock.stale", remedy="homeport lock"
        )


def check_lock(context: Context) -> None:
    """Compare project, lock and surfaces on disk, offline. Raises `Conflict` (`lock.stale`, `surface.mismatch`)."""
    root = context.root()
    project = parse.load(root)
    lock = pinned.read_lock(root)
    require_current(project, lock)
    for name, pin in sorted(lock.pins.items()):
        if not pin.surface:
            continue
        try:
            pinned.expect_surface(root, name, pin.surface)
        except HomeportError as error:
            raise Conflict(error.message, code=error.code, place=error.place, remedy=error.remedy) from None
