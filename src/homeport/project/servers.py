"""One `[servers.NAME]`: what it is, how it is reached, what it needs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from homeport.declarations.parse import declaration_problems
from homeport.ground.errors import InvalidInput, Problem
from homeport.ground.secrets import Chain, Template
from homeport.packages.requirement import node_requirement, package_requirement, python_requirement
from homeport.project.findings import Findings
from homeport.project.lines import KeyPath
from homeport.project.misspelt import nearest
from homeport.project.model import Command, NodeRuntime, PackageSource, PythonRuntime, Remote, Server, Source
from homeport.project.values import table, text, texts

SOURCES: Final = ("command", "runtime", "package", "url")
_ONLY_PROCESSES: Final = ("args", "env", "cwd", "isolation")
_OWNED_HEADERS: Final = frozenset(
    {"accept", "connection", "content-length", "content-type", "host", "mcp-protocol-version", "mcp-session-id"}
    | {"mcp-method", "mcp-name", "transfer-encoding"}
)
_BRACED: Final = re.compile(r"\{([A-Za-z]+):([^{}\"]*)\}")
_NAME_IN_REFERENCE: Final = re.compile(r"[A-Za-z0-9_.\-/]+")


def server(name: str, raw: dict[str, Any], findings: Findings) -> Server | None:
    path: KeyPath = ("servers", name)
    before = len(findings.problems)
    source = _source(raw, path, findings)
    env = _chains(raw.get("env"), (*path, "env"), findings)
    declaration = None
    if "app" in raw or "requires" in raw:
        declaration, problems = declaration_problems(
            name,
            raw_app=raw.get("app"),
            raw_requires=raw.get("requires"),
            place_of=lambda keys: findings.place((*path, *keys)),
        )
        findings.problems += problems
    if source is None or len(findings.problems) > before:
        return None
    return Server(
        name,
        source,
        env,
        cwd=text(raw.get("cwd")),
        enabled=raw.get("enabled") is not False,
        apps=raw.get("apps") is not False,
        isolation="caller" if raw.get("isolation") == "caller" else "shared",
        declaration=declaration,
        place=findings.place(path),
    )


def _source(raw: Mapping[str, Any], path: KeyPath, findings: Findings) -> Source | None:
    said = [key for key in SOURCES if key in raw]
    if len(said) != 1:
        listed = ", ".join(f"`{key}`" for key in SOURCES)
        message = f"{' and '.join(f'`{key}`' for key in said)} exclude each other" if said else "says not what to run"
        findings.add(
            (*path, said[1]) if said else path,
            Problem("project.source", message, remedy=f"write exactly one of {listed}"),
        )
        return None
    for key in _ONLY_PROCESSES if said == ["url"] else ("headers",):
        if key in raw:
            why = (
                "a server behind a URL is not started here"
                if said == ["url"]
                else "only a server with `url` is sent headers"
            )
            findings.add((*path, key), Problem("project.source", why, remedy=f"remove `{key}`"))
    match said[0]:
        case "command":
            return _command(raw, path, findings)
        case "runtime":
            return _runtime(raw, path, findings)
        case "package":
            return _package(raw, path, findings)
        case _:
            return _remote(raw, path, findings)


def _command(raw: Mapping[str, Any], path: KeyPath, findings: Findings) -> Source | None:
    program = text(raw["command"])
    if re.search(r"\s", program) and not re.search(r"[/\\]", program):
        first = program.split()[0]
        findings.add(
            (*path, "command"),
            Problem(
                "project.value",
                f"{program!r} is a program and its arguments in one text",
                remedy=f'write `command = "{first}"` and put the rest into `args`, one text each',
            ),
        )
    return Command((program, *texts(raw.get("args"))))


def _runtime(raw: Mapping[str, Any], path: KeyPath, findings: Findings) -> Source | None:
    runtime = table(raw["runtime"])
    kinds = [kind for kind in ("python", "node") if kind in runtime]
    here = (*path, "runtime")
    if len(kinds) != 1:
        findings.add(here, Problem("project.source", "exactly one of `python` and `node` says what to resolve"))
        return None
    requirement = text(runtime[kinds[0]])
    command, args = text(runtime.get("command")), texts(raw.get("args"))
    try:
        if kinds[0] == "python":
            python_requirement(requirement)
            return PythonRuntime(requirement, command, args)
        node_requirement(requirement)
        return NodeRuntime(requirement, command, args)
    except InvalidInput as error:
        if isinstance(runtime[kinds[0]], str) and requirement:
            findings.adopt((*here, kinds[0]), error)
        return None


def _package(raw: Mapping[str, Any], path: KeyPath, findings: Findings) -> Source | None:
    written = text(raw["package"])
    try:
        package_requirement(written)
    except InvalidInput as error:
        if written:
            findings.adopt((*path, "package"), error)
        return None
    return PackageSource(written, texts(raw.get("args")))


def _remote(raw: Mapping[str, Any], path: KeyPath, findings: Findings) -> Source | None:
    url = text(raw["url"])
    try:
        parts = urlsplit(url)
        broken = not parts.hostname or parts.port == 0
        userinfo = parts.username is not None or parts.password is not None
    except ValueError:
        broken, userinfo = True, False
    if broken and re.match(r"https?://.", url):
        findings.add((*path, "url"), Problem("project.value", f"{url!r} names no host and port that can be reached"))
    if userinfo:
        remedy = 'write the password into a header: `headers = { Authorization = "Basic {secret:NAME}" }`'
        findings.add(
            (*path, "url"),
            Problem("project.value", "a URL with a name or password in it is shown and logged", remedy=remedy),
        )
    for name in table(raw.get("headers")):
        if name.lower() in _OWNED_HEADERS:
            findings.add(
                (*path, "headers", name),
                Problem("project.value", f"the header {name} is written by the transport itself"),
            )
    return Remote(url, _chains(raw.get("headers"), (*path, "headers"), findings))


def _chains(raw: object, path: KeyPath, findings: Findings) -> dict[str, Chain]:
    chains: dict[str, Chain] = {}
    for name, value in table(raw).items():
        written = (value,) if isinstance(value, str) else texts(value)
        for one in written:
            _check_references(one, (*path, name), findings)
        if value == []:
            findings.add((*path, name), Problem("project.value", "an empty list has no value"))
        chains[name] = tuple(Template(one) for one in written)
    return chains


def _check_references(value: str, path: KeyPath, findings: Findings) -> None:
    for match in _BRACED.finditer(value):
        kind, name = match[1], match[2]
        if kind in {"secret", "env"}:
            if not _NAME_IN_REFERENCE.fullmatch(name):
                what = f"{match[0]} names nothing: letters, digits and `._-/` make a name"
                findings.add(path, Problem("project.value", what))
        elif near := nearest(kind.lower(), ("secret", "env")):
            what = f"{match[0]} is filled in from nowhere; is `{{{near}:{name}}}` meant?"
            findings.add(path, Problem("project.value", what))
