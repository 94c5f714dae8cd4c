"""Apply plans to files, remember how to undo them, and undo. The order: ledger, file, ledger.

Each run is one transaction in the state directory: both versions of every file it changed, readable by this user only.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from homeport.agents import editing, ledger
from homeport.agents.catalog import Agent, Catalog
from homeport.agents.discover import read_bytes
from homeport.agents.editors.json_text import equal
from homeport.agents.ledger import FileRecord
from homeport.agents.plan import FilePlan, Target, plan_file
from homeport.agents.replace import DISK, ChangedMeanwhileError, Disk, Swap, swap
from homeport.ground.digests import of_bytes
from homeport.ground.errors import Conflict, HomeportError, InvalidInput, Place, Unavailable
from homeport.ground.files import private_directory, replace_atomically

ATTEMPTS: Final = 20
"""How often a file that another program keeps writing is tried anew."""


@dataclass(frozen=True, slots=True)
class Registrar:
    """Where records are kept, and what the clock says."""

    state: Path
    """The user's state directory."""
    now: Callable[[], float] = time.time
    disk: Disk = DISK

    @property
    def ledger_file(self) -> Path:
        """The ledger."""
        return self.state / "ledger.json"

    @property
    def transactions(self) -> Path:
        """One directory a run."""
        return self.state / "registrations"

    def time(self) -> str:
        """Now, as ISO 8601 in UTC."""
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.now()))


@dataclass(frozen=True, slots=True)
class Applied:
    """What became of one file."""

    plan: FilePlan
    done: bool
    notes: tuple[str, ...] = ()
    error: HomeportError | None = None
    """Why it was not done; the file is as another program left it."""


def current(path: Path) -> bytes | None:
    """A file's bytes; None where there is none. Raises `Unavailable` (`config.unreadable`)."""
    return read_bytes(path) if path.exists() else None


def plan_all(targets: Iterable[Target], registrar: Registrar) -> tuple[FilePlan, ...]:
    """The plans of all files, before any is touched.

    Raises the problems of all files that cannot be read or edited, as one `InvalidInput`: then nothing is written.
    """
    book = ledger.load(registrar.ledger_file)
    plans: list[FilePlan] = []
    problems: list[HomeportError] = []
    for target in targets:
        try:
            data = current(target.real)
            plans.append(plan_file(target, data, book.files.get(target.key), now=registrar.time()))
        except HomeportError as error:
            problems.append(error)
    if len(problems) == 1:
        raise problems[0]
    if problems:
        raise InvalidInput.collected([problem for error in problems for problem in error.problems()])
    return tuple(plans)


def apply(plans: Iterable[FilePlan], registrar: Registrar) -> tuple[Applied, ...]:
    """Carry plans out, one file after the other; each is done whole or not at all."""
    known = ledger.load(registrar.ledger_file).files
    chosen = [plan for plan in plans if plan.changes or plan.record.rows != _rows(known.get(plan.target.key))]
    if not chosen:
        return ()
    transaction = _Transaction(registrar)
    done = tuple(_apply_one(plan, registrar, transaction) for plan in chosen)
    transaction.close()
    return done


def _rows(record: FileRecord | None) -> Mapping[str, ledger.Row]:
    return record.rows if record else {}


def _apply_one(plan: FilePlan, registrar: Registrar, transaction: _Transaction) -> Applied:
    shown = [(row.name, row.action) for row in plan.rows]
    try:
        for _ in range(ATTEMPTS):
            try:
                return _attempt(plan, registrar, transaction)
            except ChangedMeanwhileError:
                book = ledger.load(registrar.ledger_file)
                data = current(plan.target.real)
                plan = plan_file(plan.target, data, book.files.get(plan.target.key), now=registrar.time())
                if [(row.name, row.action) for row in plan.rows] != shown:
                    break
    except HomeportError as error:
        return Applied(plan, done=False, error=error)
    message = "another program keeps changing it"
    remedy = "close the program whose file it is, then run the command again"
    error = Conflict(message, code="config.busy", place=Place(str(plan.target.path)), remedy=remedy)
    return Applied(plan, done=False, error=error)


def _attempt(plan: FilePlan, registrar: Registrar, transaction: _Transaction) -> Applied:
    target = plan.target
    before = ledger.load(registrar.ledger_file)
    if not plan.changes:
        ledger.save(registrar.ledger_file, before.with_file(target.key, plan.record))
        return Applied(plan, done=True)
    transaction.begin(plan, before.files.get(target.key))
    ledger.save(registrar.ledger_file, before.with_file(target.key, plan.during))
    inside = Path(target.project) if target.scope == "project" and target.project else None
    change = Swap(
        target.path, plan.before, plan.after, mode=0o644 if target.scope == "project" else 0o600, inside=inside
    )
    try:
        swapped = swap(change, state=registrar.state, disk=registrar.disk)
    except (ChangedMeanwhileError, HomeportError):
        transaction.forget(plan)
        ledger.save(registrar.ledger_file, before)
        raise
    ledger.save(registrar.ledger_file, before.with_file(target.key, plan.record))
    return Applied(plan, done=True, notes=swapped.notes)


class _Transaction:
    """The record of one run, written before each file is changed."""

    def __init__(self, registrar: Registrar) -> None:
        for above in (registrar.state, registrar.transactions):
            private_directory(above)
        name = f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime(registrar.now()))}-{time.time_ns():x}"
        self.directory = private_directory(registrar.transactions / name)
        self._registrar = registrar
        self._files: list[dict[str, Any]] = []

    def begin(self, plan: FilePlan, record: FileRecord | None) -> None:
        """Remember both versions of a file."""
        number = len(self._files)
        for kind, data in (("before", plan.before), ("after", plan.after)):
            if data is not None:
                replace_atomically(self.directory / f"{number}.{kind}", data, mode=0o600)
        target = plan.target
        changed = [row.name for row in plan.rows if row.action in {"create", "update", "remove"}]
        self._files.append(
            {
                "agents": list(target.names),
                "scope": target.scope,
                "path": str(target.path),
                "real": str(target.real),
                "project": target.project,
                "names": changed,
                "before": None if plan.before is None else of_bytes(plan.before),
                "after": None if plan.after is None else of_bytes(plan.after),
                "record": None if record is None else ledger.written(record),
            }
        )
        self._write()

    def forget(self, plan: FilePlan) -> None:
        """The last file begun was not changed after all."""
        self._files = [file for file in self._files if file["real"] != str(plan.target.real)]
        self._write()

    def close(self) -> None:
        """A run that changed nothing leaves no record."""
        if not self._files:
            for path in self.directory.iterdir():
                path.unlink()
            self.directory.rmdir()

    def _write(self) -> None:
        document = {"format": 1, "when": self._registrar.time(), "files": self._files}
        text = json.dumps(document, ensure_ascii=False, indent=1).encode("utf-8", "surrogateescape")
        replace_atomically(self.directory / "transaction.json", text, mode=0o600)


# --- undo --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Undone:
    """What became of one file of the last run."""

    path: Path
    how: str
    """`restored` (byte for byte), `edited` (only our entries, the file had changed), `kept` (nothing was done)."""
    kept_names: tuple[str, ...] = ()
    """Entries that were changed since and stay."""
    error: HomeportError | None = None


def undo(catalog: Catalog, registrar: Registrar) -> tuple[Undone, ...]:
    """Take the last run back. Raises `InvalidInput` (`undo.nothing`, `undo.damaged`)."""
    runs = sorted(registrar.transactions.glob("*/transaction.json")) if registrar.transactions.is_dir() else []
    if not runs:
        raise InvalidInput("there is nothing to undo", code="undo.nothing", remedy="homeport status")
    try:
        files = json.loads(runs[-1].read_bytes())["files"]
        work = [(number, file) for number, file in enumerate(files)]
    except (ValueError, KeyError, TypeError):
        place = Place(str(runs[-1]))
        remedy = f"both versions of each file lie in {runs[-1].parent}; copy back what is wanted"
        raise InvalidInput("is damaged", code="undo.damaged", place=place, remedy=remedy) from None
    done = tuple(_undo_one(catalog, registrar, runs[-1].parent, number, file) for number, file in reversed(work))
    if not any(one.error for one in done):
        runs[-1].rename(runs[-1].with_name("undone.json"))
    return done


def _undo_one(catalog: Catalog, registrar: Registrar, run: Path, number: int, file: Mapping[str, Any]) -> Undone:
    path = Path(file["path"])
    try:
        for _ in range(ATTEMPTS):
            try:
                return _undo_attempt(catalog.get(file["agents"][0]), registrar, run, number, file)
            except ChangedMeanwhileError:
                continue
    except HomeportError as error:
        return Undone(path, "kept", error=error)
    message = "another program keeps changing it"
    error = Conflict(message, code="config.busy", place=Place(str(path)), remedy="close that program, then undo again")
    return Undone(path, "kept", error=error)


def _undo_attempt(agent: Agent, registrar: Registrar, run: Path, number: int, file: Mapping[str, Any]) -> Undone:
    path, real = Path(file["path"]), Path(file["real"])
    now = current(real)
    before = _version(run, number, "before", file)
    if (None if now is None else of_bytes(now)) == file["after"]:
        wanted, how, kept = before, "restored", ()
    else:
        after = _version(run, number, "after", file)
        wanted, kept = _surgical(agent, now, before, after, file["names"])
        how = "edited" if wanted != now else "kept"
    record = None if file["record"] is None else ledger.record_of(file["record"])
    if wanted != now:
        inside = Path(file["project"]) if file["scope"] == "project" and file["project"] else None
        swap(Swap(path, now, wanted, inside=inside), state=registrar.state, disk=registrar.disk)
    book = ledger.load(registrar.ledger_file)
    key = f"{real}#{'.'.join(agent.key_path)}"
    ledger.save(registrar.ledger_file, _rolled_back(book, key, record, file["names"], kept))
    return Undone(path, how, kept)


def _version(run: Path, number: int, kind: str, file: Mapping[str, Any]) -> bytes | None:
    if file[kind] is None:
        return None
    try:
        data = (run / f"{number}.{kind}").read_bytes()
    except OSError as error:
        message = f"cannot be read: {error.strerror}"
        raise Unavailable(message, code="undo.missing", place=Place(str(run)), remedy="homeport unregister") from None
    if of_bytes(data) != file[kind]:
        message = "the kept version is not what was written"
        raise InvalidInput(message, code="undo.damaged", place=Place(str(run)), remedy="homeport unregister")
    return data


def _surgical(
    agent: Agent, now: bytes | None, before: bytes | None, after: bytes | None, names: list[str]
) -> tuple[bytes | None, tuple[str, ...]]:
    """The file with only our changes taken back; entries that others changed since are kept and told."""
    if now is None:
        return None, ()
    old = editing.entries(before, agent) if before is not None else {}
    new = editing.entries(after, agent) if after is not None else {}
    kept: list[str] = []
    for name in names:
        here = editing.entries(now, agent)
        if (name in here) != (name in new) or (name in here and not equal(here[name], new[name])):
            kept.append(name)
        elif name in old:
            now = editing.put(now, agent, name, old[name])
        else:
            now = editing.take_out(now, agent, name)
    side = editing.marked(now, agent)
    had = editing.marked(before, agent) if before is not None else ()
    if side:
        now = editing.mark(now, agent, [name for name in side if name in had or name in kept or name not in {*names}])
    return (now if kept else editing.restore(now, agent, editing.origin(before, agent))), tuple(kept)


def _rolled_back(
    book: ledger.Ledger, key: str, record: FileRecord | None, names: Iterable[str], kept: Iterable[str]
) -> ledger.Ledger:
    now = book.files.get(key) or record
    if now is None:
        return book
    for name in names:
        if name not in set(kept):
            now = ledger.with_row(now, name, record.rows.get(name) if record else None)
    return book.with_file(key, replace(now, origin=record.origin) if record else now)
