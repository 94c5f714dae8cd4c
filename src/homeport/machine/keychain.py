"""This user's secrets: in the operating system's keyring where there is one, else in a file only this user may read.

A keyring can hang (a locked collection asks on a display that is not there), so every question to it has 3 seconds.
Names are kept in a file of our own beside, since keyrings cannot list what they hold.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import re
import stat
import threading
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias, TypeVar, cast

from homeport.ground.errors import InvalidInput, Place, Refused, Unavailable
from homeport.ground.files import exclusively, private_directory, replace_atomically
from homeport.ground.secrets import Secret

BOUND: Final = 3.0
"""Seconds for one question to a keyring."""

NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-/]{0,127}")

_SERVICE: Final = "homeport"
_REAL: Final = tuple(
    f"keyring.backends.{name}" for name in ("SecretService", "libsecret", "kwallet", "macOS", "Windows")
)
_T = TypeVar("_T")


class Keyring(Protocol):
    """The part of a `keyring` backend that is used."""

    def get_password(self, service: str, username: str) -> str | None: ...

    def set_password(self, service: str, username: str, password: str) -> None: ...

    def delete_password(self, service: str, username: str) -> None: ...


Opener: TypeAlias = Callable[[], "tuple[Keyring, str] | None"]
"""Finds a keyring and its name for people; None when this session has none that keeps secrets."""


class SecretStore:
    """Secrets by name. Safe to use from several threads; blocking, each call bounded.

    The keyring is looked for at the first use. `HOMEPORT_SECRETS=file` in the environment takes the file without
    asking a keyring, and so does Linux without a session bus.
    """

    def __init__(
        self, state: Path, *, environment: Mapping[str, str], platform: str, opener: Opener | None = None
    ) -> None:
        self._file = state / "secrets.json"
        self._names = state / "secret-names.json"
        self._opener = opener or _system_keyring
        bus_less = platform == "linux" and not environment.get("DBUS_SESSION_BUS_ADDRESS") and opener is None
        self._wanted = environment.get("HOMEPORT_SECRETS") != "file" and not bus_less
        self._opened: tuple[Keyring, str] | None = None
        self._asked = False
        self._lock = threading.RLock()

    @property
    def where(self) -> str:
        """Where secrets are kept, for people: `the system keyring (…)` or the path of the file."""
        opened = self._open()
        return f"the system keyring ({opened[1]})" if opened else str(self._file)

    @property
    def _keyring(self) -> Keyring | None:
        opened = self._open()
        return opened[0] if opened else None

    def _open(self) -> tuple[Keyring, str] | None:
        with self._lock:
            if self._wanted and not self._asked:
                self._asked = True
                with contextlib.suppress(Unavailable):
                    self._opened = _bounded(self._opener, "open")
            return self._opened

    def get(self, name: str) -> Secret | None:
        """The secret, or None when there is none of that name. Raises `Unavailable` (`secrets.*`), `Refused`."""
        keyring = self._keyring
        if keyring is None:
            value = _read(self._file).get(name)
        else:
            value = _bounded(lambda: keyring.get_password(_SERVICE, name), "read")
            if value is None:
                value = _read(self._file).get(name)  # stored before there was a keyring
        return None if value is None else Secret(value)

    def set(self, name: str, secret: Secret) -> None:
        """Store or replace. Raises `InvalidInput` (`secrets.name`), `Unavailable`, `Refused`."""
        with self._alone():
            self._set(name, secret)

    def keep(self, name: str, secret: Secret) -> str:
        """Store under `name`, or the next free `name-2`, `name-3` … when another value has it; the name used.

        For values that a project brings along: one project must not change what another refers to. Raises as `set`.
        """
        with self._alone():
            chosen, number = name, 2
            while (held := self.get(chosen)) is not None and held != secret:
                chosen, number = f"{name}-{number}", number + 1
            if held is None:
                self._set(chosen, secret)
            return chosen

    @contextlib.contextmanager
    def _alone(self) -> Generator[None]:
        """One writer at a time, over threads and processes: every write reads the file before."""
        private_directory(self._file.parent)
        with self._lock, exclusively(self._file.with_suffix(".lock"), code="secrets.busy"):
            yield

    def _set(self, name: str, secret: Secret) -> None:
        if not NAME.fullmatch(name):
            what = f"{name!r} cannot name a secret: letters, digits and `._-/`, at most 128"
            raise InvalidInput(what, code="secrets.name", remedy="choose another name")
        keyring = self._keyring
        if keyring is None:
            self._write(self._file, {**_read(self._file), name: secret.reveal()})
            return
        _bounded(lambda: keyring.set_password(_SERVICE, name, secret.reveal()), "store")
        self._write(self._names, {**_read(self._names), name: ""})
        self._forget(self._file, name)

    def delete(self, name: str) -> bool:
        """Remove it; whether there was one. Raises `Unavailable`, `Refused`."""
        with self._alone():
            there = self._forget(self._file, name)
            keyring = self._keyring
            if keyring is not None:
                if _bounded(lambda: keyring.get_password(_SERVICE, name), "read") is not None:
                    _bounded(lambda: keyring.delete_password(_SERVICE, name), "remove")
                    there = True
                self._forget(self._names, name)
            return there

    def names(self) -> tuple[str, ...]:
        """The names of all secrets, sorted; never a value."""
        known = set(_read(self._file))
        if self._keyring is not None:
            known |= set(_read(self._names))
        return tuple(sorted(known))

    def _forget(self, file: Path, name: str) -> bool:
        held = _read(file)
        if name not in held:
            return False
        self._write(file, {key: value for key, value in held.items() if key != name})
        return True

    def _write(self, file: Path, values: Mapping[str, str]) -> None:
        private_directory(file.parent)
        text = json.dumps(dict(sorted(values.items())), indent=1, ensure_ascii=False)
        replace_atomically(file, f"{text}\n".encode("utf-8", "surrogatepass"), mode=0o600)


def _system_keyring() -> tuple[Keyring, str] | None:
    """The keyring of this desktop session; None for those that store nothing, in plain text, or through a prompt."""
    import keyring
    from keyring.backends import chainer

    backend = keyring.get_keyring()
    candidates = backend.backends if isinstance(backend, chainer.ChainerBackend) else [backend]
    for candidate in cast("list[Any]", candidates):
        module = type(candidate).__module__
        if module.startswith(_REAL):
            return cast("Keyring", candidate), str(candidate.name)
    return None


def _bounded(question: Callable[[], _T], verb: str) -> _T:
    """Ask on a thread of its own and give up after `BOUND`; a keyring that hangs keeps only that thread."""
    answers: queue.SimpleQueue[tuple[bool, Any]] = queue.SimpleQueue()

    def ask() -> None:
        try:
            answers.put((True, question()))
        except BaseException as error:  # noqa: BLE001 - crosses to the asking thread, which raises it
            answers.put((False, error))

    threading.Thread(target=ask, name=f"keyring-{verb}", daemon=True).start()
    try:
        well, answer = answers.get(timeout=BOUND)
    except queue.Empty:
        raise _silent(verb, f"no answer within {BOUND:.0f} seconds") from None
    if well:
        return cast("_T", answer)
    if isinstance(answer, Exception):
        raise _silent(verb, str(answer) or type(answer).__name__) from None
    raise cast("BaseException", answer)


def _silent(verb: str, why: str) -> Unavailable:
    return Unavailable(
        f"the system keyring did not {verb} the secret: {why}",
        code="secrets.keyring",
        remedy="unlock the keyring, or set HOMEPORT_SECRETS=file to use a file that only you may read",
    )


def _read(file: Path) -> dict[str, str]:
    try:
        with file.open("rb") as opened:
            _must_be_private(file, os.fstat(opened.fileno()))
            read = json.loads(opened.read().decode("utf-8", "surrogatepass"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise Unavailable(
            f"cannot be read: {error.strerror}", code="secrets.unreadable", place=Place(str(file))
        ) from None
    except ValueError:
        read = None
    values = cast("dict[str, Any]", read) if isinstance(read, dict) else None
    if values is None or not all(isinstance(value, str) for value in values.values()):
        raise Unavailable(
            "is not a file of secrets any more",
            code="secrets.corrupt",
            place=Place(str(file)),
            remedy=f"restore {file}, or remove it and set each secret again with `homeport secrets set`",
        )
    return cast("dict[str, str]", values)


def _must_be_private(file: Path, facts: os.stat_result) -> None:
    if os.name != "posix":
        return
    if facts.st_uid != os.geteuid() or stat.S_IMODE(facts.st_mode) & 0o077:
        raise Refused(
            "other users may read or own it",
            code="secrets.exposed",
            place=Place(str(file)),
            remedy=f"make it yours with `chmod 600 {file}`, and renew the secrets in it",
        )
