"""Requests of revisions up to 2025-11-25: the handshake, then requests that belong to a session."""

from __future__ import annotations

import asyncio
from typing import Final

from msgspec import Raw

from homeport.gateway.answers import Answer
from homeport.gateway.callers import LegacyCaller, Push, client_of, level_of
from homeport.gateway.faults import Fault
from homeport.gateway.lists import supported
from homeport.gateway.messages import Notification, Request, Response, text
from homeport.gateway.relay import Relay, dispatch
from homeport.gateway.routing import Target
from homeport.gateway.sessions import LegacySession
from homeport.upstreams.session import Era, Reply

INITIALIZE: Final = "initialize"
_EMPTY: Final = Answer(result=b"{}")


class CancelledByClient(Exception):
    """The client took its request back: it gets no answer."""


class Legacy:
    """The legacy side of the gateway, for HTTP and for the socket."""

    def __init__(self, relay: Relay) -> None:
        self._relay = relay

    async def initialize(self, request: Request, target: Target, *, edge: str, session: str) -> LegacySession:
        """A session for this client, not kept anywhere yet; its lists are ready. Raises `Fault`."""
        version = text(request.params.get("protocolVersion"))
        if version is None:
            raise Fault("params.protocolVersion is missing", code="rpc.params")
        client = client_of(
            edge,
            Era.LEGACY,
            info=request.params.get("clientInfo", Raw(b"{}")),
            capabilities=request.params.get("capabilities", Raw(b"{}")),
            session=session,
        )
        await self._relay.lists.catalogue(target)
        return LegacySession(session, target, client, supported(version))

    def welcome(self, session: LegacySession) -> Answer:
        """The result of `initialize`."""
        return Answer(result=self._relay.lists.current(session.target).initialized(session.version))

    async def serve(self, request: Request, session: LegacySession, push: Push) -> Answer:
        """Answer a request of a session. Raises `Fault`, `CancelledByClient`."""
        task = asyncio.current_task()
        if task is None:  # pragma: no cover
            raise RuntimeError("a request is served by a task")
        session.begin(request.id, task)
        cancelled = False
        try:
            return await self._serve(request, session, push)
        except asyncio.CancelledError:
            cancelled = session.end(request.id)
            if not cancelled:
                raise
            task.uncancel()
            raise CancelledByClient from None
        finally:
            if not cancelled:
                session.end(request.id)

    async def _serve(self, request: Request, session: LegacySession, push: Push) -> Answer:
        if request.method == "ping":
            return _EMPTY
        if request.method == "logging/setLevel":
            level = level_of(request.params.get("level"))
            if level is None:
                raise Fault("params.level is none of the eight log levels", code="rpc.params")
            session.level = level
            return _EMPTY
        if request.method == INITIALIZE:
            raise Fault("this session is initialized already", code="rpc.invalid")
        caller = LegacyCaller(session.client, push, lambda: session.level, session.ask)
        return await dispatch(self._relay, request, session.target, caller)

    def notified(self, notification: Notification, session: LegacySession) -> None:
        """Take a notification; unknown ones are ignored, as JSON-RPC says."""
        if notification.method == "notifications/initialized":
            session.initialized = True
        elif notification.method == "notifications/cancelled":
            session.cancel(bytes(notification.params.get("requestId", b"")))

    def answered(self, response: Response, session: LegacySession) -> None:
        """Take the client's answer to what a server asked."""
        session.answered(response.id, Reply(result=response.result, error=response.error))
