"""The project that `make run` starts: two real public servers, and one whose application is not here."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest
from tests.support.clients import ERAS, Way, connected
from tests.support.homeport import Home, Up

QUICKSTART = Path(__file__).parents[2] / "examples" / "quickstart"
pytestmark = pytest.mark.anyio

GIT = {"git_branch", "git_diff", "git_diff_staged", "git_diff_unstaged", "git_log", "git_show", "git_status"}
TIME = {"convert_time", "get_current_time"}


@pytest.fixture(scope="module")
def up() -> Generator[Up]:
    """The quickstart project as a stranger has it after cloning: locked, not installed, not trusted."""
    with tempfile.TemporaryDirectory(prefix="hp-") as folder:
        home = Home(Path(folder).resolve(), {"PATH": without_inkscape()})
        shutil.copytree(QUICKSTART, home.root / "project", ignore=shutil.ignore_patterns(".homeport"))
        subprocess.run(["git", "init", "-q", str(home.project)], check=True)
        home.run("trust", "--yes")
        home.run("sync", "--frozen", timeout=110)
        with home.up() as running:
            yield running


def without_inkscape() -> str:
    """PATH, less the directories that hold an Inkscape: a link to each other program takes their place elsewhere."""
    import os

    return os.pathsep.join(
        folder for folder in os.environ["PATH"].split(os.pathsep) if not (Path(folder) / "inkscape").exists()
    )


@pytest.mark.parametrize("way", ["http", "connect"])
@pytest.mark.parametrize("era", ERAS)
async def test_an_agent_lists_exactly_the_granted_tools_and_calls_them(up: Up, way: Way, era: str) -> None:
    async with connected(up, way, era) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert names == {f"git__{name}" for name in GIT} | {f"time__{name}" for name in TIME}
        told = await client.call_tool("time__convert_time", CONVERT)
        assert '"time_difference": "+' in told.content[0].text
        status = await client.call_tool("git__git_status", {"repo_path": str(up.home.project)})
        assert "No commits yet" in status.content[0].text


CONVERT = {"source_timezone": "Europe/London", "time": "12:00", "target_timezone": "Europe/Madrid"}


@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_the_withheld_server_is_told_with_its_reason(up: Up, era: str) -> None:
    async with connected(up, "http", era) as client:
        told = client.instructions or ""
    assert "inkscape" in told
    assert "not installed" in told


def test_ps_says_what_is_withheld_and_the_remedy(up: Up) -> None:
    rows = {row["name"]: row for row in up.home.json("ps")["servers"]}
    assert rows["inkscape"]["state"] == "withheld"
    assert "Install" in rows["inkscape"]["remedy"]
    assert (rows["git"]["tools_granted"], rows["git"]["tools_locked"]) == (7, 12)


def test_check_tells_every_place_looked_at(up: Up) -> None:
    told = up.home.run("check", "inkscape", "-v", check=3).stdout
    assert "[command]" in told
    assert "[flatpak]" in told
    assert "[snap]" in told


def test_explain_tells_the_whole_decision(up: Up) -> None:
    assert up.home.run("explain", "time", "get_current_time")
    refused = up.home.run("explain", "git", "git_reset", check=1).stdout
    assert "homeport grant git git_reset" in refused


def test_a_shell_call_goes_through_the_running_gateway(up: Up) -> None:
    told = up.home.run("call", "time", "get_current_time", "--timezone", "Europe/Madrid").stdout
    assert "Europe/Madrid" in told
    states = {row["name"]: row["state"] for row in up.home.json("ps")["servers"]}
    assert states["time"] == "ready", "the gateway's own server answered, and it goes on running"


def test_a_second_up_prints_the_running_ones_addresses(up: Up) -> None:
    again = up.home.json("up")
    assert (again["endpoint"], again["pid"]) == (up.ready["endpoint"], up.ready["pid"])
