"""The agents we know, as data: where each keeps its servers, in what form, and what it does with them.

The facts lie in `catalog.json`, each record with its sources, how it was established and when. A user may correct one
or add an agent in a file of the same form (`agents.json` in the configuration directory): members given there win.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Final, Literal, cast

from homeport.ground.errors import InvalidInput, Place

Format = Literal["json", "jsonc", "json5", "toml", "yaml"]
Container = Literal["map", "list", "tables"]
Scope = Literal["user", "project", "local"]
Confidence = Literal["high", "medium", "low"]

CATALOG_FORMAT: Final = 1


@dataclass(frozen=True, slots=True)
class Where:
    """Whose files, on which system: the environment, the `sys.platform` value and the home directory."""

    environment: Mapping[str, str]
    platform: str
    home: Path


@dataclass(frozen=True, slots=True)
class Root:
    """A directory of one agent: the value of a variable, else a default (per platform where it is a mapping)."""

    variable: str
    default: str | Mapping[str, str]


@dataclass(frozen=True, slots=True)
class References:
    """How an agent names an environment variable inside a value."""

    form: str = ""
    """What to write, with `NAME` in it: `${env:NAME}`; empty: it has no such syntax."""
    fields: tuple[str, ...] = ()
    """Where it is expanded: `command`, `args`, `env`, `url`, `headers`."""
    expands: tuple[str, ...] = ()
    """Every spelling it expands: a literal value that looks like one cannot be written."""
    env_names_key: str = ""
    """A member that lists variables to pass through by name (Codex: `env_vars`)."""
    header_names_key: str = ""
    """A member that maps a header to the variable that holds its value (Codex: `env_http_headers`)."""


@dataclass(frozen=True, slots=True)
class Agent:
    """One record of the catalogue."""

    id: str
    name: str
    format: Format
    key_path: tuple[str, ...]
    confidence: Confidence
    container: Container = "map"
    id_key: str = "name"
    kind: str = ""
    status: str = "active"
    evidence: str = ""
    checked: str = ""
    comments: bool = False
    trailing_commas: bool = False
    bom: bool | None = None
    user: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    roots: Mapping[str, Root] = field(default_factory=dict[str, Root])
    user_file_variable: str = ""
    project: tuple[str, ...] = ()
    project_reads: tuple[str, ...] = ()
    project_local: tuple[str, ...] = ()
    not_read: tuple[str, ...] = ()
    """Files people write servers into although this agent does not read them from there."""
    one_of: bool = False
    """Its candidate files are spellings of one file: with two of them present, which to edit is the user's choice."""
    stdio: Mapping[str, Any] = field(default_factory=dict[str, Any])
    http: Mapping[str, Any] | None = None
    required: tuple[str, ...] = ()
    cwd_key: str = ""
    references: References = References()
    unknown_top_level: bool | None = None
    bad_entry: Literal["entry", "file", "agent", "unknown"] = "unknown"
    """What one invalid entry takes down."""
    name_pattern: str = ""
    reserved_names: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    directories: tuple[str, ...] = ()
    restart: str = ""
    approval: str = ""
    tool_filter: Mapping[str, str | None] = field(default_factory=dict[str, "str | None"])
    sources: tuple[str, ...] = ()
    unverified: tuple[str, ...] = ()

    def accepts_name(self, name: str) -> bool:
        """Whether this agent takes `name` for a server."""
        if name in self.reserved_names or name in POLLUTING_NAMES:
            return False
        return not self.name_pattern or re.fullmatch(self.name_pattern.strip("^$"), name) is not None

    def user_files(self, where: Where) -> tuple[Path, ...]:
        """Its files for this user, the one to write first."""
        exact = where.environment.get(self.user_file_variable, "") if self.user_file_variable else ""
        if exact:
            return (Path(exact),)
        return self._paths(self.user.get(_family(where.platform), ()), where, None)

    def project_files(self, where: Where, project: Path) -> tuple[Path, ...]:
        """Its files in a project that it may be registered in, the preferred one first."""
        return self._paths(self.project, where, project)

    def project_only_read(self, where: Where, project: Path) -> tuple[Path, ...]:
        """Further files in a project that it reads."""
        return self._paths(self.project_reads, where, project)

    def ineffective_files(self, where: Where) -> tuple[Path, ...]:
        """Files that this agent does not (or no longer) read its servers from."""
        return self._paths(self.not_read, where, None)

    def marks(self, where: Where) -> tuple[Path, ...]:
        """Directories and files whose existence means that the agent was used here."""
        return self._paths(self.directories, where, None)

    def _paths(self, patterns: Iterable[str], where: Where, project: Path | None) -> tuple[Path, ...]:
        tokens = _tokens(self, where, project)
        found = (_expand(pattern, tokens) for pattern in patterns)
        return tuple(dict.fromkeys(Path(path) for path in found if path))


POLLUTING_NAMES: Final = frozenset({"__proto__", "constructor", "prototype", "toString", "hasOwnProperty"})
"""Names that JavaScript programs resolve on every object."""


def _family(platform: str) -> str:
    return platform if platform in {"win32", "darwin"} else "linux"


def _tokens(agent: Agent, where: Where, project: Path | None) -> dict[str, str]:
    home, environment = str(where.home), where.environment
    xdg = environment.get("XDG_CONFIG_HOME", "")
    tokens = {
        "home": home,
        "xdg_config": xdg if xdg.startswith("/") else f"{home}/.config",
        "appdata": environment.get("APPDATA") or f"{home}/AppData/Roaming",
        "localappdata": environment.get("LOCALAPPDATA") or f"{home}/AppData/Local",
    }
    if project is not None:
        tokens["project"] = str(project)
    for name, root in agent.roots.items():
        default = root.default if isinstance(root.default, str) else root.default.get(_family(where.platform), "")
        tokens[name] = environment.get(root.variable) or _expand(default, tokens)
    return tokens


def _expand(pattern: str, tokens: Mapping[str, str]) -> str:
    """The path, or nothing where a token has no value here (a project's file without a project)."""
    names = re.findall(r"\{(\w+)\}", pattern)
    if any(not tokens.get(name) for name in names):
        return ""
    return re.sub(r"\{(\w+)\}", lambda match: tokens[match[1]], pattern)


class Catalog:
    """All agents, by identifier, in the catalogue's order."""

    def __init__(self, agents: Iterable[Agent]) -> None:
        self._agents = {agent.id: agent for agent in agents}

    def __iter__(self) -> Iterator[Agent]:
        return iter(self._agents.values())

    def __len__(self) -> int:
        return len(self._agents)

    def get(self, identifier: str) -> Agent:
        """The agent of this identifier. Raises `InvalidInput` (`agents.unknown`) with the nearest one as remedy."""
        agent = self._agents.get(identifier)
        if agent is None:
            raise _unknown(identifier, list(self._agents))
        return agent


def _unknown(identifier: str, known: list[str]) -> InvalidInput:
    import difflib

    near = difflib.get_close_matches(identifier, known, n=1)
    remedy = f"did you mean {near[0]}?" if near else f"use one of: {', '.join(known)}"
    return InvalidInput(f"no agent is called {identifier!r}", code="agents.unknown", remedy=remedy)


def catalog(corrections: bytes | None = None, *, file: str = "agents.json") -> Catalog:
    """The catalogue of the package with a user's corrections over it.

    Raises `InvalidInput` (`agents.catalog`) for a correction that is not of the catalogue's form.
    """
    records = dict(_shipped())
    if corrections is not None:
        for record in _records(corrections, file):
            identifier = str(record["id"])
            records[identifier] = {**records.get(identifier, {"confidence": "medium", "checked": ""}), **record}
    return Catalog(_agent(record, file) for record in records.values())


@cache
def _shipped() -> Mapping[str, Mapping[str, Any]]:
    text = resources.files("homeport.agents").joinpath("catalog.json").read_bytes()
    return {record["id"]: record for record in _records(text, "catalog.json")}


def _records(data: bytes, file: str) -> list[dict[str, Any]]:
    try:
        document = json.loads(data)
    except ValueError as error:
        raise InvalidInput(f"not JSON: {error}", code="agents.catalog", place=Place(file)) from None
    if not isinstance(document, dict) or cast("dict[str, Any]", document).get("format") != CATALOG_FORMAT:
        message = f'the catalogue must be an object with "format": {CATALOG_FORMAT}'
        raise InvalidInput(message, code="agents.catalog", place=Place(file, path="format"))
    agents = cast("dict[str, Any]", document).get("agents")
    if not isinstance(agents, list) or not all(_is_record(record) for record in cast("list[Any]", agents)):
        message = 'must be a list of objects, each with an "id"'
        raise InvalidInput(message, code="agents.catalog", place=Place(file, path="agents"))
    return cast("list[dict[str, Any]]", agents)


def _is_record(record: object) -> bool:
    return isinstance(record, dict) and isinstance(cast("dict[str, Any]", record).get("id"), str)


_FIELDS: Final = {entry.name for entry in fields(Agent)}
_CHOICES: Final[Mapping[str, frozenset[str]]] = {
    "format": frozenset({"json", "jsonc", "json5", "toml", "yaml"}),
    "container": frozenset({"map", "list", "tables"}),
    "confidence": frozenset({"high", "medium", "low"}),
    "bad_entry": frozenset({"entry", "file", "agent", "unknown"}),
}


def _agent(record: Mapping[str, Any], file: str) -> Agent:
    identifier = str(record["id"])

    def wrong(member: str, message: str) -> InvalidInput:
        return InvalidInput(message, code="agents.catalog", place=Place(file, path=f"{identifier}.{member}"))

    for member in record:
        if member not in _FIELDS:
            raise wrong(member, "unknown member")
    for member in ("name", "format", "key_path"):
        if member not in record:
            raise wrong(member, "is missing")
    for member, choices in _CHOICES.items():
        if member in record and record[member] not in choices:
            raise wrong(member, f"must be one of {', '.join(sorted(choices))}")
    values = {member: _frozen(value) for member, value in record.items()}
    values["roots"] = {name: Root(root["variable"], root["default"]) for name, root in record.get("roots", {}).items()}
    values["references"] = _references(record.get("references", {}))
    # Templates keep their lists: they are written into files as they are.
    values |= {member: record[member] for member in ("stdio", "http") if member in record}
    values["user"] = {family: tuple(paths) for family, paths in record.get("user", {}).items()}
    return Agent(**values)


def _references(record: Mapping[str, Any]) -> References:
    texts = {member: str(record.get(member) or "") for member in ("form", "env_names_key", "header_names_key")}
    return References(fields=tuple(record.get("fields", ())), expands=tuple(record.get("expands", ())), **texts)


def _frozen(value: Any) -> Any:
    return tuple(cast("list[Any]", value)) if isinstance(value, list) else value
