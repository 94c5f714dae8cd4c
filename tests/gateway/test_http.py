"""What the endpoint refuses, in the words of the specification, and what it survives."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator
from typing import Any

import aiohttp
import pytest
from tests.gateway.stack import Stack, running, scripted

from homeport.ground.limits import Limits
from homeport.surface.policy import Grant, Profile

pytestmark = pytest.mark.anyio

MODERN = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
}
LEVEL = "io.modelcontextprotocol/logLevel"
ACCEPT = {"Accept": "application/json, text/event-stream"}
LIMITS = Limits(close_grace=0.3, connect_timeout=20.0, facts_max_age=0.1, message=100_000)
MIRRORED = {
    "name": "query",
    "inputSchema": {
        "type": "object",
        "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
    },
}


@pytest.fixture(scope="module", params=[False, True], ids=["asyncio", "uvloop"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, bool]]:
    return "asyncio", {"use_uvloop": request.param}


@pytest.fixture(scope="module")
async def stack(anyio_backend: object, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Stack]:
    tools = tmp_path_factory.mktemp("tools") / "tools.json"
    tools.write_text(json.dumps([MIRRORED]))
    servers = {"old": scripted("old", "--era", "legacy"), "mirror": scripted("mirror", "--tools", str(tools))}
    grants = {name: Grant(name, can=("*",), resources=("memo://*",)) for name in servers}
    profiles = (Profile("default", grants=grants), Profile("other", grants={"old": Grant("old", can=("echo",))}))
    async with running(servers, profiles, limits=LIMITS) as made:
        yield made


@pytest.fixture
async def web() -> AsyncGenerator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=20)) as session:
        yield session


def body(method: str, identity: object = 1, meta: dict[str, Any] | None = META, **params: Any) -> dict[str, Any]:
    members = {**params, "_meta": meta} if meta is not None else params
    return {"jsonrpc": "2.0", "id": identity, "method": method, "params": members}


def fields(stack: Stack, method: str = "", name: str | None = "", **more: str | None) -> dict[str, str]:
    found: dict[str, str | None] = {**ACCEPT, **stack.bearer(), "Content-Type": "application/json"}
    if method:
        found |= {"MCP-Protocol-Version": MODERN, "Mcp-Method": method}
    if name:
        found["Mcp-Name"] = name
    found |= {key.replace("_", "-"): value for key, value in more.items()}
    return {key: value for key, value in found.items() if value is not None}


async def post(
    web: aiohttp.ClientSession, stack: Stack, data: Any, headers: dict[str, str], *path: str
) -> tuple[int, Any]:
    raw = data if isinstance(data, bytes) else json.dumps(data).encode()
    async with web.post(stack.url(*path), data=raw, headers=headers) as answer:
        text = await answer.text()
        return answer.status, json.loads(text) if text else None


async def test_a_plain_request_is_answered_as_json(web: aiohttp.ClientSession, stack: Stack) -> None:
    request = body("tools/call", "seven", name="old__echo", arguments={"text": "x"})
    status, answer = await post(web, stack, request, fields(stack, "tools/call", "old__echo"))
    assert (status, answer["id"]) == (200, "seven")
    assert answer["result"] == {"resultType": "complete", "content": [{"type": "text", "text": "x"}]}


async def test_a_result_is_relayed_byte_for_byte(web: aiohttp.ClientSession, stack: Stack) -> None:
    raw = json.dumps(body("tools/call", name="old__raw", arguments={})).encode()
    async with web.post(stack.url(), data=raw, headers=fields(stack, "tools/call", "old__raw")) as answer:
        text = await answer.read()
    assert b'"tiny":1e-400' in text
    assert b'"big":12345678901234567890' in text
    assert b'"unknownMember":null' in text
    assert "caf\\u00e9 ü".encode() in text


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        pytest.param({"Authorization": None}, 401, id="no token"),
        pytest.param({"Authorization": "Bearer wrong"}, 401, id="an invented token"),
        pytest.param({"Authorization": "Basic eDp5"}, 401, id="another scheme"),
        pytest.param({"Host": "evil.example"}, 403, id="a rebound name"),
        pytest.param({"Origin": "http://evil.example"}, 403, id="a page of somebody else"),
        pytest.param({"Origin": "null"}, 403, id="an opaque origin"),
        pytest.param({"Accept": "application/json"}, 406, id="no event stream"),
        pytest.param({"Accept": "text/html"}, 406, id="another kind"),
        pytest.param({"Content-Type": "text/plain"}, 415, id="a form of a page"),
        pytest.param({"X-Long": "x" * 40_000}, 431, id="long fields"),
    ],
)
async def test_what_is_refused_before_a_message_is_looked_at(
    web: aiohttp.ClientSession, stack: Stack, headers: dict[str, str | None], status: int
) -> None:
    request = body("tools/list")
    found, answer = await post(web, stack, request, fields(stack, "tools/list", **headers))
    assert found == status
    assert "id" not in answer
    assert answer["error"]["message"]


async def test_a_challenge_names_no_authorization_server(web: aiohttp.ClientSession, stack: Stack) -> None:
    async with web.post(stack.url(), data=b"{}", headers=ACCEPT) as answer:
        assert answer.status == 401
        assert answer.headers["WWW-Authenticate"] == 'Bearer realm="homeport"'


@pytest.mark.parametrize(
    ("profile", "path", "status"),
    [
        ("other", (), 403),
        ("other", ("default",), 403),
        ("default", ("other",), 403),
        ("other", ("other",), 200),
        ("default", ("default", "old"), 200),
        ("other", ("other", "mirror"), 404),
        ("default", ("default", "ghost"), 404),
        ("default", ("default", "old", "more"), 404),
        ("default", ("ghost",), 403),
    ],
)
async def test_a_token_opens_its_profile_and_nothing_else(
    web: aiohttp.ClientSession, stack: Stack, profile: str, path: tuple[str, ...], status: int
) -> None:
    headers = {**fields(stack, "tools/list"), **stack.bearer(profile)}
    assert (await post(web, stack, body("tools/list"), headers, *path))[0] == status


async def test_other_paths_and_methods_do_not_exist(web: aiohttp.ClientSession, stack: Stack) -> None:
    async with web.get(stack.url().removesuffix("mcp")) as answer:
        assert answer.status == 404
    async with web.get(stack.url() + "x") as answer:
        assert answer.status == 404
    async with web.put(stack.url(), headers=fields(stack)) as answer:
        assert answer.status == 405
        assert answer.headers["Allow"] == "GET, POST, DELETE"
    async with web.get(stack.url(), headers=fields(stack, "x")) as answer:
        assert answer.status == 405


def without(key: str) -> dict[str, Any]:
    return {name: value for name, value in META.items() if not name.endswith(key)}


@pytest.mark.parametrize(
    ("message", "headers", "status", "code"),
    [
        pytest.param(body("nothing/here"), {}, 404, -32601, id="unknown method"),
        pytest.param(body("ping"), {}, 404, -32601, id="ping is gone"),
        pytest.param(body("initialize"), {}, 404, -32601, id="initialize is gone"),
        pytest.param(body("tools/list", meta=None), {}, 400, -32602, id="no meta"),
        pytest.param(body("tools/list", meta=without("Version")), {}, 400, -32602, id="no version"),
        pytest.param(body("tools/list", meta=without("Capabilities")), {}, 400, -32602, id="no capabilities"),
        pytest.param(body("tools/list", meta={**META, LEVEL: "loud"}), {}, 400, -32602, id="odd level"),
        pytest.param(body("tools/list", cursor="x"), {}, 400, -32602, id="unknown cursor"),
        pytest.param(body("tools/call"), {}, 400, -32602, id="no name"),
        pytest.param(body("tools/list"), {"Mcp-Method": "tools/call"}, 400, -32020, id="another method"),
        pytest.param(body("tools/list"), {"Mcp-Method": None}, 400, -32020, id="no method header"),
        pytest.param(body("tools/list"), {"MCP-Protocol-Version": None}, 400, -32020, id="no version header"),
        pytest.param(body("tools/list"), {"MCP-Protocol-Version": "2025-11-25"}, 400, -32020, id="legacy header"),
        pytest.param(body("tools/list"), {"MCP-Protocol-Version": "1900-01-01"}, 400, -32020, id="unknown header"),
        pytest.param(
            body("tools/list", meta={**META, "io.modelcontextprotocol/protocolVersion": "1900-01-01"}),
            {"MCP-Protocol-Version": "1900-01-01"}, 400, -32022, id="unknown version",
        ),
    ],
)  # fmt: skip
async def test_a_modern_request_is_refused_as_the_specification_says(
    web: aiohttp.ClientSession,
    stack: Stack,
    message: dict[str, Any],
    headers: dict[str, Any],
    status: int,
    code: int,
) -> None:
    sent = {**fields(stack, message["method"]), **headers}
    sent = {key: value for key, value in sent.items() if value is not None}
    found, answer = await post(web, stack, message, sent)
    assert (found, answer["error"]["code"], answer["id"]) == (status, code, 1)
    if code == -32022:
        assert answer["error"]["data"]["requested"] == "1900-01-01"
        assert answer["error"]["data"]["supported"][0] == MODERN


@pytest.mark.parametrize(
    ("data", "code"),
    [(b"{", -32700), (b"[]", -32600), (b'{"jsonrpc":"2.0","id":1,"result":{}}', -32600), (b"\xff", -32700)],
)
async def test_what_is_no_message_is_refused(web: aiohttp.ClientSession, stack: Stack, data: bytes, code: int) -> None:
    status, answer = await post(web, stack, data, fields(stack, "tools/list"))
    assert (status, answer["error"]["code"], answer["id"]) == (400, code, None)


async def test_a_notification_is_accepted_without_a_body(web: aiohttp.ClientSession, stack: Stack) -> None:
    assert await post(web, stack, {"jsonrpc": "2.0", "method": "x"}, fields(stack, "x")) == (202, None)


async def test_a_body_over_the_limit_is_refused(web: aiohttp.ClientSession, stack: Stack) -> None:
    request = body("tools/call", name="old__echo", arguments={"text": "x" * 200_000})
    assert (await post(web, stack, request, fields(stack, "tools/call", "old__echo")))[0] == 413

    async def pieces() -> AsyncGenerator[bytes]:
        for _ in range(200):
            yield b" " * 1000

    async with web.post(stack.url(), data=pieces(), headers=fields(stack, "tools/call")) as answer:
        assert answer.status == 413


@pytest.mark.parametrize(
    ("mirrored", "status"), [("eu", 200), ("=?base64?ZXU=?=", 200), (" eu ", 200), ("us", 400), (None, 400)]
)
async def test_mirrored_arguments_must_agree(
    web: aiohttp.ClientSession, stack: Stack, mirrored: str | None, status: int
) -> None:
    request = body("tools/call", name="mirror__query", arguments={"region": "eu"})
    headers = fields(stack, "tools/call", "mirror__query", Mcp_Param_Region=mirrored)
    found, answer = await post(web, stack, request, headers)
    assert found == status
    if status == 400:
        assert answer["error"]["code"] == -32020


async def test_a_client_that_leaves_cancels_its_call(web: aiohttp.ClientSession, stack: Stack) -> None:
    request = body("tools/call", name="old__slow", arguments={"seconds": 20, "steps": 100})
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5):
            await post(web, stack, request, fields(stack, "tools/call", "old__slow"))
    async with asyncio.timeout(5):
        while '"decision":"cancelled"' not in stack.journal():
            await asyncio.sleep(0.02)


async def test_progress_makes_the_answer_a_stream(web: aiohttp.ClientSession, stack: Stack) -> None:
    request = body("tools/call", name="old__slow", meta={**META, "progressToken": "t"}, arguments={"seconds": 0.2})
    raw = json.dumps(request).encode()
    async with web.post(stack.url(), data=raw, headers=fields(stack, "tools/call", "old__slow")) as answer:
        assert answer.headers["Content-Type"] == "text/event-stream"
        assert answer.headers["X-Accel-Buffering"] == "no"
        text = await answer.text()
    messages = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ")]
    assert [message.get("method") for message in messages] == ["notifications/progress"] * 3 + [None]
    assert messages[0]["params"]["progressToken"] == "t"
    assert messages[-1]["id"] == 1


async def initialized(web: aiohttp.ClientSession, stack: Stack, version: str = "2025-11-25") -> tuple[str, Any]:
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    raw = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}).encode()
    async with web.post(stack.url(), data=raw, headers=fields(stack)) as answer:
        assert answer.status == 200
        return answer.headers["Mcp-Session-Id"], (await answer.json())["result"]


@pytest.mark.parametrize(
    ("asked", "given"), [("2025-11-25", "2025-11-25"), ("2024-11-05", "2024-11-05"), ("1999-01-01", "2025-11-25")]
)
async def test_a_legacy_client_gets_its_revision_or_the_latest(
    web: aiohttp.ClientSession, stack: Stack, asked: str, given: str
) -> None:
    _, result = await initialized(web, stack, asked)
    assert result["protocolVersion"] == given
    assert result["capabilities"]["tools"] == {"listChanged": True}


async def test_a_session_lives_until_it_is_deleted(web: aiohttp.ClientSession, stack: Stack) -> None:
    session, _ = await initialized(web, stack)
    headers = fields(stack, Mcp_Session_Id=session)
    ping = body("ping", meta=None)
    assert await post(web, stack, ping, headers) == (200, {"jsonrpc": "2.0", "id": 1, "result": {}})
    note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert await post(web, stack, note, headers) == (202, None)
    assert (await post(web, stack, ping, headers, "default", "old"))[0] == 404
    assert (await post(web, stack, ping, fields(stack)))[0] == 400
    async with web.delete(stack.url(), headers=headers) as answer:
        assert answer.status == 204
    assert (await post(web, stack, ping, headers))[0] == 404
    assert (await post(web, stack, ping, fields(stack, Mcp_Session_Id="invented")))[0] == 404


async def test_a_session_belongs_to_the_profile_that_opened_it(web: aiohttp.ClientSession, stack: Stack) -> None:
    session, _ = await initialized(web, stack)
    headers = {**fields(stack, Mcp_Session_Id=session), **stack.bearer("other")}
    assert (await post(web, stack, body("ping", meta=None), headers, "other"))[0] == 404


async def test_a_legacy_request_is_refused_as_json_rpc_says(web: aiohttp.ClientSession, stack: Stack) -> None:
    session, _ = await initialized(web, stack)
    headers = fields(stack, Mcp_Session_Id=session)
    for method, code in (("nothing/here", -32601), ("logging/setLevel", -32602), ("initialize", None)):
        status, answer = await post(web, stack, body(method, meta=None), headers)
        if code is not None:
            assert (status, answer["error"]["code"]) == (200, code)
    odd = {**headers, "MCP-Protocol-Version": "1999-01-01"}
    assert (await post(web, stack, body("ping", meta=None), odd))[0] == 400


async def test_a_legacy_client_cancels_by_notification(web: aiohttp.ClientSession, stack: Stack) -> None:
    session, _ = await initialized(web, stack)
    headers = fields(stack, Mcp_Session_Id=session)
    call = body("tools/call", "slow", meta=None, name="old__slow", arguments={"seconds": 20, "steps": 100})
    started = time.monotonic()
    running_call = asyncio.create_task(post(web, stack, call, headers))
    async with asyncio.timeout(10):
        while stack.journal().count('"name":"slow"') == 0 or not stack.gateway.sessions.running(session):
            await asyncio.sleep(0.02)
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "slow"}}
    assert await post(web, stack, cancel, headers) == (202, None)
    assert (await running_call)[0] == 202
    assert time.monotonic() - started < 15


async def test_a_slow_client_does_not_hold_the_others(web: aiohttp.ClientSession, stack: Stack) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", stack.port)
    writer.write(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n")
    await writer.drain()
    assert (await post(web, stack, body("tools/list"), fields(stack, "tools/list")))[0] == 200
    writer.close()
    await writer.wait_closed()
    del reader


async def test_half_a_body_harms_nobody(web: aiohttp.ClientSession, stack: Stack) -> None:
    token = stack.bearer()["Authorization"]
    _, writer = await asyncio.open_connection("127.0.0.1", stack.port)
    head = f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: {token}\r\nContent-Type: application/json\r\n"
    writer.write((head + "Accept: */*\r\nContent-Length: 100\r\n\r\n{").encode())
    await writer.drain()
    writer.close()
    await writer.wait_closed()
    assert (await post(web, stack, body("tools/list"), fields(stack, "tools/list")))[0] == 200


async def test_a_routing_field_that_stands_twice_is_refused(stack: Stack) -> None:
    raw = json.dumps(body("tools/list")).encode()
    lines = [f"{name}: {value}" for name, value in fields(stack, "tools/list").items()]
    lines += ["Mcp-Method: tools/call", "Host: localhost", f"Content-Length: {len(raw)}", "Connection: close"]
    reader, writer = await asyncio.open_connection("127.0.0.1", stack.port)
    writer.write(("POST /mcp HTTP/1.1\r\n" + "\r\n".join(lines) + "\r\n\r\n").encode() + raw)
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    assert answer.startswith(b"HTTP/1.1 400")
    assert b"-32020" in answer
