"""A gateway with servers that misbehave, clients that are many, files that change, and a kill."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from tests.support.clients import over_connect, over_http
from tests.support.homeport import Home, scripted
from tests.support.processes import becomes, pids_in, runs

pytestmark = pytest.mark.anyio


def project(home: Home, servers: dict[str, str], *, grants: str = 'can = ["*"]') -> None:
    """A project with these servers, each granted whole, locked as far as it can be."""
    parts = ['[project]\nname = "whole"\n']
    parts += [
        f"[servers.{name}]\n{text}\n[profiles.default.grants.{name}]\n{grants}\n" for name, text in servers.items()
    ]
    home.write("\n".join(parts))
    home.run("lock", "--yes", check=None)


async def test_bad_servers_are_told_with_their_last_words_and_the_others_work(home: Home) -> None:
    project(
        home,
        {
            "good": scripted(),
            "exits": scripted("exits", "3", name="hostile.py"),
            "html": scripted("html", name="hostile.py"),
            "noise": scripted("noise", name="hostile.py"),
        },
    )
    with home.up() as up:
        rows = {row["name"]: row for row in home.json("ps")["servers"]}
        assert rows["exits"]["state"] == "fault"
        assert "homeport lock" in rows["exits"]["remedy"]
        async with over_http(up, "2026-07-28") as client:
            told = await client.call_tool("good__echo", {"text": "still here"})
            assert told.content[0].text == "still here"
            noisy = await client.call_tool("noise__echo", {})
            assert noisy.content[0].text == "ok"


async def test_a_server_that_fails_later_is_told_with_its_stderr(home: Home) -> None:
    flag = home.root / "broken"
    wrapper = home.project / "wrapper.py"
    home.project.mkdir(exist_ok=True)
    wrapper.write_text(
        "import os, runpy, sys\n"
        f"if os.path.exists({str(flag)!r}):\n    sys.exit('the licence file is gone')\n"
        f"sys.argv = ['scripted.py']\nrunpy.run_path({str(Path(__file__).parents[1] / 'servers' / 'scripted.py')!r},"
        " run_name='__main__')\n"
    )
    project(home, {"alpha": f"command = {json.dumps(sys.executable)}\nargs = ['wrapper.py']\n", "beta": scripted()})
    flag.touch()
    with home.up() as up:
        async with over_http(up, "2026-07-28") as client:
            failed = await client.call_tool("alpha__echo", {"text": "x"})
            assert failed.is_error
            assert "licence file is gone" in failed.content[0].text
            assert (await client.call_tool("beta__echo", {"text": "y"})).content[0].text == "y"
        rows = {row["name"]: row for row in home.json("ps")["servers"]}
        assert rows["alpha"]["state"] == "failed"
        assert any("licence file is gone" in line for line in rows["alpha"]["stderr"])
        assert "licence file is gone" in home.run("restart", "alpha", check=3).stderr
        flag.unlink()
        assert home.json("restart", "alpha")["state"] == "ready"


async def test_kill_9_leaves_no_process_and_every_answer_in_the_journal(home: Home) -> None:
    pids = home.root / "pids"
    project(home, {"alpha": scripted(), "forks": scripted("forks", str(pids), name="hostile.py")})
    with home.up() as up:
        async with over_http(up, "2026-07-28") as client:
            await client.call_tool("forks__echo", {})
            for number in range(20):
                await client.call_tool("alpha__echo", {"text": str(number)})
        children = [row["pid"] for row in home.json("ps")["servers"] if row["pid"]]
        grandchildren = pids_in(pids)
        assert grandchildren
        assert all(map(runs, (*children, *grandchildren)))
        os.kill(up.process.pid, signal.SIGKILL)
        up.process.wait(5)
        assert await becomes(lambda: not any(map(runs, (*children, *grandchildren))))
    ended = [row for row in home.json("audit", "-n", "100") if row["stage"] == "ended"]
    assert sum(row["server"] == "alpha" for row in ended) == 20


async def test_twenty_connects_at_once_start_one_gateway(home: Home) -> None:
    project(home, {"alpha": scripted()})

    async def one(number: int) -> str:
        async with over_connect(home, "legacy" if number % 2 else "2026-07-28") as client:
            return (await client.call_tool("alpha__echo", {"text": str(number)})).content[0].text

    try:
        assert await asyncio.gather(*map(one, range(20))) == [str(number) for number in range(20)]
        assert len(list((home.state / "run").glob("*.json"))) == 1
        told = home.json("ps")
        assert runs(told["pid"])
        rows = home.json("audit", "-n", "100")
        assert len([row for row in rows if row["decision"] == "accept"]) == 20
    finally:
        home.run("down", check=None)
    assert await becomes(lambda: not runs(told["pid"]))


async def test_a_grant_counts_at_once_and_is_told_to_the_client(home: Home) -> None:
    project(home, {"alpha": scripted()}, grants='can = ["echo"]')
    with home.up() as up:
        async with over_http(up, "legacy") as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == ["alpha__echo"]
            home.run("grant", "alpha", "add", "--yes")

            async def listed() -> set[str]:
                return {tool.name for tool in (await client.list_tools()).tools}

            async with asyncio.timeout(10):
                while await listed() != {"alpha__echo", "alpha__add"}:
                    await asyncio.sleep(0.05)
            home.run("deny", "alpha", "echo")
            async with asyncio.timeout(10):
                while await listed() != {"alpha__add"}:
                    await asyncio.sleep(0.05)


async def test_a_broken_file_leaves_the_old_one_in_force_and_is_told(home: Home) -> None:
    project(home, {"alpha": scripted()})
    with home.up() as up:
        text = (home.project / "homeport.toml").read_text()
        (home.project / "homeport.toml").write_text(text + "\n[servers.alpha]\nbroken")
        async with over_http(up, "2026-07-28") as client:
            async with asyncio.timeout(10):
                while "stays in force" not in home.run("ps").stderr:
                    await asyncio.sleep(0.05)
            assert (await client.call_tool("alpha__echo", {"text": "x"})).content[0].text == "x"
        (home.project / "homeport.toml").write_text(text)


def test_a_port_in_use_is_one_sentence_with_the_remedy(home: Home) -> None:
    import socket

    project(home, {"alpha": scripted()})
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        told = home.run("up", "--port", str(taken.getsockname()[1]), check=4).stderr
    assert "--port 0" in told
    assert told.count("error:") == 1


def test_a_read_only_state_directory_is_one_sentence_with_the_remedy(home: Home) -> None:
    project(home, {"alpha": scripted()})
    (home.state / "run").mkdir(exist_ok=True)
    for path in (home.state / "run", home.state):
        path.chmod(0o500)
    try:
        told = home.run("up", "--port", "0", check=3).stderr
    finally:
        for path in (home.state, home.state / "run"):
            path.chmod(0o700)
    assert told.count("error:") == 1
    assert "writable" in told


def test_without_a_token_nothing_is_answered_and_a_foreign_origin_is_refused(home: Home) -> None:
    project(home, {"alpha": scripted()})
    with home.up() as up:

        def status(**headers: str) -> int:
            request = urllib.request.Request(up.endpoint, b"{}", {"Content-Type": "application/json", **headers})
            try:
                return urllib.request.urlopen(request, timeout=5).status
            except urllib.error.HTTPError as error:
                error.close()
                return error.code

        assert status() == 401
        assert status(Authorization="Bearer nonsense") == 401
        assert status(**up.headers, Origin="https://evil.example") == 403
        assert status(**up.headers, Host="evil.example") == 403


def test_a_rotated_token_shuts_the_old_one_out(home: Home) -> None:
    project(home, {"alpha": scripted()})
    old = home.run("token").stdout.strip()
    assert "agree" in home.run("token", "--rotate", check=1).stderr
    new = home.run("token", "--rotate", "--yes").stdout.strip()
    assert new != old
    assert home.run("token").stdout.strip() == new


def test_down_without_a_gateway_says_so(home: Home) -> None:
    project(home, {"alpha": scripted()})
    assert "homeport up" in home.run("down", check=3).stderr


def test_connect_to_a_profile_that_asks_for_its_token_is_refused(home: Home) -> None:
    project(home, {"alpha": scripted()})
    file = home.project / "homeport.toml"
    file.write_text(file.read_text() + "[profiles.locked]\nrequire_token = true\n")
    home.run("trust", "--yes")
    with home.up():
        initialize = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}}
        done = subprocess.run(
            [sys.executable, "-m", "homeport", "connect", "--profile", "locked"],
            cwd=home.project, env=home.environment, input=json.dumps(initialize) + "\n",
            capture_output=True, text=True, timeout=20, check=False,
        )  # fmt: skip
    assert "token" in done.stdout + done.stderr
    assert '"result"' not in done.stdout


def test_a_gateway_trims_the_audit_trail_when_it_starts(home: Home) -> None:
    project(home, {})
    journals = home.state / "journal"
    journals.mkdir(parents=True, exist_ok=True)
    old = journals / "20200101T000000Z-4194305.jsonl"
    old.write_text("{}\n")
    os.utime(old, (0, 0))
    home.extra["HOMEPORT_AUDIT_DAYS"] = "sometimes"
    assert "HOMEPORT_AUDIT_DAYS" in home.run("up", "--port", "0", check=2).stderr
    home.extra["HOMEPORT_AUDIT_DAYS"] = "forever"
    with home.up():
        assert old.exists()
    del home.extra["HOMEPORT_AUDIT_DAYS"]
    with home.up():
        assert not old.exists()


def asked(home: Home, *words: str, extra: dict[str, str] | None = None) -> tuple[int, dict[str, object], str]:
    """What `connect` answers to one ping: status, the answer, standard error."""
    ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
    done = subprocess.run(
        [sys.executable, "-m", "homeport", "connect", *words],
        cwd=home.root, env=home.environment | (extra or {}), input=ping,
        capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip
    return done.returncode, json.loads(done.stdout), done.stderr


def test_connect_without_a_project_tells_the_agent_and_starts_nothing(home: Home) -> None:
    status, answer, _ = asked(home)
    assert status == 3
    assert "homeport init" in json.dumps(answer)
    status, answer, _ = asked(home, "--project", str(home.root / "nowhere"))
    assert status == 3
    assert "is no directory" in json.dumps(answer)
    assert not (home.state / "log").exists()


def test_connect_with_a_read_only_state_directory_tells_the_agent(home: Home) -> None:
    home.write('[project]\nname = "x"\n')
    home.root.joinpath("ro").mkdir(mode=0o500)
    status, answer, told = asked(
        home, "--project", str(home.project), extra={"HOMEPORT_HOME": str(home.root / "ro" / "home")}
    )
    assert status == 3
    assert "cannot be written" in json.dumps(answer)
    assert "Traceback" not in told


def test_a_gateway_killed_under_calls_gives_each_of_them_exactly_one_answer(home: Home) -> None:
    """The calls that stand between its death and the next gateway are the hard ones."""
    project(home, {"alpha": scripted()})
    home.run("down", check=None)
    process = subprocess.Popen(
        [sys.executable, "-m", "homeport", "connect"],
        cwd=home.project, env=home.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None

    def send(message: dict[str, object]) -> None:
        assert process.stdin is not None
        process.stdin.write(json.dumps({"jsonrpc": "2.0"} | message).encode() + b"\n")
        process.stdin.flush()

    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    send({"id": 0, "method": "initialize", "params": params})
    process.stdout.readline()
    send({"method": "notifications/initialized"})
    gateway = home.json("ps")["pid"]
    for number in range(1, 301):
        call = {"name": "alpha__echo", "arguments": {"text": str(number)}}
        send({"id": number, "method": "tools/call", "params": call})
        if number == 100:
            os.kill(gateway, signal.SIGKILL)
    process.stdin.close()
    answered = [message["id"] for line in process.stdout if "id" in (message := json.loads(line))]
    process.stdout.close()
    process.wait(20)
    home.run("down", check=None)
    assert sorted(answered) == list(range(1, 301))
    accepted = [row for row in home.json("audit", "-n", "1000") if row["decision"] == "accept"]
    assert len({row["id"] for row in accepted}) == len(accepted) <= 300
