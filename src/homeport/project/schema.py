"""The JSON Schema of `homeport.toml`, for editors and for programs that write one. Made of `keys`, like the parser."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from homeport.declarations.schema import app_schema, declaration_schema, requires_schema
from homeport.project import keys
from homeport.project.shape import (
    Choice,
    Elsewhere,
    Fields,
    Flag,
    Named,
    OneOrSeveral,
    Several,
    Shape,
    Text,
    Whole,
)

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def json_schema() -> dict[str, Any]:
    """The schema as a JSON value. It says what shape a file has; what its texts mean, the parser alone judges."""
    whole = _schema(keys.document(app=app_schema(), requires=requires_schema()))
    whole["properties"]["profiles"] = _schema(keys.PROFILES)
    server = whole["properties"]["servers"]["additionalProperties"]
    server["oneOf"] = [{"required": [key]} for key in ("command", "runtime", "package", "url")]
    server["properties"]["runtime"]["oneOf"] = [{"required": [key]} for key in ("python", "node")]
    server["dependentSchemas"] = {
        "url": {"not": {"anyOf": [{"required": [key]} for key in ("args", "env", "cwd", "isolation")]}},
        "headers": {"required": ["url"]},
    }
    server["allOf"] = declaration_schema()["allOf"]
    return {"$schema": DIALECT, "title": "homeport.toml", **whole}


def _schema(shape: Shape) -> dict[str, Any]:
    match shape:
        case Elsewhere():
            return dict(shape.fragment)
        case Fields():
            required: dict[str, Any] = {"required": list(shape.required)} if shape.required else {}
            properties = {key: _schema(member) for key, member in shape.keys.items()}
            return _object(shape.about, {"properties": properties, **required, "additionalProperties": False})
        case Named():
            names = {"propertyNames": {"pattern": _whole(shape.pattern)}} if shape.pattern else {}
            return _object(shape.about, {**names, "additionalProperties": _schema(shape.value)})
        case Several():
            unique = {"uniqueItems": True} if shape.unique else {}
            return {"description": shape.about, "type": "array", "items": _schema(shape.item), **unique}
        case OneOrSeveral():
            several: dict[str, Any] = {"type": "array", "items": _schema(shape.item), "minItems": 1}
            return {"description": shape.about, "oneOf": [_schema(shape.item), several]}
        case _:
            return _scalar(shape)


def _scalar(shape: Text | Flag | Whole | Choice) -> dict[str, Any]:
    match shape:
        case Text():
            pattern = {"pattern": _whole(shape.pattern)} if shape.pattern else {}
            return {"description": shape.about, "type": "string", **pattern}
        case Flag():
            default = {} if shape.default is None else {"default": shape.default}
            return {"description": shape.about, "type": "boolean", **default}
        case Whole():
            return {"description": shape.about, "type": "integer", "minimum": 1}
        case Choice():
            return {"description": shape.about, "enum": list(shape.words)}


def _object(about: str, members: Mapping[str, Any]) -> dict[str, Any]:
    return {"description": about, "type": "object", **members}


def _whole(pattern: str) -> str:
    return f"^(?:{pattern})$"


def text() -> str:
    """The schema as the file `schema/homeport.schema.json` holds it."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"
