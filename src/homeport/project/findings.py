"""What is wrong with a file, collected: each problem at the line and key path where it stands."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from homeport.ground.errors import HomeportError, InvalidInput, Place, Problem
from homeport.project.lines import KeyPath


class Findings:
    """Collects problems and knows where every key stands."""

    def __init__(self, file: str, lines: Mapping[KeyPath, int]) -> None:
        self.file = file
        self.lines = lines
        self.problems: list[Problem] = []

    def place(self, path: KeyPath) -> Place:
        """The place of a key; of the nearest table around it when it is not written."""
        near = path
        while near and near not in self.lines:
            near = near[:-1]
        return Place(self.file, self.lines.get(near, 0), dotted(path))

    def add(self, path: KeyPath, problem: Problem) -> None:
        self.problems.append(replace(problem, place=self.place(path)))

    def adopt(self, path: KeyPath, error: HomeportError) -> None:
        """Take the problem another room raised, at the place known here."""
        self.problems.append(Problem(error.code, error.message, self.place(path), error.remedy))

    def finish(self) -> None:
        if self.problems:
            unique = list(dict.fromkeys(self.problems))
            raise InvalidInput.collected(sorted(unique, key=lambda problem: problem.place.line))


def dotted(path: KeyPath) -> str:
    """A key path as TOML writes it: `servers.time.args[0]`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            key = part if re.fullmatch(r"[A-Za-z0-9_-]+", part) else '"' + part.replace('"', '\\"') + '"'
            text += f".{key}" if text else key
    return text
