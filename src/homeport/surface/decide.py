"""What a profile may use of the locked surfaces, and whether a call's arguments go through. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from homeport.ground.errors import Problem
from homeport.ground.exact import Json
from homeport.ground.reason import Reason
from homeport.surface.model import Item, Surface
from homeport.surface.policy import Grant, Profile, Rates
from homeport.surface.verdict import Objection, Violation


@dataclass(frozen=True, slots=True)
class Denied:
    """Not in this caller's surface. The caller learns "unknown"; `reason` is the operator's.

    `reason.rule`: `grant.absent`, `grant.never`, `tool.quarantined`, `tool.unknown`, `tool.pages_only`.
    """

    reason: Reason
    server: str = ""
    """The server it was looked for at, where that is known."""
    name: str = ""
    """The upstream's own name, where that is known."""


class GrantedTool:
    """One tool in a caller's surface."""

    __slots__ = ("command", "definition", "for_model", "for_page", "item", "name", "on_output_mismatch", "rates",
                 "read_only", "reason", "sensitive", "served", "server")  # fmt: skip

    server: str
    name: str
    """The upstream's own name."""
    served: str
    """Its name in an aggregate (`ground.names.served`)."""
    command: str
    """Its name on the command line, unique within its server."""
    item: Item
    """As locked."""
    definition: Mapping[str, Json]
    """As served at a single server's endpoint: the locked one with the edits of the policy."""
    reason: Reason
    """The grant that permits it."""
    rates: Rates
    read_only: bool
    """`readOnlyHint: true` and neither `destructiveHint: true` nor `destructive` in a rule."""
    for_model: bool
    """False: served to pages only."""
    for_page: bool
    sensitive: tuple[str, ...]
    """Selectors of arguments whose values are never shown."""
    on_output_mismatch: str

    def check(self, arguments: bytes) -> tuple[bytes, Violation | Objection | None]:
        """Whether these arguments (raw JSON, empty = absent) go through, and the bytes to send: validate, pins,
        restrict, deny, allow. The bytes carry pinned values and one spelling of every member."""
        raise NotImplementedError

    def check_result(self, result: bytes) -> Violation | Objection | None:
        """Whether this result (raw `CallToolResult`) goes back: post_call, then the output schema where the policy
        says `refuse`."""
        raise NotImplementedError

    def output_mismatch(self, result: bytes) -> Violation | None:
        """How `structuredContent` breaks the locked output schema, if it does."""
        raise NotImplementedError


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
    reason: Reason


class View:
    """What one profile may use, of the surfaces it was compiled with. Immutable, made once per policy and lock."""

    __slots__ = ("problems", "profile")

    profile: Profile
    problems: Sequence[Problem]
    """Grants and rules that do not fit the lock: told, and without effect on the others."""

    def tool(self, name: str, server: str = "", *, page: bool = False) -> GrantedTool | Denied:
        """By served name in the aggregate, or with `server` by the upstream's own. `page`: a page of an app calls."""
        raise NotImplementedError

    def prompt(self, name: str, server: str = "") -> GrantedItem | Denied:
        """By served name in the aggregate, or with `server` by the upstream's own."""
        raise NotImplementedError

    def resource(self, uri: str, server: str = "") -> GrantedResource | Denied:
        """A URI to read: granted by pattern, or the page of a granted tool."""
        raise NotImplementedError

    def tools(self, server: str = "") -> Sequence[GrantedTool]:
        """Every granted tool, by served name (with `server`: by its own name); those for pages only included."""
        raise NotImplementedError

    def prompts(self, server: str = "") -> Sequence[GrantedItem]:
        """Every granted prompt, by name."""
        raise NotImplementedError

    def templates(self, server: str = "") -> Sequence[GrantedItem]:
        """Every granted resource template, by URI template."""
        raise NotImplementedError

    @property
    def servers(self) -> Sequence[str]:
        """Names of the servers with a grant, sorted."""
        raise NotImplementedError

    def grant(self, server: str) -> Grant | None:
        """The grant for a server, if there is one."""
        raise NotImplementedError


def compile_view(profile: Profile, surfaces: Mapping[str, Surface]) -> View:
    """The view of a profile over the locked surfaces. Never raises: what does not fit is in `View.problems`."""
    raise NotImplementedError
