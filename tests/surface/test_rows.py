"""Rows of surface.md section 13 that need a document of their own: 37, 118, 123."""

from __future__ import annotations

import pytest
from tests.surface.fixtures import ALL, granted, properties, rule, surface, tool, view

from homeport.ground import exact
from homeport.ground.exact import Json
from homeport.surface.drift import compare
from homeport.surface.lock import dump, parse

EVERY_KEYWORD = """{
"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "urn:example:every", "$comment": "every keyword",
"title": "Every keyword", "type": "object", "x-root": {"z": 1, "a": [1.0, 1e2]}, "minProperties": 0,
"maxProperties": 90,
"$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}, "name": {"type": "string"}},
"properties": {
  "s1": {"type": "string", "minLength": 1, "maxLength": 9, "pattern": "^a", "format": "date", "examples": ["a"]},
  "s2": {"type": "integer", "minimum": -9007199254740993, "exclusiveMaximum": 9007199254740993, "multipleOf": 2},
  "s3": {"type": "number", "exclusiveMinimum": 0.10, "maximum": 1e400, "default": 1.50},
  "s4": {"type": "boolean", "default": true, "deprecated": true, "readOnly": false, "writeOnly": true},
  "s5": {"type": "array", "items": {"type": "string", "enum": ["b", "a"]}, "minItems": 0, "maxItems": 3},
  "s7": {"type": "array", "items": {"type": "boolean"}, "uniqueItems": true, "contains": {"const": true}},
  "s8": {"type": "array"}, "s8b": {"type": "array", "items": true},
  "s10": {"type": "array", "items": {"type": "array", "items": {"type": "number"}}},
  "s11": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": false},
  "s12": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
  "s13": {"type": "object", "additionalProperties": {"type": "string"}, "propertyNames": {"pattern": "^x"}},
  "s16": {"enum": [1, 2, "x", null]}, "s17": {"type": ["string", "null"], "enum": ["a", null]},
  "s18": {"const": "v1"}, "s20": {"type": ["string", "integer"]},
  "s21": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
  "s23": {"oneOf": [{"type": "object", "properties": {"k": {"const": "a"}}}, {"type": "object"}]},
  "s24": {"allOf": [{"type": "string"}, {"minLength": 2}]}, "s25": {"$ref": "#/$defs/name", "description": "a name"},
  "s26": {"$ref": "#/$defs/node"}, "s28": {}, "s28b": true, "s29": false, "s46": {"not": {"type": "null"}},
  "s41": {"type": "string", "x-mcp-header": "Region", "x-other": null}
},
"required": ["s1", "ghost"], "additionalProperties": false, "dependentRequired": {"s2": ["s3"]},
"dependentSchemas": {"s3": {"required": ["s2"]}}, "if": {"required": ["s4"]}, "then": {"required": ["s5"]}, "else": {},
"anyOf": [{"required": ["s1"]}, {"required": ["s2"]}], "oneOf": [{}], "allOf": [{"type": "object"}],
"patternProperties": {"^s": true}, "unevaluatedProperties": false
}"""


def test_a_schema_with_every_keyword_is_served_as_it_came() -> None:
    """surface-123"""
    schema = exact.loads(EVERY_KEYWORD)
    found = parse(dump(surface(tool("t", schema))))
    assert not found.quarantined
    served = granted(view(ALL, tracker=found), "t").definition["inputSchema"]
    assert exact.canonical(served) == exact.canonical(schema)
    assert exact.dumps(served) == exact.dumps(schema), "members in their order, numbers as they were written"


def test_what_a_library_would_fill_in_is_no_part_of_a_lock() -> None:
    """surface-37: hints that a server does not send stay absent, so no library's defaults can look like drift."""
    definition: Json = tool("t", properties(), annotations={"readOnlyHint": True}, execution={"x": 1}, icons=[])
    locked = parse(dump(surface(definition)))
    assert locked.tools["t"].definition == definition
    assert compare(locked, surface(exact.loads(exact.dumps(definition)))) == []


@pytest.mark.parametrize(
    ("lines", "default", "refused"),
    [
        pytest.param('deny = { mode = "^fast$" }', "fast", False, id="surface-118"),
        pytest.param('allow = { mode = "^slow$" }', "fast", True, id="surface-118 an allow rule covers absence"),
        pytest.param('allow = { mode = "^fast$" }', "fast", False, id="surface-118 a default that passes"),
    ],
)
def test_a_rule_judges_what_is_sent_and_a_default_is_not_sent(lines: str, default: str, *, refused: bool) -> None:
    definition = tool("t", properties(mode={"type": "string", "default": default}))
    sent, problem = granted(view(rule(lines, "t"), definition), "t").check(b"{}")
    assert (problem is not None) is refused
    assert sent == b"{}"
