"""Public servers from the real registries: resolved, installed, and answering without any network afterwards."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from homeport.packages import pins_text
from homeport.packages.launch import absolute_argv
from homeport.packages.pins import Kind, Lock, Pin
from homeport.packages.runtimes import node, place, python
from homeport.packages.runtimes.node_program import Node
from homeport.packages.runtimes.uv import Uv

pytestmark = [pytest.mark.real, pytest.mark.timeout(600)]

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}


def cut_off() -> list[str]:
    """What to put before a command so that it has no network, where this machine lets us."""
    for flags in ("-n", "-rn"):
        command = ["unshare", flags, "true"]
        if shutil.which("unshare") and subprocess.run(command, capture_output=True, check=False).returncode == 0:
            return command[:2]
    return []


@pytest.mark.parametrize(
    ("kind", "requirement", "entry"),
    [
        ("python", "mcp-server-time==2026.10.19", "{runtime}/bin/mcp-server-time"),
        ("python", "mcp-server-git==2026.10.19", "{runtime}/bin/mcp-server-git"),
        ("node", "@modelcontextprotocol/server-everything@2026.8.31", "{runtime}/bin/mcp-server-everything"),
    ],
)
def test_a_public_server_is_locked_installed_and_answers_offline(
    kind: Kind, requirement: str, entry: str, tmp_path: Path
) -> None:
    uv = Uv.found(os.environ, home=Path.home(), platform=sys.platform)
    tools = Node(os.environ, tmp_path / "cache", uv)
    runtime = python.resolve(requirement, uv=uv) if kind == "python" else node.resolve(requirement, node=tools)
    target = place.directory(tmp_path, runtime)
    if kind == "python":
        python.install(runtime, target, uv=uv)
        found = python.entry(runtime, target)
    else:
        node.install(runtime, target, node=tools)
        found = node.entry(runtime, target)
    pin = Pin("public", f"{kind} {requirement}", (entry,), runtime)
    text = pins_text.dump(Lock({"public": pin}))

    assert found == entry
    assert pins_text.parse(text).pins["public"] == pin
    assert not re.search(rb"https?://|file:", text)
    assert str(tmp_path).encode() not in text
    argv = absolute_argv(pin, root=tmp_path, runtime=target, platform=sys.platform)
    ran = subprocess.run(
        [*cut_off(), *argv],
        input=json.dumps(INITIALIZE) + "\n",
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    answer = json.loads(ran.stdout.splitlines()[0])
    assert answer["result"]["serverInfo"]["name"], ran.stderr
