"""What to register: Homeport's own entry, or a server's launch, in an agent's own syntax. Pure.

No secret lands in a config file: `{secret:…}` is refused, `{env:NAME}` is written as the agent spells it or refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from homeport.agents.catalog import Agent, Scope
from homeport.agents.references import found_in
from homeport.agents.shapes import Launch, entry_for
from homeport.ground.errors import InvalidInput, Refused
from homeport.ground.secrets import Chain, Template

GATEWAY_NAME: Final = "homeport"
"""The name of our one entry."""


@dataclass(frozen=True, slots=True)
class ServerLaunch:
    """A server's own launch: absolute argv, or a URL, with the values a person configured."""

    name: str
    argv: tuple[str, ...] = ()
    env: Mapping[str, Chain] = field(default_factory=dict[str, Chain])
    cwd: str = ""
    url: str = ""
    headers: Mapping[str, Chain] = field(default_factory=dict[str, Chain])


def gateway_launch(executable: Path, profile: str, project: Path | None, scope: Scope) -> Launch:
    """Our one entry. In user scope absolute; in a committed project file the bare command finds its project."""
    args = ("connect", "--profile", profile)
    if scope == "project" or project is None:
        return Launch(GATEWAY_NAME, "homeport", args, description="Homeport")
    return Launch(GATEWAY_NAME, str(executable), (*args, "--project", str(project)), description="Homeport")


def direct_launch(agent: Agent, server: ServerLaunch) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The entry that starts a server without us, and the notes to it.

    Raises `Refused` (`register.secret`) for a value from the secret store, `InvalidInput` (`register.reference`,
    `register.literal`, `register.transport`) for what this agent has no form for.
    """
    if server.url and agent.http is None:
        message = f"{agent.name} starts programs only; {server.name} is a URL"
        raise InvalidInput(message, code="register.transport", remedy=f"register it through us: {_GATEWAY}")
    notes: list[str] = []
    filled: dict[str, dict[str, str]] = {"env": {}, "headers": {}}
    by_name: dict[str, dict[str, str]] = {"env": {}, "headers": {}}
    for what, values in (("env", server.env), ("headers", server.headers)):
        for name, chain in values.items():
            variable = _variable(chain)
            if variable and _names_key(agent, what) and (what == "headers" or variable == name):
                by_name[what][name] = variable
            else:
                filled[what][name] = _value(agent, what, f"{server.name}.{what}.{name}", chain)
    for what, texts in (("command", server.argv[:1]), ("args", server.argv[1:]), ("url", (server.url,))):
        for text in texts:
            _literal(agent, what, f"{server.name}.{what}", text)
    if server.cwd and not agent.cwd_key and not server.url:
        notes.append(f"{agent.name} cannot be told a working directory; {server.name} starts where the agent does")
    launch = Launch(
        server.name,
        command=server.argv[0] if server.argv else "",
        args=server.argv[1:],
        env=filled["env"],
        url=server.url,
        headers=filled["headers"],
        cwd=server.cwd,
    )
    entry = entry_for(agent, launch)
    if by_name["env"]:
        entry[agent.references.env_names_key] = sorted(by_name["env"])
    if by_name["headers"]:
        entry[agent.references.header_names_key] = by_name["headers"]
    return entry, tuple(notes)


_GATEWAY: Final = "homeport register --via gateway"


def _names_key(agent: Agent, what: str) -> str:
    return agent.references.env_names_key if what == "env" else agent.references.header_names_key


def _variable(chain: Chain) -> str:
    """The one variable that a value consists of; empty for anything else."""
    if len(chain) != 1:
        return ""
    references = chain[0].references()
    alone = len(references) == 1 and references[0].kind == "env" and str(references[0]) == chain[0].text
    return references[0].name if alone else ""


def _value(agent: Agent, what: str, where: str, chain: Chain) -> str:
    if any(reference.kind == "secret" for template in chain for reference in template.references()):
        message = f"{where} comes from the secret store, and no secret is written into {agent.name}'s file"
        remedy = f"{_GATEWAY}, or let the value come from a variable: {{env:NAME}}"
        raise Refused(message, code="register.secret", remedy=remedy)
    if len(chain) != 1:
        message = f"{where} has several alternatives, for which {agent.name} has no form"
        raise InvalidInput(message, code="register.reference", remedy=f"give it one value, or {_GATEWAY}")
    return _spelled(agent, what, where, chain[0])


def _spelled(agent: Agent, what: str, where: str, template: Template) -> str:
    form, text, at, out = agent.references.form, template.text, 0, ""
    for reference in template.references():
        if not form or what not in agent.references.fields:
            message = f"{where} refers to {reference}, and {agent.name} expands no variables there"
            raise InvalidInput(message, code="register.reference", remedy=_GATEWAY)
        start = text.index(str(reference), at)
        _literal(agent, what, where, text[at:start])
        out += text[at:start] + form.replace("NAME", reference.name)
        at = start + len(str(reference))
    _literal(agent, what, where, text[at:])
    return out + text[at:]


def _literal(agent: Agent, what: str, where: str, text: str) -> None:
    """Refuse a literal text that the agent would take for a reference: none of them has an escape to trust."""
    for _, match in found_in(agent.references, what, text):
        message = f"{where} holds {match[0]!r}, which {agent.name} would replace by something else"
        raise InvalidInput(message, code="register.literal", remedy=_GATEWAY)


def shared_entry(launch: Launch) -> dict[str, Any]:
    """The entry of a `.mcp.json` in a project, which eight agents read: what all of them understand."""
    if launch.url:
        entry: dict[str, Any] = {"type": "http", "url": launch.url}
        return entry | ({"headers": dict(launch.headers)} if launch.headers else {})
    entry = {"type": "stdio", "command": launch.command, "args": list(launch.args)}
    return entry | ({"env": dict(launch.env)} if launch.env else {})
