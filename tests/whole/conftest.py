"""A stranger's machine: directories of their own, a project, a gateway."""

from __future__ import annotations

import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest
from tests.support.homeport import Home


@pytest.fixture
def home() -> Generator[Home]:
    """One user's Homeport and one empty project; below a short path, since sockets have a limit."""
    with tempfile.TemporaryDirectory(prefix="hp-") as folder:
        yield Home(Path(folder).resolve())
