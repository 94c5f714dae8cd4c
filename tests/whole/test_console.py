"""The console of a real gateway, in a real browser: it opens by the one-time link and shows a call as it arrives."""

from __future__ import annotations

import urllib.error
import urllib.request

from playwright.sync_api import expect
from tests.support.browser import browser
from tests.support.homeport import Home, scripted


def test_a_call_arrives_while_the_console_is_open(home: Home) -> None:
    home.write(
        f'[project]\nname = "seen"\n[servers.alpha]\n{scripted()}\n[profiles.default.grants.alpha]\ncan = ["*"]\n'
    )
    home.run("lock", "--yes")
    with home.up() as up, browser() as chromium:
        page = chromium.new_page()
        page.goto(str(up.ready["console"]))
        expect(page.get_by_text("alpha").first).to_be_visible()
        page.get_by_role("link", name="Calls").click()
        home.run("call", "alpha", "echo", "--text", "x")
        expect(page.get_by_text("echo").first).to_be_visible(timeout=5_000)
        home.run("call", "alpha", "invented", check=2)
        expect(page.get_by_text("invented").first).to_be_visible(timeout=5_000)
        page.close()


def test_the_link_opens_once_and_a_profile_token_opens_nothing_of_the_console(home: Home) -> None:
    home.write(f'[project]\nname = "seen"\n[servers.alpha]\n{scripted()}\n')
    home.run("lock", "--yes")
    with home.up() as up:
        origin = up.endpoint.removesuffix("/mcp")

        def status(path: str, **headers: str) -> int:
            try:
                with urllib.request.urlopen(urllib.request.Request(origin + path, headers=headers), timeout=5) as reply:
                    return int(reply.status)
            except urllib.error.HTTPError as error:
                error.close()
                return error.code

        link = str(up.ready["console"]).removeprefix(origin)
        assert status("/api/state") in {401, 403}
        assert status("/api/state", **up.headers) in {401, 403}
        assert status(link) == 200
        assert status(link) == 403
