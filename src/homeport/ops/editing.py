"""Changing `homeport.toml`: one command at a time, each on the text that the one before left."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from homeport.ground.files import exclusively
from homeport.packages.runtimes.place import local_directory


def editing(root: Path) -> AbstractContextManager[None]:
    """Read and write the project file inside. Raises `Conflict` (`project.busy`), `Unavailable`."""
    return exclusively(local_directory(root) / "edit.lock", code="project.busy")
