"""From the lock's relative argv to the absolute one of this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from homeport.packages.launch import absolute_argv
from homeport.packages.pins import Kind, Pin, new_runtime

ROOT = Path("/projects/studio")
PLACE = Path("/projects/studio/.homeport/runtimes/abc")


def argv(*parts: str, kind: Kind | None = "python", platform: str = "linux") -> tuple[str, ...]:
    runtime = new_runtime(kind, "x==1", []) if kind else None
    pin = Pin("x", "x", parts, runtime)
    return absolute_argv(pin, root=ROOT, runtime=PLACE if kind else None, platform=platform)


def test_a_program_of_a_runtime_is_below_its_directory() -> None:
    assert argv("{runtime}/bin/server", "--root", "x") == (f"{PLACE}/bin/server", "--root", "x")


def test_only_a_whole_first_part_is_replaced() -> None:
    assert argv("{runtime}/bin/x", "{runtime}", "--a={runtime}/b", "{runtime}x") == (
        f"{PLACE}/bin/x",
        str(PLACE),
        "--a={runtime}/b",
        "{runtime}x",
    )


@pytest.mark.parametrize(("kind", "name"), [("python", r"Scripts\server.exe"), ("node", r"bin\server.cmd")])
def test_on_windows_programs_have_their_names_there(kind: Kind, name: str) -> None:
    assert argv("{runtime}/bin/server", kind=kind, platform="win32")[0].endswith(rf"\abc\{name}")


@pytest.mark.parametrize(
    ("program", "platform", "absolute"),
    [
        ("git", "linux", "git"),
        ("./bin/server", "linux", "/projects/studio/bin/server"),
        ("/opt/server", "linux", "/opt/server"),
        ("bin\\server.exe", "win32", r"\projects\studio\bin\server.exe"),
        ("C:\\server.exe", "win32", "C:\\server.exe"),
    ],
)
def test_a_command_is_searched_on_path_unless_it_has_a_slash(program: str, platform: str, absolute: str) -> None:
    assert argv(program, "{runtime}/x", kind=None, platform=platform) == (absolute, "{runtime}/x")


def test_a_remote_server_has_nothing_to_start() -> None:
    assert argv(kind=None) == ()
