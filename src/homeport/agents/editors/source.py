"""The text of a config file, with what must survive an edit: byte order mark and line ends."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import Final

from homeport.ground.errors import InvalidInput, Place

_UTF16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_MERGE_MARKER: Final = re.compile(r"^(<{7}|>{7}|={7})(?: |\r?$)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Source:
    """A decoded file. Offsets in the editors count characters of `text`."""

    text: str
    bom: bool = False
    file: str = ""

    @property
    def newline(self) -> str:
        """The line end most of the file uses; LF for a file of one line."""
        crlf = self.text.count("\r\n")
        return "\r\n" if crlf * 2 > self.text.count("\n") else "\n"

    @property
    def blank(self) -> bool:
        """Whether there is nothing in it: agents treat such a file as an empty one."""
        return not self.text.strip()

    def encode(self, text: str) -> bytes:
        """A new text as bytes, with the byte order mark where the file had one."""
        return (codecs.BOM_UTF8 if self.bom else b"") + text.encode("utf-8")

    def place(self, offset: int, path: str = "") -> Place:
        """The file, the line of an offset, and a key path."""
        return Place(self.file, self.text.count("\n", 0, offset) + 1, path)

    def column(self, offset: int) -> int:
        """1-based, in characters."""
        return offset - self.text.rfind("\n", 0, offset)


def source(data: bytes, file: str = "") -> Source:
    """Decode a config file.

    Raises `InvalidInput`: `config.encoding` (UTF-16, or not UTF-8), `config.merge_markers` (an unresolved merge).
    """
    if data.startswith(_UTF16) or b"\0" in data[:64]:
        message = "is UTF-16 (or binary), not UTF-8"
        remedy = "save the file as UTF-8 in an editor"
        raise InvalidInput(message, code="config.encoding", remedy=remedy, place=Place(file, 1))
    bom = data.startswith(codecs.BOM_UTF8)
    try:
        text = data[3 if bom else 0 :].decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"is not UTF-8 at byte {error.start}"
        remedy = "save the file as UTF-8 in an editor"
        raise InvalidInput(message, code="config.encoding", remedy=remedy, place=Place(file, line)) from None
    marker = _MERGE_MARKER.search(text) if "<<<<<<<" in text else None
    if marker:
        where = Source(text, bom, file).place(marker.start())
        message = "holds the markers of an unresolved merge"
        raise InvalidInput(message, code="config.merge_markers", remedy="resolve the merge first", place=where)
    return Source(text, bom, file)
