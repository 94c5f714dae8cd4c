"""The Unix socket of a gateway: for `homeport connect` (MCP, one message a line) and for this user's own commands.

A connection begins with one hello line, `{"homeport":1,"kind":"mcp","profile":"default"}` or
`{"homeport":1,"kind":"operator"}`, and one answer, `{"homeport":1}` or an error. Who may come in is decided by the
directory (0700) and by the uid of the peer. After that an MCP connection carries JSON-RPC in either era; an operator's
carries `{"id":…,"verb":…,"params":{…}}` a line, answered by `{"id":…,"result":…}` or `{"id":…,"error":{…}}`.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import select
import socket
import struct
import sys
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

import msgspec

from homeport.gateway import messages
from homeport.gateway.endpoint import Gateway
from homeport.gateway.peer import Peer
from homeport.ground.errors import HomeportError, InvalidInput, Place, Refused, Unavailable
from homeport.ground.limits import DEFAULT, Limits

HELLO_SECONDS: Final = 10.0
HELLO_BYTES: Final = 4096
PROTOCOL: Final = 1
FINISH_SECONDS: Final = 30.0
"""What a client asked before it closed its end is answered within this, then cancelled."""

GONE_SECONDS: Final = 0.1
"""Between two looks whether a client that asks nothing more is still there."""

Operator: TypeAlias = Callable[[str, Mapping[str, Any]], Awaitable[Any]]
"""Carries out a verb of this user's commands; what it returns becomes JSON. Raises the five families."""

_log = logging.getLogger("homeport.gateway")


class Hello(msgspec.Struct):
    """The first line."""

    homeport: int
    kind: str = "mcp"
    profile: str = "default"
    resumed: bool = False
    pid: int = 0


class Asked(msgspec.Struct):
    """An operator's request."""

    verb: str
    id: int | str | None = None
    params: dict[str, Any] = {}


class LocalServer:
    """Listens on a socket. `start`, then `close`."""

    def __init__(self, gateway: Gateway, path: Path, operator: Operator, limits: Limits = DEFAULT) -> None:
        self.gateway = gateway
        self.operator = operator
        self.limits = limits
        self._path = path
        self._server: asyncio.Server | None = None
        self._connections: set[Connection] = set()

    @property
    def clients(self) -> int:
        """Open MCP connections."""
        return sum(1 for connection in self._connections if connection.serves_mcp)

    async def start(self) -> None:
        """Listen. A socket left behind by a killed gateway is replaced: the claim says that nobody uses it.

        Raises `Unavailable` (`gateway.socket`).
        """
        with contextlib.suppress(FileNotFoundError):
            self._path.unlink()
        before = os.umask(0o177)
        try:
            self._server = await asyncio.get_running_loop().create_unix_server(
                lambda: Connection(self), str(self._path)
            )
        except OSError as error:
            raise Unavailable(
                f"cannot listen: {error.strerror}", code="gateway.socket", place=Place(str(self._path))
            ) from None
        finally:
            os.umask(before)

    async def close(self) -> None:
        """End every connection and remove the socket."""
        if self._server is not None:
            self._server.close()
        await asyncio.gather(*(connection.close() for connection in tuple(self._connections)))
        if self._server is not None:
            await self._server.wait_closed()
        self._path.unlink(missing_ok=True)

    def opened(self, connection: Connection) -> None:
        """A connection is there."""
        self._connections.add(connection)

    def closed(self, connection: Connection) -> None:
        """A connection is gone."""
        self._connections.discard(connection)


class Connection(asyncio.Protocol):
    """One client: bytes into lines, lines to whoever the hello line named."""

    def __init__(self, server: LocalServer) -> None:
        self._server = server
        self._transport: asyncio.Transport | None = None
        self._rest = bytearray()
        self._peer: Peer | None = None
        self._operator = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._deadline: asyncio.TimerHandle | None = None
        self._slow = False
        self._finished = False

    @property
    def serves_mcp(self) -> bool:
        """Whether it said hello as an MCP client."""
        return self._peer is not None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """asyncio.Protocol."""
        # uvloop's transports have asyncio's methods and not its classes.
        opened = self._transport = cast("asyncio.Transport", transport)
        if not _same_user(opened):
            opened.abort()
            return
        self._server.opened(self)
        self._deadline = asyncio.get_running_loop().call_later(HELLO_SECONDS, opened.abort)

    def data_received(self, data: bytes) -> None:
        """asyncio.Protocol."""
        self._rest += data
        if self._rest.find(b"\n", max(0, len(self._rest) - len(data))) >= 0:
            *lines, rest = self._rest.split(b"\n")
            self._rest = rest
            for line in lines:
                if line.strip():
                    self._line(bytes(line))
        if len(self._rest) > (self._server.limits.message if self._greeted else HELLO_BYTES):
            self._refuse("a message is too long", "message.too_long")

    def eof_received(self) -> bool:
        """asyncio.Protocol: the client asks nothing more; what it asked is answered first."""
        self._finished = True
        if self._peer is not None:
            self._peer.no_more_requests()
        if not self._tasks:
            return False
        self._wait_for_tasks(asyncio.get_running_loop().time() + FINISH_SECONDS)
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        """asyncio.Protocol: the client is gone, and with it whoever wanted the answers."""
        if self._deadline is not None:
            self._deadline.cancel()
        if self._peer is not None:
            self._peer.close()
        for task in tuple(self._tasks):
            task.cancel()
        self._server.closed(self)

    def pause_writing(self) -> None:
        """asyncio.Protocol: the client does not read; it is not read from either."""
        self._slow = True
        if self._transport is not None and not self._finished:
            self._transport.pause_reading()

    def resume_writing(self) -> None:
        """asyncio.Protocol."""
        self._slow = False
        if self._transport is not None and not self._finished:
            self._transport.resume_reading()

    def push(self, message: bytes) -> None:
        """A notification or a request for the client; dropped while it does not read."""
        if not self._slow:
            self.write(message)

    def write(self, message: bytes) -> None:
        """One message, one line."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(messages.one_line(message) + b"\n")

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Work of this connection; it ends with it."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    async def close(self) -> None:
        """End it from our side: subscriptions get their last message, calls are cancelled."""
        if self._peer is not None:
            self._peer.close()
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=5)
        if self._transport is not None:
            self._transport.close()

    @property
    def _greeted(self) -> bool:
        return self._peer is not None or self._operator

    def _line(self, line: bytes) -> None:
        self._server.gateway.touch()
        if self._peer is not None:
            self._peer.line(line)
        elif self._operator:
            self.spawn(self._serve_operator(line))
        else:
            self._hello(line)

    def _hello(self, line: bytes) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        try:
            hello = msgspec.json.decode(line, type=Hello)
        except msgspec.MsgspecError:
            self._refuse("the first line is no hello", "hello.invalid")
            return
        if hello.homeport != PROTOCOL:
            self._refuse("this gateway speaks version 1 of the local protocol", "hello.version", "homeport down")
        elif hello.kind == "operator":
            self._operator = True
            self.write(b'{"homeport":1}')
        elif hello.kind == "mcp":
            self._admit(hello)
        else:
            self._refuse("a connection is for mcp or for an operator", "hello.kind")

    def _admit(self, hello: Hello) -> None:
        try:
            target = self._server.gateway.local_target(hello.profile)
        except Refused as refused:
            self._refuse(refused.message, refused.code, refused.remedy)
            return
        self._peer = Peer(self._server.gateway, target, self, resumed=hello.resumed)
        self.write(b'{"homeport":1}')

    def _refuse(self, message: str, code: str, remedy: str = "") -> None:
        self.write(messages.encode({"homeport": 1, "error": {"code": code, "message": message, "remedy": remedy}}))
        if self._transport is not None:
            self._transport.close()

    async def _serve_operator(self, line: bytes) -> None:
        try:
            asked = msgspec.json.decode(line, type=Asked)
        except msgspec.MsgspecError as error:
            self.write(_told(None, InvalidInput(f"no request for a verb: {error}", code="operator.request")))
            return
        try:
            result = await self._server.operator(asked.verb, asked.params)
        except HomeportError as error:
            self.write(_told(asked.id, error))
        except Exception:  # noqa: BLE001  # the boundary of a request: a bug in one verb must not end the gateway
            _log.exception("the verb %s failed", asked.verb)
            self.write(_told(asked.id, HomeportError("internal error; the log has it", code="internal")))
        else:
            self.write(messages.encode({"id": asked.id, "result": result}))

    def _wait_for_tasks(self, until: float) -> None:
        """Wait for what was asked, unless the client is gone altogether: then nobody wants the answers."""
        loop = asyncio.get_running_loop()
        if self._transport is None or _gone(self._transport) or loop.time() > until:
            self._abort()
        else:
            self._deadline = loop.call_later(GONE_SECONDS, self._wait_for_tasks, until)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            _log.error("a local request failed", exc_info=task.exception())
        if self._finished and not self._tasks and self._transport is not None:
            self._transport.close()

    def _abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()


def _told(identity: int | str | None, error: HomeportError) -> bytes:
    return messages.encode({"id": identity, "error": operator_error(error)})


def operator_error(error: HomeportError) -> dict[str, str]:
    """An error of ours for the command at the other end, which raises it again."""
    return {"family": error.family, "code": error.code, "message": str(error), "remedy": error.remedy}


def _gone(transport: asyncio.Transport) -> bool:
    """Whether the peer closed both directions; a read tells only of one. Only Linux says so."""
    if sys.platform != "linux":
        return False
    poll = select.poll()
    poll.register(transport.get_extra_info("socket").fileno(), 0)
    return any(event & select.POLLHUP for _, event in poll.poll(0))


def _same_user(transport: asyncio.Transport) -> bool:
    if sys.platform != "linux":
        return True  # the directory's mode decides alone
    raw = transport.get_extra_info("socket").getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    _, uid, _ = struct.unpack("3i", raw)
    return uid == os.getuid()
