"""Golden cases: for every agent a file before, and after registering our entry and two servers directly.

`HOMEPORT_WRITE_GOLDEN=1 pytest tests/agents/test_golden.py` writes the files anew; review the difference.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from homeport.agents import editing
from homeport.agents.catalog import Agent, catalog
from homeport.agents.documents import read
from homeport.agents.rendering import ServerLaunch, direct_launch, gateway_launch
from homeport.agents.shapes import Launch, entry_for, read_entry
from homeport.ground.errors import HomeportError
from homeport.ground.secrets import Template

HERE = Path(__file__).parent / "golden"
AGENTS = [pytest.param(agent, id=agent.id) for agent in catalog()]
OTHER = Launch("other", "/usr/bin/other", ("--flag", "two words"))
SERVERS = (
    ServerLaunch("echo", ("/opt/echo/bin/echo", "--root", "/srv/project"), cwd="/srv/project"),
    ServerLaunch("web", url="https://mcp.example.com/mcp", headers={"X-Team": (Template("blue"),)}),
)
COMMENTS = {"jsonc": "// kept\n", "json5": "// kept\n", "toml": "# kept\n", "yaml": "# kept\n"}
OTHERS = {
    "json": '{\n  "theme": "dark",\n  "ratio": 1.50\n}\n',
    "jsonc": '{\n  // kept\n  "theme": "dark", /* kept too */\n  "ratio": 1.50\n}\n',
    "json5": "{\n  // kept\n  theme: 'dark',\n  ratio: +1.50,\n}\n",
    "toml": '# kept\ntheme = "dark" # kept too\nratio = 1.50\n\n[section]\nsince = 2026-11-30\n',
    "yaml": "# kept\ntheme: dark # kept too\nratio: 1.50\nflags: [on, 'off']\n",
}


def extension(agent: Agent) -> str:
    return agent.format


def before_text(agent: Agent) -> bytes:
    """Another program's settings, and a server that an operator wrote."""
    return editing.put(OTHERS[agent.format].encode(), agent, OTHER.name, entry_for(agent, OTHER))


def wanted(agent: Agent) -> dict[str, dict[str, Any]]:
    gateway = gateway_launch(Path("/usr/local/bin/homeport"), "default", Path("/srv/project"), "user")
    entries = {gateway.name: entry_for(agent, gateway)}
    for server in SERVERS:
        try:
            entries[server.name] = direct_launch(agent, server)[0]
        except HomeportError:
            assert server.url
            assert agent.http is None
    return entries


def golden(path: Path, made: bytes) -> bytes:
    if os.environ.get("HOMEPORT_WRITE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(made)
    return path.read_bytes()


@pytest.mark.parametrize("agent", AGENTS)
def test_an_agent_s_file_before_and_after(agent: Agent) -> None:
    before = golden(HERE / f"{agent.id}.before.{extension(agent)}", before_text(agent))
    was = editing.origin(before, agent)
    after = before
    for name, entry in wanted(agent).items():
        after = editing.put(after, agent, name, entry)
    assert after == golden(HERE / f"{agent.id}.after.{extension(agent)}", after)
    back: bytes | None = after
    for name in wanted(agent):
        assert back is not None
        back = editing.take_out(back, agent, name)
    assert back is not None
    assert editing.restore(back, agent, was) == before


@pytest.mark.parametrize("agent", AGENTS)
def test_what_we_write_is_read_as_what_was_meant(agent: Agent) -> None:
    entries = wanted(agent)
    data: bytes = before_text(agent)
    for name, entry in entries.items():
        data = editing.put(data, agent, name, entry)
    found = {one.name: read_entry(agent, one.value) for one in read(data, agent, file="x").entries}
    assert found["homeport"].command == "/usr/local/bin/homeport"
    assert found["homeport"].args == ("connect", "--profile", "default", "--project", "/srv/project")
    assert found["echo"].key == ("/opt/echo/bin/echo", "--root", "/srv/project")
    assert found["other"].args == ("--flag", "two words")
    if agent.http is not None:
        assert found["web"].url == "https://mcp.example.com/mcp"
        assert found["web"].headers == {"X-Team": "blue"}
        assert found["web"].command == ""
