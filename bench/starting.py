"""What starting costs: the command, `connect`, the gateway, the first call; each beside a bare interpreter."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from bench.measure import UNDER_TEST, Result, pinned, resident_mb, whole_process
from bench.place import Place

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    },
}


def results(place: Place) -> Iterator[Result]:
    """Every row of this module."""
    bare = whole_process([sys.executable, "-c", "pass"])
    yield Result("python -c pass", bare, "ms")
    yield _command("homeport --version", ["--version"], bare, place.environment, "150 ms")
    yield _command("homeport --help", ["--help"], bare, place.environment, "150 ms")
    yield from _connect(place, bare)
    yield from _ready(place, bare)


def _command(name: str, words: list[str], bare: float, environment: Mapping[str, str], goal: str) -> Result:
    taken = whole_process([str(Path(sys.executable).parent / "homeport"), *words], env=environment)
    return Result(name, taken, "ms", "python -c pass", taken / bare, goal)


def _connect(place: Place, bare: float) -> Iterator[Result]:
    """A `connect` against a running gateway: start to first answer, and what it holds."""
    taken: list[float] = []
    memory: list[float] = []
    with place.up():
        for _ in range(9):
            start = time.perf_counter()
            process = subprocess.Popen(
                [*pinned(UNDER_TEST), str(Path(sys.executable).parent / "homeport"), "connect", "--profile", "default",
                 "--project", str(place.project)],
                env=dict(place.environment), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            )  # fmt: skip
            assert process.stdin
            assert process.stdout
            process.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
            process.stdin.flush()
            answer = json.loads(process.stdout.readline())
            taken.append((time.perf_counter() - start) * 1000)
            assert "result" in answer, answer
            memory.append(resident_mb(process.pid))
            process.stdin.close()
            process.wait(10)
            process.stdout.close()
    median = statistics.median(taken)
    yield Result("connect: start to first answer", median, "ms", "python -c pass", median / bare, "100 ms")
    yield Result("connect: memory", statistics.median(memory), "MB", goal="15 MB")


def _ready(place: Place, bare: float) -> Iterator[Result]:
    """`up --json` to its ready line, and the first calls."""
    taken: list[float] = []
    for _ in range(5):
        start = time.perf_counter()
        with place.up() as gateway:
            taken.append((gateway.ready_at - start) * 1000)
    median = statistics.median(taken)
    yield Result("gateway ready", median, "ms", "python -c pass", median / bare, "500 ms")
    with place.up() as gateway:
        yield Result("gateway at rest, no server started", resident_mb(gateway.pid), "MB", goal="90 MB")
        cold = gateway.call_ms("pipe", "echo", {"text": "hello"})
        warm = statistics.median(gateway.call_ms("pipe", "echo", {"text": "hello"}) for _ in range(50))
        yield Result("first call, stdio server started for it", cold, "ms", "the warm call", cold / warm)
        yield Result("warm call, one client with keep-alive in Python", warm, "ms")
