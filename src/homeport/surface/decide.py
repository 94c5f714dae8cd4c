"""Decides what a profile may use: its grants laid over the locked surfaces. Pure.

What is unsure is closed: a `never` that names nothing closes its grant's `*`; a rule that does not fit a tool takes the
tool away; a profile's `restrict` that no tool has closes the profile.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote

from homeport.ground import names
from homeport.ground.errors import Place, Problem
from homeport.ground.limits import DEFAULT, Limits
from homeport.ground.reason import Reason
from homeport.surface import patterns, selectors
from homeport.surface.model import Item, Surface
from homeport.surface.naming import Named, commands
from homeport.surface.policy import Grant, Patterns, Profile
from homeport.surface.policy_parse import suggestion
from homeport.surface.rules import ToolRules, compile_rules
from homeport.surface.view import Denied, GrantedItem, GrantedResource, GrantedTool, ServerView, View

__all__ = ["Denied", "GrantedItem", "GrantedResource", "GrantedTool", "ServerView", "View", "compile_view"]


@dataclass(slots=True)
class _Told:
    problems: list[Problem] = field(default_factory=list[Problem])
    warnings: list[Problem] = field(default_factory=list[Problem])


def compile_view(profile: Profile, surfaces: Mapping[str, Surface], *, limits: Limits = DEFAULT) -> View:
    """The view of a profile over the locked surfaces. Never raises: what does not fit is in `View.problems`."""
    told = _Told()
    loose = _restricts_nothing(profile, surfaces, told)
    servers: dict[str, ServerView] = {}
    for name, grant in profile.grants.items():
        surface = surfaces.get(name)
        if surface is None:
            text = f"the server {name} is granted but not locked"
            told.warnings.append(Problem("policy.not_locked", text, grant.place, f"homeport lock {name}"))
            surface = Surface()
        granting = _Granting(profile, grant, surface, told, limits, closed=loose)
        servers[name] = granting.view()
    return View(profile, servers, told.problems, told.warnings)


def _restricts_nothing(profile: Profile, surfaces: Mapping[str, Surface], told: _Told) -> bool:
    """Whether a `restrict` of the profile is on an argument that no granted tool has: then it is a mistake, and what
    it was meant to hold back is unknown. While a granted server is not locked, nothing can be said."""
    if any(name not in surfaces for name in profile.grants):
        return False
    granted = [
        item
        for name, grant in profile.grants.items()
        for item in surfaces[name].tools.values()
        if ("*" in grant.can or item.name in grant.can) and item.name not in grant.never
    ]
    loose = [line for line in profile.restrict if not any(_has(item, line) for item in granted)]
    known = sorted({name for item in granted for name in _arguments(item)})
    for line in loose:
        close = suggestion(line.selector, known)
        told.problems.append(
            Problem(
                "policy.restrict_nothing",
                f"no granted tool has the argument {line.selector!r}; until it fits, {profile.name} is closed",
                line.place,
                f"write `{close}`" if close else "name an argument of a granted tool, or remove the line",
            )
        )
    return bool(loose) and bool(granted)


def _has(item: Item, line: Patterns) -> bool:
    return selectors.resolve(selectors.parse(line.selector), item.definition.get("inputSchema")).found


def _arguments(item: Item) -> Iterator[str]:
    for branch in selectors.branches(item.definition.get("inputSchema")):
        properties = branch.get("properties")
        yield from properties if isinstance(properties, dict) else ()


class _Granting:
    """One grant over one surface."""

    def __init__(
        self, profile: Profile, grant: Grant, surface: Surface, told: _Told, limits: Limits, *, closed: bool
    ) -> None:
        self.profile = profile
        self.grant = grant
        self.surface = surface
        self.told = told
        self.limits = limits
        self.closed = closed
        self.unfit: dict[str, Problem] = {}
        self.locked = bool(surface.digest or surface.tools or surface.prompts or surface.templates)

    def view(self) -> ServerView:
        tools = {} if self.closed else self._tools()
        return ServerView(
            self.grant.server,
            self.grant,
            tools,
            prompts=dict(self._prompts()),
            templates=dict(self._templates()),
            permits=_permission(self.grant, tools.values(), self._reason),
            denied=self._denied,
        )

    # Which tools

    def _tools(self) -> dict[str, GrantedTool]:
        chosen = self._chosen()
        compiled: dict[str, ToolRules] = {}
        for name in chosen:
            rules = self._rules(name)
            if rules.problems:
                self.unfit[name] = rules.problems[0]
                self.told.problems.extend(rules.problems)
            else:
                compiled[name] = rules
        found = self._commands(compiled)
        return {
            name: GrantedTool(
                self.grant.server,
                self.surface.tools[name],
                rules,
                command=found[name],
                reason=self._reason("*" if name not in self.grant.can else name),
                limits=self.limits,
            )
            for name, rules in compiled.items()
        }

    def _chosen(self) -> list[str]:
        """Names, in the order of the lock (by name)."""
        lost = [name for name in self.grant.never if not self._known(name)]
        for name in lost:
            self._unknown(name, "never", "; `*` grants nothing until it fits" if "*" in self.grant.can else "")
        for name in self.grant.can:
            if name != "*" and name not in self.surface.tools:
                self._unknown(name, "can", "")
        every = "*" in self.grant.can and not lost
        return [
            name for name in self.surface.tools if (every or name in self.grant.can) and name not in self.grant.never
        ]

    def _known(self, name: str) -> bool:
        return not self.locked or name in self.surface.tools or name in self.surface.quarantined

    def _unknown(self, name: str, where: str, effect: str) -> None:
        if not self.locked:
            return
        quarantined = self.surface.quarantined.get(name)
        if quarantined is not None:
            text = f"{name!r} in `{where}` is quarantined: {quarantined.reason}"
            self.told.problems.append(
                Problem("policy.quarantined", text, self.grant.place, "ask its author to mend it, then `homeport lock`")
            )
            return
        close = suggestion(name, self.surface.tools)
        remedy = f"write `{close}`" if close else f"homeport lock {self.grant.server}, if the server has it by now"
        text = f"{name!r} in `{where}` is no tool of {self.grant.server} as locked{effect}"
        self.told.problems.append(Problem("policy.unknown_tool", text, self.grant.place, remedy))

    def _rules(self, name: str) -> ToolRules:
        everyone = [rule for rule in self.grant.rules if rule.tool == "*"]
        own = [rule for rule in self.grant.rules if rule.tool == name]
        return compile_rules(name, self.surface.tools[name].definition, [*everyone, *own], self.profile.restrict)

    def _commands(self, compiled: Mapping[str, ToolRules]) -> Mapping[str, str]:
        found = commands([Named(name, rules.name, name in self.grant.can) for name, rules in compiled.items()])
        for command, clashing in found.clashes:
            text = f"{' and '.join(clashing)} would both be the command `{command}`"
            remedy = "give one of them a `name` in a rule; until then they are called by their own names"
            self.told.problems.append(Problem("policy.command_clash", text, self.grant.place, remedy))
        for tool, command in found.renamed:
            text = f"{tool} is the command `{command}`, as its own is taken"
            self.told.warnings.append(Problem("policy.command_renamed", text, self.grant.place))
        return found.commands

    def _reason(self, what: str) -> Reason:
        place = self.grant.place
        text = f"granted by {what!r} to the profile {self.profile.name}"
        return Reason("grant.can", text, place.file, place.line)

    # Why not

    def _denied(self, name: str) -> Denied:
        rule, text, remedy, place = self._why_not(name)
        return Denied(Reason(rule, text, place.file, place.line, remedy), self.grant.server, name)

    def _why_not(self, name: str) -> tuple[str, str, str, Place]:
        server, profile, place = self.grant.server, self.profile.name, self.grant.place
        if name in self.grant.never:
            return "grant.never", f"{name!r} is in `never`", f"remove it from `never` in the profile {profile}", place
        if name in self.surface.quarantined:
            reason = self.surface.quarantined[name].reason
            return "tool.quarantined", f"{name!r} is quarantined: {reason}", f"homeport lock {server}", place
        if name in self.unfit:
            problem = self.unfit[name]
            return "grant.unfit", f"a rule does not fit: {problem.message}", problem.remedy, problem.place
        if name not in self.surface.tools:
            close = suggestion(name, self.surface.tools)
            meant = f"; {close!r} is" if close else ""
            text = f"{name!r} is not in the locked surface of {server}{meant}"
            return "tool.unknown", text, f"homeport tools {server}", place
        if self.closed:
            text = f"the profile {profile} is closed: a `restrict` of it fits no tool"
            return "grant.unfit", text, "homeport doctor", self.profile.place
        text = f"{name!r} is not in `can` of the grant for {server}"
        return "grant.absent", text, f"homeport grant {server} {name} --profile {profile}", place

    # Prompts and resources

    def _prompts(self) -> Iterator[tuple[str, GrantedItem]]:
        for name in self.grant.prompts:
            if name != "*" and self.locked and name not in self.surface.prompts:
                close = suggestion(name, self.surface.prompts)
                text = f"{name!r} in `prompts` is no prompt of {self.grant.server} as locked"
                remedy = f"write `{close}`" if close else f"homeport lock {self.grant.server}"
                self.told.problems.append(Problem("policy.unknown_prompt", text, self.grant.place, remedy))
        every = "*" in self.grant.prompts
        for name, item in self.surface.prompts.items():
            if every or name in self.grant.prompts:
                yield name, self._item(item)

    def _templates(self) -> Iterator[tuple[str, GrantedItem]]:
        heads = [_literal_head(pattern) for pattern in self.grant.resources]
        for name, item in self.surface.templates.items():
            own = name.partition("{")[0]
            if any(own.startswith(head) or head.startswith(own) for head in heads):
                yield name, self._item(item)

    def _item(self, item: Item) -> GrantedItem:
        reason = self._reason(item.name)
        return GrantedItem(self.grant.server, item.name, names.served(self.grant.server, item.name), item, reason)


def _literal_head(pattern: str) -> str:
    return re.split(r"[*?\[\\]", pattern, maxsplit=1)[0]


def _permission(
    grant: Grant, tools: Iterable[GrantedTool], reason: Callable[[str], Reason]
) -> Callable[[str], Reason | None]:
    pages = {tool.page: tool.name for tool in tools if tool.page}
    granted = patterns.globs([pattern for pattern in grant.resources if pattern != "*"])
    everything = "*" in grant.resources

    def permits(uri: str) -> Reason | None:
        if uri in pages:
            return reason(pages[uri])
        if everything:
            return reason("*")
        if _climbs(uri):
            return None
        index = granted.first(uri)
        return None if index is None else reason(granted.sources[index])

    return permits


def _climbs(uri: str) -> bool:
    """Whether a URI has dot segments, which a server may resolve to somewhere the pattern does not cover."""
    return any(unquote(segment) in {".", ".."} for segment in re.split(r"[/\\]|%2f|%5c", uri, flags=re.IGNORECASE))
