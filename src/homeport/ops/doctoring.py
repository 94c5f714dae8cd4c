"""`homeport doctor`: everything found wrong, of the agents on this machine and of the project in force."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from homeport.agents.catalog import Where, catalog
from homeport.agents.discover import discover
from homeport.agents.findings import Finding, findings
from homeport.calls.gate import withheld_by_configuration
from homeport.calls.secrets_source import SecretsSource
from homeport.ground.errors import HomeportError, Problem
from homeport.ground.paths import find_project
from homeport.ops import roster as rosters
from homeport.ops.checking import gate_of
from homeport.ops.context import Context
from homeport.upstreams.launch import HttpLaunch

__all__ = ["Diagnosis", "Finding", "diagnose"]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What was looked at and what was found."""

    agents: tuple[str, ...]
    """Display names of the agents with a trace here."""
    findings: tuple[Finding, ...]


def diagnose(context: Context) -> Diagnosis:
    """Read all agents' configuration and the project's files. Starts nothing, changes nothing."""
    where = Where(context.environment, context.platform, context.home)
    root = find_project(context.directory)
    discovery = discover(catalog(), where, project=root or context.directory)
    agents = tuple(found.agent.name for found in discovery.agents)
    return Diagnosis(agents, (*_of_project(context), *findings(discovery, project=root is not None)))


def _of_project(context: Context) -> Iterator[Finding]:
    try:
        root = context.root()
    except HomeportError:
        return
    try:
        roster = rosters.load(context, root.resolve())
    except HomeportError as error:
        for problem in error.problems():
            yield _finding(problem, "error")
        return
    if not roster.profiles_trusted:
        text = "nobody on this machine has agreed to the grants of this project, so they count for nothing"
        yield _finding(Problem("trust.profiles", text, remedy="homeport trust"), "warning")
    gate = gate_of(context)
    for entry in roster.entries.values():
        configured = withheld_by_configuration(entry)
        why = configured or gate.check(entry)
        if why is not None:
            severity = "note" if why.code == "disabled" else "warning"
            yield _finding(Problem(f"server.{why.code}", f"{why.server}: {why.sentence}", remedy=why.remedy), severity)
        if entry.launch is not None:
            chains = entry.launch.headers if isinstance(entry.launch, HttpLaunch) else entry.launch.env
            for missing in SecretsSource(context.secrets().get, context.environment).missing(chains):
                text = f"{entry.name}: {missing.name} has no value"
                yield _finding(Problem("secret.missing", text, remedy=missing.remedy), "warning")
    for view in roster.views.values():
        for problem in view.problems:
            yield _finding(problem, "warning")


def _finding(problem: Problem, severity: str) -> Finding:
    place = problem.place
    return Finding(
        code=problem.code,
        severity="error" if severity == "error" else "note" if severity == "note" else "warning",
        agent="",
        file=place.file,
        line=place.line,
        path=place.path,
        message=problem.message,
        measured="",
        remedy=problem.remedy,
    )
