"""The one path, with a real server at its end: what is sent, what is refused, what the journal holds of both."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from tests.servers import scripted
from tests.support.house import ALL, CLIENT, QUICK, SERVER, Caller, house, surface
from tests.support.processes import becomes

from homeport.calls.operation import Delivered, Dry, Kind, Outcome, Refusal, RefusalKind, UpstreamError
from homeport.declarations.model import AppSpec, Availability, Declaration
from homeport.ground.errors import Problem
from homeport.surface.policy import Grant, Patterns, Rates, Rule
from homeport.upstreams.launch import Launch
from homeport.upstreams.pool import Pool
from homeport.upstreams.session import Era, Reply, Session

pytestmark = pytest.mark.anyio


def text_of(outcome: Outcome) -> str:
    assert isinstance(outcome, Delivered), outcome
    return json.loads(outcome.result)["content"][0]["text"]


def refusal(outcome: Outcome) -> Refusal:
    assert isinstance(outcome, Refusal), outcome
    return outcome


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_granted_call_is_delivered_and_journalled(tmp_path: Path, era: str) -> None:
    async with house(tmp_path, arguments=("--era", era)) as made:
        outcome = await made.call("echo", {"text": "hello"})
        assert text_of(outcome) == "hello"
        assert isinstance(outcome, Delivered)
        assert outcome.era is Era(era)
        begun, ended = made.rows()
        assert (begun.stage, ended.stage, begun.id) == ("begun", "ended", ended.id)
        assert (ended.server, ended.name, ended.profile, ended.decision) == (SERVER, "echo", "default", "accept")
        assert ended.project == str(tmp_path.resolve())
        assert ended.args is not None
        assert ended.result is not None
        assert ended.args["keys"] == ["text"]
        assert ended.result["is_error"] is False
        assert ended.duration_ms is not None
        assert ended.phases_ms is not None
        assert {"decide", "connect", "call"} <= ended.phases_ms.keys()
        assert "hello" not in made.text()


async def test_a_result_travels_byte_for_byte(tmp_path: Path) -> None:
    async with house(tmp_path, arguments=("--era", "legacy")) as made:
        outcome = await made.call("raw")
        assert isinstance(outcome, Delivered)
        assert outcome.result.decode() == scripted.RAW_RESULT % ""


async def test_unknown_members_and_trace_context_reach_the_server(tmp_path: Path) -> None:
    async with house(tmp_path, arguments=("--era", "modern")) as made:
        meta = {"traceparent": "00-1-2-01", "io.modelcontextprotocol/protocolVersion": "1999-01-01"}
        params = {"x-new": b"[1.0]", "_meta": json.dumps(meta).encode(), "name": b'"another"'}
        await made.call("echo", {"text": "a"}, params=params)
        (sent,) = made.received()
        assert sent["name"] == "echo"
        assert sent["x-new"] == [1.0]
        assert sent["_meta"]["traceparent"] == "00-1-2-01"
        assert sent["_meta"]["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"


async def test_denied_unnamed_invented_and_quarantined_are_one_answer(tmp_path: Path) -> None:
    """surface-121, surface-135"""
    locked = surface([*scripted.TOOLS, {"name": "bad", "inputSchema": {"type": "string"}}])
    assert "bad" in locked.quarantined
    grant = Grant(SERVER, can=("echo",), never=("delete",))
    async with house(tmp_path, grant=grant, locked=locked) as made:
        refused = {name: refusal(await made.call(name)) for name in ("delete", "add", "invented", "bad")}
        assert {item.text.replace(name, "X") for name, item in refused.items()} == {"unknown tool: X"}
        assert {item.kind for item in refused.values()} == {RefusalKind.UNKNOWN}
        assert all(not item.details for item in refused.values())
        assert len({item.reason.rule for item in refused.values()}) > 2
        assert [row.stage for row in made.rows()] == ["refused"] * 4
        assert made.received("initialize") == []


BAD_CALLS: list[tuple[str, Any, RefusalKind]] = [
    ("add", {"a": 1}, RefusalKind.INVALID_ARGUMENTS),
    ("add", {"a": "x", "b": 1}, RefusalKind.INVALID_ARGUMENTS),
    ("add", b"[1]", RefusalKind.INVALID_ARGUMENTS),
    ("add", b"{", RefusalKind.INVALID_ARGUMENTS),
    ("echo", {"text": "forbidden"}, RefusalKind.POLICY),
]


async def test_a_bad_call_sends_nothing(tmp_path: Path) -> None:
    """surface-127..130, surface-101: the server is not even started."""
    rules = (Rule("echo", deny=(Patterns("text", ("^forbid",)),)),)
    async with house(tmp_path, grant=replace(ALL, rules=rules)) as made:
        for name, arguments, kind in BAD_CALLS:
            refused = refusal(await made.call(name, arguments))
            dry = refusal(await made.call(name, arguments, dry_run=True))
            assert (refused.kind, refused.reason) == (kind, dry.reason)
        assert [row.decision for row in made.rows("refused")] == [
            kind.value for _, _, kind in BAD_CALLS for _ in range(2)
        ]
        assert not made.record.exists()
        assert "forbidden" not in made.text()


async def test_a_dry_run_shows_the_decision_and_sends_nothing(tmp_path: Path) -> None:
    """surface-111"""
    rules = (Rule("echo", deny=(Patterns("text", ("^forbid",)),)),)
    async with house(tmp_path, grant=replace(ALL, rules=rules)) as made:
        dry = await made.call("echo", {"text": "a"}, dry_run=True)
        denied = await made.call("echo", {"text": "forbidden"}, dry_run=True)
        assert isinstance(dry, Dry)
        assert (dry.tool, json.loads(dry.arguments)) == ("echo", {"text": "a"})
        assert refusal(denied).kind is RefusalKind.POLICY
        assert [(row.stage, row.dry_run) for row in made.rows()] == [("ended", True), ("refused", True)]
        assert not made.record.exists()


async def test_a_tool_error_is_delivered_and_marked(tmp_path: Path) -> None:
    async with house(tmp_path) as made:
        assert text_of(await made.call("fail", {"text": "no"})) == "no"
        (ended,) = made.rows("ended")
        assert ended.result is not None
        assert ended.result["is_error"] is True


async def test_a_servers_error_is_its_own(tmp_path: Path) -> None:
    async with house(tmp_path) as made:
        outcome = await made.call("refuse", {"code": -32050, "message": "not today"})
        assert isinstance(outcome, UpstreamError)
        assert json.loads(outcome.error) == {"code": -32050, "message": "not today", "data": {"by": "scripted"}}
        assert made.rows("ended")[0].reason == "not today"


@pytest.mark.parametrize("tool", ["echo", "fail", "refuse"])
async def test_a_rule_on_results_holds_the_answer_back(tmp_path: Path, tool: str) -> None:
    """surface-113, surface-115: results, error results and errors alike."""
    rules = (Rule(tool, post_call=(Patterns("text", ("classified",)),)),)
    arguments = {"message" if tool == "refuse" else "text": "classified matter"}
    async with house(tmp_path, grant=replace(ALL, rules=rules)) as made:
        held = refusal(await made.call(tool, arguments))
        assert held.kind is RefusalKind.POLICY
        assert "classified matter" not in held.text
        (ended,) = made.rows("ended")
        assert ended.decision == "policy_denied"
        assert ended.result is not None
        assert len(made.received()) == 1


@pytest.mark.parametrize(("mode", "delivered"), [("warn", True), ("refuse", False)])
async def test_a_result_against_its_schema(tmp_path: Path, mode: Any, delivered: bool) -> None:
    tools = [dict(tool) for tool in scripted.TOOLS]
    for tool in tools:
        if tool["name"] == "add":
            tool["outputSchema"] = {"type": "object", "properties": {"sum": {"type": "string"}}}
    grant = replace(ALL, rules=(Rule("add", on_output_mismatch=mode),))
    async with house(tmp_path, grant=grant, locked=surface(tools)) as made:
        outcome = await made.call("add", {"a": 1, "b": 2})
        assert isinstance(outcome, Delivered) is delivered
        (ended,) = made.rows("ended")
        assert ended.rule.startswith("output.")
        assert ended.decision == ("accept" if delivered else "output_mismatch")


async def test_an_untrusted_project_grants_nothing(tmp_path: Path) -> None:
    async with house(tmp_path) as made:
        made.roster = replace(made.roster, profiles_trusted=False, views={}, profiles={})
        refused = refusal(await made.call("echo", {"text": "a"}))
        assert refused.kind is RefusalKind.UNTRUSTED
        assert "homeport trust" in refused.text


async def test_an_unknown_profile_is_an_unknown_tool(tmp_path: Path) -> None:
    async with house(tmp_path) as made:
        assert refusal(await made.call("echo", profile="nobody")).kind is RefusalKind.UNKNOWN


async def test_withheld_servers_say_why(tmp_path: Path) -> None:
    declaration = Declaration("blender", AppSpec({}))
    async with house(tmp_path) as made:
        made.change(trusted=False)
        assert refusal(await made.call("echo", {"text": "a"})).kind is RefusalKind.UNTRUSTED
        made.change(trusted=True, fault=Problem("runtime.absent", "not installed", remedy="homeport sync"))
        assert "homeport sync" in refusal(await made.call("echo", {"text": "a"})).text
        made.declared["blender"] = Availability("missing_app", sentence="Blender is not here", remedy="install it")
        made.change(fault=None, declaration=declaration)
        refused = refusal(await made.call("echo", {"text": "a"}))
        assert refused.kind is RefusalKind.UNAVAILABLE_HERE
        assert "Blender is not here" in refused.text
        made.change(declaration=None, enabled=False)
        assert refusal(await made.call("echo", {"text": "a"})).kind is RefusalKind.UNAVAILABLE_HERE
        assert not made.record.exists()


async def test_a_missing_secret_is_a_refusal_with_the_command(tmp_path: Path) -> None:
    """surface-145"""
    async with house(tmp_path, env={"TOKEN": "{secret:tracker}"}) as made:
        refused = refusal(await made.call("echo", {"text": "a"}))
        assert refused.kind is RefusalKind.NO_SECRET
        assert "homeport secrets set tracker" in refused.text
        assert [row.stage for row in made.rows()] == ["refused"]


async def test_a_secret_that_a_server_echoes_in_an_error_is_scrubbed(tmp_path: Path) -> None:
    """surface-153"""
    secrets = {"tracker": "hunter2-hunter2"}
    async with house(tmp_path, env={"TOKEN": "{secret:tracker}"}, secrets=secrets) as made:
        assert text_of(await made.call("env", {"name": "TOKEN"})) == "hunter2-hunter2"
        failed = await made.call("fail", {"text": "bad token hunter2-hunter2"})
        refused = await made.call("refuse", {"message": "bad token hunter2-hunter2"})
        assert "hunter2" not in text_of(failed)
        assert isinstance(refused, UpstreamError)
        assert b"hunter2" not in refused.error
        assert json.loads(refused.error)["message"] == "bad token [hidden]"
        assert "hunter2" not in made.text()


async def test_a_failed_start_is_one_row_and_says_why(tmp_path: Path) -> None:
    async with house(tmp_path, arguments=("--no-such-option",)) as made:
        refused = refusal(await made.call("echo", {"text": "a"}))
        assert refused.kind is RefusalKind.UPSTREAM
        assert [row.stage for row in made.rows()] == ["refused"]


# never a second send


async def test_a_server_that_dies_in_the_call_is_not_asked_again(tmp_path: Path) -> None:
    """surface-164"""
    async with house(tmp_path) as made:
        refused = refusal(await made.call("quit"))
        assert refused.kind is RefusalKind.UPSTREAM
        assert refused.details["code"] == "upstream.outcome_unknown"
        assert len(made.received()) == 1
        assert [row.stage for row in made.rows()] == ["begun", "ended"]
        assert text_of(await made.call("echo", {"text": "alive again"})) == "alive again"
        assert len(made.received()) == 2


async def test_a_call_that_times_out_is_not_asked_again(tmp_path: Path) -> None:
    async with house(tmp_path, limits=replace(QUICK, call_timeout=0.3)) as made:
        refused = refusal(await made.call("slow", {"seconds": 2, "steps": 1}))
        assert refused.details["code"] == "upstream.timeout"
        assert len(made.received()) == 1
        assert await becomes(lambda: len(made.received("notifications/cancelled")) == 1)


class ClosedAtFirst:
    """Sessions that close before the first request is written, so many times."""

    def __init__(self, pool: Pool, times: int) -> None:
        self.pool = pool
        self.left = times

    @asynccontextmanager
    async def lease(self, server: str, launch: Launch, **key: Any) -> AsyncGenerator[Session]:
        async with self.pool.lease(server, launch, **key) as session:
            if self.left:
                self.left -= 1
                await session.close()
            yield session


@pytest.mark.parametrize(("times", "sent"), [(1, 1), (2, 0)])
async def test_only_a_call_that_was_not_written_gets_another_session_and_only_once(
    tmp_path: Path, times: int, sent: int
) -> None:
    async with house(tmp_path, around=lambda pool: ClosedAtFirst(pool, times)) as made:
        outcome = await made.call("echo", {"text": "a"})
        assert isinstance(outcome, Delivered) is (sent == 1)
        assert len(made.received()) == sent
        assert [row.stage for row in made.rows()] == ["begun", "ended"]


# cancelling


async def test_cancelling_withdraws_the_call_and_is_journalled(tmp_path: Path) -> None:
    """surface-163"""
    async with house(tmp_path) as made:
        task = asyncio.create_task(made.call("slow", {"seconds": 20, "steps": 100}))
        assert await becomes(lambda: len(made.received()) == 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert made.rows("ended")[0].decision == "cancelled"
        assert await becomes(lambda: len(made.received("notifications/cancelled")) == 1)
        assert text_of(await made.call("echo", {"text": "next"})) == "next"


async def test_cancelling_while_the_server_starts_sends_nothing(tmp_path: Path) -> None:
    async with house(tmp_path, arguments=("--start-delay", "0.5")) as made:
        task = asyncio.create_task(made.call("echo", {"text": "a"}))
        assert await becomes(made.pool.states)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert [(row.stage, row.decision) for row in made.rows()] == [("refused", "cancelled")]
        assert text_of(await made.call("echo", {"text": "b"})) == "b"
        assert len(made.received()) == 1


# the journal


async def test_without_a_begun_line_there_is_no_call(tmp_path: Path) -> None:
    """surface-155"""
    (tmp_path / "journal").write_text("in the way")
    async with house(tmp_path) as made:
        refused = refusal(await made.call("echo", {"text": "a"}))
        assert refused.kind is RefusalKind.JOURNAL
        assert made.received() == []
        assert "cannot be written" in made.stderr[0]


async def test_an_answer_is_delivered_though_its_line_cannot_be_written_and_then_no_call_is_made(
    tmp_path: Path,
) -> None:
    async with house(tmp_path) as made:
        assert text_of(await made.call("echo", {"text": "a"})) == "a"
        task = asyncio.create_task(made.call("slow", {"seconds": 0.3, "steps": 1}))
        assert await becomes(lambda: len(made.received()) == 2)
        assert made.journal.path is not None
        made.journal.path.unlink()
        made.journal.path.parent.rmdir()
        (tmp_path / "journal").write_text("in the way")
        assert text_of(await task) == "done"
        assert refusal(await made.call("echo", {"text": "b"})).kind is RefusalKind.JOURNAL
        assert len(made.received()) == 2
        (tmp_path / "journal").unlink()
        assert text_of(await made.call("echo", {"text": "c"})) == "c"
        assert [row.stage for row in made.rows()] == ["ended", "refused", "begun", "ended"]


# limits


async def test_too_many_calls_a_minute_are_refused_and_not_sent(tmp_path: Path) -> None:
    async with house(tmp_path, limits=QUICK, clock=lambda: 1.0) as made:
        made.grant(ALL, limits=Rates(calls_per_minute=2))
        outcomes = [await made.call("echo", {"text": "a"}) for _ in range(3)]
        assert [isinstance(outcome, Delivered) for outcome in outcomes] == [True, True, False]
        assert refusal(outcomes[2]).kind is RefusalKind.RATE
        assert len(made.received()) == 2


async def test_a_place_is_given_back_whatever_the_end(tmp_path: Path) -> None:
    rules = (Rule("*", limits=Rates(concurrent=1)),)
    async with house(tmp_path, grant=replace(ALL, rules=rules)) as made:
        first = asyncio.create_task(made.call("slow", {"seconds": 20, "steps": 100}))
        assert await becomes(lambda: len(made.received()) == 1)
        assert refusal(await made.call("slow", {"seconds": 0.1})).kind is RefusalKind.RATE
        first.cancel()
        await asyncio.wait([first])
        assert text_of(await made.call("slow", {"seconds": 0.1})) == "done"
        assert refusal(await made.call("quit")).kind is RefusalKind.UPSTREAM
        assert refusal(await made.call("quit")).kind is RefusalKind.UPSTREAM


# asking back


ELICITS = replace(CLIENT, capabilities=b'{"elicitation":{},"sampling":{}}')


async def test_a_legacy_servers_question_goes_to_its_caller(tmp_path: Path) -> None:
    async with house(tmp_path, arguments=("--era", "legacy")) as made:
        caller = Caller(ELICITS, reply=Reply(result=b'{"action":"accept","content":{"name":"Ada"}}'))
        assert "Ada" in text_of(await made.call("ask", {"message": "Who?"}, caller=caller))
        assert [method for method, _ in caller.asked] == ["elicitation/create"]
        (told,) = made.received("initialize")
        assert told["capabilities"] == {"elicitation": {}}


async def test_what_the_grant_does_not_let_it_ask_never_reaches_the_caller(tmp_path: Path) -> None:
    async with house(tmp_path, arguments=("--era", "legacy"), grant=replace(ALL, may_ask=())) as made:
        caller = Caller(ELICITS)
        assert "-32601" in text_of(await made.call("ask", {}, caller=caller))
        assert caller.asked == []
        assert made.received("initialize")[0]["capabilities"] == {}


async def test_a_modern_result_that_requires_input_passes_through(tmp_path: Path) -> None:
    async with house(tmp_path, arguments=("--era", "modern")) as made:
        outcome = await made.call("ask", {}, caller=Caller(ELICITS))
        assert isinstance(outcome, Delivered)
        assert json.loads(outcome.result)["resultType"] == "input_required"
        again = {"inputResponses": b'{"name":{"action":"accept"}}', "requestState": b'"state-1"'}
        assert "state-1 answered" in text_of(await made.call("ask", {}, caller=Caller(ELICITS), params=again))


async def test_a_modern_result_that_asks_for_what_is_not_allowed_is_refused(tmp_path: Path) -> None:
    async with house(tmp_path, arguments=("--era", "modern"), grant=replace(ALL, may_ask=("roots",))) as made:
        refused = refusal(await made.call("ask", {}, caller=Caller(ELICITS)))
        assert (refused.kind, refused.reason.rule) == (RefusalKind.INPUT_REQUIRED, "grant.may_ask")


async def test_progress_reaches_the_caller_under_its_own_token(tmp_path: Path) -> None:
    async with house(tmp_path) as made:
        caller = Caller()
        params = {"_meta": b'{"progressToken":"mine"}'}
        await made.call("slow", {"seconds": 0.1, "steps": 2}, caller=caller, params=params)
        assert [told["progressToken"] for method, told in caller.told if method == "notifications/progress"] == [
            "mine",
            "mine",
        ]


async def test_isolated_callers_have_a_child_each(tmp_path: Path) -> None:
    async with house(tmp_path, isolation="caller") as made:
        one, two = (Caller(replace(CLIENT, session=name)) for name in ("one", "two"))
        pids = {text_of(await made.call("where", caller=caller)).split()[0] for caller in (one, two, one)}
        assert len(pids) == 2


# prompts, resources, completion


async def test_prompts_resources_and_completion_take_the_same_path(tmp_path: Path) -> None:
    async with house(tmp_path) as made:
        prompt = await made.call("greet", {"name": "Ada"}, kind=Kind.PROMPT)
        assert isinstance(prompt, Delivered)
        assert b"Greet Ada." in prompt.result
        resource = await made.call("memo://one", kind=Kind.RESOURCE)
        assert isinstance(resource, Delivered)
        assert b"memo one" in resource.result
        ref = {"ref": b'{"type":"ref/prompt","name":"scripted__greet"}', "argument": b'{"name":"name","value":"A"}'}
        completion = await made.call("scripted__greet", kind=Kind.COMPLETION, params=ref, server="")
        assert isinstance(completion, Delivered)
        assert b"A-done" in completion.result
        assert made.received("completion/complete")[0]["ref"] == {"type": "ref/prompt", "name": "greet"}
        template = {"ref": b'{"type":"ref/resource","uri":"memo://{name}"}', "argument": b'{"name":"n","value":"B"}'}
        assert isinstance(await made.call("memo://{name}", kind=Kind.COMPLETION, params=template), Delivered)
        assert {row.kind for row in made.rows("ended")} == {kind.value for kind in Kind} - {"tools/call"}


@pytest.mark.parametrize(
    ("kind", "name", "params"),
    [
        (Kind.PROMPT, "other", {}),
        (Kind.RESOURCE, "file:///etc/passwd", {}),
        (Kind.COMPLETION, "other", {"ref": b'{"type":"ref/prompt","name":"other"}'}),
        (Kind.COMPLETION, "x", {}),
    ],
)
async def test_what_is_not_granted_is_unknown(tmp_path: Path, kind: Kind, name: str, params: Any) -> None:
    async with house(tmp_path) as made:
        assert refusal(await made.call(name, kind=kind, params=params)).kind is RefusalKind.UNKNOWN
        assert not made.record.exists()


@pytest.mark.parametrize("meta", [b"[]", b"1", b"{", b'"x"'])
async def test_a_meta_that_is_no_object_sends_nothing(tmp_path: Path, meta: bytes) -> None:
    async with house(tmp_path) as made:
        outcome = refusal(await made.call("echo", {"text": "a"}, params={"_meta": meta}))
        assert outcome.kind is RefusalKind.INVALID_ARGUMENTS
        assert not made.record.exists()


async def test_many_callers_get_their_own_answers(tmp_path: Path) -> None:
    async with house(tmp_path) as made:
        texts = [f"text {number}" for number in range(50)]
        outcomes = await asyncio.gather(*(made.call("echo", {"text": text}) for text in texts))
        assert [text_of(outcome) for outcome in outcomes] == texts
        assert len({row.id for row in made.rows("ended")}) == 50
        assert len(made.received("tools/call")) == 50


async def test_explaining_charges_and_sends_nothing(tmp_path: Path) -> None:
    async with house(tmp_path) as made:
        made.grant(ALL, limits=Rates(concurrent=1))
        for _ in range(3):
            decided = made.pipeline.explain(made.operation("echo", {"text": "a"}))
            assert not hasattr(decided, "outcome"), decided
        assert made.rows() == []


async def test_a_fault_of_ours_is_journalled_too(tmp_path: Path) -> None:
    class Broken(ClosedAtFirst):
        @asynccontextmanager
        async def lease(self, server: str, launch: Launch, **key: Any) -> AsyncGenerator[Session]:
            raise ZeroDivisionError
            yield

    async with house(tmp_path, around=lambda pool: Broken(pool, 0)) as made:
        with pytest.raises(ZeroDivisionError):
            await made.call("echo", {"text": "a"})
        assert [(row.stage, row.decision) for row in made.rows()] == [("refused", "internal")]


async def test_pictures_and_structured_content_are_delivered_together(tmp_path: Path) -> None:
    """surface-134"""
    result = (
        b'{"content":[{"type":"image","data":"aGk=","mimeType":"image/png","annotations":{"priority":1.0}},'
        b'{"type":"text","text":"{}"}],"structuredContent":{},"isError":false,"_meta":{"x/y":[1]}}'
    )
    async with house(tmp_path, around=lambda pool: AnswersWith(pool, result)) as made:
        outcome = await made.call("echo", {"text": "a"})
        assert isinstance(outcome, Delivered)
        assert outcome.result == result


class AnswersWith:
    """Sessions whose servers all answer with one result."""

    def __init__(self, pool: Pool, result: bytes) -> None:
        self.pool = pool
        self.result = result

    @asynccontextmanager
    async def lease(self, server: str, launch: Launch, **key: Any) -> AsyncGenerator[Session]:
        async with self.pool.lease(server, launch, **key) as session:
            yield cast("Session", _Answering(session, self.result))


class _Answering:
    """A session that sends what it is given and answers with bytes of the test's."""

    def __init__(self, session: Session, result: bytes) -> None:
        self.session = session
        self.result = result

    def __getattr__(self, name: str) -> Any:
        return getattr(self.session, name)

    async def request(self, method: str, params: bytes, exchange: Any = None) -> Reply:
        await self.session.request(method, params, exchange)
        return Reply(result=self.result)
