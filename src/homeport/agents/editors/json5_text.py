"""JSON5 values: unquoted keys, single quotes, hexadecimal numbers, and the rest of the JSON5 grammar."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from homeport.agents.editors.source import Source
from homeport.ground.errors import InvalidInput
from homeport.ground.exact import Number

_BLANK: Final = re.compile(r"(?:[\s\ufeff]|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING: Final = re.compile(r'"(?:[^"\\\n]|\\(?:.|\n))*"' + r"|'(?:[^'\\\n]|\\(?:.|\n))*'", re.DOTALL)
_NAME: Final = re.compile(r"[^\W\d][\w$]*|\$[\w$]*")
_WORD: Final = re.compile(r"[^\s,\]}:/\[{\"']+")
_NUMBER: Final = re.compile(r"[+-]?(?:0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|Infinity|NaN)")
_WORDS: Final = {"true": True, "false": False, "null": None}
_ESCAPE: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|\r\n|.)", re.DOTALL)
_SIMPLE: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": "", "\r\n": ""}


def key(lexeme: str) -> str:
    """The key that a lexeme spells: quoted either way, or bare."""
    return string(lexeme) if lexeme[0] in "\"'" else lexeme


def string(lexeme: str) -> str:
    """The text of a quoted lexeme."""
    if lexeme[0] == '"':
        try:
            return str(json.loads(lexeme))
        except ValueError:
            pass

    def plain(match: re.Match[str]) -> str:
        mark = match[1]
        if mark[0] in "ux" and len(mark) > 1:
            return chr(int(mark[1:], 16))
        return _SIMPLE.get(mark, mark)

    text = _ESCAPE.sub(plain, lexeme[1:-1])
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def decode(src: Source) -> Any:
    """The value of a whole document. Raises `InvalidInput` (`config.syntax`, `config.duplicate_key`)."""
    reader = _Reader(src)
    value = reader.value(reader.skip(0))
    end = reader.skip(reader.at)
    if end < len(src.text):
        raise reader.error(end, "text after the end of the value")
    return value


class _Reader:
    """A recursive reader; its caller has bounded the depth."""

    def __init__(self, src: Source) -> None:
        self._src = src
        self._text = src.text
        self.at = 0

    def skip(self, offset: int) -> int:
        match = _BLANK.match(self._text, offset)
        return match.end() if match else offset

    def error(self, offset: int, what: str) -> InvalidInput:
        message = f"is not valid JSON5: {what} (column {self._src.column(offset)})"
        remedy = "mend the file in an editor; Homeport changes nothing in a file that it cannot read"
        return InvalidInput(message, code="config.syntax", place=self._src.place(offset), remedy=remedy)

    def value(self, offset: int) -> Any:
        mark = self._text[offset : offset + 1]
        if mark == "{":
            return self._object(offset)
        if mark == "[":
            return self._array(offset)
        if mark in {'"', "'"}:
            return self._string(offset)
        return self._word(offset)

    def _string(self, offset: int) -> str:
        match = _STRING.match(self._text, offset)
        if match is None:
            raise self.error(offset, "a string without an end")
        self.at = match.end()
        return string(match[0])

    def _word(self, offset: int) -> Any:
        match = _WORD.match(self._text, offset)
        if match is None:
            raise self.error(offset, "a value is missing")
        self.at = match.end()
        word = match[0]
        if word in _WORDS:
            return _WORDS[word]
        if not _NUMBER.fullmatch(word):
            raise self.error(offset, f"{word!r} is not a value")
        plain = word.lstrip("+")
        if plain.lower().lstrip("-").startswith("0x"):
            return int(plain, 16)
        return int(plain) if re.fullmatch(r"-?\d{1,3999}", plain) else Number(plain)

    def _object(self, offset: int) -> dict[str, Any]:
        members: dict[str, Any] = {}
        at = self.skip(offset + 1)
        while self._text[at : at + 1] != "}":
            name, colon = self._key(at)
            if name in members:
                message = f"the key {name!r} stands twice in one object; programs read only one of them"
                place = self._src.place(at, name)
                remedy = "remove one of the two in an editor"
                raise InvalidInput(message, code="config.duplicate_key", place=place, remedy=remedy)
            if self._text[colon : colon + 1] != ":":
                raise self.error(colon, "a colon is missing")
            members[name] = self.value(self.skip(colon + 1))
            at = self._next(self.skip(self.at), "}")
        self.at = at + 1
        return members

    def _key(self, offset: int) -> tuple[str, int]:
        if self._text[offset : offset + 1] in {'"', "'"}:
            name = self._string(offset)
            return name, self.skip(self.at)
        match = _NAME.match(self._text, offset)
        if match is None:
            raise self.error(offset, "a key is missing")
        return match[0], self.skip(match.end())

    def _array(self, offset: int) -> list[Any]:
        values: list[Any] = []
        at = self.skip(offset + 1)
        while self._text[at : at + 1] != "]":
            values.append(self.value(at))
            at = self._next(self.skip(self.at), "]")
        self.at = at + 1
        return values

    def _next(self, offset: int, closer: str) -> int:
        mark = self._text[offset : offset + 1]
        if mark == ",":
            return self.skip(offset + 1)
        if mark != closer:
            raise self.error(offset, f"a comma or {closer!r} is missing")
        return offset
