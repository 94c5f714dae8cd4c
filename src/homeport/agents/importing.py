"""Servers of an agent's file as `[servers.NAME]` tables of a project. Pure: nothing is written or stored here.

Values of `env` and `headers` become secrets with a `{secret:…}` in their place, references become ours, and whatever
cannot be carried over is told in a note: an import never loses something in silence.
"""

from __future__ import annotations

import base64
import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any, Final, cast
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

from homeport.agents.catalog import Agent, Catalog, Format, References, Where
from homeport.agents.documents import Entry, decode, read
from homeport.agents.editors.source import source
from homeport.agents.plain_secrets import secret_args, secret_queries
from homeport.agents.references import Translation, translate
from homeport.agents.runners import ADDRESS, Runner, runner_of
from homeport.agents.shapes import Seen, read_entry
from homeport.ground.errors import InvalidInput, Place
from homeport.ground.names import as_server
from homeport.ground.secrets import Secret

TomlValue = Any
"""What tomlkit can write: texts, booleans, lists and tables of them."""


@dataclass(frozen=True, slots=True)
class Note:
    """Something a person should know about one imported entry."""

    server: str
    text: str
    place: Place = Place()


@dataclass(frozen=True, slots=True)
class PinProposal:
    """A server started by `npx`, `uvx` or the like, which a pinned runtime can replace (`with_pin`)."""

    server: str
    runner: Runner
    obstacle: str = ""
    """Why it cannot be pinned; empty: it can."""


@dataclass(frozen=True, slots=True)
class Imported:
    """One server: its new name, the name it had, and the table to write under `[servers.NAME]`."""

    name: str
    original: str
    table: Mapping[str, TomlValue]
    place: Place


@dataclass(frozen=True, slots=True)
class Import:
    """What an import would do."""

    servers: tuple[Imported, ...] = ()
    secrets: Mapping[str, Secret] = field(default_factory=dict[str, Secret])
    """To be put into the secret store, by the name that the tables refer to."""
    notes: tuple[Note, ...] = ()
    pins: tuple[PinProposal, ...] = ()

    def tables(self) -> dict[str, dict[str, TomlValue]]:
        """The tables by server name."""
        return {server.name: dict(server.table) for server in self.servers}


def import_file(
    data: bytes,
    *,
    file: str,
    catalog: Catalog,
    where: Where | None = None,
    agent: str = "",
    taken: Iterable[str] = (),
    keep_values: bool = False,
) -> Import:
    """The servers of one file. Whose file it is comes from `agent`, from its path, else from its keys.

    Raises `InvalidInput`: `config.*` for a file that cannot be read, `import.nothing` if it holds no servers.
    """
    whose = catalog.get(agent) if agent else agent_of(data, file, catalog, where)
    entries = read(data, whose, file=file).entries
    if not entries:
        wanted = ".".join(whose.key_path)
        message = f"holds no servers under `{wanted}`"
        remedy = "name the file that holds them: homeport import FILE"
        raise InvalidInput(message, code="import.nothing", place=Place(file), remedy=remedy)
    return import_entries([(whose, entry) for entry in entries], taken=taken, keep_values=keep_values)


def agent_of(data: bytes, file: str, catalog: Catalog, where: Where | None = None) -> Agent:
    """The agent whose file this is: by its path, else a nameless one with the file's own key and format."""
    path = PurePath(file)
    if where is not None:
        for agent in catalog:
            if path in agent.user_files(where):
                return agent
    form = _FORMATS.get(path.suffix.lower(), "jsonc")
    root: Any = decode(source(data, file), form)
    keys = cast("Mapping[str, Any]", root) if isinstance(root, dict) else dict[str, Any]()
    for agent in catalog:
        if path.name in _OWN_NAMES and any(pattern.endswith(f"/{path.name}") for pattern in _patterns(agent)):
            return agent
    key_path = next((candidate for candidate in _KEY_PATHS if _holds(keys, candidate)), ("mcpServers",))
    holder: Any = keys
    for key in key_path:
        holder = cast("Mapping[str, Any]", holder).get(key) if isinstance(holder, dict) else None
    container = "map" if not isinstance(holder, list) else "tables" if form == "toml" else "list"
    template = {"command": "@command", "args": "@args", "env": "@env"}
    return Agent(
        "file",
        path.name,
        form,
        key_path,
        "high",
        container=container,
        stdio=template,
        http={"url": "@url", "headers": "@headers"},
        comments=True,
        trailing_commas=True,
        references=References(fields=("command", "args", "env", "url", "headers"), expands=_USUAL),
    )


_FORMATS: Final[Mapping[str, Format]] = {".toml": "toml", ".yaml": "yaml", ".yml": "yaml", ".json5": "json5"}
_KEY_PATHS: Final = (
    ("mcpServers",),
    ("servers",),
    ("mcp", "servers"),
    ("mcp_servers",),
    ("context_servers",),
    ("amp.mcpServers",),
    ("extensions",),
    ("mcp",),
)
_USUAL: Final = ("${VAR}", "${VAR:-default}", "${env:VAR}", "{env:VAR}", "${input:id}", "${workspaceFolder}")
_OWN_NAMES: Final = frozenset(
    {"opencode.json", "opencode.jsonc", "kilo.json", "kilo.jsonc", "claude_desktop_config.json"}
)
"""File names that belong to one agent wherever they lie."""


def _patterns(agent: Agent) -> Iterable[str]:
    yield from agent.project
    for paths in agent.user.values():
        yield from paths


def _holds(root: Mapping[str, Any], path: Sequence[str]) -> bool:
    value: Any = root
    for key in path:
        value = cast("Mapping[str, Any]", value).get(key) if isinstance(value, dict) else None
    return isinstance(value, dict | list)


def import_entries(
    entries: Iterable[tuple[Agent, Entry]], *, taken: Iterable[str] = (), keep_values: bool = False
) -> Import:
    """The servers of entries, from one file or many. One launch seen twice becomes one server."""
    work = _Work(set(taken), keep_values)
    for agent, entry in entries:
        work.add(agent, entry)
    return Import(tuple(work.servers), work.secrets, tuple(work.notes), tuple(work.pins))


class _Work:
    """One import under way."""

    def __init__(self, taken: set[str], keep_values: bool) -> None:
        self.taken = taken
        self.keep_values = keep_values
        self.servers: list[Imported] = []
        self.secrets: dict[str, Secret] = {}
        self.notes: list[Note] = []
        self.pins: list[PinProposal] = []
        self._seen: dict[tuple[Any, ...], str] = {}
        self._name = ""
        self._place = Place()

    def note(self, text: str) -> None:
        self.notes.append(Note(self._name, text, self._place))

    def add(self, agent: Agent, entry: Entry) -> None:
        self._name, self._place = entry.name, entry.place
        if not isinstance(entry.value, dict):
            self.note("not imported: the entry is not an object")
            return
        raw = cast("Mapping[str, Any]", entry.value)
        seen = _through_bridge(read_entry(agent, raw))
        obstacle = _obstacle(agent, entry.name, seen)
        if obstacle:
            self.note(f"not imported: {obstacle}")
            return
        launch = (seen.key, tuple(sorted(seen.env.items())), tuple(sorted(seen.headers.items())), seen.cwd)
        if launch in self._seen:
            self.note(f"the same launch as {self._seen[launch]}, imported once")
            return
        name = as_server(entry.name, self.taken)
        self.taken.add(name)
        self._seen[launch] = self._name = name
        if name != entry.name:
            self.note(f"{entry.name!r} is now called {name!r}: server names are lower-case letters, digits and hyphens")
        table = self._table(agent, seen)
        self._unsaid(agent, raw)
        self.servers.append(Imported(name, entry.name, table, entry.place))

    def _table(self, agent: Agent, seen: Seen) -> dict[str, TomlValue]:
        table = self._remote(seen, agent) if seen.url else self._process(seen, agent)
        if not seen.enabled:
            table["enabled"] = False
        env = {name: self._value(agent, "env", f"{self._name}.{name}", text) for name, text in seen.env.items()}
        if env and not seen.url:
            table["env"] = env
        return table

    def _process(self, seen: Seen, agent: Agent) -> dict[str, TomlValue]:
        table: dict[str, TomlValue] = {"command": self._plain(agent, "command", seen.command)}
        hidden = frozenset(() if self.keep_values else secret_args(seen.args))
        args = [_REMOVED if at in hidden else self._plain(agent, "args", arg) for at, arg in enumerate(seen.args)]
        if args:
            table["args"] = args
        if hidden:
            table["enabled"] = False
            self.note(
                f"switched off: argument {', '.join(str(at + 1) for at in sorted(hidden))} was a secret "
                "and was left out; give it to the server in `env`: arguments show in every process list"
            )
        if seen.cwd:
            table["cwd"] = self._plain(agent, "cwd", seen.cwd)
        runner = runner_of(seen)
        if runner is not None:
            self.pins.append(PinProposal(self._name, runner, _pin_obstacle(runner, bool(hidden))))
        return table

    def _remote(self, seen: Seen, agent: Agent) -> dict[str, TomlValue]:
        headers = dict(seen.headers)
        url, credentials = _without_userinfo(seen.url)
        if credentials:
            headers.setdefault("Authorization", f"Basic {base64.b64encode(credentials.encode()).decode()}")
            self.note("user name and password moved from the URL into a header")
        queries = () if self.keep_values else secret_queries(url)
        table: dict[str, TomlValue] = {"url": self._plain(agent, "url", _blanked(url, queries))}
        if queries:
            table["enabled"] = False
            self.note(
                f"switched off: {', '.join(queries)} in the URL was a secret and was left out; "
                "give it to the server in `headers`, or import with --keep-values"
            )
        if seen.transport == "sse":
            self.note("speaks the old HTTP+SSE transport")
        if headers:
            table["headers"] = {
                name: self._value(agent, "headers", f"{self._name}.{name}", text) for name, text in headers.items()
            }
        return table

    def _plain(self, agent: Agent, what: str, text: str) -> str:
        """A value that our file takes literally: command, arguments, URL, directory."""
        translated = translate(agent.references, what, text)
        if translated.references:
            listed = ", ".join(dict.fromkeys(translated.references))
            self.note(f"{what} refers to {listed}, which is not filled in there: write the value itself")
        return text.replace("${workspaceFolder}", ".").replace("${userHome}", "~")

    def _value(self, agent: Agent, what: str, secret: str, text: str) -> TomlValue:
        """A value of `env` or `headers`: its references in our syntax, its literal text as a secret."""
        translated = translate(agent.references, what, text)
        for name in translated.asked:
            self.note(f"the agent asked for {name!r}; homeport secrets set {self._name}.{name}")
        if translated.references:
            return self._referring(translated, secret)
        if not text or (self.keep_values and not re.search(r"\{(?:env|secret):", text)):
            return text
        scheme = re.match(r"(?:Bearer|Basic|Token) +", text) if what == "headers" else None
        literal = text[scheme.end() :] if scheme else text
        self.secrets[secret] = Secret(literal)
        return f"{scheme[0] if scheme else ''}{{secret:{secret}}}"

    def _referring(self, translated: Translation, secret: str) -> TomlValue:
        ours = translated.text.replace("{secret:", f"{{secret:{self._name}.")
        if translated.fallback is None:
            return ours
        if self.keep_values or not translated.fallback:
            return [ours, translated.fallback]
        self.secrets[secret] = Secret(translated.fallback)
        return [ours, f"{{secret:{secret}}}"]

    def _unsaid(self, agent: Agent, raw: Mapping[str, Any]) -> None:
        lost = [key for key in raw if key not in _CARRIED and key not in agent.stdio and key not in (agent.http or {})]
        if lost:
            self.note(f"not carried over: {', '.join(lost)}")


_REMOVED: Final = "SECRET-REMOVED-BY-IMPORT"
_CARRIED: Final = frozenset(
    {"command", "cmd", "args", "env", "envs", "environment", "url", "serverUrl", "httpUrl", "uri", "headers", "type"}
    | {
        "http_headers",
        "transport",
        "disabled",
        "enabled",
        "isActive",
        "cwd",
        "working_directory",
        "name",
        "description",
    }
    | {"$schema", "active", "fromGalleryId", "gallery", "version"}
)


def _obstacle(agent: Agent, name: str, seen: Seen) -> str:
    if PurePath(seen.command).name.removesuffix(".exe") == "homeport":
        return "it is Homeport's own entry"
    if not seen.command and not seen.url:
        return "it has neither a command nor a URL"
    if seen.command and seen.url:
        return "it has both a command and a URL"
    if seen.url and not re.match(r"https?://[^\s#]+$", seen.url):
        return f"{seen.url.partition(':')[0]!r} is not http or https"
    return ""


def _through_bridge(seen: Seen) -> Seen:
    """`npx mcp-remote URL --header …` is a program that stands for a URL: the URL is what is meant."""
    runner = runner_of(seen) if seen.command else None
    if runner is None or runner.name != "mcp-remote" or not runner.args[:1]:
        return seen
    url, *rest = runner.args
    if not url.startswith(("http://", "https://")):
        return seen
    headers = {
        name.strip(): value.strip()
        for flag, text in itertools.pairwise(rest)
        if flag == "--header"
        for name, _, value in [text.partition(":")]
    }
    # Arguments cannot hold blanks in some agents, so people give the header's value in a variable.
    filled = {name: _from_env(value, seen.env) for name, value in headers.items()}
    return replace(seen, command="", args=(), env={}, url=url, headers=filled)


def _from_env(value: str, env: Mapping[str, str]) -> str:
    return re.sub(r"\$\{(\w+)\}", lambda match: env.get(match[1], match[0]), value)


def _without_userinfo(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    if parts.username is None:
        return url, ""
    host = parts.netloc.rpartition("@")[2]
    credentials = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return urlunsplit((parts.scheme, host, parts.path, parts.query, "")), credentials


def _blanked(url: str, names: tuple[str, ...]) -> str:
    if not names:
        return url
    parts = urlsplit(url)
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    query = urlencode([(name, _REMOVED if name in names else value) for name, value in pairs])
    return urlunsplit(parts._replace(query=query))


def _pin_obstacle(runner: Runner, hidden: bool) -> str:
    if hidden:
        return "one of its arguments is a secret that was left out"
    if runner.extras:
        return f"it needs {', '.join(runner.extras)} beside it"
    if ADDRESS.match(runner.written):
        return f"{runner.written} is an address, not a package with a version"
    if any(mark in runner.name for mark in "${"):
        return f"{runner.written} is filled in by the agent"
    return ""


def with_pin(table: Mapping[str, TomlValue], proposal: PinProposal, version: str = "") -> dict[str, TomlValue]:
    """The table with a pinned runtime in place of the runner. `version` where the entry names none.

    Raises `InvalidInput` (`import.pin`) without any version, or where the proposal has an obstacle.
    """
    runner = replace(proposal.runner, version=version or proposal.runner.version)
    if proposal.obstacle or not runner.requirement:
        reason = proposal.obstacle or "no version is known"
        message = f"{proposal.server} cannot be pinned: {reason}"
        raise InvalidInput(message, code="import.pin", remedy="import it without --pin")
    runtime = {runner.ecosystem: runner.requirement}
    if runner.command:
        runtime["command"] = runner.command
    pinned: dict[str, TomlValue] = {"runtime": runtime}
    if runner.args:
        pinned["args"] = list(runner.args)
    return pinned | {key: value for key, value in table.items() if key not in {"command", "args"}}
