"""One server's endpoint: which header fields a message carries, and posting it. Both eras."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable
from typing import Final

import aiohttp
import msgspec

from homeport.ground.errors import HomeportError, Unavailable
from homeport.surface.headers import encoded
from homeport.upstreams import wire
from homeport.upstreams.session import LATEST_MODERN, Era, Exchange, Negotiated
from homeport.upstreams.stdio import Terms
from homeport.upstreams.web import Target, Web, read

_POST: Final = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
_NAMED: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
GOODBYE: Final = 2.0
"""Seconds that a message nobody waits for may take."""


class Endpoint:
    """Where a session's messages go. It knows what was negotiated and the id of a legacy session."""

    def __init__(self, to: Target, terms: Terms, web: Web, expired: Callable[[], Unavailable]) -> None:
        """`expired` is called when the server no longer knows the session; it gives the error to raise."""
        self.terms = terms
        self.negotiated: Negotiated | None = None
        self.session_id = ""
        self._to = to
        self._web = web
        self._expired = expired

    @property
    def legacy(self) -> bool:
        """Whether a legacy session is open."""
        return self.negotiated is not None and self.negotiated.era is Era.LEGACY

    def headers(self, method: str, params: bytes, exchange: Exchange | None = None) -> dict[str, str]:
        """The fields of a POST: of the session in the legacy era, of the message in the modern one."""
        if method == "initialize":
            return dict(_POST)
        if self.negotiated is not None and self.negotiated.era is Era.LEGACY:
            fields = _POST | {"MCP-Protocol-Version": self.negotiated.version}
            return fields | {"Mcp-Session-Id": self.session_id} if self.session_id else fields
        version = self.negotiated.version if self.negotiated is not None else LATEST_MODERN
        fields = _POST | {"MCP-Protocol-Version": version, "Mcp-Method": method}
        if method in _NAMED:
            with contextlib.suppress(msgspec.DecodeError):
                name = msgspec.json.decode(wire.members(params).get(_NAMED[method], b"null"))
                if isinstance(name, str):
                    fields["Mcp-Name"] = encoded(name)
        return fields | dict(exchange.headers if exchange else ())

    @contextlib.asynccontextmanager
    async def post(self, headers: dict[str, str], body: bytes) -> AsyncGenerator[aiohttp.ClientResponse]:
        """Send one message. Raises what `Web.send` raises, and `Unavailable` when the session is gone."""
        async with self._web.send(self._to, "POST", headers, body) as response:
            if response.status == 404 and self.session_id:
                raise self._expired()
            yield response

    async def post_aside(self, body: bytes) -> None:
        """A message nobody waits for: bounded, and its failure changes nothing."""
        with contextlib.suppress(HomeportError, TimeoutError):
            async with asyncio.timeout(GOODBYE), self.post(self.headers("", b"{}"), body) as response:
                await read(response, self.terms.limits.message)

    @contextlib.asynccontextmanager
    async def stream(self, last_id: str) -> AsyncGenerator[aiohttp.ClientResponse]:
        """The GET stream of a legacy session, from the event after `last_id` if that is given."""
        headers = self.headers("", b"{}") | {"Accept": "text/event-stream"}
        headers.pop("Content-Type")
        if last_id:
            headers["Last-Event-ID"] = last_id
        async with self._web.send(self._to, "GET", headers) as response:
            if response.status == 404 and self.session_id:
                raise self._expired()
            yield response

    async def delete(self) -> None:
        """End a legacy session on the server."""
        if self.session_id:
            with contextlib.suppress(HomeportError, TimeoutError):
                async with asyncio.timeout(GOODBYE), self._web.send(self._to, "DELETE", self.headers("", b"{}")):
                    pass


def is_stream(response: aiohttp.ClientResponse) -> bool:
    """Whether an event stream came back."""
    return response.status == 200 and response.content_type == "text/event-stream"
