"""Patterns of the policy, in linear time: regular expressions of the RE2 family, and globs.

A regular expression is searched anywhere in the text and `$` is the end of the text only. A glob matches the whole
text, minds case, and its `*` and `?` stop at `/`; `**` does not.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Any, Final

MAX_PATTERN: Final = 4_096
_MEMORY: Final = 64 * 1024 * 1024
_MAX_SET_PROGRAM: Final = 10_000


class BadPattern(ValueError):
    """A pattern that does not compile; the text says why."""


class PatternSet:
    """Several patterns, tried together; the first that matches (by its position) counts."""

    __slots__ = ("_set", "_singly", "sources")

    def __init__(self, sources: Sequence[str], expressions: Sequence[str]) -> None:
        """`expressions` are what is compiled, `sources` what the person wrote. Raises `BadPattern`."""
        self.sources = tuple(sources)
        compiled = [_compiled(expression) for expression in expressions]
        # A set runs as an automaton only, and answers "no" when it has no memory left. With programs this small and
        # this much memory one state always fits, so it cannot; larger ones are searched one by one.
        small = sum(pattern.programsize for pattern in compiled) <= _MAX_SET_PROGRAM
        self._singly: Sequence[Any] = () if small else compiled
        self._set = _set_of(expressions) if small and expressions else None

    def first(self, text: str) -> int | None:
        """The index of the first pattern that matches, or None."""
        if self._set is not None:
            found = self._set.Match(text)
            return min(found) if found else None
        for index, pattern in enumerate(self._singly):
            if pattern.search(text) is not None:
                return index
        return None


def expressions(sources: Sequence[str]) -> PatternSet:
    """Regular expressions. Raises `BadPattern`."""
    return PatternSet(sources, sources)


def globs(sources: Sequence[str]) -> PatternSet:
    """Globs. Raises `BadPattern`."""
    return PatternSet(sources, [glob_expression(source) for source in sources])


def _engine() -> Any:
    # The binding ships no types.
    import re2  # pyright: ignore[reportMissingTypeStubs]

    return re2


def _options() -> Any:
    options = _engine().Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    return options


def _set_of(sources: Sequence[str]) -> Any:
    combined = _engine().Set.SearchSet(_options())
    for source in sources:
        combined.Add(source)
    combined.Compile()
    return combined


@functools.lru_cache(maxsize=4_096)
def _compiled(source: str) -> Any:
    engine = _engine()
    if not source:
        raise BadPattern("an empty pattern matches everything")
    if len(source) > MAX_PATTERN:
        raise BadPattern(f"a pattern of {len(source)} characters; at most {MAX_PATTERN}")
    try:
        # Encoded here so that a lone surrogate in a pattern is an error of ours and not of the binding.
        source.encode("utf-8")
        return engine.compile(source, _options())
    except (engine.error, UnicodeEncodeError) as error:
        reason: Any = error.args[0] if error.args else error
        text = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        raise BadPattern(f"the pattern {source!r} does not compile: {text}") from None


_CLASS: Final = re.compile(r"\[(\^|!)?([^\]\\]|\\.)+\]")


@functools.lru_cache(maxsize=4_096)
def glob_expression(glob: str) -> str:
    """A glob as an anchored regular expression. Raises `BadPattern`."""
    if not glob:
        raise BadPattern("an empty pattern matches nothing")
    pieces: list[str] = []
    position = 0
    while position < len(glob):
        piece, position = _glob_piece(glob, position)
        pieces.append(piece)
    return f"(?s)\\A(?:{''.join(pieces)})\\z"


def _glob_piece(glob: str, position: int) -> tuple[str, int]:
    character = glob[position]
    if character == "*":
        if glob.startswith("**", position):
            return ".*", position + 2
        return "[^/]*", position + 1
    if character == "?":
        return "[^/]", position + 1
    if character == "\\":
        if position + 1 == len(glob):
            raise BadPattern(f"the pattern {glob!r} ends in a backslash")
        return re.escape(glob[position + 1]), position + 2
    if character == "[":
        found = _CLASS.match(glob, position)
        if found is None:
            raise BadPattern(f"the pattern {glob!r} has a `[` without its `]`")
        body = found[0]
        return ("[^" + body[2:] if body[1] in "!^" else body).replace("[:", "[\\:"), found.end()
    return re.escape(character), position + 1
