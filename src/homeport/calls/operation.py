"""One call on its way through the pipeline, and the three ways it can end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from homeport.calls.ports import Caller
from homeport.ground.reason import Reason
from homeport.upstreams.session import Era


class Kind(StrEnum):
    """What may be asked of a server; the values are the MCP methods."""

    TOOL = "tools/call"
    PROMPT = "prompts/get"
    RESOURCE = "resources/read"
    COMPLETION = "completion/complete"


@dataclass(slots=True)
class Operation:
    """A call as one of the edges received it. Gateway, command line and apps build one and hand it to the pipeline."""

    kind: Kind
    profile: str
    name: str
    """As the caller said it: a tool's or prompt's served name, or a resource's URI."""
    params: Mapping[str, bytes]
    """Every member of `params` as received, raw: `arguments`, `_meta`, `requestState`, unknown ones."""
    caller: Caller
    server: str = ""
    """Set at a single server's endpoint and in `homeport call SERVER TOOL`: then `name` is the upstream's own."""
    dry_run: bool = False
    timeout: float | None = None
    """Seconds for the whole call, its server's start included, where the caller says so; else the limits count."""
    id: str = ""
    """Of the audit row; the pipeline sets it."""


class RefusalKind(StrEnum):
    """Why a call was not sent, or its result not delivered. Stable: tests, audit and clients rely on the values."""

    UNKNOWN = "unknown"
    """Absent, denied, quarantined, of a withheld server: one and the same to the caller."""
    INVALID_ARGUMENTS = "invalid_arguments"
    POLICY = "policy_denied"
    UNTRUSTED = "untrusted"
    UNAVAILABLE_HERE = "unavailable_here"
    """The server's application is not here or not the right one; the reason is in the text."""
    RATE = "rate_limited"
    APPROVAL = "approval"
    """Declined, or nobody answered in time; the text says where to answer."""
    DRIFT = "schema_drift"
    NO_SECRET = "secret_missing"  # noqa: S105
    JOURNAL = "journal"
    """The audit line could not be written, so the call was not made."""
    UPSTREAM = "upstream_failed"
    OUTPUT = "output_mismatch"
    INPUT_REQUIRED = "input_required"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Delivered:
    """The server's result, the bytes it sent."""

    result: bytes
    era: Era
    """Of the leg it came over: a legacy result has no `resultType`."""


@dataclass(frozen=True, slots=True)
class UpstreamError:
    """The server's JSON-RPC error, the bytes it sent."""

    error: bytes


@dataclass(frozen=True, slots=True)
class Refusal:
    """Not sent, or not delivered. `text` is all that the caller learns; `reason` is the operator's."""

    kind: RefusalKind
    text: str
    reason: Reason
    details: Mapping[str, str] = field(default_factory=dict[str, str])
    """For the caller too: `path`, `keyword` of a validation refusal."""


@dataclass(frozen=True, slots=True)
class Dry:
    """What would have been sent, were this not a dry run."""

    server: str
    tool: str
    arguments: bytes
    reason: Reason


Outcome: TypeAlias = Delivered | UpstreamError | Refusal | Dry
