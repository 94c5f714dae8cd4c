"""What one caller may use: granted tools, prompts and resources, and whether a call's arguments go through. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from homeport.ground import names
from homeport.ground.errors import Problem
from homeport.ground.exact import Json
from homeport.ground.limits import DEFAULT, Limits
from homeport.ground.reason import Reason
from homeport.surface import results, served
from homeport.surface.arguments import Arguments
from homeport.surface.headers import header_paths, header_values
from homeport.surface.model import Item
from homeport.surface.policy import Grant, Profile, Rates
from homeport.surface.rules import ToolRules, apply_pins
from homeport.surface.schemas import Validator, decode, encode, violation
from homeport.surface.verdict import Objection, Violation
from homeport.surface.weight import Unusable

PAGE_DOMAIN = ".homeport/"
"""In an aggregate the page `ui://X` of a server is `ui://<server>.homeport/X`."""


@dataclass(frozen=True, slots=True)
class Denied:
    """Not in this caller's surface. The caller learns "unknown"; `reason` is the operator's.

    `reason.rule`: `grant.absent`, `grant.never`, `grant.unfit` (its rules do not fit the lock), `tool.quarantined`,
    `tool.unknown`, `tool.pages_only`, `tool.model_only`; `prompt.…` and `resource.…` alike.
    """

    reason: Reason
    server: str = ""
    """The server it was looked for at, where that is known."""
    name: str = ""
    """The upstream's own name, where that is known."""


class GrantedTool:
    """One tool in a caller's surface."""

    def __init__(
        self, server: str, item: Item, rules: ToolRules, *, command: str, reason: Reason, limits: Limits = DEFAULT
    ) -> None:
        self.server = server
        self.name = item.name
        """The upstream's own name."""
        self.served = names.served(server, item.name)
        """Its name in an aggregate (`ground.names.served`)."""
        self.command = command
        """Its name on the command line, unique within its server."""
        self.item = item
        """As locked."""
        self.rules = rules
        self.reason = reason
        """The grant that permits it."""
        self.rates: Rates = rules.rates
        self.read_only = served.read_only(item.definition, rules)
        """`readOnlyHint: true` and neither `destructiveHint: true` nor `destructive` in a rule."""
        self.for_model, self.for_page = served.audience(item.definition)
        """`for_model` False: served to pages only."""
        self.page = served.page_of(item.definition)
        """The `ui://` address of its page, or empty."""
        self.sensitive = rules.sensitive
        """Selectors of arguments whose values are never shown."""
        self.on_output_mismatch = rules.on_output_mismatch
        hidden = frozenset(pin.selector.argument for pin in rules.pins if len(pin.selector.parts) == 1)
        self._arguments = Arguments(item.definition.get("inputSchema"), limit=limits.arguments, hidden=hidden)

    def __repr__(self) -> str:
        return f"GrantedTool({self.served})"

    @cached_property
    def definition(self) -> Mapping[str, Json]:
        """As served at a single server's endpoint: the locked one with the edits of the policy."""
        return served.definition(self.item.definition, self.rules)

    @cached_property
    def definition_bytes(self) -> bytes:
        """`definition` as compact JSON."""
        return served.as_bytes(self.definition)

    def check(self, arguments: bytes) -> tuple[bytes, Violation | Objection | None]:
        """Whether these arguments (raw JSON, empty = absent) go through, and the bytes to send.

        In order: decode, pins, schema, restrict, deny, allow. The bytes carry pinned values and every member once,
        so that what was judged is what the server reads; on a refusal they are the ones given.
        """
        value = self._arguments.decode(arguments)
        if isinstance(value, Violation):
            return arguments, value
        rules = self.rules
        refused = apply_pins(rules.pins, value, rules.message) if rules.pins else None
        refused = refused or self._arguments.violation(value)
        for guard in rules.guards:
            refused = refused or guard.objection(value, rules.message)
        return (arguments, refused) if refused is not None else (encode(value), None)

    def check_result(self, result: bytes) -> Violation | Objection | None:
        """Whether this result (raw `CallToolResult`) goes back: post_call, then the output schema where the policy
        says `refuse`."""
        refused = results.objection(self.rules.post, result, self.rules.message)
        if refused is None and self.on_output_mismatch == "refuse":
            return self.output_mismatch(result)
        return refused

    @property
    def inspects_results(self) -> bool:
        """Whether `check_result` can say anything: if not, a result's bytes need not be looked into."""
        return bool(self.rules.post) or self.on_output_mismatch == "refuse"

    @cached_property
    def _output(self) -> Validator | None:
        schema = self.item.definition.get("outputSchema")
        try:
            return None if schema is None else Validator(schema)
        except Unusable:
            return None

    def output_mismatch(self, result: bytes) -> Violation | None:
        """How `structuredContent` breaks the locked output schema, if it does. Error results have none."""
        if self._output is None:
            return None
        try:
            value = decode(result)
        except ValueError as error:
            return violation("json", f"the result cannot be read: {error}", what="result")
        if not isinstance(value, dict) or value.get("isError") is True:
            return None
        if "structuredContent" not in value:
            return violation(
                "required", "the result has no structuredContent, which its schema promises", what="result"
            )
        return self._output.violation(value["structuredContent"], what="result")

    @cached_property
    def _headers(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        return header_paths(self.item.definition.get("inputSchema"))

    def headers(self, arguments: bytes) -> tuple[tuple[str, str], ...]:
        """The `Mcp-Param-*` fields of a call over modern HTTP, of arguments that `check` let through."""
        if not self._headers:
            return ()
        return header_values(self._headers, decode(arguments))


@dataclass(frozen=True, slots=True)
class GrantedItem:
    """One prompt or resource template in a caller's surface."""

    server: str
    name: str
    """The upstream's own name, or URI template."""
    served: str
    item: Item
    reason: Reason


@dataclass(frozen=True, slots=True)
class GrantedResource:
    """A URI that a caller may read at a server."""

    server: str
    uri: str
    """The server's own."""
    reason: Reason


@dataclass(frozen=True, slots=True)
class ServerView:
    """What is granted of one server; made by `surface.decide`."""

    server: str
    grant: Grant
    tools: Mapping[str, GrantedTool]
    """By the upstream's own name, sorted."""
    prompts: Mapping[str, GrantedItem]
    templates: Mapping[str, GrantedItem]
    permits: Callable[[str], Reason | None]
    """A URI of the server's to the reason it may be read."""
    denied: Callable[[str], Denied]
    """A tool's name to the reason it is not there."""


class View:
    """What one profile may use, of the surfaces it was compiled with. Immutable, made once per policy and lock."""

    __slots__ = ("_by_served", "_prompts", "_servers", "problems", "profile", "warnings")

    def __init__(
        self,
        profile: Profile,
        servers: Mapping[str, ServerView],
        problems: Sequence[Problem] = (),
        warnings: Sequence[Problem] = (),
    ) -> None:
        self.profile = profile
        self.problems = tuple(problems)
        """Grants and rules that do not fit the lock: told, and without effect on the others."""
        self.warnings = tuple(warnings)
        """What works, but perhaps not as meant: commands that got a number, servers that are not locked yet."""
        self._servers = dict(sorted(servers.items()))
        self._by_served = {tool.served: tool for tool in sorted(self._all_tools(), key=lambda tool: tool.served)}
        prompts = (item for view in self._servers.values() for item in view.prompts.values())
        self._prompts = {item.served: item for item in sorted(prompts, key=lambda item: item.served)}

    def _all_tools(self) -> Iterable[GrantedTool]:
        return (tool for view in self._servers.values() for tool in view.tools.values())

    def tool(self, name: str, server: str = "", *, page: bool = False) -> GrantedTool | Denied:
        """By served name in the aggregate, or with `server` by the upstream's own. `page`: a page of an app calls."""
        if not server:
            found = self._by_served.get(name)
            return self._denied_served(name) if found is None else _for_caller(found, page=page)
        view = self._servers.get(server)
        if view is None:
            return self._no_grant(server, name)
        tool = view.tools.get(name)
        return view.denied(name) if tool is None else _for_caller(tool, page=page)

    def command(self, word: str, server: str) -> GrantedTool | Denied:
        """For the command line: TOOL by its verbatim name, else by its command name."""
        found = self.tool(word, server)
        if isinstance(found, GrantedTool):
            return found
        view = self._servers.get(server)
        for tool in view.tools.values() if view else ():
            if tool.command == word and tool.for_model:
                return tool
        return found

    def _denied_served(self, served_name: str) -> Denied:
        server, separator, name = served_name.partition("__")
        if separator and server in self._servers:
            return self._servers[server].denied(name)
        if separator and names.is_server(server):
            return self._no_grant(server, name)
        return Denied(Reason("tool.unknown", f"no tool is served as {served_name!r}", remedy="homeport tools"))

    def _no_grant(self, server: str, name: str) -> Denied:
        place = self.profile.place
        text = f"the profile {self.profile.name} has no grant for the server {server}"
        remedy = f"homeport grant {server} {name} --profile {self.profile.name}"
        return Denied(Reason("grant.absent", text, place.file, place.line, remedy), server, name)

    def prompt(self, name: str, server: str = "") -> GrantedItem | Denied:
        """By served name in the aggregate, or with `server` by the upstream's own."""
        if not server:
            found = self._prompts.get(name)
        else:
            view = self._servers.get(server)
            found = view.prompts.get(name) if view else None
        return found or self._nothing("prompt", name, server)

    def template(self, uri_template: str, server: str = "") -> GrantedItem | Denied:
        """A resource template, for completion of its variables."""
        for view in self._asked(server):
            if uri_template in view.templates:
                return view.templates[uri_template]
        return self._nothing("resource", uri_template, server)

    def resource(self, uri: str, server: str = "") -> GrantedResource | Denied:
        """A URI to read: granted by pattern, or the page of a granted tool. Of several servers that are granted it in
        an aggregate, the first by name; a page there bears its server's name."""
        candidates = self.resources(uri, server)
        return candidates[0] if candidates else self._nothing("resource", uri, server)

    def resources(self, uri: str, server: str = "") -> Sequence[GrantedResource]:
        """Every server that may be asked for this URI, by name."""
        owner, own = self._page_owner(uri) if not server else (server, uri)
        asked = [(view, own) for view in self._asked(owner)]
        found = [(view.server, text, view.permits(text)) for view, text in asked]
        return [GrantedResource(name, text, reason) for name, text, reason in found if reason is not None]

    def _page_owner(self, uri: str) -> tuple[str, str]:
        """An aggregate's page address as its server and the server's own address; else `("", uri)`."""
        if uri.startswith("ui://"):
            server, separator, rest = uri[5:].partition(PAGE_DOMAIN)
            if separator and server in self._servers:
                return server, f"ui://{rest}"
        return "", uri

    def _asked(self, server: str) -> Iterable[ServerView]:
        if not server:
            return self._servers.values()
        view = self._servers.get(server)
        return (view,) if view else ()

    def _nothing(self, what: str, name: str, server: str) -> Denied:
        place = self.profile.place
        where = f" of {server}" if server else ""
        text = f"the profile {self.profile.name} is granted no {what} {name!r}{where}"
        remedy = f"add it to `{what}s` of the grant in the profile {self.profile.name}"
        return Denied(Reason("grant.absent", text, place.file, place.line, remedy), server, name)

    def tools(self, server: str = "") -> Sequence[GrantedTool]:
        """Every granted tool, by served name (with `server`: by its own name); those for pages only included."""
        if not server:
            return tuple(self._by_served.values())
        view = self._servers.get(server)
        return tuple(view.tools.values()) if view else ()

    def prompts(self, server: str = "") -> Sequence[GrantedItem]:
        """Every granted prompt, by name."""
        if not server:
            return tuple(self._prompts.values())
        view = self._servers.get(server)
        return tuple(view.prompts.values()) if view else ()

    def templates(self, server: str = "") -> Sequence[GrantedItem]:
        """Every granted resource template, by URI template."""
        return tuple(item for view in self._asked(server) for item in view.templates.values())

    @property
    def servers(self) -> Sequence[str]:
        """Names of the servers with a grant, sorted."""
        return tuple(self._servers)

    def grant(self, server: str) -> Grant | None:
        """The grant for a server, if there is one."""
        view = self._servers.get(server)
        return view.grant if view else None


def _for_caller(tool: GrantedTool, *, page: bool) -> GrantedTool | Denied:
    if tool.for_page if page else tool.for_model:
        return tool
    rule, whom = ("tool.model_only", "the model") if page else ("tool.pages_only", "pages")
    text = f"{tool.name} is offered to {whom} only (`_meta.ui.visibility`)"
    return Denied(Reason(rule, text, tool.reason.file, tool.reason.line), tool.server, tool.name)
