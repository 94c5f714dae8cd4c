"""TOML as a person would write it: small tables in one line, long lists over several. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

_WIDTH = 100


def block(path: tuple[str, ...], table: Mapping[str, Any]) -> str:
    """A table with its header; `app` and `requires`, which are tables of tables, under headers of their own."""
    return "\n".join(_blocks(path, table))


def _blocks(path: tuple[str, ...], table: Mapping[str, Any]) -> Iterator[str]:
    nested = {name: item for name, item in table.items() if _is_deep(name, path, item)}
    lines = [f"{key(name)} = {value(item)}\n" for name, item in table.items() if name not in nested]
    if lines or not nested:
        yield f"[{'.'.join(map(key, path))}]\n" + "".join(lines)
    for name, item in nested.items():
        yield from _blocks((*path, name), item)


def _is_deep(name: str, path: tuple[str, ...], item: object) -> bool:
    return isinstance(item, Mapping) and (name in {"app", "requires"} or (len(path) > 2 and path[2] == "app"))


def key(name: str) -> str:
    """A key, quoted where it must be."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _text(name)


def value(item: object) -> str:
    """A string, number, truth value, list or small table."""
    match item:
        case bool():
            return "true" if item else "false"
        case str():
            return _text(item)
        case int() | float():
            return repr(item)
        case Mapping():
            members = cast("Mapping[str, object]", item)
            inner = ", ".join(f"{key(name)} = {value(member)}" for name, member in members.items())
            return f"{{ {inner} }}" if inner else "{}"
        case list() | tuple():
            return _list(cast("Sequence[object]", item))
        case _:
            raise TypeError(f"{type(item).__name__} has no place in a project file")


def _list(items: Sequence[object]) -> str:
    written = [value(item) for item in items]
    line = f"[{', '.join(written)}]"
    if len(line) <= _WIDTH:
        return line
    return "[\n" + "".join(f"  {one},\n" for one in written) + "]"


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
