"""What a server offers, as locked: the values every other module of this room works on. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from homeport.ground.exact import Json

FORMAT = 1
"""Of `homeport.surface/<server>.json`. A newer one is refused, never overwritten."""


@dataclass(frozen=True, slots=True)
class Item:
    """One tool, prompt, template or page: the definition as received, member order kept, and its digest."""

    name: str
    definition: Mapping[str, Json]
    digest: str


@dataclass(frozen=True, slots=True)
class Quarantined:
    """A tool that is locked out on its own: why, and the definition as received for review."""

    name: str
    code: str
    reason: str
    definition: Json = None


@dataclass(frozen=True, slots=True)
class ServerIdentity:
    """What a server said of itself. Displayed, never trusted."""

    name: str = ""
    version: str = ""
    protocol: str = ""
    """The revision negotiated when the surface was read, e.g. `2025-11-25`."""


@dataclass(frozen=True, slots=True)
class Surface:
    """Everything one server offers, whatever is granted."""

    server: ServerIdentity = ServerIdentity()
    instructions: str = ""
    capabilities: Mapping[str, Json] = field(default_factory=dict[str, Json])
    tools: Mapping[str, Item] = field(default_factory=dict[str, Item])
    prompts: Mapping[str, Item] = field(default_factory=dict[str, Item])
    templates: Mapping[str, Item] = field(default_factory=dict[str, Item])
    """Resource templates, by URI template."""
    pages: Mapping[str, str] = field(default_factory=dict[str, str])
    """`ui://` documents: URI to `sha256:…` of the text."""
    quarantined: Mapping[str, Quarantined] = field(default_factory=dict[str, Quarantined])
    digest: str = ""
    """Over everything else; `homeport.lock` repeats it."""
