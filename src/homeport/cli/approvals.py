"""`approvals`: calls that wait for a person's answer."""

from __future__ import annotations

from typing import Any

import click

from homeport.cli.session import Session, verb
from homeport.ops.context import Question

CHOICES = ("once", "thread", "always", "decline")


@click.command("approvals")
@click.argument("identifier", default="", metavar="[ID]")
@click.argument("choice", default="", metavar="[once|thread|always|decline]")
@click.option("--revoke", default="", metavar="SERVER/TOOL", help="Take an `always` back.")
@verb(consents=True)
def approvals_command(session: Session, identifier: str, choice: str, revoke: str) -> None:
    """Calls that wait for an answer, and what was answered with `always`; with ID and an answer: answer one."""
    from homeport.ops import running

    if identifier and choice not in CHOICES:
        raise click.UsageError(f"an answer is one of {', '.join(CHOICES)}")
    found = running.required(session.context)
    if revoke:
        running.ask(found, "revoke", {"tool": revoke})
        session.output.note(f"{revoke} asks again")
        return
    told = running.ask(found, "approvals")
    if not identifier:
        _show(session, told)
        return
    waiting = {row["id"]: row for row in told["waiting"]}
    matches = [row for key, row in waiting.items() if key.startswith(identifier)]
    row = matches[0] if len(matches) == 1 else {"id": identifier}
    if choice != "decline":
        title = f"answer `{choice}` for"
        session.context.consent.agree(Question(title, (_sentence(row),), f"homeport approvals {identifier} {choice}"))
    running.ask(found, "answer", {"id": row["id"], "choice": choice})
    session.output.note(f"answered: {choice}")


def _show(session: Session, told: dict[str, Any]) -> None:
    output = session.output
    if output.json:
        output.data(told)
        return
    for row in told["waiting"]:
        output.line(f"{row['id']}  {_sentence(row)}")
    for row in told["standing"]:
        output.line(f"always: {row['server']} {row['tool']} for {row['profile']}")
    if told["waiting"]:
        output.note("next: homeport approvals ID once|thread|always|decline")
    elif not told["standing"]:
        output.note("nothing waits for an answer")


def _sentence(row: dict[str, Any]) -> str:
    if "server" not in row:
        return f"call {row['id']}"
    return f"{row['client'] or row['edge']} ({row['profile']}) calls {row['server']} {row['tool']} {row['arguments']}"
