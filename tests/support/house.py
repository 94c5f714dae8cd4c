"""The whole call path around one real stdio server, for tests: pool, journal, pipeline, and what each of them saw."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tests.servers import scripted

from homeport.calls import lines
from homeport.calls.approvals import Approvals
from homeport.calls.audit import Journal
from homeport.calls.drift_watch import DriftWatch
from homeport.calls.events import Bus
from homeport.calls.gate import Gate
from homeport.calls.operation import Kind, Operation, Outcome
from homeport.calls.pipeline import Pipeline, Sessions
from homeport.calls.ports import AuditRow, Client, Store
from homeport.calls.rates import Limiter
from homeport.calls.roster import Entry, Roster
from homeport.calls.secrets_source import SecretsSource
from homeport.declarations.model import Availability, Declaration
from homeport.ground.exact import loads
from homeport.ground.limits import Limits
from homeport.ground.secrets import Scrubber, Secret, Template
from homeport.machine.children import Supervisor, minimal_environment
from homeport.surface.decide import compile_view
from homeport.surface.lock import from_listing
from homeport.surface.model import Surface
from homeport.surface.policy import Grant, Profile
from homeport.upstreams.launch import StdioLaunch
from homeport.upstreams.listing import read_surface_lists
from homeport.upstreams.pool import Notified, Pool
from homeport.upstreams.session import Era, Reply, Session

SERVER = "scripted"
QUICK = Limits(close_grace=0.3, connect_timeout=20.0, call_timeout=10.0, ask_timeout=5.0)
ALL = Grant(SERVER, can=("*",), prompts=("*",), resources=("memo://*",))
CLIENT = Client(edge="http", era=Era.MODERN, name="tester", version="1")


def surface(tools: Sequence[Mapping[str, Any]] = scripted.TOOLS) -> Surface:
    """What the scripted server offers, as a lock would hold it."""
    return from_listing(
        capabilities=exact(Server_capabilities),
        tools=exact(list(tools)),
        prompts=exact(scripted.PROMPTS),
        templates=exact(scripted.TEMPLATES),
        pages={scripted.PAGE: scripted.PAGE_TEXT},
    )


Server_capabilities = {"tools": {"listChanged": True}, "prompts": {}, "resources": {}, "completions": {}}


def exact(value: Any) -> Any:
    """A value as `ground.exact` decodes it."""
    return loads(json.dumps(value))


@dataclass
class Caller:
    """A caller that remembers what it was told and answers what it is asked."""

    client: Client = CLIENT
    told: list[tuple[str, Any]] = field(default_factory=list)
    asked: list[tuple[str, Any]] = field(default_factory=list)
    reply: Reply = field(default_factory=lambda: Reply(error=b'{"code":-32601,"message":"cannot ask"}'))

    def notify(self, method: str, params: bytes) -> None:
        self.told.append((method, json.loads(params)))

    async def ask(self, method: str, params: bytes) -> Reply:
        self.asked.append((method, json.loads(params)))
        return self.reply


@dataclass
class House:
    """One server, one profile, one pipeline."""

    roster: Roster
    pipeline: Pipeline
    pool: Pool
    journal: Journal
    bus: Bus
    approvals: Approvals
    drift: DriftWatch
    record: Path
    declared: dict[str, Availability]
    stderr: list[str]

    async def call(
        self, name: str, arguments: Any = None, *, caller: Caller | None = None, **operation: Any
    ) -> Outcome:
        """Call a tool by its own name; `arguments` may be bytes."""
        return await self.pipeline.run(self.operation(name, arguments, caller=caller, **operation))

    def operation(
        self, name: str, arguments: Any = None, *, caller: Caller | None = None, kind: Kind = Kind.TOOL, **rest: Any
    ) -> Operation:
        """The operation that `call` runs."""
        params: dict[str, bytes] = dict(rest.pop("params", {}))
        if arguments is not None:
            params["arguments"] = arguments if isinstance(arguments, bytes) else json.dumps(arguments).encode()
        rest.setdefault("server", SERVER)
        return Operation(kind, rest.pop("profile", "default"), name, params, caller or Caller(), **rest)

    def grant(self, grant: Grant = ALL, *, locked: Surface | None = None, **profile: Any) -> None:
        """Put another grant, lock or profile in force."""
        held = Profile("default", grants={SERVER: grant}, **profile)
        entry = self.roster.entries[SERVER]
        if locked is not None:
            entry = replace(entry, surface=locked)
        assert entry.surface is not None
        view = compile_view(held, {SERVER: entry.surface})
        assert not view.problems, view.problems
        self.roster = replace(
            self.roster,
            entries={SERVER: entry},
            profiles={"default": held},
            views={"default": view},
            digest=f"roster-{time.monotonic_ns()}",
        )

    def change(self, **entry: Any) -> None:
        """Change the entry of the server."""
        changed = replace(self.roster.entries[SERVER], **entry)
        self.roster = replace(self.roster, entries={SERVER: changed}, digest=f"roster-{time.monotonic_ns()}")

    def rows(self, stage: str = "") -> list[AuditRow]:
        """The rows in the journal."""
        data = self.journal.path.read_bytes() if self.journal.path else b""
        assert lines.broken_links(data) == []
        return [row for row in lines.rows(data) if not stage or row.stage == stage]

    def text(self) -> str:
        """The journal as it stands in the file."""
        return self.journal.path.read_text() if self.journal.path else ""

    def received(self, method: str = "tools/call") -> list[dict[str, Any]]:
        """Messages of a method that reached the server, over all its lives."""
        if not self.record.exists():
            return []
        messages = [json.loads(line) for line in self.record.read_bytes().splitlines()]
        return [message["params"] for message in messages if message.get("method") == method]


@asynccontextmanager
async def house(
    directory: Path,
    *,
    arguments: Sequence[str] = (),
    grant: Grant = ALL,
    locked: Surface | None = None,
    limits: Limits = QUICK,
    env: Mapping[str, str] | None = None,
    secrets: Mapping[str, str] | None = None,
    around: Callable[[Pool], Sessions] | None = None,
    store: Store | None = None,
    clock: Callable[[], float] = time.monotonic,
    isolation: Any = "shared",
    memory: Any = None,
    **profile: Any,
) -> AsyncGenerator[House]:
    """A house in a directory, closed afterwards. `env`: templates by name; `secrets`: what the store holds."""
    record = directory / "record.jsonl"
    argv = (sys.executable, str(Path(scripted.__file__)), "--record", str(record), *arguments)
    launch = StdioLaunch(argv, directory, {name: (Template(text),) for name, text in (env or {}).items()}, "sha256:0")
    entry = Entry(SERVER, "command scripted", launch, surface(), trusted=True, isolation=isolation)
    scrubber, bus, stderr = Scrubber(), Bus(), list[str]()
    held = secrets or {}
    source = SecretsSource(lambda name: Secret(held[name]) if name in held else None, {}, scrubber)
    supervisor = Supervisor(
        directory / "state", environment=minimal_environment(os.environ, sys.platform), limits=limits
    )
    pool = Pool(supervisor=supervisor, resolve=source, limits=limits)
    journal = Journal(directory / "journal", key=b"k" * 32, scrub=scrubber, bus=bus, store=store, tell=stderr.append)
    declared: dict[str, Availability] = {}
    drift = DriftWatch(live_surface, clock, bus=bus)
    approvals = Approvals(bus=bus, timeout=limits.ask_timeout, memory=memory)

    def available(declaration: Declaration, _: Any) -> Availability:
        return declared[declaration.name]

    pipeline = Pipeline(
        roster=lambda: made.roster,
        gate=Gate(None, available, clock, limits),
        sessions=around(pool) if around else pool,
        journal=journal,
        limiter=Limiter(clock),
        approvals=approvals,
        drift=drift,
        scrub=scrubber,
        limits=limits,
    )
    roster = Roster("test", directory, {SERVER: entry}, profiles_trusted=True)
    made = House(roster, pipeline, pool, journal, bus, approvals, drift, record, declared, stderr)
    made.grant(grant, locked=locked, **profile)
    pool.listen(lambda event: drift.list_changed(SERVER) if isinstance(event, Notified) else None)
    try:
        yield made
    finally:
        await drift.close()
        await pool.close()
        await supervisor.close()
        journal.close()


async def live_surface(session: Session) -> Surface:
    """What drift is compared with."""
    return (await read_surface_lists(session, pages=False)).surface()
