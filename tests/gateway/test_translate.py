"""Across the eras: required members are added, unknown ones stay, what cannot be said is refused by name."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from homeport.calls.operation import Delivered, Kind, Operation, Refusal, RefusalKind, UpstreamError
from homeport.calls.ports import Client
from homeport.gateway import translate
from homeport.gateway.answers import REFUSAL_META, answer
from homeport.gateway.callers import ModernCaller, loud_enough
from homeport.ground.reason import Reason
from homeport.upstreams.session import Era

LEGACY, MODERN = Era.LEGACY, Era.MODERN
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
RESULTS = st.dictionaries(st.text().filter(lambda name: name not in {"resultType", "ttlMs"}), VALUES, max_size=5)


@given(result=RESULTS, era=st.sampled_from(Era), kind=st.sampled_from(Kind), blanks=st.sampled_from(["", " ", "\n "]))
def test_within_one_era_not_a_byte_is_touched(result: dict[str, Any], era: Era, kind: Kind, blanks: str) -> None:
    raw = (blanks + json.dumps(result)).encode()
    assert translate.result(raw, kind, source=era, to=era) is raw


@given(result=RESULTS, kind=st.sampled_from(Kind), blanks=st.sampled_from(["", " ", "\n "]))
def test_a_legacy_result_gains_what_the_modern_era_requires_and_loses_nothing(
    result: dict[str, Any], kind: Kind, blanks: str
) -> None:
    raw = ("{" + blanks + json.dumps(result)[1:]).encode()
    translated = json.loads(translate.result(raw, kind, source=LEGACY, to=MODERN))
    added = {"resultType": "complete"} | ({"ttlMs": 0, "cacheScope": "private"} if kind is Kind.RESOURCE else {})
    assert translated == {**added, **result}


@given(result=RESULTS)
def test_a_complete_modern_result_reaches_a_legacy_client_as_it_is(result: dict[str, Any]) -> None:
    raw = json.dumps({**result, "resultType": "complete"}).encode()
    assert translate.result(raw, Kind.TOOL, source=MODERN, to=LEGACY) is raw


@pytest.mark.parametrize(
    ("kind", "code"), [("input_required", "era.input_required"), ("task", "era.result_type"), (7, "era.result_type")]
)
def test_a_result_that_a_legacy_client_cannot_read_is_refused_by_name(kind: object, code: str) -> None:
    with pytest.raises(translate.Untranslatable) as caught:
        translate.result(json.dumps({"resultType": kind}).encode(), Kind.TOOL, source=MODERN, to=LEGACY)
    assert caught.value.code == code


@pytest.mark.parametrize("raw", [b"[]", b"7", b"", b"{"])
def test_what_is_no_result_is_named(raw: bytes) -> None:
    with pytest.raises(translate.Untranslatable) as caught:
        translate.result(raw, Kind.TOOL, source=LEGACY, to=MODERN)
    assert caught.value.code == "upstream.result"


def test_codes_of_the_legacy_era_alone_are_replaced() -> None:
    missing = b'{"code":-32002,"message":"gone","data":{"uri":"a","n":1.50}}'
    assert translate.error(missing, to=LEGACY) is missing
    assert translate.error(missing, to=MODERN) == b'{"code":-32602,"message":"gone","data":{"uri":"a","n":1.50}}'
    url = json.loads(translate.error(b'{"code":-32042,"message":"open it"}', to=MODERN))
    assert url["code"] == -32603
    assert url["data"] == {"code": "era.url_elicitation"}
    other = b'{"code":-31999,"message":"x","extra":true}'
    assert translate.error(other, to=MODERN) is other


def operation(kind: Kind = Kind.TOOL, era: Era = MODERN, name: str = "echo") -> Operation:
    caller = ModernCaller(Client("http", era), lambda _: None, "")
    return Operation(kind, "default", name, {}, caller)


def refused(kind: RefusalKind, op: Operation) -> dict[str, Any]:
    given = answer(op, Refusal(kind, "because", Reason("rule", "secret reason"), {"path": "a.b"}))
    body = json.loads(given.result or given.error or b"")
    assert "secret reason" not in json.dumps(body)
    return body


def test_an_unknown_tool_is_the_protocol_error_for_it() -> None:
    assert refused(RefusalKind.UNKNOWN, operation()) == {"code": -32602, "message": "because"}


@pytest.mark.parametrize("kind", [kind for kind in RefusalKind if kind is not RefusalKind.UNKNOWN])
def test_every_other_refusal_of_a_tool_is_a_result_that_a_model_reads(kind: RefusalKind) -> None:
    body = refused(kind, operation())
    assert body["isError"] is True
    assert body["content"] == [{"type": "text", "text": "because"}]
    assert body["resultType"] == "complete"
    assert body["_meta"] == {REFUSAL_META: {"kind": kind.value, "path": "a.b"}}
    assert "resultType" not in refused(kind, operation(era=LEGACY))


def test_prompts_and_resources_are_refused_by_errors() -> None:
    assert refused(RefusalKind.UNKNOWN, operation(Kind.PROMPT)) == {"code": -32602, "message": "because"}
    assert refused(RefusalKind.UNKNOWN, operation(Kind.RESOURCE))["code"] == -32602
    assert refused(RefusalKind.UNKNOWN, operation(Kind.RESOURCE, LEGACY, "memo://x")) == {
        "code": -32002,
        "message": "because",
        "data": {"uri": "memo://x"},
    }
    assert refused(RefusalKind.INVALID_ARGUMENTS, operation(Kind.PROMPT))["code"] == -32602
    assert refused(RefusalKind.UPSTREAM, operation(Kind.PROMPT))["code"] == -32603


def test_results_and_errors_of_the_server_travel_as_they_are() -> None:
    raw = b'{ "content":[], "resultType" : "complete", "n": 1.0 }'
    assert answer(operation(), Delivered(raw, MODERN)).result is raw
    assert answer(operation(), UpstreamError(b'{"code":-1,"message":"x"}')).error == b'{"code":-1,"message":"x"}'
    crossed = answer(operation(era=LEGACY), Delivered(b'{"resultType":"task"}', MODERN))
    assert json.loads(crossed.error or b"")["data"] == {"code": "era.result_type"}


@pytest.mark.parametrize(
    ("said", "level", "heard"),
    [
        ("error", "info", True),
        ("info", "info", True),
        ("debug", "info", False),
        ("odd", "info", True),
        ("error", "", False),
    ],
)
def test_log_messages_are_filtered_by_the_level_asked_for(said: str, level: str, heard: bool) -> None:
    assert loud_enough(json.dumps({"level": said, "data": 1}).encode(), level) is heard
