"""Children: started, drained, ended with their whole tree."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from tests.servers import hostile_server
from tests.support.processes import becomes, pids_in, runs

from homeport.ground.errors import Unavailable
from homeport.ground.limits import Limits
from homeport.ground.secrets import Scrubber, Secret
from homeport.machine.children import Child, Ears, Ring, Supervisor, minimal_environment

pytestmark = pytest.mark.anyio

QUICK = Limits(close_grace=0.1)


class Heard:
    """What a child said."""

    def __init__(self) -> None:
        self.output = b""
        self.over = asyncio.Event()
        self.ears = Ears(self._add, self.over.set)

    def _add(self, data: bytes) -> None:
        self.output += data


@pytest.fixture
async def supervisor(tmp_path: Path) -> AsyncGenerator[Supervisor]:
    environment = minimal_environment(os.environ, sys.platform)
    supervisor = Supervisor(tmp_path / "state", environment=environment, limits=QUICK)
    yield supervisor
    await supervisor.close()


async def python(supervisor: Supervisor, cwd: Path, code: str, **env: str | Secret) -> tuple[Child, Heard]:
    heard = Heard()
    scrub = Scrubber(value for value in env.values() if isinstance(value, Secret))
    argv = (sys.executable, "-I", "-S", "-c", code)
    child = await supervisor.spawn(argv, cwd=cwd, env=env, name="python", ears=heard.ears, scrub=scrub)
    return child, heard


async def test_a_child_reads_its_input_and_its_output_is_heard(supervisor: Supervisor, tmp_path: Path) -> None:
    child, heard = await python(supervisor, tmp_path, "print(input().upper())")
    child.write(b"hello\n")
    async with asyncio.timeout(10):
        await heard.over.wait()
    assert heard.output == b"HELLO\n"
    assert await child.wait(5)
    assert child.status == 0


async def test_a_child_starts_in_its_directory_in_a_session_of_its_own(supervisor: Supervisor, tmp_path: Path) -> None:
    child, heard = await python(supervisor, tmp_path, "import os; print(os.getcwd(), os.getsid(0) == os.getpid())")
    async with asyncio.timeout(10):
        await heard.over.wait()
    assert heard.output.decode().split() == [str(tmp_path), "True"]
    assert child.pid > 0


async def test_a_child_gets_the_minimal_environment_and_its_own_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "ghp_not_for_children")
    supervisor = Supervisor(tmp_path, environment={"PATH": os.defpath, "HOME": "/nowhere"})
    code = "import os; print(sorted(os.environ), os.environ['KEY'])"
    child, heard = await python(supervisor, tmp_path, code, KEY=Secret("swordfish"))
    async with asyncio.timeout(10):
        await heard.over.wait()
    await child.close()
    await supervisor.close()
    said = heard.output.decode()
    assert "swordfish" in said
    assert "GITHUB_TOKEN" not in said


async def test_standard_error_is_scrubbed_and_without_control_characters(
    supervisor: Supervisor, tmp_path: Path
) -> None:
    code = "import os, sys; sys.stderr.write('\\x1b[31mkey ' + os.environ['KEY'] + '\\x1b[0m\\a end\\nlast')"
    child, heard = await python(supervisor, tmp_path, code, KEY=Secret("swordfish"))
    async with asyncio.timeout(10):
        await heard.over.wait()
    assert await becomes(lambda: len(child.stderr()) == 2)
    assert child.stderr() == ("key [hidden] end", "last")


async def test_a_flood_on_standard_error_neither_blocks_the_child_nor_grows(
    supervisor: Supervisor, tmp_path: Path
) -> None:
    """surface-138"""
    code = "import sys\nfor n in range(50_000): print('line', n, file=sys.stderr)\nprint('done')"
    child, heard = await python(supervisor, tmp_path, code)
    async with asyncio.timeout(30):
        await heard.over.wait()
    assert heard.output == b"done\n"
    assert await becomes(lambda: child.stderr(1) == ("line 49999",))
    assert sum(map(len, child.stderr())) <= QUICK.stderr_ring


async def test_closing_ends_a_child_at_end_of_input(supervisor: Supervisor, tmp_path: Path) -> None:
    child, _ = await python(supervisor, tmp_path, "import sys; sys.stdin.read(); sys.exit(7)")
    await child.close(5.0)
    assert child.status == 7
    assert child.how_it_ended() == "exited with status 7"


async def test_closing_kills_a_child_that_ignores_every_signal(supervisor: Supervisor, tmp_path: Path) -> None:
    """surface-136"""
    told = tmp_path / "pid"
    heard = Heard()
    argv = hostile_server("stubborn", str(told))
    child = await supervisor.spawn(argv, cwd=tmp_path, env={}, name="stubborn", ears=heard.ears)
    assert await becomes(lambda: pids_in(told))
    await child.close()
    assert child.status == -signal.SIGKILL
    assert child.how_it_ended() == "was ended by SIGKILL"
    assert not runs(child.pid)


async def test_closing_kills_a_grandchild_in_a_session_of_its_own(supervisor: Supervisor, tmp_path: Path) -> None:
    """surface-137"""
    told = tmp_path / "pids"
    heard = Heard()
    argv = hostile_server("forks", str(told))
    child = await supervisor.spawn(argv, cwd=tmp_path, env={}, name="forks", ears=heard.ears)
    assert await becomes(lambda: len(pids_in(told)) == 2)
    await child.close()
    for pid in pids_in(told):
        assert await becomes(lambda pid=pid: not runs(pid))


async def test_a_child_that_exits_takes_its_grandchildren_with_it(supervisor: Supervisor, tmp_path: Path) -> None:
    code = (
        "import subprocess, sys; p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'],"
        " stdin=0, stdout=1, start_new_session=True); print(p.pid)"
    )
    child, heard = await python(supervisor, tmp_path, code)
    async with asyncio.timeout(10):
        await heard.over.wait()
    assert await child.wait(5)
    assert await becomes(lambda: not runs(int(heard.output)))


async def test_a_cancelled_close_still_ends_the_child(supervisor: Supervisor, tmp_path: Path) -> None:
    child, _ = await python(supervisor, tmp_path, "import time; time.sleep(60)")
    closing = asyncio.ensure_future(child.close())
    await asyncio.sleep(0)
    closing.cancel()
    assert await child.wait(5)


async def test_a_full_pipe_is_told_and_drains(supervisor: Supervisor, tmp_path: Path) -> None:
    code = "import sys, time; sys.stdin.readline(); print(len(sys.stdin.buffer.read()))"
    child, heard = await python(supervisor, tmp_path, code)
    child.write(b"x" * 1_000_000)
    assert not child.writable
    child.write(b"\n" + b"y" * 10)
    async with asyncio.timeout(10):
        await child.drained()
    await child.close(5.0)
    async with asyncio.timeout(10):
        await heard.over.wait()
    assert child.status == 0


async def test_closing_a_child_that_never_read_its_input_leaves_no_pipe_open(
    supervisor: Supervisor, tmp_path: Path
) -> None:
    child, heard = await python(supervisor, tmp_path, "import time; time.sleep(60)")
    child.write(b"x" * 1_000_000)
    await child.close()
    assert child.writable
    async with asyncio.timeout(10):
        await heard.over.wait()


async def test_writing_to_a_child_that_is_gone_does_nothing(supervisor: Supervisor, tmp_path: Path) -> None:
    child, heard = await python(supervisor, tmp_path, "pass")
    async with asyncio.timeout(10):
        await heard.over.wait()
    await child.wait(5)
    for _ in range(3):
        child.write(b"hello\n")
        await asyncio.sleep(0)
    await child.close()
    await child.close()


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (("no-such-program-here",), "child.not_found"),
        (("./missing",), "child.not_found"),
        (("./plain.txt",), "child.not_executable"),
        (("./garbage",), "child.not_started"),
    ],
)
async def test_a_program_that_cannot_start_says_why_and_what_to_do(
    supervisor: Supervisor, tmp_path: Path, argv: tuple[str, ...], code: str
) -> None:
    (tmp_path / "plain.txt").write_text("text")
    (tmp_path / "garbage").write_text("\x7fnot a program")
    (tmp_path / "garbage").chmod(0o755)
    with pytest.raises(Unavailable) as caught:
        await supervisor.spawn(argv, cwd=tmp_path, env={}, name="x", ears=Heard().ears)
    assert caught.value.code == code
    assert caught.value.remedy


async def test_a_missing_working_directory_is_named(supervisor: Supervisor, tmp_path: Path) -> None:
    with pytest.raises(Unavailable) as caught:
        await supervisor.spawn(("sh",), cwd=tmp_path / "gone", env={}, name="x", ears=Heard().ears)
    assert caught.value.code == "child.no_directory"


async def test_a_relative_program_is_found_below_the_working_directory(supervisor: Supervisor, tmp_path: Path) -> None:
    script = tmp_path / "hello"
    script.write_text("#!/bin/sh\necho hello\n")
    script.chmod(0o755)
    heard = Heard()
    await supervisor.spawn(("./hello",), cwd=tmp_path, env={}, name="hello", ears=heard.ears)
    async with asyncio.timeout(10):
        await heard.over.wait()
    assert heard.output == b"hello\n"


async def test_when_the_reaper_is_killed_children_end_and_the_next_spawn_works(
    supervisor: Supervisor, tmp_path: Path
) -> None:
    child, heard = await python(supervisor, tmp_path, "import time; time.sleep(60)")
    assert supervisor._line is not None
    supervisor._line.process.kill()
    async with asyncio.timeout(10):
        await heard.over.wait()
    assert not child.running
    _, again = await python(supervisor, tmp_path, "print(1)")
    async with asyncio.timeout(10):
        await again.over.wait()
    assert again.output == b"1\n"


async def test_a_closed_supervisor_starts_nothing_and_leaves_nothing(tmp_path: Path) -> None:
    supervisor = Supervisor(tmp_path, environment={"PATH": os.defpath}, limits=QUICK)
    child, _ = await python(supervisor, tmp_path, "import time; time.sleep(60)")
    await supervisor.close()
    assert not runs(child.pid)
    assert list((tmp_path / "children").iterdir()) == []
    with pytest.raises(Unavailable):
        await python(supervisor, tmp_path, "pass")


async def test_many_children_start_at_once(supervisor: Supervisor, tmp_path: Path) -> None:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(python(supervisor, tmp_path, f"print({n})")) for n in range(10)]
    for number, task in enumerate(tasks):
        _, heard = task.result()
        async with asyncio.timeout(10):
            await heard.over.wait()
        assert int(heard.output) == number


def test_the_minimal_environment_holds_no_credentials() -> None:
    environment = {
        "PATH": "/bin",
        "HOME": "/home/me",
        "LC_ALL": "C",
        "AWS_SECRET_ACCESS_KEY": "x",
        "GITHUB_TOKEN": "x",
        "https_proxy": "http://me:pw@proxy",
        "PYTHONPATH": "/evil",
        "LD_PRELOAD": "/evil.so",
        "SHELL": "() { :; }; evil",
    }
    assert minimal_environment(environment, "linux") == {"PATH": "/bin", "HOME": "/home/me", "LC_ALL": "C"}


def test_the_minimal_environment_of_windows_ignores_case() -> None:
    environment = {"Path": "C:\\", "SystemRoot": "C:\\Windows", "SECRET": "x"}
    assert minimal_environment(environment, "win32") == {"Path": "C:\\", "SystemRoot": "C:\\Windows"}


def test_a_ring_that_was_cut_drops_the_first_line_so_that_no_half_secret_shows() -> None:
    ring = Ring(20, Scrubber([Secret("swordfish")]))
    ring.add(b"the key is swordfish now\nnext\nlast\n")
    assert ring.lines() == ("next", "last")
    assert ring.lines(1) == ("last",)
