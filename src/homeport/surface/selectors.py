"""Selectors: paths to values in arguments and results (`a`, `a.b`, `a[]`, `a[].b`), and the values they find.

Lists on the way are looked through, marked with `[]` or not, so that a list cannot hide a value from a rule. A part
with a dot or bracket in its name is written in quotes: `"a.b".c`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from homeport.ground.exact import Json, canonical_number
from homeport.surface.schemas import Value
from homeport.surface.weight import local_reference, resolve_pointer

_PART: Final = re.compile(r'(?:"((?:[^"\\]|\\.)+)"|([^."\[\]]+))((?:\[\])*)')
_MAX_LISTED: Final = 20
_MAX_VISITED: Final = 2_000


class BadSelector(ValueError):
    """Not a selector; the text says why."""


class Unrenderable(Exception):
    """A value that is no scalar stands where a scalar is expected."""


@dataclass(frozen=True, slots=True)
class Part:
    """One step: a member's name, and how many `[]` follow it."""

    name: str
    lists: int


@dataclass(frozen=True, slots=True)
class Selector:
    """A parsed path."""

    text: str
    parts: tuple[Part, ...]

    @property
    def argument(self) -> str:
        """The top-level member it begins at."""
        return self.parts[0].name


def parse(text: str) -> Selector:
    """Raises `BadSelector`."""
    parts: list[Part] = []
    position = 0
    while position < len(text):
        if parts:
            if text[position] != ".":
                raise BadSelector(f"{text!r} is not a path like `a`, `a.b`, `a[]` or `a[].b`")
            position += 1
        found = _PART.match(text, position)
        if found is None:
            raise BadSelector(f"{text!r} is not a path like `a`, `a.b`, `a[]` or `a[].b`")
        name = re.sub(r"\\(.)", r"\1", found[1]) if found[1] else found[2]
        parts.append(Part(name, len(found[3]) // 2))
        position = found.end()
    if not parts:
        raise BadSelector("a selector is not empty")
    return Selector(text, tuple(parts))


def values(selector: Selector, document: Value) -> list[str]:
    """The texts of the values at the selector; empty when there is none.

    Raises `Unrenderable` where an object stands at the end, or something that has no members on the way.
    """
    if len(selector.parts) == 1 and isinstance(document, dict):
        name = selector.parts[0].name
        if name not in document:
            return []
        value = document[name]
        if isinstance(value, str):
            return [value]
    current: list[Value] = [document]
    for part in selector.parts:
        following: list[Value] = []
        for holder in current:
            for value in _flat(holder):
                if not isinstance(value, dict):
                    raise Unrenderable
                if part.name in value:
                    following.append(value[part.name])
        current = following
    return [scalar_text(value) for holder in current for value in _flat(holder)]


def scalars(selector: Selector, document: Value) -> Iterator[str]:
    """The texts of all values at the selector or anywhere below it; for results, whose shape nobody promised."""
    current: list[Value] = [document]
    for part in selector.parts:
        current = [
            value[part.name]
            for holder in current
            for value in _flat(holder)
            if isinstance(value, dict) and part.name in value
        ]
    pending = current
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            pending.extend(value.values())
        elif isinstance(value, list):
            pending.extend(value)
        else:
            yield scalar_text(value)


def _flat(value: Value) -> Iterator[Value]:
    """The value, or what the list and the lists in it hold."""
    if not isinstance(value, list):
        yield value
        return
    pending: list[Value] = list(reversed(value))
    while pending:
        item = pending.pop()
        if isinstance(item, list):
            pending.extend(reversed(item))
        else:
            yield item


def scalar_text(value: Value) -> str:
    """Canonical text: strings as they are, `true`, `false`, `null`, integers in plain decimal, other numbers short."""
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case None:
            return "null"
        case int():
            return str(value)
        case Decimal() if value.is_finite():
            return _number_text(value)
        case _:
            raise Unrenderable


def _number_text(value: Decimal) -> str:
    if value == value.to_integral_value() and value.adjusted() < 400:
        return str(int(value))
    text = format(value, "f") if -7 <= value.adjusted() < 21 else canonical_number(str(value))
    return text.rstrip("0") if "." in text and "e" not in text else text


@dataclass(frozen=True, slots=True)
class Resolved:
    """What a schema says of a selector: whether it leads to scalars, and what else could have been meant."""

    found: bool
    scalar: bool
    names: tuple[str, ...]
    """The names known where it got lost (or at the top)."""
    default: Json = None
    has_default: bool = False


def resolve(selector: Selector, schema: Json) -> Resolved:
    """Look a selector up in a locked schema: `properties`, `items`, every branch of combinators, local references."""
    current = list(_branches([schema], schema))
    default: tuple[Json] | None = None
    for index, part in enumerate(selector.parts):
        holders = current if index == 0 else list(_branches(_through_lists(current, schema), schema))
        found = [child for holder in holders for child in _member(holder, part.name)]
        if not found:
            return Resolved(found=False, scalar=False, names=_names(holders))
        current = list(_branches(found, schema))
        default = _default(current) if len(selector.parts) == 1 else None
        for _ in range(part.lists):
            items = list(_items(current))
            if not items:
                return Resolved(found=False, scalar=False, names=(_without_brackets(selector),))
            current = list(_branches(items, schema))
    ends = list(_branches(_through_lists(current, schema), schema))
    scalar = any(_is_scalar(end) for end in ends)
    below = tuple(f"{selector.text}.{name}" for name in _names(ends))
    return Resolved(
        found=True, scalar=scalar, names=below, default=default[0] if default else None, has_default=bool(default)
    )


def _without_brackets(selector: Selector) -> str:
    return selector.text.replace("[]", "")


def _default(branches: Sequence[Json]) -> tuple[Json] | None:
    for branch in branches:
        if isinstance(branch, dict) and "default" in branch:
            return (branch["default"],)
    return None


def branches(schema: Json) -> Iterator[dict[str, Json]]:
    """A root schema and every subschema that may apply to the same value, references followed."""
    return (branch for branch in _branches([schema], schema) if isinstance(branch, dict))


def _branches(schemas: Sequence[Json], root: Json) -> Iterator[Json]:
    """The schemas, and all that apply to the same value: combinators' branches and local references."""
    pending, seen = list(schemas), set[int]()
    while pending and len(seen) < _MAX_VISITED:
        schema = pending.pop(0)
        if not isinstance(schema, dict):
            yield schema
            continue
        if id(schema) in seen:
            continue
        seen.add(id(schema))
        yield schema
        pending += list(_applied(schema, root))


def _applied(schema: Mapping[str, Json], root: Json) -> Iterator[Json]:
    for keyword in ("allOf", "anyOf", "oneOf"):
        branches = schema.get(keyword)
        if isinstance(branches, list):
            yield from branches
    for keyword in ("if", "then", "else"):
        if keyword in schema:
            yield schema[keyword]
    dependent = schema.get("dependentSchemas")
    if isinstance(dependent, dict):
        yield from dependent.values()
    ref = schema.get("$ref")
    pointer = local_reference(ref) if isinstance(ref, str) else None
    if pointer is not None:
        try:
            yield resolve_pointer(root, pointer)
        except KeyError:
            return


def _through_lists(schemas: Sequence[Json], root: Json) -> list[Json]:
    """The schemas and those of the items of lists among them, lists in lists too."""
    reached = {id(schema): schema for schema in schemas}
    pending = list(schemas)
    while pending and len(reached) < _MAX_VISITED:
        pending = [child for child in _branches(list(_items(pending)), root) if id(child) not in reached]
        reached.update((id(child), child) for child in pending)
    return list(reached.values())


def _items(schemas: Sequence[Json]) -> Iterator[Json]:
    for schema in schemas:
        if not isinstance(schema, dict):
            continue
        for keyword in ("items", "prefixItems"):
            value = schema.get(keyword)
            if isinstance(value, list):
                yield from value
            elif isinstance(value, dict):
                yield value
        if schema.get("type") == "array" and not isinstance(schema.get("items"), (dict, list)):
            yield True


def _member(schema: Json, name: str) -> Iterator[Json]:
    if schema is True:
        yield True
    if not isinstance(schema, dict):
        return
    properties = schema.get("properties")
    if isinstance(properties, dict) and name in properties:
        yield properties[name]
        return
    extra = schema.get("additionalProperties")
    if isinstance(extra, dict) or extra is True:
        yield extra


def _names(schemas: Sequence[Json]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for schema in schemas:
        properties = schema.get("properties") if isinstance(schema, dict) else None
        if isinstance(properties, dict):
            found.update(dict.fromkeys(properties))
    return tuple(sorted(found))[:_MAX_LISTED]


_STRUCTURE: Final = ("properties", "items", "prefixItems", "anyOf", "oneOf", "allOf", "$ref")
_SCALARS: Final = frozenset({"string", "number", "integer", "boolean", "null"})


def _is_scalar(schema: Json) -> bool:
    if not isinstance(schema, dict):
        return schema is True
    types = schema.get("type")
    if types is None:
        return not any(keyword in schema for keyword in _STRUCTURE)
    kinds = types if isinstance(types, list) else [types]
    return any(isinstance(kind, str) and kind in _SCALARS for kind in kinds)
