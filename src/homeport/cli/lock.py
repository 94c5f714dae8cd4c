"""`lock`, `sync`, and the question that every first lock ends with: what to grant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import click

from homeport.cli.consent import AlreadyAgreed
from homeport.cli.exits import Exit, status_of
from homeport.cli.session import Session, verb
from homeport.ground.errors import InvalidInput, Unavailable
from homeport.ops.locking import Locked


@click.command("lock")
@click.argument("servers", nargs=-1)
@click.option("--check", is_flag=True, help="Only compare project, lock and surfaces; offline. Exit 4 if they differ.")
@click.option("--upgrade", is_flag=True, help="Resolve dependencies anew.")
@verb(consents=True)
def lock_command(session: Session, servers: Sequence[str], *, check: bool, upgrade: bool) -> int:
    """Resolve and pin what runs, agree to it, and lock what SERVERS (default: all) offer."""
    if check:
        from homeport.ops.resolving import check_lock

        check_lock(session.context)
        session.output.note("project, lock and surfaces agree")
        return Exit.DONE
    return locked(session, servers, upgrade=upgrade)


def locked(session: Session, servers: Sequence[str], *, upgrade: bool = False) -> int:
    """Lock, tell, and ask what to grant of servers that nothing is granted of."""
    from homeport.ops.locking import lock, unfit_grants

    rows = lock(session.context, servers, upgrade=upgrade)
    session.progress.clear()
    if session.output.json:
        session.output.data([_as_json(row) for row in rows])
    else:
        for row in rows:
            _tell(session, row)
    ungranted = [row for row in rows if row.tools and not row.granted]
    if ungranted:
        _ask_grants(session, ungranted)
    elif not session.output.json and not any(row.problem for row in rows):
        session.output.note("next: homeport tools, or homeport up")
    unfit = unfit_grants(session.context)
    if unfit:
        session.output.error(InvalidInput.collected(unfit))
    return _status(rows) or (Exit.WRONG_INPUT if unfit else Exit.DONE)


def _status(rows: Sequence[Locked]) -> int:
    failed = [row.problem for row in rows if row.problem]
    return status_of(Unavailable("", code=failed[0].code)) if failed else Exit.DONE


def _as_json(row: Locked) -> dict[str, Any]:
    return asdict(row) | {"problem": row.problem.message if row.problem else None}


def _tell(session: Session, row: Locked) -> None:
    output = session.output
    if row.problem:
        output.note(f"{row.server}: not locked: {row.problem.message}")
        if row.problem.remedy:
            output.note(f"  hint: {row.problem.remedy}")
        return
    tools = f"{row.tools} tool{'' if row.tools == 1 else 's'}"
    output.note(f"{row.server}: {row.source}, {tools}" + (", new" if row.new else ""))
    for name, reason in row.quarantined.items():
        output.note(f"  locked out: {name}: {reason}")
    for note in row.notes:
        output.note(f"  left out: {note}")
    for change in row.changes:
        output.note(f"  {change}")


def _ask_grants(session: Session, rows: Sequence[Locked]) -> None:
    """The question of a first lock; without a terminal nothing is granted and the commands are told."""
    from homeport.ops.granting import grant

    for row in rows:
        question = f"{row.server}: {row.tools} tools, {len(row.read_only)} of them say that they only read. Grant"
        choices = ("read-only", "all", "none") if row.read_only else ("all", "none")
        chosen = session.consent.choose(question, choices, "none")
        if chosen == "none":
            flag = "--read-only" if row.read_only else "--all"
            session.output.note(f"{row.server}: nothing granted; next: homeport grant {row.server} {flag}, or TOOL…")
            continue
        agreed = replace(session.context, consent=AlreadyAgreed())
        done = grant(agreed, row.server, read_only=chosen == "read-only", everything=chosen == "all")
        session.output.note(f"{row.server}: granted {', '.join(done.can)} to {done.profile}")


def offer_lock(session: Session, servers: Sequence[str]) -> int:
    """After servers were written: lock them now, where somebody can be asked, and end with what to grant."""
    if (
        servers
        and session.consent.choose("Lock now: resolve, agree, read what it offers", ("yes", "no"), "no") == "yes"
    ):
        return locked(session, servers)
    session.output.note(f"next: homeport lock {' '.join(servers)}")
    return Exit.DONE


@click.command("sync")
@click.option("--frozen", is_flag=True, help="A lock that does not match the project is an error.")
@verb()
def sync_command(session: Session, *, frozen: bool) -> None:
    """Install what the lock says and you agreed to."""
    from homeport.ops.resolving import sync

    done = sync(session.context, frozen=frozen)
    session.progress.clear()
    if session.output.json:
        session.output.data({"installed": list(done.installed), "ready": list(done.ready)})
    elif not done.installed:
        session.output.note("everything is installed")
