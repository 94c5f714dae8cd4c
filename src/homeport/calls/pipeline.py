"""The one path of a call (design section 6). Gateway, command line and apps build an `Operation` and hand it over.

    find → decide → approval → session → begun → sent once → result rules → ended → delivered

A call is never sent twice. Only where the session says that nothing was written (`upstream.closed`) is another session
asked for, once; every other failure after that is an outcome nobody knows, and is told so.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Final, Protocol

from homeport.calls import refusals, results
from homeport.calls.approvals import Approvals, Question, thread
from homeport.calls.audit import Journal
from homeport.calls.decision import Decided, Decider, Found, Stopped
from homeport.calls.drift_watch import DriftWatch
from homeport.calls.gate import Gate
from homeport.calls.operation import Delivered, Operation, Outcome, Refusal, RefusalKind, UpstreamError
from homeport.calls.params import asked_back, capabilities, upstream
from homeport.calls.rates import Limiter
from homeport.calls.redact import shown
from homeport.calls.roster import Roster
from homeport.calls.trail import Trail
from homeport.ground.errors import HomeportError, ProtocolViolation, Refused, Unavailable
from homeport.ground.limits import DEFAULT, Limits
from homeport.ground.reason import Reason
from homeport.surface.decide import GrantedTool
from homeport.surface.policy import AskBack
from homeport.surface.verdict import Objection, Violation
from homeport.upstreams.launch import HttpLaunch, Launch
from homeport.upstreams.session import Era, Exchange, Reply, Session

NOT_ALLOWED: Final = b'{"code":-32601,"message":"this client does not answer such requests of this server"}'
CANCELLED: Final = Reason("caller.cancelled", "the caller withdrew the call")
INTERNAL: Final = Reason("internal", "a fault of Homeport ended the call")


class Sessions(Protocol):
    """What is needed of `upstreams.pool.Pool`."""

    def lease(
        self,
        server: str,
        launch: Launch,
        *,
        principal: str = "",
        capabilities: bytes = b"{}",
        era: Era = Era.MODERN,
    ) -> AbstractAsyncContextManager[Session]:
        """An open session to use inside the block."""
        ...


class Pipeline:
    """Carries operations to their outcomes. One a process; everything it needs comes in here."""

    def __init__(
        self,
        *,
        roster: Callable[[], Roster],
        gate: Gate,
        sessions: Sessions,
        journal: Journal,
        limiter: Limiter,
        approvals: Approvals,
        drift: DriftWatch,
        scrub: Callable[[str], str] = str,
        limits: Limits = DEFAULT,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.decider = Decider(roster=roster, gate=gate, limiter=limiter, drift=drift)
        self._gate = gate
        self._sessions = sessions
        self._journal = journal
        self._approvals = approvals
        self._drift = drift
        self._scrub = scrub
        self._limits = limits
        self._clock = clock

    async def run(self, operation: Operation) -> Outcome:
        """Carry an operation to its outcome; refusals are outcomes too. Its rows are in the journal when it returns.

        Raises `asyncio.CancelledError` only: cancelling the task withdraws the call upstream, and is journalled.
        """
        trail = Trail(self._journal, operation, self._clock, self.decider.project())
        try:
            return await self._run(operation, trail)
        except asyncio.CancelledError:
            trail.abandon(RefusalKind.CANCELLED.value, CANCELLED)
            raise
        finally:
            if not trail.closed:
                trail.abandon("internal", INTERNAL)

    def explain(self, operation: Operation) -> Decided | Stopped:
        """The decision alone, for `homeport explain`: nothing is sent, journalled or charged."""
        found = self.decider.find(operation)
        if isinstance(found, Stopped):
            return found
        decided = self.decider.decide(operation, found)
        if isinstance(decided, Decided):
            decided.permit.release()
        return decided

    async def _run(self, operation: Operation, trail: Trail) -> Outcome:
        decided = await self._decide(operation)
        trail.target(decided)
        trail.phase("decide")
        if isinstance(decided, Stopped):
            trail.close(decided.outcome)
            return decided.outcome
        try:
            refusal = await self._approve(operation, decided, trail)
            outcome = refusal or await self._send(operation, decided, trail)
        finally:
            decided.permit.release()
        if not trail.closed:
            trail.close(outcome)
        return outcome

    async def _decide(self, operation: Operation) -> Decided | Stopped:
        found = self.decider.find(operation)
        if isinstance(found, Stopped):
            return found
        if self._gate.stale(found.entry):
            await self._gate.refresh(found.entry)
        return self.decider.decide(operation, found)

    async def _approve(self, operation: Operation, decided: Decided, trail: Trail) -> Refusal | None:
        tool = decided.tool
        if decided.verdict != "ask" or tool is None:
            return None
        question = self._question(operation, decided, tool)
        remembered = self._approvals.remembered(question)
        if remembered:
            trail.approved(remembered.value)
            return None
        answer = await self._approvals.ask(question, operation.caller)
        trail.phase("approval")
        trail.approved(answer.choice.value if answer.choice else "unanswered")
        if answer.runs:
            return self._changed_meanwhile(operation, decided)
        text = answer.text or f"a person declined this call of {tool.name}"
        rule = "approval.declined" if answer.choice else "approval.unanswered"
        return Refusal(RefusalKind.APPROVAL, text, Reason(rule, text))

    def _question(self, operation: Operation, decided: Decided, tool: GrantedTool) -> Question:
        client, profile = operation.caller.client, decided.found.profile
        return Question(
            id=operation.id,
            asked_ms=self._journal.now_ms(),
            project=self.decider.project(),
            profile=profile.name,
            thread=thread(profile.name, client, self._journal.now_ms()),
            client=client.name,
            edge=client.edge,
            server=tool.server,
            tool=tool.name,
            digest=tool.item.digest,
            arguments=self._scrub(shown(decided.arguments or b"{}", tool.sensitive)),
            asks=profile.asks,
            timeout=self._approvals.timeout,
        )

    def _changed_meanwhile(self, operation: Operation, decided: Decided) -> Refusal | None:
        """A person took their time: what was decided before must still hold now."""
        found, before = self.decider.find(operation), decided.found
        if isinstance(found, Stopped):
            return found.outcome if isinstance(found.outcome, Refusal) else None
        withheld = self._gate.check(found.entry)
        if withheld:
            return refusals.withheld(withheld)
        same = found.tool_digest == before.tool_digest and found.entry.launch == before.entry.launch
        if same and found.profile == before.profile:
            return None
        text = "what this call was decided by changed while it waited for an answer; call again"
        return Refusal(RefusalKind.APPROVAL, text, Reason("approval.outdated", text))

    async def _send(self, operation: Operation, decided: Decided, trail: Trail) -> Outcome:
        total = operation.timeout or self._limits.call_total
        try:
            async with asyncio.timeout(total):
                era, reply = await self._exchange(operation, decided, trail)
        except TimeoutError:
            text = f"{decided.found.entry.name} did not finish within {total:g} s"
            text += "; whether the call took effect is unknown" if trail.begun else ""
            return Refusal(RefusalKind.UPSTREAM, text, Reason("upstream.timeout", text))
        except HomeportError as error:
            return refusals.from_error(_kind_of(error), self._scrubbed(error))
        trail.phase("call")
        if reply.error is not None:
            return self._error(decided, reply.error, trail)
        return self._result(decided, reply.result or b"", era, trail)

    async def _exchange(self, operation: Operation, decided: Decided, trail: Trail) -> tuple[Era, Reply]:
        """One request, written once. Raises what the session and the journal raise."""
        try:
            return await self._attempt(operation, decided, trail)
        except Unavailable as error:
            # `upstream.closed` is the promise that nothing was written: the session ended before this call.
            if error.code != "upstream.closed" or not trail.begun:
                raise
        return await self._attempt(operation, decided, trail)

    async def _attempt(self, operation: Operation, decided: Decided, trail: Trail) -> tuple[Era, Reply]:
        lease = self._lease(operation, decided)
        async with lease() as session:
            if not trail.begun:
                trail.phase("connect")
                trail.begin()
            sent = upstream(
                operation.kind,
                decided.found.name,
                operation.params,
                arguments=decided.arguments,
                negotiated=session.negotiated,
            )
            try:
                reply = await session.request(operation.kind.value, sent, self._terms(operation, decided, session))
            finally:
                # After the call, so that a question the server asks meanwhile can only belong to this one.
                if session.alive and self._drift.due(decided.found.entry, session):
                    self._drift.start(decided.found.entry, session, lease)
            return session.negotiated.era, reply

    def _lease(self, operation: Operation, decided: Decided) -> Callable[[], AbstractAsyncContextManager[Session]]:
        entry, client = decided.found.entry, operation.caller.client
        principal = thread(operation.profile, client, 0) if entry.isolation == "caller" else ""
        told = capabilities(client.capabilities, decided.found.may_ask)
        return partial(
            self._sessions.lease, entry.name, decided.launch, principal=principal, capabilities=told, era=client.era
        )

    def _terms(self, operation: Operation, decided: Decided, session: Session) -> Exchange:
        may_ask, tool = decided.found.may_ask, decided.tool
        mirrored = isinstance(decided.launch, HttpLaunch) and session.negotiated.era is Era.MODERN
        return Exchange(
            on_notification=operation.caller.notify,
            ask=partial(_ask, operation, may_ask),
            timeout=operation.timeout or self._limits.call_timeout,
            headers=tool.headers(decided.arguments) if tool and decided.arguments and mirrored else (),
        )

    def _error(self, decided: Decided, error: bytes, trail: Trail) -> Outcome:
        summary = results.summary(error, is_error=True)
        tool = decided.tool
        problem = tool.check_result(results.error_as_result(error)) if tool else None
        if isinstance(problem, Objection):
            outcome: Outcome = _objection(problem)
        else:
            outcome = UpstreamError(results.scrubbed(error, self._scrub, results.HIDDEN_ERROR))
        trail.close(outcome, after=summary)
        return outcome

    def _result(self, decided: Decided, result: bytes, era: Era, trail: Trail) -> Outcome:
        try:
            head = results.read(result)
        except ProtocolViolation as error:
            outcome: Outcome = refusals.from_error(RefusalKind.UPSTREAM, error)
            trail.close(outcome, after=results.summary(result, is_error=True))
            return outcome
        outcome = self._refused_result(decided, result, head, trail) or Delivered(
            results.scrubbed(result, self._scrub, results.HIDDEN_RESULT) if head.is_error else result, era
        )
        trail.close(outcome, after=results.summary(result, is_error=head.is_error))
        return outcome

    def _refused_result(self, decided: Decided, result: bytes, head: results.Head, trail: Trail) -> Refusal | None:
        if not head.complete:
            return _unasked(decided.found, head)
        tool = decided.tool
        if tool is None:
            return None
        problem = tool.check_result(result)
        if problem:
            return _objection(problem)
        mismatch = None if head.is_error else tool.output_mismatch(result)
        if mismatch:
            trail.warn(mismatch.reason)
        return None

    def _scrubbed(self, error: HomeportError) -> HomeportError:
        error.message = self._scrub(error.message)
        return error


def _objection(problem: Violation | Objection) -> Refusal:
    """What a rule or the output schema says of an answer: it was sent, and is not given back."""
    if isinstance(problem, Violation):
        return refusals.objection(problem, RefusalKind.OUTPUT)
    failed = problem.reason.rule == "rule.fail_when"
    return refusals.objection(problem, RefusalKind.UPSTREAM if failed else RefusalKind.POLICY)


def _kind_of(error: HomeportError) -> RefusalKind:
    if error.code.startswith("journal."):
        return RefusalKind.JOURNAL
    if error.code == "secret.missing":
        return RefusalKind.NO_SECRET
    return RefusalKind.POLICY if isinstance(error, Refused) else RefusalKind.UPSTREAM


async def _ask(operation: Operation, may_ask: tuple[AskBack, ...], method: str, params: bytes) -> Reply:
    """A server's request, put to the caller whose call it belongs to if the grant lets the server ask that."""
    if asked_back(method) not in may_ask:
        return Reply(error=NOT_ALLOWED)
    return await operation.caller.ask(method, params)


def _unasked(found: Found, head: results.Head) -> Refusal | None:
    """A result that requires input which the grant does not let this server ask for."""
    for method in head.asks:
        if asked_back(method) not in found.may_ask:
            text = f"the server {found.entry.name} asks for {method}, which the grant does not allow it"
            remedy = f"add it to may_ask in [profiles.{found.profile.name}.grants.{found.entry.name}]"
            place = found.granted.reason
            return Refusal(
                RefusalKind.INPUT_REQUIRED, text, Reason("grant.may_ask", text, place.file, place.line, remedy)
            )
    return None
