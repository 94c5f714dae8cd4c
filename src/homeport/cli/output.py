"""What a person or a program reads of a command: data to standard output, everything else to standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

from homeport.ground.errors import HomeportError


def plain(text: str) -> str:
    """Text that came from outside, safe to print: control and bidirectional characters shown, not obeyed."""
    return "".join(char if _printable(char) else f"\\u{{{ord(char):x}}}" for char in text)


def _printable(char: str) -> bool:
    code = ord(char)
    if char in "\n\t":
        return True
    return not (code < 32 or 0x7F <= code < 0xA0 or 0x202A <= code <= 0x202E or 0x2066 <= code <= 0x2069)


@dataclass(slots=True)
class Output:
    """The two streams of one command and how much to say."""

    json: bool = False
    quiet: bool = False
    verbose: bool = False
    stdout: TextIO = sys.stdout
    stderr: TextIO = sys.stderr

    def data(self, value: Any) -> None:
        """One JSON document."""
        self.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")

    def line(self, text: str = "") -> None:
        """One line of data for people."""
        self.stdout.write(plain(text) + "\n")

    def table(self, rows: Iterable[Sequence[str]], *, head: Sequence[str] = ()) -> None:
        """Columns, left aligned, two blanks between, the last one unpadded."""
        cells = [list(map(plain, row)) for row in ([head] if head else [])] + [list(map(plain, row)) for row in rows]
        if not cells:
            return
        widths = [max(len(row[column]) for row in cells if column < len(row)) for column in range(len(cells[0]))]
        for row in cells:
            padded = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
            self.stdout.write("  ".join(padded).rstrip() + "\n")

    def note(self, text: str) -> None:
        """Something worth knowing that is not data; silent with `-q`."""
        if not self.quiet:
            self.stderr.write(plain(text) + "\n")

    def detail(self, text: str) -> None:
        """Only with `-v`."""
        if self.verbose:
            self.stderr.write(plain(text) + "\n")

    def error(self, error: HomeportError) -> None:
        """What went wrong, where, and what mends it."""
        if self.json:
            self.stderr.write(json.dumps({"error": error_object(error)}, ensure_ascii=False) + "\n")
            return
        problems = error.problems()
        for problem in problems:
            self.stderr.write(f"error: {plain(str(problem))}\n")
            if problem.remedy:
                gap, indent = ("", "  ") if len(problems) > 1 else ("\n", "")
                self.stderr.write(f"{gap}{indent}hint: {plain(problem.remedy)}\n")


def error_object(error: HomeportError) -> dict[str, Any]:
    """The one JSON shape of an error."""
    return {
        "code": error.code,
        "family": error.family,
        "message": error.message,
        "remedy": error.remedy,
        "problems": [
            {
                "code": problem.code,
                "message": problem.message,
                "file": problem.place.file,
                "line": problem.place.line,
                "path": problem.place.path,
                "remedy": problem.remedy,
            }
            for problem in error.problems()
        ],
    }
