"""The uv that came with Homeport: how it is run, and what its refusals mean."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from homeport.ground.errors import Conflict, HomeportError, InvalidInput, Refused, Unavailable
from homeport.packages.runtimes import pip_settings
from homeport.packages.runtimes.program import Ended, run

_NO_WHEEL: Final = re.compile(r"([A-Za-z0-9][\w.-]*?)(?:==\S+)? has no usable wheels")
_NO_WHEEL_HERE: Final = re.compile(r"([A-Za-z0-9][\w.-]*?)(?:==\S+)? has no wheels with a matching")
_ABSENT: Final = re.compile(r"([A-Za-z0-9][\w.-]*) was not found in the|there is no version of ([^\s,]+)")


@dataclass(frozen=True, slots=True)
class Uv:
    """A uv binary with the surroundings it runs in."""

    binary: Path
    environment: Mapping[str, str]
    cache: Path | None = None
    """None: the user's own uv cache."""

    @classmethod
    def found(cls, environment: Mapping[str, str], *, home: Path, platform: str, cache: Path | None = None) -> Uv:
        """The one of the `uv` distribution, told what the user set up for pip. Raises `Unavailable`."""
        import uv

        try:
            binary = Path(uv.find_uv_bin())
        except FileNotFoundError:
            raise Unavailable("uv is not installed", code="installer.absent", remedy="install Homeport anew") from None
        texts = [
            text
            for file in pip_settings.configuration_files(environment, home, platform)
            if (text := _read(file)) is not None
        ]
        told = pip_settings.for_uv(pip_settings.settings(texts, environment), environment)
        return cls(binary, {**environment, **told, "UV_PYTHON_DOWNLOADS": "never", "UV_NO_PROGRESS": "1"}, cache)

    def run(self, *arguments: str | Path, stdin: str = "") -> Ended:
        """Run it in an empty directory, so that no project's own settings reach it."""
        cache = ("--cache-dir", self.cache) if self.cache else ()
        with tempfile.TemporaryDirectory(prefix="homeport-uv-") as nowhere:
            argv = [self.binary, *arguments, *cache]
            return run(argv, environment=self.environment, cwd=Path(nowhere), stdin=stdin)


def failure(requirement: str, ended: Ended) -> HomeportError:
    """What uv's refusal means. Told by its words, which is all it gives; unknown words are passed on."""
    said = " ".join(ended.stderr.split())
    if names := sorted(set(_NO_WHEEL.findall(said))):
        return Refused(
            f"{requirement} needs {', '.join(names)} to be built here: there is no wheel of it",
            code="runtime.needs_build",
            remedy="choose a version that has wheels; Homeport runs no build scripts of packages",
        )
    if names := sorted(set(_NO_WHEEL_HERE.findall(said))):
        return Unavailable(
            f"{requirement}: {', '.join(names)} has no wheel for this platform and Python",
            code="runtime.no_wheel_here",
            remedy="use a version that has one, or run Homeport on a Python that it has one for",
        )
    if "ash mismatch" in said:
        return Conflict(
            f"{requirement}: a file is not the one that was locked\n{ended.last_words}",
            code="runtime.hash_mismatch",
            remedy="find out what changed at the source before you run `homeport lock --upgrade`",
        )
    if re.search(r"Failed to fetch|error sending request|Could not connect|dns error|offline", said):
        return Unavailable(
            f"the package index cannot be reached\n{ended.last_words}",
            code="runtime.index_unreachable",
            remedy="check the network and proxy settings and run the command again",
        )
    if match := _ABSENT.search(said):
        return InvalidInput(
            f"there is no {match[1] or match[2]}", code="package.absent", remedy="check the name and the version"
        )
    if re.search(r"requires Python ?[<>=~!]|does not satisfy Python", said):
        return Unavailable(
            f"{requirement} needs a newer Python\n{ended.last_words}",
            code="runtime.python_version",
            remedy="run Homeport on a Python that it supports",
        )
    if "No solution found" in said:
        return Conflict(
            f"{requirement} cannot be resolved\n{ended.last_words}",
            code="runtime.unsatisfiable",
            remedy="choose another version",
        )
    return Unavailable(f"uv failed for {requirement}\n{ended.last_words}", code="runtime.installer_failed")


def _read(file: Path) -> str | None:
    try:
        return file.read_text("utf-8", "replace")
    except OSError:
        return None
