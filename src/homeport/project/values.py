"""Reading what tomllib decoded without believing its types: what is of another type reads as empty."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast


def table(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def text(value: object) -> str:
    return value if isinstance(value, str) else ""


def texts(value: object) -> tuple[str, ...]:
    listed: Sequence[object] = cast("list[object]", value) if isinstance(value, list) else ()
    return tuple(item for item in listed if isinstance(item, str))
