"""Who wants to know when a list changes, and telling them.

Lists change with the roster (at once, through `refresh`) and with the machine (looked at again every few seconds, but
only while somebody listens).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from homeport.gateway.lists import Catalogue, ListKind, Lists
from homeport.gateway.routing import Target


@dataclass(slots=True, eq=False)
class _Listener:
    target: Target
    kinds: frozenset[ListKind]
    tell: Callable[[ListKind], None]
    known: dict[ListKind, str] = field(default_factory=dict[ListKind, str])


class Listeners:
    """Open subscriptions of both eras."""

    def __init__(self, lists: Lists, every: float) -> None:
        self._lists = lists
        self._every = every
        self._open: set[_Listener] = set()
        self._wake = asyncio.Event()

    def add(self, target: Target, kinds: Collection[ListKind], tell: Callable[[ListKind], None]) -> Callable[[], None]:
        """Call `tell` whenever one of these lists of a target changes. Returns how to stop."""
        listener = _Listener(target, frozenset(kinds), tell)
        catalogue = self._lists.current(target)
        listener.known = {kind: catalogue.digest(kind) for kind in listener.kinds}
        self._open.add(listener)
        return lambda: self._open.discard(listener)

    def poke(self) -> None:
        """Something that lists come from has changed."""
        self._wake.set()

    def resources_changed(self, server: str) -> None:
        """A server says that its resources are others now."""
        for listener in tuple(self._open):
            if ListKind.TEMPLATES in listener.kinds and server in self._lists.current(listener.target).servers:
                listener.tell(ListKind.TEMPLATES)

    async def refresh(self) -> None:
        """Compare every list somebody listens to with what was last told."""
        catalogues: dict[Target, Catalogue] = {}
        for target in {listener.target for listener in self._open}:
            catalogues[target] = await self._lists.catalogue(target)
        for listener in tuple(self._open):
            catalogue = catalogues.get(listener.target)
            if catalogue is not None:
                _tell_changes(listener, catalogue)

    async def watch(self) -> None:
        """Refresh when poked, and every few seconds while somebody listens; until cancelled."""
        while True:
            try:
                async with asyncio.timeout(self._every if self._open else None):
                    await self._wake.wait()
            except TimeoutError:
                pass
            self._wake.clear()
            await self.refresh()

    def __len__(self) -> int:
        return len(self._open)


def _tell_changes(listener: _Listener, catalogue: Catalogue) -> None:
    for kind in sorted(listener.kinds):
        digest = catalogue.digest(kind)
        if digest != listener.known.get(kind):
            listener.known[kind] = digest
            listener.tell(kind)
