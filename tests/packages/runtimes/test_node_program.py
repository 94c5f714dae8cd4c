"""Which Node is used: this machine's only if it starts and is new enough."""

from __future__ import annotations

from pathlib import Path

import pytest

from homeport.packages.runtimes.node_program import Node
from homeport.packages.runtimes.uv import Uv


def machine(directory: Path, script: str, *, npm: bool = True) -> Node:
    programs = directory / "bin"
    cli = directory / "lib" / "npm-cli.js"
    programs.mkdir()
    cli.parent.mkdir()
    cli.touch(0o755)
    (programs / "node").write_text(script)
    (programs / "node").chmod(0o755)
    if npm:
        (programs / "npm").symlink_to(cli)
    return Node({"PATH": str(programs)}, directory / "cache", Uv(directory / "no-uv", {}))


def test_a_new_enough_node_of_the_machine_is_used_with_its_npm(tmp_path: Path) -> None:
    found = machine(tmp_path, "#!/bin/sh\necho v22.1.0\n").machine()

    assert found is not None
    assert (found.version, found.npm.name) == ("22.1.0", "npm-cli.js")


@pytest.mark.parametrize(
    "script", ["#!/bin/sh\necho v20.20.2\n", "#!/bin/sh\necho hello\n", "#!/bin/sh\nexit 1\n", "#!/no/such/shell\n"]
)
def test_an_old_or_broken_node_is_passed_over(tmp_path: Path, script: str) -> None:
    assert machine(tmp_path, script).machine() is None


def test_a_node_without_npm_is_passed_over(tmp_path: Path) -> None:
    assert machine(tmp_path, "#!/bin/sh\necho v24.0.0\n", npm=False).machine() is None
