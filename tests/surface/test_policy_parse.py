"""The grammar of profiles: rows A of surface.md section 13, and what else is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.surface.fixtures import ALL, codes, granted, objection, parsed, rule, view

from homeport.ground.errors import Place
from homeport.surface.policy_parse import parse_profiles

GRANT = "[default.grants.tracker]\n"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        pytest.param(GRANT + "cann = []", "policy.unknown_key", id="surface-7"),
        pytest.param(GRANT + 'can = ["x", "x"]', "policy.duplicate", id="surface-8"),
        pytest.param(GRANT + 'can = ["x"]\nnever = ["x"]', "policy.contradiction", id="surface-9"),
        pytest.param(GRANT + 'can = ["*"]\nnever = ["*"]', "policy.never_all", id="surface-12"),
        pytest.param(rule('deny = { owner = "^(" }'), "policy.pattern", id="surface-13"),
        pytest.param(rule("deny = { owner = 5 }"), "policy.type", id="surface-14"),
        pytest.param(
            GRANT + 'can = ["*"]\nnever = ["x"]\n[[default.grants.tracker.rule]]\ntool = "x"\ndeny = { a = "b" }',
            "policy.rule_for_never",
            id="surface-15",
        ),
        pytest.param(
            GRANT + 'can = ["*"]\nnever = ["x"]\n[[default.grants.tracker.rule]]\ntool = "x"\nmessage = "no"',
            "policy.rule_for_never",
            id="surface-16",
        ),
        pytest.param(rule('destructive = "yes"'), "policy.type", id="surface-17"),
        pytest.param("[default]\ngrnts = {}", "policy.unknown_key", id="surface-22"),
    ],
)
def test_a_row_of_section_13_a_is_refused(text: str, code: str) -> None:
    assert codes(text) == [code]


def test_a_misspelt_key_gets_a_suggestion_and_its_place() -> None:
    _, problems = parsed(GRANT + 'cann = ["x"]')
    assert problems[0].remedy == "write `can`"
    assert problems[0].place.path == "profiles.default.grants.tracker.cann"


def test_all_problems_are_told_at_once() -> None:
    text = '[default]\napproval = "ful"\n' + rule(
        'deny = { owner = "(" }\nallow = { "a..b" = "x" }\nlimits = { concurrent = 0 }'
    )
    assert sorted(codes(text)) == ["policy.pattern", "policy.selector", "policy.type", "policy.value"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("[Default]\n", "policy.name"),
        ("[default.grants.mcp]\ncan = []", "policy.name"),
        ("[default]\nrequire_token = 1", "policy.type"),
        ('[default]\nasks = ["phone"]', "policy.value"),
        ('[default.grants.tracker]\nmay_ask = ["everything"]', "policy.value"),
        ('[default.grants.tracker]\nresources = ["repo://["]', "policy.pattern"),
        ('[default.grants.tracker]\ncan = [""]', "policy.type"),
        ('[default.grants.tracker]\ncan = "x"', "policy.type"),
        (rule('name = "Not A Command"'), "policy.name"),
        (rule('name = "x"', "*"), "policy.value"),
        (rule('deny = { owner = "" }'), "policy.pattern"),
        (rule("deny = { owner = [] }"), "policy.type"),
        (rule('pin = { "a[]" = 1 }'), "policy.selector"),
        (rule("pin = { a = 2026-01-01 }"), "policy.type"),
        (rule("pin = { a = nan }"), "policy.type"),
        (rule('fail_when = "x"'), "policy.not_yet"),
        (rule('optional = ["owner.name"]'), "policy.optional"),
        (rule('on_output_mismatch = "maybe"'), "policy.value"),
        (GRANT + 'can = ["a"]\n[[default.grants.tracker.rule]]\ntool = "b"', "policy.rule_without_grant"),
        (GRANT + 'can = ["*"]\n[[default.grants.tracker.rule]]\ndescribe = "b"', "policy.missing"),
        (rule("") + '[[default.grants.tracker.rule]]\ntool = "list_issue"', "policy.duplicate"),
    ],
)
def test_what_cannot_be_meant_is_a_problem(text: str, code: str) -> None:
    assert code in codes(text)


def test_the_example_of_the_design_is_read() -> None:
    profiles, problems = parsed(
        """
[default]
approval = "full"
asks = ["console", "terminal"]
limits = { calls_per_minute = 600, concurrent = 16 }
restrict = { owner = ["acme*"] }
[default.grants.tracker]
can = ["list_issue", "search"]
never = ["delete_repository"]
prompts = ["*"]
resources = ["repo://acme/*"]
may_ask = ["elicitation"]
[[default.grants.tracker.rule]]
tool = "list_issue"
allow = { owner = "^acme$" }
optional = ["owner"]
pin = { limit = 5, ratio = 0.5, "a.b" = ["x"] }
"""
    )
    assert problems == []
    profile = profiles["default"]
    assert profile.limits.calls_per_minute == 600
    assert profile.restrict[0].patterns == ("acme*",)
    grant = profile.grants["tracker"]
    assert grant.can == ("list_issue", "search")
    assert grant.rules[0].optional == ("owner",)
    assert str(grant.rules[0].pin["ratio"]) == "0.5"


KEYS = st.text(max_size=5) | st.sampled_from(
    ["grants", "can", "never", "rule", "tool", "deny", "allow", "pin", "restrict", "limits", "approval", "tracker"]
)
TOML_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=15,
)


@given(st.dictionaries(KEYS, TOML_VALUES, max_size=3))
def test_any_table_is_profiles_or_problems_never_a_crash(raw: dict[str, object]) -> None:
    profiles, problems = parse_profiles(raw, place_of=lambda _: Place("homeport.toml"))
    assert set(profiles) <= set(raw)
    assert all(problem.code.startswith("policy.") for problem in problems)


def test_a_wildcard_with_never_grants_all_but_that_one() -> None:  # surface-10
    found = view('[default.grants.tracker]\ncan = ["*"]\nnever = ["delete_repository"]')
    assert [tool.name for tool in found.tools("tracker")] == ["list_issue", "search"]


def test_a_misspelt_never_closes_the_wildcard_and_says_what_was_meant() -> None:  # surface-11
    found = view('[default.grants.tracker]\ncan = ["*", "search"]\nnever = ["delete_repositry"]')
    assert [tool.name for tool in found.tools("tracker")] == ["search"]
    assert found.problems[0].code == "policy.unknown_tool"
    assert found.problems[0].remedy == "write `delete_repository`"


def test_a_selector_that_is_no_argument_is_told_with_the_real_names() -> None:  # surface-18
    found = view(rule('deny = { sate = "x" }'))
    assert found.problems[0].code == "policy.selector"
    assert found.problems[0].remedy == "write `state`"
    assert "list_issue" not in [tool.name for tool in found.tools("tracker")]


def test_a_restrict_on_an_argument_nobody_has_closes_the_profile() -> None:  # surface-19
    found = view('[default]\nrestrict = { ownr = "a*" }\n' + ALL)
    assert found.problems[0].code == "policy.restrict_nothing"
    assert found.problems[0].remedy == "write `owner`"
    assert found.tools() == ()


def test_a_rule_for_every_tool_names_each_that_lacks_the_argument() -> None:  # surface-20
    found = view(rule('deny = { owner = "x" }', "*"))
    assert sorted(problem.message.rpartition(" ")[2] for problem in found.problems) == ["delete_repository", "search"]
    assert [tool.name for tool in found.tools("tracker")] == ["list_issue"]


@pytest.mark.parametrize("can", ['["list_issue", "*"]', '["*", "list_issue"]'])
def test_a_tool_named_before_or_after_the_wildcard_is_guarded_alike(can: str) -> None:  # surface-21
    text = f'[default.grants.tracker]\ncan = {can}\n[[default.grants.tracker.rule]]\ntool = "list_issue"\n'
    found = granted(view(text + 'deny = { owner = "^admin$" }'), "list_issue")
    assert objection(found, b'{"owner": "admin"}').reason.rule == "rule.deny"
