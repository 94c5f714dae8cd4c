"""What registering would do to one file, computed before any file is touched. Pure."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from homeport.agents import editing
from homeport.agents.catalog import Agent, Scope
from homeport.agents.decide import Case, Decision, Owned, decide, digests
from homeport.agents.editors.source import source
from homeport.agents.ledger import FileRecord, Row, with_row
from homeport.agents.plain_secrets import plain_secrets
from homeport.agents.shapes import read_entry
from homeport.ground.errors import Conflict, InvalidInput, Place
from homeport.ground.secrets import HIDDEN, SENSITIVE_NAME, Scrubber, Secret


@dataclass(frozen=True, slots=True)
class Target:
    """One file, and what one or more agents that read it shall find there."""

    agents: tuple[Agent, ...]
    """All with the same format and key path."""
    scope: Scope
    path: Path
    real: Path
    """The path with links followed."""
    project: str = ""
    """The project whose entries these are."""
    desired: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, "Mapping[str, Any]"])
    blocked: Mapping[str, str] = field(default_factory=dict[str, str])
    adopt: bool = False
    prune: bool = True
    """Whether entries of this project that nothing desires any more go."""

    @property
    def agent(self) -> Agent:
        """The one whose form the file has."""
        return self.agents[0]

    @property
    def key(self) -> str:
        """The ledger's key: one file can hold the servers of two agents under two keys."""
        return f"{self.real}#{'.'.join(self.agent.key_path)}"

    @property
    def names(self) -> tuple[str, ...]:
        """Identifiers of the agents."""
        return tuple(agent.id for agent in self.agents)


@dataclass(frozen=True, slots=True)
class PlanRow:
    """One entry in one file."""

    name: str
    action: str
    state: str
    reason: str = ""
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class FilePlan:
    """What would become of one file. `before` and `after` are its bytes; None where there is no file."""

    target: Target
    before: bytes | None
    after: bytes | None
    rows: tuple[PlanRow, ...]
    record: FileRecord
    """The ledger's record afterwards."""
    during: FileRecord
    """The record while the write is under way: it owns both versions."""

    @property
    def changes(self) -> bool:
        """Whether the file's bytes would change."""
        return self.before != self.after

    @property
    def conflicts(self) -> tuple[PlanRow, ...]:
        """Rows that need a person."""
        return tuple(row for row in self.rows if row.state in {"conflict", "drifted"} and row.action == "none")


def plan_file(target: Target, data: bytes | None, record: FileRecord | None, *, now: str = "") -> FilePlan:
    """The plan for one file. `record` is the ledger's, `now` a time for its rows.

    Raises `InvalidInput` (`config.*`) for a file that cannot be read or edited.
    """
    file, agent = str(target.path), target.agent
    _require_readable_by(agent, data, file)
    was = record.origin if record and data is not None else editing.origin(data, agent, file=file)
    after_record = replace(record, origin=was) if record else FileRecord(was)
    during = after_record
    here = editing.entries(data, agent, file=file) if data is not None else {}
    side = editing.marked(data, agent, file=file) if data is not None else ()
    text = data
    rows: list[PlanRow] = []
    for name in _names(target, after_record):
        row = after_record.rows.get(name)
        case = _case(target, name, here, row, side)
        decision = _still_used(target, row, decide(case))
        rows.append(_row(target, name, decision))
        text = _edited(text, target, name, decision, file)
        after_record, during = _recorded(target, name, decision, row, after_record, during, now)
    if _has_sidecar(target) and text is not None:
        kept = [name for name in side if name not in target.desired and name not in (record.rows if record else {})]
        text = editing.mark(text, agent, [*kept, *after_record.rows], file=file)
    if record is not None and not after_record.rows and text is not None:
        text = editing.restore(text, agent, was, file=file)
    return FilePlan(target, data, text, tuple(rows), after_record, during)


def _require_readable_by(agent: Agent, data: bytes | None, file: str) -> None:
    """A file whose byte order mark its agent cannot read stays as it is: our entry would be lost on it."""
    if data is not None and agent.bom is False and source(data, file).bom:
        message = f"begins with a byte order mark, which {agent.name} cannot read"
        remedy = "save the file as UTF-8 without a byte order mark"
        raise InvalidInput(message, code="config.bom", place=Place(file, 1), remedy=remedy)


def _names(target: Target, record: FileRecord) -> list[str]:
    """What is wanted, then what is ours in this project and no longer wanted."""
    ours = [name for name, row in record.rows.items() if _concerns(target, row) and name not in target.desired]
    return [
        *target.desired,
        *[name for name in target.blocked if name not in target.desired],
        *(ours if target.prune else []),
    ]


def _concerns(target: Target, row: Row) -> bool:
    return row.project == target.project and bool({*row.agents} & {*target.names})


def _case(target: Target, name: str, here: Mapping[str, Any], row: Row | None, side: Iterable[str]) -> Case:
    return Case(
        present=name in here,
        current=here.get(name),
        desired=target.desired.get(name) if name not in target.blocked else {},
        owned=row.owned if row and row.project == target.project else None,
        in_sidecar=name in side,
        adopt=target.adopt,
        blocked=target.blocked.get(name, ""),
    )


def _still_used(target: Target, row: Row | None, decision: Decision) -> Decision:
    """An entry that another agent still needs stays in the file they share."""
    if decision.action == "remove" and row is not None and {*row.agents} - {*target.names}:
        others = ", ".join(sorted({*row.agents} - {*target.names}))
        return replace(decision, action="forget", reason=f"kept for {others}")
    return decision


_REMEDIES = {
    "conflict": "rename the server, remove the entry in the file, or take it over: homeport register --adopt",
    "drifted": "look at the entry; to write ours again: homeport register --adopt",
    "operator-owned": "nothing is to be done; to have it kept in step: homeport register --adopt",
    "blocked": "homeport trust",
}


def _row(target: Target, name: str, decision: Decision) -> PlanRow:
    remedy = _REMEDIES.get(decision.state, "") if decision.action in {"none", "remove"} else ""
    return PlanRow(name, decision.action, decision.state, decision.reason, remedy)


def _edited(text: bytes | None, target: Target, name: str, decision: Decision, file: str) -> bytes | None:
    if decision.action in {"create", "update"}:
        return editing.put(text, target.agent, name, decision.entry, file=file)
    if decision.action == "remove" and text is not None:
        return editing.take_out(text, target.agent, name, file=file)
    return text


def _recorded(
    target: Target,
    name: str,
    decision: Decision,
    row: Row | None,
    record: FileRecord,
    during: FileRecord,
    now: str,
) -> tuple[FileRecord, FileRecord]:
    """The records after and during the write."""
    if decision.action in {"remove", "forget"}:
        left = tuple(agent for agent in row.agents if agent not in target.names) if row else ()
        rest = replace(row, agents=left) if row and left else None
        return with_row(record, name, rest), during
    ours = target.desired.get(name)
    if ours is None or (decision.action == "none" and decision.state != "registered"):
        return record, during
    agents = tuple(sorted({*(row.agents if row else ()), *target.names}))
    version = digests(ours)
    written = row.written if row and decision.action == "none" else now
    new = Row(Owned((version,)), agents, target.project, written)
    old = row.owned.versions if row else ()
    return with_row(record, name, new), with_row(during, name, replace(new, owned=Owned((*old, version))))


def _has_sidecar(target: Target) -> bool:
    """Only in a project's file, and only where every agent that reads it is known to tolerate the key."""
    return target.scope == "project" and all(agent.unknown_top_level is True for agent in target.agents)


def choose(agent: Agent, candidates: Iterable[Path], existing: Iterable[Path]) -> Path:
    """The file to write of an agent's candidates: the one that exists, else the first.

    Raises `Conflict` (`agents.two_files`) where several spellings of one file exist.
    """
    there = [path for path in candidates if path in set(existing)]
    if len(there) > 1 and agent.one_of:
        names = " and ".join(map(str, there))
        message = f"{agent.name} has two files, {names}, and merges them"
        remedy = f"put everything into {there[0]} and remove the other"
        raise Conflict(message, code="agents.two_files", place=Place(str(there[0])), remedy=remedy)
    return there[0] if there else next(iter(candidates))


def difference(plan: FilePlan) -> str:
    """The change as a unified diff for people. Values that are secrets, ours or others', are hidden."""
    before = (plan.before or b"").decode("utf-8", "replace").splitlines()
    after = (plan.after or b"").decode("utf-8", "replace").splitlines()
    scrub = Scrubber(_secrets_in(plan))
    path = str(plan.target.path)
    lines = difflib.unified_diff(
        before, after, path if plan.before is not None else "(no file)", path, lineterm="", n=2
    )
    return "\n".join(_shortened(_SENSITIVE.sub(_hide, scrub(line))) for line in lines)


_SENSITIVE = re.compile(
    rf"([\"']?[\w.-]*(?:{SENSITIVE_NAME.pattern})[\w.-]*[\"']?\s*[:=]\s*)(\"[^\"]*\"|'[^']*'|[^\s,}}]+)", re.IGNORECASE
)


def _hide(match: re.Match[str]) -> str:
    value = match[match.lastindex or 0]
    return match[1] + (value if re.search(r"[${]", value) else f'"{HIDDEN}"')


def _shortened(line: str) -> str:
    return line if len(line) <= 400 else f"{line[:200]} … {line[-200:]}"


def _secrets_in(plan: FilePlan) -> list[Secret]:
    """Every value of `env` and `headers`, and every telling argument, of every entry in the file."""
    found: list[Secret] = []
    for data in filter(None, (plan.before, plan.after)):
        for entry in editing.entries(data, plan.target.agent).values():
            if isinstance(entry, Mapping):
                seen = read_entry(plan.target.agent, cast("Mapping[str, Any]", entry))
                found += [Secret(text) for text in (*seen.env.values(), *seen.headers.values())]
                places = plain_secrets(seen)
                found += [Secret(seen.args[int(at[5:-1])]) for at in places if at.startswith("args[")]
    return [secret for secret in found if not re.search(r"[${]", secret.reveal())]
