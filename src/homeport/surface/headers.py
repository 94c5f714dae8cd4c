"""`x-mcp-header` (2026-07-28, server/tools): arguments that are mirrored into `Mcp-Param-<name>` headers."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Final

from homeport.ground.exact import Json
from homeport.surface.schemas import Value

KEYWORD: Final = "x-mcp-header"
_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_PLAIN: Final = re.compile(r"[\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?")
_PRIMITIVE: Final = frozenset({"string", "integer", "boolean"})
MAX_SAFE_INTEGER: Final = 2**53 - 1

Path = tuple[str, ...]


def header_fault(schema: Json) -> tuple[str, str] | None:
    """`(code, reason)` for a schema whose annotations break the specification, or None."""
    reachable = dict(_annotated(schema, ()))
    if _count(schema) != len(reachable):
        return "tool.header", f"{KEYWORD} stands where it cannot be reached by `properties` alone"
    seen: set[str] = set()
    for path, (name, types) in reachable.items():
        where = ".".join(path)
        if not isinstance(name, str) or not _TOKEN.fullmatch(name):
            return "tool.header", f"{KEYWORD} of {where} is not a header name"
        if name.lower() in seen:
            return "tool.header", f"{KEYWORD} {name} is used twice"
        if types not in _PRIMITIVE:
            return "tool.header", f"{KEYWORD} of {where} is on a value that is no string, integer or boolean"
        seen.add(name.lower())
    return None


def header_paths(schema: Json) -> tuple[tuple[str, Path], ...]:
    """`(header name, path of the argument)` of every annotation in a schema without a fault."""
    return tuple((f"Mcp-Param-{name}", path) for path, (name, _) in _annotated(schema, ()))


def header_values(paths: tuple[tuple[str, Path], ...], arguments: Value) -> tuple[tuple[str, str], ...]:
    """The header fields of one call; an argument that is absent or no primitive has none."""
    fields: list[tuple[str, str]] = []
    for name, path in paths:
        value = arguments
        for part in path:
            value = value.get(part) if isinstance(value, dict) else None
        text = _text(value)
        if text is not None:
            fields.append((name, encoded(text)))
    return tuple(fields)


def encoded(text: str) -> str:
    """A header value: as it is when it is plain ASCII, else in the `=?base64?…?=` form."""
    sentinel = text.startswith("=?base64?") and text.endswith("?=")
    if (not text or _PLAIN.fullmatch(text)) and not sentinel:
        return text
    return f"=?base64?{base64.b64encode(text.encode('utf-8', 'surrogatepass')).decode('ascii')}?="


def _text(value: Value) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return str(int(value)) if value == value.to_integral_value() and abs(value) <= MAX_SAFE_INTEGER else None
    if isinstance(value, int):
        return str(value) if abs(value) <= MAX_SAFE_INTEGER else None
    return value if isinstance(value, str) else None


def _annotated(schema: Json, path: Path) -> Iterator[tuple[Path, tuple[Json, Json]]]:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict):
        return
    for name, child in properties.items():
        if isinstance(child, dict):
            if KEYWORD in child:
                yield (*path, name), (child[KEYWORD], _single_type(child))
            yield from _annotated(child, (*path, name))


def _single_type(schema: Mapping[str, Json]) -> Json:
    types = schema.get("type")
    if isinstance(types, list):
        rest = [kind for kind in types if kind != "null"]
        return rest[0] if len(rest) == 1 else None
    return types


_NOT_SCHEMAS: Final = frozenset({"default", "const", "enum", "examples"})
_OF_NAMES: Final = frozenset({"properties", "patternProperties", "$defs", "definitions"})


def _count(value: Json, *, names: bool = False) -> int:
    """How often the annotation stands in a schema; members of `properties` are names, not keywords."""
    if isinstance(value, list):
        return sum(_count(item) for item in value)
    if not isinstance(value, dict):
        return 0
    total = 0 if names or KEYWORD not in value else 1
    for key, child in value.items():
        if names or key not in _NOT_SCHEMAS:
            total += _count(child, names=not names and key in _OF_NAMES)
    return total
