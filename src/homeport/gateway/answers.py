"""How an outcome of the pipeline is told to an MCP client. Pure.

A tool call that rules, limits or the outside ended is a *tool result* with `isError`, so that a model reads why and can
do better (surface.md T-S8); a name that is not in the caller's surface is the protocol error for unknown names, with
one text whatever the cause; prompts and resources have errors only.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from homeport.calls.operation import Delivered, Dry, Kind, Operation, Outcome, Refusal, RefusalKind, UpstreamError
from homeport.gateway import translate
from homeport.gateway.faults import INTERNAL, INVALID_PARAMS
from homeport.gateway.routing import aggregate_result
from homeport.upstreams.session import Era

REFUSAL_META: Final = "homeport/refusal"


class Answer(msgspec.Struct, frozen=True, gc=False):
    """Exactly one of a raw result and a raw JSON-RPC error object."""

    result: bytes | None = None
    error: bytes | None = None


def answer(operation: Operation, outcome: Outcome, *, aggregated_from: str = "") -> Answer:
    """The answer to the caller in its own era. `aggregated_from`: the server, where the caller sees an aggregate."""
    era = operation.caller.client.era
    if isinstance(outcome, Delivered):
        return _delivered(operation, outcome, era, aggregated_from)
    if isinstance(outcome, UpstreamError):
        return Answer(error=translate.error(outcome.error, to=era))
    if isinstance(outcome, Dry):
        return Answer(error=translate.error_object(INTERNAL, "a dry run has no answer for an MCP client"))
    return _refused(operation, outcome, era)


def _delivered(operation: Operation, outcome: Delivered, era: Era, server: str) -> Answer:
    try:
        result = translate.result(outcome.result, operation.kind, source=outcome.era, to=era)
    except translate.Untranslatable as refusal:
        return Answer(error=translate.error_object(INTERNAL, refusal.sentence, {"code": refusal.code}))
    return Answer(result=aggregate_result(result, server) if server else result)


def _refused(operation: Operation, refusal: Refusal, era: Era) -> Answer:
    data: dict[str, Any] = {"kind": str(refusal.kind), **refusal.details}
    if refusal.kind is RefusalKind.UNKNOWN:
        if operation.kind is Kind.RESOURCE and era is Era.LEGACY:
            return Answer(
                error=translate.error_object(translate.RESOURCE_NOT_FOUND, refusal.text, {"uri": operation.name})
            )
        return Answer(error=translate.error_object(INVALID_PARAMS, refusal.text))
    if operation.kind is Kind.TOOL:
        return Answer(result=error_result(refusal.text, data, era))
    code = INVALID_PARAMS if refusal.kind is RefusalKind.INVALID_ARGUMENTS else INTERNAL
    return Answer(error=translate.error_object(code, refusal.text, data))


def error_result(text: str, data: dict[str, Any], era: Era) -> bytes:
    """A tool result that says a call did not happen, or that its result is withheld."""
    members: dict[str, Any] = {"resultType": "complete"} if era is Era.MODERN else {}
    members["content"] = [{"type": "text", "text": text}]
    members["isError"] = True
    members["_meta"] = {REFUSAL_META: data}
    return msgspec.json.encode(members)
