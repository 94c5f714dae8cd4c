"""A real `homeport up` in front of the everything-server, with the proxy before it that adds the token."""

from __future__ import annotations

import contextlib
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Generator
from pathlib import Path
from urllib.parse import urlsplit

from tests.conformance.proxy import adding
from tests.support.homeport import Home

EVERYTHING = Path(__file__).parent / "everything.py"
PROJECT = """\
[project]
name = "conformance"

[servers.everything]
url = "{url}"

[profiles.default.grants.everything]
can = ["*"]
prompts = ["*"]
resources = ["*"]
may_ask = ["elicitation", "sampling", "roots"]
"""


@contextlib.contextmanager
def everything() -> Generator[str]:
    """The everything-server on a free port; its address."""
    with socket.socket() as chosen:
        chosen.bind(("127.0.0.1", 0))
        port = chosen.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, str(EVERYTHING), str(port)], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        _await(process, port)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(5)


def _await(process: subprocess.Popen[bytes], port: int) -> None:
    end = time.monotonic() + 30
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise RuntimeError("the everything-server did not start")


@contextlib.asynccontextmanager
async def gateway() -> AsyncGenerator[str]:
    """The address of the everything-server's endpoint, as the suite may use it."""
    with everything() as url, tempfile.TemporaryDirectory(prefix="hp-") as folder:
        home = Home(Path(folder).resolve())
        home.write(PROJECT.format(url=url))
        home.run("lock", "--yes")
        with home.up() as up:
            async with adding(str(up.ready["token"]), urlsplit(up.endpoint).port or 0) as port:
                yield f"http://127.0.0.1:{port}/mcp/default/everything"
