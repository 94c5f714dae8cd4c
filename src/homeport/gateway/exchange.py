"""One HTTP request and its answer: a JSON body, or an event stream from the first message that goes before it.

Nothing is paid for what does not happen: a call that is answered within a few milliseconds has no task beside it.
After `WATCH_AFTER` seconds somebody watches for the client to leave, which cancels a modern request; after a message,
or `PING_SECONDS` of waiting, the answer becomes a stream.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any, Final, TypeAlias

from homeport.gateway import outbox

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Fields: TypeAlias = Sequence[tuple[bytes, bytes]]

WATCH_AFTER: Final = 0.02
STALL_SECONDS: Final = 30.0
"""A client that takes nothing for this long counts as gone."""

JSON: Final = (b"content-type", b"application/json")


class Reply:
    """A complete HTTP answer."""

    __slots__ = ("body", "fields", "status")

    def __init__(self, status: int, body: bytes = b"", fields: Fields = ()) -> None:
        self.status = status
        self.body = body
        self.fields = fields


class Exchange:
    """Answers one request. `push` sends a message before the answer; it never blocks."""

    def __init__(self, receive: Receive, send: Send, *, leaving_cancels: bool) -> None:
        self._receive = receive
        self._send = send
        self._leaving_cancels = leaving_cancels
        self._outbox: outbox.Outbox | None = None
        self._writer: asyncio.Task[None] | None = None
        self._watcher: asyncio.Task[None] | None = None
        self._fields: Fields = ()
        self._working = False
        self._gone = False

    def push(self, message: bytes) -> None:
        """One message for the client, before the answer."""
        if self._gone:
            return
        if self._outbox is None:
            self._outbox = outbox.Outbox()
        self._outbox.put(message)
        if self._writer is None:
            self._writer = asyncio.ensure_future(self._write(self._outbox))

    async def answer(self, work: Awaitable[Reply], fields: Fields = ()) -> None:
        """Await the work and send its reply; `fields` go on a stream's head too.

        Returns without an answer when the client left. Raises what the work raises, streams ended.
        """
        self._fields = fields
        task = asyncio.current_task()
        loop = asyncio.get_running_loop()
        timers = [loop.call_later(outbox.PING_SECONDS, self._start_stream)]
        if self._leaving_cancels and task is not None:
            timers.append(loop.call_later(WATCH_AFTER, self._start_watching, task))
        reply: Reply | None = None
        self._working = True
        try:
            reply = await work
        except asyncio.CancelledError:
            if not self._gone or task is None:
                raise
            task.uncancel()
        finally:
            self._working = False
            for timer in timers:
                timer.cancel()
            await self._finish(reply)

    async def stream(self, box: outbox.Outbox) -> None:
        """Send everything of an outbox as events until it is closed or the client leaves."""
        task = asyncio.current_task()
        self._working = True
        if task is not None:
            self._start_watching(task)
        try:
            await self._write(box)
        except asyncio.CancelledError:
            if not self._gone or task is None:
                raise
            task.uncancel()
        finally:
            self._working = False
            box.close()
            self._stop_watching()

    async def _finish(self, reply: Reply | None) -> None:
        self._stop_watching()
        if self._writer is None or self._outbox is None:
            if reply is not None and not self._gone:
                await send_reply(self._send, reply)
            return
        if self._gone:
            self._writer.cancel()
        self._outbox.close(b"" if reply is None else reply.body)
        await asyncio.wait((self._writer,), timeout=STALL_SECONDS)
        if not self._writer.done():
            self._writer.cancel()

    def _start_stream(self) -> None:
        if self._writer is None and not self._gone:
            self._outbox = outbox.Outbox()
            self._writer = asyncio.ensure_future(self._write(self._outbox))

    def _start_watching(self, task: asyncio.Task[Any]) -> None:
        self._watcher = asyncio.ensure_future(self._watch(task))

    def _stop_watching(self) -> None:
        if self._watcher is not None:
            self._watcher.cancel()

    async def _watch(self, task: asyncio.Task[Any]) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        if self._working:
            self._gone = True
            task.cancel()

    async def _write(self, box: outbox.Outbox) -> None:
        """Write a stream to its end; a client that stalls or breaks the connection has left."""
        try:
            await self._write_stream(box)
        except (TimeoutError, OSError):
            self._gone = True
            box.close()

    async def _write_stream(self, box: outbox.Outbox) -> None:
        fields = [*outbox.HEADERS, *self._fields]
        await self._send({"type": "http.response.start", "status": 200, "headers": fields})
        await self._event(b"")
        while (messages := await box.take()) is not None:
            await self._event(b"".join(map(outbox.event, messages)) if messages else outbox.PING)
        await self._send({"type": "http.response.body", "body": b""})

    async def _event(self, data: bytes) -> None:
        async with asyncio.timeout(STALL_SECONDS):
            await self._send({"type": "http.response.body", "body": data, "more_body": True})


async def send_reply(send: Send, reply: Reply) -> None:
    """Send a complete answer."""
    fields = [*reply.fields, (b"content-length", str(len(reply.body)).encode())]
    if reply.body:
        fields.append(JSON)
    await send({"type": "http.response.start", "status": reply.status, "headers": fields})
    await send({"type": "http.response.body", "body": reply.body})


async def read_body(receive: Receive, limit: int, patience: float) -> bytes | None:
    """The whole body; None when it has more than `limit` bytes. Raises `TimeoutError`, `ConnectionError`."""
    parts: list[bytes] = []
    size = 0
    async with asyncio.timeout(patience):
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ConnectionError("the client left in the middle of its request")
            part: bytes = message.get("body", b"")
            size += len(part)
            if size > limit:
                return None
            parts.append(part)
            if not message.get("more_body", False):
                return parts[0] if len(parts) == 1 else b"".join(parts)
