"""A whole gateway for tests: real servers behind the real pool and pipeline, served over HTTP and over the socket."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import uvicorn

from homeport.calls.approvals import Approvals
from homeport.calls.audit import Journal
from homeport.calls.drift_watch import DriftWatch
from homeport.calls.events import Bus, Event, Topic
from homeport.calls.gate import Gate
from homeport.calls.pipeline import Pipeline
from homeport.calls.rates import Limiter
from homeport.calls.roster import Entry, Roster
from homeport.declarations.model import Availability, Declaration
from homeport.gateway.auth import Tokens
from homeport.gateway.endpoint import Gateway
from homeport.gateway.local import LocalServer
from homeport.gateway.runfile import Claim, Running, claim
from homeport.ground import digests
from homeport.ground.errors import InvalidInput
from homeport.ground.limits import Limits
from homeport.ground.paths import project_key
from homeport.ground.secrets import Chain, Secret
from homeport.machine.children import Supervisor, minimal_environment
from homeport.surface.decide import compile_view
from homeport.surface.model import Surface
from homeport.surface.policy import Grant, Profile
from homeport.upstreams.launch import StdioLaunch
from homeport.upstreams.listing import read_surface_lists
from homeport.upstreams.pool import Pool

SCRIPTED = Path(__file__).parents[1] / "servers" / "scripted.py"
QUICK = Limits(close_grace=0.3, connect_timeout=20.0, facts_max_age=0.1)


async def _resolve(values: Mapping[str, Chain]) -> dict[str, Secret]:
    return {name: Secret(chain[0].text) for name, chain in values.items()}


@dataclass
class Machine:
    """Which servers' applications are here; tests change it."""

    absent: set[str] = field(default_factory=set[str])


@dataclass
class Stack:
    """Everything a test looks at."""

    home: Path
    pool: Pool
    bus: Bus
    gateway: Gateway
    tokens: Tokens
    port: int
    roster: Roster
    local: LocalServer
    surfaces: dict[str, Surface]

    @property
    def project(self) -> Path:
        """The project's directory."""
        return self.home / "project"

    def url(self, *parts: str) -> str:
        """An endpoint."""
        return "/".join((f"http://127.0.0.1:{self.port}/mcp", *parts))

    def bearer(self, profile: str = "default") -> dict[str, str]:
        """The header that opens a profile."""
        return {"Authorization": f"Bearer {self.tokens.token(profile).reveal()}"}

    def change(self, **changes: Any) -> None:
        """Put another roster in force, as a changed file does."""
        self.roster = replace(self.roster, digest=self.roster.digest + "x", **changes)
        self.bus.publish(Event(Topic.ROSTER))

    def grant(self, *grants: Grant, profile: str = "default", **options: Any) -> None:
        """Replace a profile's grants."""
        made = Profile(profile, grants={grant.server: grant for grant in grants}, **options)
        self.change(
            profiles={**self.roster.profiles, profile: made},
            views={**self.roster.views, profile: compile_view(made, self.surfaces)},
        )

    def journal(self) -> str:
        """Everything in the journal."""
        return "".join(file.read_text() for file in sorted((self.home / "state" / "journal").glob("*.jsonl")))


def scripted(name: str, *options: str) -> tuple[str, ...]:
    """The command of a scripted server."""
    return (sys.executable, str(SCRIPTED), "--name", name, *options)


@contextlib.asynccontextmanager
async def running(
    servers: Mapping[str, Sequence[str]],
    profiles: Sequence[Profile],
    *,
    entries: Mapping[str, Mapping[str, Any]] | None = None,
    limits: Limits = QUICK,
) -> AsyncGenerator[Stack]:
    """A gateway in front of these commands. Their surfaces are read once, and the servers stopped again."""
    with tempfile.TemporaryDirectory(prefix="hp") as directory:
        home = Path(directory)
        (home / "project").mkdir()
        (home / "project" / "homeport.toml").write_text('[project]\nname = "test"\n')
        supervisor = Supervisor(
            home / "state", environment=minimal_environment(os.environ, sys.platform), limits=limits
        )
        pool = Pool(supervisor=supervisor, resolve=_resolve, limits=limits)
        try:
            launches = {name: StdioLaunch(tuple(argv), home, digest=f"sha256:{name}") for name, argv in servers.items()}
            surfaces = await _surfaces(pool, launches)
            roster = _roster(home, launches, surfaces, profiles, entries or {})
            async with _serving(home, roster, pool, surfaces, limits) as stack:
                yield stack
        finally:
            await pool.close()
            await supervisor.close()


async def _surfaces(pool: Pool, launches: Mapping[str, StdioLaunch]) -> dict[str, Surface]:
    surfaces: dict[str, Surface] = {}
    for name, launch in launches.items():
        async with pool.lease(name, launch) as session:
            surfaces[name] = (await read_surface_lists(session)).surface()
        await pool.stop(name)
    return surfaces


def _roster(
    home: Path,
    launches: Mapping[str, StdioLaunch],
    surfaces: Mapping[str, Surface],
    profiles: Sequence[Profile],
    changes: Mapping[str, Mapping[str, Any]],
) -> Roster:
    entries = {
        name: replace(Entry(name, f"command {name}", launch, surfaces[name], trusted=True), **changes.get(name, {}))
        for name, launch in launches.items()
    }
    return Roster(
        project="test",
        root=home / "project",
        entries=entries,
        profiles={profile.name: profile for profile in profiles},
        views={profile.name: compile_view(profile, surfaces) for profile in profiles},
        profiles_trusted=True,
        digest=digests.of_bytes(repr(sorted(launches)).encode()),
    )


@contextlib.asynccontextmanager
async def _serving(
    home: Path, roster: Roster, pool: Pool, surfaces: dict[str, Surface], limits: Limits
) -> AsyncGenerator[Stack]:
    bus = Bus()
    machine = Machine()
    holder: list[Stack] = []
    gate = Gate(machine, _available, time.monotonic, limits)
    journal = Journal(home / "state" / "journal", key=b"k" * 32, bus=bus)
    pipeline = Pipeline(
        roster=lambda: holder[0].roster if holder else roster,
        gate=gate,
        sessions=pool,
        journal=journal,
        limiter=Limiter(time.monotonic),
        approvals=Approvals(bus=bus, timeout=0.2),
        drift=DriftWatch(None, time.monotonic, bus=bus),
        limits=limits,
    )
    tokens = Tokens(home / "state" / "tokens" / "key.json")
    for profile in roster.profiles:
        tokens.token(profile)
    gateway = Gateway(
        pipeline, lambda: holder[0].roster if holder else roster, gate, pool, bus, tokens, limits, version="0.1.0"
    )
    path = home / "s"
    local = LocalServer(gateway, path, _operator, limits)
    await local.start()
    watching = asyncio.create_task(gateway.watch())
    async with _uvicorn(gateway) as port:
        stack = Stack(home, pool, bus, gateway, tokens, port, roster, local, surfaces)
        holder.append(stack)
        with _claimed(home, path, port):
            yield stack
        await gateway.close()
    await local.close()
    watching.cancel()
    await asyncio.wait((watching,))
    journal.close()


@contextlib.contextmanager
def _claimed(home: Path, path: Path, port: int) -> Any:
    held: Claim = claim(home / "state" / "run", project_key(home / "project"))
    held.publish(
        Running(
            pid=os.getpid(), started="", version="0.1.0", project=str(home / "project"), socket=str(path),
            host="127.0.0.1", port=port,
        )
    )  # fmt: skip
    with held:
        yield held


@contextlib.asynccontextmanager
async def _uvicorn(app: Any) -> AsyncGenerator[int]:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(128)

    class Server(uvicorn.Server):
        @contextlib.contextmanager
        def capture_signals(self) -> Any:
            yield

    config = uvicorn.Config(
        app, http="httptools", ws="none", lifespan="off", log_level="warning", timeout_graceful_shutdown=2
    )
    server = Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    while not server.started:
        await asyncio.sleep(0.005)
    try:
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        await serving
        listener.close()


def _available(declaration: Declaration, machine: Any) -> Availability:
    raise NotImplementedError(f"no test here declares anything yet: {declaration} {machine}")


async def _operator(verb: str, params: Mapping[str, Any]) -> Any:
    if verb == "echo":
        return dict(params)
    raise InvalidInput(f"there is no verb {verb}", code="operator.unknown", remedy="homeport --help")
