"""How one schema became another, keyword by keyword, each change with its class. What is not understood is breaking."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Literal

from homeport.ground import exact
from homeport.ground.exact import Json, Number

Severity = Literal["breaking", "widening", "text", "hint", "meta"]


@dataclass(frozen=True, slots=True)
class Change:
    """One change within a part of a definition."""

    severity: Severity
    path: str
    text: str
    before: Json = None
    after: Json = None


_TEXT: Final = frozenset(
    {"title", "description", "examples", "default", "$comment", "deprecated", "readOnly", "writeOnly"}
)
_LOWER: Final = frozenset({"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains"})
_UPPER: Final = frozenset({"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains"})
_ONE: Final = frozenset(
    {
        *("items", "additionalProperties", "unevaluatedProperties", "unevaluatedItems", "contains", "propertyNames"),
        *("not", "if", "then", "else", "contentSchema"),
    }
)
_MANY: Final = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_NAMED: Final = frozenset({"$defs", "definitions", "patternProperties", "dependentSchemas"})
_CLOSING: Final = frozenset({"additionalProperties", "unevaluatedProperties", "unevaluatedItems"})


def schema_changes(was: Json, now: Json, path: str = "") -> Iterator[Change]:
    """Every change between two schemas at a path; the order of `required`, `type` and of members is none."""
    if _equal(was, now):
        return
    if not isinstance(was, dict) or not isinstance(now, dict):
        yield Change(_boolean(was, now), path, "the schema is replaced", was, now)
        return
    for keyword in sorted({*was, *now}):
        if keyword in was and keyword in now and _equal(was[keyword], now[keyword]):
            continue
        yield from _keyword(keyword, was, now, path)


def _boolean(was: Json, now: Json) -> Severity:
    opened = now is True or now == {} or was is False
    return "widening" if opened else "breaking"


def _keyword(keyword: str, was: Mapping[str, Json], now: Mapping[str, Json], path: str) -> Iterator[Change]:
    before, after = was.get(keyword), now.get(keyword)
    if keyword == "properties":
        yield from _properties(was, now, path)
    elif keyword == "required":
        yield from _required(was, now, path)
    elif keyword in _RULES:
        yield from _RULES[keyword](before, after, path)
    elif keyword in _TEXT:
        yield Change("text", path, f"the {keyword} {_verb(keyword, was, now)}", before, after)
    elif keyword in _LOWER or keyword in _UPPER:
        yield _bound(keyword, before, after, path)
    elif keyword in _CLOSING and not (isinstance(before, dict) and isinstance(after, dict)):
        yield _closing(keyword, before, after, path)
    elif keyword in _ONE and keyword in was and keyword in now:
        yield from schema_changes(before, after, _join(path, keyword))
    elif keyword in _MANY and isinstance(before, list) and isinstance(after, list):
        yield from _branches(keyword, before, after, path)
    elif keyword in _NAMED and isinstance(before, (dict, type(None))) and isinstance(after, (dict, type(None))):
        yield from _named(keyword, before or {}, after or {}, path)
    elif keyword.startswith("x-"):
        yield Change("meta", path, f"`{keyword}` {_verb(keyword, was, now)}", before, after)
    else:
        severity: Severity = "widening" if keyword not in now else "breaking"
        yield Change(severity, path, f"`{keyword}` {_verb(keyword, was, now)}", before, after)


def _verb(keyword: str, was: Mapping[str, Json], now: Mapping[str, Json]) -> str:
    return "is new" if keyword not in was else "is gone" if keyword not in now else "changed"


def _join(path: str, part: str) -> str:
    return f"{path}.{part}" if path else part


def _equal(left: Json, right: Json) -> bool:
    return exact.canonical(left) == exact.canonical(right)


def _properties(was: Mapping[str, Json], now: Mapping[str, Json], path: str) -> Iterator[Change]:
    before, after = was.get("properties"), now.get("properties")
    old = before if isinstance(before, dict) else {}
    new = after if isinstance(after, dict) else {}
    required = now.get("required")
    needed = {name for name in required if isinstance(name, str)} if isinstance(required, list) else set[str]()
    for name in sorted({*old, *new}):
        where = _join(path, name)
        if name not in new:
            yield Change("breaking", where, "the property is gone", old[name])
        elif name not in old:
            must = name in needed
            text = f"a new {'required' if must else 'optional'} property"
            yield Change("breaking" if must else "widening", where, text, None, new[name])
        else:
            yield from schema_changes(old[name], new[name], where)


def _strings(value: Json) -> frozenset[str]:
    members = value if isinstance(value, list) else [] if value is None else [value]
    return frozenset(member if isinstance(member, str) else exact.dumps(member) for member in members)


def _required(was: Mapping[str, Json], now: Mapping[str, Json], path: str) -> Iterator[Change]:
    old, new = _strings(was.get("required")), _strings(now.get("required"))
    for name in sorted(new - old):
        if _described(now, name) and not _described(was, name):
            continue  # told as a new property
        yield Change("breaking", _join(path, name), "is required now")
    for name in sorted(old - new):
        if _described(was, name) and not _described(now, name):
            continue  # told as a property that is gone
        yield Change("widening", _join(path, name), "is no longer required")


def _described(schema: Mapping[str, Json], name: str) -> bool:
    properties = schema.get("properties")
    return isinstance(properties, dict) and name in properties


def _types(before: Json, after: Json, path: str) -> Iterator[Change]:
    old, new = _strings(before), _strings(after)
    if old != new:
        wider = not new or (bool(old) and old < new)
        yield Change("widening" if wider else "breaking", path, "the type changed", before, after)


def _enum(before: Json, after: Json, path: str) -> Iterator[Change]:
    old, new = _keys(before), _keys(after)
    gone = [value for key, value in old.items() if key not in new]
    came = [value for key, value in new.items() if key not in old]
    if before is None or (gone and after is not None):
        text = "only these are accepted" if before is None else "choices are gone"
        yield Change("breaking", path, text, gone or None, came or None)
    if after is None:
        yield Change("widening", path, "any value is accepted, not only these", before)
    elif came and before is not None:
        yield Change("widening", path, "choices are new", None, came)
    if not gone and not came and before is not None and after is not None:
        yield Change("text", path, "the choices are in another order", before, after)


def _keys(value: Json) -> dict[bytes, Json]:
    return {exact.canonical(member): member for member in value} if isinstance(value, list) else {}


def _dependent(before: Json, after: Json, path: str) -> Iterator[Change]:
    old = before if isinstance(before, dict) else {}
    new = after if isinstance(after, dict) else {}
    for name in sorted({*old, *new}):
        was, now = _strings(old.get(name)), _strings(new.get(name))
        if now - was:
            yield Change("breaking", _join(path, name), f"needs {', '.join(sorted(now - was))} beside it now")
        if was - now:
            yield Change("widening", _join(path, name), f"no longer needs {', '.join(sorted(was - now))} beside it")


_RULES: Final[Mapping[str, Callable[[Json, Json, str], Iterator[Change]]]] = {
    "type": _types,
    "enum": _enum,
    "dependentRequired": _dependent,
}


def _number(value: Json) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, (int, Number)):
        return None
    return Decimal(value.text) if isinstance(value, Number) else Decimal(value)


def _bound(keyword: str, before: Json, after: Json, path: str) -> Change:
    old, new = _number(before), _number(after)
    if after is None:
        return Change("widening", path, f"the {keyword} is gone", before)
    if old is None or new is None:
        return Change("breaking", path, f"a new {keyword}", before, after)
    tighter = new > old if keyword in _LOWER else new < old
    word = "tighter" if tighter else "looser"
    return Change("breaking" if tighter else "widening", path, f"the {keyword} is {word}", before, after)


def _closing(keyword: str, before: Json, after: Json, path: str) -> Change:
    opened = before is False or after is True or after is None
    text = f"`{keyword}` opens it" if opened else f"`{keyword}` closes it"
    return Change("widening" if opened else "breaking", path, text, before, after)


def _branches(keyword: str, before: list[Json], after: list[Json], path: str) -> Iterator[Change]:
    for index, (old, new) in enumerate(zip(before, after, strict=False)):
        yield from schema_changes(old, new, _join(path, f"{keyword}[{index}]"))
    more_is_wider = keyword in {"anyOf", "oneOf"}
    for index in range(len(after), len(before)):
        severity: Severity = "breaking" if more_is_wider else "widening"
        yield Change(severity, _join(path, f"{keyword}[{index}]"), "a branch is gone", before[index])
    for index in range(len(before), len(after)):
        severity = "widening" if more_is_wider else "breaking"
        yield Change(severity, _join(path, f"{keyword}[{index}]"), "a branch is new", None, after[index])


def _named(keyword: str, before: Mapping[str, Json], after: Mapping[str, Json], path: str) -> Iterator[Change]:
    for name in sorted({*before, *after}):
        where = _join(path, f"{keyword}.{name}")
        if name not in after:
            yield Change("breaking", where, "a definition is gone", before[name])
        elif name not in before:
            yield Change("widening", where, "a definition is new", None, after[name])
        else:
            yield from schema_changes(before[name], after[name], where)
