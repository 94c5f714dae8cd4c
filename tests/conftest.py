"""Fixtures of the whole suite."""

from __future__ import annotations

import pytest


@pytest.fixture
def anyio_backend() -> str:
    """Async tests run on asyncio: the product does."""
    return "asyncio"
