"""A bounded queue of messages towards one client, and the server-sent events they become."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final

QUEUE_BYTES: Final = 1024 * 1024
"""What waits for a client that does not read; then the oldest notifications are dropped, never an answer."""

PING_SECONDS: Final = 15.0
PING: Final = b": \r\n\r\n"
HEADERS: Final = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
]


class Outbox:
    """Messages in order. `put` never blocks; `take` waits for the next ones."""

    def __init__(self, limit: int = QUEUE_BYTES) -> None:
        self._limit = limit
        self._waiting: deque[bytes] = deque()
        self._size = 0
        self._wake = asyncio.Event()
        self.closed = False
        self.dropped = 0

    def put(self, message: bytes) -> None:
        """Add a notification; when the client is too slow the oldest one goes."""
        if self.closed:
            return
        self._waiting.append(message)
        self._size += len(message)
        while self._size > self._limit and len(self._waiting) > 1:
            self._size -= len(self._waiting.popleft())
            self.dropped += 1
        self._wake.set()

    def close(self, last: bytes = b"") -> None:
        """Nothing comes after `last`."""
        if self.closed:
            return
        if last:
            self._waiting.append(last)
        self.closed = True
        self._wake.set()

    async def take(self, patience: float = PING_SECONDS) -> list[bytes] | None:
        """What waits now or next; empty after `patience` seconds of silence; None once all was taken and it closed."""
        if not self._waiting and not self.closed:
            try:
                async with asyncio.timeout(patience):
                    await self._wake.wait()
            except TimeoutError:
                return []
        taken = list(self._waiting)
        self._waiting.clear()
        self._size = 0
        self._wake.clear()
        if taken:
            return taken
        return None if self.closed else []


def event(message: bytes) -> bytes:
    """One JSON-RPC message as an event. Line breaks between its tokens would end the field, so they become blanks."""
    if b"\n" in message or b"\r" in message:
        message = message.replace(b"\n", b" ").replace(b"\r", b" ")
    return b"event: message\r\ndata: %b\r\n\r\n" % message
