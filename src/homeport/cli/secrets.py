"""`secrets set|list|remove`."""

from __future__ import annotations

import sys

import click

from homeport.cli.session import Session, verb
from homeport.ground.secrets import Secret


@click.group("secrets")
def secrets_command() -> None:
    """Values that configuration refers to as {secret:NAME}; kept in the keyring, never in the project."""


@secrets_command.command("set")
@click.argument("name")
@verb()
def set_command(session: Session, name: str) -> None:
    """Store a value: typed without being shown, or from standard input when that is no terminal."""
    from homeport.ops import secrets

    if sys.stdin.isatty():
        import getpass

        value = getpass.getpass(f"Value of {name}: ")
    else:
        value = sys.stdin.read().rstrip("\r\n")
    where = secrets.store(session.context, name, Secret(value))
    if session.output.json:
        session.output.data({"name": name, "stored_in": where})
    else:
        session.output.note(f"stored {name} in {where}")


@secrets_command.command("list")
@verb()
def list_command(session: Session) -> None:
    """Names, whether each has a value, and who refers to it."""
    from homeport.ops import secrets

    rows, where = secrets.listed(session.context)
    if session.output.json:
        names = [{"name": row.name, "stored": row.stored, "used_by": list(row.used_by)} for row in rows]
        session.output.data({"stored_in": where, "secrets": names})
        return
    lines = [(row.name, "stored" if row.stored else "missing", ", ".join(row.used_by) or "-") for row in rows]
    if lines:
        session.output.table(lines, head=("NAME", "VALUE", "USED BY"))
    session.output.note(f"kept in {where}")


@secrets_command.command("remove")
@click.argument("name")
@verb()
def remove_command(session: Session, name: str) -> None:
    """Forget a value."""
    from homeport.ops import secrets

    secrets.forget(session.context, name)
    session.output.note(f"removed {name}")
