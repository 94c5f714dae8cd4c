"""`connect` carries lines over starts and restarts of the gateway, and never sends a call twice."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from homeport.connect.start import passed_on

FAKE = Path(__file__).with_name("fake_gateway.py")
LAUNCH = (
    "import sys; from homeport.connect.__main__ import main; sys.exit(main(sys.argv[2:], command=eval(sys.argv[1])))"
)
INITIALIZE = {"method": "initialize", "params": {"protocolVersion": "2025-11-25"}}


class Agent:
    """Starts `connect` as an agent would and speaks to it."""

    def __init__(self, home: Path, *options: str, arguments: tuple[str, ...] = (), **environment: str) -> None:
        command = [sys.executable, str(FAKE), *options]
        self.unread = b""
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-c", LAUNCH, json.dumps(command), "--project", str(home / "project"), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "HOMEPORT_HOME": str(home), **environment},
        )

    def send(self, **message: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def receive(self, timeout: float = 20) -> dict[str, Any]:
        assert self.process.stdout is not None
        while b"\n" not in self.unread:
            if not select.select([self.process.stdout], [], [], timeout)[0]:
                raise TimeoutError
            data = os.read(self.process.stdout.fileno(), 1 << 20)
            assert data, "connect closed its output"
            self.unread += data
        line, _, self.unread = self.unread.partition(b"\n")
        return json.loads(line)

    def ask(self, identity: object, method: str) -> dict[str, Any]:
        self.send(id=identity, method=method)
        return self.receive()

    def finish(self) -> tuple[int, str]:
        assert self.process.stderr is not None
        errors = self.process.stderr.read().decode()
        status = self.process.wait(20)
        self.close()
        return status, errors

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()


@pytest.fixture
def home() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="hp") as directory:
        path = Path(directory)
        (path / "project").mkdir()
        (path / "project" / "homeport.toml").write_text("[project]\n")
        yield path
        for start in starts(path):
            with_pid(start["pid"], signal.SIGKILL)


def with_pid(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def starts(home: Path) -> list[dict[str, Any]]:
    file = home / "starts"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


@pytest.fixture
def agent(home: Path) -> Iterator[Agent]:
    agent = Agent(home)
    yield agent
    agent.close()


def test_a_gateway_is_started_and_its_answers_come_back(home: Path, agent: Agent) -> None:
    answer = agent.ask(1, "ping")
    assert answer["id"] == 1
    assert answer["result"]["hello"] == {"homeport": 1, "kind": "mcp", "profile": "default", "pid": agent.process.pid}
    assert len(starts(home)) == 1


def test_the_gateway_it_starts_is_on_its_own(home: Path) -> None:
    agent = Agent(home, SOME_API_KEY="sk-secret", LC_ALL="C.UTF-8")
    try:
        agent.ask(1, "ping")
    finally:
        agent.close()
    start = starts(home)[0]
    assert start["session"] != os.getsid(0)
    assert "SOME_API_KEY" not in start["environment"]
    assert start["environment"]["LC_ALL"] == "C.UTF-8"
    os.kill(start["pid"], 0)  # it outlives the one that started it
    assert Path(f"/proc/{start['pid']}/status").exists() is sys.platform.startswith("linux")


def test_the_environment_passed_on_is_a_list_of_what_is_needed() -> None:
    given = {"PATH": "/bin", "HOMEPORT_HOME": "/h", "AWS_SECRET_ACCESS_KEY": "x", "LD_PRELOAD": "x", "PYTHONPATH": "x"}
    assert passed_on(given) == {"PATH": "/bin", "HOMEPORT_HOME": "/h"}


def test_many_at_once_start_one_gateway(home: Path) -> None:
    agents = [Agent(home, "--slow-start", "0.3") for _ in range(20)]
    try:
        for agent in agents:
            agent.send(id=1, method="ping")
        pids = {agent.receive(60)["result"]["pid"] for agent in agents}
    finally:
        for agent in agents:
            agent.close()
    assert len(starts(home)) == 1
    assert pids == {starts(home)[0]["pid"]}


def test_a_call_in_flight_is_answered_as_unknown_and_not_sent_again(home: Path, agent: Agent) -> None:
    agent.send(id=1, **INITIALIZE)
    agent.receive()
    agent.send(method="notifications/initialized")
    agent.send(id="call", method="hold")
    first = agent.ask("ping", "ping")["result"]
    assert first["received"] == ["initialize", "notifications/initialized", "hold", "ping"]
    os.kill(first["pid"], signal.SIGKILL)
    answer = agent.receive()
    assert answer["id"] == "call"
    assert answer["error"]["data"] == {"code": "gateway.outcome_unknown"}
    again = agent.ask(2, "ping")["result"]
    assert again["received"] == ["initialize", "notifications/initialized", "ping"]
    assert again["hello"]["resumed"] is True
    assert len(starts(home)) == 2


def test_what_only_reads_is_asked_again(agent: Agent) -> None:
    first = agent.ask(1, "ping")["result"]["pid"]
    os.kill(first, signal.SIGSTOP)
    agent.send(id=2, method="tools/list")
    agent.send(id=3, method="tools/call")
    time.sleep(0.2)  # both are in the socket of a gateway that does not read
    os.kill(first, signal.SIGKILL)
    answers = {answer["id"]: answer for answer in (agent.receive(), agent.receive())}
    assert answers[2]["result"]["received"] == ["tools/list"]
    assert answers[3]["error"]["data"] == {"code": "gateway.outcome_unknown"}


def test_a_request_that_kills_the_gateway_is_not_repeated(home: Path, agent: Agent) -> None:
    agent.send(id=1, method="die")
    assert agent.receive()["error"]["data"] == {"code": "gateway.outcome_unknown"}
    assert agent.ask(2, "ping")["result"]["received"] == ["ping"]
    assert len(starts(home)) == 2


def test_a_cancelled_call_gets_no_answer_after_a_restart(agent: Agent) -> None:
    pid = agent.ask(1, "ping")["result"]["pid"]
    agent.send(id=2, method="hold")
    agent.send(method="notifications/cancelled", params={"requestId": 2})
    agent.ask(3, "ping")
    os.kill(pid, signal.SIGKILL)
    assert agent.ask(4, "ping")["id"] == 4


def test_big_answers_pass(agent: Agent) -> None:
    assert len(agent.ask(1, "big")["result"]["text"]) == 3_000_000
    assert agent.ask(2, "ping")["id"] == 2


def test_what_was_asked_before_the_end_of_input_is_answered(agent: Agent) -> None:
    agent.send(id=1, method="ping")
    assert agent.process.stdin is not None
    agent.process.stdin.close()
    assert agent.receive()["id"] == 1
    assert agent.process.wait(20) == 0


def test_a_refusal_is_told_to_the_agent_and_to_people(home: Path) -> None:
    agent = Agent(home, "--refuse", arguments=("--profile", "ghost"))
    agent.send(id=7, **INITIALIZE)
    answer = agent.receive()
    assert answer["id"] == 7
    assert "there is no profile ghost. homeport trust" in answer["error"]["message"]
    status, errors = agent.finish()
    assert status == 1
    assert "there is no profile ghost" in errors


def test_a_gateway_that_cannot_start_is_told_with_its_log(home: Path) -> None:
    agent = Agent(home, "--exit", "3")
    agent.send(id=7, **INITIALIZE)
    message = agent.receive()["error"]["message"]
    status, _ = agent.finish()
    assert status == 3
    assert "ended before it was ready" in message
    assert str(home / "state" / "log") in message


@pytest.mark.parametrize("arguments", [["--nonsense"], ["--profile"], ["extra"]])
def test_wrong_usage_says_how(arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "homeport.connect", *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith("usage: homeport connect")


def test_it_stays_small() -> None:
    code = "import sys; from homeport.connect import bridge, start, places; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    heavy = {"asyncio", "typing", "pathlib", "subprocess", "hashlib", "inspect", "dataclasses", "argparse"}
    assert not heavy & set(done.stdout.split())
