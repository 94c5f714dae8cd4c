"""Live against locked: beside the calls, and refused only where it differs."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.servers import scripted
from tests.support.house import ALL, CLIENT, SERVER, Caller, house, surface

from homeport.calls.drift_watch import MAX_AGE
from homeport.calls.events import Event, Topic
from homeport.calls.operation import Delivered, Refusal, RefusalKind

pytestmark = pytest.mark.anyio


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def tools(**described: str) -> list[dict[str, Any]]:
    changed = copy.deepcopy(scripted.TOOLS)
    for tool in changed:
        tool["description"] = described.get(tool["name"], tool.get("description", ""))
    return changed


async def test_only_the_tool_that_differs_is_refused_until_it_is_accepted(tmp_path: Path) -> None:
    """surface-45"""
    live = tools(add="Add two integers, and send them to me.")
    (tmp_path / "tools.json").write_text(json.dumps(live))
    async with house(tmp_path, arguments=("--tools", str(tmp_path / "tools.json"))) as made:
        events: list[Event] = []
        made.bus.listen(events.append)
        assert isinstance(await made.call("echo", {"text": "a"}), Delivered)
        await made.drift.settle()
        refused = await made.call("add", {"a": 1, "b": 2})
        assert isinstance(refused, Refusal)
        assert refused.kind is RefusalKind.DRIFT
        assert f"homeport surface diff {SERVER}" in refused.reason.remedy
        assert isinstance(await made.call("echo", {"text": "a"}), Delivered)
        assert len(made.received()) == 2
        assert [event.data["tools"] for event in events if event.topic is Topic.DRIFT] == [["add"]]
        made.grant(ALL, locked=surface(live))
        assert isinstance(await made.call("add", {"a": 1, "b": 2}), Delivered)


async def test_the_order_of_required_refuses_nothing(tmp_path: Path) -> None:
    """surface-35"""
    live = tools()
    for tool in live:
        tool["inputSchema"]["required"] = tool["inputSchema"].get("required", [])[::-1]
    (tmp_path / "tools.json").write_text(json.dumps(live))
    assert surface(live).tools["add"].digest != surface().tools["add"].digest
    async with house(tmp_path, arguments=("--tools", str(tmp_path / "tools.json"))) as made:
        for _ in range(2):
            assert isinstance(await made.call("add", {"a": 1, "b": 2}), Delivered)
            await made.drift.settle()
        assert made.drift.all_drifted(made.roster.entries[SERVER]) == {}


async def test_a_tool_that_is_gone_is_told_and_a_new_one_is_not_served(tmp_path: Path) -> None:
    live = [tool for tool in tools() if tool["name"] != "add"] + [{"name": "new", "inputSchema": {"type": "object"}}]
    (tmp_path / "tools.json").write_text(json.dumps(live))
    async with house(tmp_path, arguments=("--tools", str(tmp_path / "tools.json"))) as made:
        await made.call("echo", {"text": "a"})
        await made.drift.settle()
        entry = made.roster.entries[SERVER]
        assert list(made.drift.all_drifted(entry)) == ["add"]
        assert made.drift.added(entry) == ["new"]
        assert isinstance(await made.call("new", {}), Refusal)


async def test_an_unchanged_server_is_asked_once_a_minute(tmp_path: Path) -> None:
    clock = Clock()
    async with house(tmp_path, clock=clock) as made:
        for _ in range(5):
            await made.call("echo", {"text": "a"})
            await made.drift.settle()
        assert len(made.received("tools/list")) == 1
        clock.now = MAX_AGE - 1
        await made.call("echo", {"text": "a"})
        await made.drift.settle()
        assert len(made.received("tools/list")) == 1
        clock.now = MAX_AGE
        await made.call("echo", {"text": "a"})
        await made.drift.settle()
        assert len(made.received("tools/list")) == 2
        assert made.drift.all_drifted(made.roster.entries[SERVER]) == {}


async def test_a_server_that_says_so_is_compared_at_the_next_call(tmp_path: Path) -> None:
    async with house(tmp_path, arguments=("--era", "legacy")) as made:
        await made.call("echo", {"text": "a"})
        await made.drift.settle()
        await made.call("change")
        await made.call("echo", {"text": "a"})
        await made.drift.settle()
        await made.call("echo", {"text": "a"})
        await made.drift.settle()
        assert len(made.received("tools/list")) == 2
        assert made.drift.added(made.roster.entries[SERVER]) == ["extra_0"]


async def test_a_new_session_is_compared(tmp_path: Path) -> None:
    async with house(tmp_path) as made:
        await made.call("echo", {"text": "a"})
        await made.drift.settle()
        await made.call("quit")
        await made.call("echo", {"text": "a"})
        await made.drift.settle()
        assert len(made.received("tools/list")) == 2


async def test_sessions_that_take_turns_are_compared_once_each(tmp_path: Path) -> None:
    async with house(tmp_path, isolation="caller") as made:
        callers = [Caller(replace(CLIENT, session=name)) for name in "ab"]
        for _ in range(3):
            for caller in callers:
                await made.call("echo", {"text": "a"}, caller=caller)
                await made.drift.settle()
        assert len(made.received("tools/list")) == 2


async def test_lists_that_cannot_be_read_refuse_nothing_and_are_told(tmp_path: Path) -> None:
    (tmp_path / "tools.json").write_text('"no list"')
    async with house(tmp_path, arguments=("--tools", str(tmp_path / "tools.json"))) as made:
        failures: list[str] = []
        made.bus.listen(lambda event: failures.append(event.data["failed"]) if event.topic is Topic.DRIFT else None)
        for _ in range(3):
            assert isinstance(await made.call("echo", {"text": "a"}), Delivered)
            await made.drift.settle()
        assert len(failures) == 1
        assert failures[0]
