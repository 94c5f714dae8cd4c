"""The official client against a gateway that runs as its own process: over HTTP, and over `homeport connect`."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import AsyncGenerator
from typing import Any, Literal

from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from tests.support.homeport import Home, Up

Way = Literal["http", "connect"]
ERAS = ("legacy", "2026-07-28")


@contextlib.asynccontextmanager
async def over_http(up: Up, era: str, path: str = "") -> AsyncGenerator[Any]:
    """A client of the default profile's endpoint."""
    async with create_mcp_http_client(headers=up.headers) as http:
        transport = streamable_http_client(up.endpoint + path, http_client=http)
        async with Client(transport, mode=era) as client:
            yield client


@contextlib.asynccontextmanager
async def over_connect(home: Home, era: str, profile: str = "default") -> AsyncGenerator[Any]:
    """A client whose server is `homeport connect`, as an agent's config has it."""
    transport = StdioServerParameters(
        command=sys.executable,
        args=["-m", "homeport", "connect", "--profile", profile, "--project", str(home.project)],
        env=home.environment,
    )
    async with Client(transport, mode=era) as client:
        yield client


@contextlib.asynccontextmanager
async def connected(up: Up, way: Way, era: str) -> AsyncGenerator[Any]:
    """One of the two."""
    async with over_http(up, era) if way == "http" else over_connect(up.home, era) as client:
        yield client
