"""A headless Chromium: the distribution's, or the one that `scripts/browser.sh` took from npm."""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

_NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
_NOTED = Path(__file__).parents[2] / ".cache" / "chromium"


def chromium() -> str | None:
    """The path of a Chromium, or None."""
    found = next((path for name in _NAMES if (path := shutil.which(name))), None)
    if found is None and _NOTED.is_file():
        noted = _NOTED.read_text(encoding="utf-8").strip()
        found = noted if os.access(noted, os.X_OK) else None
    return found


@contextmanager
def browser() -> Generator[Browser]:
    """A running browser. Without its own sandbox: root and containers have none to give it.

    Playwright's loop counts as running in this thread until the block ends: no async test may run meanwhile.
    """
    path = chromium()
    if path is None:
        raise RuntimeError("there is no Chromium; scripts/browser.sh finds or gets one")
    arguments = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=arguments)
        try:
            yield running
        finally:
            running.close()
