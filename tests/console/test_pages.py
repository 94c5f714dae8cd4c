"""The console in a browser: what a person sees, presses and copies."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.support.console import Clock, Site, Visit
from tests.support.desk import MemoryDesk, call
from tests.support.serving import served

from homeport.ground.errors import Unavailable
from homeport.ops.rows import Notice, ProjectRow, ServerRow, ToolRow

Serve = Callable[[MemoryDesk], Site]
Go = Callable[..., Visit]

AXE = Path(__file__).parents[2] / ".cache" / "axe" / "node_modules" / "axe-core" / "axe.min.js"
"""Put there by `scripts/browser.sh`."""

SERVERS = [
    ServerRow(
        name="blender",
        source="command python blender.py",
        state="withheld",
        sentence="Blender is not installed: none of 2 places has it.",
        remedy="install Blender 4.2 or newer, then `homeport check blender`",
        tools_locked=3,
        tools_granted=3,
    ),
    ServerRow(
        name="files",
        source="node files@1.0.0",
        state="failed",
        sentence="It exited with status 1 before it answered.",
        remedy="homeport logs files",
        stderr=("starting", "Error: no such directory", "bye"),
    ),
    ServerRow(name="git", source="python mcp-server-git==2026.10.19", state="stopped", tools_locked=4, tools_granted=2),
    ServerRow(name="notes", source="command ./notes", state="untrusted", remedy="homeport trust"),
    ServerRow(
        name="time",
        source="python mcp-server-time==2026.10.19",
        state="ready",
        tools_locked=2,
        tools_granted=2,
        pid=4812,
        era="legacy",
        version="2025-11-25",
        since_ms=1_790_000_000_000,
    ),
    ServerRow(name="zoo", source="url of a zoo", state="fault", sentence="It is not locked.", remedy="homeport lock"),
]
TOOLS = [
    ToolRow(
        server="git", name="git_log", served="git__git_log", granted=True, read_only=True, description="Shows the log"
    ),
    ToolRow(
        server="git",
        name="git_reset",
        description="Unstages all\nand more",
        reason="never names it (homeport.toml:22)",
        destructive=True,
        schema='{"properties": {"repo_path": {"type": "string", "description": "Where"}}, "required": ["repo_path"]}',
    ),
    ToolRow(server="time", name="now", served="time__now", granted=True, description="Tells the time"),
]


@pytest.fixture
def full(site_of: Serve) -> Site:
    rows = [
        call(
            3, server="git", name="git_reset", stage="refused", decision="policy_denied", reason="never names git_reset"
        ),
        call(2, result={"is_error": True, "bytes": 10}),
        call(1, args={"keys": ["timezone"], "bytes": 26, "digest": "hmac:00"}),
    ]
    return site_of(MemoryDesk(SERVERS, TOOLS, rows))


class TestServers:
    def test_each_withheld_server_says_why_and_what_mends_it(self, full: Site, visit: Go) -> None:
        page = visit(full).page
        blender = page.locator('.server[data-server="blender"]')
        expect(blender).to_contain_text("Withheld")
        expect(blender).to_contain_text("Blender is not installed: none of 2 places has it.")
        expect(blender.locator(".command")).to_have_text("homeport check blender")
        expect(page.locator('.server[data-server="notes"] .command')).to_have_text("homeport trust")
        expect(page.locator('.server[data-server="zoo"]')).to_contain_text("It is not locked.")

    def test_a_failed_server_shows_the_last_lines_it_wrote(self, full: Site, visit: Go) -> None:
        files = visit(full).page.locator('.server[data-server="files"]')
        expect(files.locator(".log")).to_have_text("starting\nError: no such directory\nbye")

    def test_a_remedy_is_copied_with_one_press(self, full: Site, visit: Go) -> None:
        page = visit(full).page
        page.get_by_role("button", name="Copy homeport trust").click()
        assert page.evaluate("navigator.clipboard.readText()") == "homeport trust"
        expect(page.locator('[role="status"]', has_text="Copied")).to_have_count(1)

    def test_a_server_opens_and_restarts(self, full: Site, visit: Go) -> None:
        page = visit(full).page
        time = page.locator('.server[data-server="time"]')
        time.locator(".head").click()
        expect(time).to_contain_text("4812")
        expect(time).to_contain_text("legacy 2025-11-25")
        time.get_by_role("button", name="Restart").click()
        expect(time.get_by_role("button", name="Restart")).to_be_enabled()
        assert full.desk.restarted == ["time"]

    def test_a_restart_that_fails_says_so_at_the_server(self, full: Site, visit: Go) -> None:
        full.desk.restart_fails = Unavailable("it ended at once", code="upstream.ended", remedy="homeport logs time")
        page = visit(full).page
        time = page.locator('.server[data-server="time"]')
        time.locator(".head").click()
        time.get_by_role("button", name="Restart").click()
        expect(time.locator(".notice")).to_contain_text("it ended at once")
        expect(time.locator(".notice .command")).to_have_text("homeport logs time")

    def test_a_withheld_server_has_no_restart(self, full: Site, visit: Go) -> None:
        blender = visit(full).page.locator('.server[data-server="blender"]')
        blender.locator(".head").click()
        expect(blender.get_by_role("link", name="Tools")).to_be_visible()
        expect(blender.get_by_role("button", name="Restart")).to_have_count(0)

    def test_states_change_while_one_looks(self, full: Site, visit: Go) -> None:
        page = visit(full).page
        expect(page.locator("nav .alert")).to_contain_text("4")
        fixed = ServerRow(name="blender", source="command python blender.py", state="ready")
        full.at.do(lambda: full.desk.change(fixed))
        expect(page.locator('.server[data-server="blender"] .state')).to_have_text("Ready")
        expect(page.locator("nav .alert")).to_contain_text("3")

    def test_the_filter_leaves_those_that_need_someone(self, full: Site, visit: Go) -> None:
        page = visit(full).page
        page.get_by_role("button", name="Needs you").click()
        assert page.locator(".server").count() == 4
        page.get_by_role("button", name="Serving").click()
        expect(page.locator(".server .name")).to_have_text(["git", "time"])


class TestTools:
    def test_a_tool_that_is_not_granted_says_by_which_rule_and_how_to_grant_it(self, full: Site, visit: Go) -> None:
        page = visit(full, "tools").page
        page.get_by_role("button", name="git_reset").click()
        tool = page.locator(".tool", has_text="git_reset")
        expect(tool).to_contain_text("Not granted: never names it (homeport.toml:22)")
        expect(tool.locator(".command")).to_have_text("homeport grant git git_reset")
        expect(tool.locator(".arguments")).to_contain_text("repo_path string")

    def test_a_withheld_server_says_so_beside_its_grants(self, site_of: Serve, visit: Go) -> None:
        tools = [*TOOLS, ToolRow(server="blender", name="render", granted=True)]
        page = visit(site_of(MemoryDesk(SERVERS, tools)), "tools").page
        expect(page.locator(".group", has_text="render").get_by_role("link")).to_contain_text("Withheld")
        expect(page.locator(".group", has_text="git_log").get_by_role("link")).to_have_count(0)

    def test_another_profile_sees_other_tools(self, full: Site, visit: Go) -> None:
        page = visit(full, "tools").page
        expect(page.locator('.tool[data-granted="true"]')).to_have_count(2)
        page.get_by_label("Profile").select_option("review")
        expect(page.locator('.tool[data-granted="true"]')).to_have_count(0)
        expect(page.locator(".notice")).to_contain_text("Nothing is granted to the profile review")
        expect(page.locator(".notice .command")).to_have_text("homeport grant git --read-only --profile review")

    def test_search_leaves_what_matches(self, full: Site, visit: Go) -> None:
        page = visit(full, "tools").page
        page.get_by_label("Search tools").fill("tells")
        expect(page.locator(".tool .name")).to_have_text(["now"])
        page.get_by_label("Search tools").press("Escape")
        expect(page.locator(".tool")).to_have_count(3)

    def test_ten_thousand_tools_stay_usable(self, site_of: Serve, visit: Go) -> None:
        many = [ToolRow(server="big", name=f"tool_{number}", description="x" * 200) for number in range(10_000)]
        page = visit(site_of(MemoryDesk(SERVERS, many)), "tools").page
        expect(page.get_by_text("9,800 tools not shown")).to_be_visible()
        page.get_by_label("Search tools").fill("tool_9999")
        expect(page.locator(".tool")).to_have_count(1)


class TestCalls:
    def test_a_call_arrives_while_one_looks_and_is_brought_up_to_date(self, full: Site, visit: Go) -> None:
        page = visit(full, "calls").page
        expect(page.locator(".call")).to_have_count(3)
        full.at.do(lambda: full.desk.see(call(4, stage="begun", duration_ms=None, name="convert_time")))
        first = page.locator(".call").first
        expect(first).to_contain_text("convert_time")
        expect(first).to_have_attribute("data-outcome", "running")
        full.at.do(lambda: full.desk.see(call(4, name="convert_time", duration_ms=48)))
        expect(first).to_have_attribute("data-outcome", "done")
        expect(first).to_contain_text("48 ms")
        expect(page.locator(".call")).to_have_count(4)

    def test_a_refused_call_stands_out_and_says_why(self, full: Site, visit: Go) -> None:
        page = visit(full, "calls").page
        refused = page.locator('.call[data-outcome="refused"]')
        expect(refused).to_contain_text("Denied by policy")
        expect(refused).to_contain_text("never names git_reset")
        background = "el => getComputedStyle(el).backgroundColor"
        assert refused.evaluate(background) != page.locator('.call[data-outcome="done"]').evaluate(background)
        expect(page.locator('.call[data-outcome="error"]')).to_contain_text("Error result")

    def test_nothing_moves_under_a_reader(self, full: Site, visit: Go) -> None:
        page = visit(full, "calls").page
        opened = page.locator(".call").nth(2)
        opened.locator(".head").click()
        expect(opened).to_contain_text("timezone · 26 B")
        before = opened.bounding_box()
        full.at.do(lambda: [full.desk.see(call(number)) for number in range(4, 9)])
        fresh = page.get_by_role("button", name="5 new calls")
        expect(fresh).to_be_visible()
        after = opened.bounding_box()
        assert before is not None
        assert after is not None
        assert before["y"] == after["y"]
        fresh.click()
        expect(page.locator(".call")).to_have_count(8)

    def test_a_burst_is_bounded(self, full: Site, visit: Go) -> None:
        page = visit(full, "calls").page
        expect(page.locator(".call")).to_have_count(3)
        full.at.do(lambda: [full.desk.see(call(number)) for number in range(10, 1500)])
        expect(page.locator(".call").first).to_contain_text("get_current_time")
        expect(page.get_by_text("Older calls are in the journal")).to_be_visible()
        assert page.locator(".call").count() <= 100

    def test_filters_by_outcome_and_by_server(self, full: Site, visit: Go) -> None:
        page = visit(full, "calls?server=time").page
        expect(page.locator(".call")).to_have_count(2)
        page.get_by_role("button", name="Errors").click()
        expect(page.locator(".call")).to_have_count(1)
        page.locator(".chip").click()
        page.get_by_role("button", name="Refused").click()
        expect(page.locator(".call")).to_have_count(1)


class TestNothingThere:
    def test_no_servers_says_how_to_get_some(self, site: Site, visit: Go) -> None:
        page = visit(site).page
        expect(page.get_by_role("heading", name="No servers yet")).to_be_visible()
        expect(page.locator(".command").first).to_have_text("homeport import mcp.json")

    def test_no_tools_says_to_lock(self, site_of: Serve, visit: Go) -> None:
        page = visit(site_of(MemoryDesk(SERVERS)), "tools").page
        expect(page.locator(".empty .command")).to_have_text("homeport lock")

    def test_no_calls_says_where_agents_connect(self, site_of: Serve, visit: Go) -> None:
        page = visit(site_of(MemoryDesk(SERVERS, TOOLS)), "calls").page
        expect(page.locator(".empty .command")).to_have_text(
            ["http://127.0.0.1:7333/mcp", "homeport connect --profile default", "homeport call git git_log"]
        )

    def test_an_untrusted_project_says_so_on_every_page(self, site_of: Serve, visit: Go) -> None:
        desk = MemoryDesk(SERVERS, TOOLS)
        told = Notice(code="project.unknown_key", text="homeport.toml:3: unknown key", remedy="remove it")
        desk.project_row = ProjectRow(
            name="strange",
            root="/tmp/s",
            endpoint="http://127.0.0.1:7333/mcp",
            version="1",
            trusted=False,
            notices=[told],
        )
        for name in ("servers", "tools", "calls"):
            page = visit(site_of(desk), name).page
            expect(page.locator(".notice").first).to_contain_text("You have not agreed")
            expect(page.locator(".notice .command").first).to_have_text("homeport trust")
            expect(page.locator(".notice").nth(1)).to_contain_text("homeport.toml:3: unknown key")


class TestSession:
    def test_without_a_link_the_page_says_how_to_get_one_and_shows_nothing(self, full: Site, visit: Go) -> None:
        page = visit(full, signed_in=False).page
        expect(page.get_by_role("heading", name="Open the console with a link")).to_be_visible()
        expect(page.locator(".command")).to_have_text("homeport up")
        assert "blender" not in page.content()

    def test_a_used_link_says_that_it_is_used(self, full: Site, visit: Go) -> None:
        page = visit(full, signed_in=False).page
        page.goto(f"{full.at.url}/open/used")
        expect(page.get_by_role("heading", name="This link no longer opens the console")).to_be_visible()

    def test_the_link_is_not_left_in_the_address(self, full: Site, visit: Go) -> None:
        page = visit(full, "calls").page
        assert page.url == f"{full.at.url}/#/calls"
        page.reload()
        expect(page.get_by_text("Live", exact=True)).to_be_visible()

    def test_a_session_that_ends_ends_the_page(self, full: Site, visit: Go, clock: Clock) -> None:
        page = visit(full).page
        clock.now += 13 * 3600
        full.at.do(full.desk.change)
        expect(page.get_by_role("heading", name="This session has ended")).to_be_visible()

    def test_a_gateway_that_is_gone_is_told_and_its_return_too(self, site_of: Serve, visit: Go, clock: Clock) -> None:
        site = site_of(MemoryDesk(SERVERS))
        with served(site.console, before_end=site.console.close) as first:
            site.at, home = first, site.at
            opened = visit(site)
            page = opened.page
            expect(page.locator(".server")).to_have_count(6)
        expect(page.get_by_text("The gateway does not answer.")).to_be_visible()
        expect(page.locator(".server")).to_have_count(6)
        site.console._closed = False
        with served(site.console, port=first.port, before_end=site.console.close):
            expect(page.get_by_text("Live", exact=True)).to_be_visible()
            expect(page.get_by_text("The gateway does not answer.")).to_have_count(0)
            page.context.close()
        site.at = home


class TestForEveryone:
    @pytest.mark.parametrize("theme", ["light", "dark"])
    @pytest.mark.parametrize("width", [400, 1280])
    @pytest.mark.parametrize("name", ["servers", "tools", "calls"])
    def test_fits_the_window_and_keeps_to_itself(
        self, full: Site, visit: Go, name: str, width: int, theme: str
    ) -> None:
        opened = visit(full, name, theme=theme, width=width)
        page = opened.page
        expect(page.locator(".row").first).to_be_visible()
        for head in page.locator(".row .head").all():
            if head.get_attribute("aria-expanded") == "false":
                head.click()
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        assert opened.problems == []
        assert opened.foreign == []
        assert violations(page) == []

    def test_is_used_by_keyboard_alone(self, full: Site, visit: Go) -> None:
        page = visit(full).page
        page.keyboard.press("Tab")
        expect(page.get_by_role("link", name="Skip to the page")).to_be_focused()
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        expect(page.get_by_role("button", name="All")).to_be_focused()
        page.locator(".head").first.focus()
        page.keyboard.press("ArrowDown")
        expect(page.locator(".head").nth(1)).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator(".head").nth(1)).to_have_attribute("aria-expanded", "true")
        page.keyboard.press("Escape")
        expect(page.locator(".head").nth(1)).to_have_attribute("aria-expanded", "false")
        page.keyboard.press("End")
        expect(page.locator(".head").last).to_be_focused()

    def test_rows_do_not_jump_when_they_come(self, full: Site, visit: Go) -> None:
        page = visit(full, signed_in=False).page
        page.add_init_script(
            """window.moved = 0;
            new PerformanceObserver(list => { for (const shift of list.getEntries()) window.moved += shift.value; })
              .observe({ type: "layout-shift", buffered: true });"""
        )
        page.goto(f"{full.at.url}{full.link()}")
        expect(page.locator(".server")).to_have_count(6)
        expect(page.get_by_text("Live", exact=True)).to_be_visible()
        assert page.evaluate("window.moved") < 0.1


def violations(page: Page) -> list[str]:
    """What axe finds against WCAG 2.2 AA."""
    # The bar of pages stays in view and would cover what lies under it now.
    page.evaluate("scrollTo(0, 0)")
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate(
        """axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] })"""
    )
    return [f"{each['id']}: {node['html'][:160]}" for each in found["violations"] for node in each["nodes"]]
