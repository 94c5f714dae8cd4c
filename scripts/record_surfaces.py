"""Record what public servers offer, as fixtures: `scripts/record_surfaces.py [NAME…]`.

Each server of tests/surface/real/servers.toml is locked by `homeport lock` in a temporary project with directories of
its own; its surface file is copied beside the list. A server that cannot be locked is told and leaves its file alone.
`real/report.json` is written anew: review how it changed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

REAL = Path(__file__).resolve().parent.parent / "tests" / "surface" / "real"
TIMEOUT = 600
"""Seconds for one server: resolve, install, start, list."""


def main(names: list[str]) -> int:
    """Record the named servers, or all."""
    listed = tomllib.loads((REAL / "servers.toml").read_text("utf-8"))
    chosen = names or list(listed)
    status = max([_record(name, listed[name]) for name in chosen], default=0)
    subprocess.run([sys.executable, "-m", "tests.surface.reported"], cwd=REAL.parents[2], check=True)
    return status


def _record(name: str, server: dict[str, Any]) -> int:
    with tempfile.TemporaryDirectory(prefix="hp-record-") as text:
        root = Path(text)
        project, folder = root / "project", root / "folder"
        project.mkdir()
        folder.mkdir()
        (project / "homeport.toml").write_text(project_text(name, server, folder), "utf-8")
        done = subprocess.run(
            [sys.executable, "-m", "homeport", "lock", "--yes", "--project", str(project)],
            env=os.environ | {"HOMEPORT_HOME": str(root / "homeport")},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
        locked = project / "homeport.surface" / f"{name}.json"
        if done.returncode or not locked.is_file():
            sys.stderr.write(f"{name}: not recorded ({done.returncode})\n{done.stderr[-1500:]}\n")
            return 1
        shutil.copyfile(locked, REAL / f"{name}.json")
        sys.stdout.write(f"{name}: {len(json.loads(locked.read_bytes())['tools'])} tools\n")
        sys.stdout.flush()
        return 0


def project_text(name: str, server: dict[str, Any], folder: Path) -> str:
    """The project file of one recording, with everything granted."""
    lines = [f'[project]\nname = "record"\n\n[servers.{name}]']
    lines += [f"{key} = {_inline(value).replace('{folder}', str(folder))}" for key, value in server.items()]
    return "\n".join([*lines, "", f"[profiles.default.grants.{name}]", 'can = ["*"]', ""])


def _inline(value: Any) -> str:
    """A string, a list or a table of strings as TOML."""
    match value:
        case {**members}:
            return f"{{ {', '.join(f'{name} = {json.dumps(text)}' for name, text in members.items())} }}"
        case _:
            return json.dumps(value)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
