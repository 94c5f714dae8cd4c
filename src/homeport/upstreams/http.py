"""The session with a server behind a URL: Streamable HTTP of both eras, answers as JSON or as an event stream."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Coroutine
from typing import Any

from homeport.ground.errors import HomeportError, ProtocolViolation, Unavailable
from homeport.ground.secrets import Secret
from homeport.upstreams import changes, era, wire
from homeport.upstreams.http_call import Call
from homeport.upstreams.http_endpoint import Endpoint, is_stream
from homeport.upstreams.session import Era, Exchange, Negotiated, Reply
from homeport.upstreams.sse import Events
from homeport.upstreams.stdio import Terms
from homeport.upstreams.web import Target, Web, read, target


class HttpSession:
    """A `Session` over Streamable HTTP. Modern: each request stands alone. Legacy: a session with an id."""

    def __init__(self, to: Target, terms: Terms, web: Web, *, owns_web: bool) -> None:
        """Not open yet: `open_http` makes one and opens it."""
        self._terms = terms
        self._web = web
        self._owns_web = owns_web
        self._endpoint = Endpoint(to, terms, web, self._expired)
        self._next = 1
        self._ended = False
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def negotiated(self) -> Negotiated:
        """What the server said when the session opened."""
        if self._endpoint.negotiated is None:
            raise Unavailable(f"{self._terms.name} is not open yet", code="upstream.closed")
        return self._endpoint.negotiated

    @property
    def alive(self) -> bool:
        """Whether another request may be sent."""
        return not self._ended

    async def request(self, method: str, params: bytes, exchange: Exchange | None = None) -> Reply:
        """Send once and await the response; see `Session.request`."""
        if self._ended:
            raise Unavailable(f"{self._terms.name} is closed", code="upstream.closed")
        exchange = exchange or Exchange()
        headers = self._endpoint.headers(method, params, exchange)
        number, self._next = self._next, self._next + 1
        params, token = wire.swap_progress_token(params, number)
        call = Call(self._endpoint, number, method, exchange, token)
        try:
            return await call.run(headers, wire.request(number, method, params))
        except asyncio.CancelledError:
            self._cancelled(number, "cancelled by the caller")
            raise
        except TimeoutError:
            self._cancelled(number, "timed out")
            raise Unavailable(
                f"{self._terms.name} did not answer {method} within {exchange.timeout:g} s", code="upstream.timeout"
            ) from None

    def _cancelled(self, number: int, reason: str) -> None:
        # A modern server takes the closed stream for it; a legacy one must be told.
        if self._endpoint.legacy and not self._ended:
            params = wire.encode({"requestId": number, "reason": reason})
            self._keep(self._endpoint.post_aside(wire.notification("notifications/cancelled", params)))

    async def notify(self, method: str, params: bytes) -> None:
        """Send a notification; no answer."""
        headers = self._endpoint.headers(method, params)
        async with self._endpoint.post(headers, wire.notification(method, params)) as response:
            await read(response, self._terms.limits.message)

    def _expired(self) -> Unavailable:
        error = Unavailable(f"{self._terms.name} has ended the session", code="upstream.closed")
        if not self._ended:
            self._ended = True
            self._terms.ended(error)
        return error

    def _keep(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """End it; a legacy session is deleted on the server. Never raises."""
        was_open, self._ended = not self._ended, True
        for task in list(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(list(self._tasks))
        if was_open:
            await self._endpoint.delete()
        if self._owns_web:
            await self._web.close()

    async def open(self, known: Era | None) -> None:
        """Find out what the server speaks. Raises as `open_http` says; then nothing is left open."""
        try:
            async with asyncio.timeout(self._terms.limits.connect_timeout):
                self._endpoint.negotiated = None if known is Era.LEGACY else await self._probe()
                if self._endpoint.negotiated is None:
                    await self._initialize()
        except TimeoutError:
            await self.close()
            raise Unavailable(
                f"{self._terms.name} did not answer within {self._terms.limits.connect_timeout:g} s",
                code="upstream.timeout",
            ) from None
        except BaseException:
            await self.close()
            raise
        if self.negotiated.era is Era.LEGACY:
            self._keep(self._hear())
        elif (listening := changes.listen(self)) is not None:
            self._tasks.add(listening)
            listening.add_done_callback(self._tasks.discard)

    async def _probe(self) -> Negotiated | None:
        """The modern session; None when what answers is not modern."""
        terms = self._terms
        params = era.discover_params(terms.client_info, terms.capabilities)
        try:
            reply = await self.request("server/discover", params, Exchange(timeout=terms.limits.probe_timeout))
        except Unavailable as error:
            if error.code in ("upstream.http_status", "upstream.timeout", "upstream.outcome_unknown"):
                return None
            raise
        except ProtocolViolation:
            return None
        return era.judge_probe(reply, terms.client_info, terms.capabilities)

    async def _initialize(self) -> None:
        params = era.initialize_params(self._terms.client_info, self._terms.capabilities)
        self._endpoint.negotiated = era.from_initialize(
            await self.request("initialize", params, Exchange(timeout=math.inf))
        )
        await self.notify("notifications/initialized", b"{}")

    async def _hear(self) -> None:
        """The stream on which a legacy server says what belongs to no request, taken up again while the session is."""
        pause, last = 1.0, ""
        while not self._ended:
            events = Events(self._terms.limits.message)
            with contextlib.suppress(HomeportError):
                if not await self._hear_once(events, last):
                    return
                pause = 1.0
            last = events.last_id or last
            await asyncio.sleep(pause if events.retry_ms is None else events.retry_ms / 1000)
            pause = min(pause * 2, 60.0)

    async def _hear_once(self, events: Events, last: str) -> bool:
        """One stream to its end; whether the server offers one at all."""
        async with self._endpoint.stream(last) as response:
            if not is_stream(response):
                return False
            async for piece in response.content.iter_any():
                for event in events.feed(piece):
                    self._said(event.data)
        return True

    def _said(self, data: bytes) -> None:
        match wire.parse(data):
            case wire.Told(method, params):
                self._terms.heard(method, params)
            case wire.Asked(identity, method, _):
                # It belongs to no call, so there is no caller to ask.
                refusal = wire.error_object(-32603, "no caller can be asked")
                reply = Reply(result=b"{}") if method == "ping" else Reply(error=refusal)
                self._keep(self._endpoint.post_aside(wire.response(identity, reply)))
            case _:
                pass


async def open_http(
    url: str, headers: dict[str, Secret], terms: Terms, known: Era | None = None, web: Web | None = None
) -> HttpSession:
    """Open a session with the server behind a URL.

    Raises `InvalidInput` (`upstream.url`, `upstream.header`), `Unavailable` (`upstream.closed` when it cannot be
    reached, `upstream.unauthorized`, `upstream.redirected`, `upstream.http_status`, `upstream.timeout`,
    `upstream.version`, `upstream.refused`), `ProtocolViolation` (`upstream.*`).
    """
    session = HttpSession(target(terms.name, url, headers), terms, web or Web(terms.limits), owns_web=web is None)
    await session.open(known)
    return session
