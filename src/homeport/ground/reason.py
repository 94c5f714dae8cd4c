"""Why something was decided, for the operator: every answer carries one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reason:
    """The rule that decided, where it stands, and what would change the answer."""

    rule: str
    """Stable identifier, e.g. `grant.never`, `grant.absent`, `rule.allow`, `schema.required`, `trust.launch`."""
    text: str
    file: str = ""
    line: int = 0
    remedy: str = ""
