"""TOML as text: statements with exact places, edited by splicing.

One table can be spelled as a header, as dotted keys and as an inline table; all of them are found. What is added is a
block with a header of its own at the end of the file (inside an inline table or array: an inline table).
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, cast

from homeport.agents.editors.source import Source
from homeport.ground.errors import InvalidInput

_KEY: Final = re.compile(r"[A-Za-z0-9_-]+|\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'")
_DOT: Final = re.compile(r"[ \t]*\.[ \t]*")
_BLANK: Final = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_STRING: Final = (
    r'"""(?:[^\\]|\\.)*?"""(?:"{1,2}(?!"))?|' + r"'''.*?'''(?:'{1,2}(?!'))?|" + r'"(?:[^"\\\n]|\\.)*"|' + r"'[^'\n]*'"
)
_NESTED: Final = re.compile(rf"{_STRING}|#[^\n]*|[\[\]{{}}]", re.DOTALL)
_ATOM: Final = re.compile(rf"{_STRING}|[^,\]}}#\r\n]+", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Statement:
    """A header or a key with its value; offsets into the text."""

    kind: Literal["table", "array", "pair"]
    path: tuple[str, ...]
    """From the root, for pairs too. Items of an array of tables are not told apart."""
    start: int
    value: int
    end: int


def statements(text: str) -> list[Statement]:
    """All statements, in order. The text is known to be well formed."""
    found: list[Statement] = []
    table: tuple[str, ...] = ()
    at = _skip(text, 0)
    while at < len(text):
        if text[at] == "[":
            double = text.startswith("[[", at)
            keys, after = _keys(text, _skip(text, at + (2 if double else 1)))
            end = _skip(text, after) + (2 if double else 1)
            table = keys
            found.append(Statement("array" if double else "table", table, at, end, end))
        else:
            pair = _pair(text, at)
            end = pair.end
            found.append(replace(pair, path=table + pair.path))
        at = _skip(text, max(end, at + 1))
    return found


def _pair(text: str, at: int) -> Statement:
    keys, after = _keys(text, at)
    value = _skip(text, text.index("=", after) + 1)
    return Statement("pair", keys, at, value, _value_end(text, value))


def _keys(text: str, at: int) -> tuple[tuple[str, ...], int]:
    keys: list[str] = []
    while (match := _KEY.match(text, at)) is not None:
        keys.append(match[0] if match[0][0] not in "\"'" else str(tomllib.loads(f"k = {match[0]}")["k"]))
        dot = _DOT.match(text, match.end())
        if dot is None:
            return tuple(keys), match.end()
        at = dot.end()
    return tuple(keys), at


def _skip(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return match.end() if match else at


def _value_end(text: str, at: int) -> int:
    if text[at] not in "{[":
        match = cast("re.Match[str]", _ATOM.match(text, at))
        return at + len(match[0].rstrip())
    depth = 0
    for match in _NESTED.finditer(text, at):
        if match[0] in "{[":
            depth += 1
        elif match[0] in "}]":
            depth -= 1
            if not depth:
                return match.end()
    return len(text)


def line_of(src: Source, path: Sequence[str]) -> int:
    """The line of the first statement at or below `path`, or in an array at `path`; 0 where there is none."""
    wanted = tuple(path)
    for statement in statements(src.text):
        if statement.path[: len(wanted)] == wanted:
            return src.place(statement.start).line
        if statement.kind == "pair" and wanted[: len(statement.path)] == statement.path:
            return src.place(statement.start).line
    return 0


# --- editing -----------------------------------------------------------------------------------------------------


def put(src: Source, path: Sequence[str], value: Any) -> str:
    """The text with `value` at `path`: replaced in place where it exists, else added."""
    wanted = tuple(path)
    text = src.text
    holder = _holder(text, wanted)
    if holder is not None:
        return _put_inline(text, holder, wanted[len(holder.path) :], value)
    there = [statement for statement in statements(text) if statement.path[: len(wanted)] == wanted]
    if len(there) == 1 and there[0].kind == "pair" and there[0].path == wanted:
        return text[: there[0].value] + inline(value) + text[there[0].end :]
    if there:
        return put(replace(src, text=remove(src, wanted)), wanted, value)
    header = next((one for one in statements(text) if one.kind == "table" and one.path == wanted[:-1]), None)
    if header is not None and not isinstance(value, Mapping):
        return _add_line(src, header, wanted[-1], value)
    if header is not None and len(wanted) > 2:
        return _add_line(src, header, wanted[-1], value)
    return append(src, block(wanted, value, src.newline))


def put_item(src: Source, path: Sequence[str], value: Mapping[str, Any]) -> str:
    """The text with one more item in the array of tables at `path`; into an array value as an inline table."""
    wanted = tuple(path)
    array = next((one for one in statements(src.text) if one.kind == "pair" and one.path == wanted), None)
    if array is None:
        return append(src, block(wanted, value, src.newline, array=True))
    text = src.text
    inside = text[array.value + 1 : array.end - 1]
    kept = inside.rstrip()
    if not _BLANK.sub("", inside):
        return f"{text[: array.value + 1]}{inline(value)}{text[array.value + 1 :]}"
    separator = " " if kept.endswith(",") else ", "
    at = array.value + 1 + len(kept)
    tail = "," if kept.endswith(",") else ""
    return f"{text[:at]}{separator}{inline(value)}{tail}{text[at:]}"


def append(src: Source, block: str) -> str:
    """The text with a block after one blank line at its end; a text without a final line end keeps to that."""
    text, newline = src.text, src.newline
    if not text:
        return block + newline
    if text.endswith("\n"):
        return text + newline + block + newline
    return text + newline + newline + block


def remove(src: Source, path: Sequence[str]) -> str:
    """The text without everything at and below `path`, in whatever spelling."""
    wanted = tuple(path)
    holder = _holder(src.text, wanted)
    if holder is not None:
        return _remove_inline(src.text, holder, wanted[len(holder.path) :])
    return _cut(src.text, _regions(src.text, lambda one: one.path[: len(wanted)] == wanted))


def remove_item(src: Source, path: Sequence[str], id_key: str, name: str) -> str:
    """The text without the items of the array of tables at `path` whose `id_key` is `name`."""
    wanted, text = tuple(path), src.text
    every = statements(text)
    array = next((one for one in every if one.kind == "pair" and one.path == wanted), None)
    if array is not None:
        return _remove_array_item(text, array, id_key, name)
    starts = [at for at, one in enumerate(every) if one.kind == "array" and one.path == wanted]
    doomed: set[int] = set()
    for start in starts:
        stop = start + 1
        while stop < len(every) and (every[stop].kind == "pair" or every[stop].path[: len(wanted)] == wanted):
            if every[stop].kind == "array" and every[stop].path == wanted:
                break
            stop += 1
        own = [one for one in every[start:stop] if one.kind == "pair" and one.path == (*wanted, id_key)]
        if any(tomllib.loads(f"k = {text[one.value : one.end]}")["k"] == name for one in own):
            doomed |= {one.start for one in every[start:stop]}
    return _cut(text, _regions(text, lambda one: one.start in doomed))


def _regions(text: str, doomed: Callable[[Statement], bool]) -> list[tuple[int, int]]:
    """Spans of whole lines: a header with its table, or single pairs."""
    regions: list[tuple[int, int]] = []
    for statement in statements(text):
        if not doomed(statement):
            continue
        start = text.rfind("\n", 0, statement.start) + 1
        stop = text.find("\n", statement.end)
        stop = len(text) if stop < 0 else stop + 1
        joined = regions and not re.search(r"^[ \t]*\[", text[regions[-1][1] : start], re.MULTILINE)
        if joined and statement.kind == "pair" and text[regions[-1][0] :].lstrip().startswith("["):
            regions[-1] = (regions[-1][0], stop)
        else:
            regions.append((start, stop))
    return regions


def _cut(text: str, regions: list[tuple[int, int]]) -> str:
    for start, stop in reversed(regions):
        header = text[start:].lstrip(" \t").startswith("[")
        last = stop == len(text) and not text.endswith("\n")
        before = text[:start]
        # A block was added after one blank line; at the end of a text without a final line end, after two line ends.
        lines = 1 if header and before.endswith(("\n\n", "\n\r\n")) else 0
        for _ in range(lines + (1 if last else 0)):
            before = before[:-2] if before.endswith("\r\n") else before.removesuffix("\n")
        after = text[stop:]
        text = before + (after if before or not header else re.sub(r"\A\r?\n", "", after))
    return text


def _add_line(src: Source, header: Statement, key: str, value: Any) -> str:
    """A pair after the last pair of a table."""
    text = src.text
    last = header
    for statement in statements(text):
        if statement.start <= header.start:
            continue
        if statement.kind != "pair":
            break
        last = statement
    stop = text.find("\n", last.end)
    stop = len(text) if stop < 0 else stop
    stop -= text[:stop].endswith("\r")
    indent = text[text.rfind("\n", 0, last.start) + 1 : last.start]
    return f"{text[:stop]}{src.newline}{indent}{bare(key)} = {inline(value)}{text[stop:]}"


# --- inline tables -----------------------------------------------------------------------------------------------


def _holder(text: str, wanted: tuple[str, ...]) -> Statement | None:
    """The pair whose inline table holds `wanted`."""
    for one in statements(text):
        above = one.path == wanted[: len(one.path)] and len(one.path) < len(wanted)
        if above and one.kind == "pair" and text[one.value] == "{":
            return one
    return None


def _members(text: str, opening: int) -> list[Statement]:
    members: list[Statement] = []
    at = _skip(text, opening + 1)
    while text[at] != "}":
        pair = _pair(text, at)
        members.append(pair)
        at = _skip(text, pair.end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return members


def _put_inline(text: str, holder: Statement, rest: tuple[str, ...], value: Any) -> str:
    members = _members(text, holder.value)
    exact = next((one for one in members if one.path == rest), None)
    if exact is not None:
        return text[: exact.value] + inline(value) + text[exact.end :]
    deeper = next((one for one in members if one.path == rest[: len(one.path)] and text[one.value] == "{"), None)
    if deeper is not None:
        return _put_inline(text, deeper, rest[len(deeper.path) :], value)
    piece = f"{'.'.join(map(bare, rest))} = {inline(value)}"
    if members:
        return f"{text[: members[-1].end]}, {piece}{text[members[-1].end :]}"
    return f"{text[: holder.value + 1]}{piece}{text[holder.value + 1 :]}"


def _remove_inline(text: str, holder: Statement, rest: tuple[str, ...]) -> str:
    members = _members(text, holder.value)
    for at, one in enumerate(members):
        if one.path[: len(rest)] == rest:
            return _without(text, members, at)
        if rest[: len(one.path)] == one.path and text[one.value] == "{":
            return _remove_inline(text, one, rest[len(one.path) :])
    return text


def _without(text: str, members: Sequence[Statement], at: int) -> str:
    one = members[at]
    if at + 1 < len(members):
        return text[: one.start] + text[members[at + 1].start :]
    if at:
        return text[: members[at - 1].end] + text[one.end :]
    return text[: one.start] + text[one.end :]


def _remove_array_item(text: str, array: Statement, id_key: str, name: str) -> str:
    items: list[Statement] = []
    at = _skip(text, array.value + 1)
    while text[at] != "]":
        end = _value_end(text, at)
        items.append(Statement("pair", (), at, at, end))
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    for number, item in enumerate(items):
        value = tomllib.loads(f"k = {text[item.value : item.end]}")["k"]
        if isinstance(value, dict) and cast("dict[str, Any]", value).get(id_key) == name:
            return _without(text, items, number)
    return text


def hollow(src: Source, path: Sequence[str]) -> tuple[int, int] | None:
    """The span between the brackets of an inline table or array at `path` that holds nothing."""
    for one in statements(src.text):
        collection = one.kind == "pair" and one.path == tuple(path) and src.text[one.value] in "{["
        if collection and not _BLANK.sub("", src.text[one.value + 1 : one.end - 1]):
            return one.value + 1, one.end - 1
    return None


# --- writing -----------------------------------------------------------------------------------------------------


def block(path: tuple[str, ...], value: Any, newline: str, *, array: bool = False) -> str:
    """A table with its header, without a final line end."""
    header = ".".join(map(bare, path))
    if not isinstance(value, Mapping):
        parent = ".".join(map(bare, path[:-1]))
        return f"[{parent}]{newline}{bare(path[-1])} = {inline(value)}"
    members = cast("Mapping[str, Any]", value)
    lines = [f"[[{header}]]" if array else f"[{header}]"]
    lines += [f"{bare(key)} = {inline(member)}" for key, member in members.items()]
    return newline.join(lines)


def bare(key: str) -> str:
    """A key as TOML writes it: bare where it can be."""
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _quoted(key)


def inline(value: Any) -> str:
    """A value of ours on one line. Raises `InvalidInput` (`config.value`) for what TOML has no form for."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, list):
        return f"[{', '.join(inline(item) for item in cast('list[Any]', value))}]"
    if isinstance(value, Mapping):
        members = cast("Mapping[str, Any]", value)
        pairs = ", ".join(f"{bare(key)} = {inline(member)}" for key, member in members.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    raise InvalidInput(f"{type(value).__name__} has no form in TOML", code="config.value")


def _quoted(text: str) -> str:
    escaped = json.dumps(text, ensure_ascii=False)
    return re.sub(r"[\x7f-\x9f]", lambda match: f"\\u{ord(match[0]):04X}", escaped)
