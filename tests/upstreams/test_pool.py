"""The pool: started when asked for, shared, watched, stopped."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import signal
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path

import pytest
from tests.servers import hostile_server, scripted_server
from tests.servers.scripted_http import scripted_http
from tests.support.mcp_calls import said
from tests.support.processes import becomes, runs
from tests.upstreams.conftest import QUICK, resolve

from homeport.ground.errors import Refused, Unavailable
from homeport.ground.limits import Limits
from homeport.ground.secrets import Chain, Secret, Template
from homeport.machine.children import Supervisor
from homeport.upstreams.launch import HttpLaunch, StdioLaunch
from homeport.upstreams.pool import Notified, Pool, StateChanged, Status, digest_of

pytestmark = pytest.mark.anyio


class Pools:
    """Makes pools that the test need not close."""

    def __init__(self, supervisor: Supervisor, root: Path) -> None:
        self.supervisor = supervisor
        self.root = root
        self.made: list[Pool] = []
        self.events: list[StateChanged | Notified] = []

    def __call__(self, limits: Limits = QUICK) -> Pool:
        pool = Pool(supervisor=self.supervisor, resolve=resolve, limits=limits, jitter=lambda: 0.5)
        pool.listen(self.events.append)
        self.made.append(pool)
        return pool

    def launch(self, *options: str) -> StdioLaunch:
        return StdioLaunch(scripted_server(*options), self.root)

    @property
    def statuses(self) -> list[str]:
        return [event.state.status.value for event in self.events if isinstance(event, StateChanged)]


@pytest.fixture
async def pools(supervisor: Supervisor, tmp_path: Path) -> AsyncGenerator[Pools]:
    pools = Pools(supervisor, tmp_path)
    yield pools
    for pool in pools.made:
        await pool.close()


async def where(pool: Pool, launch: StdioLaunch, *, principal: str = "", capabilities: bytes = b"{}") -> int:
    """The pid of the server that answers."""
    async with pool.lease("s", launch, principal=principal, capabilities=capabilities) as session:
        return int((await said(session, "where")).split()[0])


async def test_nothing_starts_before_it_is_asked_for(pools: Pools) -> None:
    pool = pools()
    assert pool.states() == []
    assert await where(pool, pools.launch())
    assert pools.statuses == ["starting", "ready"]
    (state,) = pool.states()
    assert (state.server, state.status, state.era, state.version) == ("s", Status.READY, "modern", "2026-07-28")
    assert runs(state.pid)


async def test_callers_at_once_share_one_start_and_one_process(pools: Pools) -> None:
    pool, launch = pools(), pools.launch()
    pids = await asyncio.gather(*(where(pool, launch) for _ in range(20)))
    assert len(set(pids)) == 1
    assert pools.statuses == ["starting", "ready"]


async def test_another_principal_capability_or_launch_has_another_process(pools: Pools) -> None:
    pool, launch = pools(), pools.launch()
    pids = await asyncio.gather(
        where(pool, launch),
        where(pool, launch, principal="someone"),
        where(pool, launch, capabilities=b'{"sampling":{}}'),
        where(pool, pools.launch("--name", "other")),
    )
    assert len(set(pids)) == 4
    assert len(pool.states()) == 4


async def test_a_caller_that_goes_away_does_not_take_the_start_from_the_others(pools: Pools) -> None:
    pool, launch = pools(), pools.launch("--start-delay", "0.3")
    first = asyncio.ensure_future(where(pool, launch))
    second = asyncio.ensure_future(where(pool, launch))
    assert await becomes(lambda: pools.statuses == ["starting"])
    first.cancel()
    assert await second
    with pytest.raises(asyncio.CancelledError):
        await first
    assert pools.statuses == ["starting", "ready"]


async def test_a_server_that_fails_to_start_is_left_alone_for_a_growing_while(pools: Pools) -> None:
    pool, launch = pools(), StdioLaunch(hostile_server("exits"), pools.root)
    with pytest.raises(Unavailable) as caught:
        await where(pool, launch)
    assert caught.value.code == "upstream.exited"
    with pytest.raises(Unavailable, match="tried again in") as again:
        await where(pool, launch)
    assert again.value.code == "upstream.exited"
    assert pools.statuses == ["starting", "failed"]
    (state,) = pool.states()
    assert state.status is Status.FAILED
    assert state.stderr == ("cannot find the frobnicator", "set FROBNICATOR and try again")
    assert state.remedy == "homeport logs s"
    assert state.pid == 0


async def test_a_broken_server_costs_the_others_nothing(pools: Pools) -> None:
    pool = pools(dataclasses.replace(QUICK, connect_timeout=3.0))

    async def broken() -> None:
        async with pool.lease("silent", StdioLaunch(hostile_server("silent"), pools.root)):
            pass

    trying = asyncio.ensure_future(broken())
    assert await where(pool, pools.launch())
    assert not trying.done()
    with pytest.raises(Unavailable):
        await trying


async def test_a_killed_server_is_started_again_for_the_next_call(pools: Pools) -> None:
    pool, launch = pools(), pools.launch()
    pid = await where(pool, launch)
    os.kill(pid, signal.SIGKILL)
    assert await becomes(lambda: pools.statuses[-1] == "failed")
    (state,) = pool.states()
    assert "SIGKILL" in state.reason
    assert await where(pool, launch) != pid
    assert pools.statuses == ["starting", "ready", "failed", "starting", "ready"]


async def test_an_idle_server_is_stopped_and_started_again(pools: Pools) -> None:
    pool, launch = pools(dataclasses.replace(QUICK, idle_stop=0.1)), pools.launch()
    async with pool.lease("s", launch) as session:
        pid = int((await said(session, "where")).split()[0])
        await asyncio.sleep(0.3)
        assert runs(pid)
    assert await becomes(lambda: not runs(pid))
    assert await becomes(lambda: pools.statuses[-1] == "stopped")
    assert pool.states() == []
    assert await where(pool, launch) != pid


async def test_restart_gives_a_fresh_process_and_forgets_failures(pools: Pools) -> None:
    pool, launch = pools(), pools.launch()
    pid = await where(pool, launch)
    (state,) = await pool.restart("s")
    assert state.status is Status.READY
    assert state.pid not in (0, pid)
    assert not runs(pid)
    assert await where(pool, launch) == state.pid
    assert await pool.restart("unknown") == []


async def test_restart_of_a_broken_server_tells_its_state(pools: Pools) -> None:
    pool, launch = pools(), StdioLaunch(hostile_server("exits"), pools.root)
    with pytest.raises(Unavailable):
        await where(pool, launch)
    (state,) = await pool.restart("s")
    assert state.status is Status.FAILED


async def test_stop_ends_the_process_and_calls_in_flight(pools: Pools) -> None:
    pool, launch = pools(), pools.launch()
    pid = await where(pool, launch)

    async def slow() -> str:
        async with pool.lease("s", launch) as session:
            return await said(session, "slow", seconds=20)

    calling = asyncio.ensure_future(slow())
    assert await becomes(lambda: pool.states()[0].in_use == 1)
    await pool.stop("s")
    with pytest.raises(Unavailable):
        await calling
    assert not runs(pid)
    assert pool.states() == []


@pytest.mark.parametrize("by", ["name", "digest"])
async def test_a_retired_session_ends_after_its_last_call_and_gets_no_new_one(pools: Pools, by: str) -> None:
    pool, launch = pools(), pools.launch()
    async with pool.lease("s", launch) as session:
        pid = int((await said(session, "where")).split()[0])
        await pool.retire(["s" if by == "name" else digest_of(launch)])
        assert await where(pool, launch) != pid
        assert await said(session, "echo", text="still mine") == "still mine"
    assert await becomes(lambda: not runs(pid))
    assert len(pool.states()) == 1


async def test_closing_ends_everything_and_a_start_in_progress(pools: Pools) -> None:
    pool = pools()
    pids = [await where(pool, pools.launch()), await where(pool, pools.launch(), principal="x")]
    starting = asyncio.ensure_future(where(pool, pools.launch("--start-delay", "20")))
    assert await becomes(lambda: any(state.status is Status.STARTING for state in pool.states()))
    await pool.close()
    with pytest.raises(Unavailable):
        await starting
    assert not any(map(runs, pids))
    with pytest.raises(Unavailable):
        await where(pool, pools.launch())


async def test_a_legacy_server_is_probed_once(pools: Pools) -> None:
    record = pools.root / "record"
    pool, launch = pools(), pools.launch("--era", "legacy", "--record", str(record))
    await where(pool, launch)
    await pool.restart("s")
    await where(pool, launch)
    assert record.read_bytes().count(b"server/discover") == 1
    assert record.read_bytes().count(b'"initialize"') == 2


async def test_a_change_that_a_server_tells_is_heard_with_its_key(pools: Pools) -> None:
    pool, launch = pools(), pools.launch()
    async with pool.lease("s", launch) as session:
        await said(session, "change")
        assert await becomes(lambda: any(isinstance(event, Notified) for event in pools.events))
    told = [event for event in pools.events if isinstance(event, Notified)]
    assert [(event.key.server, event.method) for event in told] == [("s", "notifications/tools/list_changed")]


async def test_a_listener_can_stop_listening(pools: Pools) -> None:
    pool = pools()
    heard: list[object] = []
    stop = pool.listen(heard.append)
    stop()
    stop()
    await where(pool, pools.launch())
    assert heard == []


async def test_a_missing_secret_is_told_at_once_each_time_and_starts_nothing(
    supervisor: Supervisor, tmp_path: Path
) -> None:
    async def nothing(values: Mapping[str, Chain]) -> dict[str, Secret]:
        raise Refused("no value for KEY", code="secret.missing", remedy="homeport secrets set key")

    pool = Pool(supervisor=supervisor, resolve=nothing, limits=QUICK)
    launch = StdioLaunch(scripted_server(), tmp_path, {"KEY": (Template("{secret:key}"),)})
    for _ in range(3):
        with pytest.raises(Refused) as caught:
            await where(pool, launch)
        assert caught.value.remedy == "homeport secrets set key"
    await pool.close()


async def test_sessions_over_http_share_the_pool_and_open_again_when_forgotten(pools: Pools) -> None:
    pool = pools()
    with scripted_http("legacy") as server:
        for _ in range(2):
            async with pool.lease("remote", HttpLaunch(server.url)) as session:
                assert await said(session, "echo", text="x") == "x"
        assert len(server.seen("initialize")) == 1
        server.sessions.clear()
        async with pool.lease("remote", HttpLaunch(server.url)) as session:
            with pytest.raises(Unavailable):
                await said(session, "echo", text="x")
        async with pool.lease("remote", HttpLaunch(server.url)) as session:
            assert await said(session, "echo", text="x") == "x"
        (state,) = pool.states()
        assert (state.pid, state.era) == (0, "legacy")
        await pool.close()


def test_a_launch_without_a_digest_gets_one_of_what_it_says(tmp_path: Path) -> None:
    launch = StdioLaunch(("a",), tmp_path)
    assert digest_of(launch) == digest_of(StdioLaunch(("a",), tmp_path))
    assert digest_of(launch) != digest_of(StdioLaunch(("a", "b"), tmp_path))
    assert digest_of(HttpLaunch("http://a")) != digest_of(HttpLaunch("http://b"))
    assert digest_of(StdioLaunch(("a",), tmp_path, digest="sha256:trusted")) == "sha256:trusted"
