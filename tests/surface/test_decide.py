"""Who may call what: rows E and F of surface.md section 13, against the same fixture."""

from __future__ import annotations

import time

import pytest
from tests.surface.fixtures import (
    ALL,
    F,
    denied,
    granted,
    loads,
    objection,
    parsed,
    properties,
    rule,
    served,
    surface,
    tool,
    view,
)

from homeport.ground import exact
from homeport.ground.limits import Limits
from homeport.surface.decide import Denied, GrantedResource, GrantedTool, View, compile_view
from homeport.surface.verdict import Objection, Violation


def rule_of(found: View, arguments: bytes, name: str = "list_issue") -> str:
    """The identifier of the rule that refuses, or an empty string."""
    _, refused = granted(found, name).check(arguments)
    return refused.reason.rule if refused else ""


@pytest.mark.parametrize(
    ("lines", "arguments", "expected"),
    [
        pytest.param('deny = { owner = "^admin$" }', b'{"owner":"admin"}', "rule.deny", id="surface-101"),
        pytest.param('allow = { owner = "^co" }', b'{"owner":"other"}', "rule.allow", id="surface-102"),
        pytest.param('allow = { state = "^o" }', b'{"owner":"a"}', "rule.allow", id="surface-103"),
        pytest.param('allow = { state = "^o" }\noptional = ["state"]', b'{"owner":"a"}', "", id="surface-103-optional"),
        pytest.param('allow = { owner = "^ok$" }', b'{"owner":"ok\\n"}', "rule.allow", id="surface-104"),
        pytest.param(
            'deny = { tags = "^secret$" }', b'{"owner":"a","tags":["a","secret"]}', "rule.deny", id="surface-105"
        ),
        pytest.param(
            'deny = { "tags[]" = "^secret$" }', b'{"owner":"a","tags":["secret"]}', "rule.deny", id="surface-105-b"
        ),
        pytest.param(
            'allow = { tags = "^pub" }', b'{"owner":"a","tags":["pub1","priv"]}', "rule.allow", id="surface-106"
        ),
        pytest.param('allow = { tags = "^pub" }', b'{"owner":"a","tags":["pub1","pub"]}', "", id="surface-106-b"),
        pytest.param('allow = { tags = "^pub" }', b'{"owner":"a","tags":[]}', "rule.allow", id="surface-106-empty"),
        pytest.param('deny = { limit = "^100$" }', b'{"owner":"a","limit":100}', "rule.deny", id="surface-107"),
        pytest.param('deny = { limit = "^100$" }', b'{"owner":"a","limit":1e2}', "rule.deny", id="surface-107-e"),
        pytest.param('deny = { limit = "^100$" }', b'{"owner":"a","limit":100.0}', "rule.deny", id="surface-107-float"),
        pytest.param('restrict = { owner = "co-*" }', b'{"owner":"co-x/y"}', "rule.restrict", id="surface-109"),
        pytest.param('restrict = { owner = "co-*" }', b'{"owner":"co-x"}', "", id="surface-109-b"),
        pytest.param('restrict = { owner = "co-**" }', b'{"owner":"co-x/y"}', "", id="surface-109-c"),
        pytest.param('restrict = { owner = "CO-*" }', b'{"owner":"co-x"}', "rule.restrict", id="case"),
        pytest.param("pin = { limit = 5 }", b'{"owner":"a","limit":6}', "rule.pin", id="surface-119"),
        pytest.param("pin = { limit = 5 }", b'{"owner":"a","limit":5.0}', "", id="surface-119-same"),
    ],
)
def test_a_rule_decides(lines: str, arguments: bytes, expected: str) -> None:
    assert rule_of(view(rule(lines)), arguments) == expected


def test_the_integer_of_a_million_is_matched_in_plain_decimal() -> None:  # surface-107
    found = view(rule('deny = { n = "^1000000$" }', "t"), tool("t", properties(n={"type": "number"})))
    assert rule_of(found, b'{"n":1000000}', "t") == "rule.deny"
    assert rule_of(found, b'{"n":1e6}', "t") == "rule.deny"


def test_a_rule_reaches_nested_values() -> None:  # surface-108
    schema = properties(
        a=properties(b={"type": "string"}), l={"type": "array", "items": properties(b={"type": "string"})}
    )
    found = view(rule('deny = { "a.b" = "^x$", "l[].b" = "^y$" }', "t"), tool("t", schema))
    assert rule_of(found, b'{"a":{"b":"x"}}', "t") == "rule.deny"
    assert rule_of(found, b'{"a":{"b":"z"},"l":[{"b":"q"},{"b":"y"}]}', "t") == "rule.deny"
    assert rule_of(found, b'{"a":{"b":"z"},"l":[{}]}', "t") == ""


def test_a_profiles_restrict_holds_for_every_tool_that_has_the_argument() -> None:  # surface-110
    found = view('[default]\nrestrict = { owner = ["acme*"] }\n' + ALL)
    assert rule_of(found, b'{"owner":"other"}') == "rule.restrict"
    assert rule_of(found, b'{"query":"x"}', "search") == ""


def test_an_object_where_a_text_is_expected_is_refused() -> None:
    found = view(rule('deny = { x = "^a$" }', "t"), tool("t", properties(x={"type": ["string", "object"]})))
    assert rule_of(found, b'{"x":{"a":"a"}}', "t") == "rule.deny"


def test_an_absent_argument_passes_allow_where_the_schemas_default_does() -> None:
    schema = properties(env={"type": "string", "default": "staging"})
    assert rule_of(view(rule('allow = { env = "^staging$" }', "t"), tool("t", schema)), b"{}", "t") == ""
    assert rule_of(view(rule('allow = { env = "^prod$" }', "t"), tool("t", schema)), b"{}", "t") == "rule.allow"


def test_an_evil_pattern_on_a_long_value_takes_bounded_time() -> None:  # surface-112
    found = view(rule('deny = { owner = "(a+)+$" }'))
    started = time.perf_counter()
    rule_of(found, b'{"owner":"' + b"a" * 50_000 + b'b"}')
    assert time.perf_counter() - started < 5


def test_rules_for_every_tool_and_for_one_add_up() -> None:
    text = rule('deny = { owner = "^x$" }', "*").replace('can = ["*"]', 'can = ["list_issue"]')
    found = view(text + '[[default.grants.tracker.rule]]\ntool = "list_issue"\ndescribe = "Ours."\n')
    assert rule_of(found, b'{"owner":"x"}') == "rule.deny"
    assert granted(found, "list_issue").definition["description"] == "Ours."


def test_a_refusal_names_the_sentence_and_its_place() -> None:
    _, refused = granted(view(rule('deny = { owner = ["a", "^x$"] }\nmessage = "Ask Ada."')), "list_issue").check(
        b'{"owner":"x"}'
    )
    assert isinstance(refused, Objection)
    assert refused.details == {"selector": "owner", "modal": "deny", "pattern": "1"}
    assert refused.reason.file == "homeport.toml"
    assert "Ask Ada." in refused.text
    assert "(deny rule)" in refused.text


RESULT = b'{"content":[{"type":"text","text":"%s"}],"structuredContent":%s,"isError":%s}'


@pytest.mark.parametrize(
    ("selector", "result", "withheld"),
    [
        pytest.param("text", RESULT % (b"a secret here", b'{"issues":[]}', b"false"), True, id="surface-113"),
        pytest.param(
            "issues[].title",
            RESULT % (b"x", b'{"issues":[{"title":"fine"},{"title":"secret"}]}', b"false"),
            True,
            id="surface-114",
        ),
        pytest.param(
            "issues", RESULT % (b"x", b'{"issues":[{"deep":["secret"]}]}', b"false"), True, id="surface-114-below"
        ),
        pytest.param("issues[].title", RESULT % (b"the secret", b'{"issues":[]}', b"true"), True, id="surface-115"),
        pytest.param("issues[].title", RESULT % (b"the secret", b'{"issues":[]}', b"false"), False, id="other field"),
        pytest.param(
            "issues[].title",
            b'{"content":[{"type":"text","text":"{\\"issues\\":[{\\"title\\":\\"secret\\"}]}"}]}',
            True,
            id="text that is JSON",
        ),
        pytest.param(
            "text", b'{"content":[{"type":"resource","resource":{"uri":"x:y","text":"secret"}}]}', True, id="embedded"
        ),
        pytest.param("text", b'{"content":', True, id="unreadable"),
        pytest.param("text", b'{"content":[{"type":"text","text":"fine"}]}', False, id="fine"),
    ],
)
def test_post_call_withholds_a_result(selector: str, result: bytes, withheld: bool) -> None:
    schema = properties(owner={"type": "string"})
    found = view(rule(f'post_call = {{ "{selector}" = "secret" }}'), tool("list_issue", schema))
    refused = granted(found, "list_issue").check_result(result)
    assert (refused is not None and refused.reason.rule == "rule.post_call") == withheld
    assert refused is None or "secret" not in refused.text


def test_an_output_that_breaks_its_schema_is_told_and_refused_where_asked() -> None:
    bad, good = RESULT % (b"x", b'{"issues":[{"number":"7"}]}', b"false"), RESULT % (b"x", b'{"issues":[]}', b"false")
    warned = granted(view(ALL), "list_issue")
    assert warned.check_result(bad) is None
    assert not warned.inspects_results
    mismatch = warned.output_mismatch(bad)
    assert mismatch is not None
    assert (mismatch.path, mismatch.reason.rule) == ("issues[0].number", "output.type")
    refusing = granted(view(rule('on_output_mismatch = "refuse"')), "list_issue")
    assert refusing.check_result(bad) is not None
    assert refusing.check_result(good) is None
    assert refusing.check_result(b'{"content":[],"isError":true}') is None
    assert refusing.check_result(b'{"content":[]}') is not None


# F. Served surface


def test_one_granted_one_denied_one_unnamed_serve_exactly_one() -> None:  # surface-120, 6.1
    found = view('[default.grants.tracker]\ncan = ["list_issue"]\nnever = ["delete_repository"]')
    assert [tool.name for tool in found.tools("tracker")] == ["list_issue"]
    entry = found.tools("tracker")[0]
    assert entry.definition == F[0]
    assert entry.command == "list-issue"
    assert entry.served == "tracker__list_issue"


def test_denied_unnamed_quarantined_and_invented_are_told_apart_only_to_the_operator() -> None:  # surface-121
    found = view('[default.grants.tracker]\ncan = ["list_issue"]\nnever = ["delete_repository"]', *F, {"name": "bad"})
    names = ("delete_repository", "search", "bad", "invented")
    entries = [denied(found, name) for name in names]
    assert [entry.reason.rule for entry in entries] == [
        "grant.never",
        "grant.absent",
        "tool.quarantined",
        "tool.unknown",
    ]
    assert entries[1].reason.remedy == "homeport grant tracker search --profile default"
    assert [denied(found, f"tracker__{name}", "").reason for name in names] == [entry.reason for entry in entries]
    assert denied(found, "search", "other").reason.rule == "grant.absent"


def test_a_served_definition_is_the_locked_one_byte_for_byte() -> None:  # surface-122, surface-126
    assert granted(view(ALL), "list_issue").definition_bytes == exact.dumps(F[0]).encode()


def test_describe_changes_the_description_only() -> None:  # surface-124
    definition = granted(view(rule('describe = "Ours."')), "list_issue").definition
    assert definition == {**dict(F[0]), "description": "Ours."}


def test_destructive_marks_the_annotations() -> None:  # surface-125
    found = granted(view(rule("destructive = true")), "list_issue")
    assert served(found)["annotations"] == {"readOnlyHint": False, "destructiveHint": True}
    assert not found.read_only
    assert granted(view(ALL), "list_issue").read_only


def test_a_pinned_argument_is_not_served_and_is_sent() -> None:
    found = granted(view(rule('pin = { owner = "acme" }')), "list_issue")
    schema = served(found)["inputSchema"]
    assert "owner" not in schema["properties"]
    assert schema["required"] == []
    sent, refused = found.check(b"{}")
    assert (sent, refused) == (b'{"owner":"acme"}', None)
    assert "owner" not in objection(found, b'{"x":1}').text


def test_a_pin_inside_an_object_is_filled_in_and_hidden() -> None:
    schema = properties(a={**properties(b={"type": "string"}, c={"type": "string"}), "required": ["b"]})
    found = granted(view(rule('pin = { "a.b" = "x" }', "t"), tool("t", schema)), "t")
    assert found.check(b'{"a":{"c":"y"}}')[0] == b'{"a":{"c":"y","b":"x"}}'
    assert served(found)["inputSchema"]["properties"]["a"]["required"] == []
    assert found.check(b'{"a":5}')[1] is not None


@pytest.mark.parametrize(
    ("arguments", "rule_id", "path"),
    [
        pytest.param(b'{"owner":"a","ownr":1}', "schema.unknown", "ownr", id="surface-127"),
        pytest.param(b'{"owner":5}', "schema.type", "owner", id="surface-128"),
        pytest.param(b"{}", "schema.required", "owner", id="surface-129"),
        pytest.param(b"", "schema.required", "owner", id="surface-130"),
        pytest.param(b'{"owner":"a","state":"merged"}', "schema.enum", "state", id="surface-73"),
        pytest.param(b'{"owner":"a","limit":0}', "schema.minimum", "limit", id="surface-74"),
        pytest.param(b'{"owner":"a","tags":["a",1]}', "schema.type", "tags[1]", id="items"),
        pytest.param(b"[]", "schema.type", "", id="a list"),
        pytest.param(b"null", "schema.type", "", id="null"),
        pytest.param(b"{", "schema.json", "", id="broken"),
        pytest.param(b'{"owner":NaN}', "schema.json", "", id="surface-98"),
        pytest.param(b'{"owner":"\\ud800"}', "schema.json", "", id="surrogate"),
        pytest.param(b'{"owner":' + b"[" * 10_000 + b"]" * 10_000 + b"}", "schema.json", "", id="depth"),
        pytest.param(b'{"limit":' + b"9" * 10_000 + b"}", "schema.json", "", id="digits"),
        pytest.param(b'{"limit":1e99999999999}', "schema.json", "", id="exponent"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_with_their_path(arguments: bytes, rule_id: str, path: str) -> None:
    _, refused = granted(view(ALL), "list_issue").check(arguments)
    assert isinstance(refused, Violation)
    assert (refused.reason.rule, refused.path) == (rule_id, path)


def test_an_unknown_argument_is_answered_with_the_accepted_names() -> None:  # surface-127
    _, refused = granted(view(ALL), "list_issue").check(b'{"owner":"a","ownr":1}')
    assert refused is not None
    assert "accepted: limit, owner, state, tags" in refused.text
    assert "did you mean owner?" in refused.text


def test_every_missing_argument_is_named_at_once() -> None:  # surface-72
    schema = {**properties(a={"type": "string"}, b={"type": "string"}), "required": ["a", "b"]}
    _, refused = granted(view(ALL, tool("t", schema)), "t").check(b"{}")
    assert refused is not None
    assert refused.text == "missing: a, b"


def test_an_open_schema_stays_open_and_a_silent_one_is_closed() -> None:
    opened = tool("opened", {**properties(a={}), "additionalProperties": {"type": "string"}})
    free = tool("free", {"type": "object"})
    patterned = tool("patterned", {**properties(a={}), "patternProperties": {"^x-": {}}})
    found = view(ALL, opened, free, patterned)
    assert granted(found, "opened").check(b'{"b":"c"}')[1] is None
    assert granted(found, "opened").check(b'{"b":5}')[1] is not None
    assert granted(found, "free").check(b'{"b":"c"}')[1] is None
    assert granted(found, "patterned").check(b'{"x-a":"c"}')[1] is None
    assert granted(found, "patterned").check(b'{"y":"c"}')[1] is not None


def test_a_member_given_twice_reaches_the_server_once_as_it_was_judged() -> None:
    found = granted(view(rule('allow = { owner = "^ok$" }')), "list_issue")
    assert found.check(b'{"owner":"evil","owner":"ok"}') == (b'{"owner":"ok"}', None)


def test_numbers_reach_the_server_exactly() -> None:
    schema = properties(i={"type": "integer"}, n={"type": "number"})
    sent, refused = granted(view(ALL, tool("t", schema)), "t").check(
        b'{"i":9007199254740993,"n":0.1000000000000000055}'
    )
    assert refused is None
    assert sent == b'{"i":9007199254740993,"n":0.1000000000000000055}'


def test_arguments_above_the_limit_are_refused() -> None:  # surface-100
    profiles, _ = parsed(ALL)
    found = compile_view(profiles["default"], {"tracker": surface()}, limits=Limits(arguments=100))
    _, refused = granted(found, "list_issue").check(b'{"owner":"' + b"a" * 100 + b'"}')
    assert refused is not None
    assert refused.reason.rule == "schema.size"


def test_two_views_are_the_same_and_sorted_by_name() -> None:  # surface-132, surface-133
    first, second = view(ALL), view(ALL, *reversed(F))
    assert [tool.definition_bytes for tool in first.tools()] == [tool.definition_bytes for tool in second.tools()]
    assert [tool.name for tool in first.tools()] == ["delete_repository", "list_issue", "search"]


def test_a_tool_for_pages_only_is_not_the_models() -> None:
    hidden = tool("refresh", properties(), _meta={"ui": {"visibility": ["app"]}})
    found = view(ALL, hidden)
    assert denied(found, "refresh").reason.rule == "tool.pages_only"
    assert isinstance(found.tool("refresh", "tracker", page=True), GrantedTool)
    assert [entry.for_model for entry in found.tools("tracker")] == [False]
    models = view(ALL, tool("plain", properties(), _meta={"ui": {"visibility": ["model"]}}))
    refused = models.tool("plain", "tracker", page=True)
    assert isinstance(refused, Denied)
    assert refused.reason.rule == "tool.model_only"


def test_a_granted_tools_page_may_be_read_and_other_resources_by_pattern() -> None:
    found = view('[default.grants.tracker]\ncan = ["list_issue"]\nresources = ["repo://acme/*"]')
    assert isinstance(found.resource("ui://tracker/issues.html", "tracker"), GrantedResource)
    aggregated = found.resource("ui://tracker.homeport/tracker/issues.html")
    assert isinstance(aggregated, GrantedResource)
    assert aggregated.uri == "ui://tracker/issues.html"
    assert isinstance(found.resource("repo://acme/x"), GrantedResource)
    for uri in ("repo://acme/x/y", "repo://acme/..", "repo://acme/%2e%2e", "repo://acme/..%2fother", "repo://other/x"):
        assert isinstance(found.resource(uri), Denied), uri


def test_a_page_of_a_tool_that_is_not_granted_is_not_readable() -> None:
    found = view('[default.grants.tracker]\ncan = ["search"]')
    assert isinstance(found.resource("ui://tracker/issues.html"), Denied)


def test_a_server_that_is_not_locked_grants_nothing_and_is_told() -> None:
    profiles, _ = parsed('[default.grants.other]\ncan = ["*"]\nnever = ["x"]')
    found = compile_view(profiles["default"], {})
    assert [problem.code for problem in found.warnings] == ["policy.not_locked"]
    assert found.problems == ()
    assert found.tools() == ()
    assert found.servers == ("other",)


def test_headers_of_annotated_arguments_are_told() -> None:
    schema = loads(
        '{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"n":{"type":"integer","x-mcp-header":"N"}}}'
    )
    found = granted(view(ALL, tool("t", schema)), "t")
    assert found.headers('{"region":"Hello, 世界"}'.encode()) == (
        ("Mcp-Param-Region", "=?base64?SGVsbG8sIOS4lueVjA==?="),
    )
    assert found.headers(b'{"region":"us-west1","n":42}') == (("Mcp-Param-Region", "us-west1"), ("Mcp-Param-N", "42"))
