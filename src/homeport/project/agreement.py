"""A project's servers and profiles in the form that a person agrees to: launches and one digest of all grants. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, cast

from homeport.ground.errors import Place
from homeport.ground.exact import Json, Number
from homeport.packages import consent
from homeport.packages.consent import Launch
from homeport.packages.launch import RUNTIME
from homeport.packages.pins import Pin, Runtime
from homeport.project.model import Command, NodeRuntime, PackageSource, PythonRuntime, Remote, Server, Source
from homeport.surface.policy import Profile


def source_line(source: Source) -> str:
    """What a server is, in one line: `python mcp-server-time==2026.10.19`, `command git`, a URL."""
    match source:
        case Command():
            return f"command {source.argv[0]}"
        case PythonRuntime():
            return f"python {source.requirement}{_script(source.command)}"
        case NodeRuntime():
            return f"node {source.requirement}{_script(source.command)}"
        case PackageSource():
            return f"package {source.package}"
        case Remote():
            return source.url


def _script(command: str) -> str:
    return f" ({command})" if command else ""


def source_args(source: Source) -> tuple[str, ...]:
    """The arguments a person wrote; those of a command include none of its program."""
    match source:
        case Command():
            return source.argv[1:]
        case Remote():
            return ()
        case _:
            return source.args


def new_pin(server: Server, *, entry: tuple[str, ...] = (), runtime: Runtime | None = None, surface: str = "") -> Pin:
    """The lock's line for a server. `entry` is what its runtime starts with (`{runtime}/bin/…`), if it has one."""
    source = server.source
    argv = source.argv if isinstance(source, Command) else (*entry, *source_args(source)) if entry else ()
    return Pin(server.name, source_line(source), argv, runtime, surface)


def is_current(server: Server, pin: Pin) -> bool:
    """Whether the lock's line still says what the project file says."""
    source, args = server.source, source_args(server.source)
    if pin.source != source_line(source):
        return False
    if isinstance(source, Command):
        return pin.argv == source.argv
    if isinstance(source, Remote):
        return not pin.argv
    entry = len(pin.argv) - len(args)
    return entry > 0 and pin.argv[entry:] == args and all(part.startswith(RUNTIME) for part in pin.argv[:entry])


def launch(server: Server, pin: Pin | None) -> Launch:
    """What is agreed to for a server, locked (`pin`) or as written."""
    remote = server.source if isinstance(server.source, Remote) else None
    argv = pin.argv if pin else server.source.argv if isinstance(server.source, Command) else source_args(server.source)
    return Launch(
        server.name,
        pin.source if pin else source_line(server.source),
        argv,
        cwd=server.cwd,
        url=remote.url if remote else "",
        env=server.env,
        headers=remote.headers if remote else {},
        runtime=pin.runtime.digest if pin and pin.runtime else "",
    )


def launch_digest(server: Server, pin: Pin | None) -> str:
    """`sha256:…` of a server's launch; see `packages.consent`."""
    return consent.launch_digest(launch(server, pin))


def profiles_digest(profiles: Mapping[str, Profile]) -> str:
    """`sha256:…` over every profile, grant and rule; where they stand in the file does not count."""
    return consent.profiles_digest({name: _plain(profile) for name, profile in profiles.items()})


def _plain(value: object) -> Json:
    if isinstance(value, Number) or value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, Mapping):
        members = cast("Mapping[str, object]", value)
        return {key: _plain(member) for key, member in members.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in cast("list[object]", value)]
    if is_dataclass(value) and not isinstance(value, type):
        named = ((each.name, getattr(value, each.name)) for each in fields(value))
        return {name: _plain(member) for name, member in named if not isinstance(member, Place)}
    raise TypeError(f"a policy holds a {type(cast('Any', value)).__name__}")
