"""The catalogue is data: complete, checked, correctable."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from homeport.agents.catalog import Agent, Where, catalog
from homeport.ground.errors import InvalidInput

LINUX = Where({}, "linux", Path("/home/ada"))
AGENTS = list(catalog())


def test_there_are_all_agents() -> None:
    assert len(AGENTS) == 64
    assert len({agent.id for agent in AGENTS}) == 64


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.id)
def test_every_record_says_what_an_editor_needs(agent: Agent) -> None:
    assert agent.name
    assert agent.sources
    assert agent.checked == "2026-11"
    assert agent.stdio
    assert all(path.is_absolute() for path in (*agent.user_files(LINUX), *agent.project_files(LINUX, Path("/p"))))
    needed = {want for want in map(str, agent.stdio.values()) if want.startswith("@")}
    assert "@argv" in needed or "@command" in needed
    assert agent.http is None or "@url" in json.dumps(agent.http)


@pytest.mark.parametrize(
    ("identifier", "environment", "platform", "path"),
    [
        ("claude-code", {}, "linux", "/home/ada/.claude.json"),
        ("claude-code", {"CLAUDE_CONFIG_DIR": "/c"}, "linux", "/c/.claude.json"),
        ("codex", {"CODEX_HOME": "/x"}, "darwin", "/x/config.toml"),
        ("cline", {"CLINE_MCP_SETTINGS_PATH": "/m.json"}, "linux", "/m.json"),
        ("cline", {"CLINE_DIR": "/d"}, "linux", "/d/data/settings/cline_mcp_settings.json"),
        ("vscode", {"XDG_CONFIG_HOME": "/xdg"}, "linux", "/xdg/Code/User/mcp.json"),
        ("vscode", {"XDG_CONFIG_HOME": "relative"}, "linux", "/home/ada/.config/Code/User/mcp.json"),
        ("zed", {}, "darwin", "/home/ada/.config/zed/settings.json"),
        ("copilot-cli", {"XDG_CONFIG_HOME": "/xdg"}, "linux", "/home/ada/.copilot/mcp-config.json"),
        ("goose", {"APPDATA": "/roaming"}, "win32", "/roaming/Block/goose/config/config.yaml"),
    ],
)
def test_the_file_to_write_follows_platform_and_environment(
    identifier: str, environment: dict[str, str], platform: str, path: str
) -> None:
    assert catalog().get(identifier).user_files(Where(environment, platform, Path("/home/ada")))[0] == Path(path)


def test_an_agent_nobody_knows_gets_the_nearest_name() -> None:
    with pytest.raises(InvalidInput) as unknown:
        catalog().get("claude-kode")
    assert unknown.value.remedy == "did you mean claude-code?"


def test_a_user_corrects_a_record_and_adds_one() -> None:
    mine = {
        "format": 1,
        "agents": [
            {"id": "zed", "user": {"linux": ["/z.json"]}},
            {"id": "mine", "name": "Mine", "format": "json", "key_path": ["s"], "user": {"linux": ["{home}/m.json"]}},
        ],
    }
    own = catalog(json.dumps(mine).encode())
    assert own.get("zed").user_files(LINUX) == (Path("/z.json"),)
    assert own.get("zed").format == "jsonc"
    assert own.get("mine").user_files(LINUX) == (Path("/home/ada/m.json"),)
    assert own.get("mine").confidence == "medium"
    assert len(own) == 65


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("{", ""),
        ("[]", "format"),
        ('{"format": 2, "agents": []}', "format"),
        ('{"format": 1, "agents": [{}]}', "agents"),
        ('{"format": 1, "agents": [{"id": "zed", "colour": 1}]}', "zed.colour"),
        ('{"format": 1, "agents": [{"id": "zed", "format": "xml"}]}', "zed.format"),
        ('{"format": 1, "agents": [{"id": "new", "name": "N", "format": "json"}]}', "new.key_path"),
    ],
)
def test_a_bad_correction_is_refused_with_its_place(text: str, path: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        catalog(text.encode(), file="/c/agents.json")
    assert refused.value.code == "agents.catalog"
    assert refused.value.place.path == path


@pytest.mark.parametrize("name", ["__proto__", "constructor", "workspace"])
def test_names_that_break_an_agent_are_not_accepted(name: str) -> None:
    assert not catalog().get("claude-code").accepts_name(name)
