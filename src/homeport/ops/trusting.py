"""Agreeing to what would start here: the launches of a project and its profiles, shown whole, kept as digests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import cast

from homeport.ground import exact
from homeport.ground.exact import Json
from homeport.ops import launches, pinned
from homeport.ops.context import Context, Question
from homeport.packages import trust
from homeport.packages.consent import TrustRecord
from homeport.packages.pins import Lock, Pin
from homeport.project import agreement, parse
from homeport.project.model import Project
from homeport.surface.policy import Grant, Patterns, Profile, Rates, Rule


@dataclass(frozen=True, slots=True)
class Agreed:
    """What a `trust` found."""

    servers: tuple[str, ...]
    """Those agreed to now."""
    already: tuple[str, ...]
    profiles: bool
    """Whether the profiles were agreed to now."""


def trust_project(context: Context) -> Agreed:
    """Agree to every locked launch and to the profiles of the project. Raises `Refused` when declined."""
    root = context.root()
    project = parse.load(root)
    lock = pinned.read_lock(root)
    record = trust.read(context.paths.trust, root)
    new = unagreed(project, lock, record)
    profiles = not record.trusts_profiles(agreement.profiles_digest(project.profiles))
    if new or profiles:
        agree(context, root, project, [lock.pins[name] for name in new], profiles=profiles, verb="homeport trust")
    locked = sorted(name for name in project.servers if name in lock.pins)
    return Agreed(tuple(new), tuple(name for name in locked if name not in new), profiles)


def profiles_count(context: Context) -> bool:
    """Whether this user agreed to the project's profiles as they stand now."""
    root = context.root()
    record = trust.read(context.paths.trust, root)
    return record.trusts_profiles(agreement.profiles_digest(parse.load(root).profiles))


def unagreed(project: Project, lock: Lock, record: TrustRecord) -> list[str]:
    """The locked servers whose launch this user has not agreed to, sorted."""
    return sorted(
        name
        for name, server in project.servers.items()
        if (pin := lock.pins.get(name)) and not record.trusts(name, agreement.launch_digest(server, pin))
    )


def agree(
    context: Context, root: Path, project: Project, pins: Iterable[Pin], *, profiles: bool, verb: str
) -> TrustRecord:
    """Show what is new and, once agreed to, record it. Raises `Refused` and records nothing when declined."""
    pins = list(pins)
    details: list[str] = []
    for pin in pins:
        packages = len(pin.runtime.dependencies) if pin.runtime else 0
        details += launches.told(agreement.launch(project.servers[pin.server], pin), packages)
    if profiles:
        details += [line for profile in project.profiles.values() for line in _told_profile(profile)]
    what = [f"{len(pins)} server{'s' if len(pins) > 1 else ''} may start on this machine"] if pins else []
    what += ["these grants count"] if profiles else []
    context.consent.agree(Question(f"In {root}: " + ", and ".join(what), tuple(details), verb))
    digests = {pin.server: agreement.launch_digest(project.servers[pin.server], pin) for pin in pins}
    agreed_profiles = agreement.profiles_digest(project.profiles) if profiles else ""
    return trust.change(
        context.paths.trust, root, lambda record: record.kept(project.servers).agreed(digests, agreed_profiles)
    )


def _told_profile(profile: Profile) -> list[str]:
    """A profile and its grants, whole: a line for every value that is not the default, a line a rule."""
    lines = [f"profile {profile.name}: approval {profile.approval}"]
    lines += [f"  {line}" for line in _differing(profile, Profile(profile.name), skipped=("approval", "grants"))]
    for grant in profile.grants.values():
        can = "every tool" if "*" in grant.can else ", ".join(grant.can) or "no tool"
        lines.append(f"  {grant.server}: {can}")
        lines += [f"    {line}" for line in _differing(grant, Grant(grant.server), skipped=("can", "rules"))]
        for rule in grant.rules:
            lines.append(f"    rule for {'every tool' if rule.tool == '*' else rule.tool}")
            lines += [f"      {line}" for line in _differing(rule, Rule(rule.tool))]
    return lines


def _differing(
    value: Profile | Grant | Rule, default: Profile | Grant | Rule, skipped: Sequence[str] = ()
) -> list[str]:
    """Every field that is not as it would be if nobody had written it, as `name: value`."""
    named = (field.name for field in fields(value) if field.name not in {*skipped, "place"})
    return [
        f"{name}: {_text(getattr(value, name))}" for name in named if getattr(value, name) != getattr(default, name)
    ]


def _text(value: object) -> str:
    """A policy value in one line."""
    match value:
        case Patterns():
            return f"{value.selector} = {' | '.join(value.patterns)}"
        case Rates():
            return f"{value.calls_per_minute or 'any'} calls a minute, {value.concurrent or 'any'} at once"
        case Mapping():
            members = cast("Mapping[str, Json]", value)
            return ", ".join(f"{name} = {exact.dumps(member)}" for name, member in members.items())
        case tuple():
            return ", ".join(map(_text, cast("tuple[object, ...]", value))) or "none"
        case bool():
            return "yes" if value else "no"
        case _:
            return str(value)
