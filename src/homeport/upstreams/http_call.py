"""One request over HTTP and the stream of its answer: progress, what the server asks back, streams taken up again."""

from __future__ import annotations

import asyncio
import math
from typing import Final

import aiohttp
import msgspec

from homeport.ground.errors import HomeportError, ProtocolViolation, Unavailable
from homeport.upstreams import changes, wire
from homeport.upstreams.http_endpoint import Endpoint, is_stream
from homeport.upstreams.multiplex import ASKABLE
from homeport.upstreams.session import Exchange, Reply
from homeport.upstreams.sse import Events
from homeport.upstreams.web import read

MAX_RESUMES: Final = 100
"""Times that one answer's stream may end and be taken up again (legacy)."""


class Call:
    """One request and the stream of its answer."""

    def __init__(
        self, endpoint: Endpoint, number: int, method: str, exchange: Exchange, token: msgspec.Raw | None
    ) -> None:
        self._endpoint = endpoint
        self._number = number
        self._method = method
        self._exchange = exchange
        self._token = token
        self._name = endpoint.terms.name
        self._limits = endpoint.terms.limits
        self._scope = asyncio.timeout(None)
        self._deadline = math.inf
        self._reply: Reply | None = None

    async def run(self, headers: dict[str, str], body: bytes) -> Reply:
        """The answer. Raises `TimeoutError` when it does not come."""
        if self._exchange.timeout != math.inf:
            self._deadline = asyncio.get_running_loop().time() + self._limits.call_total
        async with self._scope:
            self._restart()
            events = Events(self._limits.message)
            async with self._endpoint.post(headers, body) as response:
                await self._opened(response, events)
            for _ in range(MAX_RESUMES):
                if self._reply is not None:
                    return self._reply
                if not events.last_id or not self._endpoint.legacy:
                    break
                await asyncio.sleep((events.retry_ms or 1000) / 1000)
                events = await self._resume(events)
            if self._reply is not None:
                return self._reply
        raise Unavailable(
            f"{self._name} ended the stream of {self._method} without an answer; whether it took effect is unknown",
            code="upstream.outcome_unknown",
        )

    async def _opened(self, response: aiohttp.ClientResponse, events: Events) -> None:
        if self._method == "initialize":
            self._endpoint.session_id = response.headers.get("Mcp-Session-Id", "")
        if is_stream(response):
            await self._follow(response, events)
            return
        body = await read(response, self._limits.message)
        answer = wire.parse(body)
        if isinstance(answer, wire.Answer) and not answer.fault and self._belongs(answer, response.status):
            self._reply = answer.reply
            return
        raise _bad_answer(self._name, self._method, response, answer)

    def _belongs(self, answer: wire.Answer, status: int) -> bool:
        # An HTTP error may carry a JSON-RPC error without an id: the request could not be read that far.
        return answer.id == self._number or (status >= 400 and answer.reply.error is not None)

    async def _resume(self, events: Events) -> Events:
        """Take up the stream where it ended (2025-11-25, *Resumability and Redelivery*)."""
        fresh = Events(self._limits.message)
        fresh.last_id, fresh.retry_ms = events.last_id, events.retry_ms
        async with self._endpoint.stream(events.last_id) as response:
            if is_stream(response):
                await self._follow(response, fresh)
            else:
                fresh.last_id = ""
        return fresh

    async def _follow(self, response: aiohttp.ClientResponse, events: Events) -> None:
        async for piece in response.content.iter_any():
            for event in events.feed(piece):
                await self._event(event.data)
                if self._reply is not None:
                    return

    async def _event(self, data: bytes) -> None:
        match wire.parse(data):
            case wire.Answer() as answer if answer.id == self._number:
                if answer.fault:
                    raise _violation(f"{self._name} answered {self._method} with {answer.fault}")
                self._reply = answer.reply
            case wire.Told(method, params):
                self._told(method, params)
            case wire.Asked() as asked if self._endpoint.legacy:
                await self._ask(asked)
            case _:
                pass

    def _told(self, method: str, params: bytes) -> None:
        if method == "notifications/progress":
            if wire.progress_token(params) != self._number:
                return
            self._restart()
            if self._token is None:
                return
            params = wire.with_members(params, progressToken=self._token)
        elif method in changes.LIST_CHANGED or method == "notifications/resources/updated":
            self._endpoint.terms.heard(method, params)
            return
        elif method == "notifications/subscriptions/acknowledged":
            return
        if self._exchange.on_notification is not None:
            self._exchange.on_notification(method, params)

    async def _ask(self, asked: wire.Asked) -> None:
        if asked.method == "ping":
            reply = Reply(result=b"{}")
        elif asked.method not in ASKABLE:
            reply = Reply(error=wire.error_object(-32601, "Method not found"))
        elif self._exchange.ask is None:
            reply = Reply(error=wire.error_object(-32603, "no caller can be asked"))
        else:
            # While a person thinks, the server's silence is not its own.
            self._scope.reschedule(None if self._deadline == math.inf else self._deadline)
            reply = await self._exchange.ask(asked.method, asked.params)
            self._restart()
        await self._endpoint.post_aside(wire.response(asked.id, reply))

    def _restart(self) -> None:
        if self._exchange.timeout != math.inf:
            now = asyncio.get_running_loop().time()
            self._scope.reschedule(min(now + self._exchange.timeout, self._deadline))


def _bad_answer(name: str, method: str, response: aiohttp.ClientResponse, answer: wire.Incoming) -> HomeportError:
    """What an HTTP answer that holds no response to the request means."""
    status = response.status
    if status in (401, 403):
        return _unauthorized(name, response)
    if status != 200:
        return Unavailable(f"{name} answered {method} with HTTP {status}", code="upstream.http_status")
    if isinstance(answer, wire.Answer):
        return _violation(f"{name} answered {method} with {answer.fault or 'a response to another request'}")
    return _violation(f"{name} answered {method} with {response.content_type}, not with MCP")


def _unauthorized(name: str, response: aiohttp.ClientResponse) -> Unavailable:
    """Nothing was given, or what was given was refused: two different mistakes."""
    given = "Authorization" in response.request_info.headers
    what = "did not accept the credentials" if given else "asks for credentials, and none are configured"
    setting = "the right Authorization" if given else 'Authorization = "Bearer {secret:NAME}"'
    offered = "resource_metadata" in response.headers.get("WWW-Authenticate", "")
    oauth = "; it offers OAuth: give a token that was obtained already" if offered else ""
    return Unavailable(
        f"{name} {what} (HTTP {response.status}){oauth}",
        code="upstream.unauthorized",
        remedy=f"set {setting} in `headers` of {name} in homeport.toml, its secret by: homeport secrets set NAME",
    )


def _violation(message: str) -> ProtocolViolation:
    return ProtocolViolation(message, code="upstream.not_a_response", whose="upstream")
