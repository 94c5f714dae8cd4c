"""Who may run at once, who asks, and who answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.support.house import ALL, CLIENT, QUICK, SERVER, Caller, House, house, surface
from tests.support.processes import becomes

from homeport.calls.approvals import Choice, judge, level, thread
from homeport.calls.events import Topic
from homeport.calls.operation import Delivered, Refusal, RefusalKind
from homeport.calls.ports import StandingApproval
from homeport.ground.errors import InvalidInput, Refused
from homeport.surface.policy import Profile
from homeport.upstreams.session import Reply

pytestmark = pytest.mark.anyio


class Memory:
    """Standing approvals that outlive a house."""

    def __init__(self) -> None:
        self.kept: list[StandingApproval] = []

    def standing(self) -> Iterable[StandingApproval]:
        return tuple(self.kept)

    def approve(self, approval: StandingApproval) -> None:
        self.kept.append(approval)

    def revoke(self, approval: StandingApproval) -> None:
        self.kept.remove(approval)


async def asked(made: House, count: int = 1) -> str:
    assert await becomes(lambda: len(made.approvals.pending()) == count)
    return made.approvals.pending()[-1].id


@pytest.mark.parametrize(
    ("approval", "read_only", "verdict"),
    [
        ("read-only", True, "run"),
        ("read-only", False, "refuse"),
        ("confirm", True, "run"),
        ("confirm", False, "ask"),
        ("full", True, "run"),
        ("full", False, "run"),
    ],
)
def test_levels(approval: Any, read_only: bool, verdict: str) -> None:
    assert judge(approval, read_only=read_only) == verdict


def test_a_page_gets_at_most_confirm_unless_the_profile_says_full() -> None:
    assert level(Profile("p"), "app") == "confirm"
    assert level(Profile("p", approval="read-only"), "app") == "read-only"
    assert level(Profile("p", apps="full"), "app") == "full"
    assert level(Profile("p"), "http") == "full"


def test_a_thread_is_a_session_or_else_a_client_for_a_day() -> None:
    assert thread("p", replace(CLIENT, session="s"), 0) == thread("p", replace(CLIENT, session="s"), 10**12)
    assert thread("p", CLIENT, 0) != thread("p", CLIENT, 10**12)
    assert thread("p", CLIENT, 0) != thread("q", CLIENT, 0)


async def test_read_only_refuses_what_does_more_without_asking(tmp_path: Path) -> None:
    async with house(tmp_path, approval="read-only") as made:
        assert isinstance(await made.call("echo", {"text": "a"}), Delivered)
        refused = await made.call("delete", {"name": "x"})
        assert isinstance(refused, Refusal)
        assert refused.kind is RefusalKind.APPROVAL
        assert refused.reason.remedy
        assert len(made.received()) == 1


async def test_an_answer_once_is_for_one_call(tmp_path: Path) -> None:
    async with house(tmp_path, approval="confirm") as made:
        states: list[str] = []
        made.bus.listen(lambda event: states.append(event.data["state"]) if event.topic is Topic.APPROVAL else None)
        task = asyncio.create_task(made.call("delete", {"name": "x"}))
        question = made.approvals.answer(await asked(made), Choice.ONCE, "console")
        assert isinstance(await task, Delivered)
        assert (question.tool, json.loads(question.arguments)) == ("delete", {"name": "x"})
        assert states == ["waiting", "once"]
        assert made.rows("ended")[0].approval == "once"
        task = asyncio.create_task(made.call("delete", {"name": "x"}))
        made.approvals.answer(await asked(made), Choice.DECLINE, "terminal")
        declined = await task
        assert isinstance(declined, Refusal)
        assert declined.reason.rule == "approval.declined"
        assert made.rows("refused")[0].approval == "decline"
        assert len(made.received()) == 1


async def test_an_answer_for_a_thread_covers_it_and_no_other(tmp_path: Path) -> None:
    async with house(tmp_path, approval="confirm") as made:
        mine, other = (Caller(replace(CLIENT, session=name)) for name in ("mine", "other"))
        first = asyncio.create_task(made.call("delete", {"name": "1"}, caller=mine))
        await asked(made)
        second = asyncio.create_task(made.call("delete", {"name": "2"}, caller=mine))
        identifier = await asked(made, 2)
        made.approvals.answer(identifier, Choice.THREAD, "console")
        assert isinstance(await first, Delivered)
        assert isinstance(await second, Delivered)
        assert isinstance(await made.call("delete", {"name": "3"}, caller=mine), Delivered)
        third = asyncio.create_task(made.call("delete", {"name": "4"}, caller=other))
        made.approvals.answer(await asked(made), Choice.DECLINE, "console")
        assert isinstance(await third, Refusal)


async def test_always_stands_while_the_definition_does_and_outlives_the_process(tmp_path: Path) -> None:
    memory = Memory()
    async with house(tmp_path, approval="confirm", memory=memory) as made:
        task = asyncio.create_task(made.call("delete", {"name": "x"}))
        made.approvals.answer(await asked(made), Choice.ALWAYS, "terminal")
        assert isinstance(await task, Delivered)
        assert [(kept.server, kept.tool, kept.by) for kept in memory.kept] == [(SERVER, "delete", "terminal")]
    async with house(tmp_path, approval="confirm", memory=memory) as made:
        assert isinstance(await made.call("delete", {"name": "y"}), Delivered)
        assert made.rows("ended")[0].approval == "always"
    tools = [{"name": "delete", "description": "Delete everything.", "inputSchema": {"type": "object"}}]
    async with house(tmp_path, approval="confirm", memory=memory, locked=surface(tools)) as made:
        task = asyncio.create_task(made.call("delete", {"name": "y"}))
        made.approvals.answer(await asked(made), Choice.DECLINE, "console")
        assert isinstance(await task, Refusal)
        made.approvals.revoke(memory.kept[0])
        assert memory.kept == []


async def test_nobody_answers_is_a_refusal_that_says_where(tmp_path: Path) -> None:
    async with house(tmp_path, approval="confirm", limits=replace(QUICK, ask_timeout=0.1)) as made:
        refused = await made.call("delete", {"name": "x"})
        assert isinstance(refused, Refusal)
        assert "homeport approvals" in refused.text
        assert refused.reason.rule == "approval.unanswered"
        assert made.approvals.pending() == []
        assert made.rows()[0].approval == "unanswered"
        assert not made.record.exists()


async def test_only_who_the_profile_names_may_answer(tmp_path: Path) -> None:
    async with house(tmp_path, approval="confirm", asks=("console",)) as made:
        task = asyncio.create_task(made.call("delete", {"name": "x"}))
        identifier = await asked(made)
        with pytest.raises(Refused):
            made.approvals.answer(identifier, Choice.ONCE, "terminal")
        with pytest.raises(InvalidInput):
            made.approvals.answer("another", Choice.ONCE, "console")
        made.approvals.answer(identifier, Choice.ONCE, "console")
        assert isinstance(await task, Delivered)
        with pytest.raises(InvalidInput):
            made.approvals.answer(identifier, Choice.ONCE, "console")


ELICITS = replace(CLIENT, capabilities=b'{"elicitation":{}}')


@pytest.mark.parametrize(
    ("reply", "runs"),
    [
        (b'{"action":"accept","content":{"answer":"once"}}', True),
        (b'{"action":"accept","content":{"answer":"whatever"}}', False),
        (b'{"action":"accept"}', False),
        (b'{"action":"decline"}', False),
        (b'{"action":"cancel"}', False),
    ],
)
async def test_a_client_that_is_trusted_to_ask_is_asked(tmp_path: Path, reply: bytes, runs: bool) -> None:
    async with house(tmp_path, approval="confirm", asks=("console", "client")) as made:
        caller = Caller(ELICITS, reply=Reply(result=reply))
        outcome = await made.call("delete", {"name": "x"}, caller=caller)
        assert isinstance(outcome, Delivered) is runs
        assert [method for method, _ in caller.asked] == ["elicitation/create"]


@pytest.mark.parametrize(
    ("asks", "client"), [(("console",), ELICITS), (("console", "client"), CLIENT), (("console", "terminal"), ELICITS)]
)
async def test_a_client_that_is_not_trusted_or_cannot_is_not_asked(tmp_path: Path, asks: Any, client: Any) -> None:
    async with house(tmp_path, approval="confirm", asks=asks) as made:
        caller = Caller(client)
        task = asyncio.create_task(made.call("delete", {"name": "x"}, caller=caller))
        made.approvals.answer(await asked(made), Choice.ONCE, "console")
        assert isinstance(await task, Delivered)
        assert caller.asked == []


async def test_a_client_that_fails_to_ask_leaves_the_question_to_others(tmp_path: Path) -> None:
    async with house(tmp_path, approval="confirm", asks=("console", "client")) as made:
        caller = Caller(ELICITS)
        task = asyncio.create_task(made.call("delete", {"name": "x"}, caller=caller))
        assert await becomes(lambda: caller.asked)
        made.approvals.answer(await asked(made), Choice.ONCE, "console")
        assert isinstance(await task, Delivered)


async def test_withdrawing_a_call_withdraws_its_question(tmp_path: Path) -> None:
    async with house(tmp_path, approval="confirm") as made:
        task = asyncio.create_task(made.call("delete", {"name": "x"}))
        await asked(made)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert made.approvals.pending() == []
        assert [(row.stage, row.decision) for row in made.rows()] == [("refused", "cancelled")]


async def test_an_answer_to_what_is_no_longer_so_runs_nothing(tmp_path: Path) -> None:
    async with house(tmp_path, approval="confirm") as made:
        task = asyncio.create_task(made.call("delete", {"name": "x"}))
        identifier = await asked(made)
        made.change(source="told differently")
        made.grant(replace(ALL, can=("echo",)), approval="confirm")
        made.approvals.answer(identifier, Choice.ONCE, "console")
        refused = await task
        assert isinstance(refused, Refusal)
        assert refused.kind is RefusalKind.UNKNOWN
        assert not made.record.exists()


async def test_a_change_that_does_not_concern_the_call_does_not_undo_its_answer(tmp_path: Path) -> None:
    async with house(tmp_path, approval="confirm") as made:
        task = asyncio.create_task(made.call("delete", {"name": "x"}))
        identifier = await asked(made)
        made.change(source="told differently")
        made.approvals.answer(identifier, Choice.ONCE, "console")
        assert isinstance(await task, Delivered)


async def test_a_server_that_went_away_meanwhile_is_not_called(tmp_path: Path) -> None:
    async with house(tmp_path, approval="confirm") as made:
        task = asyncio.create_task(made.call("delete", {"name": "x"}))
        identifier = await asked(made)
        made.change(trusted=False)
        made.approvals.answer(identifier, Choice.ONCE, "console")
        refused = await task
        assert isinstance(refused, Refusal)
        assert refused.kind is RefusalKind.UNTRUSTED
