"""`ps`, `logs`, `restart`, `down`, `paths`: the running gateway."""

from __future__ import annotations

import click

from homeport.cli.session import Session, verb
from homeport.ground.errors import Unavailable


@click.command("ps")
@verb()
def ps_command(session: Session) -> None:
    """The running gateway and the state of each server, with the reason and the remedy."""
    from homeport.ops import running

    found = running.required(session.context)
    told = running.ask(found, "ps")
    output = session.output
    if output.json:
        output.data(told)
        return
    for notice in told["notices"]:
        output.note(f"note: {notice['text']}; what was read before stays in force")
    output.line(f"gateway {told['version']}, pid {told['pid']}, {told['endpoint'] or 'no HTTP endpoint'}")
    rows = [
        (
            row["name"],
            row["state"],
            str(row["pid"] or "-"),
            f"{row['tools_granted']}/{row['tools_locked']}",
            row["source"],
        )
        for row in told["servers"]
    ]
    output.table(rows, head=("SERVER", "STATE", "PID", "TOOLS", "SOURCE"))
    for row in told["servers"]:
        if row["sentence"]:
            output.note(f"\n{row['name']}: {row['sentence']}")
            if row["remedy"]:
                output.note(f"  hint: {row['remedy']}")
            said: list[str] = row["stderr"][-5:] if row["state"] == "failed" else []
            for line in said:
                output.note(f"  | {line}")


@click.command("logs")
@click.argument("server", default="")
@click.option("-n", "lines", default=100, show_default=True, help="How many lines a server.")
@verb()
def logs_command(session: Session, server: str, lines: int) -> None:
    """What SERVER (default: each) wrote to its standard error lately."""
    from homeport.ops import running

    found = running.required(session.context)
    told = running.ask(found, "logs", {"server": server, "lines": lines})
    if session.output.json:
        session.output.data(told)
        return
    for name, said in told.items():
        for line in said:
            session.output.line(line if server else f"{name}: {line}")
    if not any(told.values()):
        session.output.note("nothing was written to standard error")


@click.command("restart")
@click.argument("server")
@verb()
def restart_command(session: Session, server: str) -> None:
    """Stop SERVER and start it again. Calls in flight end with an error."""
    from homeport.ops import running

    found = running.required(session.context)
    told = running.ask(found, "restart", {"server": server}, timeout=session.context.limits.connect_timeout + 10)
    if session.output.json:
        session.output.data(told)
    elif told["state"] == "ready":
        session.output.note(f"{server} is ready")
    if told["state"] != "ready":
        reason = told["sentence"] or f"it is {told['state']}"
        raise Unavailable(f"{server} did not come up: {reason}", code="server.down", remedy=told["remedy"])


@click.command("down")
@verb()
def down_command(session: Session) -> None:
    """Stop the gateway of this project, and with it every server it started."""
    from homeport.ops import running

    pid = running.down(session.context)
    if session.output.json:
        session.output.data({"pid": pid})
    else:
        session.output.note(f"stopped (pid {pid})")


@click.command("paths")
@verb()
def paths_command(session: Session) -> None:
    """Where Homeport keeps things."""
    from homeport.ground.errors import HomeportError

    context, paths = session.context, session.context.paths
    try:
        project = str(context.root())
    except HomeportError:
        project = ""
    rows = {
        "project": project,
        "user project": str(paths.user_project),
        "state": str(paths.state),
        "database": str(paths.database),
        "journal": str(paths.journal),
        "trust": str(paths.trust),
        "run files": str(paths.run),
        "logs": str(paths.logs),
        "cache": str(paths.cache),
        "secrets": context.secrets().where,
    }
    if session.output.json:
        session.output.data(rows)
    else:
        session.output.table([(name, where or "(none here)") for name, where in rows.items()])
