"""What happens, told live to whoever listens: the console, `homeport audit --follow`, the gateway's `list_changed`.

A slow listener never holds up a call: its queue is bounded, the oldest events go first and it learns how many it lost.
Everything here runs on the event loop's thread.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, Self

from homeport.calls.ports import AuditRow

QUEUE: Final = 1_000
"""Events kept for one listener that does not read."""


class Topic(StrEnum):
    """What an event is about; the values are the SSE event names of the console."""

    CALL = "call"
    """An `AuditRow` was written: `row`."""
    SERVER = "server"
    """An upstream's state changed."""
    ROSTER = "roster"
    """Another roster is in force; lists may have changed."""
    AVAILABILITY = "availability"
    """A server was withheld or came back: `server`, `withheld` (a code, or empty), `sentence`."""
    APPROVAL = "approval"
    """A call waits for an answer, or no longer does: `id`, `state`."""
    DRIFT = "drift"
    """A server's live surface differs from the lock, or no longer does: `server`, `tools`."""
    JOURNAL = "journal"
    """The journal cannot be written, or can again: `writable`, `text`."""
    FAULT = "fault"
    """Something a person should see: `code`, `text`, `remedy`."""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened. `data` holds JSON values only; `row` is set for `Topic.CALL`."""

    topic: Topic
    data: Mapping[str, Any] = field(default_factory=dict[str, Any])
    row: AuditRow | None = None


class Subscription:
    """One listener's queue; iterate it. Ends when the bus or the subscription is closed."""

    def __init__(self, forget: Callable[[Subscription], None], size: int) -> None:
        self._forget = forget
        self._events: deque[Event] = deque(maxlen=size)
        self._wake = asyncio.Event()
        self._closed = False
        self.lost = 0
        """Events dropped since the listener last looked; it resets this itself."""

    def put(self, event: Event) -> None:
        """Queue an event; the bus calls this."""
        if len(self._events) == self._events.maxlen:
            self.lost += 1
        self._events.append(event)
        self._wake.set()

    def close(self) -> None:
        """Stop listening; the iteration ends after what is queued."""
        self._closed = True
        self._wake.set()
        self._forget(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aiter__(self) -> AsyncIterator[Event]:
        while True:
            while self._events:
                yield self._events.popleft()
            if self._closed:
                return
            self._wake.clear()
            await self._wake.wait()


class Bus:
    """Bounded fan-out to live listeners. Implements `calls.ports.Observer` for the journal's rows."""

    def __init__(self) -> None:
        self._subscriptions: set[Subscription] = set()
        self._callbacks: dict[object, Callable[[Event], None]] = {}

    def publish(self, event: Event) -> None:
        """Give an event to every listener; never blocks."""
        for callback in tuple(self._callbacks.values()):
            callback(event)
        for subscription in tuple(self._subscriptions):
            subscription.put(event)

    def observe(self, row: AuditRow) -> None:
        """A row that is in the journal."""
        if self._subscriptions or self._callbacks:
            self.publish(Event(Topic.CALL, row=row))

    def subscribe(self, size: int = QUEUE) -> Subscription:
        """A queue of at most `size` events from now on; close it, or use it in a `with` block."""
        subscription = Subscription(self._subscriptions.discard, size)
        self._subscriptions.add(subscription)
        return subscription

    def listen(self, callback: Callable[[Event], None]) -> Callable[[], None]:
        """Call `callback` at every event, at once; it must neither block nor raise. Returns how to stop."""
        mark = object()
        self._callbacks[mark] = callback

        def stop() -> None:
            self._callbacks.pop(mark, None)

        return stop

    @property
    def listeners(self) -> int:
        """Open subscriptions."""
        return len(self._subscriptions)

    def close(self) -> None:
        """End every subscription."""
        for subscription in tuple(self._subscriptions):
            subscription.close()
