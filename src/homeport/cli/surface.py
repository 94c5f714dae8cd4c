"""`surface show|diff|accept|lint` and `cost`."""

from __future__ import annotations

from dataclasses import asdict

import click

from homeport.cli.exits import Exit, status_of
from homeport.cli.session import Session, verb


@click.group("surface")
def surface_command() -> None:
    """What servers offer, as locked."""


@surface_command.command("show")
@click.argument("server")
@verb()
def show_command(session: Session, server: str) -> None:
    """The locked tools of SERVER, whatever is granted."""
    from homeport.ops import surfaces
    from homeport.ops.toolbox import plain
    from homeport.surface.lint import annotation_counts

    surface = surfaces.locked_surface(session.context, server)
    output = session.output
    if output.json:
        items = {name: plain(dict(item.definition)) for name, item in surface.tools.items()}
        output.data({"server": asdict(surface.server), "digest": surface.digest, "tools": items})
        return
    counts = annotation_counts(surface)
    output.line(f"{surface.server.name} {surface.server.version}, protocol {surface.server.protocol}")
    output.line(f"{len(surface.tools)} tools: {counts['annotated']} annotated, {counts['silent']} silent")
    for name, item in surface.tools.items():
        text = item.definition.get("description")
        output.line(f"\n{name}\n  {text.strip() if isinstance(text, str) else '(no description)'}")
    for name, entry in surface.quarantined.items():
        output.line(f"\n{name} (locked out)\n  {entry.reason}")


@surface_command.command("lock")
@click.argument("servers", nargs=-1)
@verb(consents=True)
def lock_command(session: Session, servers: tuple[str, ...]) -> int:
    """Read SERVERS (default: all) again and lock what they offer; the same as `homeport lock`."""
    from homeport.cli.lock import locked

    return locked(session, servers)


@surface_command.command("accept")
@click.argument("server")
@verb(consents=True)
def accept_command(session: Session, server: str) -> int:
    """Lock what SERVER offers now, after showing how it differs from what was locked."""
    from homeport.cli.lock import locked

    return locked(session, (server,))


@surface_command.command("diff")
@click.argument("server", default="")
@verb()
def diff_command(session: Session, server: str) -> int:
    """How what SERVER (default: each) offers now differs from the lock. Starts it. Exit 4 on a difference."""
    from homeport.ops import surfaces
    from homeport.surface.drift import in_words

    rows = surfaces.diff(session.context, server)
    session.progress.clear()
    output = session.output
    if output.json:
        output.data(
            [
                {
                    "server": row.server,
                    "error": str(row.unread.error) if row.unread else None,
                    "differences": [
                        {
                            "what": each.what,
                            "name": each.name,
                            "kind": each.kind,
                            "severity": each.severity,
                            "path": each.path,
                            "text": each.text,
                            "security": each.security,
                        }
                        for each in row.differences
                    ],
                }
                for row in rows
            ]
        )
    else:
        for row in rows:
            if row.unread:
                remedy = row.unread.error.remedy
                output.line(f"{row.server}: could not be compared: {row.unread.error}")
                output.note(f"  hint: {remedy}" if remedy else "")
            elif not row.differences:
                output.line(f"{row.server}: as locked")
            else:
                output.line(f"{row.server}:")
                for each in row.differences:
                    output.line("  " + in_words(each).replace("\n", "\n  "))
    if any(row.differences for row in rows):
        return Exit.CONFLICT
    failed = [row.unread for row in rows if row.unread]
    return status_of(failed[0].error) if failed else Exit.DONE


@surface_command.command("lint")
@click.argument("server", default="")
@verb()
def lint_command(session: Session, server: str) -> int:
    """What is doubtful in the locked texts and schemas; offline. Exit 4 when something of high severity is."""
    from homeport.ops import surfaces

    found = surfaces.linted(session.context, server)
    output = session.output
    if output.json:
        output.data({name: [asdict(finding) for finding in findings] for name, findings in found.items()})
    else:
        for name, findings in found.items():
            output.line(f"{name}: {len(findings) or 'nothing'} to look at")
            for finding in findings:
                where = f"{finding.name or 'the server'}{f' at {finding.path}' if finding.path else ''}"
                output.line(f"  {finding.severity:<6} {finding.code}  {where}: {finding.message}")
                output.line(f"         {finding.evidence}")
    high = any(finding.severity == "high" for findings in found.values() for finding in findings)
    return Exit.CONFLICT if high else Exit.DONE


@click.command("cost")
@click.option("--profile", default="default", show_default=True, metavar="P", help="Whose grants.")
@verb()
def cost_command(session: Session, profile: str) -> None:
    """What each server's tool list costs an agent's context, before and after grants, by a stated estimate."""
    from homeport.ops import surfaces
    from homeport.surface.cost import ESTIMATE

    rows = surfaces.priced(session.context, profile)
    output = session.output
    if output.json:
        output.data({"estimate": ESTIMATE, "servers": [asdict(row) for row in rows]})
        return
    cells = [
        (row.server, f"{row.offered.tools}", f"{row.offered.units}", f"{row.granted.tools}", f"{row.granted.units}")
        for row in rows
    ]
    total = (
        "total",
        f"{sum(row.offered.tools for row in rows)}",
        f"{sum(row.offered.units for row in rows)}",
        f"{sum(row.granted.tools for row in rows)}",
        f"{sum(row.granted.units for row in rows)}",
    )
    output.table([*cells, total], head=("SERVER", "TOOLS", "COST", "GRANTED", "COST"))
    output.note(f"estimate: {ESTIMATE}")
