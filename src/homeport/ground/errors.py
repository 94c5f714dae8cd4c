"""The five families of errors, and the one list that collects many.

    HomeportError
    ├── InvalidInput         what a person or a file said cannot be meant
    ├── Refused              policy, trust or consent says no
    ├── Unavailable          the outside failed: a server, a disk, a network
    ├── ProtocolViolation    a peer broke MCP or HTTP; `whose` says which side
    └── Conflict             two truths: drift, a hash mismatch, a port in use

Every error has a stable `code` (`project.unknown_key`), a message that names what is wrong, and, where one exists, a
`remedy`: a sentence or command that mends it. Exit status, HTTP status and JSON-RPC code are mapped from the family
(or the code) once, at each edge; nothing here knows of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Side = Literal["downstream", "upstream"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where something was found: a file, a line (1-based) and a dotted key path. Any part may be unknown."""

    file: str = ""
    line: int = 0
    path: str = ""

    def __str__(self) -> str:
        where = self.file
        if self.line:
            where = f"{where}:{self.line}" if where else f"line {self.line}"
        if self.path:
            where = f"{where}: {self.path}" if where else self.path
        return where


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, as one line for people and as data."""

    code: str
    message: str
    place: Place = Place()
    remedy: str = ""

    def __str__(self) -> str:
        where = str(self.place)
        return f"{where}: {self.message}" if where else self.message


class HomeportError(Exception):
    """The root. Raise one of the five families."""

    family = "internal"

    def __init__(self, message: str, *, code: str, remedy: str = "", place: Place | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.remedy = remedy
        self.place = place or Place()

    def __str__(self) -> str:
        where = str(self.place)
        return f"{where}: {self.message}" if where else self.message

    def problems(self) -> Sequence[Problem]:
        """The single problems in this error; one, unless it collected many."""
        return (Problem(self.code, self.message, self.place, self.remedy),)


class InvalidInput(HomeportError):
    """What was written cannot be meant. `many` collects every problem of one file."""

    family = "invalid_input"

    def __init__(
        self,
        message: str,
        *,
        code: str,
        remedy: str = "",
        place: Place | None = None,
        many: Sequence[Problem] = (),
    ) -> None:
        super().__init__(message, code=code, remedy=remedy, place=place)
        self.many = tuple(many)

    @classmethod
    def collected(cls, problems: Sequence[Problem]) -> InvalidInput:
        """One error out of the problems of one file, all of them told."""
        first = problems[0]
        if len(problems) == 1:
            return cls(first.message, code=first.code, remedy=first.remedy, place=first.place)
        text = "\n".join(str(problem) for problem in problems)
        return cls(f"{len(problems)} problems\n{text}", code=first.code, many=problems)

    def problems(self) -> Sequence[Problem]:
        """Every collected problem, in the order found."""
        return self.many or super().problems()


class Refused(HomeportError):
    """Policy, trust or consent says no. Nothing was sent anywhere."""

    family = "refused"


class Unavailable(HomeportError):
    """The outside failed: it may work later, or after the remedy."""

    family = "unavailable"


class ProtocolViolation(HomeportError):
    """A peer broke its protocol. `whose` is the side that did."""

    family = "protocol_violation"

    def __init__(self, message: str, *, code: str, whose: Side, remedy: str = "", place: Place | None = None) -> None:
        super().__init__(message, code=code, remedy=remedy, place=place)
        self.whose: Side = whose


class Conflict(HomeportError):
    """Two truths that cannot both stand: drift, a hash mismatch, a port in use."""

    family = "conflict"
