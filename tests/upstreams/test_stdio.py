"""Sessions with child processes: both eras, and servers that misbehave."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from pathlib import Path

import pytest
from tests.servers import hostile_server, scripted_server
from tests.support.mcp_calls import call, params, said
from tests.support.processes import becomes, runs
from tests.upstreams.conftest import QUICK, Heard, Opener

from homeport.ground.errors import ProtocolViolation, Unavailable
from homeport.ground.secrets import Template
from homeport.upstreams.launch import StdioLaunch
from homeport.upstreams.session import Era, Exchange, Reply
from homeport.upstreams.stdio import StdioSession

pytestmark = pytest.mark.anyio

ERAS = pytest.mark.parametrize("era", ["legacy", "modern"])
IMPATIENT = dataclasses.replace(QUICK, connect_timeout=1.0, probe_timeout=0.3)


@ERAS
async def test_a_server_of_either_era_is_recognised_and_answers(opened: Opener, era: str) -> None:
    session = await opened(scripted_server("--era", era))
    assert session.negotiated.era == era
    assert json.loads(session.negotiated.server_info) == {"name": "scripted", "version": "1.2.3"}
    assert session.negotiated.instructions == "Use echo for everything."
    assert await said(session, "echo", text="hello ü") == "hello ü"


async def test_a_server_of_both_eras_is_spoken_to_in_the_modern_one(opened: Opener) -> None:
    session = await opened(scripted_server("--era", "dual"))
    assert session.negotiated.era is Era.MODERN


async def test_a_known_legacy_server_is_not_probed(opened: Opener, tmp_path: Path) -> None:
    record = tmp_path / "record"
    session = await opened(scripted_server("--era", "legacy", "--record", str(record)), known=Era.LEGACY)
    await said(session, "echo", text="x")
    methods = [json.loads(line)["method"] for line in record.read_bytes().splitlines()]
    assert methods == ["initialize", "notifications/initialized", "tools/call"]


@ERAS
async def test_the_server_is_told_who_we_are_and_what_the_caller_can(opened: Opener, tmp_path: Path, era: str) -> None:
    record = tmp_path / "record"
    launch = scripted_server("--era", era, "--record", str(record))
    await opened(launch, capabilities=b'{"elicitation":{"form":{}}}')
    opening = {json.loads(line)["method"]: json.loads(line)["params"] for line in record.read_bytes().splitlines()}
    if era == "legacy":
        assert opening["initialize"]["capabilities"] == {"elicitation": {"form": {}}}
        assert opening["initialize"]["protocolVersion"] == "2025-11-25"
    else:
        meta = opening["server/discover"]["_meta"]
        assert meta["io.modelcontextprotocol/clientCapabilities"] == {"elicitation": {"form": {}}}
        assert meta["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"


@ERAS
async def test_a_result_is_the_bytes_that_the_server_sent(opened: Opener, era: str) -> None:
    reply = await call(await opened(scripted_server("--era", era)), "raw")
    assert reply.result is not None
    assert reply.result.startswith('{ "content" : [ {"type":"text","text":"caf\\u00e9 ü","x-unknown":1.0} ],'.encode())
    assert b'"big":12345678901234567890,"tiny":1e-400,"z":1,"a":2},"unknownMember":null' in reply.result


async def test_an_error_is_the_bytes_that_the_server_sent(opened: Opener) -> None:
    reply = await call(await opened(scripted_server()), "refuse", code=-32007, message="no")
    assert reply.result is None
    assert json.loads(reply.error or b"") == {"code": -32007, "message": "no", "data": {"by": "scripted"}}


async def test_answers_find_their_callers_in_any_order(opened: Opener) -> None:
    session = await opened(scripted_server("--era", "legacy"))
    async with asyncio.TaskGroup() as group:
        slow = group.create_task(said(session, "slow", seconds=0.2))
        quick = [group.create_task(said(session, "echo", text=str(n))) for n in range(50)]
    assert slow.result() == "done"
    assert [task.result() for task in quick] == [str(n) for n in range(50)]


@ERAS
async def test_two_callers_with_the_same_progress_token_each_get_their_own_progress(opened: Opener, era: str) -> None:
    session = await opened(scripted_server("--era", era))

    async def watched(steps: int) -> list[tuple[object, int]]:
        told: list[tuple[object, int]] = []

        def note(method: str, raw: bytes) -> None:
            assert method == "notifications/progress"
            told.append((json.loads(raw)["progressToken"], json.loads(raw)["progress"]))

        sent = params(session, "slow", {"seconds": 0.1, "steps": steps}, progressToken="mine")
        await session.request("tools/call", sent, Exchange(on_notification=note))
        return told

    two, three = await asyncio.gather(watched(2), watched(3))
    assert two == [("mine", 1), ("mine", 2)]
    assert three == [("mine", 1), ("mine", 2), ("mine", 3)]


async def test_progress_keeps_a_slow_call_alive_and_silence_ends_it(opened: Opener) -> None:
    session = await opened(scripted_server())
    sent = params(session, "slow", {"seconds": 1.2, "steps": 12}, progressToken=1)
    reply = await session.request("tools/call", sent, Exchange(timeout=0.5))
    assert reply.result is not None
    with pytest.raises(Unavailable) as caught:
        await said(session, "slow", Exchange(timeout=0.3), seconds=20)
    assert caught.value.code == "upstream.timeout"
    assert await said(session, "echo", text="still there") == "still there"


async def test_a_call_ends_in_the_end_however_much_progress_it_tells(opened: Opener) -> None:
    session = await opened(scripted_server(), limits=dataclasses.replace(QUICK, call_total=0.4))
    sent = params(session, "slow", {"seconds": 20, "steps": 200}, progressToken=1)
    with pytest.raises(Unavailable):
        await session.request("tools/call", sent, Exchange(timeout=10))


@ERAS
async def test_cancelling_the_caller_cancels_the_call_upstream(opened: Opener, tmp_path: Path, era: str) -> None:
    record = tmp_path / "record"
    session = await opened(scripted_server("--era", era, "--record", str(record)))
    calling = asyncio.ensure_future(said(session, "slow", seconds=20))
    assert await becomes(lambda: b"slow" in record.read_bytes())
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
    assert await said(session, "echo", text="on") == "on"
    lines = [json.loads(line) for line in record.read_bytes().splitlines()]
    called = next(line for line in lines if line.get("params", {}).get("name") == "slow")
    cancelled = next(line for line in lines if line["method"] == "notifications/cancelled")
    assert cancelled["params"]["requestId"] == called["id"]


async def test_what_a_legacy_server_asks_goes_to_the_caller_of_the_only_call(opened: Opener) -> None:
    session = await opened(scripted_server("--era", "legacy"))
    asked: list[tuple[str, str]] = []

    async def ask(method: str, params: bytes) -> Reply:
        asked.append((method, json.loads(params)["message"]))
        return Reply(result=b'{"action":"accept","content":{"name":"Ada"}}')

    text = await said(session, "ask", Exchange(ask=ask), message="Who?")
    assert asked == [("elicitation/create", "Who?")]
    assert json.loads(text.removeprefix("answered ")) == {"action": "accept", "content": {"name": "Ada"}}


async def test_a_person_may_think_longer_than_a_server_may_be_silent(opened: Opener) -> None:
    session = await opened(scripted_server("--era", "legacy"))

    async def ask(method: str, params: bytes) -> Reply:
        await asyncio.sleep(0.6)
        return Reply(result=b'{"action":"decline"}')

    assert "decline" in await said(session, "ask", Exchange(ask=ask, timeout=0.3))


async def test_a_question_nobody_can_be_asked_is_answered_with_an_error(opened: Opener) -> None:
    session = await opened(scripted_server("--era", "legacy"))
    assert "no caller can be asked" in await said(session, "ask")


async def test_a_question_with_two_callers_in_flight_reaches_neither(opened: Opener) -> None:
    session = await opened(scripted_server("--era", "legacy"))
    asked: list[str] = []

    async def ask(method: str, params: bytes) -> Reply:
        asked.append(method)
        return Reply(result=b"{}")

    async with asyncio.TaskGroup() as group:
        group.create_task(said(session, "slow", Exchange(ask=ask), seconds=0.5))
        asking = group.create_task(said(session, "ask", Exchange(ask=ask)))
    assert "whose question" in asking.result()
    assert asked == []


async def test_a_listing_of_our_own_beside_the_call_makes_no_question_ambiguous(opened: Opener) -> None:
    session = await opened(scripted_server("--era", "legacy"))

    async def ask(method: str, params: bytes) -> Reply:
        return Reply(result=b'{"action":"decline"}')

    async with asyncio.TaskGroup() as group:
        group.create_task(said(session, "slow", Exchange(), seconds=0.5))
        asking = group.create_task(said(session, "ask", Exchange(ask=ask)))
    assert "decline" in asking.result()


async def test_a_server_that_has_asked_once_gets_one_call_at_a_time(opened: Opener) -> None:
    session = await opened(scripted_server("--era", "legacy"))
    answers: list[str] = []

    def answering(name: str) -> Exchange:
        async def ask(method: str, params: bytes) -> Reply:
            answers.append(name)
            return Reply(result=json.dumps({"action": "accept", "content": {"name": name}}).encode())

        return Exchange(ask=ask)

    await said(session, "ask", answering("first"))
    texts = await asyncio.gather(*(said(session, "ask", answering(f"caller{n}")) for n in range(5)))
    assert [json.loads(text.removeprefix("answered "))["content"]["name"] for text in texts] == answers[1:]
    assert len(answers) == 6


async def test_a_modern_servers_question_is_a_result_like_any_other(opened: Opener) -> None:
    reply = await call(await opened(scripted_server("--era", "modern")), "ask")
    assert json.loads(reply.result or b"")["resultType"] == "input_required"


@ERAS
async def test_a_changed_list_is_heard(opened: Opener, era: str) -> None:
    heard = Heard()
    session = await opened(scripted_server("--era", era), heard=heard)
    await said(session, "change")
    assert await becomes(lambda: heard.methods == ["notifications/tools/list_changed"])


async def test_a_log_message_goes_to_the_only_caller_and_to_nobody_when_there_are_two(opened: Opener) -> None:
    heard, told = Heard(), []
    session = await opened(scripted_server(), heard=heard)

    def note(method: str, raw: bytes) -> None:
        told.append(json.loads(raw)["data"])

    await said(session, "log", Exchange(on_notification=note), text="mine")
    assert told == ["mine"]
    async with asyncio.TaskGroup() as group:
        group.create_task(said(session, "slow", Exchange(on_notification=note), seconds=0.3))
        group.create_task(said(session, "log", Exchange(on_notification=note), text="whose?"))
    assert told == ["mine"]
    assert heard.methods == ["notifications/message"]


async def test_environment_values_reach_the_child_and_leave_no_trace_in_its_stderr(
    opened: Opener, tmp_path: Path
) -> None:
    heard = Heard()
    argv = scripted_server("--stderr", "token is swordfish-1")
    session = await opened(StdioLaunch(argv, tmp_path, {"KEY": (Template("swordfish-1"),)}), heard=heard)
    assert await said(session, "env", name="KEY") == "swordfish-1"
    assert await becomes(lambda: heard.children[0].stderr() == ("token is [hidden]",))


async def test_a_server_that_exits_at_once_says_its_last_words(opened: Opener) -> None:
    with pytest.raises(Unavailable) as caught:
        await opened(hostile_server("exits", "4"))
    assert caught.value.code == "upstream.exited"
    assert "exited with status 4" in str(caught.value)
    assert "set FROBNICATOR and try again" in str(caught.value)


@pytest.mark.parametrize("mode", ["silent", "deaf", "not-mcp"])
async def test_a_server_that_never_answers_is_given_up_in_time_and_leaves_nothing(opened: Opener, mode: str) -> None:
    """surface-141, surface-139"""
    heard = Heard()
    with pytest.raises(Unavailable) as caught:
        await opened(hostile_server(mode), limits=IMPATIENT, heard=heard)
    assert caught.value.code == "upstream.timeout"
    assert not runs(heard.children[-1].pid)
    if mode == "not-mcp":
        assert "not MCP" in str(caught.value)


async def test_a_server_that_closes_its_output_is_ended(opened: Opener) -> None:
    heard = Heard()
    with pytest.raises(Unavailable):
        await opened(hostile_server("closes"), heard=heard)
    assert all(not runs(child.pid) for child in heard.children)


async def test_a_server_that_dies_of_the_probe_is_started_again_as_a_legacy_one(opened: Opener) -> None:
    session = await opened(hostile_server("dies-on-probe"))
    assert session.negotiated.era is Era.LEGACY
    assert await said(session, "echo") == "ok"


async def test_a_legacy_server_that_is_silent_about_the_probe_is_initialized(opened: Opener) -> None:
    argv = scripted_server("--era", "legacy", "--start-delay", "0.8")
    session = await opened(argv, limits=dataclasses.replace(QUICK, probe_timeout=0.1))
    assert session.negotiated.era is Era.LEGACY
    assert await said(session, "echo", text="x") == "x"


async def test_a_modern_server_that_starts_slowly_is_still_recognised(opened: Opener) -> None:
    argv = scripted_server("--era", "modern", "--start-delay", "0.8")
    session = await opened(argv, limits=dataclasses.replace(QUICK, probe_timeout=0.1))
    assert session.negotiated.era is Era.MODERN
    assert await said(session, "echo", text="x") == "x"


@pytest.mark.parametrize("mode", ["noise", "html", "twice", "wrong-id", "flood", "asks-strangely"])
async def test_noise_and_stray_answers_change_nothing(opened: Opener, mode: str) -> None:
    session = await opened(hostile_server(mode))
    for _ in range(3):
        assert await said(session, "echo") == "ok"
    assert isinstance(session, StdioSession)
    if mode in ("noise", "twice", "wrong-id", "html"):
        count, last = session.noise
        assert count
        assert last


@pytest.mark.parametrize("mode", ["both", "null"])
async def test_a_response_that_is_none_fails_its_call_alone(opened: Opener, mode: str) -> None:
    session = await opened(hostile_server(mode))
    with pytest.raises(ProtocolViolation) as caught:
        await call(session, "echo")
    assert (caught.value.code, caught.value.whose) == ("upstream.not_a_response", "upstream")
    assert session.alive
    assert (await session.request("tools/list", b"{}", Exchange())).result


@pytest.mark.parametrize(("mode", "argument"), [("huge", "3000000"), ("endless", "")])
async def test_a_message_beyond_the_limit_ends_the_session_and_its_process(
    opened: Opener, mode: str, argument: str
) -> None:
    heard = Heard()

    async def converse() -> None:
        await call(await opened(hostile_server(mode, argument), heard=heard, limits=IMPATIENT), "echo")

    with pytest.raises((ProtocolViolation, Unavailable)) as caught:
        await converse()
    assert caught.value.code == "upstream.message_too_large"
    assert await becomes(lambda: not runs(heard.children[-1].pid))


async def test_a_message_just_within_the_limit_arrives(opened: Opener) -> None:
    session = await opened(hostile_server("huge", "900000"))
    assert len(await said(session, "echo")) == 900_000


@pytest.mark.parametrize("mode", ["half", "quit"])
async def test_an_end_in_the_middle_of_a_call_is_an_unknown_outcome(opened: Opener, mode: str) -> None:
    heard = Heard()
    session = await opened(scripted_server() if mode == "quit" else hostile_server("half"), heard=heard)
    with pytest.raises(Unavailable, match="unknown") as caught:
        await call(session, "quit" if mode == "quit" else "echo")
    assert caught.value.code == "upstream.outcome_unknown"
    assert not session.alive
    assert len(heard.ends) == 1
    with pytest.raises(Unavailable) as after:
        await call(session, "echo", text="x")
    assert after.value.code == "upstream.closed"


async def test_closing_fails_calls_in_flight_and_tells_no_end(opened: Opener) -> None:
    heard = Heard()
    session = await opened(scripted_server(), heard=heard)
    calling = asyncio.ensure_future(said(session, "slow", seconds=20))
    await asyncio.sleep(0)
    await session.close()
    with pytest.raises(Unavailable):
        await calling
    assert heard.ends == []
    assert not runs(heard.children[0].pid)


async def test_a_call_to_a_server_that_does_not_read_waits_no_longer_than_its_timeout(opened: Opener) -> None:
    session = await opened(scripted_server())
    assert isinstance(session, StdioSession)
    assert session.child is not None
    session.child.flow(on=False)
    with pytest.raises(Unavailable) as caught:
        await said(session, "echo", Exchange(timeout=0.1), text="x")
    assert caught.value.code == "upstream.timeout"
