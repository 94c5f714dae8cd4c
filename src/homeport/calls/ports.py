"""What the pipeline needs of higher rooms. They implement these; `cli/assemble` puts the pieces together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from homeport.upstreams.session import Era, Reply


@dataclass(frozen=True, slots=True)
class Client:
    """Who speaks, as far as is known. Self-reported: for display and audit, never for decisions."""

    edge: str
    """`http`, `socket`, `cli` or `app`."""
    era: Era
    name: str = ""
    version: str = ""
    session: str = ""
    """Legacy session id, or an id of the connection."""
    capabilities: bytes = b"{}"
    """Raw JSON, as the client declared them."""
    info: bytes = b"{}"
    """Raw JSON of `clientInfo`."""


class Caller(Protocol):
    """The edge that a call came in at."""

    @property
    def client(self) -> Client:
        """Who speaks."""
        ...

    def notify(self, method: str, params: bytes) -> None:
        """Pass a progress or log message of this call on; never blocks, drops when the caller is slow or gone."""
        ...

    async def ask(self, method: str, params: bytes) -> Reply:
        """Put a request of the server (elicitation, sampling, roots) to the caller.

        A caller that cannot be asked answers with a `Reply` holding a JSON-RPC error.
        """
        ...


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One line of the journal (surface.md section 9). Values of arguments only where policy says so."""

    id: str
    ts_ms: int
    stage: str
    """`begun` (about to be written upstream), `ended`, or `refused` (never sent)."""
    profile: str
    client: str
    edge: str
    session: str
    kind: str
    server: str
    name: str
    decision: str
    """`accept` or the refusal's kind."""
    rule: str = ""
    reason: str = ""
    place: str = ""
    args: Mapping[str, Any] | None = None
    """`{"keys": [...], "bytes": n, "digest": "hmac:…"}`."""
    result: Mapping[str, Any] | None = None
    """`{"is_error": bool, "bytes": n, "digest": "sha256:…"}`."""
    duration_ms: float | None = None
    dry_run: bool = False
    phases_ms: Mapping[str, float] | None = None
    """`{"decide": …, "approval": …, "connect": …, "call": …}`, those that took place."""
    tool_digest: str = ""
    """Of the locked definition that was decided by."""
    roster: str = ""
    """Digest of the roster in force: project, policy and lock."""
    project: str = ""
    """Real path of the project's directory: one journal is this user's, over all projects."""
    approval: str = ""
    """`once`, `thread`, `always`, `declined` or `unanswered`, where a person was asked or had been."""


class Observer(Protocol):
    """Sees every row after it is in the journal: the live console, later the apps. Must not block or raise."""

    def observe(self, row: AuditRow) -> None:
        """One row, `begun`, `ended` or `refused`."""
        ...


class Store(Protocol):
    """The index behind the journal, and what must outlive a process."""

    def index(self, rows: Sequence[AuditRow]) -> None:
        """Take rows that are in the journal already; called beside the call path, in order."""
        ...

    def rows(self, *, limit: int, filters: Mapping[str, str], after: str = "") -> Iterable[AuditRow]:
        """Rows, newest first: one an operation, its last stage. Filters by field name."""
        ...


@dataclass(frozen=True, slots=True)
class StandingApproval:
    """An "always": this profile may call this tool as long as its locked definition has this digest."""

    profile: str
    server: str
    tool: str
    digest: str
    project: str = ""
    """Real path of its directory: profiles of different projects may have one name."""
    by: str = ""
    """`console`, `terminal` or `client`."""
    since_ms: int = 0


class ApprovalMemory(Protocol):
    """Keeps standing approvals beyond the process."""

    def standing(self) -> Iterable[StandingApproval]:
        """Those that are kept."""
        ...

    def approve(self, approval: StandingApproval) -> None:
        """Keep one."""
        ...

    def revoke(self, approval: StandingApproval) -> None:
        """Forget one."""
        ...
