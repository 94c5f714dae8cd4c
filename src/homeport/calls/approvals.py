"""Whether a granted call runs at once, asks a person first, or is refused; and the queue of those who ask.

Levels (design section 4): `read-only` runs tools that only read and refuses the others; `confirm` runs them and asks
for any other: once, for this thread, or always while the tool's locked definition has the same digest; `full` runs
whatever is granted. Nobody answers in time: a refusal that says where to answer.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final, Literal

import msgspec

from homeport.calls.events import Bus, Event, Topic
from homeport.calls.ports import ApprovalMemory, Caller, Client, StandingApproval
from homeport.ground.errors import InvalidInput, Refused
from homeport.surface.policy import Approval, Asker, Profile

MAX_PENDING: Final = 200
"""Calls that wait for a person at the same time; one more is refused at once."""
MAX_THREADS: Final = 5_000
"""Answers "for this thread" that are remembered; the oldest go first."""

Verdict = Literal["run", "ask", "refuse"]


class Choice(StrEnum):
    """What a person answers."""

    ONCE = "once"
    THREAD = "thread"
    ALWAYS = "always"
    DECLINE = "decline"


@dataclass(frozen=True, slots=True)
class Question:
    """A call that waits for a person."""

    id: str
    """Of the operation."""
    asked_ms: int
    project: str
    profile: str
    thread: str
    client: str
    edge: str
    server: str
    tool: str
    digest: str
    """Of the tool's locked definition."""
    arguments: str
    """Shown form: sensitive values hidden, bounded."""
    asks: tuple[Asker, ...]
    timeout: float

    @property
    def standing(self) -> tuple[str, str, str, str, str]:
        """What "always" is kept for."""
        return self.profile, self.server, self.tool, self.digest, self.project


@dataclass(frozen=True, slots=True)
class Answer:
    """`choice` is None when nobody answered in time; `text` says where an answer could have been given."""

    choice: Choice | None
    by: str = ""
    text: str = ""

    @property
    def runs(self) -> bool:
        """Whether the call may be made."""
        return self.choice is not None and self.choice is not Choice.DECLINE


def level(profile: Profile, edge: str) -> Approval:
    """The level in force at an edge: a page's call gets at most `confirm` unless the profile says `apps = "full"`."""
    at_most_confirm = edge == "app" and profile.apps != "full"
    return "confirm" if at_most_confirm and profile.approval == "full" else profile.approval


def judge(approval: Approval, *, read_only: bool) -> Verdict:
    """What a level makes of a tool. `read_only`: it says `readOnlyHint` and nothing says it destroys."""
    if approval == "full" or read_only:
        return "run"
    return "ask" if approval == "confirm" else "refuse"


def thread(profile: str, client: Client, now_ms: int) -> str:
    """What "for this thread" means: a connection or legacy session, else profile, client and day (UTC)."""
    if client.session:
        return f"{profile}/{client.edge}/{client.session}"
    day = datetime.fromtimestamp(now_ms / 1000, UTC).date().isoformat()
    return f"{profile}/{client.edge}/{client.name}/{day}"


class Approvals:
    """The queue of one process. Used from one thread."""

    def __init__(
        self,
        *,
        bus: Bus,
        timeout: float = 120.0,
        memory: ApprovalMemory | None = None,
        where: str = "run `homeport approvals` in a terminal, or open the console",
        now_ms: Callable[[], int] = lambda: int(datetime.now(UTC).timestamp() * 1000),
    ) -> None:
        self.timeout = timeout
        self._bus = bus
        self._memory = memory
        self._where = where
        self._now_ms = now_ms
        self._waiting: dict[str, tuple[Question, asyncio.Future[Answer]]] = {}
        self._threads: deque[tuple[str, ...]] = deque(maxlen=MAX_THREADS)
        self._standing = {_key(approval): approval for approval in (memory.standing() if memory else ())}

    def pending(self) -> Sequence[Question]:
        """Those who wait, oldest first."""
        return [question for question, _ in self._waiting.values()]

    def standing(self) -> Iterable[StandingApproval]:
        """The "always" answers in force."""
        return tuple(self._standing.values())

    def remembered(self, question: Question) -> Choice | None:
        """An earlier answer that covers this call."""
        if question.standing in self._standing:
            return Choice.ALWAYS
        return Choice.THREAD if (question.thread, *question.standing) in self._threads else None

    async def ask(self, question: Question, caller: Caller) -> Answer:
        """Wait for a person: whoever answers first. Cancelling withdraws the question."""
        if len(self._waiting) >= MAX_PENDING:
            return Answer(None, text=f"{MAX_PENDING} calls wait for an answer already; {self._where}.")
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting[question.id] = (question, future)
        self._tell(question, "waiting")
        direct = _direct(question, caller)
        asking = asyncio.ensure_future(direct) if direct else None
        answer = Answer(None)
        try:
            answer = await self._first(question, future, asking)
        finally:
            del self._waiting[question.id]
            if asking and not asking.done():
                asking.cancel()
                with suppress(asyncio.CancelledError):
                    await asking
            self._tell(question, answer.choice or "unanswered")
        return answer

    def answer(self, identifier: str, choice: Choice, by: Asker) -> Question:
        """A person's answer. "thread" and "always" answer the other waiting calls they cover too.

        Raises `InvalidInput` (`approval.unknown`) when nothing waits under that id, `Refused` (`approval.asker`) when
        the profile does not let this side answer.
        """
        if identifier not in self._waiting:
            raise InvalidInput(
                f"no call {identifier} waits for an answer; it was answered, withdrawn, or its time ran out",
                code="approval.unknown",
                remedy="homeport approvals",
            )
        question, _ = self._waiting[identifier]
        if by not in question.asks:
            raise Refused(
                f"the profile {question.profile} does not take answers from the {by}",
                code="approval.asker",
                remedy=f'add "{by}" to asks in [profiles.{question.profile}]',
            )
        self._settle(question, choice, by)
        return question

    def revoke(self, approval: StandingApproval) -> None:
        """Take an "always" back."""
        self._standing.pop(_key(approval), None)
        if self._memory:
            self._memory.revoke(approval)

    def _settle(self, question: Question, choice: Choice, by: str) -> None:
        self._remember(question, choice, by)
        for other, future in tuple(self._waiting.values()):
            # An answer that lasts covers the others that wait for the same; a declined one only itself.
            covered = other.id == question.id or (choice is not Choice.DECLINE and self.remembered(other) is not None)
            if covered and not future.done():
                future.set_result(Answer(choice, by))

    def _remember(self, question: Question, choice: Choice, by: str) -> None:
        if choice is Choice.THREAD:
            self._threads.append((question.thread, *question.standing))
        elif choice is Choice.ALWAYS:
            approval = StandingApproval(*question.standing, by=by, since_ms=self._now_ms())
            self._standing[question.standing] = approval
            if self._memory:
                self._memory.approve(approval)

    async def _first(
        self, question: Question, future: asyncio.Future[Answer], asking: asyncio.Future[Choice | None] | None
    ) -> Answer:
        with suppress(TimeoutError):
            async with asyncio.timeout(question.timeout):
                if asking:
                    await asyncio.wait({future, asking}, return_when=asyncio.FIRST_COMPLETED)
                    choice = asking.result() if asking.done() and not future.done() else None
                    if choice:
                        self._settle(question, choice, _side(question.edge))
                return await future
        waited = f"Nobody answered within {question.timeout:g} seconds"
        return Answer(None, text=f"{waited}. To answer, {self._where}; then call again.")

    def _tell(self, question: Question, state: str) -> None:
        data: dict[str, Any] = {
            "id": question.id,
            "state": state,
            "profile": question.profile,
            "server": question.server,
            "tool": question.tool,
        }
        self._bus.publish(Event(Topic.APPROVAL, data))


def _key(approval: StandingApproval) -> tuple[str, str, str, str, str]:
    return approval.profile, approval.server, approval.tool, approval.digest, approval.project


def _side(edge: str) -> Asker:
    return "terminal" if edge == "cli" else "client"


def _direct(question: Question, caller: Caller) -> Awaitable[Choice | None] | None:
    """The caller itself, where the profile trusts it to ask a person: a terminal, or a client with elicitation."""
    if _side(question.edge) not in question.asks or not _can_elicit(caller.client):
        return None
    return _elicit(question, caller)


def _can_elicit(client: Client) -> bool:
    try:
        declared = msgspec.json.decode(client.capabilities, type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return "elicitation" in declared


class _Content(msgspec.Struct):
    answer: str = ""


class _Elicited(msgspec.Struct):
    action: str = ""
    content: _Content | None = None


async def _elicit(question: Question, caller: Caller) -> Choice | None:
    reply = await caller.ask("elicitation/create", msgspec.json.encode(elicitation(question)))
    if reply.result is None:
        return None
    try:
        elicited = msgspec.json.decode(reply.result, type=_Elicited)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    if elicited.action != "accept" or elicited.content is None:
        return Choice.DECLINE
    try:
        return Choice(elicited.content.answer)
    except ValueError:
        return Choice.DECLINE


def elicitation(question: Question) -> dict[str, Any]:
    """The question as params of `elicitation/create` (MCP 2025-11-25, client/elicitation, form mode)."""
    message = f"Run {question.tool} of the server {question.server} with {question.arguments}?"
    answer = {
        "type": "string",
        "title": "Answer",
        "enum": [choice.value for choice in Choice],
        "enumNames": ["Once", "In this conversation", "Always, while the tool stays as it is", "No"],
    }
    schema = {"type": "object", "properties": {"answer": answer}, "required": ["answer"]}
    return {"mode": "form", "message": message, "requestedSchema": schema}
