"""The socket: one hello line, then a message a line; a client that misbehaves harms itself only."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from tests.gateway.stack import Stack, running, scripted
from tests.gateway.test_http import META, body

from homeport.surface.policy import Grant, Profile

pytestmark = pytest.mark.anyio

PROFILES = (
    Profile("default", grants={"old": Grant("old", can=("*",))}),
    Profile("locked", require_token=True, grants={"old": Grant("old", can=("echo",))}),
)


@pytest.fixture(scope="module", params=[False, True], ids=["asyncio", "uvloop"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, bool]]:
    return "asyncio", {"use_uvloop": request.param}


@pytest.fixture(scope="module")
async def stack(anyio_backend: object) -> AsyncGenerator[Stack]:
    async with running({"old": scripted("old", "--era", "legacy")}, PROFILES) as made:
        yield made


class Line:
    """One connection to the socket."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    def send(self, message: Any) -> None:
        self.writer.write((message if isinstance(message, bytes) else json.dumps(message).encode()) + b"\n")

    async def receive(self) -> Any:
        async with asyncio.timeout(10):
            line = await self.reader.readline()
        return json.loads(line) if line else None

    async def close(self) -> None:
        self.writer.close()
        await self.writer.wait_closed()


@pytest.fixture
async def line(stack: Stack) -> AsyncGenerator[Line]:
    opened = Line(*await asyncio.open_unix_connection(stack.home / "s", limit=1 << 24))
    yield opened
    await opened.close()


HELLO = {"homeport": 1, "kind": "mcp", "profile": "default"}
INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}


async def greeted(line: Line, **more: Any) -> None:
    line.send({**HELLO, **more})
    assert await line.receive() == {"homeport": 1}


@pytest.mark.parametrize(
    ("hello", "code"),
    [
        pytest.param(b"nonsense", "hello.invalid", id="nonsense"),
        pytest.param({"kind": "mcp"}, "hello.invalid", id="no version"),
        pytest.param({"homeport": 2}, "hello.version", id="a newer version"),
        pytest.param({"homeport": 1, "kind": "admin"}, "hello.kind", id="an unknown kind"),
        pytest.param({**HELLO, "profile": "ghost"}, "profile.unknown", id="an unknown profile"),
        pytest.param({**HELLO, "profile": "locked"}, "profile.token_required", id="a profile that wants its token"),
    ],
)
async def test_a_hello_that_is_refused_says_why_and_ends(line: Line, hello: Any, code: str) -> None:
    line.send(hello)
    assert (await line.receive())["error"]["code"] == code
    assert await line.receive() is None


async def test_a_hello_without_an_end_is_cut_off(line: Line) -> None:
    line.writer.write(b"x" * 5000)
    assert (await line.receive())["error"]["code"] == "message.too_long"
    assert await line.receive() is None


async def test_only_this_user_can_open_the_socket(stack: Stack) -> None:
    assert (stack.home / "s").stat().st_mode & 0o777 == 0o600


async def test_both_eras_share_a_connection(line: Line) -> None:
    await greeted(line)
    line.send(body("initialize", "i", meta=None, **INITIALIZE))
    line.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    line.send(body("tools/call", 1, meta=None, name="old__echo", arguments={"text": "legacy"}))
    line.send(body("tools/call", 2, name="old__echo", arguments={"text": "modern"}))
    answers = {answer["id"]: answer["result"] for answer in [await line.receive() for _ in range(3)]}
    assert answers["i"]["protocolVersion"] == "2025-11-25"
    assert "resultType" not in answers[1]
    assert answers[2]["resultType"] == "complete"


async def test_before_the_handshake_only_a_ping_is_answered(line: Line) -> None:
    await greeted(line)
    line.send(body("ping", 1, meta=None))
    assert (await line.receive())["result"] == {}
    line.send(body("tools/list", 2, meta=None))
    assert (await line.receive())["error"]["code"] == -32600
    line.send(body("server/discover", 3, meta=None))
    assert (await line.receive())["error"]["code"] == -32602


async def test_a_client_that_comes_back_is_told_to_read_its_lists_again(line: Line) -> None:
    await greeted(line, resumed=True)
    line.send(body("initialize", "i", meta=None, **INITIALIZE))
    line.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert (await line.receive())["id"] == "i"
    told = {(await line.receive())["method"] for _ in range(3)}
    assert told == {f"notifications/{name}/list_changed" for name in ("tools", "prompts", "resources")}


async def test_what_is_no_message_is_answered_and_the_next_one_too(line: Line) -> None:
    await greeted(line)
    for data, code in ((b"{", -32700), (b"[]", -32600), (b'{"jsonrpc":"2.0","id":null,"method":"x"}', -32600)):
        line.send(data)
        answer = await line.receive()
        assert (answer["id"], answer["error"]["code"]) == (None, code)
    line.send(b"")
    line.send(body("tools/list"))
    assert (await line.receive())["result"]["resultType"] == "complete"


async def test_calls_run_side_by_side_and_one_can_be_cancelled(line: Line, stack: Stack) -> None:
    await greeted(line)
    line.send(body("tools/call", "slow", name="old__slow", arguments={"seconds": 20, "steps": 100}))
    line.send(body("tools/call", "fast", name="old__echo", arguments={"text": "x"}))
    assert (await line.receive())["id"] == "fast"
    line.send(body("tools/call", "slow", name="old__echo", arguments={"text": "same id"}))
    assert (await line.receive())["error"]["code"] == -32600
    line.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "slow"}})
    line.send(body("tools/call", "after", name="old__echo", arguments={"text": "x"}))
    assert (await line.receive())["id"] == "after"
    async with asyncio.timeout(5):
        while '"decision":"cancelled"' not in stack.journal():
            await asyncio.sleep(0.02)


async def test_a_subscription_is_told_cancelled_and_forgotten(line: Line, stack: Stack) -> None:
    await greeted(line)
    before = len(stack.gateway.listeners)
    line.send(body("subscriptions/listen", 9, notifications={"toolsListChanged": True}))
    assert (await line.receive())["method"] == "notifications/subscriptions/acknowledged"
    assert len(stack.gateway.listeners) == before + 1
    line.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}})
    line.send(body("tools/list"))
    await line.receive()
    assert len(stack.gateway.listeners) == before


async def test_what_was_asked_before_the_end_of_input_is_answered(line: Line) -> None:
    await greeted(line)
    line.send(body("tools/call", 1, name="old__slow", arguments={"seconds": 0.3, "steps": 1}))
    line.writer.write_eof()
    assert (await line.receive())["id"] == 1
    assert await line.receive() is None


async def test_a_client_that_vanishes_withdraws_its_calls(stack: Stack) -> None:
    before = stack.journal().count('"decision":"cancelled"')
    line = Line(*await asyncio.open_unix_connection(stack.home / "s"))
    await greeted(line)
    assert stack.local.clients == 1
    line.send(body("tools/call", 1, name="old__slow", arguments={"seconds": 20, "steps": 100}))
    async with asyncio.timeout(5):
        while stack.journal().count('"name":"slow"') == before:
            await asyncio.sleep(0.02)
    line.writer.transport.abort()
    async with asyncio.timeout(5):
        while stack.journal().count('"decision":"cancelled"') == before:
            await asyncio.sleep(0.02)
    assert stack.local.clients == 0


async def test_a_client_that_does_not_read_is_not_read_from(line: Line, stack: Stack) -> None:
    await greeted(line)
    for number in range(60):
        line.send(body("tools/call", number, name="old__big", arguments={"bytes": 200_000}))
    other = Line(*await asyncio.open_unix_connection(stack.home / "s"))
    await greeted(other)
    other.send(body("tools/list"))
    assert (await other.receive())["id"] == 1
    await other.close()
    assert {(await line.receive())["id"] for _ in range(60)} == set(range(60))


async def test_an_operator_asks_verbs_and_is_told_what_is_wrong(line: Line) -> None:
    line.send({"homeport": 1, "kind": "operator"})
    assert await line.receive() == {"homeport": 1}
    line.send({"id": 1, "verb": "echo", "params": {"a": [1]}})
    assert await line.receive() == {"id": 1, "result": {"a": [1]}}
    line.send({"id": 2, "verb": "nothing"})
    assert (await line.receive())["error"] == {
        "family": "invalid_input", "code": "operator.unknown", "message": "there is no verb nothing",
        "remedy": "homeport --help",
    }  # fmt: skip
    line.send(b"{")
    assert (await line.receive())["error"]["code"] == "operator.request"
    assert META
