"""What to tell a person whose server is not usable, and what an installing verb says. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from homeport.declarations import wording
from homeport.declarations.model import Availability, Declaration
from homeport.declarations.readiness import Readiness
from homeport.ground.errors import Refused

Retry: TypeAlias = Literal["no_need", "after_user_action", "never_here"]

NEVER_HERE: Final = frozenset({"unsupported_os", "unsupported_gpu"})
"""States that no installation on this machine mends."""


@dataclass(frozen=True, slots=True)
class Status:
    """One reason, one action, and whether trying again can help."""

    code: str
    """`connected`, `not_connected`, a state of an availability, or one of a readiness."""
    reason: str
    action: str
    retry: Retry

    @property
    def text(self) -> str:
        """Both as one text."""
        return f"{self.reason} {self.action}".strip()


def status(declaration: Declaration, answer: Availability, ready: Readiness, *, connected: bool) -> Status:
    """The status of a server: what is missing comes before what does not run, and that before the connection."""
    if not answer.offerable:
        retry: Retry = "never_here" if answer.state in NEVER_HERE else "after_user_action"
        return Status(answer.state, answer.sentence, answer.remedy, retry)
    if connected:
        return Status("connected", f"{declaration.title} is connected.", "", "no_need")
    if ready.running is False or ready.state in {"endpoint_unavailable", "not_answering"}:
        return Status(ready.state, ready.sentence, ready.remedy, "after_user_action")
    reason = f"The server {declaration.name} is not connected."
    return Status("not_connected", reason, f"Run `homeport restart {declaration.name}`.", "after_user_action")


def install_refusal(declaration: Declaration, answer: Availability) -> Refused | None:
    """Why a verb that installs or registers a server must not: its application can never run here. Else None."""
    if answer.state not in NEVER_HERE:
        return None
    return Refused(
        wording.refused_install(declaration.name, answer.state, _needed(declaration, answer)),
        code=f"declaration.{answer.state}",
        remedy=answer.remedy,
    )


def install_warning(declaration: Declaration, answer: Availability) -> str:
    """What such a verb warns of and goes on: an application that can still be installed or updated. Else empty."""
    if answer.offerable or answer.state in NEVER_HERE:
        return ""
    return f"{declaration.name} will not be offered yet: {answer.sentence} {answer.remedy}"


def _needed(declaration: Declaration, answer: Availability) -> str:
    if answer.state == "unsupported_gpu":
        return wording.gpu_phrase(declaration.required_gpus)
    systems = tuple(declaration.app.blocks) if declaration.app else ()
    return wording.listed([wording.system_name(system) for system in systems], "or") or "another system"
