"""A call without a running gateway: everything assembled for the one call, in this process."""

from __future__ import annotations

import asyncio

from homeport.cli.assemble import assembled
from homeport.ops import calling
from homeport.ops.calling import Called
from homeport.ops.context import Context


def call_once(
    context: Context,
    server: str,
    tool: str,
    arguments: bytes,
    profile: str,
    *,
    dry_run: bool,
    timeout: float | None = None,
) -> Called:
    """Make one call and end what was started for it."""

    async def work() -> Called:
        async with assembled(context, context.root().resolve()) as parts:
            return await calling.call(
                parts.pipeline,
                server=server,
                tool=tool,
                arguments=arguments,
                profile=profile,
                dry_run=dry_run,
                timeout=timeout,
            )

    return asyncio.run(work())
