"""Reading what servers offer now: each started or dialled once, beside each other, within its own deadline."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from homeport.calls.secrets_source import SecretsSource
from homeport.ground.errors import HomeportError, Problem
from homeport.machine.children import Supervisor, minimal_environment
from homeport.ops.context import Context
from homeport.surface.model import Surface
from homeport.upstreams.launch import Launch
from homeport.upstreams.listing import read_surface_lists
from homeport.upstreams.open import open_session

AT_ONCE = 4
"""Servers started beside each other: enough to hide their waiting, few enough for a laptop."""


@dataclass(frozen=True, slots=True)
class Read:
    """What a server offers, and what of it could not be read."""

    surface: Surface
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Unread:
    """A server that could not be read, and why."""

    error: HomeportError


def read_surfaces(context: Context, launches: Mapping[str, Launch]) -> dict[str, Read | Unread]:
    """The live surface of each server, or why there is none. Starts them; whoever calls has asked for consent."""
    return asyncio.run(_read_all(context, launches))


async def _read_all(context: Context, launches: Mapping[str, Launch]) -> dict[str, Read | Unread]:
    environment = minimal_environment(context.environment, context.platform)
    supervisor = Supervisor(context.paths.state, environment=environment, limits=context.limits)
    turns = asyncio.Semaphore(AT_ONCE)
    found: dict[str, Read | Unread] = {}

    async def read(name: str, launch: Launch) -> None:
        async with turns:
            context.progress.step(f"reading what {name} offers")
            found[name] = await _read_one(context, supervisor, name, launch)

    try:
        async with asyncio.TaskGroup() as group:
            for name, launch in launches.items():
                group.create_task(read(name, launch))
    finally:
        await supervisor.close()
    return found


async def _read_one(context: Context, supervisor: Supervisor, name: str, launch: Launch) -> Read | Unread:
    resolve = SecretsSource(context.secrets().get, context.environment)
    try:
        session = await open_session(launch, resolve=resolve, supervisor=supervisor, limits=context.limits, name=name)
    except HomeportError as error:
        return Unread(error)
    try:
        listing = await read_surface_lists(session, limits=context.limits)
        return Read(listing.surface(), tuple(listing.problems))
    except HomeportError as error:
        return Unread(error)
    finally:
        await session.close()
