"""From a launch to an open session: values filled in, process started or server dialled, era negotiated."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from homeport.ground.errors import HomeportError
from homeport.ground.limits import DEFAULT, Limits
from homeport.ground.secrets import Chain, Scrubber, Secret
from homeport.machine.children import Child, Ears, Supervisor
from homeport.upstreams.launch import HttpLaunch, Launch, StdioLaunch
from homeport.upstreams.session import Era, Session
from homeport.upstreams.stdio import Terms, open_stdio

if TYPE_CHECKING:
    from homeport.upstreams.web import Web

Resolve: TypeAlias = Callable[[Mapping[str, Chain]], Awaitable[dict[str, Secret]]]
"""Fills configured values. Raises `Refused` for one that has no value, naming it."""


def _ignore(*_: object) -> None:
    """For a caller that does not listen."""


@dataclass(frozen=True, slots=True)
class Hears:
    """What whoever opened a session is told. All synchronous, none may raise."""

    heard: Callable[[str, bytes], None] = _ignore
    """A notification that belongs to no request: `(method, raw params)`."""
    ended: Callable[[HomeportError], None] = _ignore
    """The session ended and nobody closed it."""
    child: Callable[[Child], None] = _ignore
    """A process was started for it."""


async def open_session(
    launch: Launch,
    *,
    resolve: Resolve,
    supervisor: Supervisor,
    limits: Limits = DEFAULT,
    client_info: bytes = b'{"name":"homeport","version":"0"}',
    capabilities: bytes = b"{}",
    name: str = "server",
    known: Era | None = None,
    hears: Hears = Hears(),
    web: Web | None = None,
) -> Session:
    """Open a session; the caller closes it.

    `known` is what this launch spoke before. `web` is the shared HTTP client; without one the session brings its own.
    Raises what `resolve` raises, and `Unavailable` or `ProtocolViolation` as `open_stdio` and `open_http` say.
    """
    terms = Terms(
        name=name,
        client_info=client_info,
        capabilities=capabilities,
        limits=limits,
        heard=hears.heard,
        ended=hears.ended,
        child=hears.child,
    )
    match launch:
        case StdioLaunch():
            env = await resolve(launch.env)
            return await open_stdio(partial(_start, supervisor, launch, name, env), terms, known)
        case HttpLaunch():
            from homeport.upstreams.http import open_http

            return await open_http(launch.url, await resolve(launch.headers), terms, known, web)


async def _start(supervisor: Supervisor, launch: StdioLaunch, name: str, env: dict[str, Secret], ears: Ears) -> Child:
    scrub = Scrubber(env.values())
    return await supervisor.spawn(launch.argv, cwd=launch.cwd, env=env, name=name, ears=ears, scrub=scrub)
