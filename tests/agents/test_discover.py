"""Agents' files are found and read, and nothing on the machine changes."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from homeport.agents.catalog import Where, catalog
from homeport.agents.discover import Discovery, discover
from homeport.agents.findings import Finding, findings
from homeport.ground.errors import InvalidInput


def program(directory: Path, name: str) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / name
    path.write_text("#!/bin/sh\nexit 99\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name in ("npx", "uvx", "python3", "claude"):
        program(tmp_path / "bin", name)
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def look(home: Path, project: Path | None = None) -> Discovery:
    where = Where({"PATH": str(home.parent / "bin")}, "linux", home)
    return discover(catalog(), where, project=project)


def write(path: Path, content: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content, indent=2).encode())
    return path


def told(home: Path, code: str, project: Path | None = None) -> list[Finding]:
    return [finding for finding in findings(look(home, project)) if finding.code == code]


def snapshot(root: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path): (path.lstat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for path in root.rglob("*")
        if not path.is_fifo()
    }


def test_a_bare_machine_has_only_what_is_on_the_path(home: Path) -> None:
    assert [found.agent.id for found in look(home).agents] == ["claude-code"]
    assert look(home).agents[0].installed


def test_a_directory_alone_says_only_that_it_was_installed_once(home: Path) -> None:
    (home / ".cursor").mkdir()
    (cursor,) = [found for found in look(home).agents if found.agent.id == "cursor"]
    assert not cursor.installed


def test_looking_changes_nothing(home: Path) -> None:
    write(home / ".claude.json", {"mcpServers": {"a": {"command": "npx"}}})
    before = snapshot(home)
    findings(look(home))
    assert snapshot(home) == before


def test_servers_are_read_from_every_format(home: Path) -> None:
    write(home / ".claude.json", {"mcpServers": {"a": {"command": "npx"}}})
    write(home / ".codex/config.toml", b'[other]\nx = 1\n\n[mcp_servers.b]\ncommand = "npx"\n')
    write(home / ".config/goose/config.yaml", b"extensions:\n  c:\n    cmd: npx\n    args: []\n")
    write(home / ".openclaw/openclaw.json", b"{mcp: {servers: {d: {command: 'npx'}}}}")
    write(home / ".config/zed/settings.json", b'// theme\n{"context_servers": {"e": {"command": "npx",},},}')
    write(home / ".config/opencode/opencode.json", {"mcp": {"f": {"type": "local", "command": ["npx", "-y"]}}})
    found = {server.name: (server.agent, server.place.line, server.seen.command) for server in look(home).servers()}
    assert found["a"] == ("claude-code", 3, "npx")
    assert found["b"] == ("codex", 4, "npx")
    assert found["c"] == ("goose", 2, "npx")
    assert found["d"] == ("openclaw", 1, "npx")
    assert found["e"] == ("zed", 2, "npx")
    assert found["f"] == ("opencode", 3, "npx")


def test_a_project_s_files_and_its_part_of_the_user_file_are_read(home: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    write(project / ".mcp.json", {"mcpServers": {"shared": {"command": "npx"}}})
    write(home / ".claude.json", {"projects": {str(project): {"mcpServers": {"mine": {"command": "npx"}}}}})
    claude = look(home, project).agents[0]
    assert {(server.name, server.scope) for file in claude.files for server in file.servers} == {
        ("shared", "project"),
        ("mine", "local"),
    }


def test_a_home_that_is_not_known_is_an_error() -> None:
    with pytest.raises(InvalidInput, match="home"):
        discover(catalog(), Where({}, "linux", Path("")))


@pytest.mark.parametrize(
    ("content", "code", "line"),
    [
        pytest.param(b'{"a": 1,\n  "b": }\n', "config.syntax", 2, id="syntax"),
        pytest.param(b'{"mcpServers": {', "config.syntax", 1, id="truncated"),
        pytest.param(b'{"mcpServers": {},\n "mcpServers": {}}', "config.duplicate_key", 2, id="T52"),
        pytest.param(b"{\n<<<<<<< HEAD\n}\n=======\n>>>>>>> x\n", "config.merge_markers", 2, id="merge-markers"),
        pytest.param('{"a": 1}'.encode("utf-16"), "config.encoding", 1, id="utf-16"),
        pytest.param(b'{"a":\n"\xff"}', "config.encoding", 2, id="not-utf-8"),
        pytest.param(b"[]", "config.shape", 1, id="A-21"),
        pytest.param(b'{\n"mcpServers": []}', "config.shape", 2, id="A-22"),
        pytest.param(b"[" * 1000 + b"]" * 1000, "config.depth", 1, id="deep"),
    ],
)
def test_a_file_that_cannot_be_read_is_told_with_its_line(home: Path, content: bytes, code: str, line: int) -> None:
    path = write(home / ".claude.json", content)
    write(home / ".cursor/mcp.json", {"mcpServers": {"ok": {"command": "npx"}}})
    (finding,) = [finding for finding in findings(look(home)) if finding.severity == "error"]
    assert (finding.code, finding.file, finding.line, finding.agent) == (code, str(path), line, "claude-code")
    assert finding.remedy
    assert [server.name for server in look(home).servers()] == ["ok"]


@pytest.mark.parametrize("content", [b"", b" \n", b"{}", b'{"mcpServers": {}}', b'{"mcpServers": null}'])
def test_an_empty_file_is_no_fault(home: Path, content: bytes) -> None:
    write(home / ".claude.json", content)
    assert not findings(look(home))


def test_a_pipe_is_told_and_never_waited_for(home: Path) -> None:
    os.mkfifo(home / ".claude.json")
    (finding,) = findings(look(home))
    assert finding.code == "config.unreadable"
    assert "not a regular file" in finding.message


def test_a_link_to_nowhere_is_told(home: Path) -> None:
    (home / ".claude.json").symlink_to(home / "gone")
    (finding,) = findings(look(home))
    assert finding.code == "config.unreadable"


def test_a_large_file_is_read_in_a_moment(home: Path) -> None:
    history = [{"text": "x" * 200, "n": number} for number in range(25_000)]
    write(home / ".claude.json", {"history": history, "mcpServers": {"a": {"command": "npx"}}})
    (server,) = look(home).servers()
    assert server.place.line > 100_000


def test_a_program_that_is_not_there_is_an_error(home: Path) -> None:
    write(
        home / ".claude.json",
        {"mcpServers": {"a": {"command": "no-such-program"}, "b": {"command": "npx", "args": ["x@1.0.0"]}}},
    )
    (finding,) = findings(look(home))
    assert (finding.code, finding.measured) == ("server.command_missing", "no-such-program")
    assert finding.path == "mcpServers.a.command"


def test_a_command_written_as_one_text_is_told_how_to_write(home: Path) -> None:
    write(home / ".claude.json", {"mcpServers": {"a": {"command": "npx -y thing"}}})
    (finding,) = told(home, "server.command_missing")
    assert "args" in finding.remedy


def test_a_script_that_is_not_there_is_an_error(home: Path) -> None:
    write(home / ".claude.json", {"mcpServers": {"a": {"command": "python3", "args": ["/gone/server.py", "/data"]}}})
    (finding,) = findings(look(home))
    assert (finding.code, finding.measured) == ("server.path_missing", "/gone/server.py")


def test_an_entry_that_is_switched_off_may_be_dead(home: Path) -> None:
    write(home / ".claude.json", {"mcpServers": {"a": {"command": "no-such", "disabled": True}}})
    assert not findings(look(home))


@pytest.mark.parametrize(
    ("command", "args", "measured"),
    [
        ("npx", ["-y", "thing"], "thing"),
        ("npx", ["-y", "@s/thing@latest"], "@s/thing@latest"),
        ("npx", ["thing@^1.2.0"], "thing@^1.2.0"),
        ("uvx", ["thing"], "thing"),
        ("uvx", ["--from", "thing>=1", "run"], "thing>=1"),
        ("uvx", ["thing@latest"], "thing@latest"),
    ],
)
def test_a_runner_without_a_pin_is_told(home: Path, command: str, args: list[str], measured: str) -> None:
    path = write(home / ".claude.json", {"mcpServers": {"a": {"command": command, "args": args}}})
    (finding,) = findings(look(home))
    assert (finding.code, finding.measured) == ("server.unpinned", measured)
    assert finding.remedy == f"homeport import {path}, then write `runtime` in place of `command`"


@pytest.mark.parametrize(
    ("command", "args"), [("npx", ["x@1.2.3"]), ("uvx", ["x==1.0"]), ("npx", ["./local"]), ("python3", ["-m", "x"])]
)
def test_a_pinned_or_local_command_is_no_finding(home: Path, command: str, args: list[str]) -> None:
    write(home / ".claude.json", {"mcpServers": {"a": {"command": command, "args": args}}})
    assert not findings(look(home))


@pytest.mark.parametrize(
    ("entry", "place"),
    [
        (
            {"command": "npx", "args": ["x@1.0.0"], "env": {"GITHUB_TOKEN": "ghp_abcdefghijklmnopqrstu"}},
            "env.GITHUB_TOKEN",
        ),
        ({"command": "npx", "args": ["x@1.0.0"], "env": {"DB": "postgres://u:pa55word@h/db"}}, "env.DB"),
        (
            {"type": "http", "url": "https://h/", "headers": {"Authorization": "Bearer abcdef123"}},
            "headers.Authorization",
        ),
        ({"command": "npx", "args": ["x@1.0.0", "--token", "abcdef123"]}, "args[2]"),
        ({"type": "http", "url": "https://h/?api_key=abcdef123"}, "url"),
    ],
)
def test_a_secret_in_plain_text_is_told_by_place_only(home: Path, entry: object, place: str) -> None:
    write(home / ".claude.json", {"mcpServers": {"a": entry}})
    (finding,) = findings(look(home))
    assert (finding.code, finding.measured) == ("server.plain_secret", place)
    assert not any(text in repr(finding) for text in ("abcdef123", "ghp_abc", "pa55word"))


@pytest.mark.parametrize(
    "env",
    [{"API_KEY": "${API_KEY}"}, {"API_KEY": "<your key>"}, {"API_KEY": ""}, {"MODE": "fast"}, {"TOKEN_LIMIT": "5000"}],
)
def test_references_and_placeholders_are_no_secrets(home: Path, env: dict[str, str]) -> None:
    write(home / ".claude.json", {"mcpServers": {"a": {"command": "npx", "args": ["x@1.0.0"], "env": env}}})
    assert not findings(look(home))


@pytest.mark.parametrize(
    ("path", "content", "refused"),
    [
        pytest.param(".mcp.json", b'{"mcpServers": {} // note\n}', True, id="T08-claude-comment"),
        pytest.param(".gemini/settings.json", b'{"mcpServers": {},}', True, id="gemini-trailing-comma"),
        pytest.param(".gemini/settings.json", b'{"mcpServers": {} /* note */}', False, id="gemini-comment"),
        pytest.param(".factory/mcp.json", b"\xef\xbb\xbf{}", True, id="T21-droid-bom"),
        pytest.param(".vscode/mcp.json", b'{"servers": {}, // note\n}', False, id="T04-vscode"),
    ],
)
def test_text_that_the_agent_cannot_read_is_told(
    home: Path, tmp_path: Path, path: str, content: bytes, refused: bool
) -> None:
    write(tmp_path / "project" / path, content)
    agents = {"claude-code", "gemini-cli", "factory-droid", "vscode"}
    dialect = [finding for finding in told(home, "config.dialect", tmp_path / "project") if finding.agent in agents]
    assert bool(dialect) is refused


def test_servers_where_the_agent_does_not_look_are_told(home: Path) -> None:
    write(home / ".claude/settings.json", {"mcpServers": {"a": {"command": "npx"}}})
    (finding,) = findings(look(home))
    assert finding.code == "config.not_read"
    assert not list(look(home).servers())


def test_a_file_with_another_agent_s_key_is_told(home: Path) -> None:
    write(home / ".config/Code/User/mcp.json", {"mcpServers": {"a": {"command": "npx"}}})
    (finding,) = told(home, "config.wrong_key")
    assert "`servers`" in finding.message


@pytest.mark.parametrize(
    ("path", "content", "severity"),
    [
        pytest.param(
            ".claude.json", {"mcpServers": {"a": {"url": "https://h/"}}}, "warning", id="claude-url-without-type"
        ),
        pytest.param(
            ".claude.json",
            {"mcpServers": {"a": {"command": "npx", "args": ["x@1.0.0"], "timeout": None}}},
            "warning",
            id="null",
        ),
        pytest.param(".claude.json", {"mcpServers": {"a": {"enabled": True}}}, "warning", id="T40-neither"),
        pytest.param(".claude.json", {"mcpServers": {"a": "npx"}}, "warning", id="no-object"),
        pytest.param(
            ".config/opencode/opencode.json", {"mcp": {"a": {"type": "local", "command": "npx"}}}, "error", id="T39"
        ),
        pytest.param(".codex/config.toml", b"[mcp_servers.a]\nenabled = false\n", "error", id="T40-codex"),
        pytest.param(
            ".codeium/windsurf/mcp_config.json", {"mcpServers": {"a": {"uri": "https://h/"}}}, "warning", id="T48"
        ),
    ],
)
def test_an_entry_that_the_agent_cannot_use_is_told(home: Path, path: str, content: object, severity: str) -> None:
    write(home / path, content)
    (finding,) = told(home, "server.shape")
    assert finding.severity == severity


def test_goose_s_own_extensions_are_no_faults(home: Path) -> None:
    write(
        home / ".config/goose/config.yaml",
        b"extensions:\n  dev:\n    type: builtin\n    name: dev\n    enabled: true\n",
    )
    assert not findings(look(home))


def test_the_same_server_in_two_agents_is_noted_once(home: Path) -> None:
    entry = {"command": "npx", "args": ["-y", "x@1.0.0"]}
    write(home / ".claude.json", {"mcpServers": {"a": entry}})
    write(home / ".cursor/mcp.json", {"mcpServers": {"b": entry}})
    (finding,) = findings(look(home))
    assert (finding.code, finding.measured) == ("server.duplicate", "claude-code, cursor")


def test_a_file_that_several_agents_read_gives_each_finding_once(home: Path, tmp_path: Path) -> None:
    write(tmp_path / "project/.mcp.json", {"mcpServers": {"a": {"command": "no-such"}}})
    assert len(told(home, "server.command_missing", tmp_path / "project")) == 1


def test_a_name_in_two_scopes_with_two_launches_is_told(home: Path, tmp_path: Path) -> None:
    write(home / ".claude.json", {"mcpServers": {"a": {"command": "npx", "args": ["x@1.0.0"]}}})
    write(tmp_path / "project/.mcp.json", {"mcpServers": {"a": {"command": "npx", "args": ["y@1.0.0"]}}})
    (finding,) = told(home, "server.shadowed", tmp_path / "project")
    assert finding.agent == "claude-code"


def test_a_name_that_the_agent_refuses_is_told(home: Path) -> None:
    write(home / ".gemini/settings.json", {"mcpServers": {"a_b": {"command": "npx", "args": ["x@1.0.0"]}}})
    (finding,) = told(home, "server.name")
    assert finding.measured == "^[A-Za-z0-9-]+$"
