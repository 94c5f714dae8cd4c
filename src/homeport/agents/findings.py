"""What is wrong in the agents' config files, each with a remedy. Pure: what was discovered in, findings out."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final, Literal, cast
from urllib.parse import urlsplit

from homeport.agents.catalog import Agent
from homeport.agents.discover import Discovery, FoundAgent, FoundFile, FoundServer
from homeport.agents.plain_secrets import plain_secrets
from homeport.agents.runners import unpinned

Severity = Literal["error", "warning", "note"]
_ORDER: Final = {"error": 0, "warning": 1, "note": 2}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to know about one place. Never holds the value of a secret."""

    code: str
    severity: Severity
    agent: str
    file: str
    line: int
    path: str
    message: str
    measured: str
    """What was found, as data for people: the program looked for, the version, the list of agents."""
    remedy: str
    """A command that works, or a plain instruction."""


def findings(discovery: Discovery, *, project: bool = False) -> tuple[Finding, ...]:
    """Everything found, errors first, then by file and line. `project`: whether a project was looked at."""
    told: dict[tuple[str, str, int, str], Finding] = {}
    for found in discovery.agents:
        for file in found.files:
            for finding in _of_file(found, file):
                # A file that several agents read is told once, unless what is wrong is that agent's reading of it.
                whose = finding.agent if finding.code in _OF_THE_AGENT else ""
                told.setdefault((finding.code + whose, finding.file, finding.line, finding.path), finding)
    several = [*_duplicates(discovery), *_shadowed(discovery)]
    return tuple(sorted((*told.values(), *several), key=lambda each: (_ORDER[each.severity], each.file, each.line)))


_OF_THE_AGENT: Final = frozenset({"config.dialect", "server.name", "server.shape", "config.wrong_key"})


def _of_file(found: FoundAgent, file: FoundFile) -> Iterator[Finding]:
    agent, path = found.agent, str(file.path)
    if file.problem is not None:
        place = file.problem.place
        yield Finding(
            file.problem.code,
            "error",
            agent.id,
            path,
            place.line,
            place.path,
            f"{agent.name} cannot use its file: it {file.problem.message}",
            "",
            file.problem.remedy or "mend the file in an editor",
        )
        return
    if not file.effective:
        yield Finding(
            "config.not_read",
            "warning",
            agent.id,
            path,
            file.servers[0].place.line,
            "",
            f"{agent.name} does not read servers from this file",
            ", ".join(server.name for server in file.servers),
            f"homeport import {_quoted(path)}",
        )
        return
    yield from _dialect(agent, file)
    yield from _wrong_key(agent, file)
    for server in file.servers:
        yield from _of_server(agent, server)


def _dialect(agent: Agent, file: FoundFile) -> Iterator[Finding]:
    """Text that we can read and the agent cannot: its whole file is lost to it."""
    accepted = {
        "comments": agent.comments,
        "trailing commas": agent.trailing_commas,
        "a byte order mark": agent.bom is not False,
    }
    refused = [liberty for liberty in file.liberties if not accepted[liberty]]
    if refused:
        yield Finding(
            "config.dialect",
            "error",
            agent.id,
            str(file.path),
            1,
            "",
            f"{agent.name} cannot read a file with {' and '.join(refused)}",
            ", ".join(refused),
            f"remove {' and '.join(refused)} from {file.path} in an editor",
        )


_KEYS: Final = ("mcpServers", "servers", "mcp_servers", "mcp-servers", "context_servers")


def _wrong_key(agent: Agent, file: FoundFile) -> Iterator[Finding]:
    """Servers under a key that this agent passes over in silence. Shared files may hold another agent's key."""
    used = {agent.key_path[0]}
    if file.servers or used & set(file.top) or file.scope == "project" or len(file.top) > 2:
        return
    wrong = [key for key in file.top if key in _KEYS and key not in used]
    if wrong:
        yield Finding(
            "config.wrong_key",
            "warning",
            agent.id,
            str(file.path),
            1,
            wrong[0],
            f"{agent.name} looks for `{'.'.join(agent.key_path)}`, not for `{wrong[0]}`",
            wrong[0],
            f"rename the key to `{'.'.join(agent.key_path)}` in an editor",
        )


def _of_server(agent: Agent, server: FoundServer) -> Iterator[Finding]:
    faults = list(_shape(agent, server))
    yield from faults
    if server.seen.enabled and not faults:
        yield from _dead(agent, server)
    yield from _pins(agent, server)
    yield from _secrets(agent, server)
    if not agent.accepts_name(server.name):
        yield _finding(
            agent,
            server,
            "server.name",
            "warning",
            f"{agent.name} refuses the name {server.name!r}",
            agent.name_pattern or server.name,
            "rename the entry: letters, digits and hyphens, starting with a letter, at most 40",
        )


def _finding(
    agent: Agent,
    server: FoundServer,
    code: str,
    severity: Severity,
    message: str,
    measured: str,
    remedy: str,
    *,
    inner: str = "",
) -> Finding:
    place = server.place
    path = f"{place.path}.{inner}" if inner else place.path
    return Finding(code, severity, agent.id, place.file, place.line, path, message, measured, remedy)


def _shape(agent: Agent, server: FoundServer) -> Iterator[Finding]:
    """Entries that the agent cannot use as they stand."""
    value, seen = server.value, server.seen
    if agent.id == "goose" and not seen.command and not seen.url:
        return  # builtin and platform extensions have no program

    def fault(message: str, measured: str, remedy: str) -> Finding:
        harm = {"agent": f"; {agent.name} does not start with it", "file": "; it takes every server of the file down"}
        severity: Severity = "error" if agent.bad_entry in harm else "warning"
        told = f"{server.name}: {message}{harm.get(agent.bad_entry, '')}"
        return _finding(agent, server, "server.shape", severity, told, measured, remedy)

    if not isinstance(value, Mapping):
        yield fault("the entry is not an object", type(value).__name__, "make it an object, or remove it")
        return
    entry = cast("Mapping[str, Any]", value)
    nothing = [key for key, member in entry.items() if member is None and agent.stdio.get(key, "") is not None]
    if nothing and agent.format != "yaml":
        yield fault(f"{', '.join(nothing)} is null", ", ".join(nothing), "remove the members that are null")
    if not seen.command and not seen.url:
        yield fault("it has neither a command nor a URL", "", "add one, or remove the entry")
    elif seen.command and seen.url:
        yield fault("it has both a command and a URL", "", "keep one of the two")
    elif seen.url:
        yield from _remote_shape(agent, server, entry, fault)
    elif isinstance(entry.get("command"), str) and "@argv" in agent.stdio.values():
        yield fault(
            "`command` must be a list", str(type(entry["command"]).__name__), "write program and arguments as one list"
        )


def _remote_shape(agent: Agent, server: FoundServer, entry: Mapping[str, Any], fault: Any) -> Iterator[Finding]:
    if agent.http is None:
        yield fault(
            f"{agent.name} takes no URLs here",
            server.seen.url,
            "give it the program `homeport connect --profile default` instead",
        )
        return
    needed = next((key for key in ("type", "transport") if key in agent.http), "")
    if needed and needed not in entry and agent.id in _TYPE_NEEDED:
        yield fault(f"an entry with a URL needs `{needed}`", "", f'add "{needed}": "{agent.http[needed]}"')
    url_keys = [key for key, want in agent.http.items() if want == "@url"]
    if url_keys and not any(key in entry for key in (*url_keys, "url")):
        used = next(key for key in ("serverUrl", "httpUrl", "uri") if key in entry)
        yield fault(f"the URL stands under `{used}`", used, f"rename `{used}` to `{url_keys[0]}`")
    if urlsplit(server.seen.url).username:
        yield fault("the URL holds a user name or password", "", f"homeport import {_quoted(server.place.file)}")


_TYPE_NEEDED: Final = frozenset({"claude-code", "vscode", "vscode-insiders", "factory-droid", "opencode", "kilo-code"})


def _dead(agent: Agent, server: FoundServer) -> Iterator[Finding]:
    seen = server.seen
    if seen.command and not server.program and not re.search(r"[${%]", seen.command):
        words = seen.command.split()
        split = len(words) > 1 and not re.search(r"[/\\]", words[0])
        remedy = (
            "put the program alone into `command` and each argument into `args`"
            if split
            else f"install {PurePath(seen.command).name}, or write its absolute path"
        )
        message = f"{server.name}: the program {seen.command!r} is not on this machine"
        yield _finding(agent, server, "server.command_missing", "error", message, seen.command, remedy, inner="command")
        return
    for path in server.missing:
        message = f"{server.name}: {path} does not exist"
        remedy = "correct the path, or remove the entry"
        yield _finding(agent, server, "server.path_missing", "error", message, path, remedy, inner="args")


def _pins(agent: Agent, server: FoundServer) -> Iterator[Finding]:
    what = unpinned(server.seen)
    if what is not None:
        message = f"{server.name}: {what.runner} runs whatever version of {what.name} is newest at each start"
        remedy = f"homeport import {_quoted(server.place.file)}, then write `runtime` in place of `command`"
        yield _finding(agent, server, "server.unpinned", "warning", message, what.written, remedy, inner="args")


def _secrets(agent: Agent, server: FoundServer) -> Iterator[Finding]:
    for where in plain_secrets(server.seen):
        message = f"{server.name}: {where} holds a secret in plain text"
        remedy = f"homeport import {_quoted(server.place.file)} keeps it in the secret store; then remove it here"
        yield _finding(agent, server, "server.plain_secret", "warning", message, where, remedy, inner=where)


def _duplicates(discovery: Discovery) -> Iterator[Finding]:
    """The same launch in several agents: each starts its own process of it."""
    groups: dict[tuple[str, ...], list[FoundServer]] = defaultdict(list)
    for server in discovery.servers():
        if server.seen.key and server.seen.key != ("",) and server.seen.enabled and not _is_ours(server):
            groups[server.seen.key].append(server)
    for servers in groups.values():
        agents = sorted({server.agent for server in servers})
        files = {server.place.file for server in servers}
        if len(agents) > 1 and len(files) > 1:
            first = servers[0]
            yield Finding(
                "server.duplicate",
                "note",
                first.agent,
                first.place.file,
                first.place.line,
                first.place.path,
                f"{first.name} is set up in {len(agents)} agents, each starting its own",
                ", ".join(agents),
                f"homeport import {_quoted(first.place.file)}; then give each agent one entry: homeport connect",
            )


def _shadowed(discovery: Discovery) -> Iterator[Finding]:
    """One name in two scopes of one agent: only one of them is used."""
    for found in discovery.agents:
        by_name: dict[str, list[FoundServer]] = defaultdict(list)
        for file in found.files:
            for server in file.servers if file.effective else ():
                by_name[server.name].append(server)
        for name, servers in by_name.items():
            if len({(server.scope, server.place.file) for server in servers}) < 2 or not _differ(servers):
                continue
            hidden = servers[0]
            others = ", ".join(f"{server.place.file} ({server.scope})" for server in servers[1:])
            yield _finding(
                found.agent,
                hidden,
                "server.shadowed",
                "warning",
                f"{name} is set up twice for {found.agent.name}, differently; one of them is not used",
                others,
                "rename or remove one of the two",
            )


def _differ(servers: list[FoundServer]) -> bool:
    return len({server.seen.key for server in servers}) > 1


def _is_ours(server: FoundServer) -> bool:
    return PurePath(server.seen.command).name.startswith("homeport") or server.name == "homeport"


def _quoted(path: str) -> str:
    import shlex

    return shlex.quote(path)
