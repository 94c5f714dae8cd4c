"""The SDK's real client, over HTTP and over `homeport connect`."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import AsyncGenerator
from typing import Any, Literal

from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from tests.gateway.stack import Stack

Way = Literal["http", "connect"]
ERAS = ("legacy", "2026-07-28")


@contextlib.asynccontextmanager
async def client(
    stack: Stack, way: Way, era: str, *target: str, profile: str = "default", **options: Any
) -> AsyncGenerator[Any]:
    """A connected client of one profile, or over HTTP of one server of it (`target`)."""
    if way == "connect":
        transport: Any = StdioServerParameters(
            command=sys.executable,
            args=["-P", "-m", "homeport.connect", "--profile", profile, "--project", str(stack.project)],
            env={**os.environ, "HOMEPORT_HOME": str(stack.home)},
        )
        async with Client(transport, mode=era, **options) as connected:
            yield connected
        return
    async with create_mcp_http_client(headers=stack.bearer(profile)) as http:
        parts = target or (() if profile == "default" else (profile,))
        transport = streamable_http_client(stack.url(*parts), http_client=http)
        async with Client(transport, mode=era, **options) as connected:
            yield connected


def text(result: Any) -> str:
    """The first text of a result."""
    return result.content[0].text
