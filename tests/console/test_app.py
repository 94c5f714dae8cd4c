"""The console's HTTP side: who gets in, what is answered, and in which shape failures are told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import islice
from typing import Any

import pytest
from tests.support.console import Clock, Site, eventually
from tests.support.desk import MemoryDesk, call

from homeport.calls.events import Event, Topic
from homeport.console.app import Console
from homeport.ground.errors import Conflict, HomeportError, InvalidInput, ProtocolViolation, Refused, Unavailable
from homeport.ground.limits import Limits
from homeport.ops.rows import ServerRow, ToolRow

TIME = ServerRow(name="time", source="python mcp-server-time==2026.10.19", state="ready", tools_locked=2)
NOW = ToolRow(server="time", name="get_current_time", granted=True, schema='{"n": 0.1000000000000000055}')


@pytest.fixture
def signed_in(site_of: Callable[[MemoryDesk], Site]) -> Site:
    return site_of(MemoryDesk([TIME], [NOW], [call(2), call(1, server="git")])).sign_in()


class TestGettingIn:
    def test_a_link_is_exchanged_for_a_cookie_that_scripts_and_other_sites_cannot_use(self, site: Site) -> None:
        answer = site.get(site.link())
        name, *attributes = answer.fields["set-cookie"].split("; ")
        assert answer.status == 200
        assert name.startswith(f"homeport_operator_{site.at.port}=")
        assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(attributes)
        assert answer.fields["cache-control"] == "no-store"
        assert answer.fields["content-type"].startswith("text/html")

    def test_a_link_opens_once(self, site: Site) -> None:
        link = site.link()
        assert site.get(link).status == 200
        again = site.get(link)
        assert again.status == 403
        assert "set-cookie" not in again.fields

    def test_a_link_that_is_older_than_five_minutes_opens_nothing(self, site: Site, clock: Clock) -> None:
        link = site.link()
        clock.now += 301
        assert site.get(link).status == 403

    def test_a_used_link_in_a_browser_that_is_signed_in_shows_the_page(self, site: Site) -> None:
        link = site.link()
        site.get(link)
        site.sign_in()
        assert site.get(link).status == 200

    @pytest.mark.parametrize("fields", [{"Sec_Purpose": "prefetch"}, {"Purpose": "prefetch"}])
    def test_looking_ahead_does_not_use_a_link_up(self, site: Site, fields: dict[str, str]) -> None:
        link = site.link()
        assert "set-cookie" not in site.get(link, **fields).fields
        assert site.ask("HEAD", link).body == b""
        assert "set-cookie" in site.get(link).fields

    @pytest.mark.parametrize(
        "path", ["/api/state", "/api/tools", "/api/calls", "/api/events", "/api/nothing", "/api/servers/time/restart"]
    )
    def test_without_a_session_no_path_of_the_api_answers(self, site: Site, path: str) -> None:
        for method in ("GET", "POST"):
            answer = site.ask(method, path, Cookie=f"homeport_operator_{site.at.port}=invented")
            assert answer.status == 401
            assert answer.json["error"]["code"] == "console.signed_out"
            assert answer.json["error"]["remedy"] == "homeport up"
            assert "www-authenticate" not in answer.fields

    def test_the_session_of_another_port_is_not_ours(self, signed_in: Site) -> None:
        value = signed_in.cookie.partition("=")[2]
        assert signed_in.get("/api/state", Cookie=f"homeport_operator_1={value}").status == 401
        assert signed_in.get("/api/state", Cookie=f"a=b; homeport_operator_{signed_in.at.port}={value}").status == 200

    def test_a_bearer_token_opens_nothing_here(self, site: Site) -> None:
        assert site.get("/api/state", Authorization="Bearer hpt_something").status == 401

    @pytest.mark.parametrize("host", ["evil.example", "evil.example:7333", "127.0.0.1.evil.example", ""])
    def test_a_name_that_is_not_this_machine_is_refused(self, signed_in: Site, host: str) -> None:
        for path in ("/", "/api/state", signed_in.link()):
            assert signed_in.get(path, Host=host).status == 403

    def test_another_page_of_this_machine_is_refused_though_it_brings_the_cookie(self, signed_in: Site) -> None:
        for fields in (
            {"Origin": "http://127.0.0.1:1"},
            {"Origin": "http://localhost:3000"},
            {"Origin": "null"},
            {"Sec_Fetch_Site": "same-site"},
            {"Sec_Fetch_Site": "cross-site"},
        ):
            refused = signed_in.ask("POST", "/api/servers/time/restart", **fields)
            assert (refused.status, refused.json["error"]["code"]) == (403, "console.origin")
            assert signed_in.get("/api/state", **fields).status == 403
        assert signed_in.desk.restarted == []

    def test_our_own_page_is_let_in(self, signed_in: Site) -> None:
        own = {"Origin": signed_in.at.url, "Sec_Fetch_Site": "same-origin"}
        assert signed_in.ask("POST", "/api/servers/time/restart", **own).json == {"restarted": "time"}


class TestEveryAnswer:
    @pytest.mark.parametrize("path", ["/", "/favicon.svg", "/nothing", "/api/state", "/open/x"])
    def test_carries_the_policy_that_lets_no_other_code_run(self, site: Site, path: str) -> None:
        fields = site.get(path).fields
        policy = fields["content-security-policy"]
        assert "default-src 'self'" in policy
        assert "unsafe" not in policy
        assert "data:" not in policy
        assert "frame-ancestors 'none'" in policy
        assert "require-trusted-types-for 'script'" in policy
        assert fields["x-content-type-options"] == "nosniff"
        assert fields["referrer-policy"] == "no-referrer"
        assert "access-control-allow-origin" not in fields

    def test_of_the_api_is_not_kept_by_the_browser(self, signed_in: Site) -> None:
        assert signed_in.get("/api/state").fields["cache-control"] == "no-store"


class TestFiles:
    def test_the_page_is_asked_for_again_and_not_sent_again(self, site: Site) -> None:
        first = site.get("/")
        assert first.fields["cache-control"] == "no-cache"
        again = site.get("/", If_None_Match=first.fields["etag"])
        assert (again.status, again.body) == (304, b"")

    @pytest.mark.parametrize(
        "path", ["/../app.py", "/assets/../../app.py", "/assets/%2e%2e/app.py", "//etc/passwd", "/assets"]
    )
    def test_only_built_files_are_served(self, site: Site, path: str) -> None:
        answer = site.get(path)
        assert (answer.status, answer.json["error"]["code"]) == (404, "console.unknown_path")

    def test_only_reading_is_answered(self, site: Site) -> None:
        assert site.ask("POST", "/").status == 405


class TestApi:
    def test_state_holds_the_project_and_its_servers(self, signed_in: Site) -> None:
        state = signed_in.get("/api/state").json
        assert state["project"]["endpoint"] == "http://127.0.0.1:7333/mcp"
        assert [(row["name"], row["state"]) for row in state["servers"]] == [("time", "ready")]
        assert set(state["servers"][0]) == set(ServerRow.__slots__)

    def test_a_schema_keeps_its_numbers(self, signed_in: Site) -> None:
        tools = signed_in.get("/api/tools?profile=default").json["tools"]
        assert tools[0]["schema"] == '{"n": 0.1000000000000000055}'

    def test_tools_are_those_of_a_profile(self, signed_in: Site) -> None:
        granted = [
            signed_in.get(f"/api/tools?profile={name}").json["tools"][0]["granted"] for name in ("default", "review")
        ]
        assert granted == [True, False]

    def test_calls_are_filtered_by_the_fields_of_a_row(self, signed_in: Site) -> None:
        calls = signed_in.get("/api/calls?server=git&limit=5").json["calls"]
        assert [row["id"] for row in calls] == [call(1).id]
        assert signed_in.desk.asked == [{"server": "git", "limit": "5"}]

    @pytest.mark.parametrize(
        ("path", "code"),
        [
            ("/api/calls?limit=0", "console.limit"),
            ("/api/calls?limit=-1", "console.limit"),
            ("/api/calls?limit=99999999999999999999", "console.limit"),
            ("/api/calls?limit=%D9%A1", "console.limit"),
            ("/api/calls?args=x", "console.filter"),
            ("/api/calls?" + "a=1&" * 50, "console.query"),
            ("/api/tools?profile=..%2F..%2Fetc", "profile.unknown"),
            ("/api/tools?profile=nobody", "profile.unknown"),
        ],
    )
    def test_bad_questions_are_told_with_their_code(self, signed_in: Site, path: str, code: str) -> None:
        answer = signed_in.get(path)
        assert (answer.status, answer.json["error"]["code"]) == (400, code)
        assert set(answer.json["error"]) == {"code", "message", "remedy"}

    def test_restart_is_a_post(self, signed_in: Site) -> None:
        assert signed_in.get("/api/servers/time/restart").status == 405
        assert signed_in.ask("POST", "/api/servers/time/restart").json == {"restarted": "time"}
        assert signed_in.desk.restarted == ["time"]

    @pytest.mark.parametrize("name", ["nobody", "..", "%2e%2e", "A", "x%00y"])
    def test_restart_of_no_server_is_told(self, signed_in: Site, name: str) -> None:
        answer = signed_in.ask("POST", f"/api/servers/{name}/restart")
        assert (answer.status, answer.json["error"]["code"]) == (400, "server.unknown")

    @pytest.mark.parametrize(
        ("error", "status"),
        [
            (InvalidInput("x", code="a.b"), 400),
            (Refused("x", code="a.b"), 403),
            (Unavailable("x", code="a.b"), 503),
            (ProtocolViolation("x", code="a.b", whose="upstream"), 502),
            (Conflict("x", code="a.b"), 409),
        ],
    )
    def test_every_family_of_error_has_its_status_and_the_one_shape(
        self, signed_in: Site, error: HomeportError, status: int
    ) -> None:
        error.remedy = "homeport logs time"
        signed_in.desk.restart_fails = error
        answer = signed_in.ask("POST", "/api/servers/time/restart")
        assert answer.status == status
        assert answer.json == {"error": {"code": "a.b", "message": "x", "remedy": "homeport logs time"}}


class TestEvents:
    def test_a_call_arrives_with_its_row_and_any_other_change_as_its_fact(self, signed_in: Site) -> None:
        events = signed_in.events()
        next(events)
        signed_in.at.do(lambda: signed_in.desk.see(call(3, stage="begun", name="line\nbreak")))
        signed_in.at.do(lambda: signed_in.desk.change(TIME))
        signed_in.at.do(lambda: signed_in.desk.bus.publish(Event(Topic.FAULT, {"text": "secret detail"})))
        (name, row), *others = islice(events, 3)
        assert (name, row["id"], row["stage"], row["name"]) == ("call", call(3).id, "begun", "line\nbreak")
        assert others == [("state", {}), ("state", {})]
        events.close()

    def test_a_browser_that_leaves_is_forgotten(self, signed_in: Site) -> None:
        events = signed_in.events()
        next(events)
        assert signed_in.at.do(lambda: len(signed_in.console._streams)) == 1
        events.close()
        eventually(lambda: signed_in.at.do(lambda: len(signed_in.console._streams)) == 0)
        eventually(lambda: not signed_in.at.do(lambda: signed_in.desk.bus._callbacks))

    def test_the_stream_ends_when_the_gateway_does(self, signed_in: Site) -> None:
        events = signed_in.events()
        next(events)
        signed_in.at.do(signed_in.console.close)
        assert list(events) == []
        assert signed_in.get("/api/events").status == 503

    def test_the_stream_ends_with_its_session(self, signed_in: Site, clock: Clock) -> None:
        events = signed_in.events()
        next(events)
        clock.now += 13 * 3600
        signed_in.at.do(lambda: signed_in.desk.see(call(3)))
        assert list(events) == []

    def test_streams_are_bounded(self, clock: Clock, signed_in: Site) -> None:
        few = Console(signed_in.desk, signed_in.sessions, limits=Limits(concurrent_streams=0))
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        async def receive() -> Any:
            return {"type": "http.disconnect"}

        host = f"127.0.0.1:{signed_in.at.port}".encode()
        scope = {
            "type": "http",
            "method": "GET",
            "path": "/api/events",
            "headers": [(b"host", host), (b"cookie", signed_in.cookie.encode())],
        }
        asyncio.run(few(scope, receive, send))
        assert sent[0]["status"] == 503
