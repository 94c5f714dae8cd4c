"""Locked schemas at work: whether one is usable, and what of a value does not fit it. Offline and bounded.

Values are decoded here, for rules and schemas alike, with exact numbers: integers as `int`, others as `Decimal`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import msgspec

from homeport.ground import exact
from homeport.ground.errors import InvalidInput
from homeport.ground.exact import Json, Number
from homeport.ground.reason import Reason
from homeport.surface.verdict import Violation
from homeport.surface.weight import Unusable, max_instance_depth

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

MAX_NUMBER_LENGTH: Final = 400
MAX_EXPONENT_LENGTH: Final = 4
MAX_ERRORS: Final = 5
"""Named at once in one refusal."""
BACKTRACK_LIMIT: Final = 100_000
"""For patterns that need look-around; all others run in linear time."""

Value: TypeAlias = "bool | int | str | Decimal | list[Value] | dict[str, Value] | None"


def _decimal(text: str) -> Decimal:
    exponent = text.lower().partition("e")[2].lstrip("+-")
    if len(text) > MAX_NUMBER_LENGTH or len(exponent) > MAX_EXPONENT_LENGTH:
        raise ValueError("a number too long to compute with")
    try:
        return Decimal(text)
    except InvalidOperation:
        raise ValueError("a number too large to compute with") from None


_DECODER: Final = msgspec.json.Decoder(float_hook=_decimal)
_ENCODER: Final = msgspec.json.Encoder(decimal_format="number")


def decode(data: bytes) -> Value:
    """A JSON value with exact numbers. Raises `ValueError` with one sentence for anything else, too deep included."""
    if data.count(b"[") + data.count(b"{") > exact.MAX_DEPTH:
        try:
            exact.check_depth(data.decode("utf-8", "replace"))
        except InvalidInput as error:
            raise ValueError(error.message) from None
    try:
        return _DECODER.decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(str(error).removesuffix(" - at `$[...]`")) from None


def encode(value: Value) -> bytes:
    """The value as JSON, members in their order, numbers as exact as they came."""
    return _ENCODER.encode(value)


def plain(value: Json) -> Value:
    """A locked value in the form that values are compared in: `Number` as `Decimal`."""
    match value:
        case Number():
            return _decimal(value.text)
        case dict():
            return {key: plain(member) for key, member in value.items()}
        case list():
            return [plain(member) for member in value]
        case _:
            return value


class Validator:
    """One compiled schema."""

    __slots__ = ("_depth", "_rs")

    def __init__(self, schema: Json) -> None:
        """Raises `Unusable`."""
        self._depth = max_instance_depth(schema)
        self._rs = _compile(schema)

    def violation(self, value: Value, *, what: str = "argument") -> Violation | None:
        """What does not fit, or None. `what` the value is, in the sentence: `argument` or `result`."""
        if self._depth is not None and _deeper(value, self._depth):
            text = f"nested deeper than {self._depth} levels, the most that is checked against this schema"
            return violation("depth", text, what=what)
        if self._rs.is_valid(value):
            return None
        errors = [error for error, _ in zip(self._rs.iter_errors(value), range(MAX_ERRORS), strict=False)]
        return _told(errors, what)


def validator(schema: Json) -> Callable[[bytes], Violation | None]:
    """A check of raw JSON against a schema. Raises `Unusable` at once for a schema that cannot be used."""
    compiled = Validator(schema)

    def check(data: bytes) -> Violation | None:
        try:
            value = decode(data)
        except ValueError as error:
            return violation("json", f"not JSON that can be checked: {error}")
        return compiled.violation(value)

    return check


def usable(schema: Json) -> None:
    """Check that a tool's input or output schema can be used: an object schema, valid, local and bounded.

    Raises `Unusable`: `schema.missing`, `schema.not_object`, `schema.invalid`, `schema.dialect`, `schema.reference`,
    `schema.too_large`, `schema.too_deep`, `schema.endless`.
    """
    if schema is None:
        raise Unusable("schema.missing", "the tool has no inputSchema")
    if not isinstance(schema, dict):
        raise Unusable("schema.not_object", "the inputSchema is not an object")
    if schema.get("type") != "object":
        raise Unusable("schema.not_object", 'the root of the schema does not say `"type": "object"`')
    Validator(schema)


def _compile(schema: Json) -> Any:
    import jsonschema_rs

    try:
        return jsonschema_rs.validator_for(
            _shared_plain(schema),
            offline=True,
            validate_formats=False,
            pattern_options=jsonschema_rs.FancyRegexOptions(backtrack_limit=BACKTRACK_LIMIT),
        )
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError) as error:
        raise _unusable(error) from None
    except (ValueError, TypeError, RecursionError) as error:
        raise Unusable("schema.invalid", f"the schema cannot be compiled: {error}") from None


def _shared_plain(schema: Json) -> Any:
    if not isinstance(schema, (dict, bool)):
        raise Unusable("schema.invalid", "a schema is an object or a boolean")
    return plain(schema)


def _unusable(error: ValidationError | Exception) -> Unusable:
    text = str(getattr(error, "message", error))
    first = text.splitlines()[0] if text else "not a valid schema"
    if "meta-schema" in first:
        return Unusable("schema.dialect", f"the schema is written in a dialect that is not known: {first[:200]}")
    if "Retrieval" in first or "retrieving" in first:
        return Unusable("schema.reference", f"a $ref leaves the schema; nothing is fetched: {first[:200]}")
    return Unusable("schema.invalid", f"not a valid JSON Schema: {first[:200]}")


def violation(keyword: str, text: str, *, what: str = "argument", path: str = "", expected: str = "") -> Violation:
    """A violation with its reason: `schema.<keyword>`, or `output.<keyword>` of a result."""
    rule = f"{'output' if what == 'result' else 'schema'}.{keyword}"
    return Violation(text, Reason(rule, text), path=path, keyword=keyword, expected=expected)


def _told(errors: Sequence[Any], what: str) -> Violation:
    missing = [
        str(error.kind.property) for error in errors if error.kind.name == "required" and not error.instance_path
    ]
    if len(missing) > 1:
        return violation("required", f"missing: {', '.join(missing)}", what=what, path=missing[0], expected="a value")
    sentences = [_sentence(error, what) for error in errors]
    _, path, keyword, expected = sentences[0]
    text = "; ".join(dict.fromkeys(sentence[0] for sentence in sentences))
    return violation(keyword, text, what=what, path=path, expected=expected)


def _sentence(error: Any, what: str) -> tuple[str, str, str, str]:
    """Text, path, keyword and expectation of one error. The value itself is never shown: it may be a secret."""
    keyword = str(error.kind.name)
    path = selector_of(error.instance_path)
    if keyword == "required":
        member = str(error.kind.property)
        path = f"{path}.{member}" if path else member
        return f"{path} is missing", path, keyword, "a value"
    if keyword in {"additionalProperties", "unevaluatedProperties"}:
        unexpected = ", ".join(map(str, getattr(error.kind, "unexpected", ())))
        where = f" in {path}" if path else ""
        return f"not known{where}: {unexpected}", path, keyword, "no other members"
    named = path or ("the arguments" if what == "argument" else "the result")
    expected = _expected(keyword, error.kind)
    return f"{named} {expected}", path, keyword, expected


_EXPECTATIONS: Final[Mapping[str, str]] = {
    "type": "must be of type {}",
    "enum": "must be one of {}",
    "const": "must be {}",
    "minimum": "must be at least {}",
    "maximum": "must be at most {}",
    "exclusiveMinimum": "must be greater than {}",
    "exclusiveMaximum": "must be less than {}",
    "multipleOf": "must be a multiple of {}",
    "minLength": "must have at least {} characters",
    "maxLength": "must have at most {} characters",
    "pattern": "must match {}",
    "format": "must have the format {}",
    "minItems": "must have at least {} items",
    "maxItems": "must have at most {} items",
    "minProperties": "must have at least {} members",
    "maxProperties": "must have at most {} members",
    "uniqueItems": "must not hold an item twice",
    "contains": "must hold an item of the kind asked for",
    "oneOf": "must fit exactly one of the alternatives",
    "anyOf": "must fit one of the alternatives",
    "not": "has a form that is excluded",
    "falseSchema": "may not be given",
}


def _expected(keyword: str, kind: Any) -> str:
    template = _EXPECTATIONS.get(keyword, f"does not satisfy `{keyword}`")
    if "{}" not in template:
        return template
    operand = getattr(kind, "types", None) if keyword == "type" else kind.value
    return template.format(_shown(operand))


def _shown(operand: Any) -> str:
    if isinstance(operand, (list, tuple, set, frozenset)):
        members = cast("Iterable[Any]", operand)
        return ", ".join(_shown(member) for member in members)
    if isinstance(operand, str):
        return operand
    try:
        text = encode(operand).decode()
    except TypeError:
        text = str(operand)
    return text if len(text) <= 120 else text[:119] + "…"


def selector_of(path: Iterable[str | int]) -> str:
    """An instance path as people write it: `a.b[2]`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else (f".{part}" if text else part)
    return text


def _deeper(value: Value, limit: int) -> bool:
    level: list[Value] = [value]
    for _ in range(limit + 1):
        level = [
            child
            for parent in level
            if isinstance(parent, (dict, list))
            for child in (parent.values() if isinstance(parent, dict) else parent)
        ]
        if not level:
            return False
    return True
