"""TOML as text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from homeport.agents.editors.source import Source


def line_of(src: Source, path: Sequence[str]) -> int:
    """The line of the first header or key that names `path`; 0 where none is found."""
    keys = [rf"(?:{re.escape(key)}|\"{re.escape(key)}\"|'{re.escape(key)}')" for key in path]
    dotted = r"\s*\.\s*".join(keys)
    match = re.search(rf"^[ \t]*(?:\[\[?\s*{dotted}\s*[\].]|{dotted}\s*[.=])", src.text, re.MULTILINE)
    return src.place(match.start()).line if match else 0
