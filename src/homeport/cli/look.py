"""`doctor`, `check`, `explain`: looking, changing nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

import click

from homeport.cli.exits import Exit
from homeport.cli.session import Session, verb
from homeport.ops.doctoring import Diagnosis, Finding

_MARK: Mapping[str, str] = {"error": "✗", "warning": "!", "note": "·"}


@click.command("doctor")
@verb()
def doctor_command(session: Session) -> int:
    """What is wrong with the MCP servers of your agents and of this project. Starts nothing, changes nothing.

    Exit 4 when something is wrong, 0 when there are only notes.
    """
    from homeport.ops.doctoring import diagnose

    found = diagnose(session.context)
    if session.output.json:
        session.output.data({"agents": list(found.agents), "findings": [asdict(finding) for finding in found.findings]})
    else:
        _tell(session, found)
    return Exit.CONFLICT if any(finding.severity != "note" for finding in found.findings) else Exit.DONE


def _tell(session: Session, found: Diagnosis) -> None:
    output = session.output
    if found.agents:
        output.line(f"agents found: {', '.join(found.agents)}")
    else:
        output.line("no agent was found on this machine")
    where = ""
    for finding in found.findings:
        if finding.file != where:
            where = finding.file
            output.line(f"\n{where or 'this project'}")
        output.line(f"  {_MARK[finding.severity]} {_place(finding)}{finding.message}")
        if finding.remedy:
            output.line(f"      {finding.remedy}")
    wrong = sum(finding.severity != "note" for finding in found.findings)
    output.line(f"\n{wrong} thing{'' if wrong == 1 else 's'} to mend" if wrong else "\nnothing is wrong")


def _place(finding: Finding) -> str:
    return f"line {finding.line}: " if finding.line else ""


@click.command("check")
@click.argument("server", default="")
@verb()
def check_command(session: Session, server: str) -> int:
    """Is the application here that SERVER (default: each) needs. With -v every place looked at."""
    from homeport.ops import checking

    rows = checking.checks(session.context, server)
    output = session.output
    if output.json:
        output.data([dict(row.data) for row in rows])
    else:
        for row in rows:
            if output.verbose:
                for line in row.trace:
                    output.line(line)
                continue
            output.line(f"{row.server}: {row.state}" + (f": {row.sentence}" if row.sentence else ""))
            if row.remedy and not row.offerable:
                output.line(f"  hint: {row.remedy}")
        if not rows:
            output.note("no server of this project declares an application")
    return Exit.DONE if all(row.offerable for row in rows) else Exit.OUTSIDE_FAILED


@click.command("explain")
@click.argument("server")
@click.argument("tool", default="")
@click.option("--profile", default="default", show_default=True, metavar="P", help="For whom.")
@click.option("--args", "arguments", default="", metavar="JSON", help="Judge these arguments too.")
@verb()
def explain_command(session: Session, server: str, tool: str, profile: str, arguments: str) -> int:
    """The whole decision on SERVER or one TOOL: trust, availability, grant, rules, and what would change it."""
    from homeport.ops import explaining

    steps = explaining.explain(session.context, server, tool, profile=profile, arguments=arguments)
    output = session.output
    if output.json:
        output.data([asdict(step) for step in steps])
    else:
        width = max(len(step.stage) for step in steps)
        for step in steps:
            output.line(f"{step.stage:<{width}}  {'yes' if step.passes else 'NO '}  {step.text}")
            if step.place:
                output.line(f"{'':<{width}}       {step.place}")
            if step.remedy and not step.passes:
                output.line(f"{'':<{width}}       hint: {step.remedy}")
    return Exit.DONE if all(step.passes for step in steps) else Exit.REFUSED
