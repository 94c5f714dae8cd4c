from __future__ import annotations

from typing import Any

import pytest
from tests.declarations.described import declared, on_linux, row

from homeport.declarations.availability import availability
from homeport.declarations.model import Availability, Declaration
from homeport.declarations.parse import parse_declaration
from homeport.declarations.skills import SkillAnswer, front_matter, plan_links, skill_answer

HERE = on_linux(
    "/here", "/opt/v-2.1/v", files={"/sys/class/drm/card0/device/vendor": "0x10de\n"}, directories=["/sys/class/drm"]
)
DECLARATIONS = {
    "thing": declared("linux", "/here"),
    "gone": declared("linux", "/gone"),
    "lax": declared("linux", "/gone", {}),
    "gpu": parse_declaration("gpu", raw_requires={"gpu": "nvidia"}),
    "old-gpu": parse_declaration("old-gpu", raw_requires={"gpu": "amd"}),
    "versioned": declared("linux", "/opt/v-*/v", {"app": True}, version={"kind": "path"}),
}


def answer(requires_apps: Any) -> SkillAnswer:
    return skill_answer(requires_apps, DECLARATIONS, lambda declaration: availability(declaration, HERE))


NEEDS = [
    pytest.param(None, True, "", id="S-01"),
    pytest.param([], True, "", id="S-01-list"),
    pytest.param("", True, "", id="S-01-text"),
    pytest.param(["unknown"], False, "No server here declares 'unknown'.", id="S-02"),
    pytest.param("thing", True, "", id="S-03"),
    pytest.param([" thing "], True, "", id="S-04"),
    pytest.param(["Thing"], True, "", id="S-05"),
    pytest.param(["thing", "gone"], False, "is not installed", id="S-06"),
    pytest.param([{"any": ["gone", "thing"]}], True, "", id="S-06-any"),
    pytest.param([{"any": ["gone", "unknown"]}], False, "No server here declares 'unknown'.", id="S-06-none"),
    pytest.param(["gpu"], True, "", id="S-07"),
    pytest.param(["old-gpu"], False, "needs an AMD GPU", id="S-07-other"),
    pytest.param(["lax"], False, "is not installed", id="S-08"),
    pytest.param([{"app": "versioned", "min_version": "2"}], True, "", id="minimum"),
    pytest.param([{"app": "versioned", "min_version": "3"}], False, "is too old", id="minimum-missed"),
    pytest.param([{"app": "versioned", "min_version": "x"}], False, "must be a text like '4.2'", id="no-minimum"),
    pytest.param([{"any": []}], False, "must hold names", id="empty-choice"),
    pytest.param([{"any": [{"any": ["thing"]}]}], False, "choice of applications is empty", id="nested-choice"),
    pytest.param([["thing"]], False, "must hold names", id="list-in-list"),
    pytest.param(["thing"] * 101, False, "more than 100", id="too-many"),
]


@pytest.mark.parametrize(("requires_apps", "offered", "reason"), NEEDS)
def test_a_skill_is_offered_when_all_it_names_is_here(requires_apps: Any, offered: bool, reason: str) -> None:
    found = answer(requires_apps)
    assert found.offered is offered
    assert reason in " ".join(found.reasons)
    assert bool(found.reasons) is not offered


@row("S-09")
def test_an_explicit_load_of_a_hidden_skill_has_a_warning() -> None:
    assert answer(["thing"]).warning == ""
    assert answer(["gone"]).warning.startswith("This skill may not work here: thing is not installed")


def test_many_skills_can_share_one_evaluation() -> None:
    asked: list[str] = []

    def remembering(declaration: Declaration) -> Availability:
        asked.append(declaration.name)
        return Availability("available")

    skill_answer(["thing", "gone"], DECLARATIONS, remembering)
    assert asked == ["thing", "thing"]


FRONT = [
    ("---\nname: x\nrequires_apps: [thing]\n---\nbody", {"name": "x", "requires_apps": ["thing"]}),
    ("\ufeff---\r\nrequires_apps: thing\r\n---\r\n", {"requires_apps": "thing"}),
    ("no front matter", {}),
    ("---\n---\n", {}),
    ("---\n- a list\n---\n", {}),
    ("---\na: [1\n---\n", {}),
    ("---\nnever: closed\n", {}),
    ("---\na: " + "[" * 5000 + "\n---\n", {}),
]


@pytest.mark.parametrize(("text", "expected"), FRONT)
def test_the_front_matter_of_a_skill_is_read(text: str, expected: dict[str, Any]) -> None:
    assert dict(front_matter(text)) == expected


def test_links_are_made_for_offered_skills_and_only_our_own_are_removed() -> None:
    present = {"mine-stale": True, "mine-changed": False, "theirs": False, "mine-good": True}
    plan = plan_links(
        ["new", "theirs", "mine-good", "mine-changed"], present, ["mine-stale", "mine-changed", "mine-good"]
    )
    assert plan.create == ("new",)
    assert plan.remove == ("mine-stale",)
    assert plan.blocked == ("mine-changed", "theirs")
