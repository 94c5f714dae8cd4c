"""Which era a server speaks, decided from its answers alone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from homeport.ground.errors import ProtocolViolation, Unavailable
from homeport.upstreams import era
from homeport.upstreams.session import Era, Negotiated, Reply

INFO = b'{"name":"h","version":"1"}'


def judge(**answer: Any) -> Negotiated | None:
    reply = Reply(
        result=json.dumps(answer["result"]).encode() if "result" in answer else None,
        error=json.dumps(answer["error"]).encode() if "error" in answer else None,
    )
    return era.judge_probe(reply, INFO, b'{"elicitation":{}}')


def test_a_discover_result_with_our_revision_is_a_modern_session() -> None:
    found = judge(
        result={
            "supportedVersions": ["2027-01-01", "2026-07-28"],
            "capabilities": {"tools": {"x": 1}},
            "instructions": "use it",
            "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "s"}},
        }
    )
    assert found is not None
    assert (found.era, found.version, found.instructions) == (Era.MODERN, "2026-07-28", "use it")
    assert json.loads(found.capabilities) == {"tools": {"x": 1}}
    assert json.loads(found.server_info) == {"name": "s"}
    assert json.loads(found.meta) == {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "h", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    }


@pytest.mark.parametrize(
    "answer",
    [
        {"error": {"code": -32601, "message": "Method not found"}},
        {"error": {"code": -32602, "message": "Invalid request parameters"}},
        {"error": {"code": -32000, "message": "not initialized"}},
        {"error": {"code": "x"}},
        {"error": {}},
        {"error": {"code": -32022, "message": "no", "data": {"supported": ["2025-11-25"], "requested": "x"}}},
        {"error": {"code": -32022, "message": "no", "data": "strange"}},
        {"error": {"code": -32022, "message": "no"}},
        {"result": {}},
        {"result": {"supportedVersions": ["2025-11-25"]}},
        {"result": {"supportedVersions": "2026-07-28"}},
        {"result": {"supportedVersions": [1, None]}},
    ],
)
def test_anything_else_is_a_legacy_server(answer: dict[str, Any]) -> None:
    assert judge(**answer) is None


@pytest.mark.parametrize(
    "answer",
    [
        {"result": {"supportedVersions": ["2031-01-01"], "capabilities": {}}},
        {"error": {"code": -32022, "message": "no", "data": {"supported": ["2031-01-01"], "requested": "x"}}},
    ],
)
def test_a_modern_server_that_shares_no_revision_is_told_so_and_not_asked_to_initialize(answer: dict[str, Any]) -> None:
    with pytest.raises(Unavailable, match="2031-01-01") as caught:
        judge(**answer)
    assert caught.value.code == "upstream.version"
    assert caught.value.remedy


@pytest.mark.parametrize("version", ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"])
def test_every_legacy_revision_opens_a_session(version: str) -> None:
    found = era.from_initialize(Reply(result=json.dumps({"protocolVersion": version}).encode()))
    assert (found.era, found.version, found.capabilities, found.meta) == (Era.LEGACY, version, b"{}", b"{}")


def test_an_unknown_legacy_revision_is_refused() -> None:
    with pytest.raises(Unavailable) as caught:
        era.from_initialize(Reply(result=b'{"protocolVersion":"1999-01-01"}'))
    assert caught.value.code == "upstream.version"


@pytest.mark.parametrize("result", [b"{}", b'{"protocolVersion":1}', b"[]"])
def test_a_result_that_is_no_initialize_result_is_a_violation(result: bytes) -> None:
    with pytest.raises(ProtocolViolation) as caught:
        era.from_initialize(Reply(result=result))
    assert caught.value.code == "upstream.not_mcp"


def test_a_refused_initialize_says_what_the_server_said() -> None:
    with pytest.raises(Unavailable, match="go away") as caught:
        era.from_initialize(Reply(error=b'{"code":-1,"message":"go away"}'))
    assert caught.value.code == "upstream.refused"
