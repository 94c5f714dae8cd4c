"""The arguments of one tool: decoded, names known, valid under the locked schema. Bounded; nothing is sent before."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Final

from homeport.ground.exact import Json
from homeport.surface import selectors
from homeport.surface.patterns import BadPattern, PatternSet, expressions
from homeport.surface.schemas import Validator, Value, decode, violation
from homeport.surface.verdict import Violation
from homeport.surface.weight import Unusable

_MAX_NAMED: Final = 30


class Arguments:
    """Checks arguments against one tool's locked `inputSchema`; compiled at the first call."""

    __slots__ = ("_hidden", "_known", "_limit", "_open", "_patterns", "_schema", "_unusable", "_validator")

    def __init__(self, schema: Json, *, limit: int, hidden: frozenset[str] = frozenset()) -> None:
        """`limit` in bytes; `hidden` are pinned names, not told to callers."""
        self._schema = schema
        self._limit = limit
        self._hidden = hidden
        self._validator: Validator | None = None
        self._unusable: Violation | None = None

    def decode(self, data: bytes) -> dict[str, Value] | Violation:
        """The arguments as values; absent ones are `{}`."""
        if not data:
            return {}
        if len(data) > self._limit:
            return violation("size", f"the arguments have {len(data)} bytes; at most {self._limit}")
        try:
            value = decode(data)
        except ValueError as error:
            return violation("json", f"the arguments are not JSON that can be checked: {error}")
        if not isinstance(value, dict):
            return violation("type", "the arguments must be an object", expected="an object")
        return value

    def violation(self, arguments: dict[str, Value]) -> Violation | None:
        """What does not fit the schema, or None."""
        if self._validator is None and (self._unusable is not None or not self._compile()):
            return self._unusable
        if not self._open and not arguments.keys() <= self._known:
            unknown = [name for name in arguments if name not in self._known and not self._patterned(name)]
            if unknown:
                return self._not_known(unknown)
        return None if self._validator is None else self._validator.violation(arguments)

    def _compile(self) -> bool:
        try:
            self._validator = Validator(self._schema)
        except Unusable as error:
            self._unusable = violation("unusable", f"the tool's schema cannot be used: {error.text}")
            return False
        self._known, self._patterns, self._open = accepted(self._schema)
        return True

    def _patterned(self, name: str) -> bool:
        return self._patterns is not None and self._patterns.first(name) is not None

    def _not_known(self, unknown: list[str]) -> Violation:
        names = sorted(self._known - self._hidden)
        shown = ", ".join(names[:_MAX_NAMED]) + (", …" if len(names) > _MAX_NAMED else "")
        close = difflib.get_close_matches(unknown[0], names, n=1)
        meant = f" (did you mean {close[0]}?)" if close else ""
        text = f"not known: {', '.join(map(_short, unknown[:5]))}{meant}; accepted: {shown or 'none'}"
        return violation("unknown", text, path=_short(unknown[0]), expected=f"one of {shown}" if shown else "nothing")


def _short(name: str) -> str:
    return name if len(name) <= 60 else name[:59] + "…"


def accepted(schema: Json) -> tuple[frozenset[str], PatternSet | None, bool]:
    """Names, patterns of names, and whether any other name is accepted.

    An absent `additionalProperties` counts as closed where the schema names properties at all; an explicit one that
    is not `false` keeps it open, and so does a schema that says nothing of properties (2026-07-28, server/tools).
    """
    names: set[str] = set()
    sources: list[str] = []
    opened = declared = False
    for branch in selectors.branches(schema):
        properties = branch.get("properties")
        declared = declared or isinstance(properties, dict)
        names.update(_names(branch))
        patterned = branch.get("patternProperties")
        sources += list(patterned) if isinstance(patterned, dict) else []
        opened = opened or any(
            branch.get(keyword, False) is not False for keyword in ("additionalProperties", "unevaluatedProperties")
        )
    compiled = _compiled(sources)
    nothing_said = not declared and not sources and not _closed(schema)
    return frozenset(names), compiled, opened or nothing_said or (bool(sources) and compiled is None)


def _closed(schema: Json) -> bool:
    return isinstance(schema, dict) and (
        schema.get("additionalProperties") is False or schema.get("unevaluatedProperties") is False
    )


def _names(branch: dict[str, Json]) -> Iterator[str]:
    properties, required = branch.get("properties"), branch.get("required")
    yield from properties if isinstance(properties, dict) else ()
    yield from (name for name in (required if isinstance(required, list) else ()) if isinstance(name, str))
    for keyword in ("dependentRequired", "dependentSchemas"):
        dependent = branch.get(keyword)
        for name, needed in dependent.items() if isinstance(dependent, dict) else ():
            yield name
            yield from (other for other in (needed if isinstance(needed, list) else ()) if isinstance(other, str))


def _compiled(sources: list[str]) -> PatternSet | None:
    """None also where a pattern is beyond RE2: then the schema itself decides, by the validator's engine."""
    try:
        return expressions(sources) if sources else None
    except BadPattern:
        return None
