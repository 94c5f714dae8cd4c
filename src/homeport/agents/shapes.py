"""The shape of one entry: a launch as values, to and from the form that an agent wants. Pure.

Templates come from the catalogue: `@command`, `@args`, `@argv` (command and arguments in one list), `@env`, `@url`,
`@headers`, `@headers_list` (`Name: value` texts), `@name`, `@description`; anything else is written as it stands.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

from homeport.agents.catalog import Agent


@dataclass(frozen=True, slots=True)
class Seen:
    """What an entry says, whatever the agent calls it. Values of `env` and `headers` are the texts in the file."""

    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    cwd: str = ""
    transport: str = ""
    enabled: bool = True

    @property
    def key(self) -> tuple[str, ...]:
        """What two entries have in common that start, or reach, the same server."""
        return (self.url.rstrip("/"),) if self.url else (self.command, *self.args)


_COMMON: Final[Mapping[str, tuple[str, ...]]] = {
    "command": ("command", "cmd"),
    "args": ("args",),
    "env": ("env", "envs", "environment"),
    "url": ("url", "serverUrl", "httpUrl", "uri"),
    "headers": ("headers", "http_headers"),
}
"""Spellings tried after the agent's own: people copy entries from one agent's documentation into another's file."""


def read_entry(agent: Agent, entry: Mapping[str, Any]) -> Seen:
    """What an entry of an agent says; members of wrong types are passed over (`faults` in `findings` tells them)."""
    command, args = _command(_member(agent, entry, "command"), _member(agent, entry, "args"))
    url = _member(agent, entry, "url")
    transport = entry.get("type", entry.get("transport", ""))
    off = entry.get("disabled") is True or entry.get("enabled") is False or entry.get("isActive") is False
    cwd = entry.get(agent.cwd_key or "cwd", "")
    return Seen(
        command=command,
        args=args,
        env=_texts(_member(agent, entry, "env")),
        url=url if isinstance(url, str) else "",
        headers=_headers(_member(agent, entry, "headers")),
        cwd=cwd if isinstance(cwd, str) else "",
        transport=transport if isinstance(transport, str) else "",
        enabled=not off,
    )


def _member(agent: Agent, entry: Mapping[str, Any], what: str) -> Any:
    for path in (*_places(agent, what), *((name,) for name in _COMMON[what])):
        value: Any = entry
        for key in path:
            value = cast("Mapping[str, Any]", value).get(key) if isinstance(value, Mapping) else None
        if value not in (None, ""):
            return value
    return None


def _places(agent: Agent, what: str) -> Iterator[tuple[str, ...]]:
    wanted = {f"@{what}", {"headers": "@headers_list", "command": "@argv"}.get(what, f"@{what}")}
    for template in (agent.stdio, agent.http or {}):
        yield from _find(template, wanted)


def _find(template: Mapping[str, Any], wanted: set[str], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for key, value in template.items():
        if isinstance(value, Mapping):
            yield from _find(cast("Mapping[str, Any]", value), wanted, (*path, key))
        elif isinstance(value, str) and value in wanted:
            yield (*path, key)


def _command(command: Any, args: Any) -> tuple[str, tuple[str, ...]]:
    rest = tuple(str(arg) for arg in cast("list[Any]", args)) if isinstance(args, list) else ()
    if isinstance(command, list):
        words = [str(word) for word in cast("list[Any]", command)]
        return (words[0], (*words[1:], *rest)) if words else ("", rest)
    return (command, rest) if isinstance(command, str) else ("", rest)


def _texts(value: Any) -> dict[str, str]:
    if not isinstance(value, Mapping):
        return {}
    members = cast("Mapping[str, Any]", value)
    return {key: text if isinstance(text, str) else _plain(text) for key, text in members.items() if text is not None}


def _plain(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _headers(value: Any) -> dict[str, str]:
    if isinstance(value, list):
        pairs = (str(line).partition(":") for line in cast("list[Any]", value))
        return {name.strip(): text.strip() for name, _, text in pairs}
    return _texts(value)


@dataclass(frozen=True, slots=True)
class Launch:
    """What to register: a program with its arguments, or a URL. Values are already in the agent's own syntax."""

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    cwd: str = ""
    description: str = ""


def entry_for(agent: Agent, launch: Launch) -> dict[str, Any]:
    """The entry of a launch in this agent's form; members without a value are left out, `args` of a program never.

    An agent without a form for URLs gives an empty entry: the plan has refused it before.
    """
    template = agent.http or {} if launch.url else agent.stdio
    entry = _fill(template, _values(launch))
    if launch.cwd and agent.cwd_key and not launch.url:
        entry[agent.cwd_key] = launch.cwd
    return entry


def _values(launch: Launch) -> dict[str, Any]:
    return {
        "@name": launch.name,
        "@command": launch.command,
        "@args": list(launch.args),
        "@argv": [launch.command, *launch.args],
        "@env": dict(launch.env),
        "@url": launch.url,
        "@headers": dict(launch.headers),
        "@headers_list": [f"{name}: {value}" for name, value in launch.headers.items()],
        "@description": launch.description or launch.name,
    }


_KEPT_WHEN_EMPTY: Final = frozenset({"@args", "@argv"})


def _fill(template: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    entry: dict[str, Any] = {}
    for key, want in template.items():
        if isinstance(want, Mapping):
            inside = _fill(cast("Mapping[str, Any]", want), values)
            # `auth` or `requestInit` without headers says nothing; a literal empty object in a template is meant.
            if any("@" in str(value) for value in cast("Mapping[str, Any]", want).values()) and not _says(want, inside):
                continue
            entry[key] = inside
        elif isinstance(want, str) and want.startswith("@"):
            value = values[want]
            if value or want in _KEPT_WHEN_EMPTY:
                entry[key] = value
        elif want is not None:
            entry[key] = list(cast("list[Any]", want)) if isinstance(want, list) else want
    return entry


def _says(template: Any, filled: Mapping[str, Any]) -> bool:
    members = cast("Mapping[str, Any]", template)
    return any(key in filled for key, want in members.items() if isinstance(want, str) and want.startswith("@"))
