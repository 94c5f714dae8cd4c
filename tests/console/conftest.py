"""A console behind a real HTTP server, and a browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from playwright.sync_api import Browser, Dialog, expect
from tests.support.browser import browser as running_browser
from tests.support.console import Clock, Site, Visit
from tests.support.desk import MemoryDesk
from tests.support.serving import served

from homeport.console.app import Console
from homeport.gateway.auth import OperatorSessions


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def site_of(clock: Clock) -> Iterator[Callable[[MemoryDesk], Site]]:
    """Serve a console on a desk."""
    with ExitStack() as stack:

        def serve(desk: MemoryDesk) -> Site:
            sessions = OperatorSessions(clock)
            console = Console(desk, sessions)
            at = stack.enter_context(served(console, before_end=console.close))
            return Site(desk, console, sessions, at)

        yield serve


@pytest.fixture
def site(site_of: Callable[[MemoryDesk], Site]) -> Site:
    """A console on an empty desk."""
    return site_of(MemoryDesk())


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """One browser a module, not a session: while it is there its loop counts as running, and no other can run."""
    with running_browser() as browser:
        yield browser


@pytest.fixture
def visit(chromium: Browser) -> Iterator[Callable[..., Visit]]:
    """Open the console at `#/…`, signed in, in one theme and width."""
    with ExitStack() as stack:

        def go(
            site: Site, page: str = "servers", *, theme: Any = "light", width: int = 1280, signed_in: bool = True
        ) -> Visit:
            context = chromium.new_context(
                viewport={"width": width, "height": 860},
                color_scheme=theme,
                reduced_motion="reduce",
                permissions=["clipboard-read", "clipboard-write"],
            )
            stack.callback(context.close)
            opened = context.new_page()
            opened.set_default_timeout(10_000)
            problems: list[str] = []
            foreign: list[str] = []
            opened.on("pageerror", lambda error: problems.append(str(error)))

            def dismissed(dialog: Dialog) -> None:
                problems.append(f"dialog: {dialog.message}")
                dialog.dismiss()

            opened.on("dialog", dismissed)
            opened.on("console", lambda said: problems.append(said.text) if "Policy" in said.text else None)
            opened.on("request", lambda asked: None if asked.url.startswith(site.at.url) else foreign.append(asked.url))
            link = site.link() if signed_in else ""
            opened.goto(f"{site.at.url}{link}#/{page}")
            if signed_in:
                expect(opened.get_by_text("Live", exact=True)).to_be_visible()
            return Visit(opened, site, problems, foreign)

        yield go
