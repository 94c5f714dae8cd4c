"""The rows of one operation: `refused` alone, or `begun` and then `ended`, whatever happens in between."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from homeport.calls import redact, results
from homeport.calls.audit import Journal
from homeport.calls.decision import Decided, Stopped
from homeport.calls.operation import Delivered, Dry, Operation, Outcome, Refusal, UpstreamError
from homeport.calls.ports import AuditRow
from homeport.ground.reason import Reason

ACCEPT = "accept"


class Trail:
    """Collects what is known of an operation and writes its rows. `clock` is monotonic seconds."""

    def __init__(self, journal: Journal, operation: Operation, clock: Callable[[], float], project: str = "") -> None:
        self._journal = journal
        self._clock = clock
        self._started = self._phase_started = clock()
        self._phases: dict[str, float] = {}
        operation.id = journal.new_id()
        client = operation.caller.client
        self._row = AuditRow(
            id=operation.id,
            ts_ms=journal.now_ms(),
            stage="refused",
            profile=operation.profile,
            client=f"{client.name} {client.version}".strip(),
            edge=client.edge,
            session=client.session,
            kind=operation.kind.value,
            server=operation.server,
            name=operation.name,
            decision=ACCEPT,
            args=_arguments(journal, operation.params.get("arguments", b"")),
            dry_run=operation.dry_run,
            project=project,
        )
        self.begun = False
        self.closed = False

    def phase(self, name: str) -> None:
        """The stage that has just ended is called `name`."""
        now = self._clock()
        self._phases[name] = round((now - self._phase_started) * 1000, 3)
        self._phase_started = now

    def target(self, found: Decided | Stopped) -> None:
        """Whom the operation is for."""
        if isinstance(found, Stopped):
            digest, roster = found.tool_digest, found.roster
            self._row = replace(self._row, server=found.server, name=found.name, tool_digest=digest, roster=roster)
            return
        inner = found.found
        self._row = replace(
            self._row,
            server=inner.entry.name,
            name=inner.name,
            tool_digest=inner.tool_digest,
            roster=inner.roster.digest,
            rule=inner.granted.reason.rule,
            place=_place(inner.granted.reason),
        )
        if found.arguments is not None:
            self._row = replace(self._row, args=_arguments(self._journal, found.arguments))

    def approved(self, how: str) -> None:
        """A person answered, or had."""
        self._row = replace(self._row, approval=how)

    def warn(self, reason: Reason) -> None:
        """The result is delivered although it is not what was promised."""
        self._row = replace(self._row, rule=reason.rule, reason=reason.text)

    def begin(self) -> None:
        """The row before anything is written upstream. Raises `Unavailable`: then nothing may be."""
        self._journal.begin(replace(self._row, stage="begun"))
        self.begun = True

    def close(self, outcome: Outcome, *, after: Mapping[str, Any] | None = None) -> None:
        """The last row, before the caller gets `outcome`. `after`: what the server answered, where that is withheld."""
        row = self._timed(after)
        match outcome:
            case Refusal():
                row = replace(
                    row,
                    decision=outcome.kind.value,
                    rule=outcome.reason.rule,
                    reason=outcome.reason.text,
                    place=_place(outcome.reason),
                )
            case Delivered():
                pass
            case UpstreamError():
                row = replace(row, reason=results.error_text(outcome.error))
            case Dry():
                row = replace(row, rule=outcome.reason.rule, place=_place(outcome.reason))
        self._write(row, refused=isinstance(outcome, Refusal) and not self.begun)

    def abandon(self, decision: str, reason: Reason) -> None:
        """The last row of an operation that nobody waits for any more, or that a fault of ours ended."""
        row = replace(self._timed(None), decision=decision, rule=reason.rule, reason=reason.text)
        self._write(row, refused=not self.begun)

    def _timed(self, result: Mapping[str, Any] | None) -> AuditRow:
        duration = round((self._clock() - self._started) * 1000, 3)
        return replace(self._row, duration_ms=duration, phases_ms=dict(self._phases), result=result)

    def _write(self, row: AuditRow, *, refused: bool) -> None:
        if self.closed:
            return
        self.closed = True
        if refused:
            self._journal.refuse(replace(row, stage="refused"))
        else:
            self._journal.end(replace(row, stage="ended"))


def _arguments(journal: Journal, arguments: bytes) -> Mapping[str, Any] | None:
    if not arguments:
        return None
    return {"keys": redact.keys(arguments), "bytes": len(arguments), "digest": journal.digest(arguments)}


def _place(reason: Reason) -> str:
    return f"{reason.file}:{reason.line}" if reason.line else reason.file
