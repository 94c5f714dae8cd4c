"""How a server is reached, ready to use: absolute paths, values still as references. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from homeport.ground.secrets import Chain


@dataclass(frozen=True, slots=True)
class StdioLaunch:
    """A child process that speaks MCP on its standard streams."""

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, Chain] = field(default_factory=dict[str, Chain])
    digest: str = ""
    """Of the launch as trusted; part of the key under which a session is shared."""


@dataclass(frozen=True, slots=True)
class HttpLaunch:
    """A server behind a URL."""

    url: str
    headers: Mapping[str, Chain] = field(default_factory=dict[str, Chain])
    digest: str = ""


Launch: TypeAlias = StdioLaunch | HttpLaunch
