"""The names people give and agents see."""

from __future__ import annotations

import hashlib
import re
from typing import Final

SERVER: Final = re.compile(r"[a-z][a-z0-9-]{0,39}")
PROFILE: Final = re.compile(r"[a-z][a-z0-9-]{0,39}")
RESERVED_SERVERS: Final = frozenset({"mcp", "homeport"})
"""`mcp` would make `/mcp/<profile>/mcp` and `mcp__…` ambiguous; `homeport` is our own entry in an agent's config."""

MAX_SERVED: Final = 48
"""Agents put `mcp__homeport__` (15) before a name and several APIs end at 64 characters."""


def is_server(name: str) -> bool:
    """Whether this may name a server."""
    return bool(SERVER.fullmatch(name)) and name not in RESERVED_SERVERS


def is_profile(name: str) -> bool:
    """Whether this may name a profile."""
    return bool(PROFILE.fullmatch(name))


def as_server(name: str, taken: frozenset[str] | set[str] = frozenset()) -> str:
    """A valid server name close to `name`, different from all `taken`; for imports."""
    folded = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    folded = re.sub(r"^[^a-z]+", "", folded)[:40].rstrip("-") or "server"
    if folded in RESERVED_SERVERS:
        folded += "-server"
    candidate, number = folded, 2
    while candidate in taken:
        suffix = f"-{number}"
        candidate, number = folded[: 40 - len(suffix)] + suffix, number + 1
    return candidate


def served(server: str, item: str) -> str:
    """The name of a server's tool or prompt in an aggregate: `<server>__<item>`, at most `MAX_SERVED` characters.

    A longer one keeps its head and ends in 8 hex digits of the whole name, so it is stable and does not collide.
    Reversed by looking it up in the view it was made for, never by splitting.
    """
    whole = f"{server}__{item}"
    if len(whole) <= MAX_SERVED:
        return whole
    tail = hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{whole[: MAX_SERVED - 9]}_{tail}"
