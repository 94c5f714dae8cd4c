"""The shapes of `homeport.toml` as values: the parser checks against them and the JSON Schema is made of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from homeport.ground.errors import Problem
from homeport.project.lines import KeyPath
from homeport.project.misspelt import nearest


@dataclass(frozen=True, slots=True)
class Text:
    """A string, whole of which must match `pattern` where there is one."""

    about: str
    pattern: str = ""
    means: str = ""
    """The pattern in words, for the message."""


@dataclass(frozen=True, slots=True)
class Flag:
    """A boolean."""

    about: str
    default: bool | None = None


@dataclass(frozen=True, slots=True)
class Whole:
    """A positive integer."""

    about: str


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few words."""

    words: tuple[str, ...]
    about: str


@dataclass(frozen=True, slots=True)
class Several:
    """A list."""

    item: Shape
    about: str
    unique: bool = False


@dataclass(frozen=True, slots=True)
class OneOrSeveral:
    """A text, or a list of texts."""

    item: Text
    about: str


@dataclass(frozen=True, slots=True)
class Fields:
    """A table with known keys."""

    keys: Mapping[str, Shape]
    about: str
    required: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Named:
    """A table whose keys are names that a person gives."""

    value: Shape
    about: str
    pattern: str = ""
    means: str = ""


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A part that another room parses; only its JSON Schema is known here."""

    fragment: Mapping[str, Any]


Shape: TypeAlias = Text | Flag | Whole | Choice | Several | OneOrSeveral | Fields | Named | Elsewhere


def conform(value: object, shape: Shape, path: KeyPath = ()) -> Iterator[tuple[KeyPath, Problem]]:
    """Every way in which `value` is not of `shape`, each with the path it stands at; places are filled in later."""
    match shape:
        case Fields():
            yield from _fields(value, shape, path)
        case Named():
            yield from _named(value, shape, path)
        case Several():
            yield from _several(value, shape, path)
        case OneOrSeveral():
            listed = Several(shape.item, shape.about)
            yield from conform(value, listed if isinstance(value, list) else shape.item, path)
        case Elsewhere():
            return
        case _:
            yield from _scalar(value, shape, path)


def _scalar(value: object, shape: Text | Flag | Whole | Choice, path: KeyPath) -> Iterator[tuple[KeyPath, Problem]]:
    match shape:
        case Text():
            if not isinstance(value, str):
                yield wrong_type(path, value, "a string")
            elif "\0" in value or (shape.pattern and not re.fullmatch(shape.pattern, value)):
                yield path, Problem("project.value", f"{value!r} is not {shape.means or 'a text without NUL'}")
        case Choice():
            if not isinstance(value, str):
                yield wrong_type(path, value, "a string")
            elif value not in shape.words:
                yield (
                    path,
                    Problem(
                        "project.value", f"{value!r} is none of {', '.join(shape.words)}{_meant(value, shape.words)}"
                    ),
                )
        case Flag():
            if not isinstance(value, bool):
                yield wrong_type(path, value, "true or false")
        case Whole():
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                yield wrong_type(path, value, "a positive integer")


def _fields(value: object, shape: Fields, path: KeyPath) -> Iterator[tuple[KeyPath, Problem]]:
    if not isinstance(value, dict):
        yield wrong_type(path, value, "a table")
        return
    members = cast("dict[str, object]", value)
    for key, member in members.items():
        if key in shape.keys:
            yield from conform(member, shape.keys[key], (*path, key))
        else:
            yield (*path, key), Problem("project.unknown_key", f"unknown key{_meant(key, tuple(shape.keys))}")
    for key in shape.required:
        if key not in members:
            yield (*path, key), Problem("project.missing", f"the key {key!r} is missing")


def _named(value: object, shape: Named, path: KeyPath) -> Iterator[tuple[KeyPath, Problem]]:
    if not isinstance(value, dict):
        yield wrong_type(path, value, "a table")
        return
    members = cast("dict[str, object]", value)
    for key, member in members.items():
        if shape.pattern and not re.fullmatch(shape.pattern, key):
            yield (*path, key), Problem("project.name", f"{key!r} is not {shape.means}")
        yield from conform(member, shape.value, (*path, key))


def _several(value: object, shape: Several, path: KeyPath) -> Iterator[tuple[KeyPath, Problem]]:
    if not isinstance(value, list):
        yield wrong_type(path, value, "a list")
        return
    for index, item in enumerate(cast("list[object]", value)):
        yield from conform(item, shape.item, (*path, index))


def wrong_type(path: KeyPath, value: object, wanted: str) -> tuple[KeyPath, Problem]:
    """The problem of a value that is of another type than `wanted`."""
    return path, Problem("project.type", f"{_kind(value)} where {wanted} belongs")


def _kind(value: object) -> str:
    names: tuple[tuple[type, str], ...] = (
        (bool, "true or false"),
        (int, "an integer"),
        (float, "a number"),
        (str, "a string"),
        (list, "a list"),
        (dict, "a table"),
    )
    return next((name for kind, name in names if isinstance(value, kind)), "a date or time")


def _meant(word: str, known: tuple[str, ...]) -> str:
    near = nearest(word, known)
    return f"; is {near!r} meant?" if near else f"; known here: {', '.join(sorted(known))}" if known else ""
