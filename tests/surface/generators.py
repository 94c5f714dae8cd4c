"""Schemas with every keyword of surface.md 4.2, and values that are valid under them by construction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from homeport.ground.exact import Number

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6)
NAMES = st.sampled_from(
    [
        "owner",
        "repoName",
        "repo_name",
        "query",
        "help",
        "args",
        "no_cache",
        "cache",
        "func",
        "$filter",
        "имя",
        "a.b",
        "x",
    ]
) | st.text(st.characters(codec="ascii", min_codepoint=33, max_codepoint=126), min_size=1, max_size=8)
ANNOTATED = st.fixed_dictionaries(
    {},
    optional={
        "title": TEXT, "description": TEXT, "default": st.none() | st.integers() | TEXT, "examples": st.just([1]),
        "deprecated": st.booleans(), "readOnly": st.booleans(), "format": st.just("date"), "x-vendor": TEXT,
        "$comment": TEXT,
    },
)  # fmt: skip


@dataclass(frozen=True)
class Sample:
    """A schema and one value that is valid under it."""

    schema: Any
    value: Any


@st.composite
def scalars(draw: st.DrawFn) -> Sample:
    """One value that a flag of its own can express, under a schema that bounds it."""
    kind = draw(st.sampled_from(["string", "integer", "number", "boolean", "enum", "const"]))
    notes = draw(ANNOTATED)
    if kind == "string":
        value: Any = draw(TEXT)
        bounds = draw(st.sampled_from([{}, {"minLength": len(value)}, {"maxLength": len(value)}, {"pattern": "^"}]))
        return Sample({"type": "string", **bounds, **notes}, value)
    if kind == "integer":
        value = draw(st.integers(-(2**70), 2**70))
        bound = draw(st.sampled_from(["minimum", "maximum", "x-none"]))
        return Sample({"type": "integer", bound: value, "multipleOf": 1, **notes}, value)
    if kind == "number":
        text = draw(st.from_regex(r"-?(0|[1-9][0-9]{0,5})\.[0-9]{1,20}", fullmatch=True))
        return Sample({"type": "number", "exclusiveMaximum": 10**9, **notes}, Number(text))
    if kind == "boolean":
        return Sample({"type": "boolean", **notes}, draw(st.booleans()))
    value = draw(TEXT | st.integers() | st.booleans())
    if kind == "enum":
        return Sample({"enum": draw(st.permutations([value, "other", 7])), **notes}, value)
    return Sample({"const": value, **notes}, value)


def wrapped(inner: st.SearchStrategy[Sample]) -> st.SearchStrategy[Sample]:
    """Lists, objects, nullables, unions and references around smaller samples."""

    @st.composite
    def build(draw: st.DrawFn) -> Sample:
        item = draw(inner)
        notes = draw(ANNOTATED)
        kind = draw(st.sampled_from(["list", "tuple", "object", "map", "nullable", "anyOf", "allOf", "if", "null"]))
        count = draw(st.integers(0, 2))
        match kind:
            case "list":
                return Sample({"type": "array", "items": item.schema, "maxItems": 2, **notes}, [item.value] * count)
            case "tuple":
                return Sample({"type": "array", "prefixItems": [item.schema, True], "contains": {}}, [item.value])
            case "object":
                return Sample(
                    {
                        "type": "object",
                        "properties": {"a": item.schema},
                        "required": ["a"],
                        "unevaluatedProperties": False,
                    },
                    {"a": item.value},
                )
            case "map":
                return Sample(
                    {"type": "object", "additionalProperties": item.schema, "minProperties": 1}, {"k": item.value}
                )
            case "nullable":
                return Sample(
                    {"anyOf": [item.schema, {"type": "null"}], **notes}, draw(st.sampled_from([None, item.value]))
                )
            case "anyOf":
                return Sample({"anyOf": [item.schema, {"type": "array", "uniqueItems": True}]}, item.value)
            case "allOf":
                return Sample({"allOf": [item.schema, {"not": {"const": "never this"}}]}, item.value)
            case "if":
                return Sample({"if": item.schema, "then": True, "else": False}, item.value)
            case _:
                return Sample({"type": ["string", "null"], **notes}, None)

    return build()


SAMPLES = st.recursive(scalars(), wrapped, max_leaves=4)


@st.composite
def roots(draw: st.DrawFn, of: st.SearchStrategy[Sample] = SAMPLES) -> Sample:
    """An input schema and valid arguments, with properties, definitions and constraints at the root."""
    members = draw(st.dictionaries(NAMES, of, max_size=4))
    given = draw(st.sets(st.sampled_from(sorted(members)))) if members else set[str]()
    schema: dict[str, Any] = {"type": "object", "properties": {name: sample.schema for name, sample in members.items()}}
    if given and draw(st.booleans()):
        schema["required"] = sorted(given)
    extra: dict[str, Any] = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "$schema": st.just("https://json-schema.org/draft/2020-12/schema"),
                "additionalProperties": st.just(False), "$defs": st.just({"n": {"type": "integer"}}),
                "minProperties": st.just(0), "dependentRequired": st.just({}), "title": TEXT,
                "patternProperties": st.just({"^zz": True}), "allOf": st.just([True]), "x-root": TEXT,
            },
        )
    )  # fmt: skip
    return Sample({**schema, **extra}, {name: members[name].value for name in sorted(given)})
