"""`audit`: what was called, by whom, and what was refused."""

from __future__ import annotations

import contextlib
import datetime as dt
import json
from collections.abc import Iterable

import click

from homeport.calls.ports import AuditRow
from homeport.cli.session import Session, verb


@click.command("audit")
@click.option("-n", "limit", default=50, show_default=True, help="How many, newest first.")
@click.option("--server", default="", help="Only calls of this server.")
@click.option("--profile", default="", help="Only calls of this profile.")
@click.option("--refused", is_flag=True, help="Only what was refused.")
@click.option("--all-projects", is_flag=True, help="Of every project of this user.")
@click.option("--follow", is_flag=True, help="Go on with new ones until interrupted.")
@click.option("--jsonl", is_flag=True, help="One JSON object a line, oldest first: for export.")
@verb()
def audit_command(
    session: Session,
    limit: int,
    server: str,
    profile: str,
    *,
    refused: bool,
    all_projects: bool,
    follow: bool,
    jsonl: bool,
) -> None:
    """Every call, refused ones and unknown tools too. Values of arguments are not kept.

    Rows are kept for 90 days; HOMEPORT_AUDIT_DAYS, a number or `forever`, says otherwise. A gateway trims at its start.
    """
    from homeport.cli.assemble import open_store
    from homeport.ops import auditing

    filters = {"server": server, "profile": profile}
    chosen = {name: value for name, value in filters.items() if value}
    if not all_projects:
        chosen["project"] = str(session.context.root().resolve())
    with contextlib.closing(open_store(session.context)) as store:
        store.catch_up(session.context.paths.journal).result()
        rows = auditing.rows(store, limit=limit, filters=chosen, refused=refused)
        if jsonl or follow:
            _lines(session, reversed(rows), jsonl=jsonl)
            for row in auditing.follow(store, chosen, refused=refused) if follow else ():
                _lines(session, [row], jsonl=jsonl)
            return
    if session.output.json:
        session.output.data([auditing.as_json(row) for row in rows])
        return
    if not rows:
        session.output.note("nothing was called yet")
        return
    session.output.table([_cells(row) for row in rows], head=("TIME", "PROFILE", "CLIENT", "SERVER", "NAME", "OUTCOME"))


def _lines(session: Session, rows: Iterable[AuditRow], *, jsonl: bool) -> None:
    from homeport.ops import auditing

    for row in rows:
        if jsonl:
            session.output.stdout.write(json.dumps(auditing.as_json(row), ensure_ascii=False) + "\n")
        else:
            session.output.line("  ".join(_cells(row)))
    session.output.stdout.flush()


def _cells(row: AuditRow) -> tuple[str, ...]:
    when = dt.datetime.fromtimestamp(row.ts_ms / 1000).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    took = f" {row.duration_ms:.0f} ms" if row.duration_ms is not None else ""
    if row.decision == "accept":
        failed = bool(row.result and row.result.get("is_error"))
        outcome = ("failed" if failed else "ok" if row.stage == "ended" else "outcome unknown") + took
    else:
        outcome = f"{row.decision}: {row.rule}" if row.rule else row.decision
    return (when, row.profile, row.client or row.edge, row.server or "-", row.name, outcome)
