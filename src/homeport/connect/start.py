"""Reach a project's gateway; start one, detached, when none runs.

Twenty agents that start at once start one gateway: who holds the lock starts it, the others wait until it answers.
"""

from __future__ import annotations

import fcntl
import os
import sys
import time

from homeport.connect.link import Hello, Link, NotRunning, open_link

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

START_TIMEOUT = 30.0
"""Seconds until a started gateway must answer."""

WAIT = 0.01
"""Seconds between two looks for the gateway that is starting."""

PASSED_ON = frozenset(
    (
        *("HOME", "PATH", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TEMP", "TMP"),
        *("DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "SSL_CERT_FILE", "SSL_CERT_DIR"),
        *("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"),
    )
)
"""A detached gateway outlives the agent that started it, so it must not carry that agent's environment."""

PASSED_ON_PREFIXES = ("LC_", "XDG_", "HOMEPORT_")

_DETACH = "import os, sys; os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)"
"""Run by an interpreter that then ends: the gateway's parent is init, so no walk over an agent's children finds it."""


class StartFailed(Exception):
    """The gateway could not be started, or ended before it answered. `log` is where it wrote why."""

    def __init__(self, message: str, log: str) -> None:
        super().__init__(message)
        self.message = message
        self.log = log


class Gateway:
    """Where a project's gateway is, and how to start it: `command` is the absolute argv of a detached one."""

    def __init__(
        self, *, run_file: str, lock_file: str, log_file: str, command: Sequence[str], environment: Mapping[str, str]
    ) -> None:
        self.run_file = run_file
        self.lock_file = lock_file
        self.log_file = log_file
        self.command = command
        self.environment = environment

    def reach(self, hello: Hello) -> Link:
        """An open connection. Raises `HelloRefused`, `StartFailed`."""
        link = self._try(hello)
        if link is not None:
            return link
        lock = _StartLock(self.lock_file)
        try:
            return self._start_once(lock, hello, time.monotonic() + START_TIMEOUT)
        finally:
            lock.release()

    def _start_once(self, lock: _StartLock, hello: Hello, deadline: float) -> Link:
        while not lock.take():
            link = self._try(hello)
            if link is not None:
                return link
            if time.monotonic() > deadline:
                raise StartFailed("another program has been starting the gateway for too long", self.log_file)
            time.sleep(WAIT)
        return self._try(hello) or self._start(hello, deadline)

    def _try(self, hello: Hello) -> Link | None:
        try:
            return open_link(self.run_file, hello)
        except NotRunning:
            return None

    def _start(self, hello: Hello, deadline: float) -> Link:
        alive = _spawn_detached(self.command, passed_on(self.environment), self.log_file)
        try:
            while time.monotonic() < deadline:
                link = self._try(hello)
                if link is not None:
                    return link
                if _at_end(alive):
                    raise StartFailed("the gateway ended before it was ready", self.log_file)
                time.sleep(WAIT)
        finally:
            os.close(alive)
        raise StartFailed(f"the gateway was not ready within {START_TIMEOUT:g} seconds", self.log_file)


def passed_on(environment: Mapping[str, str]) -> dict[str, str]:
    """What a detached gateway inherits of an agent's environment."""
    return {
        name: value for name, value in environment.items() if name in PASSED_ON or name.startswith(PASSED_ON_PREFIXES)
    }


class _StartLock:
    """An advisory lock on a file; given back when this process ends, however it ends."""

    def __init__(self, path: str) -> None:
        try:
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise _unwritable(path, error) from None

    def release(self) -> None:
        """Give the lock back, if this process holds it."""
        os.close(self._descriptor)

    def take(self) -> bool:
        """Whether this process holds the lock now."""
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True


def _spawn_detached(command: Sequence[str], environment: Mapping[str, str], log: str) -> int:
    """Start `command` in a session of its own. Returns a descriptor that is at its end once that process is gone."""
    try:
        os.makedirs(os.path.dirname(log), mode=0o700, exist_ok=True)
    except OSError as error:
        raise _unwritable(log, error) from None
    reading, writing = os.pipe()
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
        (os.POSIX_SPAWN_DUP2, 1, 2),
        (os.POSIX_SPAWN_DUP2, writing, 3 if writing != 3 else 4),
    ]
    argv = [sys.executable, "-I", "-S", "-c", _DETACH, *command]
    try:
        process = os.posix_spawn(argv[0], argv, environment, file_actions=actions, setsid=True)
        _, status = os.waitpid(process, 0)
    except OSError as error:
        os.close(reading)
        raise StartFailed(f"{argv[0]}: {error.strerror}", log) from None
    finally:
        os.close(writing)
    if os.waitstatus_to_exitcode(status):
        os.close(reading)
        raise StartFailed(f"{command[0]} could not be started", log)
    os.set_blocking(reading, False)
    return reading


def _unwritable(path: str, error: OSError) -> StartFailed:
    return StartFailed(
        f"{path} cannot be written ({error.strerror}); make {os.path.dirname(path)} writable for this user, "
        "or set HOMEPORT_HOME to a directory that is",
        "",
    )


def _at_end(descriptor: int) -> bool:
    try:
        return os.read(descriptor, 1) == b""
    except BlockingIOError:
        return False
