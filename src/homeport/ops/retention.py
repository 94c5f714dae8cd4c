"""How long the audit trail is kept: journals and their index are trimmed when a gateway starts.

The trail is the user's and not a project's, so no project file says how long: `HOMEPORT_AUDIT_DAYS` does.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Final, Protocol

from homeport.calls.audit import prune
from homeport.ground.errors import InvalidInput
from homeport.machine.reaper import started

VARIABLE: Final = "HOMEPORT_AUDIT_DAYS"
DEFAULT_DAYS: Final = 90


class Index(Protocol):
    """What is needed of the store."""

    def forget(self, before_ms: int) -> Future[int]:
        """Delete the rows of calls before a time."""
        ...


def days(environment: Mapping[str, str]) -> int | None:
    """Days that the audit trail is kept; None: for ever. Raises `InvalidInput` (`audit.days`)."""
    text = environment.get(VARIABLE, "").strip()
    if not text:
        return DEFAULT_DAYS
    if text == "forever":
        return None
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= 100_000):
        message = f"{VARIABLE} is {text!r}, which is no number of days"
        raise InvalidInput(
            message, code="audit.days", remedy=f"set {VARIABLE} to a whole number from 1, or to `forever`"
        )
    return int(text)


def trim(journals: Path, index: Index, *, keep_days: int | None, now: float | None = None) -> list[Path]:
    """Delete what is older: whole journals of processes that are gone, and rows of the index. `now`: Unix seconds."""
    if keep_days is None:
        return []
    moment = time.time() if now is None else now
    deleted = prune(journals, keep_days=keep_days, now=moment, alive=lambda pid: bool(started(pid)))
    index.forget(int((moment - keep_days * 86_400) * 1000))
    return deleted
