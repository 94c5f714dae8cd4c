"""`init`, `import`, `add`, `remove`: what stands in `homeport.toml`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from homeport.agents.catalog import Where, catalog
from homeport.agents.importing import Import, import_file
from homeport.agents.plain_secrets import secret_args, secret_queries
from homeport.ground.errors import Conflict, InvalidInput, Place, Unavailable
from homeport.ground.files import replace_atomically
from homeport.ground.names import as_server, is_server
from homeport.ground.paths import PROJECT_FILE, find_project
from homeport.ground.secrets import Secret
from homeport.ops.context import Context
from homeport.ops.editing import editing
from homeport.project import edit, parse

_REFERENCE: Final = re.compile(r"\{(?:secret|env):[^}]+\}")
"""Ours only: `$word` may be a part of a password."""


@dataclass(frozen=True, slots=True)
class Initialized:
    """A new project file."""

    file: Path
    name: str


@dataclass(frozen=True, slots=True)
class Changed:
    """What an import or an addition wrote."""

    file: Path
    servers: tuple[str, ...]
    """Names of the new ones."""
    secrets: tuple[str, ...]
    """Names of values that went into the secret store."""
    secrets_where: str
    notes: tuple[str, ...]


def init(context: Context, name: str = "") -> Initialized:
    """Write a new `homeport.toml` in the working directory. Raises `Conflict` (`project.exists`)."""
    file = context.directory / PROJECT_FILE
    if file.exists():
        raise Conflict("there is a project here already", code="project.exists", place=Place(str(file)))
    chosen = name or re.sub(r"[^a-z0-9-]+", "-", context.directory.name.lower()).strip("-") or "project"
    replace_atomically(file, edit.new_project(chosen).encode())
    return Initialized(file, chosen)


def import_servers(
    context: Context, file: Path, *, agent: str = "", keep_values: bool = False, names: Sequence[str] = ()
) -> Changed:
    """Take the servers of an agent's file into the project, which is made if there is none.

    Values of `env` and `headers` go into the secret store, unless `keep_values`. Nothing is started. Raises
    `InvalidInput` for a file that is none, `Unavailable` for one that cannot be read.
    """
    try:
        data = file.read_bytes()
    except OSError as error:
        raise Unavailable(
            f"cannot be read: {error.strerror}",
            code="import.unreadable",
            place=Place(str(file)),
            remedy="homeport import FILE, with a file that exists and is readable",
        ) from None
    root = _root_or_new(context)
    project = parse.load(root)
    where = Where(context.environment, context.platform, context.home)
    found = import_file(
        data,
        file=str(file.resolve()),
        catalog=catalog(),
        where=where,
        agent=agent,
        taken=project.servers,
        keep_values=keep_values,
    )
    chosen = {server.name: server for server in found.servers if not names or {server.name, server.original} & {*names}}
    missing = [name for name in names if not any(name in (one.name, one.original) for one in found.servers)]
    if missing:
        known = ", ".join(server.original for server in found.servers)
        raise InvalidInput(
            f"holds no server {missing[0]!r}", code="import.unknown", place=Place(str(file)), remedy=f"it has: {known}"
        )
    tables = {name: server.table for name, server in chosen.items()}
    # Notes of entries that were not imported carry their original names: only a choice of servers leaves them out.
    return _write(context, root, tables, _secrets(found, chosen), found, everything=not names)


def _secrets(found: Import, chosen: Mapping[str, Any]) -> dict[str, Secret]:
    text = repr([dict(server.table) for server in chosen.values()])
    return {name: secret for name, secret in found.secrets.items() if f"{{secret:{name}}}" in text}


def _write(
    context: Context,
    root: Path,
    tables: Mapping[str, Mapping[str, Any]],
    secrets: Mapping[str, Secret],
    found: Import | None = None,
    *,
    everything: bool = False,
) -> Changed:
    """Secrets first: a file that refers to a value that is not there would be a fault, the reverse only unused."""
    file = root / PROJECT_FILE
    store = context.secrets()
    with editing(root):
        before = file.read_text("utf-8")
        parse.parse(_added(before, tables).encode(), root=root)
        kept = {name: store.keep(name, secret) for name, secret in secrets.items()}
        text = _added(before, {name: _renamed(table, kept) for name, table in tables.items()})
        replace_atomically(file, text.encode(), mode=file.stat().st_mode & 0o777)
    notes: list[str] = []
    if found is not None:
        notes += [f"{note.server}: {note.text}" for note in found.notes if everything or note.server in tables]
        notes += [_pin_note(proposal.server, proposal.obstacle) for proposal in found.pins if proposal.server in tables]
    return Changed(file, tuple(tables), tuple(kept.values()), store.where if secrets else "", tuple(notes))


def _added(text: str, tables: Mapping[str, Mapping[str, Any]]) -> str:
    for name, table in tables.items():
        text = edit.add_server(text, name, table)
    return text


def _renamed(value: Any, kept: Mapping[str, str]) -> Any:
    """The table with each secret under the name that it was kept under."""
    if isinstance(value, str):
        return re.sub(r"\{secret:([^}]*)\}", lambda found: f"{{secret:{kept.get(found[1], found[1])}}}", value)
    if isinstance(value, Mapping):
        return {key: _renamed(item, kept) for key, item in cast("Mapping[str, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_renamed(item, kept) for item in cast("Sequence[Any]", value)]
    return value


def _pin_note(server: str, obstacle: str) -> str:
    if obstacle:
        return f"{server}: fetched anew at every start and not pinned; {obstacle}"
    return f"{server}: fetched anew at every start; pin it by writing `runtime` instead of `command`"


def _root_or_new(context: Context) -> Path:
    found = find_project(context.directory)
    if found is not None:
        return found
    if context.paths.user_project.is_file():
        return context.paths.config
    return init(context).file.parent


def add(
    context: Context,
    name: str,
    *,
    python: str = "",
    node: str = "",
    url: str = "",
    command: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    keep_values: bool = False,
) -> Changed:
    """Add one server, from exactly one of PyPI, npm, a URL or a command line.

    Values of `env` and `headers` go into the secret store, unless `keep_values`; one in the URL or an argument is
    refused, since the file is committed. Raises `InvalidInput` (`add.*`, `project.*`).
    """
    if not is_server(name):
        raise InvalidInput(
            f"{name!r} cannot name a server: a small letter, then small letters, digits and `-`, at most 40",
            code="add.name",
            remedy=f"homeport add {as_server(name)} …",
        )
    ways = [way for way in (python, node, url, command) if way]
    if len(ways) != 1:
        raise InvalidInput(
            "say where the server comes from, exactly once",
            code="add.source",
            remedy=f"homeport add {name} --python NAME==VERSION | --node NAME@VERSION | --url URL | -- COMMAND ARGS…",
        )
    if not keep_values:
        _refuse_plain_secrets(name, url, tuple(command))
    table: dict[str, Any] = {}
    if python or node:
        table["runtime"] = {"python": python} if python else {"node": node}
        if command:
            table["args"] = list(command)
    elif url:
        table["url"] = url
    else:
        table["command"] = command[0]
        if command[1:]:
            table["args"] = list(command[1:])
    secrets: dict[str, Secret] = {}
    for key, values in (("env", env or {}), ("headers", headers or {})):
        if values:
            table[key] = {item: _kept(name, item, value, secrets, keep=keep_values) for item, value in values.items()}
    return _write(context, _root_or_new(context), {name: table}, secrets)


def _refuse_plain_secrets(name: str, url: str, words: tuple[str, ...]) -> None:
    """Tells the place, never the value."""
    where = ""
    if url:
        user = url.partition("://")[2].partition("/")[0].rpartition("@")[0]
        queries = secret_queries(url)
        if queries:
            where = f"the value of {queries[0]!r} in the URL"
        elif (user and not _REFERENCE.search(user)) or secret_args((url,)):
            where = "the URL"
    elif found := secret_args(words):
        where = f"word {found[0] + 1} of the command"
    if where:
        raise InvalidInput(
            f"{where} looks like a secret, and homeport.toml is a file that is shared",
            code="add.secret",
            remedy=f"give it with --header or --env, or homeport add {name} --keep-values … to write it all the same",
        )


def _kept(server: str, item: str, value: str, secrets: dict[str, Secret], *, keep: bool) -> str:
    if keep or not value or _REFERENCE.search(value):
        return value
    name = f"{server}.{item}"
    secrets[name] = Secret(value)
    return f"{{secret:{name}}}"


def remove(context: Context, name: str) -> Path:
    """Remove a server and what was granted of it. Its lock lines go with the next `lock`."""
    root = context.root()
    file = root / PROJECT_FILE
    with editing(root):
        edited = edit.remove_server(file.read_text("utf-8"), name)
        parse.parse(edited.encode(), root=root)
        replace_atomically(file, edited.encode(), mode=file.stat().st_mode & 0o777)
    return file
