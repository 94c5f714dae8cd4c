"""Runtimes from npm, by the real npm and Node: resolved, installed, started; scripts never run.

Marked `real`: a machine without a Node of its own fetches the pinned one, 50 MB, the first time.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.packages.runtimes.npm_registry import Registry, serving

from homeport.ground.errors import Conflict, InvalidInput, Refused, Unavailable
from homeport.packages import pins_text
from homeport.packages.pins import Lock, Pin, Runtime
from homeport.packages.runtimes import node, place
from homeport.packages.runtimes.node_program import Node
from homeport.packages.runtimes.uv import Uv

pytestmark = pytest.mark.real

SERVER = "#!/usr/bin/env node\nconsole.log(require('helper'), ...process.argv.slice(2), process.versions.node)\n"


@pytest.fixture(scope="session")
def pinned_node(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that the pinned Node is put into once."""
    return tmp_path_factory.mktemp("node-cache")


@pytest.fixture
def registry() -> Iterator[Registry]:
    made = Registry()
    made.publish(
        "@scope/thing-server",
        "1.0.0",
        {"dist/index.js": SERVER},
        bin={"thing-server": "dist/index.js"},
        dependencies={"helper": "^1.0.0"},
        optionalDependencies={"only-mac": "1.0.0"},
        engines={"node": ">=18"},
    )
    for version in ("1.0.0", "1.5.0"):
        made.publish("helper", version, {"index.js": f"module.exports = 'helper {version}'\n"})
    made.publish("only-mac", "1.0.0", os=["darwin"], cpu=["arm64"])
    with serving(made):
        yield made


@pytest.fixture
def tools(registry: Registry, pinned_node: Path, tmp_path: Path) -> Node:
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "npm_config_registry": registry.url,
        "npm_config_cache": str(tmp_path / "npm-cache"),
        "npm_config_fetch_retries": "0",
    }
    uv = Uv.found(os.environ, home=Path.home(), platform=sys.platform)
    return Node(environment, pinned_node, uv)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def put(root: Path, runtime: Runtime, tools: Node) -> Path:
    return node.install(runtime, place.directory(root, runtime), node=tools)


def test_a_resolution_holds_every_platform_and_survives_the_lock_without_an_address(
    tools: Node, registry: Registry
) -> None:
    runtime = node.resolve("@scope/thing-server@1.0.0", node=tools)
    lock = Lock({"thing": Pin("thing", "node @scope/thing-server@1.0.0", ("{runtime}/bin/thing-server",), runtime)})

    assert [(pin.name, pin.version, pin.marker) for pin in runtime.dependencies] == [
        ("@scope/thing-server", "1.0.0", ""),
        ("helper", "1.5.0", ""),
        ("only-mac", "1.0.0", "os=darwin; cpu=arm64; optional"),
    ]
    assert registry.url not in pins_text.dump(lock).decode()
    assert pins_text.parse(pins_text.dump(lock)) == lock


def test_an_installed_runtime_runs_by_itself_and_needs_nothing_any_more(
    tools: Node, registry: Registry, root: Path, tmp_path: Path
) -> None:
    runtime = node.resolve("@scope/thing-server@1.0.0", node=tools)
    registry.publish("helper", "1.9.0")
    target = put(root, runtime, tools)
    shutil.rmtree(tmp_path / "npm-cache")
    registry.packages.clear()

    assert node.entry(runtime, target) == "{runtime}/bin/thing-server"
    assert place.installed(root, runtime)
    moved = tmp_path / "elsewhere with blanks"
    root.rename(moved)
    program = place.directory(moved, runtime) / "bin" / "thing-server"
    ran = subprocess.run([str(program), "a b"], env={"PATH": "/nowhere"}, capture_output=True, text=True, check=False)
    assert ran.stdout.startswith("helper 1.5.0 a b "), ran.stderr


def test_nobodys_scripts_are_run(tools: Node, registry: Registry, root: Path, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    scripts = {"preinstall": f"touch {mark}", "install": f"touch {mark}", "postinstall": f"touch {mark}"}
    registry.publish("eager", "1.0.0", {"index.js": "#!/usr/bin/env node\n"}, bin="index.js", scripts=scripts)
    runtime = node.resolve("eager@1.0.0", node=tools)
    target = put(root, runtime, tools)

    assert not mark.exists()
    assert node.entry(runtime, target) == "{runtime}/bin/eager"


def test_what_needs_a_build_is_refused_by_name_and_leaves_nothing(tools: Node, registry: Registry, root: Path) -> None:
    registry.publish("rough", "1.0.0", {"binding.gyp": "{}"}, scripts={"install": "node-gyp rebuild"})
    registry.publish("polished", "1.0.0", bin="index.js", dependencies={"rough": "1.0.0"})
    runtime = node.resolve("polished@1.0.0", node=tools)

    with pytest.raises(Refused) as caught:
        put(root, runtime, tools)
    assert caught.value.code == "runtime.needs_build"
    assert "rough" in caught.value.message
    assert not place.directory(root, runtime).exists()


def test_a_package_that_ships_what_is_compiled_is_fine(tools: Node, registry: Registry, root: Path) -> None:
    files = {"binding.gyp": "{}", "prebuilds/linux-x64/fast.node": "binary", "index.js": "#!/usr/bin/env node\n"}
    registry.publish("fast", "1.0.0", files, bin="index.js", scripts={"install": "node-gyp-build"})

    assert put(root, node.resolve("fast@1.0.0", node=tools), tools).is_dir()


def test_a_file_that_is_not_the_locked_one_is_a_conflict(
    tools: Node, registry: Registry, root: Path, tmp_path: Path
) -> None:
    runtime = node.resolve("@scope/thing-server@1.0.0", node=tools)
    registry.publish("helper", "1.5.0", {"index.js": "module.exports = 'replaced'\n"})
    shutil.rmtree(tmp_path / "npm-cache")

    with pytest.raises(Conflict) as caught:
        put(root, runtime, tools)
    assert caught.value.code == "runtime.hash_mismatch"
    assert not place.directory(root, runtime).exists()


def test_what_is_not_there_is_an_input_error_and_nobody_home_is_unavailable(tools: Node, registry: Registry) -> None:
    with pytest.raises(InvalidInput):
        node.resolve("@scope/thing-server@7.0.0", node=tools)
    tools.environment["npm_config_registry"] = "http://127.0.0.1:9"  # type: ignore[index]
    with pytest.raises(Unavailable) as caught:
        node.resolve("@scope/thing-server@1.0.0", node=tools)
    assert caught.value.code == "runtime.index_unreachable"


def test_a_package_that_no_node_here_satisfies_says_which_it_wants(tools: Node, registry: Registry, root: Path) -> None:
    registry.publish("futuristic", "1.0.0", {"index.js": ""}, bin="index.js", engines={"node": ">=99"})
    runtime = node.resolve("futuristic@1.0.0", node=tools)

    with pytest.raises(Unavailable) as caught:
        put(root, runtime, tools)
    assert ">=99" in caught.value.message


def test_a_program_that_points_out_of_its_package_is_not_offered(tools: Node, registry: Registry, root: Path) -> None:
    registry.publish("sly", "1.0.0", {"index.js": ""}, bin={"sly": "../../../../../../bin/sh", "node": "index.js"})
    runtime = node.resolve("sly@1.0.0", node=tools)
    target = put(root, runtime, tools)

    with pytest.raises(InvalidInput):
        node.entry(runtime, target)
    assert [each.name for each in (target / "bin").iterdir()] == ["node"]
    assert (target / "bin" / "node").is_symlink()
