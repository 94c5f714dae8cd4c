"""One gateway a project; a file left behind by a killed one is seen for what it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from homeport.gateway import runfile
from homeport.gateway.runfile import Running
from homeport.ground.errors import Conflict

KEY = "0123456789abcdef"


def info(**changes: object) -> Running:
    values: dict[str, object] = {
        "pid": os.getpid(),
        "started": runfile.start_time(os.getpid()),
        "version": "1",
        "project": "/p",
        "socket": "/s",
        "host": "127.0.0.1",
        "port": 7333,
    }
    return Running(**{**values, **changes})  # type: ignore[arg-type]


def test_a_published_gateway_is_found_until_it_ends(tmp_path: Path) -> None:
    with runfile.claim(tmp_path, KEY) as claim:
        assert runfile.running(tmp_path, KEY) is None
        claim.publish(info())
        found = runfile.running(tmp_path, KEY)
        assert found == info()
        assert found is not None
        assert found.endpoint == "http://127.0.0.1:7333/mcp"
        assert (tmp_path / f"{KEY}.json").stat().st_mode & 0o777 == 0o600
    assert runfile.running(tmp_path, KEY) is None
    assert not (tmp_path / f"{KEY}.json").exists()


def test_a_second_gateway_of_a_project_is_refused(tmp_path: Path) -> None:
    with runfile.claim(tmp_path, KEY):
        with pytest.raises(Conflict) as caught:
            runfile.claim(tmp_path, KEY)
        assert caught.value.code == "gateway.running"
        runfile.claim(tmp_path, "fedcba9876543210").release()


def test_a_killed_gateway_leaves_the_claim_free(tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path; from homeport.gateway import runfile\n"
        "claim = runfile.claim(Path(sys.argv[1]), sys.argv[2])\n"
        "claim.publish(runfile.Running(pid=os.getpid(), started='', version='', project='', socket=''))\n"
        "os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path), KEY], check=False)
    assert (tmp_path / f"{KEY}.json").exists()
    assert runfile.running(tmp_path, KEY) is None
    runfile.claim(tmp_path, KEY).release()


@pytest.mark.parametrize("written", ["", "[]", "{}", '{"pid": 1}', "nonsense"])
def test_a_run_file_that_says_nothing_is_no_gateway(tmp_path: Path, written: str) -> None:
    with runfile.claim(tmp_path, KEY):
        (tmp_path / f"{KEY}.json").write_text(written)
        assert runfile.running(tmp_path, KEY) is None


def test_members_of_a_newer_version_are_passed_over(tmp_path: Path) -> None:
    with runfile.claim(tmp_path, KEY) as claim:
        claim.publish(info())
        file = tmp_path / f"{KEY}.json"
        file.write_text(json.dumps({**json.loads(file.read_text()), "colour": "blue"}))
        assert runfile.running(tmp_path, KEY) == info()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells it this way")
def test_a_start_time_tells_two_processes_apart() -> None:
    assert runfile.start_time(os.getpid()).isdigit()
    assert runfile.start_time(2**22 + 1) == ""


def test_a_socket_lies_beside_the_run_file_where_its_path_is_short(tmp_path: Path) -> None:
    short = Path("/tmp/r")
    assert runfile.socket_path(short, KEY, {}) == short / f"{KEY}.sock"
    long = tmp_path / ("x" * 100)
    found = runfile.socket_path(long, KEY, {"XDG_RUNTIME_DIR": "relative"})
    assert len(os.fsencode(found)) <= runfile.MAX_SOCKET_PATH
    assert found.parent.stat().st_mode & 0o077 == 0
