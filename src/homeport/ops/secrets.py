"""`homeport secrets`: values that configuration refers to by name."""

from __future__ import annotations

from dataclasses import dataclass

from homeport.ground.errors import HomeportError, InvalidInput
from homeport.ground.secrets import Secret
from homeport.ops.context import Context
from homeport.project import parse


@dataclass(frozen=True, slots=True)
class SecretRow:
    """One name: whether it has a value, and which servers refer to it."""

    name: str
    stored: bool
    used_by: tuple[str, ...]


def listed(context: Context) -> tuple[list[SecretRow], str]:
    """Every stored name and every name the project refers to, and where values are kept. Never a value."""
    store = context.secrets()
    stored = set(store.names())
    used = _used(context)
    rows = [SecretRow(name, name in stored, tuple(used.get(name, ()))) for name in sorted(stored | used.keys())]
    return rows, store.where


def _used(context: Context) -> dict[str, list[str]]:
    try:
        project = parse.load(context.root())
    except HomeportError:
        return {}
    used: dict[str, list[str]] = {}
    for server in project.servers.values():
        headers = getattr(server.source, "headers", {})
        chains = [*server.env.values(), *headers.values()]
        names = {
            reference.name
            for chain in chains
            for template in chain
            for reference in template.references()
            if reference.kind == "secret"
        }
        for name in names:
            used.setdefault(name, []).append(server.name)
    return used


def store(context: Context, name: str, value: Secret) -> str:
    """Keep a value; returns where. Raises `InvalidInput` for an empty one."""
    if not value:
        raise InvalidInput("an empty value is none", code="secrets.empty", remedy=f"homeport secrets set {name}")
    kept = context.secrets()
    kept.set(name, value)
    return kept.where


def forget(context: Context, name: str) -> None:
    """Remove a value. Raises `InvalidInput` (`secrets.unknown`) where there is none."""
    if not context.secrets().delete(name):
        raise InvalidInput(
            f"there is no secret {name!r}", code="secrets.unknown", remedy="homeport secrets list shows the names"
        )
