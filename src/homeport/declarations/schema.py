"""The JSON Schema (2020-12) of `app` and `requires`, made from the tables the parser uses.

It says what the parser says, row by row, but for one thing that a schema cannot: a `requires.version` whose bounds
exclude each other.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from homeport.declarations.kinds import LIVENESS_KEYS, LOCATION_KINDS, VERSION_KINDS, LocationKind, VersionKind
from homeport.declarations.model import GPU_VENDORS, OS_FAMILIES
from homeport.machine.versions import MAX_DIGITS

Schema: TypeAlias = "dict[str, Any]"

# Every text is trimmed before it is judged.
_B: Final = r"[ \t\r\n]*"
_NOT_CLIMBING: Final = r"(?!(?:.*[/\\])?\.\.[ \t\r\n]*(?:[/\\]|$))"
_NO_ADDRESS: Final = r"(?!.*://)"
_NO_DOUBLE_STAR: Final = r"(?!.*\*\*)"
_REFERENCE: Final = r"%[^%/\\:*?\"<>|=]+%|\$\{[A-Za-z_][A-Za-z0-9_()]*\}|\$[A-Za-z_][A-Za-z0-9_]*(?![A-Za-z0-9_])"
_VARIABLE: Final = rf"(?:{_REFERENCE}|~(?=[/\\]|{_B}$))"
_AFTER_VARIABLE: Final = r"(?![/\\][/\\])"
_DIGITS: Final = rf"[0-9]{{1,{MAX_DIGITS}}}"
_DOTTED: Final = rf"{_DIGITS}(?:\.{_DIGITS})*"
_CLAUSE: Final = rf"\s*(?:>=|<=|==|!=|>|<)\s*{_DOTTED}\s*"


def declaration_schema() -> Schema:
    """An object with `app` and `requires`, and what one asks of the other."""
    return {
        "type": "object",
        "properties": {"app": app_schema(), "requires": requires_schema()},
        "allOf": _agreement(),
    }


def app_schema() -> Schema:
    """`app`: a block for at least one operating system."""
    return {
        "type": ["object", "null"],
        "description": "How the application is found, one block an operating system.",
        "properties": {
            **{system: _block(system) for system in OS_FAMILIES},
            "title": {"type": ["string", "null"], "pattern": r"\S", "description": "How people call it."},
            "homepage": {
                "type": ["string", "null"],
                "pattern": r"^\s*https://[^\s/@?#\"'<>\\]+(?:/[^\s\"'<>\\]*)?\s*$",
                "description": "Where it can be had.",
            },
        },
        "additionalProperties": False,
        "anyOf": [{"type": "null"}, *({"required": [system]} for system in OS_FAMILIES)],
    }


def requires_schema() -> Schema:
    """`requires`: the policy."""
    vendors = [_any_case(vendor) for vendor in (*GPU_VENDORS, "apple")]
    vendor = {"type": "string", "pattern": rf"^\s*(?:{'|'.join(vendors)})\s*$"}
    return {
        "type": ["object", "null"],
        "description": "What of it must be here for the server to be offered.",
        "properties": {
            "app": {"type": "boolean", "default": False, "description": "The application must be found."},
            "min_version": {"type": ["string", "null"], "pattern": rf"^{_DOTTED}$"},
            "version": {"type": ["string", "null"], "pattern": rf"^{_CLAUSE}(?:,{_CLAUSE})*$"},
            "gpu": {
                "description": "A vendor, or several of which one must be here.",
                "anyOf": [{"type": "null"}, vendor, {"type": "array", "minItems": 1, "items": vendor}],
            },
            "running": {"type": "boolean", "default": False, "description": "It must run as well."},
        },
        "additionalProperties": False,
    }


def _any_case(word: str) -> str:
    letters = (f"[{letter}{letter.upper()}]" if letter.isalpha() else r"(?:_|[\s-]+)" for letter in word)
    return "".join(letters)


def _block(system: str) -> Schema:
    presences = ["executable", "bundle"] if system == "darwin" else ["executable"]
    versions = [kind for kind in VERSION_KINDS.values() if system in kind.systems]
    return {
        "type": "object",
        "required": ["presence", "location"],
        "properties": {
            "presence": {"enum": presences},
            "location": _location(system),
            "version": {"anyOf": [{"type": "null"}, *(_version(kind) for kind in versions)]},
            "liveness": _liveness(system),
        },
        "additionalProperties": False,
        "allOf": [*_presence_rules(system), *(_source_rule(kind) for kind in versions if kind.locations)],
    }


def _path(system: str) -> Schema:
    if system == "win32":
        rooted = rf"(?:[A-Za-z]:[/\\]|{_VARIABLE}{_AFTER_VARIABLE})"
    else:
        rooted = rf"(?:/(?!/)|{_VARIABLE}{_AFTER_VARIABLE})"
    pattern = rf"^{_B}{_NOT_CLIMBING}{_NO_ADDRESS}{_NO_DOUBLE_STAR}{rooted}"
    return {"type": "string", "pattern": pattern}


def _location(system: str) -> Schema:
    kinds = [_located(kind) for kind in LOCATION_KINDS.values() if system in kind.systems]
    one = {"anyOf": [_path(system), *kinds]}
    return {"anyOf": [*one["anyOf"], {"type": "array", "minItems": 1, "items": one}]}


def _located(kind: LocationKind) -> Schema:
    properties: Schema = {"kind": {"const": kind.name}, kind.key: _value(kind)}
    required = ["kind", kind.key]
    if kind.file != "none":
        properties["file"] = _relative()
    if kind.file == "required":
        required.append("file")
    return {
        "type": "object",
        "description": f"Looks in {kind.looks}." if kind.looks else "",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _value(kind: LocationKind | VersionKind) -> Schema:
    return {"type": "string", "pattern": r"\S" if kind.value == "text" else _bare()}


def _bare() -> str:
    return rf"^{_B}{_NO_ADDRESS}{_NO_DOUBLE_STAR}(?!\.{{1,2}}{_B}$)(?=\S)[^/\\:]+$"


def _relative() -> Schema:
    segment = r"(?!\.\.(?:[/\\]|$))[^/\\]+"
    first = r"(?!\.\.(?:[/\\]|$))[^/\\:]+"
    return {
        "type": "string",
        "pattern": rf"^(?!\s){_NO_ADDRESS}{_NO_DOUBLE_STAR}(?!.*\s$){first}(?:[/\\]{segment})*$",
    }


def _version(kind: VersionKind) -> Schema:
    properties: Schema = {"kind": {"const": kind.name}}
    if kind.key:
        properties[kind.key] = _value(kind)
    required = ["kind", kind.key] if kind.required else ["kind"]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _liveness(system: str) -> Schema:
    key = {"type": ["string", "null"], "pattern": r"^\s*[A-Za-z0-9_.-]*\s*$"}
    path = _path(system)
    path["pattern"] = rf"^(?!.*\*){path['pattern'].removeprefix('^')}"
    properties = dict.fromkeys(LIVENESS_KEYS, key) | {
        "kind": {"const": "server_json"},
        "path": path,
        "endpoint_path": {
            "type": ["string", "null"],
            "pattern": r"^\s*(?!//)(?!(?:[^\s]*/)?\.\.(?:/|\s*$))/[A-Za-z0-9._~/-]*\s*$",
        },
        "executable": {"type": ["string", "null"], "pattern": _bare()},
    }
    server_json = {
        "type": "object",
        "properties": properties,
        "required": ["kind", "path"],
        "additionalProperties": False,
    }
    none = {"type": "object", "properties": {"kind": {"const": "none"}}, "additionalProperties": False}
    return {"anyOf": [{"type": "null"}, none, server_json]}


def _kinds_in_location(kinds: list[str]) -> Schema:
    """A `location` that holds one of these kinds, alone or in its list."""
    one: Schema = {"type": "object", "properties": {"kind": {"enum": kinds}}, "required": ["kind"]}
    return {"anyOf": [one, {"type": "array", "contains": one}]}


def _presence_rules(system: str) -> list[Schema]:
    """A kind that finds executables does not go with `bundle`, nor the other way round."""
    rules: list[Schema] = []
    for presence in ("executable", "bundle"):
        others = [kind.name for kind in LOCATION_KINDS.values() if system in kind.systems and kind.presence != presence]
        if others:
            rules.append(
                {
                    "if": {"properties": {"presence": {"const": presence}}, "required": ["presence"]},
                    "then": {"not": {"properties": {"location": _kinds_in_location(others)}, "required": ["location"]}},
                }
            )
    return rules


def _source_rule(kind: VersionKind) -> Schema:
    """A version source without an argument needs a location that gives it one."""
    asks: Schema = {"type": "object", "properties": {"kind": {"const": kind.name}}, "required": ["kind"]}
    if kind.key:
        asks["not"] = {"required": [kind.key]}
    gives = [_kinds_in_location([name for name in kind.locations if name != "path"])]
    if "path" in kind.locations:
        starred = {"type": "string", "pattern": r"\*"}
        gives += [starred, {"type": "array", "contains": starred}]
    return {
        "if": {"properties": {"version": asks}, "required": ["version"]},
        "then": {"properties": {"location": {"anyOf": gives}}},
    }


def _agreement() -> list[Schema]:
    """What `requires` asks of `app`."""
    app_there: Schema = {"required": ["app"], "properties": {"app": {"type": "object"}}}
    asks_app: Schema = {"properties": {"app": {"const": True}}, "required": ["app"]}
    asks_version: Schema = {
        "type": "object",
        "anyOf": [{"properties": {key: {"type": "string"}}, "required": [key]} for key in ("min_version", "version")],
    }
    running: Schema = {"type": "object", "properties": {"running": {"const": True}}, "required": ["running"]}
    tells_running: Schema = {
        "anyOf": [{"properties": {system: _lives()}, "required": [system]} for system in OS_FAMILIES]
    }
    return [
        _when({"type": "object", **asks_app}, app_there),
        _when(asks_version, {"properties": {"requires": asks_app, "app": {"allOf": _sources()}}}),
        _when(running, {**app_there, "properties": {"app": {"type": "object", **tells_running}}}),
    ]


def _when(requires: Schema, then: Schema) -> Schema:
    return {"if": {"properties": {"requires": requires}, "required": ["requires"]}, "then": then}


def _lives() -> Schema:
    asks = {"type": "object", "properties": {"kind": {"const": "server_json"}}, "required": ["kind"]}
    return {"type": "object", "properties": {"liveness": asks}, "required": ["liveness"]}


def _sources() -> list[Schema]:
    """Each declared system tells versions, except Linux beside another."""
    tells: Schema = {
        "required": ["version"],
        "properties": {"version": {"type": "object", "not": {"properties": {"kind": {"const": "none"}}}}},
    }
    others = {"anyOf": [{"required": ["win32"]}, {"required": ["darwin"]}]}
    return [
        {"properties": {"win32": tells, "darwin": tells}},
        {"if": others, "else": {"properties": {"linux": tells}}},
    ]
