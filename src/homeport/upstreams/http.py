"""placeholder"""

from __future__ import annotations

from homeport.ground.limits import Limits
from homeport.ground.secrets import Secret
from homeport.upstreams.session import Era, Session
from homeport.upstreams.stdio import Terms


class Web:
    """The shared HTTP client."""

    def __init__(self, limits: Limits) -> None:
        """New."""

    async def close(self) -> None:
        """End it."""


async def open_http(url: str, headers: dict[str, Secret], terms: Terms, known: Era | None, web: Web | None) -> Session:
    """Open."""
    raise NotImplementedError
