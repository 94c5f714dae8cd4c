"""Sessions over Streamable HTTP: both eras, JSON and event streams, and servers that misbehave."""

from __future__ import annotations

import asyncio
import json

import pytest
from tests.servers.scripted import TOOLS
from tests.servers.scripted_http import ScriptedHttp, scripted_http
from tests.support.mcp_calls import call, params, said
from tests.support.processes import becomes
from tests.upstreams.conftest import Heard, Opener

from homeport.ground.errors import InvalidInput, ProtocolViolation, Unavailable
from homeport.ground.secrets import Template
from homeport.upstreams.launch import HttpLaunch
from homeport.upstreams.listing import read_surface_lists
from homeport.upstreams.session import Era, Exchange, Reply

pytestmark = pytest.mark.anyio

ERAS = pytest.mark.parametrize("era", ["legacy", "modern"])
ANSWERS = pytest.mark.parametrize("answers", ["json", "sse"])


def launch(server: ScriptedHttp, **headers: str) -> HttpLaunch:
    return HttpLaunch(server.url, {name: (Template(value),) for name, value in headers.items()})


@ERAS
@ANSWERS
async def test_a_server_of_either_era_is_recognised_and_answers(opened: Opener, era: str, answers: str) -> None:
    with scripted_http(era, answers) as server:
        session = await opened(launch(server))
        assert session.negotiated.era == era
        assert await said(session, "echo", text="hello ü") == "hello ü"
        assert (await read_surface_lists(session)).tools == TOOLS
        await session.close()


@ERAS
@ANSWERS
async def test_a_result_is_the_bytes_that_the_server_sent(opened: Opener, era: str, answers: str) -> None:
    with scripted_http(era, answers) as server:
        reply = await call(await opened(launch(server)), "raw")
        assert reply.result is not None
        assert reply.result.startswith(
            b'{ "content" : [ {"type":"text","text":"caf\\u00e9 \xc3\xbc","x-unknown":1.0} ],'
        )


@ERAS
async def test_an_error_with_its_http_status_is_the_servers_error(opened: Opener, era: str) -> None:
    with scripted_http(era) as server:
        session = await opened(launch(server))
        reply = await session.request("no/such", b'{"_meta":%b}' % session.negotiated.meta, Exchange())
        assert json.loads(reply.error or b"")["code"] == -32601


async def test_modern_requests_carry_their_routing_headers(opened: Opener) -> None:
    with scripted_http("modern") as server:
        session = await opened(launch(server))
        sent = params(session, "größe \n", {"region": "eu"})
        await session.request("tools/call", sent, Exchange(headers=(("Mcp-Param-Region", "eu"),)))
        meta = session.negotiated.meta
        await session.request("resources/read", b'{"uri":"memo://a b","_meta":%b}' % meta, Exchange())
        ((called, body),) = server.seen("tools/call")
        assert called["mcp-method"] == "tools/call"
        assert called["mcp-name"] == "=?base64?Z3LDtsOfZSAK?="
        assert called["mcp-param-region"] == "eu"
        assert called["mcp-protocol-version"] == "2026-07-28"
        assert "text/event-stream" in called["accept"]
        assert "mcp-session-id" not in called
        assert body["params"]["name"] == "größe \n"
        assert server.seen("resources/read")[0][0]["mcp-name"] == "memo://a b"


async def test_a_legacy_session_keeps_its_id_and_is_deleted(opened: Opener) -> None:
    with scripted_http("legacy") as server:
        session = await opened(launch(server))
        await said(session, "echo", text="x")
        assert "mcp-session-id" not in server.seen("initialize")[0][0]
        for method in ("notifications/initialized", "tools/call"):
            headers = server.seen(method)[0][0]
            assert headers["mcp-session-id"] == "session-1"
            assert headers["mcp-protocol-version"] == "2025-11-25"
            assert "mcp-method" not in headers
        await session.close()
        assert server.deleted == ["session-1"]


async def test_a_known_legacy_server_is_not_probed(opened: Opener) -> None:
    with scripted_http("legacy") as server:
        await opened(launch(server), known=Era.LEGACY)
        assert server.seen("server/discover") == []


async def test_configured_headers_reach_the_server_on_every_request(opened: Opener) -> None:
    with scripted_http("legacy") as server:
        session = await opened(launch(server, Authorization="Bearer swordfish"))
        await said(session, "echo", text="x")
        await session.close()
        assert {headers.get("authorization") for _, headers, _ in server.received} == {"Bearer swordfish"}


@pytest.mark.parametrize("name", ["Mcp-Session-Id", "content-type", "Host"])
async def test_a_configured_header_that_the_protocol_sets_is_refused(opened: Opener, name: str) -> None:
    with scripted_http() as server, pytest.raises(InvalidInput) as caught:
        await opened(launch(server, **{name: "x"}))
    assert caught.value.code == "upstream.header"


async def test_a_header_value_cannot_smuggle_a_line(opened: Opener) -> None:
    with scripted_http() as server, pytest.raises(InvalidInput) as caught:
        await opened(launch(server, Authorization="x\r\nEvil: y"))
    assert "Evil" not in str(caught.value)


@ERAS
async def test_progress_of_a_call_reaches_its_caller_with_its_token(opened: Opener, era: str) -> None:
    with scripted_http(era, "sse") as server:
        session = await opened(launch(server))
        told: list[tuple[str, object, int]] = []

        def note(method: str, raw: bytes) -> None:
            told.append((method, json.loads(raw)["progressToken"], json.loads(raw)["progress"]))

        sent = params(session, "slow", {"seconds": 0.1, "steps": 2}, progressToken="mine")
        await session.request("tools/call", sent, Exchange(on_notification=note))
        assert told == [("notifications/progress", "mine", 1), ("notifications/progress", "mine", 2)]


async def test_what_a_legacy_server_asks_on_a_calls_stream_goes_to_its_caller(opened: Opener) -> None:
    with scripted_http("legacy", "sse") as server:
        session = await opened(launch(server))

        def answering(name: str) -> Exchange:
            async def ask(method: str, params: bytes) -> Reply:
                assert method == "elicitation/create"
                return Reply(result=json.dumps({"action": "accept", "content": {"name": name}}).encode())

            return Exchange(ask=ask)

        texts = await asyncio.gather(*(said(session, "ask", answering(name)) for name in ("Ada", "Bo", "Cy")))
        for text, name in zip(texts, ("Ada", "Bo", "Cy"), strict=True):
            assert json.loads(text.removeprefix("answered "))["content"]["name"] == name


async def test_a_question_nobody_can_be_asked_is_answered_with_an_error(opened: Opener) -> None:
    with scripted_http("legacy", "sse") as server:
        assert "no caller can be asked" in await said(await opened(launch(server)), "ask")


@ERAS
async def test_a_changed_list_is_heard_on_the_stream_of_the_session(opened: Opener, era: str) -> None:
    heard = Heard()
    with scripted_http(era) as server:
        session = await opened(launch(server), heard=heard)
        assert await becomes(server.streaming.is_set)
        await said(session, "change")
        assert await becomes(lambda: heard.methods == ["notifications/tools/list_changed"])
        await session.close()


async def test_a_legacy_server_without_a_stream_of_its_own_works_all_the_same(opened: Opener) -> None:
    with scripted_http("legacy", hostile="no-stream") as server:
        assert await said(await opened(launch(server)), "echo", text="x") == "x"


async def test_a_request_outside_of_any_call_is_answered(opened: Opener) -> None:
    with scripted_http("legacy") as server:
        session = await opened(launch(server))
        assert await becomes(server.streaming.is_set)
        server.push({"jsonrpc": "2.0", "id": "p", "method": "ping"})
        server.push({"jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": {}})
        assert await becomes(lambda: {"p", "q"} <= set(server.answers))
        assert server.answers["p"]["result"] == {}
        assert "no caller" in server.answers["q"]["error"]["message"]
        await session.close()


async def test_a_stream_that_ends_before_the_answer_is_taken_up_again(opened: Opener) -> None:
    with scripted_http("legacy", "sse", "resume") as server:
        assert await said(await opened(launch(server)), "echo", text="late") == "late"
        resumed = [headers for method, headers, _ in server.received if method == "GET" and "last-event-id" in headers]
        assert resumed[0]["last-event-id"] == "e1"


@ERAS
async def test_cancelling_the_caller_frees_the_request(opened: Opener, era: str) -> None:
    with scripted_http(era, hostile="silent-stream") as server:
        session = await opened(launch(server))
        calling = asyncio.ensure_future(call(session, "echo"))
        assert await becomes(lambda: server.seen("tools/call"))
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling
        if era == "legacy":
            assert await becomes(lambda: server.seen("notifications/cancelled"))
            ((_, body),) = server.seen("notifications/cancelled")
            assert body["params"]["requestId"] == server.seen("tools/call")[0][1]["id"]


@ERAS
async def test_a_stream_may_last_longer_than_a_server_may_be_silent(opened: Opener, era: str) -> None:
    """surface-149: no limit on the whole exchange but the call's own."""
    with scripted_http(era, answers="sse") as server:
        session = await opened(launch(server))
        asked = params(session, "slow", {"seconds": 1.2, "steps": 12}, progressToken="t")
        reply = await session.request("tools/call", asked, Exchange(timeout=0.8))
        assert json.loads(reply.result or b"")["content"][0]["text"] == "done"


@ERAS
async def test_silence_ends_a_call(opened: Opener, era: str) -> None:
    with scripted_http(era, hostile="silent-stream") as server:
        session = await opened(launch(server))
        with pytest.raises(Unavailable) as caught:
            await call(session, "echo", Exchange(timeout=0.2))
        assert caught.value.code == "upstream.timeout"


async def test_a_redirect_to_another_origin_is_refused_and_gets_no_credentials(opened: Opener) -> None:
    """surface-148"""
    with scripted_http(hostile="redirect") as server, pytest.raises(Unavailable) as caught:
        await opened(launch(server, Authorization="Bearer swordfish"))
    assert caught.value.code == "upstream.redirected"
    assert "http://127.0.0.2:9" in str(caught.value)
    assert "swordfish" not in str(caught.value)


async def test_a_redirect_within_the_origin_is_followed(opened: Opener) -> None:
    with scripted_http(hostile="redirect-here") as server:
        assert await said(await opened(launch(server)), "echo", text="x") == "x"


async def test_refused_and_missing_credentials_are_two_explanations(opened: Opener) -> None:
    """surface-146"""
    with scripted_http(hostile="unauthorized") as server:
        with pytest.raises(Unavailable, match="none are configured") as missing:
            await opened(launch(server))
        with pytest.raises(Unavailable, match="did not accept") as refused:
            await opened(launch(server, Authorization="Bearer swordfish"))
    for error in (missing.value, refused.value):
        assert error.code == "upstream.unauthorized"
        assert "homeport secrets set" in error.remedy
        assert "OAuth" in error.message
        assert "swordfish" not in str(error)


async def test_a_fault_of_the_server_is_no_matter_of_credentials(opened: Opener) -> None:
    """surface-147"""
    with scripted_http(hostile="unavailable") as server:
        session = await opened(launch(server))
        with pytest.raises(Unavailable, match="503") as caught:
            await call(session, "echo")
    assert "secret" not in caught.value.remedy


async def test_a_server_that_is_not_there_is_named_with_its_address(opened: Opener) -> None:
    with scripted_http() as server:
        url = server.url
    with pytest.raises(Unavailable, match=r"127\.0\.0\.1") as caught:
        await opened(HttpLaunch(url))
    assert caught.value.code == "upstream.closed"
    assert caught.value.remedy


@pytest.mark.parametrize("url", ["ftp://host/x", "file:///etc/passwd", "no url", "http://"])
async def test_only_http_is_dialled(opened: Opener, url: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        await opened(HttpLaunch(url))
    assert caught.value.code == "upstream.url"


async def test_a_page_that_is_no_mcp_server_is_told(opened: Opener) -> None:
    with scripted_http(hostile="html") as server, pytest.raises(ProtocolViolation) as caught:
        await opened(launch(server))
    assert "text/html" in str(caught.value)


@ERAS
@pytest.mark.parametrize(
    ("hostile", "code"),
    [
        ("unavailable", "upstream.http_status"),
        ("huge", "upstream.message_too_large"),
        ("wrong-id", "upstream.not_a_response"),
        ("cut", "upstream.outcome_unknown"),
    ],
)
async def test_a_bad_answer_fails_its_call_alone(opened: Opener, era: str, hostile: str, code: str) -> None:
    with scripted_http(era, hostile=hostile) as server:
        session = await opened(launch(server))
        with pytest.raises((Unavailable, ProtocolViolation)) as caught:
            await call(session, "echo")
        assert caught.value.code == code
        assert session.alive
        assert (await read_surface_lists(session)).tools == TOOLS


async def test_a_session_that_the_server_forgot_is_over(opened: Opener) -> None:
    heard = Heard()
    with scripted_http("legacy", hostile="forget") as server:
        session = await opened(launch(server), heard=heard)
        with pytest.raises(Unavailable) as caught:
            await call(session, "echo")
        assert caught.value.code == "upstream.closed"
        assert not session.alive
        assert len(heard.ends) == 1
