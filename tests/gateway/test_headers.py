"""Header fields and body agree, or the request is refused (2026-07-28, streamable-http)."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from homeport.gateway.faults import Fault
from homeport.gateway.headers import Headers, check_params, check_routing, decoded
from homeport.surface.headers import encoded

VERSION = "2026-07-28"


def fields(**values: str) -> Headers:
    names = {"version": "mcp-protocol-version", "method": "mcp-method", "name": "mcp-name"}
    return Headers((names.get(name, name).encode(), value.encode("latin-1")) for name, value in values.items())


def routed(headers: Headers, method: str = "tools/call", **params: object) -> None:
    check_routing(headers, VERSION, method, {name: Raw(json.dumps(value).encode()) for name, value in params.items()})


def test_fields_that_say_what_the_body_says_are_accepted() -> None:
    routed(fields(version=VERSION, method="tools/call", name="echo"), name="echo")
    routed(fields(version=VERSION, method="tools/list"), "tools/list")
    routed(fields(version=VERSION, method="resources/read", name="file:///a"), "resources/read", uri="file:///a")


def test_blanks_that_a_parser_left_around_a_value_do_not_count() -> None:
    routed(fields(version=f" {VERSION}\t", method="tools/call ", name="\techo  "), name="echo")


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param(fields(method="tools/call", name="echo"), id="no version"),
        pytest.param(fields(version="2025-11-25", method="tools/call", name="echo"), id="another version"),
        pytest.param(fields(version=VERSION, name="echo"), id="no method"),
        pytest.param(fields(version=VERSION, method="tools/list", name="echo"), id="another method"),
        pytest.param(fields(version=VERSION, method="TOOLS/CALL", name="echo"), id="another case"),
        pytest.param(fields(version=VERSION, method="tools/call"), id="no name"),
        pytest.param(fields(version=VERSION, method="tools/call", name="other"), id="another name"),
        pytest.param(fields(version=VERSION, method="tools/call", name="=?base64?!!?="), id="broken base64"),
        pytest.param(fields(version=VERSION, method="tools/call", name="=?base64?b3RoZXI=?="), id="another, encoded"),
    ],
)
def test_a_field_that_is_missing_or_says_otherwise_is_a_mismatch(headers: Headers) -> None:
    with pytest.raises(Fault) as caught:
        routed(headers, name="echo")
    assert caught.value.code == "rpc.header_mismatch"


@given(name=st.text(min_size=1, max_size=40).filter(lambda name: name.encode("utf-8", "ignore").decode() == name))
def test_any_name_survives_its_encoding(name: str) -> None:
    assert decoded(encoded(name).encode("latin-1")) == name
    wrapped = f"=?base64?{base64.b64encode(name.encode()).decode()}?="
    routed(fields(version=VERSION, method="tools/call", name=wrapped), name=name)


@given(value=st.binary(max_size=60))
def test_any_field_is_text_or_nothing(value: bytes) -> None:
    assert decoded(value) is None or isinstance(decoded(value), str)


@pytest.mark.parametrize("name", ["mcp-method", "mcp-name", "authorization", "mcp-session-id", "mcp-param-region"])
def test_a_routing_field_that_stands_twice_is_seen(name: str) -> None:
    twice = Headers([(name.encode(), b"a"), (b"accept", b"x"), (b"accept", b"y"), (name.encode(), b"a")])
    assert twice.ambiguous() == name.encode()
    assert Headers([(b"accept", b"x"), (b"accept", b"y")]).ambiguous() is None


PATHS = (("Mcp-Param-Region", ("region",)), ("Mcp-Param-Size", ("box", "size")), ("Mcp-Param-Dry", ("dry",)))


@pytest.mark.parametrize(
    ("headers", "arguments", "good"),
    [
        pytest.param({"mcp-param-region": "us-west1"}, {"region": "us-west1"}, True, id="same"),
        pytest.param({"mcp-param-region": "=?base64?w6k=?="}, {"region": "é"}, True, id="encoded"),
        pytest.param({}, {}, True, id="neither"),
        pytest.param({}, {"region": None}, True, id="null counts as absent"),
        pytest.param({"mcp-param-size": "42.0"}, {"box": {"size": 42}}, True, id="numbers by value"),
        pytest.param({"mcp-param-dry": "true"}, {"dry": True}, True, id="boolean"),
        pytest.param({"mcp-param-other": "x"}, {}, True, id="an unknown one is nobody's"),
        pytest.param({}, {"region": "us-west1"}, False, id="missing"),
        pytest.param({"mcp-param-region": "us-west1"}, {}, False, id="claimed"),
        pytest.param({"mcp-param-region": "us-west1"}, {"region": "eu"}, False, id="different"),
        pytest.param({"mcp-param-size": "42"}, {"box": {"size": "42 "}}, False, id="text is not trimmed"),
        pytest.param({"mcp-param-size": "nan"}, {"box": {"size": 42}}, False, id="no number"),
        pytest.param({"mcp-param-dry": "True"}, {"dry": True}, False, id="boolean spelled otherwise"),
        pytest.param({"mcp-param-region": "x"}, {"region": ["x"]}, False, id="no scalar"),
    ],
)
def test_mirrored_arguments_must_agree(headers: dict[str, str], arguments: dict[str, object], good: bool) -> None:
    def check() -> None:
        check_params(fields(**headers), PATHS, Raw(json.dumps(arguments).encode()))

    if good:
        check()
        return
    with pytest.raises(Fault) as caught:
        check()
    assert caught.value.code == "rpc.header_mismatch"


@pytest.mark.parametrize(
    ("accept", "good"),
    [
        ("application/json, text/event-stream", True),
        ("text/event-stream;q=0.9, application/json; charset=utf-8", True),
        ("*/*", True),
        ("application/*, text/*", True),
        ("application/json", False),
        ("text/html", False),
    ],
)
def test_both_kinds_of_answer_must_be_accepted(accept: str, good: bool) -> None:
    assert fields(accept=accept).accepts(b"application/json", b"text/event-stream") is good


def test_without_accept_nothing_is() -> None:
    assert not Headers([]).accepts(b"application/json")
