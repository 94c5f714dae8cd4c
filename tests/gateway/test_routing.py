"""Pages keep their server in an aggregate; nothing else is edited."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from homeport.gateway.routing import aggregate_definition, aggregate_page, aggregate_result, split_page

SERVERS = st.from_regex(r"[a-z][a-z0-9-]{0,39}", fullmatch=True)


@given(server=SERVERS, rest=st.text(max_size=40))
def test_a_page_of_an_aggregate_leads_back_to_its_server(server: str, rest: str) -> None:
    uri = "ui://" + rest
    assert split_page(aggregate_page(server, uri), {server}) == (server, uri)


@given(uri=st.text(max_size=40).filter(lambda uri: not uri.startswith("ui://")))
def test_other_addresses_are_left_alone(uri: str) -> None:
    assert aggregate_page("a", uri) == uri
    assert split_page(uri, {"a"}) is None


def test_two_servers_with_one_address_are_told_apart() -> None:
    assert aggregate_page("a", "ui://x/app.html") != aggregate_page("b", "ui://x/app.html")
    assert split_page("ui://a.homeport/x/app.html", {"b"}) is None


def test_a_definition_is_edited_in_its_name_and_its_page_only() -> None:
    definition: dict[str, Any] = {
        "title": "T",
        "name": "show",
        "_meta": {"k": 1, "ui": {"resourceUri": "ui://x", "visibility": []}},
    }
    edited = aggregate_definition(definition, "srv", "srv__show")
    assert list(edited) == ["title", "name", "_meta"]
    assert edited["name"] == "srv__show"
    assert edited["_meta"] == {"k": 1, "ui": {"resourceUri": "ui://srv.homeport/x", "visibility": []}}
    assert definition["_meta"] == {"k": 1, "ui": {"resourceUri": "ui://x", "visibility": []}}


@pytest.mark.parametrize(
    "raw",
    [
        b'{"content":[{"type":"text","text":"ui://x is a page"}],"n":1.0}',
        b'{ "content" : [] }',
        b'{"structuredContent":{"uri":"ui://x"}}',
        b'"ui://x"',
        b'{"a":1,"a":"ui:"}',
    ],
)
def test_a_result_without_a_page_is_the_same_bytes(raw: bytes) -> None:
    assert aggregate_result(raw, "srv") is raw


def test_every_place_of_a_page_in_a_result_is_edited_and_numbers_stay() -> None:
    raw = json.dumps(
        {
            "content": [
                {"type": "resource_link", "uri": "ui://x", "name": "n"},
                {"type": "resource", "resource": {"uri": "ui://x", "text": "ui://x"}},
                {"type": "text", "text": "ui://x"},
            ],
            "contents": [{"uri": "ui://x", "text": "t"}, {"uri": "memo://y"}],
            "_meta": {"ui/resourceUri": "ui://x", "ui": {"resourceUri": "ui://x"}},
        }
    ).encode()
    raw = raw[:-1] + b', "big": 12345678901234567890.10}'
    edited = aggregate_result(raw, "srv")
    assert edited.count(b"ui://srv.homeport/x") == 5
    assert edited.count(b"ui://x") == 2
    assert b"12345678901234567890.10" in edited
