"""`*` in a path: any run of characters inside one segment. Everything else is literal, `?` and `[` too."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from homeport.machine.protocol import Machine, paths_of
from homeport.machine.versions import newest_first

MAX_NAMES: Final = 20_000
"""Names listed of one directory."""

MAX_MATCHES: Final = 256
"""Matches of one pattern."""

MAX_LISTINGS: Final = 512
"""Directories listed for one pattern."""


@dataclass(frozen=True, slots=True)
class Matches:
    """The paths that match, in the order to try them, with what each star matched; `trouble` when cut off."""

    paths: tuple[str, ...] = ()
    stars: tuple[tuple[str, ...], ...] = ()
    trouble: str = ""


def matched(pattern: str, name: str) -> tuple[str, ...] | None:
    """What each star of a segment matched, shortest first, or None. Linear in the name."""
    head, *middle = pattern.split("*")
    if not middle:
        return () if pattern == name else None
    tail = middle.pop()
    if not name.startswith(head) or not name.endswith(tail) or len(name) < len(head) + len(tail):
        return None
    if not head and name.startswith("."):
        return None
    at, end = len(head), len(name) - len(tail)
    found: list[str] = []
    for literal in middle:
        place = name.find(literal, at, end)
        if place < 0:
            return None
        found.append(name[at:place])
        at = place + len(literal)
    found.append(name[at:end])
    return tuple(found)


def match_all(machine: Machine, pattern: str) -> Matches:
    """Every path that a pattern with a star leads to. The last segments need not exist when they have no star."""
    windows = machine.platform == "win32"
    segments = re.split(r"[/\\]" if windows else "/", pattern)
    separator = "\\" if windows and "\\" in pattern else "/"
    rules = paths_of(machine)
    level: list[tuple[str, tuple[str, ...]]] = [(segments[0] + separator, ())]
    trouble = ""
    listings = 0
    for segment in segments[1:]:
        if "*" not in segment:
            level = [(str(rules.join(path, segment)) if segment else path, stars) for path, stars in level]
            continue
        following: list[tuple[str, tuple[str, ...]]] = []
        for path, stars in level:
            listings += 1
            if listings > MAX_LISTINGS or len(following) >= MAX_MATCHES:
                trouble = "too_many"
                break
            listing = machine.names(path, MAX_NAMES)
            if not listing.complete:
                trouble = "too_many"
            elif listing.trouble not in {"", "missing"}:
                trouble = trouble or listing.trouble
            following += _in_directory(path, stars, segment, listing.names, windows=windows, join=separator)
        if len(following) > MAX_MATCHES:
            trouble, following = "too_many", _best(following)
        level = following
    ordered = newest_first(level)
    texts = dict(level)
    return Matches(tuple(ordered), tuple(texts[path] for path in ordered), trouble)


def _in_directory(
    path: str, stars: tuple[str, ...], segment: str, names: tuple[str, ...], *, windows: bool, join: str
) -> list[tuple[str, tuple[str, ...]]]:
    base = path if path.endswith(("/", "\\")) else path + join
    found: list[tuple[str, tuple[str, ...]]] = []
    for name in names:
        texts = matched(segment.casefold(), name.casefold()) if windows else matched(segment, name)
        if texts is not None:
            found.append((base + name, stars + texts))
    return found


def _best(found: list[tuple[str, tuple[str, ...]]]) -> list[tuple[str, tuple[str, ...]]]:
    texts = dict(found)
    return [(path, texts[path]) for path in newest_first(found)[:MAX_MATCHES]]
