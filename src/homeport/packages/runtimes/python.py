"""Runtimes from PyPI: resolved for all platforms by uv, installed from wheels into an environment of their own."""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path
from typing import Final

from homeport.ground.errors import InvalidInput, Unavailable
from homeport.packages.pins import Runtime, new_runtime
from homeport.packages.requirement import python_requirement
from homeport.packages.runtimes import place, requirements_text
from homeport.packages.runtimes.program import Ended
from homeport.packages.runtimes.uv import Uv, failure

OLDEST_PYTHON: Final = "3.11"
"""A resolution holds from here up, as Homeport itself does; a package that asks for more moves it."""


def resolve(requirement: str, *, uv: Uv, python: str = "") -> Runtime:
    """The whole dependency set of `name==version`, with the hashes of all files, for every platform.

    `python` is the version of the interpreter at hand (`3.13`), tried when the package wants more than
    `OLDEST_PYTHON`; empty: the one running. Raises `InvalidInput` (`package.*`), `Refused` (`runtime.needs_build`),
    `Unavailable` and `Conflict` (`runtime.*`).
    """
    python_requirement(requirement)
    here = python or f"{sys.version_info.major}.{sys.version_info.minor}"
    ended = _compile(requirement, uv, OLDEST_PYTHON)
    if ended.status and here != OLDEST_PYTHON and failure(requirement, ended).code == "runtime.python_version":
        ended = _compile(requirement, uv, here)
    if ended.status:
        raise failure(requirement, ended)
    return new_runtime("python", requirement, requirements_text.dependencies(ended.stdout))


def _compile(requirement: str, uv: Uv, python: str) -> Ended:
    return uv.run(
        *("pip", "compile", "-", "--universal", "--generate-hashes", "--only-binary", ":all:"),
        *("--no-header", "--no-annotate", "--python-version", python),
        stdin=f"{requirement}\n",
    )


def install(runtime: Runtime, target: Path, *, uv: Uv, python: Path | None = None) -> Path:
    """Install into `target`, whole or not at all; afterwards nothing is fetched any more.

    `python` is the interpreter to use; None: the one running. Raises `Refused`, `Unavailable`, `Conflict`
    (`runtime.*`).
    """
    interpreter = python or Path(sys.executable)
    with place.new(target, runtime) as fresh:
        _must(
            runtime,
            uv.run(
                "venv", "--relocatable", "--no-project", "--clear", "--quiet", "--python", interpreter, fresh.directory
            ),
        )
        wanted = requirements_text.requirements(runtime.dependencies)
        _must(
            runtime,
            uv.run(
                *("pip", "sync", "-", "--require-hashes", "--only-binary", ":all:", "--compile-bytecode"),
                # A hard link into the cache would let one server change another's files.
                *("--link-mode", "copy", "--python", fresh.directory),
                stdin=wanted,
            ),
        )
        windows = (fresh.directory / "Scripts").is_dir()
        fresh.program = "Scripts/python.exe" if windows else "bin/python"
    return target


def _must(runtime: Runtime, ended: Ended) -> None:
    if ended.status:
        raise failure(runtime.requirement, ended)


def entry(runtime: Runtime, target: Path, command: str = "") -> str:
    """The program to start, relative to the runtime: `{runtime}/bin/NAME`.

    `command` names a script of the environment; empty: the one named like the distribution, else its only one. Raises
    `InvalidInput` (`runtime.no_command`) and names those there are.
    """
    name = python_requirement(runtime.requirement).name
    scripts = _scripts(target, name)
    if command:
        chosen = command if command in scripts or _is_script(target, command) else ""
    else:
        alike = [script for script in scripts if script.lower().replace("_", "-") == name]
        chosen = (alike or (scripts if len(scripts) == 1 else [""]))[0]
    if not chosen:
        listed = ", ".join(scripts) or "none at all"
        what = f"{name} has no script {command!r}" if command else f"{name} has no script of its own name"
        raise InvalidInput(
            f"{what}; its scripts: {listed}", code="runtime.no_command", remedy="name one with `runtime.command`"
        )
    return f"{{runtime}}/bin/{chosen}"


def _scripts(target: Path, name: str) -> list[str]:
    for site in (*target.glob("lib/python*/site-packages"), *target.glob("Lib/site-packages")):
        for distribution in metadata.distributions(path=[str(site)]):
            if distribution.name.lower().replace("_", "-").replace(".", "-") == name:
                return sorted(point.name for point in distribution.entry_points.select(group="console_scripts"))
    raise Unavailable(f"{name} is not in {target}", code="runtime.incomplete", remedy="homeport sync")


def _is_script(target: Path, command: str) -> bool:
    return (target / "bin" / command).is_file() or (target / "Scripts" / f"{command}.exe").is_file()
