"""The measuring instruments: a load generator, a C server to stand behind, processes pinned to a core."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
CORES = sorted(os.sched_getaffinity(0))
UNDER_TEST = CORES[0]
"""The program under test runs alone here; load and upstream share the other."""
AROUND = CORES[-1]


@dataclass
class Result:
    """One row of the report: a figure, what it is compared with, and the ratio."""

    name: str
    value: float
    unit: str
    against: str = ""
    ratio: float | None = None
    goal: str = ""
    more: dict[str, Any] = field(default_factory=dict)


def need(program: str, package: str) -> str:
    """The path of a program the benchmark needs; ends the run with what to install."""
    found = shutil.which(program)
    if found is None:
        sys.exit(f"bench needs {program}: apt-get install {package}")
    return found


def build_cup(folder: Path) -> Path:
    """Compile the C echo server."""
    target = folder / "cup"
    subprocess.run([need("gcc", "gcc"), "-O2", "-w", "-o", str(target), str(HERE / "cup.c")], check=True)
    return target


def free_port() -> int:
    """A loopback port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def pinned(core: int) -> list[str]:
    """The words that put a command on a core."""
    return ["taskset", "-c", str(core)]


@contextlib.contextmanager
def running(
    argv: Sequence[str],
    *,
    core: int,
    env: Mapping[str, str] | None = None,
    stdout: int | None = None,
    stderr: int | None = None,
    stdin: int | None = None,
) -> Generator[subprocess.Popen[bytes]]:
    """A process on a core, ended at the end."""
    process = subprocess.Popen([*pinned(core), *argv], env=env, stdout=stdout, stderr=stderr, stdin=stdin)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(10)
        if process.poll() is None:
            process.kill()
            process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def await_port(port: int, limit: float = 20) -> None:
    """Return when something listens."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.02)
    sys.exit(f"nothing listens on port {port}")


def cpu_seconds(pid: int) -> float:
    """CPU time of a process so far (not of its children)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mb(pid: int) -> float:
    """Resident memory of a process."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


def wrk(
    url: str, *, connections: int, seconds: float, headers: Mapping[str, str], tool: str = "echo"
) -> dict[str, Any]:
    """One load run; microseconds. Keys: rps, n, p50, p90, p99, err."""
    base, _, path = url.partition("://")[2].partition("/")
    environment = dict(os.environ) | {"TOOL": tool, "WPATH": "/" + path}
    if "Authorization" in headers:
        environment["AUTH"] = headers["Authorization"]
    words = [*pinned(AROUND), need("wrk", "wrk"), "-t1", f"-c{connections}", f"-d{seconds:g}s", "--latency"]
    done = subprocess.run(
        [*words, "-s", str(HERE / "modern.lua"), f"http://{base}"],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    line = next(line for line in done.stdout.splitlines() if line.startswith("RESULT "))
    return json.loads(line.removeprefix("RESULT "))


def whole_process(argv: Sequence[str], *, times: int = 9, env: Mapping[str, str] | None = None) -> float:
    """Median milliseconds from start to end of a command."""
    taken: list[float] = []
    for _ in range(times):
        start = time.perf_counter()
        subprocess.run([*pinned(UNDER_TEST), *argv], env=env, capture_output=True, check=False)
        taken.append((time.perf_counter() - start) * 1000)
    return statistics.median(taken)


@contextlib.contextmanager
def workplace() -> Generator[Path]:
    """A temporary folder."""
    with tempfile.TemporaryDirectory(prefix="homeport-bench-") as folder:
        yield Path(folder)
