"""`homeport call`: one operation from a shell, along the same path as an agent's."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from homeport.calls.operation import Delivered, Dry, Kind, Operation, Outcome, Refusal, UpstreamError
from homeport.calls.pipeline import Pipeline
from homeport.calls.ports import Client
from homeport.upstreams.session import Era, Reply

CANNOT_ASK = b'{"code":-32601,"message":"nobody can be asked at this command"}'


@dataclass(frozen=True, slots=True)
class Called:
    """How a call ended, the same whether a running gateway made it or this process."""

    outcome: str
    """`delivered`, `error`, `refused` or `dry`."""
    result: bytes = b""
    """Raw JSON: the result, the JSON-RPC error, or of a dry run the arguments."""
    kind: str = ""
    """Of a refusal (`calls.operation.RefusalKind`)."""
    text: str = ""
    rule: str = ""
    place: str = ""
    remedy: str = ""
    server: str = ""
    tool: str = ""

    def told(self) -> dict[str, Any]:
        """As JSON for the socket; the bytes survive as they are."""
        members = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "result"}
        return members | {"result": base64.b64encode(self.result).decode()}

    @classmethod
    def read(cls, members: Mapping[str, Any]) -> Called:
        """Back from `told`."""
        known = {name: str(members.get(name) or "") for name in cls.__dataclass_fields__ if name != "result"}
        return cls(**known, result=base64.b64decode(str(members.get("result") or "")))


class ShellCaller:
    """The edge of the command line: it is told nothing while a call runs and can be asked nothing."""

    def __init__(self) -> None:
        self.client = Client(edge="cli", era=Era.MODERN, name="homeport call")

    def notify(self, method: str, params: bytes) -> None:
        """Progress and log messages of a call end here."""

    async def ask(self, method: str, params: bytes) -> Reply:
        """Refused: a command has nobody to ask."""
        return Reply(error=CANNOT_ASK)


async def call(
    pipeline: Pipeline,
    *,
    server: str,
    tool: str,
    arguments: bytes,
    profile: str,
    dry_run: bool = False,
    timeout: float | None = None,
) -> Called:
    """Carry one call through the pipeline. `tool` is the server's own name for it; `timeout` in seconds."""
    operation = Operation(
        kind=Kind.TOOL,
        profile=profile,
        name=tool,
        params={"name": _json_text(tool), "arguments": arguments or b"{}"},
        caller=ShellCaller(),
        server=server,
        dry_run=dry_run,
        timeout=timeout,
    )
    return called(await pipeline.run(operation), server, tool)


def called(outcome: Outcome, server: str, tool: str) -> Called:
    """An outcome in the one shape that both ways give. Pure."""
    match outcome:
        case Delivered():
            return Called("delivered", outcome.result, server=server, tool=tool)
        case UpstreamError():
            return Called("error", outcome.error, server=server, tool=tool)
        case Dry():
            why = outcome.reason
            place = f"{why.file}:{why.line}" if why.file else ""
            return Called(
                "dry",
                outcome.arguments,
                text=why.text,
                rule=why.rule,
                place=place,
                server=outcome.server,
                tool=outcome.tool,
            )
        case Refusal():
            why = outcome.reason
            place = f"{why.file}:{why.line}" if why.file else ""
            return Called(
                "refused",
                kind=str(outcome.kind),
                text=outcome.text,
                rule=why.rule,
                place=place,
                remedy=why.remedy,
                server=server,
                tool=tool,
            )


def _json_text(text: str) -> bytes:
    import msgspec

    return msgspec.json.encode(text)
