"""What withholds a server, in its order; how old facts may be."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from homeport.calls.gate import Gate
from homeport.calls.roster import Entry
from homeport.declarations.model import AppSpec, Availability, Declaration
from homeport.ground.errors import Problem
from homeport.ground.limits import DEFAULT

pytestmark = pytest.mark.anyio
DECLARATION = Declaration("blender", AppSpec({}))
ABSENT = Availability("missing_app", sentence="Blender is not installed.", remedy="install Blender")
HERE = Availability("available")
FAULT = Problem("surface.corrupt", "the lock is corrupt", remedy="homeport lock")


class Machine:
    def __init__(self, answer: Availability) -> None:
        self.answer = answer
        self.read = 0
        self.now = 0.0

    def gate(self) -> Gate:
        return Gate(self, availability, lambda: self.now)


def availability(_: Declaration, machine: Any) -> Availability:
    machine.read += 1
    return machine.answer


def entry(**rest: Any) -> Entry:
    known: dict[str, Any] = {"trusted": True, "declaration": DECLARATION} | rest
    return Entry("blender", "command blender-mcp", None, None, **known)


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"enabled": False, "fault": FAULT, "trusted": False}, "disabled"),
        ({"fault": FAULT, "trusted": False}, "fault"),
        ({"trusted": False}, "untrusted"),
        ({}, "unavailable"),
    ],
)
def test_the_first_cause_is_told(given: dict[str, Any], code: str) -> None:
    withheld = Machine(ABSENT).gate().check(entry(**given))
    assert withheld is not None
    assert withheld.code == code
    assert withheld.sentence
    assert withheld.remedy


def test_a_server_that_needs_nothing_is_not_asked_about() -> None:
    machine = Machine(ABSENT)
    assert machine.gate().check(entry(declaration=None)) is None
    assert machine.read == 0


def test_the_machine_is_not_read_for_a_server_that_is_withheld_anyway() -> None:
    machine = Machine(HERE)
    machine.gate().check(entry(trusted=False))
    assert machine.read == 0


def test_facts_are_kept_for_five_seconds_and_then_read_again() -> None:
    machine = Machine(HERE)
    gate = machine.gate()
    assert gate.check(entry()) is None
    machine.answer = ABSENT
    machine.now = DEFAULT.facts_max_age - 0.1
    assert gate.check(entry()) is None
    machine.now = DEFAULT.facts_max_age
    assert gate.check(entry()) is not None
    assert machine.read == 2


def test_an_application_that_comes_back_is_seen_after_the_same_time() -> None:
    machine = Machine(ABSENT)
    gate = machine.gate()
    assert gate.check(entry()) is not None
    machine.answer, machine.now = HERE, DEFAULT.facts_max_age
    assert gate.check(entry()) is None


def test_another_declaration_is_asked_at_once() -> None:
    machine = Machine(HERE)
    gate = machine.gate()
    gate.check(entry())
    gate.check(entry(declaration=Declaration("blender", AppSpec({}, title="Blender"))))
    assert machine.read == 2


@pytest.mark.parametrize("forget", [lambda gate: gate.forget(), lambda gate: gate.forget("blender")])
def test_forgetting_reads_again(forget: Callable[[Gate], None]) -> None:
    machine = Machine(HERE)
    gate = machine.gate()
    gate.check(entry())
    forget(gate)
    gate.check(entry())
    assert machine.read == 2


async def test_many_who_refresh_share_one_reading() -> None:
    machine = Machine(ABSENT)
    gate = machine.gate()
    await asyncio.gather(*(gate.refresh(entry()) for _ in range(20)))
    assert not gate.stale(entry())
    assert gate.check(entry()) is not None
    assert machine.read == 1
