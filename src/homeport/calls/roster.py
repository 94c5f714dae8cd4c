"""The servers and profiles in force at one moment: what the pipeline and the lists decide from. Immutable.

`ops.roster` composes it from project, lock, surfaces and trust; a changed file makes a new one, a broken file leaves
the old one in force.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from homeport.declarations.model import Declaration
from homeport.ground.errors import Problem
from homeport.surface.decide import View
from homeport.surface.model import Surface
from homeport.surface.policy import Profile
from homeport.upstreams.launch import Launch


@dataclass(frozen=True, slots=True)
class Entry:
    """One server in force."""

    name: str
    source: str
    """In one line, for people: `python mcp-server-time==2026.10.19`."""
    launch: Launch | None
    """None when it cannot be started: then `fault` says why."""
    surface: Surface | None
    """None when it is not locked yet."""
    declaration: Declaration | None = None
    enabled: bool = True
    trusted: bool = False
    isolation: Literal["shared", "caller"] = "shared"
    fault: Problem | None = None
    """Not locked, runtime not installed, surface file corrupt, …"""


@dataclass(frozen=True, slots=True)
class Roster:
    """Everything in force."""

    project: str
    root: Path
    entries: Mapping[str, Entry] = field(default_factory=dict[str, Entry])
    profiles: Mapping[str, Profile] = field(default_factory=dict[str, Profile])
    views: Mapping[str, View] = field(default_factory=dict[str, View])
    """A profile's name to what is granted to it of what is locked."""
    profiles_trusted: bool = False
    """False: the `[profiles]` are not the ones this user agreed to, so `profiles` and `views` are empty."""
    digest: str = ""
    """Changes whenever anything above does."""
