"""What a server's list costs an agent's context, by a stated estimate. Pure.

The estimate: agents send each tool's name, description and input schema to the model with every request. One unit
("token" is kept for credentials) is taken as 4 characters of ASCII or 1.5 of any other text, of the compact JSON of
these three. It is meant for comparing lists with each other, not for billing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from homeport.ground import exact
from homeport.ground.exact import Json
from homeport.surface.model import Surface
from homeport.surface.view import View

ESTIMATE: Final = "characters of name, description and inputSchema as compact JSON: 4 ASCII or 1.5 others to a unit"
_SENT: Final = ("name", "description", "inputSchema")


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of some tools."""

    tools: int
    units: int
    bytes: int
    """Of the whole definitions, as a list transfers them."""


def of_definitions(definitions: Iterable[Mapping[str, Json]]) -> Cost:
    """The cost of these definitions together."""
    tools = units = size = 0
    for definition in definitions:
        tools += 1
        units += _units(exact.dumps({key: definition[key] for key in _SENT if key in definition}))
        size += len(exact.dumps(dict(definition)).encode("utf-8", "backslashreplace"))
    return Cost(tools, units, size)


def _units(text: str) -> int:
    others = 0 if text.isascii() else sum(not character.isascii() for character in text)
    return round((len(text) - others) / 4 + others / 1.5)


def of_surface(surface: Surface) -> Cost:
    """Everything a server offers: what its list costs without grants."""
    return of_definitions(item.definition for item in surface.tools.values())


def of_view(view: View, server: str = "") -> Cost:
    """What is granted to models, of one server or of all."""
    return of_definitions(tool.definition for tool in view.tools(server) if tool.for_model)
