"""The decision table of one entry."""

from __future__ import annotations

import pytest

from homeport.agents.decide import Case, Owned, decide, digests

OURS = {"command": "homeport", "args": ["connect"]}
NEWER = {"command": "homeport", "args": ["connect", "--profile", "p"]}
MINE = Owned((digests(OURS),))


@pytest.mark.parametrize(
    ("case", "action", "state"),
    [
        pytest.param(Case(desired=OURS), "create", "absent", id="E0-E1-E2"),
        pytest.param(Case(True, OURS, OURS, MINE), "none", "registered", id="E3"),
        pytest.param(Case(True, OURS, NEWER, MINE), "update", "stale", id="E4"),
        pytest.param(Case(True, OURS, OURS), "none", "operator-owned", id="E5"),
        pytest.param(Case(True, OURS, OURS, adopt=True), "adopt", "operator-owned", id="E5-adopt"),
        pytest.param(Case(True, {"command": "x"}, OURS), "none", "conflict", id="E6"),
        pytest.param(Case(True, {"command": "x"}, OURS, adopt=True), "update", "conflict", id="E6-adopt"),
        pytest.param(Case(True, None, OURS), "none", "conflict", id="E6-null"),
        pytest.param(Case(False, None, OURS, MINE), "create", "missing", id="E7"),
        pytest.param(Case(True, OURS, None, MINE), "remove", "orphan", id="E8"),
        pytest.param(Case(True, {"command": "x"}, None, MINE), "none", "drifted", id="E8-changed"),
        pytest.param(Case(False, None, None, MINE), "forget", "absent", id="E8-gone"),
        pytest.param(Case(True, OURS, {}, MINE, blocked="untrusted"), "remove", "blocked", id="E9"),
        pytest.param(Case(True, OURS, {}, blocked="untrusted"), "none", "blocked", id="E9-not-ours"),
        pytest.param(Case(True, {**OURS, "command": "edited"}, OURS, MINE), "none", "drifted", id="T19"),
        pytest.param(Case(True, {**OURS, "command": "e"}, OURS, MINE, adopt=True), "update", "stale", id="T19-adopt"),
        pytest.param(Case(True, {**OURS, "env": {"A": "b"}}, OURS, MINE), "none", "registered", id="A-11"),
        pytest.param(Case(True, OURS, OURS, in_sidecar=True), "adopt", "registered", id="A-18"),
        pytest.param(Case(True, {"command": "x"}, OURS, in_sidecar=True), "none", "conflict", id="U-10"),
        pytest.param(Case(True, {"command": "x"}), "none", "operator-owned", id="not-ours-not-wanted"),
        pytest.param(Case(), "none", "absent", id="nothing"),
    ],
)
def test_every_row_of_the_table(case: Case, action: str, state: str) -> None:
    decision = decide(case)
    assert (decision.action, decision.state) == (action, state)


def test_an_update_keeps_members_of_others_and_drops_ours_that_are_gone() -> None:
    owned = Owned((digests({"command": "a", "cwd": "/x"}),))
    current = {"command": "a", "cwd": "/x", "timeout": 5}
    assert decide(Case(True, current, {"command": "b"}, owned)).entry == {"timeout": 5, "command": "b"}


def test_while_a_write_is_under_way_both_versions_are_ours() -> None:
    owned = Owned((digests(OURS), digests(NEWER)))
    assert owned.matches(OURS)
    assert owned.matches(NEWER)
    assert not owned.matches({"command": "x"})
    assert not owned.matches("text")


def test_true_is_not_one() -> None:
    assert decide(Case(True, {"a": 1}, {"a": True})).state == "conflict"
