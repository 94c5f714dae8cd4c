"""Runtimes from npm: resolved by npm into hashed pins, installed by `npm ci` without running anybody's scripts."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, cast

from homeport.ground.errors import Conflict, HomeportError, InvalidInput, Refused, Unavailable
from homeport.packages.pins import Runtime, new_runtime
from homeport.packages.requirement import node_requirement
from homeport.packages.runtimes import npm_lock, place
from homeport.packages.runtimes.node_program import Node, NodeProgram
from homeport.packages.runtimes.program import Ended

_BUILDS: Final = re.compile(r"node-gyp|prebuild|pre-gyp|cmake-js|gyp |cargo|neon|make\b")


def resolve(requirement: str, *, node: Node) -> Runtime:
    """The whole dependency set of `name@version` with the hash of each package, for every platform.

    Raises `InvalidInput` (`package.*`), `Refused` (`runtime.not_from_registry`), `Unavailable` and `Conflict`
    (`runtime.*`).
    """
    wanted = node_requirement(requirement)
    with tempfile.TemporaryDirectory(prefix="homeport-npm-") as directory:
        here = Path(directory)
        _write(here / "package.json", npm_lock.package_json(wanted))
        ended = node.best().run_npm("install", "--package-lock-only", environment=node.environment, cwd=here)
        if ended.status:
            raise failure(requirement, ended)
        document = _document(here / "package-lock.json")
    return new_runtime("node", requirement, npm_lock.dependencies(document))


def install(runtime: Runtime, target: Path, *, node: Node) -> Path:
    """Install into `target`, whole or not at all; afterwards nothing is fetched any more.

    Raises `Refused` (`runtime.needs_build`), `Unavailable`, `Conflict` (`runtime.*`).
    """
    wanted = node_requirement(runtime.requirement)
    program = node.best()
    with place.new(target, runtime) as fresh:
        here = fresh.directory
        _write(here / "package.json", npm_lock.package_json(wanted))
        _write(here / "package-lock.json", npm_lock.package_lock(wanted, runtime.dependencies))
        ended = program.run_npm("ci", environment=node.environment, cwd=here)
        if ended.status:
            raise failure(runtime.requirement, ended)
        _refuse_builds(runtime, here)
        manifest = _document(here / "node_modules" / wanted.name / "package.json")
        program = _fitting(runtime, program, str(_mapping(manifest.get("engines")).get("node", "")), node, here)
        fresh.program = _put_programs(here, wanted.name, manifest, program)
    return target


def entry(runtime: Runtime, target: Path, command: str = "") -> str:
    """The program to start, relative to the runtime: `{runtime}/bin/NAME`.

    `command` names one of the package's programs; empty: the one named like the package, else its only one. Raises
    `InvalidInput` (`runtime.no_command`) and names those there are.
    """
    name = node_requirement(runtime.requirement).name
    written = _programs(name, _document(target / "node_modules" / name / "package.json"))
    there = {each.name.removesuffix(".cmd") for each in (target / "bin").iterdir()}
    # `bin/node` is the Node it runs on, whatever the package calls its own programs.
    programs = [program for program in written if program in there and program != "node"]
    alike = command or name.rpartition("/")[2]
    chosen = alike if alike in programs else programs[0] if len(programs) == 1 and not command else ""
    if not chosen:
        what = f"{name} has no program {command!r}" if command else f"{name} has no program of its own name"
        raise InvalidInput(
            f"{what}; its programs: {', '.join(sorted(programs)) or 'none at all'}",
            code="runtime.no_command",
            remedy="name one with `runtime.command`",
        )
    return f"{{runtime}}/bin/{chosen}"


def _fitting(runtime: Runtime, program: NodeProgram, engine: str, node: Node, cwd: Path) -> NodeProgram:
    """The program, or the pinned one where the package asks for a Node that this one is not."""
    if not engine or program.satisfies(engine, environment=node.environment, cwd=cwd):
        return program
    pinned = node.pinned()
    if pinned.satisfies(engine, environment=node.environment, cwd=cwd):
        return pinned
    raise Unavailable(
        f"{runtime.requirement} runs on Node {engine}; here are {program.version} and {pinned.version}",
        code="runtime.node_version",
        remedy=f"install a Node that is {engine}, and run `homeport sync`",
    )


def _programs(name: str, manifest: dict[str, Any]) -> dict[str, str]:
    """The package's programs: name to its file, below the package."""
    written = manifest.get("bin", {})
    if isinstance(written, str):
        return {name.rpartition("/")[2]: written}
    return {str(program): str(file) for program, file in _mapping(written).items()}


def _put_programs(fresh: Path, name: str, manifest: dict[str, Any], program: NodeProgram) -> str:
    """`bin/` of the runtime: its Node by name, and each program as a script that runs it there. Returns the Node."""
    programs = fresh / "bin"
    programs.mkdir()
    windows = program.node.suffix == ".exe"
    if not windows:
        (programs / "node").symlink_to(program.node)
    package = fresh / "node_modules" / name
    for command, written in _programs(name, manifest).items():
        file = (package / written).resolve()
        if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*", command) or not file.is_relative_to(package.resolve()):
            continue
        below = file.relative_to(fresh.resolve()).as_posix()
        if windows:
            text = f'@"{program.node}" "%~dp0..\\{below.replace("/", chr(92))}" %*\r\n'
            (programs / f"{command}.cmd").write_text(text, "utf-8", newline="")
        elif command != "node":
            script = programs / command
            quoted = below.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$").replace("`", "\\`")
            script.write_text(f'#!/bin/sh\nexec "${{0%/*}}/node" "${{0%/*}}/../{quoted}" "$@"\n', "utf-8")
            script.chmod(0o755)
    return str(program.node) if windows else "bin/node"


def _refuse_builds(runtime: Runtime, here: Path) -> None:
    """Refuse packages that are nothing before something is compiled; those that ship what is compiled are fine."""
    unbuilt = sorted(
        {pin.name for pin in runtime.dependencies if "optional" not in pin.marker and _unbuilt(here / pin.path)}
    )
    if unbuilt:
        raise Refused(
            f"{runtime.requirement} needs {', '.join(unbuilt)} to be built here",
            code="runtime.needs_build",
            remedy="choose a version that ships compiled files; Homeport runs no build scripts of packages",
        )


def _unbuilt(package: Path) -> bool:
    try:
        scripts = _mapping(_document(package / "package.json").get("scripts"))
    except Unavailable:
        return False  # for another platform
    wants = (package / "binding.gyp").is_file() or any(
        _BUILDS.search(str(scripts.get(when, ""))) for when in ("preinstall", "install", "postinstall")
    )
    return wants and not any(_compiled(package))


def _compiled(package: Path) -> Iterator[Path]:
    for pattern in ("**/*.node", "**/*.wasm"):
        yield from package.glob(pattern)


def failure(requirement: str, ended: Ended) -> HomeportError:
    """What npm's refusal means, by the code it prints; others are passed on."""
    found = re.search(r"npm (?:error|ERR!) code (\w+)", ended.stderr)
    code = found[1] if found else ""
    match code:
        case "E404" | "ETARGET" | "ENOVERSIONS":
            return InvalidInput(
                f"there is no {requirement}, or of something it needs\n{ended.last_words}",
                code="package.absent",
                remedy="check the name and the version",
            )
        case "EINTEGRITY":
            return Conflict(
                f"{requirement}: a file is not the one that was locked\n{ended.last_words}",
                code="runtime.hash_mismatch",
                remedy="find out what changed at the source before you run `homeport lock --upgrade`",
            )
        case "ERESOLVE" | "EUSAGE":
            return Conflict(
                f"{requirement} cannot be resolved\n{ended.last_words}",
                code="runtime.unsatisfiable",
                remedy="choose another version",
            )
        case (
            "ENOTFOUND"
            | "ECONNREFUSED"
            | "ECONNRESET"
            | "ETIMEDOUT"
            | "EAI_AGAIN"
            | "ENETUNREACH"
            | "ERR_SOCKET_TIMEOUT"
        ):
            return Unavailable(
                f"the package registry cannot be reached\n{ended.last_words}",
                code="runtime.index_unreachable",
                remedy="check the network and proxy settings and run the command again",
            )
        case _:
            return Unavailable(f"npm failed for {requirement}\n{ended.last_words}", code="runtime.installer_failed")


def _write(file: Path, document: dict[str, Any]) -> None:
    file.write_text(json.dumps(document, indent=1) + "\n", "utf-8")


def _document(file: Path) -> dict[str, Any]:
    try:
        return _mapping(json.loads(file.read_bytes()))
    except (OSError, ValueError):
        raise Unavailable(
            f"{file.name} is missing or damaged", code="runtime.incomplete", remedy="homeport sync"
        ) from None


def _mapping(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
