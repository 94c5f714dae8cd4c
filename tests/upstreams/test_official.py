"""Servers made with the official SDK and with FastMCP, over both transports, in both eras."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from tests.servers import HERE
from tests.support.mcp_calls import params, said
from tests.support.processes import becomes
from tests.upstreams.conftest import Opener

from homeport.ground.errors import Unavailable
from homeport.upstreams.launch import HttpLaunch, StdioLaunch
from homeport.upstreams.listing import read_surface_lists
from homeport.upstreams.session import Era, Exchange, Session

pytestmark = pytest.mark.anyio

LIBRARIES = pytest.mark.parametrize("library", ["mcp", "fastmcp"])
ERAS = pytest.mark.parametrize("era", [Era.LEGACY, Era.MODERN])


def command(library: str, *rest: str) -> tuple[str, ...]:
    return (sys.executable, str(HERE / "official.py"), library, *rest)


@contextlib.asynccontextmanager
async def serving(library: str) -> AsyncGenerator[str]:
    """The URL of a server in a process of its own."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    environment = os.environ | {"FASTMCP_CHECK_FOR_UPDATES": "off"}
    process = subprocess.Popen(command(library, "http", str(port)), env=environment, stderr=subprocess.DEVNULL)

    def up() -> bool:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return True
        return False

    try:
        assert await becomes(lambda: process.poll() is not None or up(), 60)
        assert process.poll() is None
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.wait()


async def works(session: Session, era: Era) -> None:
    """Lists, a call, progress, a prompt, a resource."""
    assert session.negotiated.era is era
    assert json.loads(session.negotiated.server_info)["name"] == "official"
    listing = await read_surface_lists(session)
    assert sorted(str(tool["name"]) for tool in listing.tools if isinstance(tool, dict)) == ["echo", "steps"]
    assert await said(session, "echo", text="hello ü") == "hello ü"
    told: list[float] = []

    def note(method: str, raw: bytes) -> None:
        if method == "notifications/progress":
            assert json.loads(raw)["progressToken"] == "t"
            told.append(json.loads(raw)["progress"])

    sent = params(session, "steps", {"count": 3}, progressToken="t")
    reply = await session.request("tools/call", sent, Exchange(on_notification=note))
    assert reply.result
    assert told == [1, 2, 3]
    meta = session.negotiated.meta
    reply = await session.request(
        "prompts/get", b'{"name":"greet","arguments":{"name":"Ada"},"_meta":%b}' % meta, Exchange()
    )
    assert b"Hello Ada" in (reply.result or b"")
    reply = await session.request("resources/read", b'{"uri":"memo://one","_meta":%b}' % meta, Exchange())
    assert b'"one"' in (reply.result or b"")


@LIBRARIES
@ERAS
async def test_a_server_on_standard_streams(opened: Opener, tmp_path: Path, library: str, era: Era) -> None:
    session = await opened(
        StdioLaunch(command(library, "stdio"), tmp_path), known=Era.LEGACY if era is Era.LEGACY else None
    )
    await works(session, era)


@LIBRARIES
async def test_a_server_behind_a_url_in_both_eras(opened: Opener, library: str) -> None:
    async with serving(library) as url:
        for era in Era:
            session = await opened(HttpLaunch(url), known=Era.LEGACY if era is Era.LEGACY else None)
            await works(session, era)
            await session.close()
            with pytest.raises(Unavailable):
                await said(session, "echo", text="closed")
