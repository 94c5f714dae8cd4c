"""Server-sent events to one browser: `call` with its row, `state` for all else, `missed` after it was too slow."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from homeport.calls.events import Event, Topic
from homeport.console.answers import ALWAYS, encoded
from homeport.gateway import outbox
from homeport.gateway.exchange import STALL_SECONDS, Receive, Send
from homeport.gateway.outbox import Outbox

HELLO: Final = b"retry: 1000\n\n"
STATE: Final = b"event: state\ndata: {}\n\n"
MISSED: Final = b"event: missed\ndata: {}\n\n"


def framed(event: Event) -> bytes:
    """An event as the browser reads it. JSON holds no raw line break, so the row is one `data` line."""
    if event.topic is Topic.CALL and event.row is not None:
        return b"event: call\ndata: %b\n\n" % encoded(event.row)
    return STATE


class EventStream:
    """One open stream. `put` is the listener; `run` sends until the browser leaves, `close`, or the session ends."""

    def __init__(self, receive: Receive, send: Send, valid: Callable[[], bool]) -> None:
        self._receive = receive
        self._send = send
        self._valid = valid
        self._box = Outbox()

    def put(self, event: Event) -> None:
        """Queue an event; the oldest ones go when the browser does not read."""
        self._box.put(framed(event))

    def close(self) -> None:
        """End it after what is queued."""
        self._box.close()

    async def run(self) -> None:
        """Serve it to its end; never raises for a browser that leaves or stalls."""
        watcher = asyncio.ensure_future(self._watch())
        try:
            await self._write()
        except (TimeoutError, OSError):
            pass
        finally:
            self._box.close()
            watcher.cancel()
            await asyncio.wait((watcher,))

    async def _watch(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._box.close()

    async def _write(self) -> None:
        fields = [*outbox.HEADERS, *ALWAYS]
        await self._send({"type": "http.response.start", "status": 200, "headers": fields})
        await self._part(HELLO)
        lost = 0
        while (parts := await self._box.take()) is not None and self._valid():
            if self._box.dropped > lost:
                lost = self._box.dropped
                parts.append(MISSED)
            await self._part(b"".join(parts) or outbox.PING)
        await self._send({"type": "http.response.body", "body": b""})

    async def _part(self, data: bytes) -> None:
        async with asyncio.timeout(STALL_SECONDS):
            await self._send({"type": "http.response.body", "body": data, "more_body": True})
