"""A tool's input schema as command-line flags (surface.md 4): names, help and how each becomes a value."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from homeport.ground import exact
from homeport.ground.exact import Json
from homeport.surface import selectors
from homeport.surface.flag_kinds import Shape, flattened, shape_of
from homeport.surface.naming import kebab
from homeport.surface.visible import visible

ENGINE: Final[Mapping[str, bool]] = {
    "args": True, "arg": True, "query": True, "output": True, "profile": True, "project": True, "timeout": True,
    "save-content": True, "dry-run": False, "describe": False, "json": False, "help": False, "quiet": False,
    "verbose": False, "version": False,
}  # fmt: skip
"""Flags of `homeport call` itself, and whether they take a value. Each is also `--homeport-…`."""

ENGINE_PREFIX: Final = "homeport-"
_TOKEN: Final = re.compile(r"[^\s=:\-@][^\s=:]*")


@dataclass(frozen=True, slots=True)
class Flag:
    """One property of a tool as a flag."""

    name: str
    """The key on the wire."""
    spelling: str
    """`--repo-name`."""
    alias: str
    """`--repoName`, accepted but not shown; or empty."""
    negation: str
    """`--no-…` of a boolean; or empty."""
    shape: Shape
    required: bool
    schema: Json
    """As locked."""

    @property
    def switch(self) -> bool:
        """Whether it stands alone: a boolean."""
        return self.shape.types == ("boolean",) and not self.shape.listed

    @property
    def numeric(self) -> bool:
        """Whether a token like `-5` after it is its value."""
        return bool(self.shape.types) and set(self.shape.types) <= {"integer", "number"} and not self.shape.json

    @property
    def hidden(self) -> bool:
        """A `const` is filled in and not shown."""
        return bool(self.shape.constant)


@dataclass(frozen=True, slots=True)
class Form:
    """All flags of a tool, sorted by property."""

    flags: tuple[Flag, ...]
    json_only: tuple[str, ...]
    """Properties that only `--args` reaches: without a usable name, or required without being described."""
    by_token: Mapping[str, Flag]
    """Every accepted spelling to its flag; negations included."""

    @property
    def fidelity(self) -> Mapping[str, str]:
        """Per property: `exact`, `checked` (more is validated than the flag shows) or `json` (T-P2)."""
        told = {flag.name: str(flag.shape.fidelity) for flag in self.flags}
        return dict(sorted({**told, **dict.fromkeys(self.json_only, "json")}.items()))


def form(schema: Json) -> Form:
    """The flags of a tool's (served) `inputSchema`. Never raises: what has no flag is in `json_only`."""
    properties, required = _properties(schema), _required(schema)
    shapes = {name: shape for name, child in properties.items() if (shape := shape_of(child, schema)) is not None}
    spellings = _spellings(list(shapes))
    taken = set(spellings.values())
    flags: list[Flag] = []
    for name in sorted(spellings):
        spelling, shape = spellings[name], shapes[name]
        alias = _alias(name, taken)
        boolean = shape.types == ("boolean",) and not shape.listed
        negation = "--no-" + spelling[2:] if boolean else ""
        if negation in taken or any(_verbatim(other) == negation for other in spellings):
            negation = ""
        flags.append(Flag(name, spelling, alias, negation, shape, name in required, properties[name]))
    json_only = sorted({*(name for name in shapes if name not in spellings), *(required - set(properties))})
    return Form(tuple(flags), tuple(json_only), _tokens(flags))


def _tokens(flags: Sequence[Flag]) -> dict[str, Flag]:
    """Spellings win over aliases and negations, whatever the order."""
    hidden = ((token, flag) for flag in flags for token in (flag.negation, flag.alias) if token)
    return {**dict(hidden), **{flag.spelling: flag for flag in flags}}


def _properties(schema: Json) -> dict[str, Json]:
    """Properties of the root and of everything that applies to it; one described twice may be either."""
    found: dict[str, list[Json]] = {}
    for branch in selectors.branches(schema):
        properties = branch.get("properties")
        for name, child in properties.items() if isinstance(properties, dict) else ():
            seen = found.setdefault(name, [])
            if child not in seen:
                seen.append(child)
    return {name: _either(children) for name, children in found.items()}


def _either(children: list[Json]) -> Json:
    if len(children) == 1:
        return children[0]
    described = [child for child in children if child is not True and child != {}]
    return described[0] if len(described) == 1 else {"anyOf": described or [True]}


def _required(schema: Json) -> frozenset[str]:
    """Names required at the root, whichever branch applies."""
    effective = flattened(schema, schema)
    holder = effective if effective is not None else schema
    required = holder.get("required") if isinstance(holder, Mapping) else None
    return frozenset(name for name in required if isinstance(name, str)) if isinstance(required, list) else frozenset()


def _reserved(word: str) -> bool:
    return word in ENGINE or word.startswith((ENGINE_PREFIX, "arg-"))


def _spellings(properties: Sequence[str]) -> dict[str, str]:
    """One spelling for each property that can have one, none twice."""
    wanted = {name: _wanted(name) for name in properties}
    counts = Counter(word for word in wanted.values() if word)
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in sorted(properties, key=lambda name: (counts[wanted[name]] > 1, name)):
        word = wanted[name]
        if not word:
            continue
        if counts[word] > 1:
            word = _verbatim(name)[2:] if _verbatim(name) and not _reserved(name) else word
        base, number = word, 2
        while word in taken:
            word, number = f"{base}-{number}", number + 1
        taken.add(word)
        found[name] = "--" + word
    return found


def _wanted(name: str) -> str:
    word = kebab(name) or _verbatim(name)[2:]
    return f"arg-{word}" if word and _reserved(word) else word


def _verbatim(name: str) -> str:
    return f"--{name}" if _TOKEN.fullmatch(name) and name.isprintable() else ""


def _alias(name: str, taken: set[str]) -> str:
    alias = _verbatim(name)
    return alias if alias and alias not in taken and not _reserved(name) else ""


_TOLD: Final = ("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "pattern", "format")


def help_line(flag: Flag) -> str:
    """What a flag takes, in one line for people: type, choices, bounds, default; the server's words made visible."""
    shape = flag.shape
    schema = flag.schema if isinstance(flag.schema, dict) else {}
    parts = ["required"] if flag.required else []
    parts.append(_takes(shape))
    if shape.choices:
        parts.append("one of " + ", ".join(_plainly(choice) for choice in shape.choices))
    parts += [f"{keyword} {_plainly(schema[keyword])}" for keyword in _TOLD if keyword in schema]
    if "default" in schema:
        parts.append(f"default {_plainly(schema['default'])}")
    if schema.get("deprecated") is True:
        parts.append("deprecated")
    if shape.nullable:
        parts.append("null as @null")
    description = schema.get("description")
    told = visible(" ".join(description.split())) if isinstance(description, str) else ""
    return "; ".join(parts) + (f". {told}" if told else "")


def _takes(shape: Shape) -> str:
    if shape.json == "any":
        word = "JSON or text" if "string" in shape.types or not shape.types else "JSON"
    elif shape.json:
        word = f"JSON {shape.json}"
    else:
        word = " or ".join(shape.types)
    return f"{word}, repeatable" if shape.listed else word


def _plainly(value: Json) -> str:
    return visible(value) if isinstance(value, str) else exact.dumps(value)
