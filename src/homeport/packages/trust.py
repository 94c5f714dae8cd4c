"""`trust.json` in the state directory: what this user agreed to, by the real path of each project."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, cast

from homeport.ground.errors import InvalidInput, Place, Refused, Unavailable
from homeport.ground.files import exclusively, private_directory, replace_atomically
from homeport.packages.consent import TrustRecord

FORMAT: Final = 1


def read(file: Path, root: Path) -> TrustRecord:
    """What was agreed to in the project at `root`; an empty record when nothing was.

    Raises `InvalidInput` (`trust.corrupt`), `Refused` (`trust.exposed`: others may write it), `Unavailable`.
    """
    record = _projects(file).get(_key(root), {})
    launches = cast("dict[str, Any]", record.get("launches", {}))
    return TrustRecord({str(name): str(digest) for name, digest in launches.items()}, str(record.get("profiles", "")))


def change(file: Path, root: Path, edit: Callable[[TrustRecord], TrustRecord]) -> TrustRecord:
    """Read, edit and write the record of one project under a lock; the others stay. Returns the new record.

    Raises as `read` does, and `Conflict` (`trust.busy`) when another process holds the lock for long.
    """
    private_directory(file.parent)
    with exclusively(file.with_suffix(".lock"), code="trust.busy"):
        new = edit(read(file, root))
        projects = {**_projects(file), _key(root): {"launches": dict(new.launches), "profiles": new.profiles}}
        text = json.dumps({"format": FORMAT, "projects": projects}, indent=1, sort_keys=True, ensure_ascii=False)
        replace_atomically(file, f"{text}\n".encode("utf-8", "surrogateescape"), mode=0o600)
    return new


def _key(root: Path) -> str:
    return str(root.resolve())


def _projects(file: Path) -> dict[str, dict[str, Any]]:
    try:
        with file.open("rb") as opened:
            _must_be_ours(file, os.fstat(opened.fileno()))
            read = json.loads(opened.read().decode("utf-8", "surrogateescape"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise Unavailable(
            f"cannot be read: {error.strerror}", code="trust.unreadable", place=Place(str(file))
        ) from None
    except ValueError:
        raise _corrupt(file) from None
    if not isinstance(read, dict):
        raise _corrupt(file)
    document = cast("dict[str, Any]", read)
    if document.get("format") != FORMAT or not _well_formed(document.get("projects")):
        raise _corrupt(file)
    return cast("dict[str, dict[str, Any]]", document["projects"])


def _well_formed(projects: object) -> bool:
    if not isinstance(projects, dict):
        return False
    records = cast("dict[str, Any]", projects).values()
    return all(
        isinstance(record, dict) and isinstance(cast("dict[str, Any]", record).get("launches", {}), dict)
        for record in records
    )


def _corrupt(file: Path) -> InvalidInput:
    return InvalidInput(
        "is not a trust record that this version reads",
        code="trust.corrupt",
        place=Place(str(file)),
        remedy=f"remove {file} and run `homeport trust` in each project",
    )


def _must_be_ours(file: Path, facts: os.stat_result) -> None:
    if os.name != "posix":
        return
    if facts.st_uid != os.geteuid() or stat.S_IMODE(facts.st_mode) & 0o022:
        raise Refused(
            "another user may write it, so it says nothing",
            code="trust.exposed",
            place=Place(str(file)),
            remedy=f"chown and chmod 600 {file}, or remove it and run `homeport trust`",
        )
