"""The open sessions of a gateway: started when first asked for, shared, watched, stopped when idle.

A session is shared by all who have the same `Key`. A server that fails to start, or dies soon, is left alone for a
growing while, so that a broken one costs the others nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import random
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from homeport.ground.errors import HomeportError, ProtocolViolation, Unavailable
from homeport.ground.limits import DEFAULT, Limits
from homeport.machine.children import Child, Supervisor
from homeport.upstreams.launch import HttpLaunch, Launch, StdioLaunch
from homeport.upstreams.open import Hears, Resolve, open_session
from homeport.upstreams.session import Era, Negotiated, Session

if TYPE_CHECKING:
    from homeport.upstreams.web import Web

FIRST_PAUSE: Final = 0.5
"""Seconds until a server that failed is tried again; doubled with each failure in a row."""
LONGEST_PAUSE: Final = 60.0
LIVED: Final = 10.0
"""A session that lasted this long did not fail to start: when it dies, counting begins anew."""
NOT_LEGACY: Final = frozenset({"upstream.refused", "upstream.version", "upstream.http_status", "upstream.not_mcp"})
"""What a server answers `initialize` with that may know `server/discover`."""

_log = logging.getLogger("homeport.upstreams")
_random = random.SystemRandom()


@dataclass(frozen=True, slots=True)
class Key:
    """Who shares a session: callers for whom all of this is equal (design section 7, *Sharing*)."""

    server: str
    digest: str
    """Of the launch."""
    principal: str = ""
    """Whose credentials; or the caller, for `isolation = "caller"`."""
    capabilities: bytes = b"{}"
    """Raw JSON of the client capabilities told to the server."""
    era: Era = Era.MODERN
    """To speak where the server speaks both: the caller's own, so that nothing between them needs translation."""


class Status(StrEnum):
    """Of one session."""

    STOPPED = "stopped"
    STARTING = "starting"
    READY = "ready"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class UpstreamState:
    """One session at one moment, for people."""

    server: str
    status: Status
    since: float
    """Seconds since the epoch."""
    key: Key
    era: str = ""
    version: str = ""
    pid: int = 0
    """0: no process (a remote server, or none running)."""
    in_use: int = 0
    """Callers that hold it now."""
    code: str = ""
    reason: str = ""
    """Why it failed, in words."""
    remedy: str = ""
    stderr: tuple[str, ...] = ()
    """Last lines of its standard error, scrubbed."""


@dataclass(frozen=True, slots=True)
class StateChanged:
    """A session started, is ready, failed or was stopped."""

    state: UpstreamState


@dataclass(frozen=True, slots=True)
class Notified:
    """A server sent a notification that belongs to no call: `list_changed`, `resources/updated`, a log message."""

    key: Key
    method: str
    params: bytes


Listener: TypeAlias = Callable[[StateChanged | Notified], None]
"""Called on the event loop; must not block or raise."""


@dataclass(slots=True, eq=False)
class _Slot:
    """One key's session and its history."""

    key: Key
    launch: Launch
    status: Status = Status.STOPPED
    since: float = field(default_factory=time.time)
    session: Session | None = None
    child: Child | None = None
    negotiated: Negotiated | None = None
    opening: asyncio.Task[HomeportError | None] | None = None
    error: HomeportError | None = None
    failures: int = 0
    retry_at: float = 0.0
    ready_at: float = 0.0
    leases: int = 0
    idle: asyncio.TimerHandle | None = None
    used_at: float = 0.0
    """When the last caller was done, on the loop's clock. The timer looks at it, so that a call need not set one."""
    retired: bool = False


class Pool:
    """Leases sessions. One a gateway; `close` it before its supervisor."""

    def __init__(
        self,
        *,
        supervisor: Supervisor,
        resolve: Resolve,
        limits: Limits = DEFAULT,
        client_info: bytes = b'{"name":"homeport","version":"0"}',
        jitter: Callable[[], float] = _random.random,
    ) -> None:
        """`resolve` fills configured values with secrets; `jitter` gives numbers from 0 to 1."""
        self._supervisor = supervisor
        self._resolve = resolve
        self._limits = limits
        self._client_info = client_info
        self._jitter = jitter
        self._slots: dict[Key, _Slot] = {}
        self._eras: dict[str, Era] = {}
        """Launches whose server speaks one era only, as was found when the other was asked for."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._listeners: list[Listener] = []
        self._web: Web | None = None
        self._closed = False

    @contextlib.asynccontextmanager
    async def lease(
        self, server: str, launch: Launch, *, principal: str = "", capabilities: bytes = b"{}", era: Era = Era.MODERN
    ) -> AsyncGenerator[Session]:
        """A session to use inside the block, opened if need be; it is not stopped as idle meanwhile.

        It is of this era where the server speaks both.

        Raises what `open_session` raises, also again and at once while a failed server is left alone.
        """
        slot = self._slot(Key(server, digest_of(launch), principal, capabilities, era), launch)
        slot.leases += 1
        try:
            yield await self._session(slot)
        finally:
            slot.leases -= 1
            if slot.leases == 0:
                self._unused(slot)

    def states(self) -> list[UpstreamState]:
        """Every session that is open, opening or failed, by server."""
        return [self._state(slot) for _, slot in sorted(self._slots.items(), key=lambda item: item[0].server)]

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Hear of states and notifications; returns how to stop."""
        self._listeners.append(listener)

        def stop() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return stop

    def stderr(self, server: str, last: int = 0) -> list[tuple[Key, tuple[str, ...]]]:
        """What the sessions of a server wrote to standard error."""
        return [
            (slot.key, slot.child.stderr(last))
            for slot in self._slots.values()
            if slot.key.server == server and slot.child is not None
        ]

    async def restart(self, server: str) -> list[UpstreamState]:
        """Stop every session of a server and open it again; the states afterwards, failed ones too."""
        slots = [slot for slot in self._slots.values() if slot.key.server == server]
        for slot in slots:
            await self._stop(slot)
            slot.failures, slot.retry_at, slot.error = 0, 0.0, None
            with contextlib.suppress(HomeportError):
                await self._session(slot)
            if slot.leases == 0:
                self._unused(slot)
        return [self._state(slot) for slot in slots]

    async def stop(self, server: str) -> None:
        """Stop every session of a server; calls in flight end with an error."""
        for slot in [slot for slot in self._slots.values() if slot.key.server == server]:
            self._slots.pop(slot.key, None)
            await self._stop(slot)

    async def retire(self, names_or_digests: Iterable[str]) -> None:
        """No new call gets a session of these servers or launches; each stops when its last call is done."""
        chosen = frozenset(names_or_digests)
        for slot in list(self._slots.values()):
            if slot.key.server in chosen or slot.key.digest in chosen:
                self._slots.pop(slot.key, None)
                slot.retired = True
                if slot.leases == 0:
                    await self._stop(slot)

    async def close(self) -> None:
        """Stop everything. Never raises."""
        self._closed = True
        slots, self._slots = list(self._slots.values()), {}
        await asyncio.gather(*(self._stop(slot) for slot in slots))
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._web is not None:
            await self._web.close()

    def _slot(self, key: Key, launch: Launch) -> _Slot:
        slot = self._slots.get(key)
        if slot is None and key.digest in self._eras:
            # The server speaks one era only: whoever asks for the other shares the session that there is.
            other = Era.LEGACY if key.era is Era.MODERN else Era.MODERN
            slot = self._slots.get(replace(key, era=other))
        if slot is None:
            slot = self._slots[key] = _Slot(key, launch)
        return slot

    async def _session(self, slot: _Slot) -> Session:
        if self._closed:
            raise Unavailable("shutting down", code="upstream.closed")
        if slot.session is not None and slot.session.alive:
            return slot.session
        if slot.opening is None:
            self._check_pause(slot)
            slot.opening = asyncio.ensure_future(self._open(slot))
        # Shielded: others wait for the same start, and a caller that goes away must not take it from them.
        error = await _result_of(slot.opening, slot.key.server)
        if error is not None:
            raise error
        if slot.session is None:
            raise slot.error or Unavailable(f"{slot.key.server} was stopped", code="upstream.closed")
        return slot.session

    def _check_pause(self, slot: _Slot) -> None:
        left = slot.retry_at - asyncio.get_running_loop().time()
        if slot.error is not None and left > 0:
            raise Unavailable(
                f"{slot.error} (tried again in {left:.1f} s)", code=slot.error.code, remedy=slot.error.remedy
            )

    async def _open(self, slot: _Slot) -> HomeportError | None:
        """One start, for everyone who waits for it: the error, or None and the slot has its session."""
        self._change(slot, Status.STARTING)
        try:
            slot.session = await self._open_session(slot)
            slot.negotiated = slot.session.negotiated
        except HomeportError as error:
            self._failed(slot, error)
            return error
        except Exception as error:  # noqa: BLE001  # the boundary of this task: one server's bug stays its own
            _log.exception("opening %s", slot.key.server)
            failure = Unavailable(f"internal error: {type(error).__name__}", code="upstream.internal")
            self._failed(slot, failure)
            return failure
        finally:
            slot.opening = None
        if slot.negotiated.era is not slot.key.era:
            self._eras[slot.key.digest] = slot.negotiated.era
        slot.error = None
        slot.ready_at = asyncio.get_running_loop().time()
        self._change(slot, Status.READY)
        return None

    async def _open_session(self, slot: _Slot) -> Session:
        if isinstance(slot.launch, HttpLaunch) and self._web is None:
            from homeport.upstreams.web import Web

            self._web = Web(self._limits)
        only = self._eras.get(slot.key.digest)
        if slot.key.era is Era.MODERN or only is Era.MODERN:
            return await self._opened(slot, only)
        try:
            return await self._opened(slot, Era.LEGACY)
        except HomeportError as error:
            if only is not None or error.code not in NOT_LEGACY:
                raise
        return await self._opened(slot, Era.MODERN)

    async def _opened(self, slot: _Slot, known: Era | None) -> Session:
        return await open_session(
            slot.launch,
            resolve=self._resolve,
            supervisor=self._supervisor,
            limits=self._limits,
            client_info=self._client_info,
            capabilities=slot.key.capabilities,
            name=slot.key.server,
            known=known,
            hears=Hears(
                heard=partial(self._heard, slot.key),
                ended=partial(self._ended, slot),
                child=partial(_remember_child, slot),
            ),
            web=self._web,
        )

    def _heard(self, key: Key, method: str, params: bytes) -> None:
        self._tell(Notified(key, method, params))

    def _ended(self, slot: _Slot, error: HomeportError) -> None:
        """A session ended by itself."""
        session, slot.session = slot.session, None
        if session is None:
            return
        self._keep(session.close())
        if asyncio.get_running_loop().time() - slot.ready_at > LIVED:
            slot.failures = 0
        self._failed(slot, error, sudden=True)

    def _failed(self, slot: _Slot, error: HomeportError, *, sudden: bool = False) -> None:
        slot.error = error
        if isinstance(error, Unavailable | ProtocolViolation):
            slot.failures += 1
            # A legacy server that was replaced by a modern one must be asked again.
            self._eras.pop(slot.key.digest, None)
            doublings = slot.failures - (2 if sudden else 1)
            pause = 0.0 if doublings < 0 else min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(doublings, 10))
            slot.retry_at = asyncio.get_running_loop().time() + pause * (0.5 + self._jitter())
        self._change(slot, Status.FAILED)

    def _unused(self, slot: _Slot) -> None:
        loop = asyncio.get_running_loop()
        slot.used_at = loop.time()
        if slot.retired or self._closed:
            self._keep(self._stop(slot))
        elif slot.idle is None:
            slot.idle = loop.call_later(self._limits.idle_stop, self._idle, slot)

    def _idle(self, slot: _Slot) -> None:
        slot.idle = None
        if slot.leases:
            return
        loop = asyncio.get_running_loop()
        left = slot.used_at + self._limits.idle_stop - loop.time()
        if left > 0.001:
            slot.idle = loop.call_later(left, self._idle, slot)
        else:
            if self._slots.get(slot.key) is slot:
                del self._slots[slot.key]
            self._keep(self._stop(slot))

    async def _stop(self, slot: _Slot) -> None:
        if slot.idle is not None:
            slot.idle.cancel()
            slot.idle = None
        if slot.opening is not None:
            slot.opening.cancel()
            await asyncio.wait((slot.opening,))
        session, slot.session = slot.session, None
        if session is not None:
            await session.close()
        if slot.status is not Status.STOPPED:
            self._change(slot, Status.STOPPED)

    def _keep(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _change(self, slot: _Slot, status: Status) -> None:
        slot.status, slot.since = status, time.time()
        self._tell(StateChanged(self._state(slot)))

    def _tell(self, event: StateChanged | Notified) -> None:
        for listener in tuple(self._listeners):
            listener(event)

    def _state(self, slot: _Slot) -> UpstreamState:
        negotiated = slot.negotiated if slot.status is Status.READY else None
        error = slot.error if slot.status is Status.FAILED else None
        running = slot.child is not None and slot.child.running
        return UpstreamState(
            server=slot.key.server,
            status=slot.status,
            since=slot.since,
            key=slot.key,
            era=negotiated.era.value if negotiated else "",
            version=negotiated.version if negotiated else "",
            pid=slot.child.pid if slot.child is not None and running else 0,
            in_use=slot.leases,
            code=error.code if error else "",
            reason=error.message if error else "",
            remedy=error.remedy if error else "",
            stderr=slot.child.stderr(20) if slot.child is not None else (),
        )


async def _result_of(opening: asyncio.Task[HomeportError | None], server: str) -> HomeportError | None:
    try:
        return await asyncio.shield(opening)
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if opening.cancelled() and task is not None and not task.cancelling():
            # The start was stopped, not the caller.
            return Unavailable(f"{server} was stopped", code="upstream.closed")
        raise


def _remember_child(slot: _Slot, child: Child) -> None:
    slot.child = child


def digest_of(launch: Launch) -> str:
    """The launch's digest as trusted, or one over what it says (names and references, never values)."""
    if launch.digest:
        return launch.digest
    match launch:
        case StdioLaunch(argv, cwd, env):
            said = repr(("stdio", argv, str(cwd), sorted(env.items())))
        case HttpLaunch(url, headers):
            said = repr(("http", url, sorted(headers.items())))
    return f"sha256:{hashlib.sha256(said.encode('utf-8', 'surrogateescape')).hexdigest()}"
