"""Homeport as a stranger uses it: its own process, its own directories, a project in a temporary folder."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SERVERS = Path(__file__).parent.parent / "servers"


@dataclass
class Home:
    """One user's Homeport, and one project."""

    root: Path
    extra: dict[str, str] = field(default_factory=dict)

    @property
    def project(self) -> Path:
        """The project's directory."""
        path = self.root / "project"
        path.mkdir(exist_ok=True, parents=True)
        return path

    @property
    def state(self) -> Path:
        """The user state directory."""
        return self.root / "homeport" / "state"

    @property
    def environment(self) -> dict[str, str]:
        """What its processes get: the real environment without an agent's markers, and directories of its own."""
        from homeport.agents.markers import MARKERS

        clean = {name: value for name, value in os.environ.items() if name not in MARKERS}
        return clean | {"HOMEPORT_HOME": str(self.root / "homeport"), "PYTHONWARNINGS": "default"} | self.extra

    def write(self, text: str) -> Path:
        """Write `homeport.toml`."""
        file = self.project / "homeport.toml"
        file.write_text(text, encoding="utf-8")
        return file

    def run(
        self, *arguments: str, check: int | None = 0, stdin: str | None = None, timeout: float = 90
    ) -> subprocess.CompletedProcess[str]:
        """One command in the project's directory; `check` is the exit status it must have (None: any)."""
        done = subprocess.run(
            [sys.executable, "-m", "homeport", *arguments],
            cwd=self.project,
            env=self.environment,
            input=stdin if stdin is not None else "",
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=timeout,
            check=False,
        )
        if check is not None:
            told = f"{arguments} ended with {done.returncode}\n--- stdout\n{done.stdout}\n--- stderr\n{done.stderr}"
            assert done.returncode == check, told
        return done

    def json(self, *arguments: str, check: int | None = 0) -> Any:
        """The data a command prints with `--json`."""
        return json.loads(self.run(*arguments, "--json", check=check).stdout)

    @contextlib.contextmanager
    def up(self, *arguments: str, verb: str = "up") -> Generator[Up]:
        """A running gateway; stopped at the end, and killed if it does not stop."""
        log = (self.root / "up.log").open("ab")
        process = subprocess.Popen(
            [sys.executable, "-m", "homeport", verb, "--json", "--port", "0", *arguments],
            cwd=self.project,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
        )
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line, f"no gateway: {(self.root / 'up.log').read_text()}"
            yield Up(process, json.loads(line), self)
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGTERM)
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(5)
            if process.stdout is not None:
                process.stdout.close()
            log.close()


@dataclass
class Up:
    """A running gateway and what it said when it was ready."""

    process: subprocess.Popen[bytes]
    ready: Mapping[str, Any]
    home: Home

    @property
    def endpoint(self) -> str:
        """Ends in `/mcp`."""
        return str(self.ready["endpoint"])

    @property
    def headers(self) -> dict[str, str]:
        """The token of the default profile."""
        return {"Authorization": f"Bearer {self.ready['token']}"}


def scripted(*arguments: str, name: str = "scripted.py") -> str:
    """The TOML lines that make a server of a script in `tests/servers`."""
    words = ", ".join(json.dumps(word) for word in (str(SERVERS / name), *arguments))
    return f"command = {json.dumps(sys.executable)}\nargs = [{words}]\n"
