"""The reaper, and the sweep: whatever kills the gateway, its children do not outlive it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.servers import hostile_server
from tests.support.processes import pids_in, runs

from homeport.machine import orphans, reaper
from homeport.machine.orphans import Process

GATEWAY = """
import asyncio, json, os, sys
from pathlib import Path
from homeport.machine.children import Ears, Supervisor

async def main():
    state, argv = Path(sys.argv[1]), json.loads(sys.argv[2])
    supervisor = Supervisor(state, environment={"PATH": os.defpath})
    child = await supervisor.spawn(argv, cwd=state, env={}, name="x", ears=Ears(lambda _: None, lambda: None))
    print(child.pid, supervisor._line.process.pid, flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


Start = Callable[[tuple[str, ...]], tuple[subprocess.Popen[str], int, int]]


def until(condition: Callable[[], object], seconds: float = 10.0) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)
    return True


@pytest.fixture
def gateway(tmp_path: Path) -> Start:
    """Starts a process that owns one child; gives it, the child's pid and the reaper's."""

    def start(argv: tuple[str, ...]) -> tuple[subprocess.Popen[str], int, int]:
        command = [sys.executable, "-c", GATEWAY, str(tmp_path), json.dumps(argv)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout
        child, keeper = map(int, process.stdout.readline().split())
        process.stdout.close()
        return process, child, keeper

    return start


def kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()


def test_kill_9_of_the_gateway_leaves_no_child_and_no_grandchild(gateway: Start, tmp_path: Path) -> None:
    told = tmp_path / "pids"
    process, child, keeper = gateway(hostile_server("forks", str(told)))
    assert until(lambda: len(pids_in(told)) == 2)
    kill(process)
    for pid in (child, *pids_in(told), keeper):
        assert until(lambda pid=pid: not runs(pid))
    assert list((tmp_path / "children").iterdir()) == []


def test_kill_9_of_the_gateway_ends_a_child_that_ignores_signals(gateway: Start, tmp_path: Path) -> None:
    told = tmp_path / "pid"
    process, child, _ = gateway(hostile_server("stubborn", str(told)))
    assert until(lambda: pids_in(told))
    kill(process)
    assert until(lambda: not runs(child))


@pytest.mark.skipif(sys.platform != "linux", reason="adoption by a subreaper is a thing of Linux")
def test_a_daemon_that_cleared_its_environment_and_lost_its_parent_is_killed_too(
    gateway: Start, tmp_path: Path
) -> None:
    told = tmp_path / "pid"
    code = (
        "import os, sys, time\n"
        "if os.fork() == 0:\n"
        "  os.setsid()\n"
        "  if os.fork() == 0:\n"
        "    sh = 'echo $$ > ' + sys.argv[1] + '; exec sleep 60'\n"
        "    os.execve('/bin/sh', ['sh', '-c', sh], {'PATH': '/bin:/usr/bin'})\n"
        "  os._exit(0)\n"
        "time.sleep(60)"
    )
    process, _, _ = gateway((sys.executable, "-I", "-S", "-c", code, str(told)))
    assert until(lambda: pids_in(told))
    kill(process)
    assert until(lambda: not runs(pids_in(told)[0]))


def test_the_sweep_kills_what_a_killed_gateway_and_a_killed_reaper_left(gateway: Start, tmp_path: Path) -> None:
    told = tmp_path / "pids"
    process, child, keeper = gateway(hostile_server("stubborn", str(told)))
    assert until(lambda: pids_in(told))
    # Stopped first, so that it cannot see the gateway's death in time.
    os.kill(keeper, signal.SIGSTOP)
    kill(process)
    os.kill(keeper, signal.SIGKILL)
    assert until(lambda: not runs(keeper))
    assert runs(child)
    assert orphans.sweep(tmp_path / "children") == 1
    assert until(lambda: not runs(child))
    assert list((tmp_path / "children").iterdir()) == []


def test_the_sweep_leaves_the_children_of_a_living_gateway_alone(gateway: Start, tmp_path: Path) -> None:
    process, child, _ = gateway((sys.executable, "-c", "import time; time.sleep(60)"))
    assert orphans.sweep(tmp_path / "children") == 0
    assert runs(child)
    kill(process)
    assert until(lambda: not runs(child))


def test_the_sweep_kills_no_stranger_that_got_a_recorded_pid(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, start_new_session=True) as stranger:
        lines = [{"owner": [2**22 - 1, "gone"]}, {"child": [stranger.pid, "another start"]}]
        (tmp_path / "abc.jsonl").write_text("\n".join(map(json.dumps, lines)))
        assert orphans.sweep(tmp_path) == 1
        assert runs(stranger.pid)
        stranger.communicate(b"\n")


def test_a_record_that_a_crash_cut_is_read_as_far_as_it_goes() -> None:
    record = orphans.parse('{"owner": [10, "a"]}\n{"child": [11, "b"]}\n{"child": [1, "init"]}\n[]\n{"chi')
    assert record.keepers == (Process(10, "a"),)
    assert record.children == (Process(11, "b"),)


def test_a_record_without_an_owner_is_left_for_its_reaper(tmp_path: Path) -> None:
    (tmp_path / "abc.jsonl").write_text("")
    assert orphans.sweep(tmp_path) == 0
    assert (tmp_path / "abc.jsonl").exists()


def test_a_start_time_tells_a_process_from_a_later_one() -> None:
    assert reaper.started(os.getpid()) == reaper.started(os.getpid()) != ""
    assert reaper.started(2**22 - 1) == ""
