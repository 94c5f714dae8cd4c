"""What is served of a locked definition: itself, with the edits the policy asks for and no other (surface.md 6.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from homeport.ground import exact
from homeport.ground.exact import Json
from homeport.surface.rules import ToolRules
from homeport.surface.selectors import Selector


def definition(locked: Mapping[str, Json], rules: ToolRules) -> Mapping[str, Json]:
    """The definition as served at a single server's endpoint. With no edit asked for it is the locked one."""
    edited: dict[str, Json] = dict(locked)
    if rules.describe:
        edited["description"] = rules.describe
    if rules.destructive:
        annotations = locked.get("annotations")
        held = annotations if isinstance(annotations, dict) else {}
        edited["annotations"] = {**held, "readOnlyHint": False, "destructiveHint": True}
    for pin in rules.pins:
        edited["inputSchema"] = _without(edited.get("inputSchema"), pin.selector)
    return edited


def _without(schema: Json, selector: Selector) -> Json:
    return _without_member(schema, [part.name for part in selector.parts])


def _without_member(schema: Json, path: Sequence[str]) -> Json:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(schema, dict) or not isinstance(properties, dict) or path[0] not in properties:
        return schema
    if len(path) > 1:
        return {**schema, "properties": {**properties, path[0]: _without_member(properties[path[0]], path[1:])}}
    edited: dict[str, Json] = {
        **schema,
        "properties": {name: child for name, child in properties.items() if name != path[0]},
    }
    required = schema.get("required")
    if isinstance(required, list):
        edited["required"] = [name for name in required if name != path[0]]
    return edited


def as_bytes(value: Mapping[str, Json] | Sequence[Json]) -> bytes:
    """Compact JSON in UTF-8, members in their order, numbers as they were written."""
    # A lone surrogate stands in a string only, where its backslash form is the JSON escape.
    whole: Json = dict(value) if isinstance(value, Mapping) else list(value)
    return exact.dumps(whole).encode("utf-8", "backslashreplace")


def read_only(locked: Mapping[str, Json], rules: ToolRules) -> bool:
    """Whether a tool says it only reads, and neither it nor the policy says that it destroys."""
    annotations = locked.get("annotations")
    if rules.destructive or not isinstance(annotations, dict):
        return False
    return annotations.get("readOnlyHint") is True and annotations.get("destructiveHint") is not True


def audience(locked: Mapping[str, Json]) -> tuple[bool, bool]:
    """`(for the model, for pages)` out of `_meta.ui.visibility`; without one, both (MCP Apps)."""
    visibility = _ui(locked).get("visibility")
    if not isinstance(visibility, list):
        return True, True
    return "model" in visibility, "app" in visibility


def page_of(locked: Mapping[str, Json]) -> str:
    """The `ui://` address of a tool's page, or an empty string."""
    uri = _ui(locked).get("resourceUri")
    if not isinstance(uri, str):
        meta = locked.get("_meta")
        uri = meta.get("ui/resourceUri") if isinstance(meta, dict) else None
    return uri if isinstance(uri, str) and uri.startswith("ui://") else ""


def _ui(locked: Mapping[str, Json]) -> Mapping[str, Json]:
    meta = locked.get("_meta")
    ui = meta.get("ui") if isinstance(meta, dict) else None
    return ui if isinstance(ui, dict) else {}
