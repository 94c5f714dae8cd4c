"""Changed lists are told to who listens, in both eras and on both ways; withheld servers are told in words."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from typing import Any

import aiohttp
import pytest
from tests.gateway.clients import Way, client
from tests.gateway.stack import Stack, running, scripted
from tests.gateway.test_http import META, body, fields, initialized

from homeport.gateway.lists import WITHHELD_BYTES
from homeport.ground.errors import Problem
from homeport.surface.policy import Grant, Profile

pytestmark = pytest.mark.anyio

BOTH = (Grant("a", can=("echo",)), Grant("b", can=("echo",)))
LISTEN = {"toolsListChanged": True, "promptsListChanged": True, "odd": True}


@pytest.fixture
async def stack() -> AsyncGenerator[Stack]:
    profile = Profile("default", grants={grant.server: grant for grant in BOTH})
    async with running({"a": scripted("a"), "b": scripted("b")}, [profile]) as made:
        yield made


@pytest.fixture
async def web() -> AsyncGenerator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=20)) as session:
        yield session


async def events(answer: aiohttp.ClientResponse, count: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    async for line in answer.content:
        if line.startswith(b"data: "):
            found.append(json.loads(line[6:]))
            if len(found) == count:
                return found
    return found


async def test_a_subscription_is_acknowledged_and_told_of_its_lists(web: aiohttp.ClientSession, stack: Stack) -> None:
    raw = json.dumps(body("subscriptions/listen", "sub", notifications=LISTEN)).encode()
    async with web.post(stack.url(), data=raw, headers=fields(stack, "subscriptions/listen")) as answer:
        assert answer.headers["Content-Type"] == "text/event-stream"
        [first] = await events(answer, 1)
        assert first["method"] == "notifications/subscriptions/acknowledged"
        assert first["params"] == {
            "_meta": {"io.modelcontextprotocol/subscriptionId": "sub"},
            "notifications": {"toolsListChanged": True, "promptsListChanged": True},
        }
        stack.grant(Grant("a", can=("echo", "add")))
        [changed] = await events(answer, 1)
    assert changed["method"] == "notifications/tools/list_changed"
    assert changed["params"]["_meta"] == {"io.modelcontextprotocol/subscriptionId": "sub"}
    async with asyncio.timeout(5):
        while stack.gateway.busy or len(stack.gateway.listeners):
            await asyncio.sleep(0.01)


async def test_a_subscription_ends_with_its_result_when_the_gateway_does(
    web: aiohttp.ClientSession, stack: Stack
) -> None:
    raw = json.dumps(body("subscriptions/listen", 5, notifications={})).encode()
    async with web.post(stack.url(), data=raw, headers=fields(stack, "subscriptions/listen")) as answer:
        await events(answer, 1)
        await stack.gateway.close()
        [last] = await events(answer, 1)
    assert (last["id"], last["result"]["resultType"]) == (5, "complete")
    assert last["result"]["_meta"] == {"io.modelcontextprotocol/subscriptionId": 5}


async def test_a_subscription_without_a_filter_is_refused(web: aiohttp.ClientSession, stack: Stack) -> None:
    raw = json.dumps(body("subscriptions/listen", 1)).encode()
    async with web.post(stack.url(), data=raw, headers=fields(stack, "subscriptions/listen")) as answer:
        assert answer.status == 400
        assert (await answer.json())["error"]["code"] == -32602


async def test_a_legacy_stream_is_told_and_a_newer_one_takes_over(web: aiohttp.ClientSession, stack: Stack) -> None:
    session, _ = await initialized(web, stack)
    headers = {**fields(stack, Mcp_Session_Id=session), "Accept": "text/event-stream"}
    async with web.get(stack.url(), headers=headers) as first, web.get(stack.url(), headers=headers) as second:
        assert await first.content.read() == b""
        stack.grant(Grant("a", can=("echo", "add")))
        [changed] = await events(second, 1)
        assert changed == {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
        async with web.delete(stack.url(), headers=headers):
            assert await events(second, 1) == []


async def until(done: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not done():
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("way", ["http", "connect"])
async def test_the_official_legacy_client_hears_of_changes(stack: Stack, way: Way) -> None:
    heard: list[Any] = []

    async def took(message: Any) -> None:
        heard.append(message)

    async with client(stack, way, "legacy", message_handler=took) as connected:
        assert len((await connected.list_tools()).tools) == 2
        await until(lambda: len(stack.gateway.listeners) > 0)
        stack.grant(Grant("a", can=("echo", "add", "slow")))
        await until(lambda: bool(heard))
        assert len((await connected.list_tools()).tools) == 3
    assert "ToolListChanged" in type(heard[0]).__name__ or "ToolListChanged" in repr(heard[0])


@pytest.mark.parametrize("way", ["http", "connect"])
async def test_the_official_modern_client_hears_of_changes(stack: Stack, way: Way) -> None:
    async with client(stack, way, "2026-07-28") as connected, connected.listen(tools_list_changed=True) as changes:
        stack.grant(Grant("a", can=("echo", "add", "slow")))
        async with asyncio.timeout(10):
            change = await anext(aiter(changes))
    assert "tools" in repr(change).lower()


FAULT = Problem("runtime.absent", "what it runs on is not installed here", remedy="homeport sync")


async def test_a_withheld_server_is_told_with_its_remedy(stack: Stack) -> None:
    entries = dict(stack.roster.entries)
    from dataclasses import replace

    stack.change(
        entries={**entries, "a": replace(entries["a"], fault=FAULT), "b": replace(entries["b"], trusted=False)}
    )
    async with client(stack, "http", "auto") as connected:
        instructions = connected.instructions or ""
        assert "a is not available: what it runs on is not installed here (homeport sync)" in instructions
        assert "b is not available" in instructions
        assert "homeport trust" in instructions
        listed = await connected.list_tools()
        assert listed.tools == []
        withheld = listed.meta["homeport/withheld"]
    assert [(why["server"], why["code"]) for why in withheld] == [("a", "fault"), ("b", "untrusted")]


async def test_a_withheld_servers_tool_is_refused_with_the_reason(stack: Stack) -> None:
    from dataclasses import replace

    entries = dict(stack.roster.entries)
    stack.change(entries={**entries, "a": replace(entries["a"], fault=FAULT)})
    async with client(stack, "http", "2026-07-28") as connected:
        result = await connected.call_tool("a__echo", {"text": "x"})
    assert result.is_error
    assert "homeport sync" in result.content[0].text


async def test_no_tool_granted_is_told(stack: Stack) -> None:
    stack.grant(Grant("a"))
    async with client(stack, "http", "legacy") as connected:
        assert "No tool is granted to the profile default (homeport grant" in (connected.instructions or "")


async def test_untrusted_profiles_grant_nothing_and_say_so(stack: Stack) -> None:
    stack.change(profiles={}, views={}, profiles_trusted=False)
    async with client(stack, "http", "auto") as connected:
        assert (await connected.list_tools()).tools == []
        assert "homeport trust" in (connected.instructions or "")


async def test_many_withheld_servers_cost_a_bounded_part_of_the_context(stack: Stack) -> None:
    from dataclasses import replace

    from homeport.surface.decide import compile_view

    entry, surface = stack.roster.entries["a"], stack.surfaces["a"]
    names = [f"server-{number:03}" for number in range(100)]
    stack.surfaces.update(dict.fromkeys(names, surface))
    profile = Profile("default", grants={name: Grant(name, can=("echo",)) for name in names})
    stack.change(
        entries={name: replace(entry, name=name, trusted=False) for name in names},
        views={"default": compile_view(profile, stack.surfaces)},
    )
    catalogue = await stack.gateway.lists.catalogue(stack.gateway.local_target("default"))
    assert len(catalogue.instructions().encode()) < WITHHELD_BYTES + 200
    assert "more: `homeport check` tells." in catalogue.instructions()
    assert len(catalogue.withheld) == 100


async def test_no_list_starts_a_server(stack: Stack) -> None:
    async with client(stack, "http", "auto") as connected:
        await connected.list_tools()
        await connected.list_prompts()
        await connected.list_resources()
        await connected.list_resource_templates()
    assert stack.pool.states() == []
    assert META
