"""`kill -9` in the middle of calls: no answer that was given and no call that may have run is missing."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.processes import becomes, runs

from homeport.calls import lines

pytestmark = pytest.mark.anyio
ROOT = Path(__file__).parents[2]

CALLS = """
import asyncio, os, sys
from pathlib import Path
from tests.support.house import house

async def main():
    async with house(Path(sys.argv[1])) as made:
        async def one(number):
            while True:
                operation = made.operation("echo", {"text": str(number)})
                await made.pipeline.run(operation)
                os.write(1, (operation.id + "\\n").encode())
                number += 1000
        await asyncio.gather(*(one(number) for number in range(8)))

asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
@pytest.mark.parametrize("after", [1, 20, 200])
async def test_kill_9_loses_no_answer_and_no_call_that_may_have_run(tmp_path: Path, after: int) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", CALLS, str(tmp_path), cwd=ROOT, stdout=subprocess.PIPE, start_new_session=True
    )
    assert process.stdout is not None
    answered = [await asyncio.wait_for(process.stdout.readline(), 60) for _ in range(after)]
    process.send_signal(signal.SIGKILL)
    answered += (await process.stdout.read()).splitlines(keepends=True)
    await process.wait()
    given = {line.decode().strip() for line in answered if line.endswith(b"\n")}

    (path,) = (tmp_path / "journal").glob("*.jsonl")
    data = path.read_bytes()
    rows = list(lines.rows(data))
    ended = {row.id for row in rows if row.stage == "ended"}
    begun = {row.id for row in rows if row.stage == "begun"}
    assert lines.broken_links(data) == []
    assert given
    assert given <= ended <= begun

    messages = [json.loads(line) for line in (tmp_path / "record.jsonl").read_bytes().splitlines()]
    received = [message for message in messages if message["method"] == "tools/call"]
    assert len(received) <= len(begun)
    assert len({message["params"]["arguments"]["text"] for message in received}) == len(received)


WHERE = """
import asyncio, json, os, sys
from pathlib import Path
from tests.support.house import house

async def main():
    async with house(Path(sys.argv[1])) as made:
        outcome = await made.call("where")
        os.write(1, json.loads(outcome.result)["content"][0]["text"].encode() + b"\\n")
        await asyncio.sleep(60)

asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
async def test_kill_9_leaves_no_server_behind(tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", WHERE, str(tmp_path), cwd=ROOT, stdout=subprocess.PIPE, start_new_session=True
    )
    assert process.stdout is not None
    pid = int((await asyncio.wait_for(process.stdout.readline(), 60)).split()[0])
    assert runs(pid)
    process.send_signal(signal.SIGKILL)
    await process.wait()
    assert await becomes(lambda: not runs(pid))


FULL = """
import asyncio, json, resource, sys
from pathlib import Path
from homeport.calls.operation import Delivered
from tests.support.house import house

def limit(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

async def main():
    told = []
    async with house(Path(sys.argv[1])) as made:
        async def call(name, **arguments):
            outcome = await made.call(name, arguments)
            told.append("delivered" if isinstance(outcome, Delivered) else outcome.kind.value)
        await call("echo", text="a")
        await made.drift.settle()
        running = asyncio.create_task(call("slow", seconds=0.5, steps=1))
        while len(made.received()) < 2:
            await asyncio.sleep(0.01)
        limit(made.journal.path.stat().st_size + 100)      # the disk fills while a call is under way
        await running                                      # answered all the same
        await call("echo", text="b")                       # not made
        limit(resource.RLIM_INFINITY)
        await call("echo", text="c")                       # made again, after what was owed
        stages = [(row.stage, row.decision) for row in made.rows()]
        print(json.dumps([told, len(made.received()), stages, made.stderr]))

asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="file size limits are POSIX")
def test_a_disk_that_fills_during_a_call_loses_no_line_and_stops_further_calls(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path)], cwd=ROOT, capture_output=True, timeout=60, check=True
    )
    told, sent, stages, stderr = json.loads(done.stdout)
    assert told == ["delivered", "delivered", "journal", "delivered"]
    assert sent == 3
    assert [stage for stage, _ in stages] == ["begun", "ended", "begun", "ended", "refused", "begun", "ended"]
    assert stages[4] == ["refused", "journal"]
    assert len(stderr) == 2
