"""A project to measure on: the C echo server behind a URL and on standard streams, everything granted."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import subprocess
import sys
import time
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.measure import AROUND, UNDER_TEST, await_port, build_cup, free_port, running

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


@dataclass
class Gateway:
    """A running gateway under test."""

    pid: int
    endpoint: str
    token: str
    ready_at: float

    @property
    def headers(self) -> dict[str, str]:
        """What opens the endpoint."""
        return {"Authorization": f"Bearer {self.token}"}

    def call_ms(self, server: str, tool: str, arguments: Mapping[str, Any]) -> float:
        """Milliseconds of one `tools/call` over a kept connection."""
        host = self.endpoint.partition("://")[2].partition("/")[0]
        if not hasattr(self, "_connection"):
            self._connection = http.client.HTTPConnection(host, timeout=30)
        params = {"name": tool, "arguments": arguments, "_meta": META}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        headers = self.headers | {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": "tools/call",
            "Mcp-Name": tool,
        }
        start = time.perf_counter()
        self._connection.request("POST", f"/mcp/default/{server}", body, headers)
        answer = self._connection.getresponse()
        text = answer.read()
        taken = (time.perf_counter() - start) * 1000
        assert answer.status == 200, text[:400]
        assert b'"result"' in text, text[:400]
        return taken


@dataclass
class Place:
    """The project, its user directories and the server behind the URL."""

    root: Path
    environment: Mapping[str, str]
    port: int

    @property
    def project(self) -> Path:
        """The project's directory."""
        return self.root / "project"

    def homeport(self, *words: str) -> None:
        """Run a command that must succeed."""
        subprocess.run(
            [sys.executable, "-m", "homeport", *words, "--project", str(self.project)],
            env=dict(self.environment), check=True, capture_output=True, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    @contextlib.contextmanager
    def up(self) -> Generator[Gateway]:
        """A gateway alone on its core."""
        words = ["up", "--json", "--port", "0", "--project", str(self.project)]
        homeport = str(Path(sys.executable).parent / "homeport")
        with running(
            [homeport, *words], core=UNDER_TEST, env=dict(self.environment), stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
        ) as process:  # fmt: skip
            assert process.stdout
            ready = json.loads(process.stdout.readline())
            yield Gateway(ready["pid"], ready["endpoint"], ready["token"], time.perf_counter())


@contextlib.contextmanager
def prepared(root: Path) -> Generator[Place]:
    """Build, start the echo server, lock and grant."""
    cup = build_cup(root)
    port = free_port()
    place = Place(root, dict(os.environ) | {"HOMEPORT_HOME": str(root / "home")}, port)
    place.project.mkdir()
    (place.project / "homeport.toml").write_text(
        f'[project]\nname = "bench"\n\n[servers.cup]\nurl = "http://127.0.0.1:{port}/mcp"\n\n'
        f'[servers.pipe]\ncommand = "{cup}"\nargs = ["stdio"]\n\n'
        '[profiles.default.grants.cup]\ncan = ["*"]\n\n[profiles.default.grants.pipe]\ncan = ["*"]\n'
    )
    with running([str(cup), str(port)], core=AROUND):
        await_port(port)
        place.homeport("lock", "--yes")
        yield place
