"""`homeport call` and `homeport surface` as a shell sees them: what is printed, what is sent, which status."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from tests.servers import scripted as server
from tests.support.homeport import Home, scripted

LOGIN = {
    "name": "login",
    "inputSchema": server.schema(("api_key",), api_key={"type": "string", "minLength": 40}),
}
GONE = {"name": "refuse", "inputSchema": server.schema((), code={"type": "integer"}, message=server.TEXT)}


def ready(home: Home, *arguments: str, grants: str = 'can = ["*"]', extra: list[Any] | None = None) -> Path:
    """One locked server with everything granted; gives the file that it records what it receives in."""
    record, tools = home.root / "record", home.root / "tools.json"
    tools.write_text(json.dumps([*server.TOOLS, *(extra or [])]))
    options = ("--record", str(record), "--tools", str(tools), *arguments)
    home.write(f'[project]\nname = "x"\n[servers.alpha]\n{scripted(*options)}[profiles.default.grants.alpha]\n{grants}')
    home.run("lock", "--yes")
    record.unlink()
    return record


def sent(record: Path) -> list[Any]:
    """The calls that reached the server."""
    if not record.exists():
        return []
    messages = [json.loads(line) for line in record.read_bytes().splitlines()]
    return [message["params"] for message in messages if message.get("method") == "tools/call"]


WRONG: list[tuple[tuple[str, ...], str]] = [
    (("echo",), "text"),
    (("echo", "--text", "a", "--output", "nonsense"), "text, json, raw"),
    (("echo", "--text", "a", "--query", "["), "--query"),
    (("echo", "--text", "a", "--timeout", "soon"), "--timeout"),
    (("login", "--api-key", "hunter2-hunter2"), "api_key"),
]


def test_wrong_input_is_told_before_anything_starts(home: Home) -> None:
    """surface-71, surface-159, surface-158 (any --query is refused so far), surface-152 in errors"""
    record = ready(home, extra=[LOGIN])
    for words, told in WRONG:
        done = home.run("call", "alpha", *words, check=2)
        assert told in done.stderr
        assert "hunter2" not in done.stdout + done.stderr
    assert not record.exists()


def test_an_unknown_verb_is_a_row_and_says_nothing_of_why(home: Home) -> None:
    """surface-157, surface-152 in the audit"""
    ready(home, extra=[LOGIN])
    home.run("call", "alpha", "login", "--api-key", "hunter2-" * 8)
    home.run("call", "alpha", "invented", check=2)
    rows = home.json("audit")
    assert [(row["name"], row["decision"]) for row in rows] == [("invented", "unknown"), ("login", "accept")]
    assert rows[1]["args"]["keys"] == ["api_key"]
    files = [file for file in home.state.rglob("*") if file.is_file()]
    assert not [file for file in files if b"hunter2" in file.read_bytes()]


def test_a_number_is_printed_as_it_came_and_an_empty_content_prints_nothing(home: Home) -> None:
    """surface-160, surface-161"""
    ready(home)
    told = home.run("call", "alpha", "raw").stdout
    assert "12345678901234567890" in told
    assert "1e-400" in told
    assert '"x-unknown": 1.0' in home.run("call", "alpha", "raw", "--json").stdout
    assert home.run("call", "alpha", "big", "--bytes", "0").stdout.strip() == ""


def test_a_question_back_ends_with_its_own_status_and_is_shown(home: Home) -> None:
    """surface-162"""
    ready(home, "--era", "modern")
    done = home.run("call", "alpha", "ask", "--message", "Who are you?", check=6)
    assert "elicitation/create" in done.stderr
    assert "Who are you?" in done.stderr


def test_a_server_that_lost_a_tool_is_advised_to_be_compared(home: Home) -> None:
    """surface-151"""
    ready(home)
    done = home.run("call", "alpha", "refuse", "--code=-32602", "--message", "Unknown tool: refuse", check=3)
    assert "Unknown tool: refuse" in done.stderr
    assert "homeport surface diff alpha" in done.stderr


def test_an_older_protocol_works_and_a_stranger_in_the_environment_stays_out(home: Home) -> None:
    """surface-165, surface-143"""
    home.extra["AWS_SECRET_ACCESS_KEY"] = "abc-abc-abc"
    ready(home, "--era", "legacy")
    assert home.run("call", "alpha", "env", "--name", "AWS_SECRET_ACCESS_KEY").stdout.strip() == "(unset)"


def test_a_call_ends_when_its_timeout_is_over(home: Home) -> None:
    record = ready(home)
    done = home.run("call", "alpha", "slow", "--seconds", "30", "--steps", "1", "--timeout", "2", check=3)
    assert "2 s" in done.stderr
    assert len(sent(record)) <= 1
    with home.up():
        done = home.run("call", "alpha", "slow", "--seconds", "30", "--steps", "1", "--timeout", "1.5", check=3)
        assert "1.5 s" in done.stderr


def test_bad_servers_are_told_by_lock_each_with_its_own_reason(home: Home) -> None:
    """surface-139, surface-140, surface-142, surface-154"""
    servers = {
        "chatty": f"command = {json.dumps(sys.executable)}\nargs = ['-c', 'print(\"Listening on port 80\")']\n",
        "exits": scripted("exits", "3", name="hostile.py"),
        "absent": 'command = "no-such-program-here"\n',
        "web": 'url = "http://127.0.0.1:9/mcp?token=hunter2"\n',
    }
    home.write("\n".join(['[project]\nname = "x"', *(f"[servers.{name}]\n{text}" for name, text in servers.items())]))
    done = home.run("lock", "--yes", "--json", check=3)
    told = {row["server"]: row["problem"] for row in json.loads(done.stdout)}
    assert "Listening on port 80" in told["chatty"]
    assert "3" in told["exits"]
    assert "no-such-program-here" in told["absent"]
    assert "127.0.0.1" in told["web"]
    assert "hunter2" not in told["web"]


def test_lock_names_a_granted_tool_that_is_not_there_and_keeps_the_rest(home: Home) -> None:
    """surface-30"""
    home.write(
        f'[project]\nname = "x"\n[servers.alpha]\n{scripted()}[profiles.default.grants.alpha]\ncan = ["echo", "ecco"]\n'
    )
    done = home.run("lock", "--yes", check=2)
    assert "homeport.toml:6" in done.stderr
    assert "'ecco'" in done.stderr
    assert [tool["name"] for tool in home.json("tools")] == ["echo"]


def test_a_new_tool_named_nearly_like_a_denied_one_is_pointed_out(home: Home) -> None:
    ready(home, grants='can = ["*"]\nnever = ["delete"]')
    twin = {"name": "de1ete", "inputSchema": server.schema()}
    (home.root / "tools.json").write_text(json.dumps([*server.TOOLS, twin]))
    assert "nearly that of 'delete'" in home.run("surface", "diff", check=4).stdout
    assert "nearly that of 'delete'" in home.run("lock", check=1).stderr


def test_without_a_lock_nothing_counts_as_in_sync(home: Home) -> None:
    """surface-38"""
    home.write(f'[project]\nname = "x"\n[servers.alpha]\n{scripted()}')
    for verb in (("surface", "diff"), ("surface", "diff", "alpha"), ("surface", "show", "alpha"), ("lock", "--check")):
        done = home.run(*verb, check=None)
        assert done.returncode in {2, 4}, verb
        assert "homeport lock" in done.stdout + done.stderr, verb


def test_pictures_are_told_or_saved_under_names_of_our_own(home: Home) -> None:
    result = {
        "content": [
            {"type": "text", "text": "two pictures"},
            {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"},
            {"type": "resource", "resource": {"uri": "../../etc/passwd", "text": "mine", "mimeType": "text/plain"}},
        ]
    }
    script = home.root / "pictures.py"
    script.write_text(
        f"import sys\nsys.path.insert(0, {os.getcwd()!r})\nfrom tests.servers import scripted\n"
        f"scripted.Server.call = lambda *_: {result!r}\nscripted.main()\n"
    )
    text = scripted().replace(str(Path(server.__file__)), str(script))
    home.write(f'[project]\nname = "x"\n[servers.alpha]\n{text}[profiles.default.grants.alpha]\ncan = ["*"]\n')
    home.run("lock", "--yes")
    told = home.run("call", "alpha", "where")
    assert told.stdout.strip() == "two pictures"
    assert "image/png: not shown" in told.stderr
    for number in ("1", "2"):
        home.run("call", "alpha", "where", "--save-content", str(home.root / "out"))
        assert (home.root / "out" / f"content-{number}.png").read_bytes() == b"hello"
        assert (home.root / "out" / f"content-{number}.txt").read_text() == "mine"
    assert "call was made" in home.run("call", "alpha", "where", "--save-content", str(script), check=3).stderr
