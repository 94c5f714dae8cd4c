"""Configured values filled at the moment they are needed: at the spawn of a child, at the sending of a header.

`{secret:name}` comes from this user's secret store, `{env:NAME}` from Homeport's own environment. Of a list of values
the first that can be filled and is not empty wins. Every secret that is filled in is told to the scrubber first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from homeport.ground.errors import InvalidInput, Refused
from homeport.ground.secrets import Chain, Reference, Scrubber, Secret

Lookup: TypeAlias = Callable[[Reference], Secret | None]


@dataclass(frozen=True, slots=True)
class Missing:
    """A value that cannot be filled: the references that have nothing, in the order tried."""

    name: str
    references: tuple[Reference, ...]

    @property
    def remedy(self) -> str:
        """The command, or the sentence, that mends it."""
        first = self.references[0] if self.references else None
        if first is None:
            return f"give {self.name} a value in homeport.toml"
        if first.kind == "secret":
            return f"homeport secrets set {first.name}"
        return f"set the environment variable {first.name} for Homeport"


def references(chains: Mapping[str, Chain]) -> frozenset[Reference]:
    """Every reference in these values."""
    return frozenset(
        reference for chain in chains.values() for template in chain for reference in template.references()
    )


def fill(name: str, chain: Chain, lookup: Lookup) -> Secret | Missing:
    """One value. A template with a reference that is missing or empty does not count, unless it is the only literal.

    A literal empty text (`""`) at the end of a list is a value: somebody wrote it.
    """
    missing: list[Reference] = []
    for template in chain:
        found = {reference: lookup(reference) for reference in template.references()}
        absent = [reference for reference, secret in found.items() if not secret]
        if absent:
            missing.extend(absent)
            continue
        value = template.fill({reference: secret for reference, secret in found.items() if secret})
        if value or template is chain[-1]:
            return value
    return Missing(name, tuple(dict.fromkeys(missing)))


class SecretsSource:
    """Fills the values of a launch. `get` reads the secret store and may block (a keychain asks its owner)."""

    def __init__(
        self, get: Callable[[str], Secret | None], environment: Mapping[str, str], scrubber: Scrubber | None = None
    ) -> None:
        self._get = get
        self._environment = environment
        self._scrubber = scrubber

    async def __call__(self, chains: Mapping[str, Chain]) -> dict[str, Secret]:
        """Every value, ready to be given away. Raises `Refused` (`secret.missing`) with the command that mends it."""
        wanted = references(chains)
        known = {reference: self._from_environment(reference.name) for reference in wanted if reference.kind == "env"}
        stored = [reference for reference in wanted if reference.kind == "secret"]
        if stored:
            known.update(await asyncio.to_thread(self._from_store, stored))
        return filled(chains, known.get)

    def missing(self, chains: Mapping[str, Chain]) -> list[Missing]:
        """What could not be filled now: for `doctor` and `ps`. Blocks like `get`."""
        found = {**self._from_store([item for item in references(chains) if item.kind == "secret"])}
        found.update({item: self._from_environment(item.name) for item in references(chains) if item.kind == "env"})
        results = (fill(name, chain, found.get) for name, chain in chains.items())
        return [result for result in results if isinstance(result, Missing)]

    def _from_store(self, wanted: list[Reference]) -> dict[Reference, Secret | None]:
        return {reference: self._learned(self._get(reference.name)) for reference in wanted}

    def _from_environment(self, name: str) -> Secret | None:
        value = self._environment.get(name, "").strip()
        return self._learned(Secret(value)) if value else None

    def _learned(self, secret: Secret | None) -> Secret | None:
        if secret and self._scrubber:
            self._scrubber.learn(secret)
        return secret


def filled(chains: Mapping[str, Chain], lookup: Lookup) -> dict[str, Secret]:
    """Every value. Raises `Refused` (`secret.missing`) naming all that lack one, `InvalidInput` (`secret.unusable`)."""
    values: dict[str, Secret] = {}
    missing: list[Missing] = []
    for name, chain in chains.items():
        value = fill(name, chain, lookup)
        if isinstance(value, Missing):
            missing.append(value)
        elif "\0" in value.reveal():
            raise InvalidInput(f"the value of {name} holds a NUL character", code="secret.unusable")
        else:
            values[name] = value
    if missing:
        raise Refused(_sentence(missing), code="secret.missing", remedy=missing[0].remedy)
    return values


def _sentence(missing: list[Missing]) -> str:
    parts = [
        f"{item.name} has no value"
        + (f" ({', '.join(map(str, item.references))} is not set)" if item.references else "")
        for item in missing
    ]
    return "; ".join(parts)
