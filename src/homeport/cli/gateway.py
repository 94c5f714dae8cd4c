"""The running gateway: everything assembled, listening, watched, and ended in the right order."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Coroutine, Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import uvicorn

import homeport
from homeport.calls.events import Event, Topic
from homeport.cli.assemble import Parts, assembled
from homeport.cli.serve import DEFAULT_PORT, tell_ready
from homeport.cli.session import Session
from homeport.console.app import Console
from homeport.gateway import runfile
from homeport.gateway.auth import LOOPBACK, OperatorSessions, Tokens
from homeport.gateway.endpoint import Gateway
from homeport.gateway.local import LocalServer
from homeport.ground.errors import Conflict, HomeportError, InvalidInput
from homeport.ground.paths import project_key
from homeport.ops import calling, retention
from homeport.ops.desk import RunningDesk
from homeport.ops.rows import ServerRow

PORTS_TRIED: Final = 20
DRAIN_SECONDS: Final = 5
"""Calls in flight get this long when the gateway is asked to stop."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the command line asks for."""

    root: Path
    host: str
    port: int | None
    console: bool
    detached: bool


def run(session: Session, wanted: Wanted) -> None:
    """Serve until a signal or `down`. Raises `Conflict` (`gateway.running`, `gateway.port`) before anything starts."""
    if wanted.host not in LOOPBACK and f"[{wanted.host}]" not in LOOPBACK:
        raise InvalidInput(
            f"{wanted.host} is not a loopback address; serving beyond this machine is not supported yet",
            code="gateway.host",
            remedy="homeport up --host 127.0.0.1",
        )
    paths, key = session.context.paths, project_key(wanted.root)
    with runfile.claim(paths.run, key) as claim, _listening(wanted) as listener:
        _runner()(_serve(session, wanted, claim, listener))


def _runner() -> Callable[[Coroutine[Any, Any, None]], None]:
    if sys.platform == "win32":
        return asyncio.run
    import uvloop

    return uvloop.run


@contextlib.contextmanager
def _listening(wanted: Wanted) -> Generator[socket.socket]:
    """The bound socket: the port asked for, else 7333 or the next free one."""
    family = socket.AF_INET6 if ":" in wanted.host else socket.AF_INET
    reason = "no port is free"
    ports = [wanted.port] if wanted.port is not None else [*range(DEFAULT_PORT, DEFAULT_PORT + PORTS_TRIED), 0]
    for port in ports:
        listener = socket.socket(family)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((wanted.host, port))
            listener.listen(1024)
        except OSError as error:
            listener.close()
            reason = error.strerror or reason
            continue
        listener.setblocking(False)
        with listener:
            yield listener
        return
    raise Conflict(
        f"cannot listen on {wanted.host}:{wanted.port}: {reason}",
        code="gateway.port",
        remedy="homeport up --port 0 takes a free one",
    )


class _Server(uvicorn.Server):
    """uvicorn without its own signal handlers: ours end more than HTTP."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = asyncio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        """Take none."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Tell when requests are answered."""
        await super().startup(sockets)
        self.listening.set()


class _Running:
    """One gateway from its first socket to its last."""

    def __init__(self, session: Session, wanted: Wanted, parts: Parts, listener: socket.socket) -> None:
        context = session.context
        key = project_key(wanted.root)
        self.session = session
        self.wanted = wanted
        self.parts = parts
        self.listener = listener
        self.stop = asyncio.Event()
        host, port = listener.getsockname()[:2]
        self.origin = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
        self.operators = OperatorSessions(time.monotonic)
        self.tokens = Tokens(context.paths.state / "tokens" / f"{key}.json")
        self.desk = RunningDesk(
            source=parts.source,
            gate=parts.gate,
            pool=parts.pool,
            pipeline=parts.pipeline,
            approvals=parts.approvals,
            bus=parts.bus,
            store=parts.store,
            endpoint=f"{self.origin}/mcp",
        )
        self.console = Console(self.desk, self.operators, limits=context.limits) if wanted.console else None
        self.gateway = Gateway(
            parts.pipeline,
            parts.source.current,
            parts.gate,
            parts.pool,
            parts.bus,
            self.tokens,
            context.limits,
            version=homeport.__version__,
            fallback=self.console,
        )
        path = runfile.socket_path(context.paths.run, key, context.environment)
        self.local = LocalServer(self.gateway, path, self.operator, context.limits)
        self.socket_path = path

    def ready(self) -> dict[str, Any]:
        """What a program that started us needs to know. Each call makes a new one-time link."""
        return {
            "endpoint": f"{self.origin}/mcp",
            "console": f"{self.origin}/open/{self.operators.new_link()}" if self.console else "",
            "token": self.tokens.token("default").reveal(),
            "pid": os.getpid(),
            "project": str(self.wanted.root),
        }

    async def operator(self, verb: str, params: Mapping[str, Any]) -> Any:
        """A verb of this user's commands."""
        match verb:
            case "down":
                self.stop.set()
                return {"pid": os.getpid()}
            case "ready":
                return self.ready()
            case "call":
                called = await calling.call(
                    self.parts.pipeline,
                    server=str(params.get("server")),
                    tool=str(params.get("tool")),
                    arguments=str(params.get("arguments") or "{}").encode(),
                    profile=str(params.get("profile") or "default"),
                    dry_run=bool(params.get("dry_run")),
                    timeout=_seconds(params.get("timeout"), self.session.context.limits.call_total),
                )
                return called.told()
            case _:
                return await self.desk.operator(verb, params)

    def running(self) -> runfile.Running:
        """The run file."""
        host, port = self.listener.getsockname()[:2]
        return runfile.Running(
            pid=os.getpid(),
            started=runfile.start_time(os.getpid()),
            version=homeport.__version__,
            project=str(self.wanted.root),
            socket=str(self.socket_path),
            host=f"[{host}]" if ":" in host else host,
            port=port,
            detached=self.wanted.detached,
        )


def _seconds(value: Any, most: float) -> float | None:
    """A time that a command of this user asks for; None: as configured."""
    return min(float(value), most) if isinstance(value, (int, float)) and value > 0 else None


async def _serve(session: Session, wanted: Wanted, claim: runfile.Claim, listener: socket.socket) -> None:
    keep_days = retention.days(session.context.environment)
    async with assembled(session.context, wanted.root) as parts:
        running = _Running(session, wanted, parts, listener)
        server = _Server(_configuration(running))
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, running.stop.set)
        await running.local.start()
        journals = session.context.paths.journal
        await asyncio.to_thread(retention.trim, journals, parts.store, keep_days=keep_days)
        parts.store.catch_up(journals)
        async with asyncio.TaskGroup() as group:
            serving = group.create_task(server.serve(sockets=[listener]))
            beside = [
                group.create_task(running.gateway.watch()),
                group.create_task(parts.source.watch()),
                group.create_task(_end_when_idle(running)),
                group.create_task(_follow_tokens(running.tokens)),
            ]
            await server.listening.wait()
            claim.publish(running.running())
            await _announce(running)
            await running.stop.wait()
            await _end(running, server)
            await serving
            for task in beside:
                task.cancel()


def _configuration(running: _Running) -> uvicorn.Config:
    limits = running.session.context.limits
    return uvicorn.Config(
        running.gateway,
        http="httptools",
        loop="none",
        lifespan="off",
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        date_header=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=DRAIN_SECONDS,
        h11_max_incomplete_event_size=limits.header,
    )


async def _end(running: _Running, server: uvicorn.Server) -> None:
    if running.console is not None:
        running.console.close()
    await running.gateway.close()
    await running.local.close()
    server.should_exit = True


async def _end_when_idle(running: _Running) -> None:
    """A detached gateway ends when nobody has used it for long."""
    limit = running.session.context.limits.detached_idle
    while running.wanted.detached:
        quiet = time.monotonic() - running.gateway.last_used
        if not running.gateway.busy and not running.local.clients and quiet >= limit:
            running.stop.set()
            return
        await asyncio.sleep(max(1.0, min(60.0, limit - quiet)))


async def _follow_tokens(tokens: Tokens) -> None:
    """Take over tokens that `homeport token --rotate` wrote; one `stat` a second."""
    while True:
        await asyncio.sleep(1)
        with contextlib.suppress(HomeportError):
            tokens.reload()


async def _announce(running: _Running) -> None:
    """The addresses, what is offered and what is not and why; later one line a change of state."""
    session = running.session
    tell_ready(session, running.ready())
    if session.output.json or session.output.quiet:
        return
    for row in await running.desk.servers():
        _tell_server(session, row)
    if not running.parts.source.current().profiles_trusted:
        session.output.note("  the grants of this project are not trusted; run `homeport trust`")
    running.parts.bus.listen(lambda event: _tell_event(session, event))


def _tell_server(session: Session, row: ServerRow) -> None:
    if row.sentence:
        session.output.note(f"  {row.name:<12} withheld: {row.sentence}")
        if row.remedy:
            session.output.note(f"  {'':<12} to mend it: {row.remedy}")
    else:
        session.output.note(f"  {row.name:<12} offers {row.tools_granted} of {row.tools_locked} tools")


def _tell_event(session: Session, event: Event) -> None:
    data = event.data
    match event.topic:
        case Topic.SERVER:
            session.output.note(f"  {data['server']:<12} {data['state']}")
        case Topic.ROSTER:
            session.output.note("  the project changed and is in force")
        case Topic.FAULT:
            session.output.note(f"  not taken over, the old one stays in force: {data['text']}")
        case Topic.DRIFT if data.get("tools"):
            names = ", ".join(data["tools"])
            session.output.note(f"  {data['server']:<12} is not what was locked: {names}; homeport surface diff")
        case _:
            pass
