"""Composing the roster: project, lock, surfaces and trust read from disk, and what is at fault told per server."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from homeport.calls.roster import Entry, Roster
from homeport.ground import digests
from homeport.ground.errors import HomeportError, Problem
from homeport.ops import launches, pinned
from homeport.ops.context import Context
from homeport.packages import trust
from homeport.packages.consent import TrustRecord
from homeport.packages.pins import Pin
from homeport.packages.runtimes import place
from homeport.project import agreement, parse
from homeport.project.model import Project, Server
from homeport.surface.decide import compile_view
from homeport.surface.model import Surface


def load(context: Context, root: Path) -> Roster:
    """The roster of a project as it is on disk now.

    Raises what makes the whole unusable: `InvalidInput` (`project.*`, `lock.*`, `trust.*`), `Unavailable`. What is
    wrong with one server is in its entry's `fault`.
    """
    project = parse.load(root)
    lock = pinned.read_lock(root)
    record = trust.read(context.paths.trust, root)
    entries = {
        name: _entry(server, lock.pins.get(name), root=root, record=record, platform=context.platform)
        for name, server in sorted(project.servers.items())
    }
    return _assembled(project, entries, record)


def _entry(server: Server, pin: Pin | None, *, root: Path, record: TrustRecord, platform: str) -> Entry:
    source = agreement.source_line(server.source)
    if pin is None or not agreement.is_current(server, pin):
        return Entry(
            server.name, source, None, None, server.declaration, server.enabled, fault=_not_locked(server, pin)
        )
    launch = launches.upstream_launch(server, pin, root=root, platform=platform)
    surface, fault = _surface(server, pin, root)
    trusted = record.trusts(server.name, launch.digest)
    # An untrusted one is told as untrusted first: installing what nobody agreed to is not the next thing to do.
    if fault is None and trusted and pin.runtime is not None and not place.installed(root, pin.runtime):
        fault = Problem("runtime.absent", f"what {server.name} runs on is not installed here", remedy="homeport sync")
    return Entry(
        name=server.name,
        source=source,
        launch=launch,
        surface=surface,
        declaration=server.declaration,
        enabled=server.enabled,
        trusted=trusted,
        isolation=server.isolation,
        fault=fault,
    )


def _not_locked(server: Server, pin: Pin | None) -> Problem:
    if pin is None:
        return Problem("lock.absent", f"{server.name} is not locked yet", server.place, "homeport lock")
    message = f"{server.name} was changed in homeport.toml since it was locked ({pin.source})"
    return Problem("lock.stale", message, server.place, "homeport lock")


def _surface(server: Server, pin: Pin, root: Path) -> tuple[Surface | None, Problem | None]:
    if not pin.surface:
        message = f"what {server.name} offers has not been read yet"
        return None, Problem("surface.absent", message, server.place, "homeport lock")
    try:
        return pinned.expect_surface(root, server.name, pin.surface), None
    except HomeportError as error:
        return None, error.problems()[0]


def _assembled(project: Project, entries: Mapping[str, Entry], record: TrustRecord) -> Roster:
    agreed = agreement.profiles_digest(project.profiles)
    trusted = record.trusts_profiles(agreed)
    surfaces = {name: entry.surface for name, entry in entries.items() if entry.surface is not None}
    profiles = dict(project.profiles) if trusted else {}
    state = digests.of_bytes(repr((agreed, trusted, [_mark(entry) for entry in entries.values()])).encode())
    return Roster(
        project=project.name,
        root=project.root,
        entries=entries,
        profiles=profiles,
        views={name: compile_view(profile, surfaces) for name, profile in profiles.items()},
        profiles_trusted=trusted,
        digest=state,
    )


def _mark(entry: Entry) -> tuple[object, ...]:
    return (
        entry.name,
        entry.source,
        entry.launch.digest if entry.launch else "",
        entry.surface.digest if entry.surface else "",
        entry.enabled,
        entry.trusted,
        entry.isolation,
        repr(entry.declaration),
        entry.fault.code if entry.fault else "",
    )
