"""Which era a shared session is of: the caller's own where the server speaks both."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from tests.servers import scripted_server
from tests.upstreams.conftest import QUICK, resolve

from homeport.machine.children import Supervisor
from homeport.upstreams.launch import StdioLaunch
from homeport.upstreams.pool import Pool
from homeport.upstreams.session import Era

pytestmark = pytest.mark.anyio


@pytest.fixture
async def pool(supervisor: Supervisor) -> AsyncGenerator[Pool]:
    made = Pool(supervisor=supervisor, resolve=resolve, limits=QUICK)
    yield made
    await made.close()


async def spoken(pool: Pool, root: Path, speaks: str, era: Era) -> Era:
    async with pool.lease("alpha", StdioLaunch(scripted_server("--era", speaks), root), era=era) as session:
        return session.negotiated.era


@pytest.mark.parametrize("era", list(Era))
async def test_a_server_of_both_eras_is_spoken_to_in_the_callers(pool: Pool, tmp_path: Path, era: Era) -> None:
    assert await spoken(pool, tmp_path, "dual", era) is era


@pytest.mark.parametrize("first", list(Era))
@pytest.mark.parametrize("only", list(Era))
async def test_callers_of_both_eras_share_the_session_of_a_server_of_one(
    pool: Pool, tmp_path: Path, only: Era, first: Era
) -> None:
    second = Era.LEGACY if first is Era.MODERN else Era.MODERN
    for era in (first, second, first):
        assert await spoken(pool, tmp_path, only.value, era) is only
    assert len(pool.states()) <= 2, "one session, or two where the first caller could not tell"
    assert len({state.pid for state in pool.states()}) == len(pool.states())
