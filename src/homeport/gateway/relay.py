"""What both eras have in common: a request becomes an operation, an outcome becomes an answer."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import Final, Protocol

from msgspec import Raw

from homeport.calls.operation import Kind, Operation, Outcome
from homeport.calls.ports import Caller
from homeport.gateway.answers import Answer, answer
from homeport.gateway.faults import Fault
from homeport.gateway.headers import NAME_MEMBERS
from homeport.gateway.lists import ListKind, Lists, Names
from homeport.gateway.live import LiveLists
from homeport.gateway.messages import Request, members, text
from homeport.gateway.routing import Target, split_page

CALLS: Final[Mapping[str, Kind]] = {kind.value: kind for kind in Kind}
LISTS: Final[Mapping[str, ListKind]] = {
    "tools/list": ListKind.TOOLS,
    "prompts/list": ListKind.PROMPTS,
    "resources/templates/list": ListKind.TEMPLATES,
}
RESOURCES_LIST: Final = "resources/list"


class Runs(Protocol):
    """What is needed of `calls.pipeline.Pipeline`."""

    def run(self, operation: Operation) -> Awaitable[Outcome]:
        """Carry an operation to its outcome; refusals are outcomes too."""
        ...


class Relay:
    """The way from a request to its answer."""

    def __init__(self, pipeline: Runs, lists: Lists, live: LiveLists) -> None:
        self._pipeline = pipeline
        self._live = live
        self.lists = lists

    async def call(self, request: Request, target: Target, caller: Caller) -> Answer:
        """`tools/call`, `prompts/get`, `resources/read` or `completion/complete`. Raises `Fault` (`rpc.params`)."""
        kind = CALLS[request.method]
        name = _name(kind, request)
        server, own, origin = _address(kind, name, self.lists.names(target))
        params = {member: bytes(raw) for member, raw in request.params.items()}
        operation = Operation(kind, target.profile, own, params, caller, server)
        outcome = await self._pipeline.run(operation)
        return answer(operation, outcome, aggregated_from="" if target.server else origin)

    async def list(self, request: Request, target: Target, caller: Caller) -> Answer:
        """One of the four lists, whole: there is one page. Raises `Fault` (`rpc.params`) for a cursor."""
        if "cursor" in request.params and bytes(request.params["cursor"]) != b"null":
            raise Fault("no cursor of this list is known: it has one page", code="rpc.params")
        catalogue = await self.lists.catalogue(target)
        if request.method == RESOURCES_LIST:
            return Answer(result=await self._live.resources(catalogue, caller))
        return Answer(result=catalogue.page(LISTS[request.method], caller.client.era))


def serves(method: str) -> bool:
    """Whether a method is a call or a list, in either era."""
    return method in CALLS or method in LISTS or method == RESOURCES_LIST


async def dispatch(relay: Relay, request: Request, target: Target, caller: Caller) -> Answer:
    """A call or a list. Raises `Fault` (`rpc.method`) for any other method."""
    if request.method in CALLS:
        return await relay.call(request, target, caller)
    if request.method in LISTS or request.method == RESOURCES_LIST:
        return await relay.list(request, target, caller)
    raise Fault(f"unknown method: {request.method[:100]}", code="rpc.method")


def _name(kind: Kind, request: Request) -> str:
    if kind is Kind.COMPLETION:
        reference = members(request.params.get("ref", Raw(b"null")))
        name = text(reference.get("uri")) or text(reference.get("name"))
        member = "ref"
    else:
        member = NAME_MEMBERS[request.method]
        name = text(request.params.get(member))
    if name is None:
        raise Fault(f"params.{member} is missing, or not what it must be", code="rpc.params")
    return name


def _address(kind: Kind, name: str, names: Names) -> tuple[str, str, str]:
    """The server to set on the operation, the name to look for, and the server an answer comes from, if known."""
    if names.target.server:
        return names.target.server, name, names.target.server
    if kind is Kind.TOOL:
        tool = names.tool(name)
        return "", name, tool.server if tool else ""
    if kind is Kind.PROMPT:
        prompt = names.prompt(name)
        return "", name, prompt.server if prompt else ""
    page = split_page(name, names.servers)
    if page is not None:
        return page[0], page[1], page[0]
    resource = names.resource(name) if kind is Kind.RESOURCE else None
    return "", name, resource.server if resource else ""
