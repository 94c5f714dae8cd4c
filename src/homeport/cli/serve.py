"""`up`, `serve` and `connect`: the gateway as a process."""

from __future__ import annotations

import asyncio
import sys

import click

from homeport.cli.exits import Exit
from homeport.cli.session import Session, verb
from homeport.ground.errors import Conflict

DEFAULT_PORT = 7333


def _options(function: click.decorators.FC) -> click.decorators.FC:
    function = click.option("--detached", is_flag=True, hidden=True, help="Started by connect.")(function)
    function = click.option(
        "--port", type=click.IntRange(0, 65535), default=None, help="Default 7333, or the next free one; 0: any."
    )(function)
    return click.option("--host", default="127.0.0.1", show_default=True, help="A loopback address.")(function)


@click.command("up")
@_options
@verb()
def up_command(session: Session, host: str, port: int | None, *, detached: bool) -> int:
    """Gateway and console in one process. With --json one line when ready, then nothing more on standard output."""
    return serve(session, host, port, console=True, detached=detached)


@click.command("serve")
@_options
@verb()
def serve_command(session: Session, host: str, port: int | None, *, detached: bool) -> int:
    """The gateway alone, without the console."""
    return serve(session, host, port, console=False, detached=detached)


@click.command("connect", context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1)
def connect_command(arguments: tuple[str, ...]) -> int:
    """The stdio side of the gateway, for an agent's config: --profile NAME, --project DIR."""
    from homeport.connect.__main__ import main

    return main(arguments)


def serve(session: Session, host: str, port: int | None, *, console: bool, detached: bool) -> int:
    """Run until stopped; a second one of a project prints the running one's addresses and is done."""
    from homeport.cli.gateway import Wanted, run
    from homeport.ops import running

    context = session.context
    root = context.root().resolve()
    wanted = Wanted(root, host, port, console=console, detached=detached)
    try:
        run(session, wanted)
    except Conflict as conflict:
        found = running.find(context, root) if conflict.code == "gateway.running" else None
        if found is None:
            raise
        told = running.ask(found, "ready")
        tell_ready(session, told, again=True)
    except (KeyboardInterrupt, asyncio.CancelledError):
        return Exit.INTERRUPTED
    return Exit.DONE


def tell_ready(session: Session, told: dict[str, str], *, again: bool = False) -> None:
    """The addresses: one JSON line, or lines for people."""
    output = session.output
    if output.json:
        import json

        output.stdout.write(json.dumps(told) + "\n")
        output.stdout.flush()
        return
    output.note("a gateway of this project is running already" if again else f"Homeport serves {told['project']}")
    output.note(f"  endpoint  {told['endpoint']}   (Authorization: Bearer, see `homeport token`)")
    if told.get("console"):
        output.note(f"  console   {told['console']}   (opens once, within 5 minutes)")
    sys.stderr.flush()
