"""Server-sent events out of a byte stream (WHATWG HTML, *Server-sent events*). Pure, bounded."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from homeport.ground.errors import ProtocolViolation

_END: Final = re.compile(rb"\r\n|\n|\r")
_BOM: Final = b"\xef\xbb\xbf"
MAX_RETRY_MS: Final = 60_000


@dataclass(frozen=True, slots=True)
class Event:
    """One event: its data without the last line end, and the id in force."""

    data: bytes
    id: str = ""
    type: str = ""


class Events:
    """Takes pieces of the stream as they come, gives the events that are complete."""

    def __init__(self, limit: int) -> None:
        """`limit`: bytes of one event."""
        self._limit = limit
        self._rest = b""
        self._data: list[bytes] = []
        self._size = 0
        self._type = ""
        self._begun = False
        self.last_id = ""
        """For `Last-Event-ID`."""
        self.retry_ms: int | None = None
        """How long the server wants a client to wait before it comes back."""

    def feed(self, piece: bytes) -> list[Event]:
        """The events that this piece completes. Raises `ProtocolViolation` (`upstream.message_too_large`)."""
        text = self._rest + piece
        if not self._begun:
            if len(text) < len(_BOM) and _BOM.startswith(text):
                self._rest = text
                return []
            text, self._begun = text.removeprefix(_BOM), True
        # A carriage return at the end may be half of a line end.
        held = b"\r" if text.endswith(b"\r") else b""
        *lines, rest = _END.split(text[: len(text) - len(held)])
        self._rest = rest + held
        events: list[Event] = []
        for line in lines:
            self._line(line, events)
        if self._size + len(self._rest) > self._limit:
            raise ProtocolViolation(
                f"an event of more than {self._limit} bytes", code="upstream.message_too_large", whose="upstream"
            )
        return events

    def _line(self, line: bytes, events: list[Event]) -> None:
        if not line:
            if self._data:
                events.append(Event(b"\n".join(self._data), self.last_id, self._type))
            self._data, self._size, self._type = [], 0, ""
            return
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        match name:
            case b"data":
                self._data.append(value)
                self._size += len(value) + 1
            case b"event":
                self._type = value.decode("utf-8", "replace")
            case b"id" if b"\0" not in value:
                self.last_id = value.decode("utf-8", "replace")
            case b"retry" if value.isdigit() and len(value) < 10:
                self.retry_ms = min(int(value), MAX_RETRY_MS)
            case _:
                pass
