"""The audit journal: written before a call goes out and before its answer goes back.

One file a process (`<start>-<pid>.jsonl`, 0600), appended with one write a line, so a killed process loses neither an
answer that was given nor a call that may have run. Not synchronised to the disk line by line: a power failure may lose
the last lines (measured at 135 µs a line, more than the whole call).

Fail closed: without its `begun` line a call is not made. When an `ended` line cannot be written the answer is
delivered all the same (the call did run), people are told, and no further call is made until the lines that are owed
are in the file.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import homeport
from homeport.calls import lines
from homeport.calls.events import Bus, Event, Topic
from homeport.calls.ports import AuditRow, Observer, Store
from homeport.ground.digests import keyed
from homeport.ground.errors import HomeportError, Place, Unavailable
from homeport.ground.files import private_directory

MAX_TEXT: Final = 2_000
"""Characters of one text in a row; cut after scrubbing, so that no half of a secret is left."""
MAX_KEY: Final = 128
"""Characters of one argument's name."""
MAX_OWED: Final = 10_000
"""Rows kept in memory while the journal cannot be written; beyond, only their number is kept."""

_TEXTS: Final = ("client", "session", "name", "reason", "place")
"""Members of a row that others wrote."""
_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)


def to_stderr(text: str) -> None:
    """Where the journal's own trouble is told when nothing else is set up."""
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(f"homeport: {text}\n")


class Journal:
    """One process's journal. Used from one thread (the event loop's).

    `key` makes the digests of arguments unguessable (`journal_key`). `scrub` removes the known secrets from text.
    The file is opened at the first line.
    """

    def __init__(
        self,
        directory: Path,
        *,
        key: bytes,
        scrub: Callable[[str], str] = str,
        bus: Bus | None = None,
        observers: Sequence[Observer] = (),
        store: Store | None = None,
        tell: Callable[[str], None] = to_stderr,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._directory = directory
        self._key = key
        self._scrub = scrub
        self._bus = bus
        self._observers: tuple[Observer, ...] = (*((bus,) if bus else ()), *observers)
        self._store = store
        self._tell = tell
        self._now = now
        self._file: _ChainedFile | None = None
        self._owed: deque[AuditRow] = deque(maxlen=MAX_OWED)
        self._lost = 0
        self._writable = True

    @property
    def path(self) -> Path | None:
        """The file, once there is one."""
        return self._file.path if self._file else None

    @property
    def writable(self) -> bool:
        """False after a line could not be written, until those that are owed are in the file."""
        return self._writable

    def open(self) -> None:
        """Make the file now rather than at the first line. Raises `Unavailable` (`journal.unwritable`)."""
        self._ready()

    def new_id(self) -> str:
        """An id for an operation; sorts by time."""
        return lines.operation_id(int(self._now() * 1000), os.urandom(10))

    def now_ms(self) -> int:
        """Unix milliseconds, for `AuditRow.ts_ms`."""
        return int(self._now() * 1000)

    def digest(self, data: bytes) -> str:
        """`hmac:…` of arguments: equal values show as equal, and cannot be guessed back."""
        return keyed(self._key, data)

    def begin(self, row: AuditRow) -> None:
        """The `begun` line, before the call is written upstream. Raises `Unavailable`: then it must not be made."""
        row = self._clean(row)
        try:
            self._settle()
            self._append(row)
        except Unavailable as error:
            self._trouble(error)
            raise
        self._recovered()

    def end(self, row: AuditRow) -> None:
        """The `ended` line, before the caller gets its answer. Never raises; see the module's head for a failure."""
        self._must_not_fail(row)

    def refuse(self, row: AuditRow) -> None:
        """The one line of a call that was not made. Never raises; it is owed when it cannot be written."""
        self._must_not_fail(row)

    def close(self) -> None:
        """Write what is owed if that is possible now, and close the file."""
        with contextlib.suppress(Unavailable):
            self._settle()
        if self._file:
            self._file.close()
            self._file = None

    def _must_not_fail(self, row: AuditRow) -> None:
        row = self._clean(row)
        try:
            self._settle()
            self._append(row)
        except Unavailable as error:
            if len(self._owed) == MAX_OWED:
                self._lost += 1
            self._owed.append(row)
            self._trouble(error)
        else:
            self._recovered()

    def _settle(self) -> None:
        if self._lost:
            self._ready().append({"lost_rows": self._lost, "ts_ms": self.now_ms()})
            self._lost = 0
        while self._owed:
            self._append(self._owed[0])
            self._owed.popleft()

    def _append(self, row: AuditRow) -> None:
        self._ready().append(lines.members(row))
        if self._store:
            self._store.index((row,))
        for observer in self._observers:
            observer.observe(row)

    def _ready(self) -> _ChainedFile:
        if self._file and self._file.gone():
            self._file.close()
            self._file = None
        if self._file is None:
            self._file = _ChainedFile.create(self._directory, self.now_ms())
        return self._file

    def _trouble(self, error: HomeportError) -> None:
        if self._writable:
            self._say(f"the audit journal cannot be written, so no call is made: {error}", writable=False)

    def _recovered(self) -> None:
        if not self._writable:
            self._say("the audit journal can be written again", writable=True)

    def _say(self, text: str, *, writable: bool) -> None:
        self._writable = writable
        self._tell(text)
        if self._bus:
            self._bus.publish(Event(Topic.JOURNAL, {"writable": writable, "text": text}))

    def _clean(self, row: AuditRow) -> AuditRow:
        changed: dict[str, Any] = {}
        for member in _TEXTS:
            text: str = getattr(row, member)
            clean = self._text(text, MAX_TEXT)
            if clean is not text:
                changed[member] = clean
        keys: list[str] = list(row.args["keys"]) if row.args and "keys" in row.args else []
        clean_keys = [self._text(key, MAX_KEY) for key in keys]
        if clean_keys != keys:
            changed["args"] = {**(row.args or {}), "keys": clean_keys}
        return replace(row, **changed) if changed else row

    def _text(self, text: str, limit: int) -> str:
        """Scrubbed, encodable, bounded; the same object when it was all that."""
        clean = self._scrub(text)
        if not clean.isascii():
            # A lone surrogate cannot be encoded; a name with one reaches us from a client's JSON escapes.
            clean = clean.encode("utf-8", "replace").decode("utf-8")
        return clean if len(clean) <= limit else clean[: limit - 1] + "…"


class _ChainedFile:
    """An open file of chained lines."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor
        self._size = 0
        self._previous = ""
        self._torn = False

    @classmethod
    def create(cls, directory: Path, now_ms: int) -> _ChainedFile:
        """A new file with its first line. Raises `Unavailable`."""
        try:
            private_directory(directory)
        except Unavailable as error:
            raise _unwritable(directory, error.message) from None
        start = datetime.fromtimestamp(now_ms / 1000, UTC).strftime("%Y%m%dT%H%M%SZ")
        for number in range(1000):
            path = directory / f"{start}-{os.getpid()}{f'-{number}' if number else ''}.jsonl"
            try:
                opened = cls(path, os.open(path, _FLAGS, 0o600))
            except FileExistsError:
                continue
            except OSError as error:
                raise _unwritable(path, error.strerror or type(error).__name__) from None
            try:
                opened.append(lines.header(pid=os.getpid(), started_ms=now_ms, version=homeport.__version__))
            except Unavailable:
                opened.close()
                path.unlink(missing_ok=True)
                raise
            return opened
        raise _unwritable(directory, "too many files of this second")

    def append(self, what: Any) -> None:
        """One line in one write; what a full disk took of it is taken back. Raises `Unavailable`."""
        line = lines.encode(what, self._previous)
        data = b"\n" + line if self._torn else line
        try:
            written = os.write(self._descriptor, data)
        except OSError as error:
            raise _unwritable(self.path, error.strerror or type(error).__name__) from None
        if written != len(data):
            self._take_back(written)
            raise _unwritable(self.path, "no space for a whole line")
        self._size += written
        self._torn = False
        self._previous = lines.link(line)

    def _take_back(self, written: int) -> None:
        try:
            os.ftruncate(self._descriptor, self._size)
        except OSError:
            self._size += written
            self._torn = True

    def gone(self) -> bool:
        """Whether somebody deleted the file: lines written to it would reach nobody."""
        try:
            return os.fstat(self._descriptor).st_nlink == 0
        except OSError:
            return True

    def close(self) -> None:
        """Close the descriptor."""
        with contextlib.suppress(OSError):
            os.close(self._descriptor)


def _unwritable(path: Path, why: str) -> Unavailable:
    return Unavailable(
        f"the audit journal cannot be written: {why}",
        code="journal.unwritable",
        place=Place(str(path)),
        remedy="free space on the disk of that directory, or make it writable for this user",
    )


def journal_key(path: Path) -> bytes:
    """The key of this user's argument digests, made at the first use (0600). Raises `Unavailable`."""
    with contextlib.suppress(FileNotFoundError):
        return _whole_key(path)
    private_directory(path.parent)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
    try:
        descriptor = os.open(temporary, _FLAGS, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(os.urandom(32))
        with contextlib.suppress(FileExistsError):
            os.link(temporary, path)
        temporary.unlink()
        return _whole_key(path)
    except OSError as error:
        raise _unwritable(path, error.strerror or type(error).__name__) from None


def _whole_key(path: Path) -> bytes:
    try:
        key = path.read_bytes()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _unwritable(path, error.strerror or type(error).__name__) from None
    if len(key) < 32:
        raise _unwritable(path, "it holds no key")
    return key


def prune(directory: Path, *, keep_days: int, now: float, alive: Callable[[int], bool]) -> list[Path]:
    """Delete journals whose last line is older than `keep_days` and whose process is gone; returns them."""
    deleted: list[Path] = []
    for path in sorted(directory.glob("*.jsonl")):
        pid = path.stem.split("-")[1] if "-" in path.stem else ""
        with contextlib.suppress(OSError):
            if now - path.stat().st_mtime > keep_days * 86_400 and not (pid.isdigit() and alive(int(pid))):
                path.unlink()
                deleted.append(path)
    return deleted
