"""The embedded store: an index over the journal, and the standing approvals, in one SQLite file.

One thread writes; whoever calls only puts work into its queue. The journal is the truth: the index can be deleted and
is built anew from the files (`catch_up`). A call never waits for this, and never fails by it.
"""

from __future__ import annotations

import contextlib
import os
import queue
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec

from homeport.calls import lines
from homeport.calls.audit import to_stderr
from homeport.calls.ports import AuditRow, StandingApproval
from homeport.ground.errors import HomeportError, InvalidInput, Place, Unavailable
from homeport.ground.files import private_directory
from homeport.store.migrations import migrate

COLUMNS: Final = (
    "id",
    "ts_ms",
    "stage",
    "profile",
    "client",
    "edge",
    "session",
    "kind",
    "server",
    "name",
    "decision",
    "project",
)
FILTERS: Final = frozenset(COLUMNS) - {"ts_ms"} | {"since_ms", "until_ms"}
"""What `rows` can be filtered by."""
MAX_QUEUED: Final = 50_000
"""Rows waiting for the writer. Beyond, rows are left to the next `catch_up`: they are in the journal."""
BATCH: Final = 500
GATHER: Final = 0.1
"""Seconds that rows are gathered before they are written. A thread that woke for each would take the interpreter from
the calls, and a transaction a row costs more than the call."""
BUSY_MS: Final = 5_000
CHUNK: Final = 4 * 1024 * 1024

_UPSERT: Final = (
    f"INSERT INTO calls ({', '.join(COLUMNS)}, row) VALUES ({', '.join('?' * len(COLUMNS))}, ?) "  # noqa: S608
    "ON CONFLICT (id) DO UPDATE SET "
    + ", ".join(f"{column} = excluded.{column}" for column in (*COLUMNS[1:], "row"))
    # A row of `begun` that is read again must not undo the end of its call.
    + " WHERE excluded.stage <> 'begun'"
)

Work = Callable[[sqlite3.Connection], None]


class SqliteStore:
    """Implements `calls.ports.Store` and `calls.ports.ApprovalMemory`. `close` it at the end."""

    def __init__(self, path: Path, *, tell: Callable[[str], None] = to_stderr) -> None:
        """Open or make the file (0600). Raises `Unavailable` (`store.unusable`), `Conflict` (`store.newer`)."""
        self.path = path
        self._tell = tell
        self._failed = False
        self._connection = _open(path)
        self._lock = threading.Lock()
        self._rows: deque[AuditRow] = deque()
        self._queue: queue.SimpleQueue[Work | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._write, name="homeport store", daemon=True)
        self._thread.start()

    def index(self, rows: Sequence[AuditRow]) -> None:
        """Queue rows that are in the journal. Never blocks or raises."""
        if len(self._rows) >= MAX_QUEUED:
            return
        self._rows.extend(rows)
        # Looked at afterwards: the writer may have taken the others meanwhile.
        if len(self._rows) <= len(rows):
            self._queue.put(_gather)

    def catch_up(self, directory: Path) -> Future[int]:
        """Index what is in the journal's files and not here yet, beside everything else: the number of rows read."""
        return self._later(lambda connection: _catch_up(connection, directory))

    def rebuild(self, directory: Path) -> Future[int]:
        """Forget the index and build it anew from the journal."""

        def work(connection: sqlite3.Connection) -> int:
            with _transaction(connection):
                connection.execute("DELETE FROM calls")
                connection.execute("DELETE FROM journal_files")
            return _catch_up(connection, directory)

        return self._later(work)

    def forget(self, before_ms: int) -> Future[int]:
        """Delete the rows of calls before a time; the number deleted."""

        def work(connection: sqlite3.Connection) -> int:
            with _transaction(connection):
                return connection.execute("DELETE FROM calls WHERE ts_ms < ?", (before_ms,)).rowcount

        return self._later(work)

    def rows(self, *, limit: int, filters: Mapping[str, str], after: str = "") -> Iterator[AuditRow]:
        """Rows, newest first: one an operation, at its last stage. `after`: the id of the last row seen before.

        Filters by `FILTERS`; `name` and `client` match a part. Raises `InvalidInput` (`store.filter`).
        """
        where, values = _conditions(filters, after)
        if self._rows and self._thread.is_alive():
            with contextlib.suppress(Unavailable):
                self.flush(1.0)
        statement = f"SELECT row FROM calls{where} ORDER BY id DESC LIMIT ?"  # noqa: S608
        for (text,) in self._read(statement, (*values, max(0, limit))):
            row = lines.row(text.encode())
            if row is not None:
                yield row

    def flush(self, timeout: float = 10.0) -> None:
        """Wait until everything queued so far is in the file. Raises `Unavailable` when that takes longer."""
        try:
            self._later(lambda _: None).result(timeout)
        except TimeoutError:
            raise Unavailable("the store does not keep up", code="store.busy", place=Place(str(self.path))) from None

    def standing(self) -> Iterable[StandingApproval]:
        """The approvals that were given for always."""
        statement = "SELECT profile, server, tool, digest, project, given_by, since_ms FROM approvals ORDER BY since_ms"
        return [StandingApproval(*values) for values in self._read(statement, ())]

    def approve(self, approval: StandingApproval) -> None:
        """Keep one."""
        values = (
            approval.profile,
            approval.server,
            approval.tool,
            approval.digest,
            approval.project,
            approval.by,
            approval.since_ms,
        )
        self._queue.put(_statement("INSERT OR REPLACE INTO approvals VALUES (?, ?, ?, ?, ?, ?, ?)", values))

    def revoke(self, approval: StandingApproval) -> None:
        """Forget one."""
        values = (approval.profile, approval.server, approval.tool, approval.digest, approval.project)
        statement = "DELETE FROM approvals WHERE profile = ? AND server = ? AND tool = ? AND digest = ? AND project = ?"
        self._queue.put(_statement(statement, values))

    def close(self) -> None:
        """Write what is queued, and close the file."""
        self._queue.put(None)
        self._thread.join(timeout=10)
        with self._lock, contextlib.suppress(sqlite3.Error):
            self._connection.close()

    def _read(self, statement: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        try:
            with self._lock:
                return self._connection.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise _unusable(self.path, str(error)) from None

    def _later(self, work: Callable[[sqlite3.Connection], Any]) -> Future[Any]:
        future: Future[Any] = Future()

        def run(connection: sqlite3.Connection) -> None:
            try:
                future.set_result(work(connection))
            except (sqlite3.Error, OSError) as error:
                future.set_exception(_unusable(self.path, str(error)))

        self._queue.put(run)
        return future

    def _write(self) -> None:
        """The writer thread, with a connection of its own: readers do not wait for it (WAL)."""
        try:
            connection = _open(self.path)
        except HomeportError as error:
            self._trouble(str(error))
            return
        with contextlib.closing(connection):
            while (work := self._next()) is not None:
                self._write_rows(connection)
                self._guarded_work(connection, work)
            self._write_rows(connection)

    def _next(self) -> Work | None:
        """What to do now: other work at once, rows alone when they had time to become many."""
        work = self._queue.get()
        end = time.monotonic() + GATHER
        while work is _gather and (left := end - time.monotonic()) > 0:
            try:
                work = self._queue.get(timeout=left)
            except queue.Empty:
                break
        return work

    def _write_rows(self, connection: sqlite3.Connection) -> None:
        """What is queued, in batches; of the rows of one operation the last alone."""
        while self._rows:
            batch = [self._rows.popleft() for _ in range(min(BATCH, len(self._rows)))]
            last: dict[str, AuditRow] = {}
            for row in batch:
                if row.stage != "begun" or row.id not in last:
                    last[row.id] = row
            self._guarded_work(connection, partial(self._insert, rows=tuple(last.values())))

    def _insert(self, connection: sqlite3.Connection, rows: Sequence[AuditRow]) -> None:
        with _transaction(connection):
            connection.executemany(_UPSERT, map(_values, rows))
        self._failed = False

    def _guarded_work(self, connection: sqlite3.Connection, work: Work) -> None:
        try:
            work(connection)
        except sqlite3.Error as error:
            self._trouble(f"{self.path}: the index of calls cannot be written: {error}; the journal is complete")

    def _trouble(self, text: str) -> None:
        if not self._failed:
            self._failed = True
            self._tell(text)


def _gather(_: sqlite3.Connection) -> None:
    """The work of rows alone: they are written before any work."""


def _statement(statement: str, values: tuple[Any, ...]) -> Work:
    def work(connection: sqlite3.Connection) -> None:
        connection.execute(statement, values)

    return work


def _open(path: Path) -> sqlite3.Connection:
    private_directory(path.parent)
    try:
        # SQLite gives its -wal and -shm files the mode of the main file. One that exists must not be opened here:
        # closing it would drop the locks of this process's other connections, and another process would then take
        # itself for the last one and delete the log with what they wrote.
        with contextlib.suppress(FileExistsError):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError as error:
        raise _unusable(path, error.strerror or type(error).__name__) from None
    connection: sqlite3.Connection | None = None
    try:
        connection = sqlite3.connect(path, timeout=BUSY_MS / 1000, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        migrate(connection, str(path))
    except sqlite3.Error as error:
        if connection is not None:
            connection.close()
        raise _unusable(path, str(error)) from None
    except HomeportError:
        if connection is not None:
            connection.close()
        raise
    return connection


@contextlib.contextmanager
def _transaction(connection: sqlite3.Connection) -> Generator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _values(row: AuditRow) -> tuple[Any, ...]:
    return (*(getattr(row, column) for column in COLUMNS), msgspec.json.encode(lines.members(row)).decode())


def _catch_up(connection: sqlite3.Connection, directory: Path) -> int:
    known = dict(connection.execute("SELECT name, bytes FROM journal_files"))
    return sum(_index_file(connection, path, known.get(path.name, 0)) for path in sorted(directory.glob("*.jsonl")))


def _index_file(connection: sqlite3.Connection, path: Path, done: int) -> int:
    """Whole lines from byte `done` on, a chunk and its position in one transaction."""
    count = 0
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_size < done:
            done = 0
        file.seek(done)
        rest = b""
        while data := file.read(CHUNK):
            whole, newline, rest = (rest + data).rpartition(b"\n")
            done += len(whole) + len(newline)
            rows = list(lines.rows(whole))
            with _transaction(connection):
                connection.executemany(_UPSERT, map(_values, rows))
                connection.execute("INSERT OR REPLACE INTO journal_files VALUES (?, ?)", (path.name, done))
            count += len(rows)
    return count


def _conditions(filters: Mapping[str, str], after: str) -> tuple[str, list[Any]]:
    unknown = sorted(filters.keys() - FILTERS)
    if unknown:
        raise InvalidInput(
            f"calls cannot be filtered by {', '.join(unknown)}",
            code="store.filter",
            remedy=f"filter by {', '.join(sorted(FILTERS))}",
        )
    conditions = [_CONDITIONS.get(name, f"{name} = ?") for name in filters]
    values: list[Any] = [_filter_value(name, value) for name, value in filters.items()]
    if after:
        conditions.append("id < ?")
        values.append(after)
    return (f" WHERE {' AND '.join(conditions)}" if conditions else ""), values


_CONDITIONS: Final = {
    "name": "instr(name, ?) > 0",
    "client": "instr(client, ?) > 0",
    "since_ms": "ts_ms >= ?",
    "until_ms": "ts_ms < ?",
}


def _filter_value(name: str, value: str) -> str | int:
    if name not in {"since_ms", "until_ms"}:
        return value
    try:
        return int(value)
    except ValueError:
        raise InvalidInput(f"{name} must be milliseconds since 1970, not {value}", code="store.filter") from None


def _unusable(path: Path, why: str) -> Unavailable:
    return Unavailable(
        f"the store cannot be used: {why}",
        code="store.unusable",
        place=Place(str(path)),
        remedy="make it writable for this user, or move it away: it is built anew from the journal",
    )
