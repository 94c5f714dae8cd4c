"""What a property's schema means on a command line: a view of the schema, which itself stays untouched (T-P1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from homeport.ground.exact import Json
from homeport.surface.weight import local_reference, resolve_pointer

Scalar: TypeAlias = Literal["string", "integer", "number", "boolean"]
Fidelity: TypeAlias = Literal["exact", "checked", "json"]

_SCALARS: Final[Sequence[Scalar]] = ("string", "integer", "number", "boolean")
_MAX_REFERENCES: Final = 16
_ANNOTATIONS: Final = frozenset(
    {
        *("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"),
        *("$comment", "$schema", "format"),
    }
)
_EXPRESSED: Final = _ANNOTATIONS | {"type", "enum", "items"}


@dataclass(frozen=True, slots=True)
class Shape:
    """How the text of a flag becomes a value.

    `types` are the scalars it may be, tried in the order integer, number, boolean, string. `json`: it is written as
    JSON (`object`, `array`) or as either (`any`: JSON when it is JSON, else text).
    """

    types: tuple[Scalar, ...] = ()
    json: Literal["", "object", "array", "any"] = ""
    listed: bool = False
    """Repeatable: the shape is that of one item, and one JSON array gives them all."""
    nullable: bool = False
    choices: tuple[Json, ...] = ()
    constant: tuple[Json, ...] = ()
    """The one value of a `const`, as a tuple of one; else empty."""
    fidelity: Fidelity = "exact"


ANY: Final = Shape(json="any", nullable=True, fidelity="json")


def shape_of(schema: Json, root: Json) -> Shape | None:
    """The shape of a property; None for `false`, which accepts nothing."""
    if schema is False:
        return None
    effective = flattened(schema, root)
    return ANY if effective is None else _shape(effective, root)


def flattened(schema: Json, root: Json) -> Mapping[str, Json] | None:
    """The schema with local references followed and compatible `allOf` merged; None where that is not possible."""
    for _ in range(_MAX_REFERENCES):
        if not isinstance(schema, dict):
            return None
        if "$ref" in schema:
            target = _target(schema["$ref"], root)
            siblings = {key: value for key, value in schema.items() if key != "$ref"}
            merged = _merged([target, siblings]) if isinstance(target, dict) else None
        elif "allOf" in schema:
            branches = schema["allOf"]
            rest: Json = {key: value for key, value in schema.items() if key != "allOf"}
            merged = _merged([*branches, rest]) if isinstance(branches, list) else None
        else:
            return schema
        if merged is None:
            return None
        schema = merged
    return None


def _target(ref: Json, root: Json) -> Json:
    pointer = local_reference(ref) if isinstance(ref, str) else None
    if pointer is None:
        return None
    try:
        return resolve_pointer(root, pointer)
    except KeyError:
        return None


def _merged(schemas: Sequence[Json]) -> dict[str, Json] | None:
    """All members together; None when two disagree on more than an annotation."""
    merged: dict[str, Json] = {}
    for schema in schemas:
        if not isinstance(schema, dict):
            return None
        for key, value in schema.items():
            if key in merged and merged[key] != value and key not in _ANNOTATIONS:
                return None
            merged[key] = value
    return merged


def _shape(schema: Mapping[str, Json], root: Json) -> Shape:
    if "const" in schema:
        return Shape(json="any", constant=(schema["const"],))
    fidelity: Fidelity = "exact" if set(schema) <= _EXPRESSED else "checked"
    for keyword in ("anyOf", "oneOf"):
        branches = schema.get(keyword)
        if isinstance(branches, list):
            shape = _alternatives(branches, root)
            return replace(shape, fidelity="json" if shape.json else "checked") if keyword == "oneOf" else shape
    choices = schema.get("enum")
    if isinstance(choices, list):
        return _choices(choices, fidelity)
    return replace(_typed(schema, root), fidelity=_worse(fidelity, _typed(schema, root).fidelity))


def _worse(left: Fidelity, right: Fidelity) -> Fidelity:
    order: Mapping[Fidelity, int] = {"exact": 0, "checked": 1, "json": 2}
    return left if order[left] >= order[right] else right


def _choices(members: Sequence[Json], fidelity: Fidelity) -> Shape:
    nullable = None in members
    rest = tuple(member for member in members if member is not None)
    types = {_type_of(member) for member in rest}
    if not rest or "" in types:
        return Shape(json="any", nullable=nullable, choices=rest, fidelity="json")
    return Shape(_ordered(types), nullable=nullable, choices=rest, fidelity=fidelity)


def _type_of(value: Json) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, str):
        return "string"
    return "" if value is None or isinstance(value, (list, dict)) else "number"


def _ordered(types: set[str]) -> tuple[Scalar, ...]:
    return tuple(scalar for scalar in _SCALARS if scalar in types)


def _typed(schema: Mapping[str, Json], root: Json) -> Shape:
    declared = schema.get("type")
    types = declared if isinstance(declared, list) else [declared]
    nullable = "null" in types
    kinds = {kind for kind in types if isinstance(kind, str) and kind != "null"}
    if not kinds:
        return ANY if declared is None else Shape(json="any", nullable=nullable, fidelity="json")
    if kinds <= set(_SCALARS):
        return Shape(_ordered(kinds), nullable=nullable)
    if kinds == {"array"}:
        return replace(_listed(schema, root), nullable=nullable)
    if kinds == {"object"}:
        return Shape(json="object", nullable=nullable, fidelity="json")
    return Shape(_ordered(kinds), json="any", nullable=nullable, fidelity="json")


_WHOLE: Final = Shape(json="array", fidelity="json")


def _listed(schema: Mapping[str, Json], root: Json) -> Shape:
    items = schema.get("items")
    if "prefixItems" in schema or not isinstance(items, dict):
        return _WHOLE
    item = shape_of(items, root)
    if item is None or item.listed or item.constant or item.json in {"array", "any"}:
        return _WHOLE
    return replace(item, listed=True)


def _alternatives(branches: Sequence[Json], root: Json) -> Shape:
    """`[T, null]` is a nullable T; several scalars are a union; anything else is JSON or text."""
    shapes: list[Shape] = []
    nullable = False
    for branch in branches:
        effective = flattened(branch, root)
        if effective is not None and effective.get("type") == "null":
            nullable = True
            continue
        shape = None if effective is None else _shape(effective, root)
        shapes.append(ANY if shape is None else shape)
    if not shapes:
        return ANY
    if len(shapes) == 1:
        return replace(shapes[0], nullable=nullable or shapes[0].nullable)
    nullable = nullable or any(shape.nullable for shape in shapes)
    types = _ordered({scalar for shape in shapes for scalar in shape.types})
    plain = all(shape.types and not shape.listed and not shape.json for shape in shapes)
    if plain and not any(shape.choices for shape in shapes):
        return Shape(types, nullable=nullable, fidelity="checked")
    texts = any("string" in shape.types and not shape.listed for shape in shapes)
    return Shape(("string",) if texts else (), json="any", nullable=nullable, fidelity="json")
