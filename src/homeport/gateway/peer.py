"""One MCP client on the socket: lines in, lines out, in whichever era each request is."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final, Protocol

from homeport.gateway import messages, modern
from homeport.gateway.answers import Answer
from homeport.gateway.callers import Push
from homeport.gateway.endpoint import Gateway
from homeport.gateway.faults import INTERNAL, Fault, error_members
from homeport.gateway.legacy import INITIALIZE, CancelledByClient
from homeport.gateway.lists import CHANGED, ListKind
from homeport.gateway.messages import Notification, Request
from homeport.gateway.modern import DISCOVER, LISTEN
from homeport.gateway.routing import Target
from homeport.gateway.sessions import MAX_RUNNING, LegacySession, new_identity
from homeport.ground.errors import HomeportError

_log = logging.getLogger("homeport.gateway")

INITIALIZED: Final = "notifications/initialized"
CANCELLED: Final = "notifications/cancelled"


class Wire(Protocol):
    """The connection below."""

    def push(self, message: bytes) -> None:
        """Send a message that may be dropped while the client does not read."""
        ...

    def write(self, message: bytes) -> None:
        """Send an answer."""
        ...

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run work that ends with the connection."""
        ...


class Peer:
    """The conversation of one connection."""

    def __init__(self, gateway: Gateway, target: Target, wire: Wire, *, resumed: bool) -> None:
        self._gateway = gateway
        self._target = target
        self._wire = wire
        self._resumed = resumed
        self._session: LegacySession | None = None
        self._unlisten: Callable[[], None] | None = None
        self._running: dict[bytes, asyncio.Task[None] | None] = {}
        """None: cancelled by the client and not over yet."""
        self._held: list[bytes] | None = None
        """Lines that came while the handshake was being answered."""
        self._subscriptions: dict[bytes, tuple[Request, Callable[[], None]]] = {}

    def line(self, line: bytes) -> None:
        """One message of the client."""
        if self._held is not None:
            self._held.append(line)
            return
        try:
            message = messages.read(line, depth=self._gateway.limits.depth)
        except Fault as fault:
            self._wire.write(messages.error_of(fault.request, messages.encode(error_members(fault))))
            return
        if isinstance(message, Request):
            self._request(message)
        elif isinstance(message, Notification):
            self._notified(message)
        elif self._session is not None:
            self._gateway.legacy.answered(message, self._session)

    def no_more_requests(self) -> None:
        """The client closed its end: subscriptions are over, answers are still wanted."""
        for _, stop in self._subscriptions.values():
            stop()
        self._subscriptions.clear()

    def close(self) -> None:
        """End the conversation from our side; an open subscription gets the result that says so."""
        if self._unlisten is not None:
            self._unlisten()
            self._unlisten = None
        for request, stop in self._subscriptions.values():
            stop()
            self._wire.write(messages.result_of(request.id, modern.ended(request)))
        self._subscriptions.clear()
        if self._session is not None:
            self._session.close()

    def _request(self, request: Request) -> None:
        if request.id in self._running or request.id in self._subscriptions or len(self._running) >= MAX_RUNNING:
            self._refuse(request, Fault("this id is in flight, or too many are", code="rpc.invalid"))
        elif modern.says_modern(request) or request.method == DISCOVER:
            self._modern(request)
        elif self._session is None and request.method == INITIALIZE:
            self._held = []
            self._spawn(request, lambda: self._initialize(request))
        elif self._session is None and request.method != "ping":
            self._refuse(request, _not_initialized())
        else:
            session = self._session
            self._spawn(request, lambda: self._legacy(request, session))

    def _modern(self, request: Request) -> None:
        try:
            meta = self._gateway.modern.admit(request, None)
            if request.method == LISTEN:
                stop = self._gateway.modern.listen(request, self._target, self._wire.push)
                self._subscriptions[request.id] = (request, stop)
                return
        except Fault as fault:
            self._refuse(request, fault)
            return
        push = self._push_of(request)
        serve = self._gateway.modern.serve
        self._spawn(request, lambda: serve(request, meta, self._target, None, edge="socket", push=push))

    async def _initialize(self, request: Request) -> Answer:
        legacy = self._gateway.legacy
        self._session = await legacy.initialize(request, self._target, edge="socket", session=new_identity())
        self._unlisten = self._gateway.listeners.add(
            self._target, list(ListKind), lambda kind: self._wire.push(messages.notification(CHANGED[kind]))
        )
        return legacy.welcome(self._session)

    async def _legacy(self, request: Request, session: LegacySession | None) -> Answer:
        if session is None:
            return Answer(result=b"{}")
        return await self._gateway.legacy.serve(request, session, self._push_of(request))

    def _notified(self, notification: Notification) -> None:
        if notification.method == CANCELLED:
            self._cancel(bytes(notification.params.get("requestId", b"")))
        if self._session is None:
            return
        self._gateway.legacy.notified(notification, self._session)
        if notification.method == INITIALIZED and self._resumed:
            # The client knows the lists of the gateway before this one.
            for kind in ListKind:
                self._wire.push(messages.notification(CHANGED[kind]))

    def _cancel(self, identity: bytes) -> None:
        subscription = self._subscriptions.pop(identity, None)
        if subscription is not None:
            subscription[1]()
            return
        task = self._running.get(identity)
        if task is not None:
            self._running[identity] = None
            task.cancel()

    def _push_of(self, request: Request) -> Push:
        """What belongs to a request is sent only while it is in flight."""

        def push(message: bytes) -> None:
            if self._running.get(request.id) is not None:
                self._wire.push(message)

        return push

    def _spawn(self, request: Request, work: Callable[[], Awaitable[Answer]]) -> None:
        task = self._wire.spawn(self._answer(request, work))
        self._running[request.id] = task
        task.add_done_callback(lambda _: self._running.pop(request.id, None))

    async def _answer(self, request: Request, work: Callable[[], Awaitable[Answer]]) -> None:
        try:
            body = await _body(request, work)
        except CancelledByClient:
            return
        self._wire.write(body)
        if request.method == INITIALIZE:
            held, self._held = self._held or [], None
            for line in held:
                self.line(line)

    def _refuse(self, request: Request, fault: Fault) -> None:
        self._wire.write(messages.error_of(request.id, messages.encode(error_members(fault))))


async def _body(request: Request, work: Callable[[], Awaitable[Answer]]) -> bytes:
    try:
        answer = await work()
    except HomeportError as error:
        return messages.error_of(request.id, messages.encode(error_members(error)))
    except CancelledByClient:
        raise
    except Exception:  # noqa: BLE001  # the boundary of a request: a bug in one must not end the others
        _log.exception("%s failed", request.method)
        return messages.error_of(request.id, messages.encode({"code": INTERNAL, "message": "internal error"}))
    if answer.result is not None:
        return messages.result_of(request.id, answer.result)
    return messages.error_of(request.id, answer.error or b"{}")


def _not_initialized() -> Fault:
    return Fault("initialize first, or send the _meta members of 2026-07-28 with every request", code="rpc.invalid")
