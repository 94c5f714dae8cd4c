"""Exit statuses (design section 5): mapped once, here, from an error's family or code."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from homeport.ground.errors import HomeportError


class Exit(IntEnum):
    """What the shell gets."""

    DONE = 0
    REFUSED = 1
    WRONG_INPUT = 2
    OUTSIDE_FAILED = 3
    CONFLICT = 4
    INTERNAL = 5
    INPUT_REQUIRED = 6
    INTERRUPTED = 130


_BY_FAMILY: Final = {
    "invalid_input": Exit.WRONG_INPUT,
    "refused": Exit.REFUSED,
    "unavailable": Exit.OUTSIDE_FAILED,
    "protocol_violation": Exit.OUTSIDE_FAILED,
    "conflict": Exit.CONFLICT,
}

_BY_CODE: Final = {
    "call.unknown": Exit.WRONG_INPUT,
    "call.invalid_arguments": Exit.WRONG_INPUT,
    "call.secret_missing": Exit.WRONG_INPUT,
    "call.schema_drift": Exit.CONFLICT,
    "call.journal": Exit.OUTSIDE_FAILED,
    "call.upstream_failed": Exit.OUTSIDE_FAILED,
    "call.unavailable_here": Exit.OUTSIDE_FAILED,
    "call.input_required": Exit.INPUT_REQUIRED,
}
"""Refusals whose status is not that of their family."""


def status_of(error: HomeportError) -> Exit:
    """The exit status of an error."""
    return _BY_CODE.get(error.code) or _BY_FAMILY.get(error.family, Exit.INTERNAL)
