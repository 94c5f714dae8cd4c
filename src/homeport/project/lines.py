"""Where each key of a TOML document stands: key path to line. tomllib tells values, this tells places.

Works on text that tomllib has accepted, so it need not judge syntax: it only walks keys, strings and brackets.
"""

from __future__ import annotations

import re
import tomllib
from typing import Final, TypeAlias

KeyPath: TypeAlias = tuple[str | int, ...]

_STRING: Final = re.compile(
    r"""'''.*?'''(?:''?(?!'))?|\"\"\"(?:[^\\]|\\.)*?\"\"\"(?:""?(?!"))?|'[^'\n]*'|"(?:[^"\\\n]|\\.)*\"""", re.DOTALL
)
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
_BLANK: Final = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)+")
_SCALAR: Final = re.compile(r"[^,\]}#\n]+")


def locate(text: str) -> dict[KeyPath, int]:
    """Every key, table header and array element with its 1-based line; a path written twice keeps its first line."""
    return _Walk(text).document()


def headers(text: str) -> list[tuple[KeyPath, int]]:
    """Every table header in order: its key path, with an index for an element of an array of tables, and its offset."""
    walk = _Walk(text)
    walk.document()
    return walk.headers


class _Walk:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.line = 1
        self.counted = 0
        self.found: dict[KeyPath, int] = {}
        self.elements: dict[KeyPath, int] = {}
        self.headers: list[tuple[KeyPath, int]] = []

    def document(self) -> dict[KeyPath, int]:
        table: KeyPath = ()
        while self._skip_blank():
            if self.text[self.at] == "[":
                table = self._header()
            else:
                self._pair(table)
        return self.found

    def _header(self) -> KeyPath:
        start = self.at
        double = self.text.startswith("[[", self.at)
        self.at += 2 if double else 1
        path = self._resolve(self._keys(), append=double)
        self.at += 2 if double else 1
        self.headers.append((path, start))
        return path

    def _resolve(self, keys: list[str], *, append: bool) -> KeyPath:
        """The header's path, with the index of the last element wherever an array of tables is passed through."""
        path: KeyPath = ()
        for position, key in enumerate(keys):
            path = (*path, key)
            self._note(path)
            last = position == len(keys) - 1
            if last and append:
                self.elements[path] = self.elements.get(path, -1) + 1
            if path in self.elements:
                path = (*path, self.elements[path])
                self._note(path)
        return path

    def _pair(self, table: KeyPath) -> None:
        path = table
        for key in self._keys():
            path = (*path, key)
            self._note(path)
        self.at += 1  # the equals sign
        self._skip_blank()
        self._value(path)

    def _keys(self) -> list[str]:
        keys: list[str] = []
        while True:
            self._skip_blank()
            if match := _STRING.match(self.text, self.at):
                keys.append(tomllib.loads(f"key = {match[0]}")["key"])
            elif match := _BARE.match(self.text, self.at):
                keys.append(match[0])
            else:
                return keys
            self.at = match.end()
            self._skip_blank()
            if not self.text.startswith(".", self.at):
                return keys
            self.at += 1

    def _value(self, path: KeyPath) -> None:
        mark = self.text[self.at]
        if mark == "[":
            self._array(path)
        elif mark == "{":
            self._inline(path)
        elif match := _STRING.match(self.text, self.at) or _SCALAR.match(self.text, self.at):
            self.at = match.end()

    def _array(self, path: KeyPath) -> None:
        self.at += 1
        index = 0
        while self._skip_blank() and self.text[self.at] != "]":
            self._note((*path, index))
            self._value((*path, index))
            self._skip_comma()
            index += 1
        self.at += 1

    def _inline(self, path: KeyPath) -> None:
        self.at += 1
        while self._skip_blank() and self.text[self.at] != "}":
            self._pair(path)
            self._skip_comma()
        self.at += 1

    def _skip_comma(self) -> None:
        self._skip_blank()
        if self.text.startswith(",", self.at):
            self.at += 1

    def _skip_blank(self) -> bool:
        if match := _BLANK.match(self.text, self.at):
            self.at = match.end()
        return self.at < len(self.text)

    def _note(self, path: KeyPath) -> None:
        self.line += self.text.count("\n", self.counted, self.at)
        self.counted = self.at
        self.found.setdefault(path, self.line)
