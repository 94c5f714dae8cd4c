"""`homeport call` against public servers as they are today in the lock's exact versions (`make test-real`)."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from tests.support.homeport import Home

LISTED = tomllib.loads((Path(__file__).parents[1] / "surface" / "real" / "servers.toml").read_text("utf-8"))


def locked(home: Home, name: str) -> None:
    """A project with one of the recorded servers, everything granted."""
    server = LISTED[name]
    ((kind, requirement),) = server["runtime"].items()
    lines = [f'[project]\nname = "real"\n[servers.{name}]\nruntime = {{ {kind} = {json.dumps(requirement)} }}']
    lines += [f"args = {json.dumps(server['args']).replace('{folder}', str(home.project))}"] if "args" in server else []
    home.write("\n".join([*lines, f'[profiles.default.grants.{name}]\ncan = ["*"]\n']))
    home.run("lock", "--yes", timeout=600)


@pytest.mark.real
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("name", "words", "told"),
    [
        ("time", ("get_current_time", "--timezone", "Europe/Madrid"), "Europe/Madrid"),
        ("everything", ("get-sum", "--a", "2", "--b", "40"), "42"),
        ("filesystem", ("list-directory", "--path", "{folder}"), "homeport.toml"),
        ("memory", ("create-entities", "--entities", '{"name":"Ada","entityType":"p","observations":[]}'), "Ada"),
        ("git", ("git-status", "--repo-path", "{folder}"), "{folder}"),
    ],
)
def test_a_call_of_a_public_server(home: Home, name: str, words: tuple[str, ...], told: str) -> None:
    locked(home, name)
    folder = str(home.project)
    done = home.run("call", name, *(word.replace("{folder}", folder) for word in words), check=None)
    assert told.replace("{folder}", folder) in done.stdout + done.stderr
    assert home.json("audit")[0]["decision"] == "accept"
    home.run("surface", "diff", name, timeout=300)
