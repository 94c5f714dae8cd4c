"""A config file as the servers in it, whatever its format. Pure: bytes in, entries with their places out."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from homeport.agents.catalog import Agent, Container, Format
from homeport.agents.editors import json_text
from homeport.agents.editors.source import Source, source
from homeport.ground.errors import InvalidInput, Place


@dataclass(frozen=True, slots=True)
class Entry:
    """One server in a file: the raw value, and where it stands."""

    name: str
    value: Any
    place: Place


@dataclass(frozen=True, slots=True)
class Document:
    """A config file that could be read."""

    entries: tuple[Entry, ...]
    liberties: tuple[str, ...] = ()
    """What in it a strict JSON reader refuses: comments, trailing commas, a byte order mark."""
    top: tuple[str, ...] = ()
    """The keys of its root."""


def read(data: bytes, agent: Agent, *, file: str, key_path: tuple[str, ...] | None = None) -> Document:
    """The servers of an agent's file; none where the key is absent.

    Raises `InvalidInput` (`config.*`) with file, line and remedy for a file that cannot be read, and
    `config.shape` where what should hold servers does not.
    """
    src = source(data, file)
    value = decode(src, agent.format)
    path = agent.key_path if key_path is None else key_path
    if not isinstance(value, Mapping):
        raise InvalidInput("is not an object at its root", code="config.shape", place=Place(file, 1), remedy=_AS_OBJECT)
    root = cast("Mapping[str, Any]", value)
    holder: Any = root
    for depth, key in enumerate(path):
        holder = cast("Mapping[str, Any]", holder).get(key)
        if holder is None:
            break
        if depth < len(path) - 1 and not isinstance(holder, Mapping):
            raise _shape(src, agent.format, path[: depth + 1], "an object")
    entries = () if holder is None else _entries(src, agent, path, holder)
    loose = json_text.liberties(src) if agent.format in {"json", "jsonc"} and not src.blank else ()
    return Document(tuple(entries), loose or (("a byte order mark",) if src.bom else ()), tuple(root))


_AS_OBJECT = "make it an object, in an editor"


def decode(src: Source, form: Format) -> Any:
    """The value of a document. Raises `InvalidInput` (`config.syntax` and its kin)."""
    if form == "toml":
        return _toml(src)
    if form == "yaml":
        from homeport.agents.editors import yaml_text

        return yaml_text.decode(src)
    return json_text.decode(src, json5=form == "json5")


def _toml(src: Source) -> Any:
    try:
        return tomllib.loads(src.text)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        line = int(message.rpartition("line ")[2].split(",")[0]) if "line " in message else 0
        line = line or src.text.count("\n") + 1
        raise InvalidInput(
            f"is not valid TOML: {message}",
            code="config.syntax",
            place=Place(src.file, line),
            remedy="mend the file in an editor; Homeport changes nothing in a file that it cannot read",
        ) from None


def _shape(src: Source, form: Format, path: tuple[str, ...], wanted: str) -> InvalidInput:
    where = ".".join(path)
    message = f"{where} is not {wanted}"
    place = Place(src.file, _line(src, form, path), where)
    return InvalidInput(message, code="config.shape", place=place, remedy=f"make {where} {wanted}, in an editor")


def _entries(src: Source, agent: Agent, path: tuple[str, ...], holder: Any) -> list[Entry]:
    if agent.container == "map":
        if not isinstance(holder, Mapping):
            raise _shape(src, agent.format, path, "an object")
        named = list(cast("Mapping[str, Any]", holder).items())
    else:
        if not isinstance(holder, list):
            raise _shape(src, agent.format, path, "a list")
        named = [(_identity(item, agent.id_key), item) for item in cast("list[Any]", holder)]
    return [Entry(name, value, _place(src, agent, path, name)) for name, value in named]


def _identity(item: Any, id_key: str) -> str:
    name = cast("Mapping[str, Any]", item).get(id_key) if isinstance(item, Mapping) else None
    return name if isinstance(name, str) else ""


def _place(src: Source, agent: Agent, path: tuple[str, ...], name: str) -> Place:
    container: Container = agent.container
    inner = (*path, name) if container == "map" else path
    return Place(src.file, _line(src, agent.format, inner), ".".join((*path, name)))


def _line(src: Source, form: Format, path: tuple[str, ...]) -> int:
    if form == "toml":
        from homeport.agents.editors import toml_text

        return toml_text.line_of(src, path)
    if form == "yaml":
        from homeport.agents.editors import yaml_text

        return yaml_text.line_of(src, path)
    return src.place(json_text.offset_of(src.text, path)).line
