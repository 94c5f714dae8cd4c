"""`grant` and `deny`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import click

from homeport.cli.session import Session, verb
from homeport.ops.granting import Granted


@click.command("grant")
@click.argument("server")
@click.argument("tools", nargs=-1)
@click.option("--read-only", is_flag=True, help="Those that say they only read.")
@click.option("--all", "everything", is_flag=True, help="Every tool, future ones too.")
@click.option("--profile", default="default", show_default=True, metavar="P", help="Who may.")
@verb(consents=True)
def grant_command(
    session: Session, server: str, tools: Sequence[str], profile: str, *, read_only: bool, everything: bool
) -> None:
    """Allow TOOLS of SERVER."""
    if sum((bool(tools), read_only, everything)) > 1:
        raise click.UsageError("say TOOL…, --read-only or --all, one of them")
    from homeport.ops.granting import grant

    _tell(
        session,
        grant(session.context, server, tools, profile=profile, read_only=read_only, everything=everything),
        f"next: homeport tools {server}, or homeport up",
    )


@click.command("deny")
@click.argument("server")
@click.argument("tools", nargs=-1)
@click.option("--profile", default="default", show_default=True, metavar="P", help="Whose.")
@verb()
def deny_command(session: Session, server: str, tools: Sequence[str], profile: str) -> None:
    """Take TOOLS of SERVER back; without TOOLS all of them."""
    from homeport.ops.granting import deny

    _tell(session, deny(session.context, server, tools, profile=profile), "")


def _tell(session: Session, granted: Granted, after: str) -> None:
    output = session.output
    if output.json:
        output.data(asdict(granted))
        return
    now = "every tool" if "*" in granted.can else ", ".join(granted.can) or "nothing"
    but = f", never {', '.join(granted.never)}" if granted.never else ""
    output.note(
        f"{granted.profile} may call {now}{but} of {granted.server}" + ("" if granted.changed else " (as before)")
    )
    from homeport.ops.trusting import profiles_count

    if not profiles_count(session.context):
        output.note("none of this project's grants count until you agree to all of them; next: homeport trust")
    elif after:
        output.note(after)
