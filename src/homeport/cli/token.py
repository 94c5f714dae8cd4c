"""`token`: the credentials that open a profile's HTTP endpoint."""

from __future__ import annotations

import click

from homeport.cli.session import Session, verb


@click.command("token")
@click.argument("profile", default="default")
@click.option("--rotate", is_flag=True, help="Make a new one; the old one opens nothing any more.")
@verb(consents=True)
def token_command(session: Session, profile: str, *, rotate: bool) -> None:
    """Print the token of PROFILE, made if there is none."""
    from homeport.ops import tokens

    token = tokens.token(session.context, profile, rotate=rotate)
    if session.output.json:
        session.output.data({"profile": profile, "token": token.reveal()})
    else:
        session.output.stdout.write(token.reveal() + "\n")
