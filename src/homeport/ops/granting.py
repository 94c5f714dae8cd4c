"""`homeport grant` and `deny`: who may call what, written into `homeport.toml` and agreed to in the same step."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from homeport.ground.errors import Conflict, InvalidInput, Place
from homeport.ground.files import replace_atomically
from homeport.ops import pinned
from homeport.ops.context import Context, Question
from homeport.ops.editing import editing
from homeport.ops.locking import says_read_only
from homeport.packages import trust
from homeport.project import agreement, edit, parse
from homeport.project.model import Project
from homeport.surface.model import Surface


@dataclass(frozen=True, slots=True)
class Granted:
    """What a profile may call of a server now."""

    profile: str
    server: str
    can: tuple[str, ...]
    never: tuple[str, ...]
    changed: bool


def grant(
    context: Context,
    server: str,
    tools: Sequence[str] = (),
    *,
    profile: str = "default",
    read_only: bool = False,
    everything: bool = False,
) -> Granted:
    """Let a profile call tools of a server: the named ones beside those it may call, the read-only ones, or all.

    Raises `InvalidInput`: an unknown server or tool (with the nearest names), nothing named; `Refused` when declined.
    """
    root = context.root()
    project = parse.load(root)
    surface = _surface(root, project, server)
    had = _now(project, profile, server)
    if everything:
        can: Sequence[str] = ["*"]
    elif read_only:
        can = [name for name in surface.tools if says_read_only(surface, name)]
        if not can:
            raise InvalidInput(
                f"no tool of {server} says that it only reads",
                code="grant.nothing",
                remedy=f"name the tools: homeport grant {server} {' '.join(list(surface.tools)[:2])} …",
            )
    else:
        can = [*had[0], *(name for name in _known(surface, server, tools) if name not in had[0])]
    never = [name for name in had[1] if name not in tools]
    return _change(context, project, profile, server, can, never, verb="homeport grant")


def deny(context: Context, server: str, tools: Sequence[str] = (), *, profile: str = "default") -> Granted:
    """Take tools of a server back, or the server; under a wildcard they go to `never`. Asks nobody: it only narrows."""
    root = context.root()
    project = parse.load(root)
    if server not in project.servers:
        raise _unknown_server(project, server)
    can, never = _now(project, profile, server)
    if not tools:
        return _change(context, project, profile, server, [], [], verb="homeport deny")
    if "*" in can:
        surface = _surface(root, project, server)
        never = [*never, *(name for name in _known(surface, server, tools) if name not in never)]
    kept = [name for name in can if name not in tools]
    return _change(context, project, profile, server, kept, never, verb="homeport deny")


def _now(project: Project, profile: str, server: str) -> tuple[list[str], list[str]]:
    held = project.profiles.get(profile)
    granted = held.grants.get(server) if held else None
    return (list(granted.can), list(granted.never)) if granted else ([], [])


def _change(
    context: Context,
    project: Project,
    profile: str,
    server: str,
    can: Sequence[str],
    never: Sequence[str],
    *,
    verb: str,
) -> Granted:
    text = project.file.read_text("utf-8")
    edited = edit.set_grant(text, profile, server, can, never=never)
    changed = edited != text
    if changed:
        parse.parse(edited.encode(), root=project.root)
        if verb == "homeport grant":
            _ask(context, project, profile, server, can, never)
        _put(context, project, profile, server, can, never)
    return Granted(profile, server, tuple(can), tuple(never), changed)


def _put(
    context: Context, project: Project, profile: str, server: str, can: Sequence[str], never: Sequence[str]
) -> None:
    """Write what was agreed to into the text as it is by now, unless this very grant became another meanwhile."""
    with editing(project.root):
        text = project.file.read_text("utf-8")
        before = parse.parse(text.encode(), root=project.root)
        if _now(before, profile, server) != _now(project, profile, server):
            raise Conflict(
                f"what {profile} may call of {server} was changed meanwhile",
                code="grant.changed",
                place=Place(str(project.file)),
                remedy="run the command again",
            )
        edited = edit.set_grant(text, profile, server, can, never=never)
        after = parse.parse(edited.encode(), root=project.root)
        replace_atomically(project.file, edited.encode(), mode=project.file.stat().st_mode & 0o777)
        _record(context, before, after)


def _ask(
    context: Context, project: Project, profile: str, server: str, can: Sequence[str], never: Sequence[str]
) -> None:
    had = _now(project, profile, server)[0]
    now = "every tool" if "*" in can else ", ".join(can) or "no tool"
    details = [f"{server}: {now}", f"before: {', '.join(had) or 'no tool'}"]
    details += [f"never: {', '.join(never)}"] if never else []
    title = f"In {project.root}: the profile {profile} may call"
    context.consent.agree(Question(title, tuple(details), f"homeport grant {server}"))


def _record(context: Context, before: Project, after: Project) -> None:
    """Agree to the new profiles, if the old ones were agreed to: a grant must not launder a stranger's others."""
    was = agreement.profiles_digest(before.profiles)
    now = agreement.profiles_digest(after.profiles)
    root = after.root
    record = trust.read(context.paths.trust, root)
    if record.trusts_profiles(was) or not any(profile.grants for profile in before.profiles.values()):
        trust.change(context.paths.trust, root, lambda record: record.agreed({}, now))


def _surface(root: Path, project: Project, server: str) -> Surface:
    if server not in project.servers:
        raise _unknown_server(project, server)
    surface = pinned.read_surface(root, server)
    if surface is None:
        raise InvalidInput(
            f"what {server} offers is not locked yet, so there is nothing to grant",
            code="surface.absent",
            remedy=f"homeport lock {server}",
        )
    return surface


def _unknown_server(project: Project, server: str) -> InvalidInput:
    near = difflib.get_close_matches(server, project.servers, n=1)
    remedy = f"did you mean {near[0]}?" if near else f"known here: {', '.join(project.servers) or 'none'}"
    return InvalidInput(f"there is no server {server!r}", code="project.unknown_server", remedy=remedy)


def _known(surface: Surface, server: str, tools: Sequence[str]) -> Sequence[str]:
    if not tools:
        raise InvalidInput(
            "no tool is named",
            code="grant.nothing",
            remedy=f"homeport grant {server} TOOL… (homeport surface show {server} lists them), --read-only or --all",
        )
    for name in tools:
        if name not in surface.tools and name != "*":
            near = difflib.get_close_matches(name, surface.tools, n=3)
            hint = f"did you mean {' or '.join(near)}?" if near else f"homeport surface show {server} lists them"
            raise InvalidInput(f"{server} has no tool {name!r}", code="grant.unknown_tool", remedy=hint)
    return tools
