"""`homeport audit`: the rows of the journal, through the index behind it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from homeport.calls import lines
from homeport.calls.ports import AuditRow, Store

POLL: Final = 0.5
"""Seconds between looks for new rows: they are written by other processes too."""


def rows(store: Store, *, limit: int, filters: Mapping[str, str], refused: bool = False) -> Sequence[AuditRow]:
    """Rows, newest first, one an operation. `refused`: only those that were not let through."""
    if not refused:
        return list(store.rows(limit=limit, filters=filters))
    found: list[AuditRow] = []
    after = ""
    while len(found) < limit:
        page = list(store.rows(limit=500, filters=filters, after=after))
        found += [row for row in page if row.decision != "accept"]
        if len(page) < 500:
            break
        after = page[-1].id
    return found[:limit]


def follow(store: Store, filters: Mapping[str, str], *, refused: bool = False) -> Iterator[AuditRow]:
    """Rows as they come, oldest first, without end. A call is told when it has ended or was refused."""
    newest = next(iter(rows(store, limit=1, filters=filters)), None)
    told: set[str] = {newest.id} if newest else set()
    since = newest.ts_ms if newest else 0
    while True:
        time.sleep(POLL)
        # A call that began before the last look may end after it, so a few minutes are looked at again.
        recent = list(store.rows(limit=1000, filters={**filters, "since_ms": str(max(0, since - 300_000))}))
        for row in reversed(recent):
            if row.id in told or row.stage == "begun":
                continue
            told.add(row.id)
            since = max(since, row.ts_ms)
            if not refused or row.decision != "accept":
                yield row


def as_json(row: AuditRow) -> dict[str, Any]:
    """A row as data."""
    return lines.members(row)
