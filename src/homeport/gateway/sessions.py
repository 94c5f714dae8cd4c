"""Legacy sessions: what revisions up to 2025-11-25 keep between two requests."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Iterable
from typing import Final

import msgspec
from msgspec import Raw

from homeport.calls.ports import Client
from homeport.gateway.callers import Push
from homeport.gateway.faults import INTERNAL, Fault
from homeport.gateway.messages import request as request_line
from homeport.gateway.outbox import Outbox
from homeport.gateway.routing import Target
from homeport.gateway.translate import error_object
from homeport.upstreams.session import Reply

IDLE_SECONDS: Final = 1800.0
MAX_SESSIONS: Final = 10_000
MAX_RUNNING: Final = 256
"""Requests of one session in flight."""
ANSWER_SECONDS: Final = 600.0
"""A person may take this long to answer what a server asks."""

CAPABILITY_OF: Final = {
    "elicitation/create": "elicitation",
    "sampling/createMessage": "sampling",
    "roots/list": "roots",
}


class LegacySession:
    """One initialized client."""

    def __init__(self, identity: str, target: Target, client: Client, version: str) -> None:
        self.id = identity
        self.target = target
        self.client = client
        self.version = version
        self.level = ""
        self.initialized = False
        self.used = 0.0
        self.outbox: Outbox | None = None
        """Of the stream for messages that belong to no request, while one is open."""
        self._running: dict[bytes, asyncio.Task[object]] = {}
        self._cancelled: set[bytes] = set()
        self._asked: dict[bytes, asyncio.Future[Reply]] = {}
        self._last = 0

    @property
    def in_flight(self) -> int:
        """Its requests in flight."""
        return len(self._running)

    def begin(self, request: bytes, task: asyncio.Task[object]) -> None:
        """A request is in flight. Raises `Fault` for an id that is in flight already, and for too many."""
        if request in self._running:
            raise Fault("a request with this id is in flight", code="rpc.invalid")
        if len(self._running) >= MAX_RUNNING:
            raise Fault(f"{MAX_RUNNING} requests of this session are in flight", code="rpc.invalid")
        self._running[request] = task

    def end(self, request: bytes) -> bool:
        """A request is no longer in flight; whether its client cancelled it."""
        self._running.pop(request, None)
        cancelled = request in self._cancelled
        self._cancelled.discard(request)
        return cancelled

    def cancel(self, request: bytes) -> None:
        """The client cancels a request of its own; an unknown one is ignored."""
        task = self._running.get(request)
        if task is not None:
            self._cancelled.add(request)
            task.cancel()

    async def ask(self, method: str, params: bytes, push: Push) -> Reply:
        """Put a server's request to the client, on the stream of the call it belongs to."""
        if not self.can_be_asked(method):
            return Reply(error=error_object(INTERNAL, f"this client cannot be asked for {method}", _CANNOT))
        self._last += 1
        identity = b'"homeport-%d"' % self._last
        waiting: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._asked[identity] = waiting
        try:
            push(request_line(identity, method, params))
            async with asyncio.timeout(ANSWER_SECONDS):
                return await waiting
        except TimeoutError:
            return Reply(error=error_object(INTERNAL, f"the client did not answer {method} in time", _SILENT))
        finally:
            self._asked.pop(identity, None)

    def can_be_asked(self, method: str) -> bool:
        """Whether the client said, when it initialized, that it answers such requests."""
        name = CAPABILITY_OF.get(method)
        return name is not None and name in _members(self.client.capabilities)

    def answered(self, identity: bytes, reply: Reply) -> None:
        """The client answers; to what is not asked, or not any more, nothing happens."""
        waiting = self._asked.get(identity)
        if waiting is not None and not waiting.done():
            waiting.set_result(reply)

    def close(self) -> None:
        """End what runs for it."""
        for task in tuple(self._running.values()):
            task.cancel()
        if self.outbox is not None:
            self.outbox.close()


class Sessions:
    """The legacy sessions of one gateway, over HTTP. `clock` is monotonic seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._open: dict[str, LegacySession] = {}

    def add(self, session: LegacySession) -> None:
        """Keep a new session; when there are too many, the one unused for longest ends."""
        self.expire()
        if len(self._open) >= MAX_SESSIONS:
            self.drop(min(self._open.values(), key=lambda one: one.used).id)
        session.used = self._clock()
        self._open[session.id] = session

    def get(self, identity: str, target: Target) -> LegacySession | None:
        """A session of this very endpoint; another's id opens nothing."""
        session = self._open.get(identity)
        if session is None or session.target != target:
            return None
        session.used = self._clock()
        return session

    def drop(self, identity: str) -> None:
        """End a session."""
        session = self._open.pop(identity, None)
        if session is not None:
            session.close()

    def running(self, identity: str) -> int:
        """Requests of a session in flight."""
        session = self._open.get(identity)
        return session.in_flight if session else 0

    def expire(self) -> None:
        """End the sessions that nobody used for `IDLE_SECONDS` and nobody listens to."""
        oldest = self._clock() - IDLE_SECONDS
        for session in [one for one in self._open.values() if one.used < oldest and one.outbox is None]:
            self.drop(session.id)

    def all(self) -> Iterable[LegacySession]:
        """Every open session."""
        return tuple(self._open.values())

    def __len__(self) -> int:
        return len(self._open)


def new_identity() -> str:
    """An id that cannot be guessed, in visible ASCII."""
    return secrets.token_urlsafe(24)


_CANNOT: Final = {"code": "client.cannot_be_asked"}
_SILENT: Final = {"code": "client.silent"}


def _members(raw: bytes) -> dict[str, Raw]:
    try:
        return msgspec.json.decode(raw, type=dict[str, Raw])
    except msgspec.MsgspecError:
        return {}
