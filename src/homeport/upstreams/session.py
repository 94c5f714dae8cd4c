"""One negotiated conversation with a server: the small interface that stdio and HTTP legs implement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

LATEST_LEGACY = "2025-11-25"
LATEST_MODERN = "2026-07-28"
LEGACY_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
MODERN_VERSIONS = ("2026-07-28",)


class Era(StrEnum):
    """`legacy`: initialize handshake, revisions up to 2025-11-25. `modern`: 2026-07-28, stateless."""

    LEGACY = "legacy"
    MODERN = "modern"


@dataclass(frozen=True, slots=True)
class Negotiated:
    """What the server said when the session opened."""

    era: Era
    version: str
    server_info: bytes
    """Raw JSON of `serverInfo` (`{}` when it said none)."""
    capabilities: bytes
    """Raw JSON of `capabilities`."""
    instructions: str = ""
    meta: bytes = b"{}"
    """Raw JSON of the `_meta` that a request of our own must carry on this session; `{}` in the legacy era."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A response: exactly one of `result` and `error`, each the raw bytes of that member."""

    result: bytes | None = None
    error: bytes | None = None


class AskedBack(Protocol):
    """Answers a request that a legacy server sends while a call is in flight."""

    async def __call__(self, method: str, params: bytes) -> Reply:
        """The caller's answer. Never raises for a refusal: that is a `Reply` with `error`."""
        ...


@dataclass(frozen=True, slots=True)
class Exchange:
    """What belongs to one request beside its parameters."""

    on_notification: Callable[[str, bytes], None] | None = None
    """`(method, raw params)` of progress and log messages that belong to this request."""
    ask: AskedBack | None = None
    """None: whatever the server asks is answered with an error."""
    timeout: float = 60.0
    """Seconds of silence; a progress notification starts it anew."""
    headers: tuple[tuple[str, str], ...] = ()
    """`Mcp-Param-*` of a modern HTTP call."""


class Session(Protocol):
    """An open session. Cancelling the task that awaits `request` cancels the request upstream."""

    @property
    def negotiated(self) -> Negotiated:
        """What the server said when the session opened."""
        ...

    async def request(self, method: str, params: bytes, exchange: Exchange = ...) -> Reply:
        """Send once and await the response.

        `params` is the raw JSON object as it shall be sent, `_meta` included. Raises `Unavailable`:
        `upstream.closed` before anything was written, `upstream.outcome_unknown` when it was written and the
        connection ended, `upstream.timeout`; `ProtocolViolation(whose="upstream")` for an answer that is not one.
        """
        ...

    async def notify(self, method: str, params: bytes) -> None:
        """Send a notification; no answer."""
        ...

    @property
    def alive(self) -> bool:
        """Whether another request may be sent."""
        ...

    async def close(self) -> None:
        """End it within the close grace; never raises."""
        ...
