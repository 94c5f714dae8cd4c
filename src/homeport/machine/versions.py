"""One comparer for what vendors write as versions. Pure, standard library only.

A text is read as: blanks and a leading `v` are dropped; digit groups joined by dots (or, throughout, by commas) are the
*release*; what follows is a *stage* (`-beta`, `rc1`, `.dev3`, Debian's `~`: below the release), a *revision* (`_1`,
`-2ubuntu1`, `p1`: above it, but equal to it for a requirement), or build text (`(1234)`, `LTS`, `+dfsg`), which counts
for nothing. Missing groups are zero, groups are numbers of any length, only ASCII digits are digits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

MAX_TEXT: Final = 256
"""Longer texts are not versions: converting their digits would cost what the sender chooses."""

MAX_DIGITS: Final = 9
"""Digits of one group in a requirement that a person writes."""

_LEADING: Final = re.compile(r"[vV]?\s?([0-9]+(?:\.[0-9]+)*)(.*)", re.DOTALL)
_COMMAS: Final = re.compile(r"[vV]?[0-9]+(?:\s*,\s*[0-9]+)+")
_RUN: Final = re.compile(r"[0-9]+(?:\.[0-9]+)*")
_STAGE: Final = re.compile(
    r"(?:[\s._(~-]*(dev|nightly|snapshot|canary|alpha|beta|preview|pre|insiders?|rc)|[._-]?([abc]))"
    r"[\s._-]?([0-9]{0,18})(?![A-Za-z])",
    re.IGNORECASE,
)
_REVISION: Final = re.compile(r"(?:[_-]r?|p|\.post)([0-9]{1,18})", re.IGNORECASE)
_STAGES: Final = {
    "dev": -5, "nightly": -5, "snapshot": -5, "canary": -5,
    "alpha": -4, "a": -4,
    "beta": -3, "b": -3, "insider": -3, "insiders": -3,
    "preview": -2, "pre": -2,
    "rc": -1, "c": -1,
}  # fmt: skip

_EXACT: Final = re.compile(rf"[0-9]{{1,{MAX_DIGITS}}}(?:\.[0-9]{{1,{MAX_DIGITS}}})*")
_CLAUSE: Final = re.compile(r"\s*(>=|<=|==|!=|>|<)\s*([0-9.]+)\s*")


@dataclass(frozen=True, slots=True, order=True)
class Version:
    """A version in order. `text` is what was written."""

    release: tuple[int, ...]
    """Without trailing zeros."""
    stage: int = 0
    """0 for a release, below 0 for what comes before it."""
    stage_number: int = 0
    revision: int = 0
    text: str = field(default="", compare=False)

    @property
    def required(self) -> tuple[tuple[int, ...], int, int]:
        """What a requirement compares: everything but the revision."""
        return self.release, self.stage, self.stage_number


def read_version(text: str) -> Version | None:
    """The version that a vendor's text states, or None."""
    if len(text) > MAX_TEXT:
        return None
    trimmed = text.strip()
    if _COMMAS.fullmatch(trimmed):
        trimmed = re.sub(r"\s*,\s*", ".", trimmed)
    match = _LEADING.fullmatch(trimmed)
    if match is None:
        return None
    tail = match[2]
    if tail.startswith(".") and not re.match(r"\.[A-Za-z]", tail):
        return None
    stage, number, revision = _after(tail)
    return Version(_release(match[1]), stage, number, revision, text=text)


def _release(digits: str) -> tuple[int, ...]:
    groups = [int(group) for group in digits.split(".")]
    while groups and groups[-1] == 0:
        groups.pop()
    return tuple(groups)


def _after(tail: str) -> tuple[int, int, int]:
    """Stage, stage number and revision of what follows the release."""
    if not tail:
        return 0, 0, 0
    stage = _STAGE.match(tail)
    if stage:
        return _STAGES[(stage[1] or stage[2]).lower()], int(stage[3] or 0), 0
    if tail.startswith("~"):
        return _STAGES["dev"], 0, 0
    revision = _REVISION.match(tail)
    return 0, 0, int(revision[1]) if revision else 0


def is_requirement(text: str) -> bool:
    """Whether a person may write this as a lowest version: ASCII digit groups joined by dots, at most 9 digits each."""
    return len(text) <= MAX_TEXT and _EXACT.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class Clause:
    """One condition of a range."""

    operator: str
    version: Version

    def holds(self, version: Version) -> bool:
        """Whether a version meets it. `<6` is not met by a prerelease of 6."""
        have, want = version.required, self.version.required
        match self.operator:
            case ">=":
                return have >= want
            case ">":
                return have > want
            case "<=":
                return have <= want
            case "==":
                return have == want
            case "!=":
                return have != want
            case _:
                return have < want and version.release != self.version.release


@dataclass(frozen=True, slots=True)
class Range:
    """Conditions that all must hold. An empty range is met by every version."""

    clauses: tuple[Clause, ...] = ()

    def holds(self, version: Version) -> bool:
        """Whether a version meets all of them."""
        return all(clause.holds(version) for clause in self.clauses)

    def too_new(self, version: Version) -> bool:
        """Whether it is an upper bound that the version breaks."""
        return any(clause.operator in {"<", "<=", "=="} and version.required > clause.version.required
                   for clause in self.clauses) or any(
            clause.operator == "<" and version.release == clause.version.release for clause in self.clauses
        )  # fmt: skip

    def empty(self) -> bool:
        """Whether no version at all can meet it, as far as its bounds tell."""
        points = {clause.version.release for clause in self.clauses}
        longest = max((len(point) for point in points), default=0)
        above = {Version((*point, *(0,) * (longest - len(point) + 1), 1)) for point in points}
        probes = {Version(point) for point in points} | above | {Version(())}
        return bool(self.clauses) and not any(self.holds(probe) for probe in probes)


def at_least(text: str) -> Range:
    """The range of a `min_version` that passed `is_requirement`."""
    return Range((Clause(">=", Version(_release(text), text=text)),))


def read_range(text: str) -> Range | None:
    """`>=4.2,<6` as a range, or None when it is not one."""
    if len(text) > MAX_TEXT:
        return None
    clauses: list[Clause] = []
    for part in text.split(","):
        match = _CLAUSE.fullmatch(part)
        if match is None or not is_requirement(match[2]):
            return None
        clauses.append(Clause(match[1], Version(_release(match[2]), text=match[2])))
    return Range(tuple(clauses))


def satisfies(text: str, minimum: str) -> bool:
    """Whether a vendor's version text meets a lowest version; False when either cannot be read."""
    version = read_version(text)
    return version is not None and is_requirement(minimum) and at_least(minimum).holds(version)


def version_within(text: str) -> Version | None:
    """The version in a folder or file name: the text itself, else its dotted digit run, else its first digit run."""
    whole = read_version(text)
    if whole is not None or len(text) > MAX_TEXT:
        return whole
    runs = list(_RUN.finditer(text))
    chosen = next((run for run in runs if "." in run[0]), runs[0] if runs else None)
    if chosen is None:
        return None
    return read_version(text[chosen.start() :]) or read_version(chosen[0])


def newest_first(matches: Iterable[tuple[str, tuple[str, ...]]]) -> list[str]:
    """Paths with the texts their stars matched, in the order to try them.

    By the version in the star's text, highest first; versioned before unversioned; a release before its prereleases;
    of equal versions the plainer text first, then by path, so the order never depends on the directory's.
    """
    decorated = [(tuple(map(version_within, stars)), stars, path) for path, stars in matches]
    decorated.sort(key=lambda item: (item[1], item[2]))
    decorated.sort(key=lambda item: sum(map(len, item[1])))
    decorated.sort(
        key=lambda item: [(version is not None, version or Version(())) for version in item[0]], reverse=True
    )
    return [path for _, _, path in decorated]
