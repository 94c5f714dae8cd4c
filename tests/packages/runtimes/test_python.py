"""Runtimes from wheels, by the real uv: resolved, installed, started; refused where a build would be needed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.packages.runtimes.wheels import source_archive, wheel

from homeport.ground.errors import Conflict, InvalidInput, Refused, Unavailable
from homeport.packages.pins import Dependency, Runtime, new_runtime
from homeport.packages.runtimes import place, python
from homeport.packages.runtimes.uv import Uv

PROGRAM = "import sys\nimport helper\ndef main():\n    print(helper.WORD, sys.prefix, *sys.argv[1:])\n"


@pytest.fixture
def wheelhouse(tmp_path: Path) -> Path:
    directory = tmp_path / "wheels"
    directory.mkdir()
    wheel(
        directory,
        "thing-server",
        "1.0",
        requires=["helper>=1", "only-windows; sys_platform == 'win32'"],
        scripts={"thing-server": "thing_server:main", "thing-admin": "thing_server:main"},
        source=PROGRAM,
    )
    wheel(directory, "helper", "1.0", source="WORD = 'first'\n")
    wheel(directory, "helper", "2.0", source="WORD = 'second'\n")
    wheel(directory, "only-windows", "3.0")
    return directory


@pytest.fixture
def uv(wheelhouse: Path, tmp_path: Path) -> Uv:
    settings = tmp_path / "settings.toml"
    settings.write_text(f"no-index = true\nfind-links = [{json.dumps(str(wheelhouse))}]\n")
    environment = {"PATH": os.environ["PATH"], "UV_CONFIG_FILE": str(settings)}
    return Uv.found(environment, home=tmp_path, platform=sys.platform, cache=tmp_path / "cache")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    place.local_directory(tmp_path / "project")
    return tmp_path / "project"


def started(program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run with the barest environment."""
    argv = [str(program), *arguments]
    return subprocess.run(argv, env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=False)


def put(root: Path, runtime: Runtime, uv: Uv) -> Path:
    return python.install(runtime, place.directory(root, runtime), uv=uv)


def test_a_resolution_holds_everything_for_every_platform_and_no_address(uv: Uv, wheelhouse: Path) -> None:
    runtime = python.resolve("thing-server==1.0", uv=uv)

    assert [(pin.name, pin.version, pin.marker) for pin in runtime.dependencies] == [
        ("helper", "2.0", ""),
        ("only-windows", "3.0", "sys_platform == 'win32'"),
        ("thing-server", "1.0", ""),
    ]
    assert all(pin.hashes for pin in runtime.dependencies)
    assert str(wheelhouse) not in repr(runtime)
    assert python.resolve("thing-server==1.0", uv=uv) == runtime


def test_an_installed_runtime_runs_by_itself_and_needs_nothing_any_more(uv: Uv, root: Path, wheelhouse: Path) -> None:
    runtime = python.resolve("thing-server==1.0", uv=uv)
    target = put(root, runtime, uv)
    shutil.rmtree(wheelhouse)
    assert uv.cache
    shutil.rmtree(uv.cache)

    entry = python.entry(runtime, target)
    assert entry == "{runtime}/bin/thing-server"
    ran = started(target / "bin" / "thing-server", "a b")
    assert ran.stdout == f"second {target} a b\n", ran.stderr
    assert place.installed(root, runtime)
    assert (root / ".homeport" / ".gitignore").read_text() == "*\n"


def test_a_runtime_moves_with_its_project(uv: Uv, root: Path, tmp_path: Path) -> None:
    runtime = python.resolve("thing-server==1.0", uv=uv)
    put(root, runtime, uv)
    moved = tmp_path / "elsewhere"
    root.rename(moved)

    program = place.directory(moved, runtime) / "bin" / "thing-server"
    ran = started(program)
    assert ran.stdout.startswith("second"), ran.stderr
    assert place.installed(moved, runtime)


def test_a_runtime_does_not_see_the_packages_of_homeport(uv: Uv, root: Path, wheelhouse: Path) -> None:
    wheel(wheelhouse, "nosy", "1.0", scripts={"nosy": "nosy:main"}, source="def main():\n    import click\n")
    runtime = python.resolve("nosy==1.0", uv=uv)
    target = put(root, runtime, uv)

    ran = started(target / "bin" / "nosy")
    assert "ModuleNotFoundError" in ran.stderr


def test_the_locked_version_is_installed_when_a_newer_one_appears(uv: Uv, root: Path, wheelhouse: Path) -> None:
    runtime = python.resolve("thing-server==1.0", uv=uv)
    wheel(wheelhouse, "helper", "3.0", source="WORD = 'third'\n")
    target = put(root, runtime, uv)

    ran = started(target / "bin" / "thing-server")
    assert ran.stdout.startswith("second")


def test_what_needs_a_build_is_refused_by_name_and_not_built(uv: Uv, wheelhouse: Path) -> None:
    source_archive(wheelhouse, "rough", "1.0")
    wheel(wheelhouse, "polished", "1.0", requires=["rough==1.0"])

    with pytest.raises(Refused) as caught:
        python.resolve("polished==1.0", uv=uv)
    assert caught.value.code == "runtime.needs_build"
    assert "rough" in caught.value.message
    assert not (wheelhouse / "built").exists()


def test_a_file_that_is_not_the_locked_one_is_a_conflict_and_leaves_nothing(
    uv: Uv, root: Path, wheelhouse: Path
) -> None:
    runtime = python.resolve("thing-server==1.0", uv=uv)
    wheel(wheelhouse, "helper", "2.0", source="WORD = 'replaced'\n")
    assert uv.cache
    shutil.rmtree(uv.cache)

    with pytest.raises(Conflict) as caught:
        put(root, runtime, uv)
    assert caught.value.code == "runtime.hash_mismatch"
    assert "helper" in caught.value.message
    assert list((root / ".homeport" / "runtimes").iterdir()) == []


def test_a_version_that_does_not_exist_is_named(uv: Uv) -> None:
    with pytest.raises(InvalidInput) as caught:
        python.resolve("thing-server==9.9", uv=uv)
    assert "thing-server==9.9" in caught.value.message


def test_a_range_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    nobody = Uv(tmp_path / "no-uv", {})

    with pytest.raises(InvalidInput) as caught:
        python.resolve("thing-server>=1", uv=nobody)
    assert caught.value.code == "package.not_exact"


def test_two_pins_that_contradict_each_other_are_a_conflict(uv: Uv, wheelhouse: Path) -> None:
    wheel(wheelhouse, "torn", "1.0", requires=["thing-server==1.0", "helper<1"])

    with pytest.raises(Conflict):
        python.resolve("torn==1.0", uv=uv)


def test_a_package_that_wants_a_newer_python_is_told(uv: Uv, wheelhouse: Path) -> None:
    wheel(wheelhouse, "futuristic", "1.0", python=">=3.99")

    with pytest.raises(Unavailable) as caught:
        python.resolve("futuristic==1.0", uv=uv)
    assert caught.value.code == "runtime.python_version"


def test_a_package_that_wants_more_than_the_oldest_python_is_resolved_for_the_one_at_hand(
    uv: Uv, wheelhouse: Path
) -> None:
    wheel(wheelhouse, "modern", "1.0", python=">=3.13")

    assert python.resolve("modern==1.0", uv=uv, python="3.14").requirement == "modern==1.0"


def test_a_script_of_another_name_must_be_named(uv: Uv, root: Path, wheelhouse: Path) -> None:
    wheel(wheelhouse, "many", "1.0", scripts={"one": "many:main", "two": "many:main"})
    wheel(wheelhouse, "single", "1.0", scripts={"start-it": "single:main"})
    many = python.resolve("many==1.0", uv=uv)
    single = python.resolve("single==1.0", uv=uv)
    target = put(root, many, uv)

    assert python.entry(many, target, "two") == "{runtime}/bin/two"
    assert python.entry(single, put(root, single, uv)) == "{runtime}/bin/start-it"
    for command in ("", "three"):
        with pytest.raises(InvalidInput) as caught:
            python.entry(many, target, command)
        assert "one, two" in caught.value.message


def test_a_broken_runtime_is_not_installed_and_installing_repairs_it(uv: Uv, root: Path) -> None:
    runtime = python.resolve("thing-server==1.0", uv=uv)
    target = put(root, runtime, uv)
    (target / "bin" / "python").unlink()
    assert not place.installed(root, runtime)

    put(root, runtime, uv)
    assert place.installed(root, runtime)
    assert [each.name for each in target.parent.iterdir()] == [target.name]


def test_settings_of_the_project_at_hand_do_not_reach_uv(
    uv: Uv, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.uv]\noverride-dependencies = ["helper==1.0"]\n')
    monkeypatch.chdir(tmp_path)

    assert python.resolve("thing-server==1.0", uv=uv).dependencies[0].version == "2.0"


def test_two_runtimes_of_other_hashes_lie_side_by_side(root: Path) -> None:
    one = new_runtime("python", "a==1", [Dependency("a", "1", ("sha256:" + "a" * 64,))])
    two = new_runtime("python", "a==1", [Dependency("a", "1", ("sha256:" + "b" * 64,))])

    assert place.directory(root, one) != place.directory(root, two)
