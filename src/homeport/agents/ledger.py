"""The ledger: every entry that we wrote into a file of another program, and what the file had before.

It lies in the state directory, never in a project, and is the only ground on which an entry is changed or removed. It
holds digests, not values.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, cast

from homeport.agents.decide import Owned
from homeport.agents.editing import Origin
from homeport.ground.errors import InvalidInput, Place, Unavailable
from homeport.ground.files import replace_atomically

LEDGER_FORMAT: Final = 1


@dataclass(frozen=True, slots=True)
class Row:
    """One entry of ours in one file."""

    owned: Owned
    agents: tuple[str, ...]
    """For whom it was written; several read one file. It goes when the last of them goes."""
    project: str = ""
    """The project it belongs to (the directory of its `homeport.toml`)."""
    written: str = ""
    """When, as ISO 8601 in UTC."""


@dataclass(frozen=True, slots=True)
class FileRecord:
    """One file that holds entries of ours."""

    origin: Origin
    rows: Mapping[str, Row] = field(default_factory=dict[str, Row])


@dataclass(frozen=True, slots=True)
class Ledger:
    """All files, by `Target.key`: the real path and the key that holds the servers."""

    files: Mapping[str, FileRecord] = field(default_factory=dict[str, FileRecord])

    def row(self, path: str, name: str) -> Row | None:
        """Our record of one entry."""
        record = self.files.get(path)
        return record.rows.get(name) if record else None

    def with_file(self, path: str, record: FileRecord) -> Ledger:
        """The ledger with one file's record; a record without rows is dropped."""
        others = {key: value for key, value in self.files.items() if key != path}
        return Ledger({**others, path: record} if record.rows else others)


def with_row(record: FileRecord, name: str, row: Row | None) -> FileRecord:
    """The record with one row set, or dropped."""
    others = {key: value for key, value in record.rows.items() if key != name}
    return replace(record, rows={**others, name: row} if row else others)


def load(path: Path) -> Ledger:
    """Read the ledger; none is an empty one.

    Raises `InvalidInput` (`ledger.corrupt`, `ledger.newer`), `Unavailable` (`ledger.unreadable`): without it nothing
    in any file is known to be ours.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return Ledger()
    except OSError as error:
        message = f"cannot be read: {error.strerror}"
        remedy = f"make {path} readable for this user"
        raise Unavailable(message, code="ledger.unreadable", place=Place(str(path)), remedy=remedy) from None
    try:
        document = json.loads(data)
        found = document["format"]
        if found == LEDGER_FORMAT:
            return Ledger({key: record_of(record) for key, record in document["files"].items()})
    except (ValueError, KeyError, TypeError, AttributeError):
        message = "is damaged"
        remedy = f"move {path} away; entries then count as not ours until they are adopted: homeport register --adopt"
        raise InvalidInput(message, code="ledger.corrupt", place=Place(str(path)), remedy=remedy) from None
    message = f"was written by a newer Homeport (format {found})"
    raise InvalidInput(message, code="ledger.newer", place=Place(str(path)), remedy="use that version, or upgrade")


def save(path: Path, ledger: Ledger) -> None:
    """Write the ledger, for this user only. Raises `Unavailable` (`file.unwritable`)."""
    files = {key: written(record) for key, record in sorted(ledger.files.items())}
    text = json.dumps({"format": LEDGER_FORMAT, "files": files}, ensure_ascii=False, indent=1)
    replace_atomically(path, text.encode("utf-8", "surrogateescape") + b"\n", mode=0o600)


def record_of(raw: Mapping[str, Any]) -> FileRecord:
    """A record from its JSON form."""
    origin = cast("Mapping[str, Any]", raw["origin"])
    was = Origin(int(origin["depth"]), origin.get("hollow"), absent=bool(origin.get("absent", False)))
    return FileRecord(was, {name: _row(row) for name, row in raw["entries"].items()})


def _row(raw: Mapping[str, Any]) -> Row:
    versions = tuple({str(key): str(value) for key, value in version.items()} for version in raw["members"])
    return Row(Owned(versions), tuple(raw["agents"]), str(raw.get("project", "")), str(raw.get("written", "")))


def written(record: FileRecord) -> dict[str, Any]:
    """A record as JSON."""
    was = record.origin
    entries = {
        name: {
            "members": [dict(version) for version in row.owned.versions],
            "agents": list(row.agents),
            "project": row.project,
            "written": row.written,
        }
        for name, row in sorted(record.rows.items())
    }
    return {"origin": {"depth": was.depth, "hollow": was.hollow, "absent": was.absent}, "entries": entries}
