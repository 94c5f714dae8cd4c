"""From an empty folder to an audited call, as a newcomer types it."""

from __future__ import annotations

import json

from tests.support.homeport import Home, scripted


def ready(home: Home, grants: str = 'can = ["echo", "add"]') -> None:
    """A project with one server, locked, two tools granted."""
    home.write(
        f'[project]\nname = "first"\n\n[servers.alpha]\n{scripted()}\n[profiles.default.grants.alpha]\n{grants}\n'
    )
    home.run("lock", "--yes")


def test_a_project_from_nothing(home: Home) -> None:
    home.run("init", "first")
    home.run("add", "alpha", "--", "python3", "-c", "pass")
    assert "[servers.alpha]" in (home.project / "homeport.toml").read_text()
    home.run("remove", "alpha")
    assert "[servers.alpha]" not in (home.project / "homeport.toml").read_text()


def test_a_second_init_writes_over_nothing(home: Home) -> None:
    home.run("init", "first")
    before = (home.project / "homeport.toml").read_bytes()
    assert "there is a project here already" in home.run("init", "other", check=4).stderr
    assert (home.project / "homeport.toml").read_bytes() == before


def test_lock_without_anyone_to_ask_starts_nothing_and_writes_nothing(home: Home) -> None:
    home.write(f'[project]\nname = "first"\n\n[servers.alpha]\n{scripted("--record", str(home.root / "record"))}\n')
    refused = home.run("lock", check=1)
    assert "scripted.py" in refused.stderr, "what would start is shown whole"
    assert "homeport lock" in refused.stderr
    assert not (home.root / "record").exists()
    assert not (home.project / "homeport.lock").exists()


def test_lock_grant_tools_call_audit(home: Home) -> None:
    ready(home, grants="can = []")
    assert home.json("tools") == []
    home.run("grant", "alpha", "echo", "--yes")
    assert [tool["name"] for tool in home.json("tools")] == ["echo"]
    assert home.run("call", "alpha", "echo", "--text", "hello there").stdout.strip() == "hello there"
    refused = home.run("call", "alpha", "add", "--a", "1", "--b", "2", check=2)
    invented = home.run("call", "alpha", "added", "--a", "1", "--b", "2", check=2)
    assert refused.stderr.replace("add", "…") == invented.stderr.replace("added", "…")
    rows = home.json("audit")
    assert [(row["name"], row["decision"]) for row in rows] == [
        ("added", "unknown"),
        ("add", "unknown"),
        ("echo", "accept"),
    ]
    assert "hello there" not in json.dumps(rows), "argument values are not kept"


def test_a_grant_of_an_unknown_tool_names_the_nearest(home: Home) -> None:
    ready(home)
    told = home.run("grant", "alpha", "ecko", "--yes", check=2).stderr
    assert "echo" in told


def test_deny_takes_back_under_a_wildcard_too(home: Home) -> None:
    ready(home, grants='can = ["*"]')
    home.run("deny", "alpha", "echo")
    assert "echo" not in {tool["name"] for tool in home.json("tools")}
    assert home.run("call", "alpha", "echo", "--text", "x", check=2)


def test_a_structured_result_is_printed_as_json(home: Home) -> None:
    ready(home)
    assert json.loads(home.run("call", "alpha", "add", "--a", "1", "--b", "2").stdout) == {"sum": 3}


def test_a_tool_error_is_printed_and_exits_3(home: Home) -> None:
    """surface-150"""
    ready(home, grants='can = ["fail"]')
    done = home.run("call", "alpha", "fail", "--text", "went wrong", check=3)
    assert "went wrong" in done.stdout + done.stderr
    as_json = home.run("call", "alpha", "fail", "--text", "went wrong", "--json", check=3)
    assert json.loads(as_json.stdout)["isError"] is True


def test_missing_and_wrong_arguments_are_named_before_anything_is_sent(home: Home) -> None:
    record = home.root / "record"
    home.write(
        f'[project]\nname = "first"\n\n[servers.alpha]\n{scripted("--record", str(record))}\n'
        '[profiles.default.grants.alpha]\ncan = ["*"]\n'
    )
    home.run("lock", "--yes")
    record.unlink()
    told = home.run("call", "alpha", "add", "--a", "one", "--b", "2", check=2).stderr
    assert "--a" in told or '"a"' in told or " a" in told
    told = home.run("call", "alpha", "add", check=2).stderr
    assert "a" in told
    assert "b" in told
    told = home.run("call", "alpha", "add", "--a", "1", "--b", "2", "--c", "3", check=2).stderr
    assert "--c" in told
    assert not record.exists() or "tools/call" not in record.read_text()


def test_a_dry_run_sends_nothing_and_says_what_it_would_send(home: Home) -> None:
    ready(home)
    dry = home.json("call", "alpha", "echo", "--text", "x", "--dry-run")
    assert (dry["tool"], dry["arguments"]) == ("echo", {"text": "x"})


def test_lock_check_tells_a_changed_project_with_status_4(home: Home) -> None:
    ready(home)
    home.run("lock", "--check")
    text = (home.project / "homeport.toml").read_text()
    (home.project / "homeport.toml").write_text(text.replace("args = [", 'args = ["-I", '))
    assert "homeport lock" in home.run("lock", "--check", check=4).stderr


def test_a_re_lock_of_an_unchanged_server_changes_no_byte(home: Home) -> None:
    ready(home)
    files = [home.project / "homeport.lock", home.project / "homeport.surface" / "alpha.json"]
    before = [(file.read_bytes(), file.stat().st_mtime_ns) for file in files]
    home.run("lock")
    assert [(file.read_bytes(), file.stat().st_mtime_ns) for file in files] == before


def test_a_broken_project_file_is_told_whole_with_lines(home: Home) -> None:
    home.write('[project]\nname = "x"\n[servers.Bad]\ncommand = 1\n[servers.ok]\nurll = "x"\n')
    told = home.run("lock", check=2).stderr
    assert "homeport.toml:3" in told
    assert "homeport.toml:6" in told
    assert "urll" in told


def test_a_corrupt_and_a_newer_lock_are_refused_and_kept(home: Home) -> None:
    ready(home)
    lock = home.project / "homeport.lock"
    good = lock.read_text()
    for bad in ("not toml [", good.replace("format = 1", "format = 99")):
        lock.write_text(bad)
        told = home.run("lock", "--yes", check=2).stderr
        assert "homeport.lock" in told
        assert lock.read_text() == bad, "nothing is written over"


def test_secrets_leave_the_file_at_import_and_reach_the_server(home: Home) -> None:
    from tests.support.homeport import SERVERS

    entry = {"command": "python3", "args": [str(SERVERS / "scripted.py")], "env": {"API_TOKEN": "tok-123456789"}}
    (home.project / "mcp.json").write_text(json.dumps({"mcpServers": {"My Server": entry}}))
    home.run("import", "mcp.json")
    text = (home.project / "homeport.toml").read_text()
    assert "tok-123456789" not in text
    assert "{secret:" in text
    home.run("lock", "--yes")
    home.run("grant", "my-server", "env", "--yes")
    assert home.run("call", "my-server", "env", "--name", "API_TOKEN").stdout.strip() in {"tok-123456789", "[hidden]"}
    for file in home.root.rglob("*"):
        if file.is_file() and file.name not in {"secrets.json", "mcp.json"}:
            assert b"tok-123456789" not in file.read_bytes(), file


def test_a_missing_secret_is_told_with_the_command_that_sets_it(home: Home) -> None:
    home.write(
        f'[project]\nname = "first"\n[servers.alpha]\n{scripted()}env = {{ KEY = "{{secret:nokey}}" }}\n'
        '[profiles.default.grants.alpha]\ncan = ["*"]\n'
    )
    told = home.run("lock", "--yes", check=None).stderr
    assert "homeport secrets set nokey" in told
    home.run("secrets", "set", "nokey", stdin="value-of-nokey\n")
    home.run("lock", "--yes")
    assert home.run("call", "alpha", "env", "--name", "KEY").stdout.strip() in {"value-of-nokey", "[hidden]"}
