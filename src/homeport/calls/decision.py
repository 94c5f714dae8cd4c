"""The half of the pipeline that sends nothing: from an operation to a decision, without waiting for anything.

Design section 6 up to the approval: resolve, availability and trust, arguments, rules, drift, dry run, limits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from homeport.calls import approvals, params, refusals
from homeport.calls.drift_watch import DriftWatch
from homeport.calls.gate import Gate
from homeport.calls.operation import Dry, Kind, Operation, Refusal, RefusalKind
from homeport.calls.rates import Exceeded, Limiter, Permit
from homeport.calls.roster import Entry, Roster
from homeport.ground.errors import InvalidInput
from homeport.ground.reason import Reason
from homeport.surface.decide import Denied, GrantedItem, GrantedResource, GrantedTool, View
from homeport.surface.policy import AskBack, Profile, Rates
from homeport.upstreams.launch import Launch

Granted = GrantedTool | GrantedItem | GrantedResource

_UNBOUNDED: Final = Rates()


@dataclass(frozen=True, slots=True)
class Stopped:
    """The operation ends here: a refusal, or the answer of a dry run."""

    outcome: Refusal | Dry
    server: str = ""
    name: str = ""
    """The upstream's own, where known."""
    tool_digest: str = ""
    roster: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """What the caller meant, in its surface."""

    roster: Roster
    profile: Profile
    view: View
    entry: Entry
    granted: Granted

    @property
    def name(self) -> str:
        """The upstream's own name, URI or URI template."""
        return self.granted.uri if isinstance(self.granted, GrantedResource) else self.granted.name

    @property
    def tool_digest(self) -> str:
        """Of the locked definition; empty for a resource."""
        return "" if isinstance(self.granted, GrantedResource) else self.granted.item.digest

    @property
    def may_ask(self) -> tuple[AskBack, ...]:
        """What the server may ask the caller."""
        grant = self.view.grant(self.entry.name)
        return grant.may_ask if grant else ()


@dataclass(frozen=True, slots=True)
class Decided:
    """May be sent, after the approval that `verdict` names. `permit` must be released when the call has ended."""

    found: Found
    launch: Launch
    arguments: bytes | None
    """As they are sent; None: the caller's member, if any, travels as received."""
    verdict: approvals.Verdict
    permit: Permit

    @property
    def tool(self) -> GrantedTool | None:
        """The tool, if it is a tool that is called."""
        return self.found.granted if isinstance(self.found.granted, GrantedTool) else None


class Decider:
    """Decides from the roster in force; `find` then `decide`, both synchronous."""

    def __init__(self, *, roster: Callable[[], Roster], gate: Gate, limiter: Limiter, drift: DriftWatch) -> None:
        self._roster = roster
        self._gate = gate
        self._limiter = limiter
        self._drift = drift
        self._project: tuple[Path, str] | None = None

    def project(self) -> str:
        """The real path of the project in force."""
        root = self._roster().root
        if self._project is None or self._project[0] is not root:
            self._project = (root, str(root.resolve()))
        return self._project[1]

    def find(self, operation: Operation) -> Found | Stopped:
        """Resolve in the caller's surface; absent, denied and quarantined are one and the same to the caller."""
        roster = self._roster()
        if not roster.profiles_trusted:
            return Stopped(refusals.untrusted_profiles(), operation.server, operation.name, roster=roster.digest)
        view, profile = roster.views.get(operation.profile), roster.profiles.get(operation.profile)
        if view is None or profile is None:
            reason = Reason("profile.unknown", f"there is no profile {operation.profile}")
            return _unknown(operation, Denied(reason, operation.server), roster)
        granted = _resolve(operation, view)
        if isinstance(granted, Denied):
            return _unknown(operation, granted, roster)
        entry = roster.entries.get(granted.server)
        if entry is None:
            reason = Reason("server.absent", f"the server {granted.server} is not in this project")
            return _unknown(operation, Denied(reason, granted.server), roster)
        return Found(roster, profile, view, entry, granted)

    def decide(self, operation: Operation, found: Found) -> Decided | Stopped:
        """Everything that can refuse without asking anybody. Takes a place under the limits when it decides to send."""
        withheld = self._gate.check(found.entry)
        if withheld:
            return _stop(refusals.withheld(withheld), found)
        if found.entry.launch is None:
            reason = Reason("server.launch", f"the server {found.entry.name} has no launch")
            return _stop(Refusal(RefusalKind.UNAVAILABLE_HERE, reason.text, reason), found)
        try:
            arguments, refusal = _checked(operation, found)
        except InvalidInput as error:
            return _stop(refusals.invalid(error), found)
        refusal = refusal or self._drifted(found)
        if refusal:
            return _stop(refusal, found)
        if operation.dry_run:
            dry = Dry(found.entry.name, found.name, arguments or b"{}", found.granted.reason)
            return _stop(dry, found)
        verdict = _verdict(operation, found)
        if verdict == "refuse":
            return _stop(_read_only(found), found)
        permit = self._limiter.admit(_bounds(found))
        if isinstance(permit, Exceeded):
            return _stop(refusals.rate(permit), found)
        return Decided(found, found.entry.launch, arguments, verdict, permit)

    def _drifted(self, found: Found) -> Refusal | None:
        if not isinstance(found.granted, GrantedTool):
            return None
        what = self._drift.drifted(found.entry, found.name, found.tool_digest)
        return refusals.drift(found.entry.name, found.name, what) if what else None


def _resolve(operation: Operation, view: View) -> Granted | Denied:
    name, server = operation.name, operation.server
    match operation.kind:
        case Kind.TOOL:
            return view.tool(name, server, page=operation.caller.client.edge == "app")
        case Kind.PROMPT:
            return view.prompt(name, server)
        case Kind.RESOURCE:
            return view.resource(name, server)
        case Kind.COMPLETION:
            return _resolve_reference(operation, view)


class _Reference(msgspec.Struct):
    type: str = ""


def _resolve_reference(operation: Operation, view: View) -> Granted | Denied:
    try:
        kind = msgspec.json.decode(operation.params.get("ref", b"{}"), type=_Reference).type
    except (msgspec.DecodeError, UnicodeDecodeError):
        kind = ""
    if kind == "ref/prompt":
        return view.prompt(operation.name, operation.server)
    if kind == "ref/resource":
        return view.template(operation.name, operation.server)
    return Denied(Reason("template.unknown", f"no granted resource template {operation.name}"), operation.server)


def _checked(operation: Operation, found: Found) -> tuple[bytes | None, Refusal | None]:
    """The arguments to send and what refuses them. Raises `InvalidInput` for members that cannot be meant."""
    params.check(operation.kind, operation.params)
    if not isinstance(found.granted, GrantedTool):
        return None, None
    arguments, problem = found.granted.check(operation.params.get("arguments", b""))
    return arguments, refusals.objection(problem) if problem else None


def _verdict(operation: Operation, found: Found) -> approvals.Verdict:
    if not isinstance(found.granted, GrantedTool):
        return "run"
    level = approvals.level(found.profile, operation.caller.client.edge)
    return approvals.judge(level, read_only=found.granted.read_only)


def _read_only(found: Found) -> Refusal:
    profile = found.profile
    text = f"the profile {profile.name} only runs tools that say they only read; {found.name} does not"
    remedy = f'set approval = "confirm" in [profiles.{profile.name}]'
    reason = Reason("approval.read_only", text, profile.place.file, profile.place.line, remedy)
    return Refusal(RefusalKind.APPROVAL, text, reason)


def _bounds(found: Found) -> list[tuple[str, Rates]]:
    bounds: list[tuple[str, Rates]] = []
    name = found.profile.name
    if found.profile.limits != _UNBOUNDED:
        bounds.append((f"the profile {name}", found.profile.limits))
    tool = found.granted
    if isinstance(tool, GrantedTool) and tool.rates != _UNBOUNDED:
        bounds.append((f"{tool.name} of {tool.server} in the profile {name}", tool.rates))
    return bounds


def _unknown(operation: Operation, denied: Denied, roster: Roster) -> Stopped:
    refusal = refusals.unknown(operation.kind, operation.name, denied.reason)
    return Stopped(refusal, denied.server, denied.name or operation.name, roster=roster.digest)


def _stop(outcome: Refusal | Dry, found: Found) -> Stopped:
    return Stopped(outcome, found.entry.name, found.name, found.tool_digest, found.roster.digest)
