"""Calls of an upstream session in a line."""

from __future__ import annotations

import json
from typing import Any

from homeport.upstreams.session import Exchange, Reply, Session


def params(session: Session, name: str, arguments: dict[str, Any], **meta: Any) -> bytes:
    """Parameters of a `tools/call` as this session wants them."""
    whole = json.loads(session.negotiated.meta) | meta
    return json.dumps({"name": name, "arguments": arguments} | ({"_meta": whole} if whole else {})).encode()


async def call(session: Session, name: str, exchange: Exchange | None = None, /, **arguments: Any) -> Reply:
    """Call a tool."""
    return await session.request("tools/call", params(session, name, arguments), exchange or Exchange(timeout=20))


async def said(session: Session, name: str, exchange: Exchange | None = None, /, **arguments: Any) -> str:
    """The text that a tool answers with."""
    reply = await call(session, name, exchange, **arguments)
    return json.loads(reply.result or b"null")["content"][0]["text"]
