"""Servers of agents' files become tables of a project."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
import tomlkit

from homeport.agents.catalog import Where, catalog
from homeport.agents.importing import Import, import_file, with_pin
from homeport.ground.errors import InvalidInput
from homeport.project.parse import parse

HERE = Where({}, "linux", Path("/home/ada"))


def take(document: object, *, file: str = "/w/mcp.json", **options: Any) -> Import:
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    return import_file(data, file=file, catalog=catalog(), where=HERE, **options)


def project_of(imported: Import):
    text = tomlkit.dumps({"project": {"name": "p"}, "servers": imported.tables()})
    tomllib.loads(text)
    return parse(text.encode(), root=Path("/p"))


def test_the_common_form_becomes_tables_that_a_project_accepts() -> None:
    imported = take(
        {"mcpServers": {"time": {"command": "uvx", "args": ["mcp-server-time"]}, "web": {"url": "https://h/mcp"}}}
    )
    assert imported.tables() == {
        "time": {"command": "uvx", "args": ["mcp-server-time"]},
        "web": {"url": "https://h/mcp"},
    }
    assert set(project_of(imported).servers) == {"time", "web"}


def test_values_of_env_and_headers_move_into_the_secret_store() -> None:
    imported = take(
        {
            "mcpServers": {
                "a": {"command": "x", "env": {"API_KEY": "hunter2hunter2", "MODE": "fast"}},
                "b": {"type": "http", "url": "https://h/mcp", "headers": {"Authorization": "Bearer t0ken-value"}},
            }
        }
    )
    assert imported.tables()["a"]["env"] == {"API_KEY": "{secret:a.API_KEY}", "MODE": "{secret:a.MODE}"}
    assert imported.tables()["b"]["headers"] == {"Authorization": "Bearer {secret:b.Authorization}"}
    assert {name: secret.reveal() for name, secret in imported.secrets.items()} == {
        "a.API_KEY": "hunter2hunter2",
        "a.MODE": "fast",
        "b.Authorization": "t0ken-value",
    }
    assert "hunter2" not in repr(imported)
    project_of(imported)


def test_values_stay_where_a_person_asks() -> None:
    imported = take({"mcpServers": {"a": {"command": "x", "env": {"MODE": "fast"}}}}, keep_values=True)
    assert imported.tables()["a"]["env"] == {"MODE": "fast"}
    assert not imported.secrets


def test_a_literal_that_looks_like_our_reference_is_never_kept_as_one() -> None:
    # Claude Desktop expands nothing, so this text is the value itself.
    file = "/home/ada/.config/Claude/claude_desktop_config.json"
    imported = take({"mcpServers": {"a": {"command": "x", "env": {"K": "{env:HOME}"}}}}, file=file, keep_values=True)
    assert imported.tables()["a"]["env"] == {"K": "{secret:a.K}"}
    assert imported.secrets["a.K"].reveal() == "{env:HOME}"


@pytest.mark.parametrize(
    ("written", "ours"),
    [
        pytest.param("${TOKEN}", "{env:TOKEN}", id="plain"),
        pytest.param("${env:TOKEN}", "{env:TOKEN}", id="cursor-style"),
        pytest.param("Bearer ${TOKEN}", "Bearer {env:TOKEN}", id="with-a-scheme"),
        pytest.param("${input:token}", "{secret:a.token}", id="asked-of-the-user"),
        pytest.param("${TOKEN:-}", ["{env:TOKEN}", ""], id="empty-default"),
    ],
)
def test_references_become_ours(written: str, ours: object) -> None:
    imported = take({"mcpServers": {"a": {"url": "https://h/", "headers": {"Authorization": written}}}})
    assert imported.tables()["a"]["headers"] == {"Authorization": ours}
    assert not imported.secrets
    project_of(imported)


def test_a_default_of_a_reference_is_a_value_and_moves() -> None:
    imported = take({"mcpServers": {"a": {"command": "x", "env": {"K": "${TOKEN:-s3cret}"}}}})
    assert imported.tables()["a"]["env"] == {"K": ["{env:TOKEN}", "{secret:a.K}"]}
    assert imported.secrets["a.K"].reveal() == "s3cret"


def test_names_are_made_valid_and_told() -> None:
    imported = take(
        {"mcpServers": {"My Server": {"command": "x"}, "my_server": {"command": "y"}, "homeport": {"command": "z"}}}
    )
    assert list(imported.tables()) == ["my-server", "my-server-2", "homeport-server"]
    assert next(note.text for note in imported.notes) == (
        "'My Server' is now called 'my-server': server names are lower-case letters, digits and hyphens"
    )
    project_of(imported)


def test_names_that_the_project_has_are_left_alone() -> None:
    assert list(take({"mcpServers": {"time": {"command": "x"}}}, taken=["time"]).tables()) == ["time-2"]


def test_what_is_no_server_is_told_and_left_out() -> None:
    imported = take(
        {
            "mcpServers": {
                "ours": {"command": "/opt/bin/homeport", "args": ["connect"]},
                "none": {"enabled": True},
                "both": {"command": "x", "url": "https://h/"},
                "socket": {"type": "ws", "url": "ws://h/"},
                "text": "npx",
                "good": {"command": "x"},
            }
        }
    )
    assert list(imported.tables()) == ["good"]
    assert len([note for note in imported.notes if "not imported" in note.text]) == 5


def test_a_secret_among_the_arguments_does_not_reach_the_file() -> None:
    imported = take({"mcpServers": {"a": {"command": "x", "args": ["--api-key", "sk-abcdefghijklmnop1234"]}}})
    table = imported.tables()["a"]
    assert "sk-abc" not in json.dumps(table)
    assert table["enabled"] is False
    assert any("process list" in note.text for note in imported.notes)
    project_of(imported)


def test_a_bridge_to_a_url_becomes_the_url() -> None:
    entry = {
        "command": "npx",
        "args": ["-y", "mcp-remote@latest", "https://h/mcp", "--header", "Authorization:${AUTH}"],
        "env": {"AUTH": "Bearer abcdefgh"},
    }
    imported = take({"mcpServers": {"a": entry}})
    assert imported.tables()["a"] == {
        "url": "https://h/mcp",
        "headers": {"Authorization": "Bearer {secret:a.Authorization}"},
    }
    assert imported.secrets["a.Authorization"].reveal() == "abcdefgh"


def test_a_password_in_a_url_becomes_a_header() -> None:
    imported = take({"mcpServers": {"a": {"url": "https://ada:pass%20word@h:8443/mcp?x=1"}}})
    assert imported.tables()["a"]["url"] == "https://h:8443/mcp?x=1"
    assert imported.secrets["a.Authorization"].reveal() == "YWRhOnBhc3Mgd29yZA=="
    project_of(imported)


def test_one_launch_seen_twice_is_one_server() -> None:
    imported = take({"mcpServers": {"a": {"command": "x"}, "b": {"command": "x"}}})
    assert list(imported.tables()) == ["a"]


@pytest.mark.parametrize(
    ("document", "file", "table"),
    [
        pytest.param(
            {
                "mcp": {
                    "a": {
                        "type": "local",
                        "command": ["npx", "-y", "p"],
                        "environment": {"K": "{env:K}"},
                        "enabled": False,
                    }
                }
            },
            "/w/opencode.json",
            {"command": "npx", "args": ["-y", "p"], "enabled": False, "env": {"K": "{env:K}"}},
            id="opencode",
        ),
        pytest.param(
            b'[mcp_servers.a]\ncommand = "x"\nenv = { K = "v" }\n',
            "/w/config.toml",
            {"command": "x", "env": {"K": "{secret:a.K}"}},
            id="codex",
        ),
        pytest.param(
            b"extensions:\n  dev: {type: builtin, name: dev}\n  a:\n    cmd: x\n    args: [1]\n    envs: {}\n",
            "/home/ada/.config/goose/config.yaml",
            {"command": "x", "args": ["1"]},
            id="goose",
        ),
        pytest.param(
            b'// note\n{"servers": {"a": {"type": "http", "url": "https://h/",},},}',
            "/w/.vscode/mcp.json",
            {"url": "https://h/"},
            id="vscode",
        ),
        pytest.param(b"{mcp: {servers: {a: {command: 'x'}}}}", "/w/openclaw.json5", {"command": "x"}, id="openclaw"),
        pytest.param(b"mcpServers:\n  - name: a\n    command: x\n", "/w/config.yaml", {"command": "x"}, id="continue"),
    ],
)
def test_every_form_is_understood(document: object, file: str, table: object) -> None:
    imported = take(document, file=file)
    assert imported.tables() == {"a": table}
    project_of(imported)


@pytest.mark.parametrize(
    ("command", "args", "requirement", "rest"),
    [
        pytest.param("npx", ["-y", "@s/p@1.2.3", "--x"], {"node": "@s/p@1.2.3"}, ["--x"], id="npx"),
        pytest.param("uvx", ["mcp-server-time==2026.10.19"], {"python": "mcp-server-time==2026.10.19"}, [], id="uvx"),
        pytest.param("uvx", ["p@1.0", "a"], {"python": "p==1.0"}, ["a"], id="uvx-at"),
        pytest.param(
            "uvx", ["--from", "p==1.0", "tool", "a"], {"python": "p==1.0", "command": "tool"}, ["a"], id="from"
        ),
        pytest.param("cmd", ["/c", "npx.cmd", "-y", "p@2.0.0"], {"node": "p@2.0.0"}, [], id="windows"),
        pytest.param("uv", ["tool", "run", "p==1"], {"python": "p==1"}, [], id="uv-tool-run"),
    ],
)
def test_a_pinned_runner_becomes_a_runtime(command: str, args: list[str], requirement: object, rest: list[str]) -> None:
    imported = take({"mcpServers": {"a": {"command": command, "args": args, "env": {"K": "v"}}}})
    (proposal,) = imported.pins
    table = with_pin(imported.tables()["a"], proposal)
    expected = {"runtime": requirement, **({"args": rest} if rest else {}), "env": {"K": "{secret:a.K}"}}
    assert table == expected
    project_of(Import(tuple(type(imported.servers[0])("a", "a", table, imported.servers[0].place) for _ in "x")))


def test_a_version_is_added_to_a_runner_without_one() -> None:
    (proposal,) = take({"mcpServers": {"a": {"command": "npx", "args": ["-y", "p@latest"]}}}).pins
    assert proposal.runner.version == ""
    assert with_pin({"command": "npx"}, proposal, "3.0.0") == {"runtime": {"node": "p@3.0.0"}}
    with pytest.raises(InvalidInput, match="no version is known"):
        with_pin({"command": "npx"}, proposal)


@pytest.mark.parametrize("args", [["git+https://h/r"], ["--with", "q", "p==1"], ["./here"]])
def test_what_cannot_be_pinned_says_why(args: list[str]) -> None:
    (proposal,) = take({"mcpServers": {"a": {"command": "uvx", "args": args}}}).pins
    assert proposal.obstacle


def test_a_file_without_servers_is_refused_with_a_remedy() -> None:
    with pytest.raises(InvalidInput) as refused:
        take({"other": 1})
    assert refused.value.code == "import.nothing"


def test_a_secret_in_a_url_does_not_reach_the_file() -> None:
    imported = take({"mcpServers": {"a": {"url": "https://h/mcp?x=1&api_key=abcdef123"}}})
    table = imported.tables()["a"]
    assert "abcdef123" not in json.dumps(table)
    assert table["url"].startswith("https://h/mcp?x=1&api_key=")
    assert table["enabled"] is False
