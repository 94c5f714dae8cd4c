"""Putting the parts together: the only place that knows every implementation."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from pathlib import Path

import homeport
from homeport.calls.approvals import Approvals
from homeport.calls.audit import Journal, journal_key
from homeport.calls.drift_watch import DriftWatch
from homeport.calls.events import Bus, Event, Topic
from homeport.calls.gate import Gate
from homeport.calls.pipeline import Pipeline
from homeport.calls.rates import Limiter
from homeport.calls.secrets_source import SecretsSource
from homeport.ground.files import private_directory
from homeport.ground.secrets import Scrubber
from homeport.machine.children import Supervisor, minimal_environment
from homeport.ops.checking import gate_of
from homeport.ops.context import Context
from homeport.ops.watching import RosterSource
from homeport.store.sqlite import SqliteStore
from homeport.surface.model import Surface
from homeport.upstreams.listing import read_surface_lists
from homeport.upstreams.pool import Notified, Pool, StateChanged
from homeport.upstreams.session import Session


@dataclass(frozen=True, slots=True)
class Parts:
    """Everything a call needs, in one process."""

    source: RosterSource
    gate: Gate
    pool: Pool
    pipeline: Pipeline
    approvals: Approvals
    bus: Bus
    journal: Journal
    store: SqliteStore


def open_store(context: Context) -> SqliteStore:
    """The index of this user's journal and what must outlive a process."""
    private_directory(context.paths.state)
    return SqliteStore(context.paths.database)


@contextlib.asynccontextmanager
async def assembled(context: Context, root: Path) -> AsyncGenerator[Parts]:
    """The parts of one project, open inside the block. Raises what `ops.roster.load` and the journal raise."""
    scrub = Scrubber()
    bus = Bus()
    store = open_store(context)
    journal = Journal(
        context.paths.journal,
        key=journal_key(context.paths.state / "journal.key"),
        scrub=scrub,
        bus=bus,
        store=store,
    )
    environment = minimal_environment(context.environment, context.platform)
    supervisor = Supervisor(context.paths.state, environment=environment, limits=context.limits)
    pool = Pool(
        supervisor=supervisor,
        resolve=SecretsSource(context.secrets().get, context.environment, scrub),
        limits=context.limits,
        client_info=f'{{"name":"homeport","version":"{homeport.__version__}"}}'.encode(),
    )
    gate = gate_of(context)
    drift = DriftWatch(_live_surface, time.monotonic, bus=bus)
    approvals = Approvals(bus=bus, timeout=context.limits.ask_timeout, memory=store)
    try:
        source = RosterSource(context, root, bus, gate, pool)
        pipeline = Pipeline(
            roster=source.current,
            gate=gate,
            sessions=pool,
            journal=journal,
            limiter=Limiter(time.monotonic),
            approvals=approvals,
            drift=drift,
            scrub=scrub,
            limits=context.limits,
        )
        unhear = pool.listen(_teller(bus, drift))
        yield Parts(source, gate, pool, pipeline, approvals, bus, journal, store)
        unhear()
    finally:
        await drift.close()
        await pool.close()
        await supervisor.close()
        bus.close()
        journal.close()
        await asyncio.to_thread(store.close)


async def _live_surface(session: Session) -> Surface:
    return (await read_surface_lists(session, pages=False)).surface()


def _teller(bus: Bus, drift: DriftWatch) -> Callable[[StateChanged | Notified], None]:
    def heard(event: StateChanged | Notified) -> None:
        if isinstance(event, StateChanged):
            state = event.state
            bus.publish(Event(Topic.SERVER, {"server": state.server, "state": state.status.value}))
        elif event.method.endswith("/list_changed"):
            drift.list_changed(event.key.server)

    return heard
