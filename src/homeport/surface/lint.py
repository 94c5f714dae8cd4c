"""What is doubtful in a locked surface, seen offline: each with severity, evidence and a stable code. Pure.

`high`: text that hides or commands. `medium`: some agents or hosts will refuse or misread it. `low`: it costs or
confuses. A finding is for a person to judge; nothing is withheld because of one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from homeport.ground.exact import Json
from homeport.surface import selectors
from homeport.surface.model import Item, Surface
from homeport.surface.visible import hidden, visible

Severity = Literal["high", "medium", "low"]

MAX_NAME: Final = 64
"""Several model APIs refuse longer tool names."""
MAX_DESCRIPTION: Final = 4_000
MAX_PROPERTIES: Final = 60
_EVIDENCE: Final = 160


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing a person should look at."""

    code: str
    severity: Severity
    name: str
    """The tool or prompt; empty: the server's instructions."""
    path: str
    message: str
    evidence: str
    """The place in the text, with hidden characters written out."""


def lint(surface: Surface) -> list[Finding]:
    """Every finding, by name."""
    found = list(_text("", "instructions", surface.instructions))
    for items in (surface.tools, surface.prompts, surface.templates):
        for item in items.values():
            found += _texts(item)
    for item in surface.tools.values():
        found += _tool(item, surface)
    found += [
        Finding("lint.quarantined", "medium", entry.name, "", entry.reason, entry.code)
        for entry in surface.quarantined.values()
    ]
    return sorted(found, key=lambda finding: (finding.name, finding.code, finding.path))


# Text


def _texts(item: Item) -> Iterator[Finding]:
    for path, text in _strings(dict(item.definition), ""):
        yield from _text(item.name, path, text)


def _strings(value: Json, path: str) -> Iterator[tuple[str, str]]:
    """Every text in a definition, keys included: models read them all."""
    pending: list[tuple[str, Json]] = [(path, value)]
    while pending:
        where, current = pending.pop()
        if isinstance(current, str):
            yield where, current
        elif isinstance(current, dict):
            for key, child in current.items():
                yield f"{where}.{key}" if where else key, key
                pending.append((f"{where}.{key}" if where else key, child))
        elif isinstance(current, list):
            pending += [(f"{where}[{index}]", child) for index, child in enumerate(current)]


_KINDS: Final[Mapping[str, tuple[str, Severity, str]]] = {
    "tag": ("lint.hidden_tag", "high", "text is hidden in tag characters"),
    "bidi": ("lint.bidi", "high", "characters turn the direction of the text: it may read as something else"),
    "invisible": ("lint.invisible", "medium", "characters that cannot be seen"),
    "control": ("lint.control", "medium", "control characters"),
}

_COMMANDS: Final[tuple[tuple[str, Severity, re.Pattern[str]], ...]] = (
    ("lint.override", "high", re.compile(
        r"\b(ignore|disregard|forget|override)\b.{0,30}\b(previous|prior|above|earlier|other|all|system)\b.{0,20}"
        r"\b(instruction|prompt|rule|message|guideline)s?\b", re.IGNORECASE | re.DOTALL)),
    ("lint.secrecy", "high", re.compile(
        r"\b(do not|don't|never|without)\b.{0,20}\b(tell|telling|mention|mentioning|inform|informing|reveal|show)\b"
        r".{0,20}\b(the )?(user|human|person)\b", re.IGNORECASE | re.DOTALL)),
    ("lint.markup", "high", re.compile(
        r"<\s*/?\s*(important|system|instructions?|secret|admin|hidden)\s*>", re.IGNORECASE)),
    ("lint.private_files", "high", re.compile(
        r"(~|\$HOME|/home/[^/\s]+|/root)/\.(ssh|aws|gnupg|config/gh|netrc|npmrc)|\bid_(rsa|ed25519)\b|\.cursor/mcp\.json",
        re.IGNORECASE)),
    ("lint.other_tools", "medium", re.compile(
        r"\b(before|after|instead of|whenever)\b.{0,40}\b(using|calling|use|call|invoking)\b.{0,20}\b(any|all|every)\b"
        r".{0,20}\btools?\b", re.IGNORECASE | re.DOTALL)),
)  # fmt: skip


def _text(name: str, path: str, text: str) -> Iterator[Finding]:
    kinds: set[str] = set()
    for position, _, kind in hidden(text):
        if kind in kinds or (kind == "invisible" and text[position] == "\ufeff" and position == 0):
            continue
        kinds.add(kind)
        code, severity, message = _KINDS[kind]
        yield Finding(code, severity, name, path, message, _around(text, position, position + 1))
    for code, severity, pattern in _COMMANDS:
        found = pattern.search(text)
        if found:
            message = "text that tells a model what to do beyond the tool"
            yield Finding(code, severity, name, path, message, _around(text, found.start(), found.end()))
    if path == "description" and len(text) > MAX_DESCRIPTION:
        yield Finding("lint.long_text", "low", name, path, f"{len(text)} characters in every request", text[:40])


def _around(text: str, start: int, end: int) -> str:
    margin = max(0, (_EVIDENCE - (end - start)) // 2)
    return visible(text[max(0, start - margin) : end + margin])


# Tools


def _tool(item: Item, surface: Surface) -> Iterator[Finding]:
    schema = item.definition.get("inputSchema")
    yield from _name(item)
    yield from _schema(item.name, schema)
    twin = next((other for other in surface.tools if other != item.name and other.lower() == item.name.lower()), "")
    if twin:
        yield Finding("lint.case_twin", "medium", item.name, "name", f"differs from {twin!r} in case only", twin)
    meta = item.definition.get("_meta")
    for key in meta if isinstance(meta, dict) else ():
        if re.match(r"(io\.)?(modelcontextprotocol|mcp)[./]", key) and key != "ui":
            message = "a key that the protocol reserves"
            yield Finding("lint.reserved_meta", "low", item.name, f"_meta.{key}", message, visible(key))


def _name(item: Item) -> Iterator[Finding]:
    if len(item.name) > MAX_NAME:
        message = f"{len(item.name)} characters; several model APIs take {MAX_NAME}"
        yield Finding("lint.long_name", "medium", item.name, "name", message, visible(item.name[:80]))
    if not re.fullmatch(r"[A-Za-z0-9_.-]{1,128}", item.name):
        message = "characters beyond letters, digits, `_`, `-` and `.` (2026-07-28, server/tools)"
        yield Finding("lint.name", "medium", item.name, "name", message, visible(item.name[:80]))
    if "description" not in item.definition:
        yield Finding("lint.no_description", "low", item.name, "description", "models choose tools by it", "")


def _schema(name: str, schema: Json) -> Iterator[Finding]:
    """What hosts and model APIs are known to reject or to read wrongly at the root of an input schema."""
    if not isinstance(schema, dict):
        return
    for keyword in ("oneOf", "anyOf", "allOf"):
        if keyword in schema:
            message = f"`{keyword}` at the root: some model APIs refuse it"
            yield Finding("lint.root_combinator", "medium", name, f"inputSchema.{keyword}", message, keyword)
    if any(isinstance(node.get("$ref"), str) for node in _nodes(schema)):
        message = "local references: some hosts drop or do not follow them"
        yield Finding("lint.reference", "low", name, "inputSchema", message, "$ref")
    properties = schema.get("properties")
    described = properties if isinstance(properties, dict) else {}
    for key in described:
        if not re.fullmatch(r"[A-Za-z0-9_.-]{1,64}", key):
            message = "a property name that some model APIs refuse"
            yield Finding(
                "lint.property_name", "medium", name, f"inputSchema.properties.{visible(key)}", message, visible(key)
            )
    if len(described) > MAX_PROPERTIES:
        yield Finding("lint.many_properties", "low", name, "inputSchema", f"{len(described)} properties", "")
    known = {key for branch in selectors.branches(schema) for key in _keys(branch)}
    required = schema.get("required")
    for key in required if isinstance(required, list) else ():
        if isinstance(key, str) and key not in known:
            message = f"{visible(key)!r} is required but not described"
            yield Finding("lint.required_unknown", "medium", name, "inputSchema.required", message, visible(key))


def _keys(branch: dict[str, Json]) -> Iterator[str]:
    properties = branch.get("properties")
    yield from properties if isinstance(properties, dict) else ()


def _nodes(schema: Json) -> Iterator[dict[str, Json]]:
    pending: list[Json] = [schema]
    while pending:
        current = pending.pop()
        if isinstance(current, dict):
            yield current
            pending += current.values()
        elif isinstance(current, list):
            pending += current


def annotation_counts(surface: Surface) -> Mapping[str, int]:
    """Tools that say something of themselves, and tools that do not: `annotated` + `silent` is all of them."""
    annotated = sum(bool(item.definition.get("annotations")) for item in surface.tools.values())
    return {"annotated": annotated, "silent": len(surface.tools) - annotated}
