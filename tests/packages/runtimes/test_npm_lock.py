"""npm's lock: every fact that an installation depends on survives, every address is left behind."""

from __future__ import annotations

import json
from typing import Any

import pytest

from homeport.ground.errors import Refused, Unavailable
from homeport.packages.pins import Dependency, new_runtime
from homeport.packages.requirement import Exact
from homeport.packages.runtimes.npm_lock import dependencies, package_lock, split_edge

WANTED = Exact("@scope/server", "1.0.0")


def entry(**more: Any) -> dict[str, Any]:
    return {"version": "1.0.0", "integrity": "sha512-" + "A" * 86 + "==", "license": "MIT", **more}


def document(**packages: dict[str, Any]) -> dict[str, Any]:
    named = {f"node_modules/{name}": value for name, value in packages.items()}
    return {"lockfileVersion": 3, "packages": {"": {"name": "root"}, **named}}


FULL = document(
    server=entry(
        resolved="https://registry.example/server.tgz",
        dependencies={"@x/a": "^1.0.0", "alias": "npm:real@^2.0.0"},
        optionalDependencies={"fast": "1.0.0"},
        peerDependencies={"p": "*", "q": ">=1"},
        peerDependenciesMeta={"q": {"optional": True}},
        bin={"server": "index.js"},
    ),
    alias=entry(name="real"),
    fast=entry(os=["darwin", "!win32"], cpu=["arm64"], libc=["glibc"], optional=True),
    tool=entry(dev=True),
)


def test_addresses_and_what_does_not_matter_are_left_behind() -> None:
    pins = list(dependencies(FULL))

    assert "example" not in repr(pins)
    assert [pin.name for pin in pins] == ["server", "real", "fast"]
    assert pins[0].depends == (
        "@x/a@^1.0.0",
        "alias@npm:real@^2.0.0",
        "optional:fast@1.0.0",
        "peer-optional:q@>=1",
        "peer:p@*",
    )
    assert pins[2].marker == "os=darwin,!win32; cpu=arm64; libc=glibc; optional"


def test_the_lock_that_is_written_for_npm_says_what_npm_said() -> None:
    runtime = new_runtime("node", "@scope/server@1.0.0", dependencies(FULL))
    written = package_lock(WANTED, runtime.dependencies)
    packages = written["packages"]

    assert list(dependencies(written)) == list(runtime.dependencies)
    assert packages[""]["dependencies"] == {"@scope/server": "1.0.0"}
    assert packages["node_modules/alias"]["name"] == "real"
    assert packages["node_modules/fast"]["os"] == ["darwin", "!win32"]
    assert packages["node_modules/server"]["peerDependenciesMeta"] == {"q": {"optional": True}}
    assert "resolved" not in json.dumps(written)


def test_what_a_package_carries_within_is_covered_by_its_hash() -> None:
    inner = "a/node_modules/inner"
    found = document(a=entry(dependencies={"inner": "1", "b": "1"}), **{inner: {"version": "1.0.0", "inBundle": True}})

    assert [(pin.name, pin.depends) for pin in dependencies(found)] == [("a", ("b@1",))]


@pytest.mark.parametrize(
    "bad",
    [
        {"version": "1.0.0", "resolved": "git+ssh://git@example.com/x.git#abc"},
        {"resolved": "packages/x", "link": True, "version": "1.0.0"},
        entry(dependencies={"x": "git+https://example.com/x.git"}),
        entry(dependencies={"x": "https://example.com/x.tgz"}),
        entry(dependencies={"x": "file:../x"}),
        entry(dependencies={"x": "somebody/x"}),
        entry(optionalDependencies={"x": "github:somebody/x#main"}),
    ],
)
def test_what_is_not_from_the_registry_is_refused_by_name(bad: dict[str, Any]) -> None:
    with pytest.raises(Refused) as caught:
        list(dependencies(document(thing=bad)))

    assert caught.value.code == "runtime.not_from_registry"
    assert "thing" in caught.value.message


@pytest.mark.parametrize(
    "found", [{}, {"lockfileVersion": 1, "dependencies": {}}, {"lockfileVersion": 4, "packages": {}}]
)
def test_a_lock_of_another_version_is_told(found: dict[str, Any]) -> None:
    with pytest.raises(Unavailable):
        list(dependencies(found))


@pytest.mark.parametrize(
    ("edge", "parts"), [("a@^1", ("a", "^1")), ("@s/a@1", ("@s/a", "1")), ("a@npm:@s/b@1", ("a", "npm:@s/b@1"))]
)
def test_an_edge_is_split_behind_the_name(edge: str, parts: tuple[str, str]) -> None:
    assert split_edge(edge) == parts


def test_a_dependency_without_marks_is_plain() -> None:
    pin = Dependency("a", "1.0.0", ("sha512-x",), path="node_modules/a")

    assert package_lock(WANTED, [pin])["packages"]["node_modules/a"] == {"version": "1.0.0", "integrity": "sha512-x"}
