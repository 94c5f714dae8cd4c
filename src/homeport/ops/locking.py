"""`homeport lock`: resolve and install what runs, agree to it, start each server once and lock what it offers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from homeport.ground.errors import HomeportError, InvalidInput, Problem
from homeport.ops import launches, pinned, trusting
from homeport.ops.context import Context, Question
from homeport.ops.reading import Read, Unread, read_surfaces
from homeport.ops.resolving import Tools, pinned_server
from homeport.packages import trust
from homeport.packages.pins import Lock, Pin
from homeport.project import agreement, parse
from homeport.project.model import Project
from homeport.surface.decide import compile_view
from homeport.surface.drift import Difference, compare, in_words
from homeport.surface.model import Surface
from homeport.surface.policy import Profile


@dataclass(frozen=True, slots=True)
class Locked:
    """One server after a `lock`."""

    server: str
    source: str
    tools: int = 0
    quarantined: Mapping[str, str] = field(default_factory=dict[str, str])
    """Tools that are locked out on their own, with the reason."""
    read_only: tuple[str, ...] = ()
    """Tools that say `readOnlyHint` and nothing to the contrary."""
    changes: tuple[str, ...] = ()
    """What it offers differently from before, in words."""
    new: bool = False
    notes: tuple[str, ...] = ()
    """What of it could not be read and was left out."""
    problem: Problem | None = None
    """Why it could not be resolved or read; the lock keeps what it had."""
    granted: bool = False
    """Whether a profile grants anything of it."""


def lock(context: Context, servers: Sequence[str] = (), *, upgrade: bool = False) -> list[Locked]:
    """Lock the named servers, or all. What cannot be resolved or read is told and keeps its old lines.

    Raises `Refused` when a launch or a changed surface was declined: then nothing is written.
    """
    root = context.root()
    project = parse.load(root)
    names = _chosen(project, servers)
    old = pinned.read_lock(root)
    pins, failures = _pins(context, project, names, old, upgrade=upgrade)
    _consent(context, root, project, pins)
    starting = {
        name: launches.upstream_launch(project.servers[name], pin, root=root, platform=context.platform)
        for name, pin in pins.items()
        if project.servers[name].enabled
    }
    read = read_surfaces(context, starting)
    before = {name: _old_surface(root, name) for name in names}
    surfaces = {name: found.surface for name, found in read.items() if isinstance(found, Read)}
    changes = {
        name: compare(was, surfaces[name], denied=denied_tools(project.profiles, name))
        for name, was in before.items()
        if was and name in surfaces
    }
    _accept(context, root, changes)
    _write(root, project, old, pins, surfaces)
    failures |= {name: unread.error for name, unread in read.items() if isinstance(unread, Unread)}
    notes = {name: found.problems for name, found in read.items() if isinstance(found, Read)}
    return [
        replace(
            _report(project, name, pins, surfaces.get(name) or before[name], failures),
            changes=tuple(in_words(difference) for difference in changes.get(name, ())),
            new=before[name] is None and name in surfaces,
            notes=tuple(map(str, notes.get(name, ()))),
        )
        for name in names
    ]


def denied_tools(profiles: Mapping[str, Profile], server: str) -> set[str]:
    """Tools of a server that some profile says `never` of: a new one that is named nearly so is pointed out."""
    return {tool for profile in profiles.values() if (grant := profile.grants.get(server)) for tool in grant.never}


def unfit_grants(context: Context) -> list[Problem]:
    """Grants and rules of the project that do not fit what is locked: a tool that is not there, a wrong selector."""
    root = context.root()
    project = parse.load(root)
    surfaces = {name: surface for name in project.servers if (surface := _old_surface(root, name))}
    return [problem for profile in project.profiles.values() for problem in compile_view(profile, surfaces).problems]


def _chosen(project: Project, servers: Sequence[str]) -> list[str]:
    for name in servers:
        if name not in project.servers:
            raise InvalidInput(
                f"there is no server {name!r}",
                code="project.unknown_server",
                remedy=f"known here: {', '.join(project.servers) or 'none'}",
            )
    return sorted(servers or project.servers)


def _pins(
    context: Context, project: Project, names: Sequence[str], old: Lock, *, upgrade: bool
) -> tuple[dict[str, Pin], dict[str, HomeportError]]:
    tools = Tools(context)
    pins: dict[str, Pin] = {}
    failures: dict[str, HomeportError] = {}
    for name in names:
        try:
            server = project.servers[name]
            pins[name] = pinned_server(tools, project.root, server, old.pins.get(name), upgrade=upgrade)
        except HomeportError as error:
            failures[name] = error
    return pins, failures


def _consent(context: Context, root: Path, project: Project, pins: Mapping[str, Pin]) -> None:
    """Agree to what would start now and was not agreed to; and, at the first time, to the profiles."""
    record = trust.read(context.paths.trust, root)
    new = [
        pin
        for name, pin in pins.items()
        if not record.trusts(name, agreement.launch_digest(project.servers[name], pin))
    ]
    profiles = not record.trusts_profiles(agreement.profiles_digest(project.profiles))
    if new or profiles:
        trusting.agree(context, root, project, new, profiles=profiles, verb="homeport lock")


def _old_surface(root: Path, name: str) -> Surface | None:
    try:
        return pinned.read_surface(root, name)
    except InvalidInput as error:
        # A newer format is somebody else's work and must not be written over; a damaged file is read anew.
        if error.code == "surface.newer_format":
            raise
        return None


def _accept(context: Context, root: Path, changes: Mapping[str, Sequence[Difference]]) -> None:
    told = [line for name, differences in changes.items() if differences for line in _told(name, differences)]
    if told:
        title = f"In {root}: what these servers offer is not what was locked"
        context.consent.agree(Question(title, tuple(told), "homeport lock"))


def _told(name: str, differences: Sequence[Difference]) -> list[str]:
    return [f"{name}:", *("  " + line for difference in differences for line in in_words(difference).splitlines())]


def _write(root: Path, project: Project, old: Lock, pins: Mapping[str, Pin], surfaces: Mapping[str, Surface]) -> None:
    kept = {name: pin for name, pin in old.pins.items() if name in project.servers}
    for name, pin in pins.items():
        surface = surfaces.get(name)
        kept[name] = replace(pin, surface=surface.digest) if surface else pin
    # Surfaces first: a lock that speaks of a file that is not there would be a fault, the reverse is only unused.
    for name, surface in surfaces.items():
        pinned.write_surface(root, name, surface)
    pinned.write_lock(root, Lock(dict(sorted(kept.items()))))
    for name in old.pins.keys() - project.servers.keys():
        pinned.remove_surface(root, name)


def _report(
    project: Project,
    name: str,
    pins: Mapping[str, Pin],
    surface: Surface | None,
    failures: Mapping[str, HomeportError],
) -> Locked:
    failure = failures.get(name)
    grants = [grant for profile in project.profiles.values() if (grant := profile.grants.get(name))]
    return Locked(
        server=name,
        source=pins[name].source if name in pins else agreement.source_line(project.servers[name].source),
        tools=len(surface.tools) if surface else 0,
        quarantined={key: item.reason for key, item in surface.quarantined.items()} if surface else {},
        read_only=tuple(key for key in surface.tools if says_read_only(surface, key)) if surface else (),
        problem=failure.problems()[0] if failure else None,
        granted=bool(grants),
    )


def says_read_only(surface: Surface, tool: str) -> bool:
    """Whether a locked tool says `readOnlyHint: true` and not `destructiveHint: true`."""
    hints = surface.tools[tool].definition.get("annotations")
    return isinstance(hints, dict) and hints.get("readOnlyHint") is True and hints.get("destructiveHint") is not True
