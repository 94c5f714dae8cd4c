"""The rows of one operation: `refused` alone, or `begun` and then `ended`, whatever happens in between."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
        self._told: dict[str, Any] = {
            "id": operation.id,
            "ts_ms": journal.now_ms(),
            "profile": operation.profile,
            "client": f"{client.name} {client.version}".strip(),
            "edge": client.edge,
            "session": client.session,
            "kind": operation.kind.value,
            "server": operation.server,
            "name": operation.name,
            "decision": ACCEPT,
            "dry_run": operation.dry_run,
            "project": project,
        }
        self._arguments = operation.params.get("arguments", b"")
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
            self._told |= {
                "server": found.server,
                "name": found.name,
                "tool_digest": found.tool_digest,
                "roster": found.roster,
            }
            return
        inner = found.found
        self._told |= {
            "server": inner.entry.name,
            "name": inner.name,
            "tool_digest": inner.tool_digest,
            "roster": inner.roster.digest,
            "rule": inner.granted.reason.rule,
            "place": _place(inner.granted.reason),
        }
        if found.arguments is not None:
            self._arguments = found.arguments

    def approved(self, how: str) -> None:
        """A person answered, or had."""
        self._told["approval"] = how

    def warn(self, reason: Reason) -> None:
        """The result is delivered although it is not what was promised."""
        self._because(reason)

    def begin(self) -> None:
        """The row before anything is written upstream. Raises `Unavailable`: then nothing may be."""
        self._journal.begin(self._row("begun"))
        self.begun = True

    def close(self, outcome: Outcome, *, after: Mapping[str, Any] | None = None) -> None:
        """The last row, before the caller gets `outcome`. `after`: what the server answered, if it did."""
        match outcome:
            case Refusal():
                self._told["decision"] = outcome.kind.value
                self._because(outcome.reason)
            case UpstreamError():
                self._told["reason"] = results.error_text(outcome.error)
            case Dry():
                self._told |= {"rule": outcome.reason.rule, "place": _place(outcome.reason)}
            case Delivered():
                pass
        self._told["result"] = after
        self._finish(refused=isinstance(outcome, Refusal) and not self.begun)

    def abandon(self, decision: str, reason: Reason) -> None:
        """The last row of an operation that nobody waits for any more, or that a fault of ours ended."""
        self._told["decision"] = decision
        self._because(reason)
        self._finish(refused=not self.begun)

    def _because(self, reason: Reason) -> None:
        self._told |= {"rule": reason.rule, "reason": reason.text, "place": _place(reason)}

    def _finish(self, *, refused: bool) -> None:
        if self.closed:
            return
        self.closed = True
        self._told["duration_ms"] = round((self._clock() - self._started) * 1000, 3)
        self._told["phases_ms"] = self._phases
        if refused:
            self._journal.refuse(self._row("refused"))
        else:
            self._journal.end(self._row("ended"))

    def _row(self, stage: str) -> AuditRow:
        if "args" not in self._told and self._arguments:
            self._told["args"] = _summary(self._journal, self._arguments)
        return AuditRow(stage=stage, **self._told)


def _summary(journal: Journal, arguments: bytes) -> Mapping[str, Any]:
    return {"keys": redact.keys(arguments), "bytes": len(arguments), "digest": journal.digest(arguments)}


def _place(reason: Reason) -> str:
    return f"{reason.file}:{reason.line}" if reason.line else reason.file
