"""Many requests over one stream of lines: our own ids, our own progress tokens, answers to whoever waits for them.

No I/O of its own: lines go out through a function, bytes come in by `feed`. `stdio.py` joins it to a child.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import AsyncGenerator, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import msgspec

from homeport.ground.errors import HomeportError, ProtocolViolation, Unavailable
from homeport.ground.limits import Limits
from homeport.upstreams import wire
from homeport.upstreams.session import Era, Exchange, Reply

ASKABLE: Final = frozenset({"elicitation/create", "sampling/createMessage", "roots/list"})
MAX_QUEUE: Final = 64
"""Calls that may wait for a server that takes one at a time."""

Waiting: TypeAlias = Coroutine[Any, Any, None]
Drained: TypeAlias = Callable[[], Waiting]

_NEVER_CANCELLED: Final = frozenset({"initialize", "server/discover"})
_LISTEN: Final = "subscriptions/listen"
_UNKNOWN: Final = wire.error_object(-32601, "Method not found")


@dataclass(slots=True)
class _Pending:
    """A request that was written and not answered yet."""

    method: str
    exchange: Exchange
    future: asyncio.Future[Reply]
    token: msgspec.Raw | None
    scope: asyncio.Timeout
    deadline: float
    """On the loop's clock: whatever progress it tells, it ends then."""
    asks: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])


class Multiplexer:
    """The conversation with one server over one pair of streams.

    A legacy server's request belongs to the only call in flight; with two in flight it is answered with an error. A
    server that has asked once gets one call at a time from then on, so that the question cannot be ambiguous again.
    """

    def __init__(
        self, write: Callable[[bytes], None], *, limits: Limits, heard: Callable[[str, bytes], None], name: str
    ) -> None:
        """`write` takes one line with its end; `heard` every notification that belongs to no request."""
        self._write = write
        self._limits = limits
        self._heard = heard
        self._name = name
        self._buffer = bytearray()
        self._next = 1
        self._pending: dict[int, _Pending] = {}
        self._asks: dict[bytes, asyncio.Task[None]] = {}
        self._serial = False
        self._turn = asyncio.Semaphore(1)
        self._queued = 0
        self._failure: HomeportError | None = None
        self.era = Era.LEGACY
        self.noise = 0
        """Lines that were no messages, and answers that nobody waited for."""
        self.last_noise = ""

    @property
    def in_flight(self) -> int:
        """Requests that are not answered yet."""
        return len(self._pending)

    @property
    def failed(self) -> bool:
        """Whether the conversation is over."""
        return self._failure is not None

    async def request(
        self, method: str, params: bytes, exchange: Exchange, *, ready: Callable[[], bool], drained: Drained
    ) -> Reply:
        """Send once, await the answer; see `Session.request`. `ready`, `drained`: whether the stream has room."""
        async with self._in_turn():
            if not ready():
                await _bounded(drained(), exchange.timeout, self._name)
            if self._failure is not None:
                raise Unavailable(str(self._failure), code="upstream.closed", remedy=self._failure.remedy)
            number, self._next = self._next, self._next + 1
            params, token = wire.swap_progress_token(params, number)
            return await self._exchange(number, method, params, token, exchange)

    async def _exchange(
        self, number: int, method: str, params: bytes, token: msgspec.Raw | None, exchange: Exchange
    ) -> Reply:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(_seconds(exchange.timeout)) as scope:
                pending = _Pending(
                    method, exchange, loop.create_future(), token, scope, _deadline(exchange, self._limits, loop.time())
                )
                self._pending[number] = pending
                self._write(wire.request(number, method, params) + b"\n")
                return await pending.future
        except TimeoutError:
            self._give_up(number, method, "timed out")
            raise Unavailable(
                f"{self._name} did not answer {method} within {exchange.timeout:g} s",
                code="upstream.timeout",
                remedy=f"homeport logs {self._name}",
            ) from None
        except asyncio.CancelledError:
            self._give_up(number, method, "cancelled by the caller")
            raise
        finally:
            if pending := self._pending.pop(number, None):
                for task in pending.asks:
                    task.cancel()

    def _give_up(self, number: int, method: str, reason: str) -> None:
        # `initialize` must not be cancelled (2025-11-25, basic/utilities/cancellation): its session is closed instead.
        if self._failure is None and method not in _NEVER_CANCELLED:
            self.notify("notifications/cancelled", wire.encode({"requestId": number, "reason": reason}))

    @contextlib.asynccontextmanager
    async def _in_turn(self) -> AsyncGenerator[None]:
        if not self._serial:
            yield
            return
        if self._queued >= MAX_QUEUE:
            raise Unavailable(f"{self._name} takes one call at a time and {MAX_QUEUE} wait", code="upstream.busy")
        self._queued += 1
        try:
            await self._turn.acquire()
        finally:
            self._queued -= 1
        try:
            yield
        finally:
            self._turn.release()

    def notify(self, method: str, params: bytes) -> None:
        """Send a notification."""
        self._write(wire.notification(method, params) + b"\n")

    def feed(self, data: bytes) -> None:
        """Take bytes of the stream; every whole line is handled at once."""
        self._buffer += data
        if b"\n" in data:
            *lines, rest = bytes(self._buffer).split(b"\n")
            self._buffer[:] = rest
            for line in lines:
                if line.strip():
                    self._line(line)
        if len(self._buffer) > self._limits.message:
            self.fail(
                ProtocolViolation(
                    f"{self._name} sent a message of more than {self._limits.message} bytes",
                    code="upstream.message_too_large",
                    whose="upstream",
                )
            )
            self._buffer.clear()

    def _line(self, line: bytes) -> None:
        match wire.parse(line):
            case wire.Answer() as answer:
                self._answered(answer)
            case wire.Told(method, params):
                self._told(method, params)
            case wire.Asked() as asked:
                self._asked(asked)
            case wire.Noise(why):
                self._count(f"{why}: {line[:80].decode('utf-8', 'replace')}")

    def _count(self, what: str) -> None:
        self.noise += 1
        self.last_noise = what

    def _answered(self, answer: wire.Answer) -> None:
        pending = self._pending.get(answer.id)
        if pending is None or pending.future.done():
            self._count(f"an answer nobody waits for, id {answer.id}")
        elif answer.fault:
            pending.future.set_exception(
                ProtocolViolation(
                    f"{self._name} answered {pending.method} with {answer.fault}",
                    code="upstream.not_a_response",
                    whose="upstream",
                )
            )
        else:
            pending.future.set_result(answer.reply)

    def _told(self, method: str, params: bytes) -> None:
        if method == "notifications/progress":
            self._progressed(params)
        elif method == "notifications/cancelled":
            self._question_withdrawn(params)
        elif method == "notifications/message" and (only := self._only_call()):
            # On stdio a log line names no request: it is told to a caller only when it can belong to no other.
            _pass_on(only, method, params)
        elif method != "notifications/subscriptions/acknowledged":
            self._heard(method, params)

    def _only_call(self) -> _Pending | None:
        """The one call in flight; None when there is none, or more than one."""
        calls = [pending for pending in self._pending.values() if pending.method != _LISTEN]
        return calls[0] if len(calls) == 1 else None

    def _progressed(self, params: bytes) -> None:
        pending = self._pending.get(wire.progress_token(params))
        if pending is None:
            return
        _restart(pending)
        if pending.token is not None:
            _pass_on(pending, "notifications/progress", wire.with_members(params, progressToken=pending.token))

    def _question_withdrawn(self, params: bytes) -> None:
        with contextlib.suppress(msgspec.DecodeError):
            task = self._asks.get(bytes(wire.members(params).get("requestId", b"")))
            if task is not None:
                task.cancel()

    def _asked(self, asked: wire.Asked) -> None:
        if self.era is Era.MODERN:
            # A modern server must not send requests, and we must not answer: the client writes no responses.
            self._count(f"a request {asked.method} from a modern server")
        elif asked.method == "ping":
            self._respond(asked.id, Reply(result=b"{}"))
        elif asked.method not in ASKABLE:
            self._respond(asked.id, Reply(error=_UNKNOWN))
        else:
            self._serial = True
            self._put(asked)

    def _put(self, asked: wire.Asked) -> None:
        """A question to the caller it belongs to, if there is exactly one it can belong to.

        Our own requests, such as a listing beside a call, have nobody behind them: no question is theirs.
        """
        callers = [pending for pending in self._pending.values() if pending.exchange.ask is not None]
        if len(callers) != 1:
            why = "several calls in flight: whose question is it?" if callers else "no caller can be asked"
            self._respond(asked.id, Reply(error=wire.error_object(-32603, why)))
            return
        (pending,) = callers
        task = asyncio.ensure_future(self._ask(asked, pending))
        pending.asks.add(task)
        self._asks[asked.id] = task
        task.add_done_callback(pending.asks.discard)
        task.add_done_callback(lambda _: self._asks.pop(asked.id, None))

    async def _ask(self, asked: wire.Asked, pending: _Pending) -> None:
        if pending.exchange.ask is None:
            return
        # While a person thinks, the server's silence is not its own.
        pending.scope.reschedule(pending.deadline)
        reply = await pending.exchange.ask(asked.method, asked.params)
        _restart(pending)
        self._respond(asked.id, reply)

    def _respond(self, identity: bytes, reply: Reply) -> None:
        if self._failure is None:
            self._write(wire.response(identity, reply) + b"\n")

    def fail(self, error: HomeportError) -> None:
        """The conversation is over: whoever waits gets an error that says the outcome is unknown."""
        if self._failure is not None:
            return
        self._failure = error
        for pending in self._pending.values():
            if not pending.future.done():
                pending.future.set_exception(_unknown_outcome(error))


def _deadline(exchange: Exchange, limits: Limits, now: float) -> float:
    """A stream that is meant to stay open ends never; a call ends, however much progress it tells."""
    return math.inf if exchange.timeout == math.inf else now + limits.call_total


def _seconds(timeout: float) -> float | None:
    return None if timeout == math.inf else timeout


def _pass_on(pending: _Pending, method: str, params: bytes) -> None:
    if pending.exchange.on_notification is not None:
        pending.exchange.on_notification(method, params)


def _restart(pending: _Pending) -> None:
    """Silence is counted anew."""
    now = asyncio.get_running_loop().time()
    if not pending.future.done() and not pending.scope.expired():
        pending.scope.reschedule(min(now + pending.exchange.timeout, pending.deadline))


def _unknown_outcome(error: HomeportError) -> HomeportError:
    if isinstance(error, ProtocolViolation):
        return ProtocolViolation(error.message, code=error.code, whose=error.whose, remedy=error.remedy)
    return Unavailable(
        f"{error.message}; whether the call took effect is unknown",
        code="upstream.outcome_unknown",
        remedy=error.remedy,
    )


async def _bounded(waiting: Waiting, timeout: float, name: str) -> None:
    try:
        await asyncio.wait_for(waiting, timeout)
    except TimeoutError:
        raise Unavailable(f"{name} does not read its input", code="upstream.timeout") from None
