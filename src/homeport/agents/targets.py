"""Which files to write for which agents, and what for the agents whose files we do not write. Pure.

Agents of low confidence are never written: what to paste is told. Those of medium confidence only into a file that
exists. Several agents that read one file make one target.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from homeport.agents.catalog import Agent, Scope, Where
from homeport.agents.editors import toml_text
from homeport.agents.plan import Target, choose
from homeport.agents.rendering import ServerLaunch, direct_launch, gateway_launch, shared_entry
from homeport.agents.shapes import Launch, entry_for
from homeport.ground.errors import HomeportError

Via = Literal["gateway", "direct"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What the user asked to have registered."""

    via: Via = "gateway"
    executable: Path = Path("homeport")
    """Absolute, for user scope."""
    profile: str = "default"
    servers: tuple[ServerLaunch, ...] = ()
    """For `direct`."""
    blocked: Mapping[str, str] = field(default_factory=dict[str, str])
    """Servers that must not run, and why."""
    adopt: bool = False
    remove: bool = False
    """Take out what is ours instead."""


@dataclass(frozen=True, slots=True)
class Unwritten:
    """An agent whose file is not written."""

    agent: Agent
    state: Literal["unsupported", "by-hand", "blocked"]
    reason: str
    remedy: str = ""
    paste: str = ""
    """What to put where, by hand."""
    server: str = ""


@dataclass(frozen=True, slots=True)
class Selection:
    """Files to write, and agents that get none."""

    targets: tuple[Target, ...] = ()
    unwritten: tuple[Unwritten, ...] = ()
    notes: tuple[str, ...] = ()


def select(
    agents: Iterable[Agent],
    scope: Literal["user", "project"],
    where: Where,
    project: Path | None,
    wish: Wish,
    *,
    exists: Callable[[Path], bool],
    real: Callable[[Path], Path],
) -> Selection:
    """The files for some agents in one scope. `exists` and `real` look at the disk for us.

    Raises `Conflict` (`agents.two_files`, `config.link`).
    """
    work = _Work(scope, where, project, wish)
    for agent in agents:
        candidates = agent.user_files(where) if scope == "user" else agent.project_files(where, project or where.home)
        if not candidates:
            work.refuse(agent, "unsupported", f"{agent.name} has no file in {scope} scope here")
            continue
        path = choose(agent, candidates, [path for path in candidates if exists(path)])
        entries = work.entries(agent, path)
        reason = _by_hand(agent, there=exists(path))
        if reason and not wish.remove:
            work.paste(agent, path, entries, reason)
        elif entries or wish.remove or wish.blocked:
            work.write(agent, path, real(path), entries)
    return Selection(tuple(work.targets.values()), tuple(work.unwritten), tuple(dict.fromkeys(work.notes)))


def _by_hand(agent: Agent, *, there: bool) -> str:
    if agent.container == "list" and agent.format not in {"yaml", "toml"}:
        return "its servers are a JSON list, which is not edited"
    if agent.confidence == "low":
        return "what is known of this agent's file was never tried"
    if agent.confidence == "medium" and not there:
        return "its file does not exist, and where it lies was not tried"
    return ""


class _Work:
    def __init__(self, scope: Literal["user", "project"], where: Where, project: Path | None, wish: Wish) -> None:
        self.scope: Scope = scope
        self.where = where
        self.project = project
        self.wish = wish
        self.targets: dict[tuple[str, tuple[str, ...]], Target] = {}
        self.unwritten: list[Unwritten] = []
        self.notes: list[str] = []

    def refuse(self, agent: Agent, state: Literal["unsupported", "blocked"], reason: str, remedy: str = "") -> None:
        self.unwritten.append(Unwritten(agent, state, reason, remedy))

    def paste(self, agent: Agent, path: Path, entries: Mapping[str, Mapping[str, Any]], reason: str) -> None:
        text = snippet(agent, entries)
        remedy = f"put this into {path}"
        self.unwritten.append(Unwritten(agent, "by-hand", reason, remedy, text))

    def entries(self, agent: Agent, path: Path) -> dict[str, dict[str, Any]]:
        """What this agent shall find, by name."""
        if self.wish.remove:
            return {}
        if self.wish.via == "gateway":
            launch = gateway_launch(self.wish.executable, self.wish.profile, self.project, self.scope)
            return {launch.name: self._entry(agent, path, launch)} if self._named(agent, launch.name) else {}
        found: dict[str, dict[str, Any]] = {}
        for server in self.wish.servers:
            if server.name in self.wish.blocked or not self._named(agent, server.name):
                continue
            try:
                entry, notes = direct_launch(agent, server)
            except HomeportError as error:
                self.unwritten.append(Unwritten(agent, "unsupported", error.message, error.remedy, server=server.name))
                continue
            self.notes += notes
            found[server.name] = entry if not self._shared(path) else self._shared_direct(agent, server, entry)
        return found

    def _named(self, agent: Agent, name: str) -> bool:
        if agent.accepts_name(name):
            return True
        reason = f"{agent.name} refuses the name {name!r}"
        self.unwritten.append(Unwritten(agent, "unsupported", reason, "rename the server", server=name))
        return False

    def _shared(self, path: Path) -> bool:
        return self.scope == "project" and path.name == ".mcp.json" and path.parent == self.project

    def _entry(self, agent: Agent, path: Path, launch: Launch) -> dict[str, Any]:
        shared = self._shared(path) and agent.key_path == ("mcpServers",)
        return shared_entry(launch) if shared else entry_for(agent, launch)

    def _shared_direct(self, agent: Agent, server: ServerLaunch, entry: Mapping[str, Any]) -> dict[str, Any]:
        if agent.key_path != ("mcpServers",):
            return dict(entry)
        launch = Launch(
            server.name,
            command=server.argv[0] if server.argv else "",
            args=server.argv[1:],
            env=entry.get("env", {}),
            url=server.url,
            headers=entry.get("headers", {}),
        )
        return shared_entry(launch)

    def write(self, agent: Agent, path: Path, real: Path, entries: Mapping[str, Mapping[str, Any]]) -> None:
        """One target a file; a second agent that reads it joins the first."""
        key = (str(real), agent.key_path)
        there = self.targets.get(key)
        if there is not None:
            self.targets[key] = replace(there, agents=(*there.agents, agent))
            return
        project = str(self.project) if self.project is not None else ""
        self.targets[key] = Target(
            (agent,),
            self.scope,
            path,
            real,
            project,
            dict(entries),
            dict(self.wish.blocked) if self.wish.via == "direct" and not self.wish.remove else {},
            adopt=self.wish.adopt,
        )


def snippet(agent: Agent, entries: Mapping[str, Mapping[str, Any]]) -> str:
    """The entries as text to paste."""
    if agent.format == "toml":
        blocks = [
            toml_text.block((*agent.key_path, name), entry, "\n")
            if agent.container == "map"
            else toml_text.block(agent.key_path, entry, "\n", array=True)
            for name, entry in entries.items()
        ]
        return "\n\n".join(blocks) + "\n"
    value: Any = dict(entries) if agent.container == "map" else list(entries.values())
    for key in reversed(agent.key_path):
        value = {key: value}
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"
