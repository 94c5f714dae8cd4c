"""The shared HTTP client of upstream sessions: one connection pool, one TLS context, no request off its origin.

Loaded only when a server has a URL.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Generator, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urljoin, urlsplit

import aiohttp

from homeport.ground.errors import InvalidInput, ProtocolViolation, Unavailable
from homeport.ground.limits import Limits
from homeport.ground.secrets import Secret

MAX_REDIRECTS: Final = 3
KEEP_ALIVE: Final = 4.0
"""Seconds an idle connection is kept: shorter than servers do, since a request written into one that the server is
closing must not be sent again."""
_OURS: Final = frozenset(
    {"accept", "content-type", "content-length", "transfer-encoding", "connection", "host", "te", "upgrade"}
)


@dataclass(frozen=True, slots=True)
class Target:
    """A server's endpoint and the credentials that belong to its origin."""

    name: str
    url: str
    headers: Mapping[str, Secret]


def target(name: str, url: str, headers: Mapping[str, Secret]) -> Target:
    """A checked target. Raises `InvalidInput` (`upstream.url`, `upstream.header`)."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidInput(f"the url of {name} is not http:// or https://", code="upstream.url")
    for field, value in headers.items():
        if field.lower() in _OURS or field.lower().startswith("mcp-"):
            raise InvalidInput(f"the header {field} of {name} is set by the protocol", code="upstream.header")
        if any(character in value.reveal() for character in "\r\n\0"):
            raise InvalidInput(f"the header {field} of {name} has a line end in its value", code="upstream.header")
    return Target(name, url, headers)


def origin(url: str) -> tuple[str, str, int]:
    """Scheme, host and port."""
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)


class Web:
    """HTTP requests to servers. Redirects are followed within the origin only; no cookies, no proxies' passwords."""

    def __init__(self, limits: Limits) -> None:
        """Nothing is opened before the first request."""
        self._limits = limits
        self._session: aiohttp.ClientSession | None = None

    def _client(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEP_ALIVE),
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=self._limits.connect_timeout),
                headers={"User-Agent": "homeport", "Accept-Encoding": "identity"},
            )
        return self._session

    @contextlib.asynccontextmanager
    async def send(
        self, to: Target, method: str, headers: Mapping[str, str], body: bytes | None = None
    ) -> AsyncGenerator[aiohttp.ClientResponse]:
        """One request; leaving the block early closes its connection, which is how a modern call is cancelled.

        Raises `Unavailable`: `upstream.closed` when nothing was written, `upstream.outcome_unknown` when the connection
        ended later, `upstream.redirected`.
        """
        url, fields = to.url, {name: value.reveal() for name, value in to.headers.items()} | dict(headers)
        for _ in range(MAX_REDIRECTS + 1):
            response = await self._dial(to, method, url, fields, body)
            try:
                location = response.headers.get("Location", "")
                if response.status not in (301, 302, 303, 307, 308):
                    with _translated(to):
                        yield response
                    return
            finally:
                # Read to its end it has gone back to the pool; otherwise this closes the connection.
                response.close()
            url = _within_origin(to, url, location, response.status)
        raise Unavailable(f"{to.name} redirects without end", code="upstream.redirected")

    async def _dial(
        self, to: Target, method: str, url: str, fields: Mapping[str, str], body: bytes | None
    ) -> aiohttp.ClientResponse:
        with _translated(to):
            return await self._client().request(method, url, data=body, headers=fields, allow_redirects=False)

    async def close(self) -> None:
        """Close every connection."""
        if self._session is not None:
            await self._session.close()
            self._session = None


def _within_origin(to: Target, url: str, location: str, status: int) -> str:
    """Where a redirect leads. Raises `Unavailable` when it leaves the origin, or would turn a POST into a GET."""
    after = urljoin(url, location)
    if status in (307, 308) and location and origin(after) == origin(to.url):
        return after
    scheme, host, port = origin(after)
    raise Unavailable(
        f"{to.name} redirects to {scheme}://{host}:{port}" if location else f"{to.name} redirects to nowhere",
        code="upstream.redirected",
        remedy="write the address it redirects to as `url` of this server in homeport.toml, if you trust it",
    )


def _shown_origin(to: Target) -> str:
    scheme, host, port = origin(to.url)
    return f"{scheme}://{host}:{port}"


def _reach(to: Target) -> str:
    host = origin(to.url)[1]
    return f"see that the server at {host} runs and that `url` of this server in homeport.toml is right"


@contextlib.contextmanager
def _translated(to: Target) -> Generator[None]:
    """Errors of the client as ours."""
    try:
        yield
    except aiohttp.ClientConnectorError as error:
        reason = error.os_error.strerror or str(error.os_error) if error.os_error else str(error)
        raise Unavailable(
            f"{to.name} cannot be reached at {_shown_origin(to)}: {reason}",
            code="upstream.closed",
            remedy=_reach(to),
        ) from None
    except aiohttp.ConnectionTimeoutError:
        raise Unavailable(
            f"{to.name} cannot be reached at {_shown_origin(to)}: no answer to the dial",
            code="upstream.closed",
            remedy=_reach(to),
        ) from None
    except (aiohttp.ServerConnectionError, aiohttp.ClientOSError, aiohttp.ClientPayloadError) as error:
        raise Unavailable(
            f"{to.name}: the connection ended ({type(error).__name__}); whether the call took effect is unknown",
            code="upstream.outcome_unknown",
        ) from None
    except aiohttp.ClientError as error:
        raise ProtocolViolation(
            f"{to.name} does not speak HTTP as it should ({type(error).__name__})",
            code="upstream.not_http",
            whose="upstream",
        ) from None


async def read(response: aiohttp.ClientResponse, limit: int) -> bytes:
    """The whole body. Raises `ProtocolViolation` (`upstream.message_too_large`)."""
    pieces: list[bytes] = []
    size = 0
    async for piece in response.content.iter_any():
        size += len(piece)
        if size > limit:
            raise ProtocolViolation(
                f"a body of more than {limit} bytes", code="upstream.message_too_large", whose="upstream"
            )
        pieces.append(piece)
    return b"".join(pieces)
