"""The `row` fixture: see `described.row`."""

from __future__ import annotations

import pytest


@pytest.fixture
def row(request: pytest.FixtureRequest) -> str:
    """The number of the specification's row that a test shows."""
    return str(request.param)
