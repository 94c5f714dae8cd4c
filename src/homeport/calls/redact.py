"""Argument values as a person may see them: what is secret by its name or by policy is hidden, and the text bounded."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final, cast

import msgspec

from homeport.ground.secrets import HIDDEN, SENSITIVE_NAME

MAX_SHOWN: Final = 4_000
"""Characters of arguments shown in a question."""
_MAX_DEPTH: Final = 20


def shown(arguments: bytes, sensitive: Iterable[str] = ()) -> str:
    """These arguments (raw JSON) for a person's eyes. `sensitive`: selectors (`a.b`, `a[].b`) from the policy."""
    try:
        value = msgspec.json.decode(arguments or b"{}")
    except (msgspec.DecodeError, UnicodeDecodeError):
        return "(not JSON)"
    hidden = frozenset(re.sub(r"\[\d*\]", "", selector) for selector in sensitive)
    text = msgspec.json.encode(_redacted(value, "", hidden, 0)).decode("utf-8", "replace")
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + "…"


def keys(arguments: bytes, limit: int = 64) -> list[str]:
    """The names of the arguments, sorted; none if this is no object."""
    try:
        members = msgspec.json.decode(arguments or b"{}", type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, UnicodeDecodeError):
        return []
    return sorted(members)[:limit]


def _redacted(value: Any, path: str, hidden: frozenset[str], depth: int) -> Any:
    if depth > _MAX_DEPTH:
        return "…"
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        return {key: _member(key, child, path, hidden, depth) for key, child in members.items()}
    if isinstance(value, list):
        return [_redacted(child, path, hidden, depth + 1) for child in cast("list[Any]", value)]
    return value


def _member(key: str, value: Any, path: str, hidden: frozenset[str], depth: int) -> Any:
    below = f"{path}.{key}" if path else key
    if below in hidden or SENSITIVE_NAME.search(key):
        return HIDDEN
    return _redacted(value, below, hidden, depth + 1)
