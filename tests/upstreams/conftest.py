"""Real servers for the tests of the upstream legs."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncGenerator, Awaitable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import pytest

from homeport.ground.errors import HomeportError
from homeport.ground.limits import Limits
from homeport.ground.secrets import Chain, Secret
from homeport.machine.children import Child, Supervisor, minimal_environment
from homeport.upstreams.launch import Launch, StdioLaunch
from homeport.upstreams.open import Hears, open_session
from homeport.upstreams.session import Era, Session

QUICK = Limits(close_grace=0.3, connect_timeout=20.0, message=1_000_000)


@dataclass
class Heard:
    """What a session told besides its answers."""

    notifications: list[tuple[str, bytes]] = field(default_factory=list[tuple[str, bytes]])
    ends: list[HomeportError] = field(default_factory=list[HomeportError])
    children: list[Child] = field(default_factory=list[Child])

    @property
    def hears(self) -> Hears:
        return Hears(
            lambda method, raw: self.notifications.append((method, raw)), self.ends.append, self.children.append
        )

    @property
    def methods(self) -> list[str]:
        return [method for method, _ in self.notifications]


class Opener(Protocol):
    """Opens a session that the test need not close."""

    def __call__(
        self,
        launch: Launch | tuple[str, ...],
        *,
        heard: Heard | None = None,
        limits: Limits = ...,
        known: Era | None = None,
        capabilities: bytes = ...,
    ) -> Awaitable[Session]: ...


async def resolve(values: Mapping[str, Chain]) -> dict[str, Secret]:
    """Configured values without references."""
    return {name: Secret(chain[0].text) for name, chain in values.items()}


@pytest.fixture
async def supervisor(tmp_path: Path) -> AsyncGenerator[Supervisor]:
    environment = minimal_environment(os.environ, sys.platform)
    supervisor = Supervisor(tmp_path / "state", environment=environment, limits=QUICK)
    yield supervisor
    await supervisor.close()


@pytest.fixture
async def opened(supervisor: Supervisor, tmp_path: Path) -> AsyncGenerator[Opener]:
    sessions: list[Session] = []

    async def start(
        launch: Launch | tuple[str, ...],
        *,
        heard: Heard | None = None,
        limits: Limits = QUICK,
        known: Era | None = None,
        capabilities: bytes = b"{}",
    ) -> Session:
        session = await open_session(
            StdioLaunch(launch, tmp_path) if isinstance(launch, tuple) else launch,
            resolve=resolve,
            supervisor=supervisor,
            limits=limits,
            capabilities=capabilities,
            known=known,
            hears=(heard or Heard()).hears,
        )
        sessions.append(session)
        return session

    yield start
    for session in sessions:
        await session.close()
