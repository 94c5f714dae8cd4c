"""Who may call what, under which rules: profiles, grants and rules as values (design section 4).

Absent means denied. The grammar is strict: unknown keys, a tool twice in `can`, a rule for a tool in `never`, a pattern
that does not compile are problems with their place; nothing is resolved by precedence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from homeport.ground.errors import Place
from homeport.ground.exact import Json

Approval = Literal["read-only", "confirm", "full"]
AskBack = Literal["elicitation", "sampling", "roots"]
Asker = Literal["console", "terminal", "client"]


@dataclass(frozen=True, slots=True)
class Rates:
    """Bounds on a profile's or a tool's calls. None: unbounded."""

    calls_per_minute: int | None = None
    concurrent: int | None = None


@dataclass(frozen=True, slots=True)
class Patterns:
    """One `deny`, `allow`, `post_call` or `restrict` line: a selector and its patterns."""

    selector: str
    patterns: tuple[str, ...]
    place: Place = Place()


@dataclass(frozen=True, slots=True)
class Rule:
    """The rules of one tool (or of `*`) in a grant."""

    tool: str
    deny: tuple[Patterns, ...] = ()
    allow: tuple[Patterns, ...] = ()
    post_call: tuple[Patterns, ...] = ()
    restrict: tuple[Patterns, ...] = ()
    pin: Mapping[str, Json] = field(default_factory=dict[str, Json])
    optional: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    destructive: bool = False
    describe: str = ""
    name: str = ""
    message: str = ""
    fail_when: str = ""
    limits: Rates = Rates()
    on_output_mismatch: Literal["warn", "refuse"] = "warn"
    place: Place = Place()


@dataclass(frozen=True, slots=True)
class Grant:
    """What a profile may use of one server."""

    server: str
    can: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    may_ask: tuple[AskBack, ...] = ("elicitation",)
    rules: tuple[Rule, ...] = ()
    place: Place = Place()


@dataclass(frozen=True, slots=True)
class Profile:
    """Who is calling: which grants, which approval level."""

    name: str
    approval: Approval = "full"
    apps: Literal["confirm", "full"] = "confirm"
    asks: tuple[Asker, ...] = ("console", "terminal")
    limits: Rates = Rates()
    restrict: tuple[Patterns, ...] = ()
    grants: Mapping[str, Grant] = field(default_factory=dict[str, Grant])
    require_token: bool = False
    place: Place = Place()
