"""The session with a child process: started, its era found out, requests multiplexed over its streams."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from homeport.ground.errors import HomeportError, ProtocolViolation, Unavailable
from homeport.ground.limits import Limits
from homeport.machine.children import Child, Ears
from homeport.upstreams import changes, era
from homeport.upstreams.multiplex import Multiplexer
from homeport.upstreams.session import Era, Exchange, Negotiated, Reply

Starter = Callable[[Ears], Awaitable[Child]]
"""Starts the program; called again when a server dies of the question which era it speaks."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What a session is opened with, whatever the transport."""

    name: str
    """Of the server, for messages."""
    client_info: bytes
    """Raw JSON of `clientInfo` as told to the server."""
    capabilities: bytes
    """Raw JSON of the client capabilities told to the server."""
    limits: Limits
    heard: Callable[[str, bytes], None]
    """Every notification that belongs to no request: `(method, raw params)`."""
    ended: Callable[[HomeportError], None]
    """The session is over and nobody closed it; called once, why."""
    child: Callable[[Child], None]
    """A process was started for it (again, perhaps)."""


class StdioSession:
    """A `Session` over a child's standard streams."""

    def __init__(self, terms: Terms) -> None:
        """Not open yet: `open_stdio` makes one and opens it."""
        self._terms = terms
        self._child: Child | None = None
        self._negotiated: Negotiated | None = None
        self._closed = False
        self._finishing: asyncio.Task[None] | None = None
        self._listening: asyncio.Task[None] | None = None
        self._lines = Multiplexer(self._write, limits=terms.limits, heard=terms.heard, name=terms.name)

    @property
    def negotiated(self) -> Negotiated:
        """What the server said when the session opened."""
        if self._negotiated is None:
            raise Unavailable(f"{self._terms.name} is not open yet", code="upstream.closed")
        return self._negotiated

    @property
    def alive(self) -> bool:
        """Whether another request may be sent."""
        return not (self._closed or self._lines.failed)

    @property
    def child(self) -> Child | None:
        """The process."""
        return self._child

    @property
    def noise(self) -> tuple[int, str]:
        """How many lines were no messages, and the last of them."""
        return self._lines.noise, self._lines.last_noise

    async def request(self, method: str, params: bytes, exchange: Exchange | None = None) -> Reply:
        """Send once and await the response; see `Session.request`."""
        child = self._child
        if child is None or self._closed:
            raise Unavailable(f"{self._terms.name} is closed", code="upstream.closed")
        return await self._lines.request(
            method, params, exchange or Exchange(), ready=lambda: child.writable, drained=child.drained
        )

    async def notify(self, method: str, params: bytes) -> None:
        """Send a notification; no answer."""
        if self.alive:
            self._lines.notify(method, params)

    async def close(self) -> None:
        """End it within the close grace; never raises."""
        self._closed = True
        if self._listening is not None:
            self._listening.cancel()
        self._lines.fail(Unavailable(f"{self._terms.name} was stopped", code="upstream.closed"))
        if self._child is not None:
            await self._child.close()
        if self._finishing is not None:
            await asyncio.shield(self._finishing)

    def _write(self, line: bytes) -> None:
        if self._child is not None:
            self._child.write(line)

    def _received(self, data: bytes) -> None:
        self._lines.feed(data)
        if self._lines.failed:
            self._over()

    def _over(self) -> None:
        if self._finishing is None:
            self._finishing = asyncio.ensure_future(self._finish())

    async def _finish(self) -> None:
        """Its output ended, or broke: find out how the process ended, tell whoever waits, leave nothing running."""
        child = self._child
        if child is None:
            return
        # The exit status comes over another pipe and a little later than the end of output.
        await child.wait(0.3)
        error = Unavailable(
            f"{self._terms.name} {child.how_it_ended()}",
            code="upstream.exited",
            remedy=f"homeport logs {self._terms.name}",
        )
        self._lines.fail(error)
        if not self._closed:
            self._terms.ended(error)
        await child.close()

    async def open(self, start: Starter, known: Era | None) -> None:
        """Start the program and find out what it speaks. Raises as `open_stdio` says; then nothing is left running."""
        try:
            async with asyncio.timeout(self._terms.limits.connect_timeout):
                self._child = await start(Ears(self._received, self._over))
                self._terms.child(self._child)
                self._negotiated = await self._negotiate(known)
        except TimeoutError:
            await self.close()
            raise Unavailable(
                self._with_last_words(
                    f"{self._terms.name} did not answer within {self._terms.limits.connect_timeout:g} s"
                ),
                code="upstream.timeout",
                remedy=f"homeport logs {self._terms.name}",
            ) from None
        except BaseException:
            await self.close()
            raise
        self._lines.era = self._negotiated.era
        if self._negotiated.era is Era.LEGACY:
            self._lines.notify("notifications/initialized", b"{}")
        self._listening = changes.listen(self)

    async def _negotiate(self, known: Era | None) -> Negotiated:
        terms = self._terms
        if known is Era.LEGACY:
            return era.from_initialize(await self._initialize())
        asked = era.discover_params(terms.client_info, terms.capabilities)
        probe = asyncio.ensure_future(self._opening("server/discover", asked))
        try:
            await asyncio.wait((probe,), timeout=terms.limits.probe_timeout)
            if probe.done() and (found := self._judge(probe.result())):
                return found
            # Silence may also be a slow start: whichever question it answers with a result decides.
            reply = await self._initialize()
            if reply.result is None and probe.done() and (found := self._judge(probe.result())):
                return found
            return era.from_initialize(reply)
        finally:
            probe.cancel()
            with contextlib.suppress(asyncio.CancelledError, HomeportError):
                await probe

    def _judge(self, reply: Reply) -> Negotiated | None:
        return era.judge_probe(reply, self._terms.client_info, self._terms.capabilities)

    async def _initialize(self) -> Reply:
        return await self._opening(
            "initialize", era.initialize_params(self._terms.client_info, self._terms.capabilities)
        )

    async def _opening(self, method: str, params: bytes) -> Reply:
        """A request of the opening: the connect timeout bounds it, and nothing has taken effect if it fails."""
        try:
            return await self.request(method, params, Exchange(timeout=math.inf))
        except Unavailable as error:
            raise self._not_opened(error) from None

    def _not_opened(self, error: Unavailable) -> Unavailable:
        if self._child is None or error.code not in ("upstream.outcome_unknown", "upstream.closed"):
            return error
        words = f"{self._terms.name} {self._child.how_it_ended()} before it answered"
        return Unavailable(
            self._with_last_words(words), code="upstream.exited", remedy=f"homeport logs {self._terms.name}"
        )

    def _with_last_words(self, text: str) -> str:
        words = [line.strip() for line in (self._child.stderr(5) if self._child else ()) if line.strip()]
        count, last = self.noise
        if words:
            return f"{text}; its last words: {' / '.join(words[-2:])[:300]}"
        return f"{text}; it wrote what is not MCP: {last[:200]}" if count else text


async def open_stdio(start: Starter, terms: Terms, known: Era | None = None) -> StdioSession:
    """Start a program and open a session with it.

    `known` is what this program spoke before: a legacy one is not probed again. Raises `Unavailable`: `child.*` when it
    cannot be started, `upstream.exited`, `upstream.timeout`, `upstream.version`, `upstream.refused`;
    `ProtocolViolation` (`upstream.*`) when what it says is not MCP.
    """
    session = StdioSession(terms)
    try:
        await session.open(start, known)
    except (Unavailable, ProtocolViolation) as error:
        if known is not None or error.code != "upstream.exited":
            raise
        # Some servers die of a request before `initialize`. One that dies anyway says so once more.
        session = StdioSession(terms)
        await session.open(start, Era.LEGACY)
    return session
