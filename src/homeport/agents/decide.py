"""What to do with one entry: the decision table. Pure.

The rule under all rows: what an operator wrote is theirs. We touch an entry only if we wrote it and it still says what
we wrote; members that others added to it are kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from homeport.agents.editors.json_text import equal
from homeport.ground.digests import of_json

Action = Literal["create", "update", "adopt", "remove", "forget", "none"]
State = Literal[
    "registered",
    "stale",
    "missing",
    "operator-owned",
    "conflict",
    "drifted",
    "orphan",
    "blocked",
    "unsupported",
    "by-hand",
    "absent",
]


@dataclass(frozen=True, slots=True)
class Owned:
    """Our record of one entry: the digests of its members as we wrote them.

    While a write is under way there are two versions of them, and the file may hold either.
    """

    versions: tuple[Mapping[str, str], ...] = ()

    def matches(self, entry: Any) -> bool:
        """Whether every member that we wrote still says what we wrote."""
        if not isinstance(entry, Mapping):
            return False
        now = digests(cast("Mapping[str, Any]", entry))
        return any(all(now.get(key) == digest for key, digest in version.items()) for version in self.versions)

    @property
    def members(self) -> frozenset[str]:
        """The members that are ours."""
        return frozenset(key for version in self.versions for key in version)


def digests(entry: Mapping[str, Any]) -> dict[str, str]:
    """The digest of each member of an entry."""
    return {key: of_json(_plain(value)) for key, value in entry.items()}


def _plain(value: Any) -> Any:
    """Values of TOML and YAML that JSON has no form for (dates, floats) as texts: they are compared, never written."""
    if isinstance(value, Mapping):
        return {str(key): _plain(member) for key, member in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, list):
        return [_plain(item) for item in cast("list[Any]", value)]
    if value is None or isinstance(value, bool | int | str):
        return value
    return repr(value)


@dataclass(frozen=True, slots=True)
class Case:
    """All that the decision about one name in one file depends on."""

    present: bool = False
    current: Any = None
    desired: Mapping[str, Any] | None = None
    """None: nothing declares it (any more)."""
    owned: Owned | None = None
    in_sidecar: bool = False
    """The file itself says that a Homeport manages it; ours may never have."""
    adopt: bool = False
    """The user asked to take over what is there."""
    blocked: str = ""
    """Why it must not run: trust or consent is missing. Empty: it may."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do, what the state is before it, and the entry to write."""

    action: Action
    state: State
    reason: str = ""
    entry: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def writes(self) -> bool:
        """Whether the file changes."""
        return self.action in {"create", "update", "remove"}


def decide(case: Case) -> Decision:
    """The row of the table that fits (packages, 8.6)."""
    if case.desired is None:
        return _undeclared(case)
    if case.blocked:
        return _blocked(case)
    if not case.present:
        state: State = "missing" if case.owned else "absent"
        return Decision("create", state, entry=case.desired)
    same = equal(case.current, case.desired)
    if case.owned is None and case.in_sidecar and same:
        return Decision("adopt", "registered", "managed here by another Homeport of this project", case.desired)
    if case.owned is None:
        return _operators(case, case.desired, same)
    return _ours(case, case.desired, case.owned)


def _operators(case: Case, desired: Mapping[str, Any], same: bool) -> Decision:
    """Somebody else wrote it (E5, E6)."""
    if case.adopt:
        return Decision("adopt" if same else "update", "operator-owned" if same else "conflict", "adopted", desired)
    if same:
        return Decision("none", "operator-owned", "the same entry is there and not ours")
    return Decision("none", "conflict", "an entry of this name is there and not ours")


def _ours(case: Case, desired: Mapping[str, Any], owned: Owned) -> Decision:
    """We wrote it (E3, E4), and others may have changed it since."""
    there: Any = case.current
    current = cast("Mapping[str, Any]", there) if isinstance(there, Mapping) else dict[str, Any]()
    wanted = {**{key: value for key, value in current.items() if key not in owned.members}, **desired}
    if equal(current, wanted):
        return Decision("none", "registered", entry=desired)
    if owned.matches(there) or case.adopt:
        # Members stand in the order in which they are written anew; those of others keep their places.
        return Decision("update", "stale", entry=wanted)
    return Decision("none", "drifted", "it was changed after we wrote it")


def _undeclared(case: Case) -> Decision:
    """Nothing wants it (E8): ours goes, everything else stays."""
    if case.owned is None:
        return Decision("none", "operator-owned" if case.present else "absent")
    if not case.present:
        return Decision("forget", "absent", "it was gone already")
    if case.owned.matches(case.current):
        return Decision("remove", "orphan")
    return Decision("none", "drifted", "it was changed after we wrote it")


def _blocked(case: Case) -> Decision:
    """It must not run (E9): an entry of ours would go on starting it."""
    if case.owned is not None and case.present and case.owned.matches(case.current):
        return Decision("remove", "blocked", case.blocked)
    return Decision("none", "blocked", case.blocked)
