"""Fixtures of the whole suite."""

from __future__ import annotations

import pytest
from hypothesis import settings

# A busy machine is no failure of a property; each test has pytest's own timeout.
settings.register_profile("homeport", deadline=None)
settings.load_profile("homeport")


@pytest.fixture
def anyio_backend() -> str:
    """Async tests run on asyncio: the product does."""
    return "asyncio"
