"""YAML as text: ruamel's composer gives every node its place, edits splice.

ruamel's own round trip keeps comments but not every byte (indentation, line folding, quotes of long texts), so it reads
and we write. Added text is in block style, inside a flow collection in flow style.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from homeport.agents.editors.source import Source
from homeport.ground.errors import InvalidInput, Place

_BY_HAND: Final = "mend the file in an editor; Homeport changes nothing in a file that it cannot read"


def decode(src: Source) -> Any:
    """The value of a document; a blank one is an empty mapping. Raises `InvalidInput` (`config.syntax`, …)."""
    from ruamel.yaml import YAML
    from ruamel.yaml.constructor import DuplicateKeyError
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    reader: Any = YAML(typ="safe", pure=True)
    try:
        value = reader.load(src.text)
    except DuplicateKeyError as error:
        raise _error(src, error, "config.duplicate_key", "a key stands twice in one mapping") from None
    except MarkedYAMLError as error:
        raise _error(src, error, "config.syntax", "is not valid YAML") from None
    except (YAMLError, RecursionError, ValueError) as error:
        message = f"is not valid YAML: {type(error).__name__}"
        raise InvalidInput(message, code="config.syntax", place=Place(src.file), remedy=_BY_HAND) from None
    return {} if value is None else value


def _error(src: Source, error: Any, code: str, message: str) -> InvalidInput:
    mark = error.problem_mark or error.context_mark
    place = Place(src.file, mark.line + 1 if mark else 0)
    told = error.problem or error.context or ""
    return InvalidInput(f"{message}: {told}" if told else message, code=code, place=place, remedy=_BY_HAND)


# --- structure ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Node:
    """One node, as offsets into the text."""

    kind: str
    """`mapping`, `sequence` or `scalar`."""
    flow: bool
    start: int
    end: int
    """After its last character; for block collections after their last leaf."""
    column: int
    members: tuple[tuple[Node, Node], ...] = ()
    """Pairs of a mapping; of a sequence each item twice."""
    text: str = ""

    @property
    def null(self) -> bool:
        """Whether nothing is written there."""
        return self.kind == "scalar" and self.start == self.end

    def find(self, key: str) -> tuple[Node, Node] | None:
        """The pair of this key."""
        return next((pair for pair in self.members if pair[0].text == key), None)


def compose(text: str) -> Node | None:
    """The tree of a document that `decode` accepted; None for a blank one."""
    from ruamel.yaml import YAML

    reader: Any = YAML(typ="safe", pure=True)
    root: Any = reader.compose(text)
    return None if root is None else _node(root)


def _node(raw: Any) -> Node:
    start, end = int(raw.start_mark.index), int(raw.end_mark.index)
    column = int(raw.start_mark.column)
    if raw.id == "scalar":
        return Node("scalar", False, start, end, column, text=str(raw.value))
    flow = bool(raw.flow_style)
    if raw.id == "mapping":
        members = tuple((_node(key), _node(value)) for key, value in raw.value)
    else:
        members = tuple((item, item) for item in map(_node, raw.value))
    if not flow and members:
        end = max(members[-1][1].end, members[-1][0].end)
    return Node(str(raw.id), flow, start, end, column, members)


def line_of(src: Source, path: Sequence[str]) -> int:
    """The line of a path's last key that exists; 0 for a blank document."""
    node, line = compose(src.text), 0
    for key in path:
        pair = node.find(key) if node is not None and node.kind == "mapping" else None
        if pair is None:
            break
        line, node = src.place(pair[0].start).line, pair[1]
    return line


def _walk(text: str, path: Sequence[str]) -> list[tuple[Node, Node]]:
    """The pairs along `path`, as far as they exist."""
    found: list[tuple[Node, Node]] = []
    node = compose(text)
    for key in path:
        pair = node.find(key) if node is not None and node.kind == "mapping" else None
        if pair is None:
            break
        found.append(pair)
        node = pair[1]
    return found


# --- editing -----------------------------------------------------------------------------------------------------


def put(src: Source, path: Sequence[str], value: Any) -> str:
    """The text with `value` at `path`: replaced where it exists, else added as the last member.

    Raises `InvalidInput` (`config.shape`, `config.alias`).
    """
    text = src.text
    root = compose(text)
    found = _walk(text, path)
    if len(found) == len(path):
        return _replace(src, path, found, value)
    here = found[-1][1] if found else root
    rest = path[len(found) :]
    nested = _nested(rest[1:], value)
    if here is None:
        block = src.newline.join(_lines({rest[0]: nested}, "", "  "))
        return f"{text}{src.newline}{block}" if text and not text.endswith("\n") else f"{text}{block}{src.newline}"
    if found:
        _refuse_alias(src, path[: len(found)], found[-1])
    if here.null:
        indent = _indent(text, found[-1][0].start) + _unit(root)
        return _after(src, found[-1][0].end, _lines({rest[0]: nested}, indent, _unit(root)))
    if here.kind != "mapping":
        raise _shape(src, path[: len(found)], here, "a mapping")
    if here.flow:
        return _into_flow(text, here, f"{_key(rest[0])}: {_flow(nested)}")
    lines = _lines({rest[0]: nested}, " " * here.column, _unit(root))
    return _after(src, here.end, lines)


def put_item(src: Source, path: Sequence[str], value: Mapping[str, Any]) -> str:
    """The text with one more item in the sequence at `path`."""
    text = src.text
    found = _walk(text, path)
    here = found[-1][1] if len(found) == len(path) else None
    if here is None:
        return put(src, path, [dict(value)])
    _refuse_alias(src, path, found[-1])
    unit = _unit(compose(text))
    if here.null:
        return _after(src, found[-1][0].end, _lines([dict(value)], _indent(text, found[-1][0].start) + unit, unit))
    if here.kind != "sequence":
        raise _shape(src, path, here, "a list")
    if here.flow:
        return _into_flow(text, here, _flow(value))
    return _after(src, here.end, _lines([dict(value)], " " * here.column, unit))


def remove(src: Source, path: Sequence[str]) -> str:
    """The text without the member at `path`; an emptied block mapping becomes `{}`."""
    found = _walk(src.text, path)
    if len(found) < len(path):
        return src.text
    parent = found[-2][1] if len(found) > 1 else compose(src.text)
    return src.text if parent is None else _cut(src, parent, found[-1], found[-2][0] if len(found) > 1 else None)


def remove_item(src: Source, path: Sequence[str], id_key: str, name: str) -> str:
    """The text without the items of the sequence at `path` whose `id_key` is `name`."""
    found = _walk(src.text, path)
    here = found[-1][1] if len(found) == len(path) and found else None
    if here is None or here.kind != "sequence":
        return src.text
    for pair in here.members:
        member = pair[0].find(id_key) if pair[0].kind == "mapping" else None
        if member is not None and member[1].text == name:
            return _cut(src, here, pair, found[-1][0])
    return src.text


def hollow(src: Source, path: Sequence[str]) -> str | None:
    """What stands for the empty collection at `path`: the text inside its brackets, or `null`; None if not empty."""
    found = _walk(src.text, path)
    here = found[-1][1] if len(found) == len(path) and found else None
    if here is None:
        return None
    if here.null:
        return "null"
    return src.text[here.start + 1 : here.end - 1] if here.flow and not here.members else None


def restore_hollow(src: Source, path: Sequence[str], inside: str) -> str:
    """The text with the empty collection at `path` as `hollow` told it."""
    found = _walk(src.text, path)
    here = found[-1][1]
    if inside == "null":
        key = found[-1][0].end
        return src.text[:key] + re.sub(r"^\s*:\s*\{\}|^\s*:\s*\[\]", ":", src.text[key:], count=1)
    return src.text[: here.start + 1] + inside + src.text[here.end - 1 :]


def _nested(path: Sequence[str], value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


def _shape(src: Source, path: Sequence[str], node: Node, wanted: str) -> InvalidInput:
    where = ".".join(path) or "the document"
    place = src.place(node.start, ".".join(path))
    return InvalidInput(f"{where} is not {wanted}", code="config.shape", place=place, remedy=f"make {where} {wanted}")


def _refuse_alias(src: Source, path: Sequence[str], pair: tuple[Node, Node]) -> None:
    if pair[1].start < pair[0].end:
        where = ".".join(path)
        message = f"{where} is an alias of another part of the file"
        remedy = "write the servers out there, in an editor"
        raise InvalidInput(message, code="config.alias", place=src.place(pair[0].start, where), remedy=remedy)


def _replace(src: Source, path: Sequence[str], found: Sequence[tuple[Node, Node]], value: Any) -> str:
    text, old = src.text, found[-1][1]
    _refuse_alias(src, path, found[-1])
    one_line = old.kind == "scalar" and not old.null and text[old.start] not in "|>"
    if old.flow or (one_line and not isinstance(value, Mapping | list)):
        return text[: old.start] + _flow(value) + text[old.end :]
    key = found[-1][0]
    indent = (
        _indent(text, key.start) if text[_line_start(text, key.start) : key.start].strip() == "" else " " * key.column
    )
    unit = _unit(compose(text))
    lines = _lines({path[-1]: value}, indent, unit)
    start = key.start - len(indent) if text[: key.start].endswith(indent) else key.start
    head = lines[0] if start < key.start or not indent else lines[0][len(indent) :]
    stop = max(old.end, text.index(":", key.end) + 1)
    if text[stop - 1 : stop] == "\n":
        stop -= 1
    return text[:start] + src.newline.join([head, *lines[1:]]) + text[stop:]


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _indent(text: str, at: int) -> str:
    match = re.compile(r"[ ]*").match(text, _line_start(text, at))
    return match[0] if match else ""


def _unit(root: Node | None) -> str:
    """One step of indentation in this document; two blanks where it shows none."""
    for _, value in root.members if root is not None and not root.flow else ():
        if value.kind == "mapping" and not value.flow and value.members and value.column > (root.column if root else 0):
            return " " * (value.column - (root.column if root else 0))
    return "  "


def _after(src: Source, at: int, lines: list[str]) -> str:
    """New lines after the line on which `at` is; `at` may be the start of a line, after a block scalar."""
    text, newline = src.text, src.newline
    if at and text[at - 1] == "\n":
        return text[:at] + newline.join(lines) + newline + text[at:]
    stop = text.find("\n", at)
    stop = len(text) if stop < 0 else stop
    stop -= text[:stop].endswith("\r")
    return text[:stop] + newline + newline.join(lines) + text[stop:]


def _into_flow(text: str, here: Node, piece: str) -> str:
    if not here.members:
        return f"{text[: here.start + 1]}{piece}{text[here.start + 1 :]}"
    at = here.members[-1][1].end
    return f"{text[:at]}, {piece}{text[at:]}"


def _cut(src: Source, parent: Node, pair: tuple[Node, Node], key: Node | None) -> str:
    text = src.text
    at = parent.members.index(pair)
    if parent.flow:
        if at + 1 < len(parent.members):
            return text[: pair[0].start] + text[parent.members[at + 1][0].start :]
        start = parent.members[at - 1][1].end if at else pair[0].start
        return text[:start] + text[pair[1].end :]
    start = _line_start(text, pair[0].start)
    end = max(pair[1].end, pair[0].end)
    stop = end if end and text[end - 1] == "\n" else text.find("\n", end) + 1
    if stop == 0:
        stop = len(text)
        start -= 2 if text[:start].endswith("\r\n") else 1 if start else 0
    rest = text[:start] + text[stop:]
    if len(parent.members) > 1 or key is None:
        return rest
    colon = rest.index(":", key.end) + 1
    return f"{rest[:colon]} {'{}' if parent.kind == 'mapping' else '[]'}{rest[colon:]}"


# --- writing -----------------------------------------------------------------------------------------------------

_PLAIN_KEY: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_WORDS: Final = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})


def _key(key: str) -> str:
    return key if _PLAIN_KEY.fullmatch(key) and key.lower() not in _WORDS else _quoted(key)


def _quoted(text: str) -> str:
    escaped = json.dumps(text, ensure_ascii=False)
    return re.sub(r"[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]", lambda match: f"\\u{ord(match[0]):04x}", escaped)


def _flow(value: Any) -> str:
    if isinstance(value, Mapping):
        pairs = (f"{_key(key)}: {_flow(member)}" for key, member in cast("Mapping[str, Any]", value).items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, cast("list[Any]", value))) + "]"
    return _quoted(value) if isinstance(value, str) else json.dumps(value)


def _lines(value: Any, indent: str, unit: str) -> list[str]:
    """Block style, one line each; empty collections in flow style."""
    lines: list[str] = []
    if isinstance(value, Mapping):
        for key, member in cast("Mapping[str, Any]", value).items():
            if isinstance(member, Mapping | list) and member:
                lines += [f"{indent}{_key(key)}:", *_lines(member, indent + unit, unit)]
            else:
                lines.append(f"{indent}{_key(key)}: {_flow(member)}")
        return lines
    for item in cast("list[Any]", value):
        if isinstance(item, Mapping) and item:
            inside = _lines(item, indent + "  ", unit)
            lines += [f"{indent}- {inside[0].lstrip()}", *inside[1:]]
        else:
            lines.append(f"{indent}- {_flow(item)}")
    return lines
