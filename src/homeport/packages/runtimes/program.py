"""Running an installer of another ecosystem: a bounded child whose words are kept for the error message."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from homeport.ground.errors import Unavailable

RUN_TIMEOUT: Final = 900.0
"""Seconds. A first install on a slow line takes minutes; a hung one must still end."""

_FOREIGN: Final = ("VIRTUAL_ENV", "PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP", "NODE_OPTIONS", "NODE_PATH")
"""Variables that would make a program we start load something of somebody else's."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended, and what it said."""

    status: int
    stdout: str
    stderr: str

    @property
    def last_words(self) -> str:
        """The end of what it said, for a message."""
        lines = [line for line in (self.stderr or self.stdout).splitlines() if line.strip()]
        return "\n".join(lines[-12:])


def run(
    argv: Sequence[str | Path],
    *,
    environment: Mapping[str, str],
    cwd: Path,
    stdin: str = "",
    timeout: float = RUN_TIMEOUT,
) -> Ended:
    """Run to the end. Raises `Unavailable`: `installer.absent`, `installer.timeout`."""
    kept = {name: value for name, value in environment.items() if name not in _FOREIGN}
    program = Path(argv[0]).name
    try:
        done = subprocess.run(
            [str(part) for part in argv],
            env=kept,
            cwd=cwd,
            input=stdin.encode(),
            capture_output=True,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Unavailable(
            f"{program} did not finish within {timeout:.0f} seconds",
            code="installer.timeout",
            remedy="check the network and run the command again; what was fetched is kept",
        ) from None
    except OSError as error:
        raise Unavailable(
            f"{program} cannot be started: {error.strerror}", code="installer.absent", remedy="install Homeport anew"
        ) from None
    return Ended(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))
