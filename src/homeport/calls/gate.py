"""May a server be used here and now? Disabled, at fault, untrusted, or its application is not here.

The answer about the machine comes from `declarations.availability`; it reads files and is therefore kept for
`Limits.facts_max_age` seconds. An absence counts at once: no grace keeps a tool offered that cannot work.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from homeport.calls.roster import Entry
from homeport.declarations.model import Availability, Declaration
from homeport.ground.limits import DEFAULT, Limits

Code: TypeAlias = Literal["disabled", "fault", "untrusted", "unavailable"]

TRUST_REMEDY: Final = "homeport trust"


@dataclass(frozen=True, slots=True)
class Withheld:
    """Why a server is not offered: one sentence for people and models, and what mends it."""

    server: str
    code: Code
    sentence: str
    remedy: str = ""
    detail: str = ""
    """The stable code underneath: of the fault, or the availability's state."""


Available: TypeAlias = Callable[[Declaration, Any], Availability]
"""`declarations.availability.availability`: the machine it takes is handed through, not used here."""


@dataclass(frozen=True, slots=True)
class _Known:
    declaration: Declaration
    answer: Availability
    at: float


class Gate:
    """The one place that withholds a server. `clock` is monotonic seconds."""

    def __init__(
        self, machine: Any, available: Available, clock: Callable[[], float], limits: Limits = DEFAULT
    ) -> None:
        self._machine = machine
        self._available = available
        self._clock = clock
        self._limits = limits
        self._known: dict[str, _Known] = {}
        self._reading: dict[str, asyncio.Task[Availability]] = {}

    def check(self, entry: Entry) -> Withheld | None:
        """None: it may be used. Reads the machine when the facts are older than `facts_max_age`.

        That reading takes milliseconds of file access; on an event loop call `refresh` first, then this is instant.
        """
        return withheld_by_configuration(entry) or self._withheld_by_machine(entry)

    def stale(self, entry: Entry) -> bool:
        """Whether `check` would have to read the machine."""
        if entry.declaration is None or withheld_by_configuration(entry):
            return False
        return self._fresh(entry) is None

    async def refresh(self, entry: Entry) -> None:
        """Read the machine beside the event loop if the facts are stale; callers at the same time share one reading."""
        if entry.declaration is None or not self.stale(entry):
            return
        reading = self._reading.get(entry.name)
        if reading is None:
            reading = asyncio.create_task(asyncio.to_thread(self._read, entry.name, entry.declaration))
            self._reading[entry.name] = reading
            reading.add_done_callback(lambda _: self._reading.pop(entry.name, None))
        await asyncio.shield(reading)

    def forget(self, server: str = "") -> None:
        """Read the machine anew at the next question, for one server or for all."""
        if server:
            self._known.pop(server, None)
        else:
            self._known.clear()

    def availability(self, entry: Entry) -> Availability | None:
        """The whole answer for this machine, kept like `check`'s; None without a declaration."""
        if entry.declaration is None:
            return None
        known = self._fresh(entry)
        return self._read(entry.name, entry.declaration) if known is None else known

    def _fresh(self, entry: Entry) -> Availability | None:
        known = self._known.get(entry.name)
        if known is None or known.declaration != entry.declaration:
            return None
        return known.answer if self._clock() - known.at < self._limits.facts_max_age else None

    def _read(self, server: str, declaration: Declaration) -> Availability:
        at = self._clock()
        answer = self._available(declaration, self._machine)
        self._known[server] = _Known(declaration, answer, at)
        return answer

    def _withheld_by_machine(self, entry: Entry) -> Withheld | None:
        answer = self.availability(entry)
        if answer is None or answer.offerable:
            return None
        return Withheld(entry.name, "unavailable", answer.sentence, answer.remedy, answer.state)


def withheld_by_configuration(entry: Entry) -> Withheld | None:
    """What is known without looking at the machine, in its order: disabled, fault, untrusted."""
    if not entry.enabled:
        return Withheld(
            entry.name,
            "disabled",
            f"The server {entry.name} is switched off in homeport.toml.",
            f"set enabled = true in [servers.{entry.name}]",
        )
    if entry.fault is not None:
        return Withheld(entry.name, "fault", entry.fault.message, entry.fault.remedy, entry.fault.code)
    if not entry.trusted:
        return Withheld(
            entry.name,
            "untrusted",
            f"Nobody on this machine has agreed to start the server {entry.name} ({entry.source}).",
            TRUST_REMEDY,
        )
    return None
