"""The two kinds of caller this edge makes: what a call may send back to its client while it runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

import msgspec
from msgspec import Raw, Struct

from homeport.calls.ports import Client
from homeport.gateway import translate
from homeport.gateway.messages import notification, text
from homeport.upstreams.session import Era, Reply

LEVELS: Final = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
MESSAGE: Final = "notifications/message"

Push = Callable[[bytes], None]
"""Takes one message for the client; never blocks, and drops it when the client is slow or gone."""


class _Level(Struct, gc=False):
    level: str = ""


class _Info(Struct, gc=False):
    name: str = ""
    version: str = ""


class ModernCaller:
    """A client of 2026-07-28: it is told what belongs to its call, and is asked nothing."""

    __slots__ = ("_level", "_push", "client")

    def __init__(self, client: Client, push: Push, level: str) -> None:
        self.client = client
        self._push = push
        self._level = level

    def notify(self, method: str, params: bytes) -> None:
        """Pass progress on, and log messages from the level that this request named; none if it named none."""
        if method != MESSAGE or loud_enough(params, self._level):
            self._push(notification(method, params))

    async def ask(self, method: str, params: bytes) -> Reply:
        """Refused by name: the way of this era to ask is a result, and the server's is a request."""
        return Reply(error=translate.asked_back_refusal(method))


class LegacyCaller:
    """A client with a session: it is told by its session's log level, and asked over the stream of its call."""

    __slots__ = ("_ask", "_level", "_push", "client")

    def __init__(
        self,
        client: Client,
        push: Push,
        level: Callable[[], str],
        ask: Callable[[str, bytes, Push], Awaitable[Reply]],
    ) -> None:
        self.client = client
        self._push = push
        self._level = level
        self._ask = ask

    def notify(self, method: str, params: bytes) -> None:
        """Pass progress on, and log messages from the session's level; without one, all of them."""
        level = self._level()
        if method != MESSAGE or not level or loud_enough(params, level):
            self._push(notification(method, params))

    async def ask(self, method: str, params: bytes) -> Reply:
        """Put a server's request to the client."""
        return await self._ask(method, params, self._push)


def loud_enough(params: bytes, level: str) -> bool:
    """Whether a log message is at or above a level; an unknown level of its own counts as loud."""
    if level not in LEVELS:
        return False
    try:
        said = msgspec.json.decode(params, type=_Level).level
    except msgspec.MsgspecError:
        return False
    return said not in LEVELS or LEVELS.index(said) >= LEVELS.index(level)


def client_of(edge: str, era: Era, *, info: Raw | bytes, capabilities: Raw | bytes, session: str) -> Client:
    """Who speaks, by its own account."""
    raw = bytes(info) or b"{}"
    try:
        known = msgspec.json.decode(raw, type=_Info)
    except msgspec.MsgspecError:
        raw, known = b"{}", _Info()
    declared = bytes(capabilities)
    return Client(
        edge=edge,
        era=era,
        name=known.name[:200],
        version=known.version[:200],
        session=session,
        capabilities=declared if declared[:1] == b"{" else b"{}",
        info=raw,
    )


def level_of(raw: Raw | bytes | None) -> str | None:
    """A log level as written; None for anything that is no level."""
    level = text(raw)
    return level if level in LEVELS else None
