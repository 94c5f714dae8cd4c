"""The sentences of a refusal. What a caller may not see reads the same whether it is denied, unnamed or invented."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from homeport.calls.gate import Withheld
from homeport.calls.operation import Kind, Refusal, RefusalKind
from homeport.calls.rates import Exceeded
from homeport.ground.errors import HomeportError
from homeport.ground.reason import Reason
from homeport.surface.verdict import Objection, Violation

_NOUNS: Final[Mapping[Kind, str]] = {
    Kind.TOOL: "tool",
    Kind.PROMPT: "prompt",
    Kind.RESOURCE: "resource",
    Kind.COMPLETION: "prompt or resource template",
}
MAX_NAME: Final = 200


def unknown(kind: Kind, name: str, reason: Reason) -> Refusal:
    """The one answer for everything that is not in the caller's surface."""
    shown = name if len(name) <= MAX_NAME else name[: MAX_NAME - 1] + "…"
    return Refusal(RefusalKind.UNKNOWN, f"unknown {_NOUNS[kind]}: {shown}", reason)


def untrusted_profiles() -> Refusal:
    """The project's grants are a stranger's: they count for nothing."""
    text = "the profiles of this project are not trusted on this machine yet, so nothing is granted"
    reason = Reason("trust.profiles", text, remedy="homeport trust")
    return Refusal(RefusalKind.UNTRUSTED, with_remedy(text, reason.remedy), reason)


def withheld(why: Withheld) -> Refusal:
    """A granted item of a server that cannot be used here and now."""
    kind = RefusalKind.UNTRUSTED if why.code == "untrusted" else RefusalKind.UNAVAILABLE_HERE
    rule = f"server.{why.code}" if why.code != "untrusted" else "trust.launch"
    details = {"server": why.server, "code": why.code, "remedy": why.remedy}
    reason = Reason(rule, why.sentence, remedy=why.remedy)
    return Refusal(kind, with_remedy(why.sentence, why.remedy), reason, details)


def invalid(error: HomeportError) -> Refusal:
    """Members of the request that cannot be meant."""
    return Refusal(RefusalKind.INVALID_ARGUMENTS, error.message, Reason(error.code, error.message))


def objection(found: Violation | Objection, kind: RefusalKind | None = None) -> Refusal:
    """Arguments or a result that a schema or a rule does not let through."""
    if kind is None:
        kind = RefusalKind.INVALID_ARGUMENTS if isinstance(found, Violation) else RefusalKind.POLICY
    details = {key: value for key, value in found.details.items() if value}
    return Refusal(kind, found.text, found.reason, {**details, "rule": found.reason.rule})


def rate(exceeded: Exceeded) -> Refusal:
    """A bound on calls is reached."""
    if exceeded.bound == "concurrent":
        text = f"{exceeded.limit} calls run at the same time already, which is the limit of {exceeded.key}"
    else:
        wait = max(1, round(exceeded.retry_after))
        text = f"more than {exceeded.limit} calls a minute for {exceeded.key}; try again in {wait} s"
    details = {"retry_after": f"{exceeded.retry_after:.1f}"}
    return Refusal(RefusalKind.RATE, text, Reason(f"limits.{exceeded.bound}", text), details)


def drift(server: str, tool: str, what: str) -> Refusal:
    """The live definition is not the locked one."""
    text = f"the tool {tool} of {server} is not what was reviewed: {what}"
    remedy = f"homeport surface diff {server}"
    return Refusal(RefusalKind.DRIFT, text, Reason("drift.tool", text, remedy=remedy), {"server": server})


def from_error(kind: RefusalKind, error: HomeportError) -> Refusal:
    """What the outside answered, or the journal did, as a refusal."""
    reason = Reason(error.code, error.message, error.place.file, error.place.line, error.remedy)
    return Refusal(kind, with_remedy(error.message, error.remedy), reason, {"code": error.code})


def with_remedy(sentence: str, remedy: str) -> str:
    """A sentence and what mends it, for people and models."""
    return f"{sentence.rstrip('.')}. To mend it: {remedy}" if remedy else sentence
