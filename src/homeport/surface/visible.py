"""Text of strangers made fit to show: what cannot be seen, or changes how the rest is seen, is written out."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Final

_BIDI: Final = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_INVISIBLE: Final = frozenset("\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180e\u3164\ufeff\uffa0")
_JOINERS: Final = frozenset("\u200c\u200d")


def kind_of(character: str) -> str:
    """`bidi`, `tag`, `invisible`, `control`, or an empty string for a character that shows itself."""
    code = ord(character)
    if code < 128:
        return "control" if (code < 32 and character not in "\n\t") or code == 127 else ""
    if character in _BIDI:
        return "bidi"
    if 0xE0000 <= code <= 0xE007F:
        return "tag"
    if 0xFE00 <= code <= 0xFE0E or 0xE0100 <= code <= 0xE01EF or character in _INVISIBLE:
        return "invisible"
    category = unicodedata.category(character)
    if category in {"Cc", "Cs", "Co"}:
        return "control"
    return "invisible" if category == "Cf" and character not in _JOINERS else ""


def hidden(text: str) -> Iterator[tuple[int, str, str]]:
    """`(position, character, kind)` of every character that does not show itself."""
    if text.isascii() and text.isprintable():
        return
    for position, character in enumerate(text):
        kind = kind_of(character)
        if kind:
            yield position, character, kind


def visible(text: str) -> str:
    """The text with every such character as `\\u{…}`."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(f"\\u{{{ord(character):x}}}" if kind_of(character) else character for character in text)
