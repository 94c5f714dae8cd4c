"""The child processes of one gateway: started, watched, drained and ended. Each has its own process group and an owner.

`Supervisor` talks to the one reaper process (`reaper.py`), which starts the children and kills them when we end in
whatever way. A `Child` is bytes in, bytes out, a bounded memory of its standard error, and `close`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from homeport.ground.errors import Unavailable
from homeport.ground.files import private_directory
from homeport.ground.limits import DEFAULT, Limits
from homeport.ground.secrets import Scrubber, Secret
from homeport.machine import orphans, reaper

_POSIX: Final = frozenset(
    {"HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"}
    | {"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME"}
    | {"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "SSL_CERT_FILE", "SSL_CERT_DIR"}
)
_WINDOWS: Final = frozenset(
    {"APPDATA", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LANG", "LOCALAPPDATA", "NUMBER_OF_PROCESSORS", "PATH", "PATHEXT"}
    | {"PROCESSOR_ARCHITECTURE", "PROGRAMDATA", "PROGRAMFILES", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP"}
    | {"USERNAME", "USERPROFILE", "WINDIR"}
)
_CONTROL: Final = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)|[\x00-\x08\x0b-\x1f\x7f-\x9f]"
)


def minimal_environment(environment: Mapping[str, str], platform: str) -> dict[str, str]:
    """What a child gets of our environment: where things are and how to show text; no token, key or proxy password.

    `platform` is a `sys.platform` value. Shell functions exported as variables are left out.
    """
    if platform == "win32":
        return {name: value for name, value in environment.items() if name.upper() in _WINDOWS}
    return {
        name: value
        for name, value in environment.items()
        if (name in _POSIX or name.startswith("LC_")) and not value.startswith("()")
    }


class Ring:
    """The last bytes of a stream, as lines that are safe to show: scrubbed, without control characters."""

    def __init__(self, limit: int, scrub: Callable[[str], str]) -> None:
        self._limit = limit
        self._scrub = scrub
        self._data = bytearray()
        self._cut = False

    def add(self, data: bytes) -> None:
        """Take bytes; the oldest go."""
        self._data += data
        if len(self._data) > self._limit:
            self._cut = True
            del self._data[: len(self._data) - self._limit]

    def lines(self, last: int = 0) -> tuple[str, ...]:
        """The last lines, oldest first; 0: all that is kept."""
        data = bytes(self._data)
        # Half a line may hold half a secret, which no scrubber knows.
        text = (data.partition(b"\n")[2] if self._cut else data).decode("utf-8", "replace")
        lines = [_CONTROL.sub("", line) for line in self._scrub(text).splitlines()]
        return tuple(lines[-last:] if last else lines)


@dataclass(frozen=True, slots=True)
class Ears:
    """Who hears what a child does. Each is called on the event loop and must not block or raise."""

    output: Callable[[bytes], None]
    """Bytes of its standard output, as they come."""
    ended: Callable[[], None]
    """Once: its standard output is over, so nothing more will come."""


class Child:
    """A running program. Made by `Supervisor.spawn`; whoever asked for it closes it."""

    def __init__(self, supervisor: Supervisor, number: int, name: str, ears: Ears, ring: Ring) -> None:
        self.name = name
        self.pid = 0
        self.status: int | None = None
        """Exit status, negative for a signal; None while it runs (or when the reaper was lost)."""
        self._supervisor = supervisor
        self._number = number
        self._ears = ears
        self._ring = ring
        self._exited = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()
        self._stdin: asyncio.WriteTransport | None = None
        self._readers: list[asyncio.ReadTransport] = []
        self._over = False
        self._closing: asyncio.Task[None] | None = None

    @property
    def running(self) -> bool:
        """Whether it has not exited."""
        return not self._exited.is_set()

    def write(self, data: bytes) -> None:
        """Queue bytes for its standard input; nothing happens when that is closed."""
        if self._stdin is not None and not self._stdin.is_closing():
            self._stdin.write(data)

    @property
    def writable(self) -> bool:
        """Whether it reads what is written; when not, await `drained` before writing more."""
        return self._writable.is_set()

    async def drained(self) -> None:
        """Until its standard input takes more. Bound the wait."""
        await self._writable.wait()

    def pause(self) -> None:
        """Stop reading its standard output: our reader is full."""
        self._readers[0].pause_reading()

    def resume(self) -> None:
        """Read on."""
        self._readers[0].resume_reading()

    def stderr(self, last: int = 0) -> tuple[str, ...]:
        """The last lines of its standard error, scrubbed; 0: all that is kept."""
        return self._ring.lines(last)

    def how_it_ended(self) -> str:
        """In words: `exited with status 1`, `was ended by SIGKILL`."""
        if self.status is None:
            return "closed its output" if self.running else "ended"
        if self.status < 0:
            with contextlib.suppress(ValueError):
                return f"was ended by {signal.Signals(-self.status).name}"
            return f"was ended by signal {-self.status}"
        return f"exited with status {self.status}"

    async def wait(self, timeout: float) -> bool:
        """Whether it exits within that many seconds."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                await self._exited.wait()
        return not self.running

    async def close(self, grace: float | None = None) -> None:
        """End it: end of input, SIGTERM to its group, SIGKILL to its whole tree, `grace` seconds between. Never raises.

        Cancelling the caller does not stop it: a child that was told to end does end.
        """
        if self._closing is None:
            self._closing = asyncio.ensure_future(self._close(self._supervisor.grace if grace is None else grace))
        await asyncio.shield(self._closing)

    async def _close(self, grace: float) -> None:
        if self._stdin is not None:
            self._stdin.close()
        if not await self.wait(grace):
            await self._supervisor.signal(self._number, signal.SIGTERM)
            if not await self.wait(grace):
                await self._supervisor.destroy(self._number)
                await self.wait(5.0)
        # Only what it never read keeps the pipe open; aborting one that is closing would close it twice (asyncio 3.11).
        if self._stdin is not None and self._stdin.get_write_buffer_size():
            self._stdin.abort()
        for transport in self._readers:
            transport.close()
        await self._supervisor.forget(self._number)

    def attach(self, stdin: asyncio.WriteTransport, readers: list[asyncio.ReadTransport]) -> None:
        """Take over the pipes; the supervisor calls it."""
        self._stdin, self._readers = stdin, readers

    def exited(self, status: int | None) -> None:
        """The reaper saw it end; the supervisor calls it."""
        self.status = status
        self._exited.set()
        # Its tree is dead, so its output ends at once; a stray that escaped may still hold the pipe.
        if not self._over and self._readers:
            asyncio.get_running_loop().call_later(0.25, self._readers[0].close)

    def received(self, data: bytes) -> None:
        """Bytes of standard output."""
        if not self._over:
            self._ears.output(data)

    def output_over(self) -> None:
        """End of standard output."""
        if not self._over:
            self._over = True
            self._ears.ended()

    def complained(self, data: bytes) -> None:
        """Bytes of standard error."""
        self._ring.add(data)

    def input_over(self) -> None:
        """It closed its standard input. It may still answer; whoever waits for room must not wait for ever."""
        self._stdin = None
        self._writable.set()

    def flow(self, *, on: bool) -> None:
        """Whether the pipe to it has room."""
        (self._writable.set if on else self._writable.clear)()


class _Input(asyncio.BaseProtocol):
    """The writing end of a child's standard input."""

    def __init__(self, child: Child) -> None:
        self._child = child

    def pause_writing(self) -> None:
        self._child.flow(on=False)

    def resume_writing(self) -> None:
        self._child.flow(on=True)

    def connection_lost(self, exc: Exception | None) -> None:
        self._child.input_over()


class _Output(asyncio.Protocol):
    """The reading end of a pipe."""

    def __init__(self, data: Callable[[bytes], None], over: Callable[[], None]) -> None:
        self._data = data
        self._over = over

    def data_received(self, data: bytes) -> None:
        self._data(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._over()


@dataclass(slots=True)
class _Line:
    """The connection to one reaper process."""

    process: subprocess.Popen[bytes]
    commands: socket.socket
    events: asyncio.ReadTransport | None = None
    buffer: bytearray = field(default_factory=bytearray)


class Supervisor:
    """Owns every child of this process. `close` ends them all; so does our death."""

    def __init__(self, state: Path, *, environment: Mapping[str, str], limits: Limits = DEFAULT) -> None:
        """`state` is the user's state directory; `environment` what every child gets (see `minimal_environment`)."""
        self._records = state / "children"
        self._environment = dict(environment)
        self._limits = limits
        self._line: _Line | None = None
        self._gone: list[_Line] = []
        """Reapers that ended before us."""
        self._starting = asyncio.Lock()
        self._sending = threading.Lock()
        self._next = 1
        self._children: dict[int, Child] = {}
        self._replies: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._closed = False

    @property
    def grace(self) -> float:
        """Seconds between the steps of ending a child."""
        return self._limits.close_grace

    async def spawn(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str | Secret],
        name: str,
        ears: Ears,
        scrub: Scrubber | None = None,
    ) -> Child:
        """Start a program in its own session. `argv[0]` without a slash is searched on the child's PATH.

        Raises `Unavailable`: `child.not_found`, `child.not_executable`, `child.no_directory`, `child.not_started`.
        """
        environment = self._environment | {
            key: value.reveal() if isinstance(value, Secret) else value for key, value in env.items()
        }
        program = _program(argv[0], cwd, environment)
        line = await self._reaper()
        number, self._next = self._next, self._next + 1
        child = Child(self, number, name, ears, Ring(self._limits.stderr_ring, scrub or Scrubber()))
        command = {"op": "spawn", "id": number, "argv": [program, *argv[1:]], "cwd": str(cwd), "env": environment}
        reply = self._replies[number] = asyncio.get_running_loop().create_future()
        self._children[number] = child
        theirs, ours = _pipes()
        try:
            await self._attach(child, ours)
            # From here on the sending thread owns the child's ends.
            sent, theirs = theirs, ()
            await self._send(line, command, sent)
            event = await asyncio.wait_for(reply, self._limits.connect_timeout)
        except TimeoutError:
            await child.close(0)
            raise Unavailable(
                f"{name} could not be started: the reaper does not answer", code="child.not_started"
            ) from None
        except asyncio.CancelledError:
            await child.close(0)
            raise
        finally:
            self._replies.pop(number, None)
            for descriptor in theirs:
                os.close(descriptor)
        if "error" in event:
            child.exited(None)
            await child.close(0)
            raise Unavailable(
                f"{argv[0]} could not be started: {event['error']}",
                code="child.not_started",
                remedy=f"run {argv[0]} in a terminal and see what it says",
            )
        child.pid = event["pid"]
        return child

    async def _attach(self, child: Child, ours: tuple[int, ...]) -> None:
        loop = asyncio.get_running_loop()
        stdin, stdout, stderr = (os.fdopen(fd, mode, 0) for fd, mode in zip(ours, ("wb", "rb", "rb"), strict=True))
        writer, _ = await loop.connect_write_pipe(partial(_Input, child), stdin)
        output, _ = await loop.connect_read_pipe(partial(_Output, child.received, child.output_over), stdout)
        errors, _ = await loop.connect_read_pipe(partial(_Output, child.complained, _nothing), stderr)
        child.attach(writer, [output, errors])

    async def signal(self, number: int, which: int) -> None:
        """Signal a child's process group."""
        await self._try({"op": "signal", "id": number, "signal": int(which)})

    async def destroy(self, number: int) -> None:
        """SIGKILL to a child's group and to what escaped from it."""
        await self._try({"op": "destroy", "id": number})

    async def forget(self, number: int) -> None:
        """A child is closed; the supervisor need not know it any more."""
        self._children.pop(number, None)

    async def _try(self, command: dict[str, Any]) -> None:
        if self._line is not None:
            with contextlib.suppress(Unavailable):
                await self._send(self._line, command, ())

    async def _send(self, line: _Line, command: dict[str, Any], descriptors: tuple[int, ...]) -> None:
        """In a thread: a stopped reaper must not stop the event loop. The thread owns and closes `descriptors`."""
        body = json.dumps(command).encode("ascii")

        def send() -> None:
            try:
                with self._sending:
                    socket.send_fds(line.commands, [len(body).to_bytes(4, "big")], descriptors)
                    line.commands.sendall(body)
            finally:
                for descriptor in descriptors:
                    os.close(descriptor)

        try:
            await asyncio.shield(asyncio.to_thread(send))
        except OSError as error:
            raise Unavailable(f"the reaper is gone: {error}", code="child.not_started") from None

    async def _reaper(self) -> _Line:
        async with self._starting:
            if self._closed:
                raise Unavailable("shutting down", code="child.not_started")
            if self._line is None:
                self._line = await self._start()
            return self._line

    async def _start(self) -> _Line:
        await asyncio.to_thread(private_directory, self._records)
        await asyncio.to_thread(orphans.sweep, self._records)
        token = secrets.token_hex(16)
        ours, theirs = socket.socketpair()
        read, write = os.pipe()
        argv = [sys.executable, "-I", "-S", reaper.__file__, str(self._records / f"{token}.jsonl"), token]
        try:
            process = await asyncio.to_thread(_detached, argv, theirs, write)
        finally:
            theirs.close()
            os.close(write)
        line = _Line(process, ours)
        loop = asyncio.get_running_loop()
        protocol = partial(_Output, partial(self._heard, line), partial(self._lost, line))
        line.events, _ = await loop.connect_read_pipe(protocol, os.fdopen(read, "rb", 0))
        return line

    def _heard(self, line: _Line, data: bytes) -> None:
        line.buffer += data
        *events, rest = line.buffer.split(b"\n")
        line.buffer[:] = rest
        for text in events:
            event: dict[str, Any] = json.loads(text)
            number = event["id"]
            reply, child = self._replies.get(number), self._children.get(number)
            if "status" in event:
                if child is not None:
                    child.exited(event["status"])
            elif reply is not None and not reply.done():
                reply.set_result(event)

    def _lost(self, line: _Line) -> None:
        """The reaper ended first: end what it started, as it would have done."""
        if self._line is line:
            self._line = None
            self._gone.append(line)
            line.commands.close()
        for child in list(self._children.values()):
            if child.running:
                if child.pid:
                    reaper.kill_group(child.pid, signal.SIGKILL)
                child.exited(None)
        for reply in self._replies.values():
            if not reply.done():
                reply.set_result({"error": "the reaper ended"})

    async def close(self) -> None:
        """End every child and the reaper. Never raises."""
        async with self._starting:
            self._closed = True
        await asyncio.gather(*(child.close() for child in list(self._children.values())))
        line, self._line = self._line, None
        if line is not None:
            line.commands.close()
            self._gone.append(line)
        while self._gone:
            await _bury(self._gone.pop())


async def _bury(line: _Line) -> None:
    """Wait for a reaper whose commands are over; it has 5 s to end its children."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        await asyncio.to_thread(line.process.wait, 5.0)
    if line.process.returncode is None:
        line.process.kill()
        await asyncio.to_thread(line.process.wait)
    if line.events is not None:
        line.events.close()


def _detached(argv: list[str], commands: socket.socket, events: int) -> subprocess.Popen[bytes]:
    """The reaper, out of reach of the terminal's signals, with nothing of our environment."""
    return subprocess.Popen(
        argv, stdin=commands.fileno(), stdout=events, stderr=subprocess.DEVNULL, env={}, cwd="/", start_new_session=True
    )


def _nothing() -> None:
    """Heard, and nothing to do."""


def _pipes() -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The child's ends and ours of its three standard streams."""
    (stdin, to), (out, stdout), (err, stderr) = os.pipe(), os.pipe(), os.pipe()
    return (stdin, stdout, stderr), (to, out, err)


def _program(name: str, cwd: Path, environment: Mapping[str, str]) -> str:
    """The absolute path of a program. Raises `Unavailable` with what a person can do about it."""
    if not cwd.is_dir():
        raise Unavailable(
            f"its working directory {cwd} does not exist",
            code="child.no_directory",
            remedy=f"make {cwd}, or change `cwd` of this server in homeport.toml",
        )
    if "/" in name or os.sep in name:
        path = cwd / name
        if path.is_file() and os.access(path, os.X_OK):
            return str(path)
        if path.is_file():
            raise Unavailable(f"{path} is not executable", code="child.not_executable", remedy=f"chmod +x {path}")
        raise Unavailable(
            f"{path} does not exist",
            code="child.not_found",
            remedy="install it, or change `command` of this server in homeport.toml",
        )
    found = shutil.which(name, path=environment.get("PATH", os.defpath))
    if found is None:
        raise Unavailable(
            f"{name} is not on PATH",
            code="child.not_found",
            remedy=f"install {name}, or write its absolute path as `command` of this server in homeport.toml",
        )
    return str(Path(found).absolute())
