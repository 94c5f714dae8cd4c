"""JSON that loses nothing: exact numbers, members in the order received, duplicate keys refused.

Tool definitions reach models and are compared by digest, so what a server sent must come back out unchanged. The
standard decoder rounds `0.1000000000000000055` and `1e400`; here a number that is not an integer stays the text it was.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final, TypeAlias

from homeport.ground.errors import InvalidInput

MAX_DEPTH: Final = 200
"""Containers within containers. CPython's own decoder would end in a RecursionError near 1,000."""

MAX_INTEGER_DIGITS: Final = 4_000
"""CPython refuses to convert longer ones (and they are quadratic to print)."""


class Number:
    """A JSON number with a fraction or an exponent, kept as the text it was written as."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Number):
            if self.text == other.text:
                return True
            return canonical_number(self.text) == canonical_number(other.text)
        if isinstance(other, int) and not isinstance(other, bool):
            return canonical_number(self.text) == str(other)
        return NotImplemented

    def __hash__(self) -> int:
        return hash(canonical_number(self.text))

    def __float__(self) -> float:
        return float(self.text)


Json: TypeAlias = "bool | int | str | Number | list[Json] | dict[str, Json] | None"


def canonical_number(text: str) -> str:
    """The one spelling of a number's value: `1.0`, `1e0` and `1` are `1`; exact, without rounding to a double.

    An exponent beyond four digits is kept as written: expanding it would cost memory that the sender chooses.
    """
    exponent = re.search(r"[eE]([+-]?\d+)$", text)
    if exponent and len(exponent[1].lstrip("+-").lstrip("0")) > 4:
        return text.lower()
    sign, digits, power = Decimal(text).as_tuple()
    body = "".join(map(str, digits)).lstrip("0") or "0"
    if body == "0":
        return "0"
    stripped = body.rstrip("0")
    shift = int(power) + len(body) - len(stripped)
    minus = "-" if sign else ""
    if 0 <= shift <= 20:
        return minus + stripped + "0" * shift
    return f"{minus}{stripped}e{shift}"


def loads(data: bytes | str) -> Json:
    """Decode one JSON value.

    Raises `InvalidInput` (`json.*`) for anything that is not one JSON value in UTF-8: bad syntax, NaN and Infinity,
    a key twice in one object, too deep, an integer beyond `MAX_INTEGER_DIGITS`.
    """
    try:
        text = data if isinstance(data, str) else data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"not UTF-8 at byte {error.start}", code="json.encoding") from None
    check_depth(text)
    try:
        return json.loads(
            text, parse_float=Number, parse_int=_integer, parse_constant=_constant, object_pairs_hook=_members
        )
    except json.JSONDecodeError as error:
        raise InvalidInput(f"{error.msg} at line {error.lineno}, column {error.colno}", code="json.syntax") from None
    except RecursionError:
        raise InvalidInput(f"nested deeper than {MAX_DEPTH}", code="json.depth") from None


def check_depth(text: str, limit: int = MAX_DEPTH) -> None:
    """Refuse text nested deeper than `limit`, before a decoder recurses into it. Raises `InvalidInput`."""
    if text.count("[") + text.count("{") <= limit:
        return
    depth = 0
    for match in _STRUCTURE.finditer(text):
        mark = match[0]
        if mark in "[{":
            depth += 1
            if depth > limit:
                raise InvalidInput(f"nested deeper than {limit}", code="json.depth")
        elif mark in "]}":
            depth -= 1


_STRUCTURE: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]', re.DOTALL)


def _integer(text: str) -> int:
    if len(text) > MAX_INTEGER_DIGITS:
        raise InvalidInput(f"an integer of {len(text)} digits; at most {MAX_INTEGER_DIGITS}", code="json.number")
    return int(text)


def _constant(text: str) -> Json:
    raise InvalidInput(f"{text} is not JSON", code="json.number")


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for key, value in pairs:
        if key in members:
            raise InvalidInput(f"the key {key!r} stands twice in one object", code="json.duplicate_key")
        members[key] = value
    return members


def dumps(value: Json, *, indent: int | None = None) -> str:
    """Encode, members in their order, numbers as they were written. Compact unless `indent` is given."""
    if indent is None and (text := _quickly(_COMPACT, value)) is not None:
        return text
    return "".join(_pieces(value, indent, 0, sort=False))


def canonical(value: Json) -> bytes:
    """RFC 8785-style canonical bytes (sorted members, no blanks), but with exact numbers: equal values, equal bytes."""
    text = _quickly(_SORTED, value)
    if text is None or not (text.isascii() or _BEYOND_BMP.search(text) is None):
        text = "".join(_pieces(value, None, 0, sort=True))
    return text.encode("utf-8", "surrogatepass")


_COMPACT: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False)
_SORTED: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False, sort_keys=True)
_BEYOND_BMP: Final = re.compile("[\ud800-\udfff\U00010000-\U0010ffff]")
"""Where sorting by code point and by UTF-16 code unit may differ."""


def _quickly(encoder: json.JSONEncoder, value: Json) -> str | None:
    """By the standard encoder in C; None where the value holds a `Number`, which it does not know."""
    try:
        return encoder.encode(value)
    except TypeError:
        return None


def _pieces(value: Json, indent: int | None, level: int, *, sort: bool) -> Iterator[str]:
    match value:
        case Number():
            yield canonical_number(value.text) if sort else value.text
        case dict():
            yield from _object(value, indent, level, sort=sort)
        case list():
            yield from _array(value, indent, level, sort=sort)
        case _:
            yield _COMPACT.encode(value)


def _object(value: Mapping[str, Json], indent: int | None, level: int, *, sort: bool) -> Iterator[str]:
    if not value:
        yield "{}"
        return
    # RFC 8785 sorts by UTF-16 code units, which is not the order of code points above the BMP.
    keys = sorted(value, key=lambda key: key.encode("utf-16-be", "surrogatepass")) if sort else list(value)
    start, separator, end = _layout(indent, level)
    yield "{" + start
    for index, key in enumerate(keys):
        if index:
            yield separator
        yield _COMPACT.encode(key)
        yield ":" if indent is None else ": "
        yield from _pieces(value[key], indent, level + 1, sort=sort)
    yield end + "}"


def _array(value: Sequence[Json], indent: int | None, level: int, *, sort: bool) -> Iterator[str]:
    if not value:
        yield "[]"
        return
    start, separator, end = _layout(indent, level)
    yield "[" + start
    for index, item in enumerate(value):
        if index:
            yield separator
        yield from _pieces(item, indent, level + 1, sort=sort)
    yield end + "]"


def _layout(indent: int | None, level: int) -> tuple[str, str, str]:
    if indent is None:
        return "", ",", ""
    inner = "\n" + " " * (indent * (level + 1))
    return inner, "," + inner, "\n" + " " * (indent * level)
