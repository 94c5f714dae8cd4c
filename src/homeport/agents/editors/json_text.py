"""JSON, JSON with comments, and JSON5 as text: read with exact places, edited by splicing.

Reading accepts comments and trailing commas in every dialect (whether the agent does is a finding, not our failure).
An edit inserts, replaces or removes the characters of one member; the rest of the text is copied.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from homeport.agents.editors import json5_text
from homeport.agents.editors.source import Source
from homeport.ground.errors import InvalidInput
from homeport.ground.exact import MAX_DEPTH, Number, check_depth

_DOUBLE: Final = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_STRING: Final = _DOUBLE + r"|'[^'\\]*(?:\\.[^'\\]*)*'"
_COMMENT: Final = r"//[^\n]*|/\*.*?\*/"
_BLANK: Final = re.compile(rf"(?:[\s\ufeff]|{_COMMENT})*", re.DOTALL)
_NESTED: Final = re.compile(rf"{_STRING}|{_COMMENT}|[\[\]{{}}]", re.DOTALL)
_ATOM: Final = re.compile(rf"{_STRING}|[^\s,\]}}:/]+", re.DOTALL)
_STRICT_LEXEMES: Final = re.compile(rf"{_DOUBLE}|{_COMMENT}", re.DOTALL)
_TRAILING_COMMA: Final = re.compile(rf"{_DOUBLE}|,(?=\s*[}}\]])", re.DOTALL)
_SAME_LINE_COMMENT: Final = re.compile(r"[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/(?=[ \t]*\r?\n))")


@dataclass(frozen=True, slots=True)
class Member:
    """One member of an object, as offsets into the text."""

    key: str
    gap: int
    """Where the blanks and comments before the key begin."""
    start: int
    value: int
    end: int
    comma: int
    """Offset of the comma after it; -1 where there is none."""


@dataclass(frozen=True, slots=True)
class Body:
    """One object: the offsets of its braces, and its members."""

    open: int
    members: tuple[Member, ...]
    close: int

    def find(self, key: str) -> Member | None:
        """The member of this key."""
        return next((member for member in self.members if member.key == key), None)


# --- reading -----------------------------------------------------------------------------------------------------


def decode(src: Source, *, json5: bool = False) -> Any:
    """The value of a document; a blank one is an empty object. Numbers with a fraction stay exact.

    Raises `InvalidInput`: `config.syntax`, `config.depth`, `config.duplicate_key`, each with its line.
    """
    if src.blank:
        return {}
    _require_shallow(src)
    if json5:
        return json5_text.decode(src)
    try:
        return _strict(src.text)
    except json.JSONDecodeError as first:
        plain = without_commas(without_comments(src.text))
        if plain == src.text:
            raise _syntax(src, first) from None
    except _TwiceError as twice:
        raise _duplicate(src, twice.key) from None
    try:
        return _strict(plain)
    except json.JSONDecodeError as error:
        raise _syntax(src, error) from None
    except _TwiceError as twice:
        raise _duplicate(src, twice.key) from None


def _require_shallow(src: Source) -> None:
    """Refuse text that would send a recursive reader too deep. Quick for large files: no match object a string."""
    depth = deepest = 0
    for mark in _BRACKETS.findall(_DOUBLE_QUOTED.sub("", src.text)):
        depth += 1 if mark in "[{" else -1
        deepest = max(deepest, depth)
    if deepest <= MAX_DEPTH:
        return
    try:
        check_depth(src.text)
    except InvalidInput:
        message = f"is nested deeper than {MAX_DEPTH} levels"
        raise InvalidInput(message, code="config.depth", place=src.place(0), remedy=_BY_HAND) from None


_DOUBLE_QUOTED: Final = re.compile(_DOUBLE, re.DOTALL)
_BRACKETS: Final = re.compile(r"[\[\]{}]")
_BY_HAND: Final = "mend the file in an editor; Homeport changes nothing in a file that it cannot read"


def liberties(src: Source) -> tuple[str, ...]:
    """What in the text is not strict JSON: `comments`, `trailing commas`, `a byte order mark`."""
    plain = without_comments(src.text)
    found = [name for name, there in (("a byte order mark", src.bom), ("comments", plain != src.text)) if there]
    return (*found, "trailing commas") if without_commas(plain) != plain else tuple(found)


def without_comments(text: str) -> str:
    """The text with every comment replaced by as many blanks; offsets and lines stay."""
    if "/" not in text:
        return text

    def blank(match: re.Match[str]) -> str:
        return re.sub(r"[^\r\n]", " ", match[0]) if match[0][0] == "/" else match[0]

    return _STRICT_LEXEMES.sub(blank, text)


def without_commas(text: str) -> str:
    """The text (without comments) with every trailing comma replaced by a blank."""
    return _TRAILING_COMMA.sub(lambda match: " " if match[0] == "," else match[0], text)


class _TwiceError(Exception):
    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        seen: set[str] = set()
        raise _TwiceError(next(key for key, _ in pairs if key in seen or seen.add(key)))
    return members


def _not_json(text: str) -> Any:
    raise json.JSONDecodeError(f"{text} is not JSON", text, 0)


def _integer(text: str) -> int | Number:
    return int(text) if len(text) < 4_000 else Number(text)


_DECODER: Final = json.JSONDecoder(
    parse_float=Number, parse_int=_integer, parse_constant=_not_json, object_pairs_hook=_once
)


def _strict(text: str) -> Any:
    return _DECODER.decode(text)


def _syntax(src: Source, error: json.JSONDecodeError) -> InvalidInput:
    message = f"is not valid JSON: {error.msg} (column {src.column(error.pos)})"
    return InvalidInput(message, code="config.syntax", place=src.place(error.pos), remedy=_BY_HAND)


def _duplicate(src: Source, key: str) -> InvalidInput:
    offset = _second(src.text, _BLANK.match(src.text).end(), key)  # type: ignore[union-attr]  # matches anything
    message = f"the key {key!r} stands twice in one object; programs read only one of them"
    remedy = "remove one of the two in an editor"
    return InvalidInput(message, code="config.duplicate_key", place=src.place(offset, key), remedy=remedy)


def _second(text: str, start: int, key: str) -> int:
    """The offset of the second member `key` in some object below `start`; 0 if there is none."""
    if text[start] == "{":
        seen: set[str] = set()
        for member in body(text, start).members:
            if member.key == key and key in seen:
                return member.start
            seen.add(member.key)
            inner = _second(text, member.value, key)
            if inner:
                return inner
    elif text[start] == "[":
        for item in items(text, start):
            inner = _second(text, item, key)
            if inner:
                return inner
    return 0


# --- structure ---------------------------------------------------------------------------------------------------


def skip(text: str, offset: int) -> int:
    """The offset after blanks and comments."""
    match = _BLANK.match(text, offset)
    return match.end() if match else offset


def value_end(text: str, offset: int) -> int:
    """The offset after the value that begins at `offset`; the text is known to be well formed."""
    if text[offset] not in "{[":
        match = _ATOM.match(text, offset)
        return match.end() if match else len(text)
    depth = 0
    for match in _NESTED.finditer(text, offset):
        mark = match[0]
        if mark in "{[":
            depth += 1
        elif mark in "}]":
            depth -= 1
            if not depth:
                return match.end()
    return len(text)


def body(text: str, offset: int) -> Body:
    """The members of the object that opens at `offset`; the text is known to be well formed."""
    members: list[Member] = []
    gap = offset + 1
    while True:
        start = skip(text, gap)
        if start >= len(text) or text[start] == "}":
            return Body(offset, tuple(members), start)
        match = cast("re.Match[str]", _ATOM.match(text, start))
        colon = skip(text, match.end())
        value = skip(text, colon + 1)
        end = value_end(text, value)
        after = skip(text, end)
        comma = after if text[after : after + 1] == "," else -1
        members.append(Member(json5_text.key(match[0]), gap, start, value, end, comma))
        gap = comma + 1 if comma >= 0 else end


def items(text: str, offset: int) -> list[int]:
    """The offsets of the items of the array that opens at `offset`."""
    starts: list[int] = []
    at = skip(text, offset + 1)
    while at < len(text) and text[at] != "]":
        starts.append(at)
        at = skip(text, value_end(text, at))
        if text[at : at + 1] == ",":
            at = skip(text, at + 1)
    return starts


def offset_of(text: str, path: Sequence[str]) -> int:
    """Where the key of `path` stands, or of its longest prefix that exists; 0 for a blank document."""
    at = found = skip(text, 0)
    for key in path:
        if at >= len(text) or text[at] != "{":
            break
        member = body(text, at).find(key)
        if member is None:
            break
        found, at = member.start, member.value
    return min(found, len(text))


# --- editing -----------------------------------------------------------------------------------------------------


def put(src: Source, path: Sequence[str], value: Any) -> str:
    """The text with `value` at `path`: replaced where it exists, else added as the last member. Makes missing objects.

    Raises `InvalidInput` (`config.shape`) if something on the way is not an object.
    """
    text = src.text
    if src.blank:
        return render(_nested(path, value), "  ", src.newline) + src.newline
    at = skip(text, 0)
    for depth, key in enumerate(path):
        if text[at] != "{":
            raise shape_error(src, path[:depth], at)
        here = body(text, at)
        member = here.find(key)
        if member is None:
            return _insert(src, here, key, _nested(path[depth + 1 :], value))
        at = member.value
    end = value_end(text, at)
    if _one_line(text):
        return text[:at] + _compact(text, value) + text[end:]
    return text[:at] + render(value, _unit(text), src.newline, _indent(text, at)) + text[end:]


def shape_error(src: Source, path: Sequence[str], offset: int) -> InvalidInput:
    """What stands at `path` should be an object."""
    where = ".".join(path)
    message = f"{where or 'the document'} is not an object"
    place = src.place(offset, where)
    return InvalidInput(message, code="config.shape", place=place, remedy=f"make {where or 'it'} an object: {{}}")


def remove(src: Source, path: Sequence[str]) -> str:
    """The text without the member at `path`, and the text unchanged if there is none. Order of the others is kept."""
    text = src.text
    at = skip(text, 0)
    for key in path[:-1]:
        member = body(text, at).find(key) if text[at : at + 1] == "{" else None
        if member is None:
            return text
        at = member.value
    if text[at : at + 1] != "{":
        return text
    here = body(text, at)
    member = here.find(path[-1])
    return text if member is None else _cut(text, here, member)


def inner(text: str, path: Sequence[str]) -> tuple[int, int] | None:
    """The span between the braces of the object at `path`, if that is an object without members."""
    at = skip(text, 0)
    for key in path:
        member = body(text, at).find(key) if text[at : at + 1] == "{" else None
        if member is None:
            return None
        at = member.value
    if text[at : at + 1] != "{":
        return None
    here = body(text, at)
    return None if here.members else (here.open + 1, here.close)


def _nested(path: Sequence[str], value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


def _insert(src: Source, here: Body, key: str, value: Any) -> str:
    text, newline = src.text, src.newline
    name = json.dumps(key, ensure_ascii=False)
    if not here.members:
        return _fill(src, here, name, value)
    last = here.members[-1]
    if "\n" not in text[here.open : last.start]:
        blank = " " if text[here.members[0].value - 1] == " " else ""
        piece = f"{name}:{blank}{_compact(text, value)}"
        if last.comma >= 0:
            return f"{text[: last.comma + 1]}{blank}{piece},{text[last.comma + 1 :]}"
        return f"{text[: last.end]},{blank}{piece}{text[last.end :]}"
    indent = _indent(text, last.start)
    piece = f"{newline}{indent}{name}: {render(value, _unit(text), newline, indent)}"
    if last.comma >= 0:
        at = _after_comment(text, last.comma + 1)
        return f"{text[:at]}{piece},{text[at:]}"
    at = _after_comment(text, last.end)
    return f"{text[: last.end]},{text[last.end : at]}{piece}{text[at:]}"


def _fill(src: Source, here: Body, name: str, value: Any) -> str:
    """Into an object without members; comments in it stay before the new member."""
    text, newline = src.text, src.newline
    inside = text[here.open + 1 : here.close]
    outer = _indent(text, here.open)
    if _one_line(text) and skip(text, 0) != here.open:
        return f"{text[: here.open + 1]}{name}:{_compact(text, value)}{text[here.open + 1 :]}"
    unit = _unit(text)
    piece = f"{newline}{outer}{unit}{name}: {render(value, unit, newline, outer + unit)}"
    kept = inside.rstrip()
    rest = inside[len(kept) :]
    if "\n" not in rest:
        rest = newline + outer
    return text[: here.open + 1] + kept + piece + rest + text[here.close :]


def _cut(text: str, here: Body, member: Member) -> str:
    before = text[member.gap : member.start]
    start = member.gap + len(before.rstrip())
    end = member.comma + 1 if member.comma >= 0 else member.end
    if before.strip() and not re.match(r"[ \t]*\r?\n", text[end:]):
        start = member.start  # the comment before it must keep its line end
    index = here.members.index(member)
    if member.comma < 0 and index:
        comma = here.members[index - 1].comma
        return text[:comma] + text[comma + 1 : start] + text[end:]
    rest = text[:start] + text[end:]
    if len(here.members) > 1:
        return rest
    left = body(rest, here.open)
    inside = rest[left.open + 1 : left.close]
    return rest if inside.strip() else rest[: left.open + 1] + rest[left.close :]


def _after_comment(text: str, offset: int) -> int:
    match = _SAME_LINE_COMMENT.match(text, offset)
    return match.end() if match else offset


def _one_line(text: str) -> bool:
    return "\n" not in text.strip()


def _indent(text: str, offset: int) -> str:
    """The blanks that begin the line of `offset`."""
    start = text.rfind("\n", 0, offset) + 1
    match = re.compile(r"[ \t]*").match(text, start)
    return match[0] if match else ""


def _unit(text: str) -> str:
    """One step of indentation in this document; two blanks where it shows none."""
    start = skip(text, 0)
    if start >= len(text) or text[start] != "{":
        return "  "
    first = skip(text, start + 1)
    outer, step = _indent(text, start), _indent(text, first)
    if (
        "\n" in text[start:first]
        and step.startswith(outer)
        and len(step) > len(outer)
        and text[first : first + 1] != "}"
    ):
        return step[len(outer) :]
    return "  "


def _compact(text: str, value: Any) -> str:
    spaced = re.search(r'":\s', text[:2000]) is not None
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": ") if spaced else (",", ":"))


def render(value: Any, unit: str, newline: str, indent: str = "") -> str:
    """A value of ours as JSON text, its lines after the first indented by `indent`."""
    lines = json.dumps(value, ensure_ascii=False, indent=unit).split("\n")
    return (newline + indent).join(lines)


def equal(left: Any, right: Any) -> bool:
    """Whether two decoded values are the same, types included (`true` is not `1`)."""
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        mine, other = cast("Mapping[str, Any]", left), cast("Mapping[str, Any]", right)
        return mine.keys() == other.keys() and all(equal(mine[key], other[key]) for key in mine)
    if isinstance(left, list) and isinstance(right, list):
        first, second = cast("list[Any]", left), cast("list[Any]", right)
        return len(first) == len(second) and all(map(equal, first, second))
    return isinstance(left, bool) == isinstance(right, bool) and left == right
