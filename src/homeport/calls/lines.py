"""The text of the journal: one JSON object a line, chained by digest. Pure.

The first line names the process; every line ends in `prev`, the sha256 of the line before it without its line feed. So
a line taken out, changed or put in shows, and so does a cut tail as soon as another line follows. The last line of a
killed process may be torn: it is no line, and whoever reads passes over it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import fields
from operator import attrgetter
from typing import Any, Final, cast

import msgspec

from homeport.calls.ports import AuditRow

FORMAT: Final = 1

_FIELDS: Final = tuple(field.name for field in fields(AuditRow))
_every: Final = attrgetter(*_FIELDS)
_REQUIRED: Final = frozenset(
    {"id", "ts_ms", "stage", "profile", "client", "edge", "session", "kind", "server", "name", "decision"}
)


def operation_id(now_ms: int, random: bytes) -> str:
    """An id that sorts by time: UUID version 7 (RFC 9562) of Unix milliseconds and 10 random bytes."""
    value = (now_ms & (1 << 48) - 1) << 80 | int.from_bytes(random[:10], "big")
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    text = f"{value:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def header(*, pid: int, started_ms: int, version: str) -> Mapping[str, Any]:
    """The members of a file's first line."""
    return {"journal": FORMAT, "pid": pid, "started_ms": started_ms, "version": version}


def members(row: AuditRow) -> dict[str, Any]:
    """A row as JSON members; those that say nothing are left out."""
    return {
        name: value
        for name, value in zip(_FIELDS, _every(row), strict=True)
        if (value is not None and value is not False and value != "") or name in _REQUIRED
    }


def encode(what: Mapping[str, Any], previous: str) -> bytes:
    """One line, its line feed included."""
    return msgspec.json.encode({**what, "prev": previous}) + b"\n"


def link(line: bytes) -> str:
    """What the next line's `prev` says of this one."""
    return hashlib.sha256(line.removesuffix(b"\n")).hexdigest()


def row(line: bytes) -> AuditRow | None:
    """The row on a line; None for the first line, a torn one, and one of a later format that lacks our members."""
    told = _object(line)
    return None if told is None else from_members(told)


def _object(line: bytes) -> Mapping[str, Any] | None:
    try:
        told = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return cast("Mapping[str, Any]", told) if isinstance(told, dict) else None


def from_members(told: Mapping[str, Any]) -> AuditRow | None:
    """A row of JSON members; unknown ones are passed over. None when one is missing."""
    if not all(name in told for name in _REQUIRED):
        return None
    return AuditRow(**{name: told[name] for name in _FIELDS if name in told})


def rows(data: bytes) -> Iterator[AuditRow]:
    """Every row of a file's bytes, in order."""
    for line in data.split(b"\n"):
        found = row(line) if line else None
        if found is not None:
            yield found


def broken_links(data: bytes) -> list[int]:
    """1-based numbers of the lines whose `prev` does not fit the line before; empty: the chain holds.

    A torn last line (without a line feed) is not counted.
    """
    lines = data.split(b"\n")[:-1]
    broken: list[int] = []
    previous = ""
    for number, line in enumerate(lines, start=1):
        told = _object(line)
        if told is None or told.get("prev") != previous:
            broken.append(number)
        previous = link(line)
    return broken
