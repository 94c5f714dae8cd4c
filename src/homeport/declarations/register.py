"""The declarations known to a process, by server name: with owners, profiles laid over a shared base, and listeners.

One name has one owner at a time: another owner's declaration of the same name is a conflict and not a silent change.
Everything is safe from any thread. A listener is called outside the lock, only when something changed, once for all
changes of a `batch`, and what it raises ends neither the change nor the other listeners.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, TypeAlias

from homeport.declarations.model import Declaration
from homeport.ground.errors import Conflict

Listener: TypeAlias = Callable[[], None]
_Key: TypeAlias = tuple[str, str]

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Entry:
    """One registered declaration. `profile` empty: the base that every profile sees."""

    name: str
    declaration: Declaration
    owner: str = ""
    profile: str = ""


@dataclass(frozen=True, slots=True)
class Handle:
    """What `register` gives: takes exactly this registration back, and nothing that replaced it."""

    register: Register
    entry: Entry

    def release(self) -> bool:
        """Unregister it; False when it is already gone or replaced."""
        return self.register.release(self.entry)


class Register:
    """Declarations by name and profile."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._entries: dict[_Key, Entry] = {}
        self._listeners: list[Listener] = []
        self._generation = 0
        self._batches = 0
        self._told = 0

    @property
    def generation(self) -> int:
        """Grows with every change."""
        return self._generation

    def register(self, name: str, declaration: Declaration, *, owner: str = "", profile: str = "") -> Handle:
        """Make a declaration known. Its owner may replace it; another owner's attempt raises `Conflict`."""
        entry = Entry(name, declaration, owner, profile)
        with self.batch():
            self._check(entry)
            self._put(entry)
        return Handle(self, entry)

    def unregister(self, name: str, *, profile: str = "") -> bool:
        """Forget a declaration; False when there is none."""
        with self.batch():
            return self._drop(self._entries.get((name, profile)))

    def release(self, entry: Entry) -> bool:
        """Forget one registration unless another has replaced it."""
        with self.batch():
            same = self._entries.get((entry.name, entry.profile)) is entry
            return same and self._drop(entry)

    def unregister_owner(self, owner: str) -> int:
        """Forget everything of an owner; how many there were."""
        with self.batch():
            return sum(self._drop(entry) for entry in self.entries() if entry.owner == owner)

    def replace_owner(self, owner: str, declarations: Mapping[str, Declaration], *, profile: str = "") -> None:
        """Put these in place of all an owner has in a profile, at once. Raises `Conflict` and changes nothing."""
        with self.batch():
            new = [Entry(name, declaration, owner, profile) for name, declaration in declarations.items()]
            for entry in new:
                self._check(entry)
            for entry in self.entries():
                if (entry.owner, entry.profile) == (owner, profile) and entry.name not in declarations:
                    self._drop(entry)
            for entry in new:
                self._put(entry)

    def lookup(self, name: str, *, profile: str = "") -> Declaration | None:
        """A profile's declaration of a name, else the base's."""
        with self._lock:
            entry = self._entries.get((name, profile)) or self._entries.get((name, ""))
        return entry.declaration if entry else None

    def visible(self, profile: str = "") -> Mapping[str, Declaration]:
        """Everything a profile sees, by name."""
        entries = self.entries()
        seen = {entry.name: entry.declaration for entry in entries if not entry.profile}
        seen |= {entry.name: entry.declaration for entry in entries if profile and entry.profile == profile}
        return MappingProxyType(seen)

    def entries(self) -> tuple[Entry, ...]:
        """Everything registered, in order of registration."""
        with self._lock:
            return tuple(self._entries.values())

    def clear(self) -> None:
        """Forget everything."""
        with self.batch():
            for entry in self.entries():
                self._drop(entry)

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` after changes; returns what ends that."""
        with self._lock:
            self._listeners.append(listener)

        def end() -> None:
            with self._lock:
                if listener in self._listeners:
                    self._listeners.remove(listener)

        return end

    @contextmanager
    def batch(self) -> Generator[None]:
        """Several changes that listeners hear of once, at the end. Other threads wait."""
        listeners: list[Listener] = []
        try:
            with self._lock:
                self._batches += 1
                try:
                    yield
                finally:
                    self._batches -= 1
                    listeners = self._listeners_to_tell()
        finally:
            for listener in listeners:
                _tell(listener)

    def _listeners_to_tell(self) -> list[Listener]:
        if self._batches or self._told == self._generation:
            return []
        self._told = self._generation
        return list(self._listeners)

    def _check(self, entry: Entry) -> None:
        held = self._entries.get((entry.name, entry.profile))
        if held is None or held.owner == entry.owner:
            return
        holder, other = held.owner or "this process", entry.owner or "this process"
        raise Conflict(
            f"the declaration of {entry.name!r} belongs to {holder}; {other} may not replace it",
            code="declaration.conflict",
            remedy=f"rename one of the two servers, or remove the one of {holder}",
        )

    def _put(self, entry: Entry) -> None:
        key = (entry.name, entry.profile)
        if self._entries.get(key) != entry:
            self._generation += 1
        self._entries[key] = entry

    def _drop(self, entry: Entry | None) -> bool:
        if entry is None:
            return False
        del self._entries[(entry.name, entry.profile)]
        self._generation += 1
        return True


def _tell(listener: Listener) -> None:
    try:
        listener()
    except Exception:  # noqa: BLE001  # the boundary of a listener: another part's bug must not undo a registration
        _log.warning("a listener of the declarations failed", exc_info=True)


_shared: Final = Register()


def shared() -> Register:
    """The register of this process, which the module's functions use."""
    return _shared


def register(name: str, declaration: Declaration, *, owner: str = "", profile: str = "") -> Handle:
    """Make a declaration known to this process. Raises `Conflict` when the name is another owner's."""
    return _shared.register(name, declaration, owner=owner, profile=profile)


def lookup(name: str, *, profile: str = "") -> Declaration | None:
    """This process's declaration of a name."""
    return _shared.lookup(name, profile=profile)


def unregister(name: str, *, profile: str = "") -> bool:
    """Forget a declaration of this process; False when there is none."""
    return _shared.unregister(name, profile=profile)


def clear() -> None:
    """Forget every declaration of this process."""
    _shared.clear()
