"""Hearing of changes: which notifications a modern server offers, and the stream that brings them.

A legacy server sends `list_changed` unasked. A modern one sends what a `subscriptions/listen` request asks for
(2026-07-28, basic/patterns/subscriptions).
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from typing import Final

import msgspec

from homeport.ground.errors import HomeportError
from homeport.upstreams import wire
from homeport.upstreams.session import Era, Exchange, Negotiated, Session

LIST_CHANGED: Final = frozenset(f"notifications/{kind}/list_changed" for kind in ("tools", "prompts", "resources"))


class _Feature(msgspec.Struct):
    changes: bool = msgspec.field(name="listChanged", default=False)


class _Capabilities(msgspec.Struct):
    tools: _Feature = msgspec.field(default_factory=_Feature)
    prompts: _Feature = msgspec.field(default_factory=_Feature)
    resources: _Feature = msgspec.field(default_factory=_Feature)


def wanted(negotiated: Negotiated) -> bytes | None:
    """Parameters of the `subscriptions/listen` request to send, None when there is nothing to hear."""
    if negotiated.era is Era.LEGACY:
        return None
    try:
        offered = msgspec.json.decode(negotiated.capabilities, type=_Capabilities)
    except msgspec.DecodeError:
        return None
    filters = {
        f"{kind}ListChanged": True
        for kind, feature in (("tools", offered.tools), ("prompts", offered.prompts), ("resources", offered.resources))
        if feature.changes
    }
    return wire.encode({"notifications": filters, "_meta": msgspec.Raw(negotiated.meta)}) if filters else None


def listen(session: Session) -> asyncio.Task[None] | None:
    """Start to listen; the session cancels the task when it closes. What is heard goes the session's usual way."""
    params = wanted(session.negotiated)
    return None if params is None else asyncio.ensure_future(_listen(session, params))


async def _listen(session: Session, params: bytes) -> None:
    # A server that offers changes and refuses to tell them is looked at when its list is old: drift_max_age.
    with contextlib.suppress(HomeportError):
        await session.request("subscriptions/listen", params, Exchange(timeout=math.inf))
