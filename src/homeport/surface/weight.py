"""How much work a schema can cause, found by walking it once: a bound for what strangers send.

Validation visits every subschema that applies to a value, so three things must be bounded: how many there are, how
many apply to *one* value once local references are followed, and, where a schema refers to itself, how that number
multiplies with each level of the value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from homeport.ground.exact import Json

MAX_SUBSCHEMAS: Final = 10_000
MAX_VALUES: Final = 200_000
MAX_DEPTH: Final = 64
MAX_APPLIED: Final = 20_000
"""Subschemas that apply to one value, references followed."""
MAX_VISITS: Final = 1_000_000
"""What the levels of a value may multiply to in a schema that refers to itself more than once."""

MAX_STEPS: Final = 500_000
"""Of the walk itself."""

_IN_PLACE_LISTS: Final = ("allOf", "anyOf", "oneOf")
_IN_PLACE: Final = ("not", "if", "then", "else")
_ITEM: Final = ("items", "additionalItems", "contains", "unevaluatedItems")
_MEMBER: Final = ("additionalProperties", "unevaluatedProperties")
_NAMED: Final = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")

Pointer = tuple[str, ...]


class Unusable(Exception):
    """A schema that is not used: `code` is stable (`schema.*`), the text says what is wrong and where."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text


@dataclass(slots=True)
class _Node:
    schema: Mapping[str, Json]
    in_place: list[Pointer]
    inner: list[tuple[str, Pointer]]
    """`(which values of the instance, subschema)`."""


def max_instance_depth(root: Json) -> int | None:
    """How deep a value may be for this schema; None: as deep as any message.

    Raises `Unusable`: `schema.too_large`, `schema.too_deep`, `schema.reference` (one that leaves the document or
    leads nowhere), `schema.endless` (a reference that leads back to itself without consuming any of the value).
    """
    nodes = _Walk(root).nodes
    applied: dict[Pointer, int] = {}
    for pointer in nodes:
        _count_applied(pointer, nodes, applied, [])
    factor = _growth(nodes)
    if factor < 2:
        return None
    depth, visits = 0, 1
    while visits * factor <= MAX_VISITS:
        visits, depth = visits * factor, depth + 1
    return depth


def resolve_pointer(root: Json, pointer: Pointer) -> Json:
    """The value at a JSON pointer given as unescaped parts. Raises `KeyError`."""
    current = root
    for part in pointer:
        if isinstance(current, dict) and part in current:
            current = current[part]
        elif isinstance(current, list) and part.isdecimal() and int(part) < len(current):
            current = current[int(part)]
        else:
            raise KeyError(part)
    return current


def local_reference(ref: str) -> Pointer | None:
    """The parts of `#` or `#/a/b`; None for a reference of any other form."""
    from urllib.parse import unquote

    if ref == "#":
        return ()
    if not ref.startswith("#/"):
        return None
    return tuple(unquote(part).replace("~1", "/").replace("~0", "~") for part in ref[2:].split("/"))


class _Walk:
    """Collects every subschema by its pointer."""

    def __init__(self, root: Json) -> None:
        self.root = root
        self.nodes: dict[Pointer, _Node] = {}
        self.anchors = _anchors(root)
        pending: list[Pointer] = [()]
        while pending:
            pointer = pending.pop()
            if pointer in self.nodes:
                continue
            if len(self.nodes) >= MAX_SUBSCHEMAS:
                raise Unusable("schema.too_large", f"the schema has more than {MAX_SUBSCHEMAS} subschemas")
            node = self._node(pointer)
            self.nodes[pointer] = node
            pending += node.in_place
            pending += [inner for _, inner in node.inner]

    def _node(self, pointer: Pointer) -> _Node:
        if len(pointer) > 2 * MAX_DEPTH:
            raise Unusable("schema.too_deep", f"the schema is nested deeper than {MAX_DEPTH} levels")
        schema = resolve_pointer(self.root, pointer)
        if not isinstance(schema, dict):
            return _Node({}, [], [])
        node = _Node(schema, [], [])
        for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            if keyword in schema:
                node.in_place.append(self._target(schema[keyword], pointer))
        node.in_place += [pointer + part for part in _in_place(schema)]
        node.inner = [(which, pointer + part) for which, part in _inner(schema)]
        return node

    def _target(self, ref: Json, pointer: Pointer) -> Pointer:
        where = "/".join(pointer) or "the root"
        if not isinstance(ref, str):
            raise Unusable("schema.invalid", f"a $ref at {where} is not a string")
        target = local_reference(ref)
        if target is None and ref.startswith("#"):
            target = self.anchors.get(ref[1:])
        if target is None:
            shown = ref if len(ref) <= 80 else ref[:79] + "…"
            raise Unusable("schema.reference", f"the $ref {shown!r} at {where} leaves the schema; nothing is fetched")
        try:
            resolve_pointer(self.root, target)
        except KeyError:
            raise Unusable("schema.reference", f"the $ref {ref!r} at {where} leads nowhere") from None
        return target


def _anchors(root: Json) -> dict[str, Pointer]:
    found: dict[str, Pointer] = {}
    pending: list[tuple[Pointer, Json]] = [((), root)]
    seen = 0
    while pending:
        pointer, value = pending.pop()
        seen += len(value) if isinstance(value, (dict, list)) else 0
        if seen > MAX_VALUES:
            raise Unusable("schema.too_large", f"the schema holds more than {MAX_VALUES} values")
        if isinstance(value, dict):
            for keyword in ("$anchor", "$dynamicAnchor"):
                anchor = value.get(keyword)
                if isinstance(anchor, str):
                    found[anchor] = pointer
            pending += [((*pointer, key), child) for key, child in value.items()]
        elif isinstance(value, list):
            pending += [((*pointer, str(index)), child) for index, child in enumerate(value)]
    return found


def _in_place(schema: Mapping[str, Json]) -> Iterator[Pointer]:
    for keyword in _IN_PLACE_LISTS:
        branches = schema.get(keyword)
        if isinstance(branches, list):
            yield from ((keyword, str(index)) for index in range(len(branches)))
    yield from ((keyword,) for keyword in _IN_PLACE if keyword in schema)
    dependent = schema.get("dependentSchemas")
    if isinstance(dependent, dict):
        yield from (("dependentSchemas", name) for name in dependent)


def _inner(schema: Mapping[str, Json]) -> Iterator[tuple[str, Pointer]]:
    for keyword, every in (("properties", False), ("patternProperties", True)):
        named = schema.get(keyword)
        if isinstance(named, dict):
            yield from (("*" if every else f".{name}", (keyword, name)) for name in named)
    yield from (("*", (keyword,)) for keyword in _MEMBER if isinstance(schema.get(keyword), dict))
    for keyword in _ITEM:
        if isinstance(schema.get(keyword), dict):
            yield "[]", (keyword,)
    for keyword in ("prefixItems", "items"):
        listed = schema.get(keyword)
        if isinstance(listed, list):
            yield from ((f"[{index}]", (keyword, str(index))) for index in range(len(listed)))


def _count_applied(
    pointer: Pointer, nodes: Mapping[Pointer, _Node], done: dict[Pointer, int], above: list[Pointer]
) -> int:
    if pointer in done:
        return done[pointer]
    if pointer in above or len(above) > MAX_DEPTH * 2:
        raise Unusable("schema.endless", f"the reference at {'/'.join(pointer) or 'the root'} leads back to itself")
    above.append(pointer)
    total = 1 + sum(_count_applied(part, nodes, done, above) for part in nodes[pointer].in_place)
    above.pop()
    if total > MAX_APPLIED:
        raise Unusable("schema.too_large", f"more than {MAX_APPLIED} subschemas apply to one value")
    done[pointer] = total
    return total


def _growth(nodes: Mapping[Pointer, _Node]) -> int:
    """How many visits of subschemas that lie on a cycle one visit of such a subschema can cause, a level down."""
    cyclic = _on_cycles(nodes)
    reaching: dict[Pointer, bool] = {}
    largest = steps = 0
    for pointer in cyclic:
        counts: Counter[str] = Counter()
        for which, target in _applied_inner(pointer, nodes):
            steps += 1
            if steps > MAX_STEPS:
                raise Unusable("schema.too_large", "the schema refers to itself in too many ways to be bounded")
            if _reaches(target, nodes, cyclic, reaching):
                counts[which] += 1
        largest = max(largest, _most(counts, "*", "."), _most(counts, "[]", "["))
    return largest


def _most(counts: Counter[str], every: str, prefix: str) -> int:
    """Visits of one member (or item): what applies to every one, and to the most visited by name (or index)."""
    named = (count for which, count in counts.items() if which.startswith(prefix) and which != every)
    return counts[every] + max(named, default=0)


def _applied_inner(pointer: Pointer, nodes: Mapping[Pointer, _Node]) -> Iterator[tuple[str, Pointer]]:
    pending = [pointer]
    while pending:
        node = nodes[pending.pop()]
        yield from node.inner
        pending += node.in_place


def _reaches(
    pointer: Pointer, nodes: Mapping[Pointer, _Node], cyclic: set[Pointer], known: dict[Pointer, bool]
) -> bool:
    """Whether a subschema on a cycle applies to the same value as this one (`_count_applied` saw that it ends)."""
    if pointer not in known:
        known[pointer] = pointer in cyclic or any(
            _reaches(part, nodes, cyclic, known) for part in nodes[pointer].in_place
        )
    return known[pointer]


def _on_cycles(nodes: Mapping[Pointer, _Node]) -> set[Pointer]:
    """Subschemas that can be reached from themselves: what is left when everything without a way out, and without a
    way in, has been taken away again and again."""
    outgoing = {p: {*n.in_place, *(target for _, target in n.inner)} for p, n in nodes.items()}
    incoming: dict[Pointer, set[Pointer]] = {p: set() for p in nodes}
    for pointer, targets in outgoing.items():
        for target in targets:
            incoming[target].add(pointer)
    for ways, back in ((outgoing, incoming), (incoming, outgoing)):
        pending = [p for p, targets in ways.items() if not targets]
        while pending:
            gone = pending.pop()
            for other in back.get(gone, ()):
                ways[other].discard(gone)
                if not ways[other]:
                    pending.append(other)
            ways.pop(gone, None)
            back.pop(gone, None)
    return set(outgoing) & set(incoming)
