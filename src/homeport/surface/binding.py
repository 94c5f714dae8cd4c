"""Command-line tokens to arguments (surface.md 5). Types come from the schema, never from the look of a token.

Required inputs and the schema are checked where every call is checked, so that a shell and an agent hear the same.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final, NoReturn

from homeport.ground import exact
from homeport.ground.errors import InvalidInput
from homeport.surface.flag_kinds import Scalar, Shape
from homeport.surface.flags import ENGINE, ENGINE_PREFIX, Flag, Form
from homeport.surface.rules import same
from homeport.surface.schemas import Value, encode, plain

_INTEGER: Final = re.compile(r"[+-]?[0-9]+(\.0+)?")
_NUMBER: Final = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")
_SHORT: Final[Mapping[str, str]] = {"-h": "help", "-q": "quiet", "-v": "verbose"}


@dataclass(frozen=True, slots=True)
class Sources:
    """Where `@path` and `-` read from. Both raise errors of ours."""

    read_file: Callable[[str], str]
    read_stdin: Callable[[], str]


@dataclass(frozen=True, slots=True)
class Bound:
    """What a command line came to."""

    arguments: bytes
    """Raw JSON object."""
    engine: Mapping[str, Sequence[str]]
    """The flags of `homeport call` itself by name, with their values (a switch: one empty one)."""
    deprecated: tuple[str, ...] = ()
    """Spellings given that the schema calls deprecated."""


@dataclass(slots=True)
class _Given:
    flag: Flag
    texts: list[tuple[str, bool]] = field(default_factory=list[tuple[str, bool]])
    """`(text, written with :json)`."""
    switched: list[bool] = field(default_factory=list[bool])


def bind(form: Form, tokens: Sequence[str], sources: Sources) -> Bound:
    """Read the tokens after the tool's name.

    Raises `InvalidInput`: `call.positional`, `call.unknown_flag`, `call.no_value`, `call.value`, `call.repeated`,
    `call.stdin`, `call.args`.
    """
    return _Binder(form, sources).run(tokens)


def _fail(code: str, message: str, remedy: str = "") -> NoReturn:
    raise InvalidInput(message, code=f"call.{code}", remedy=remedy)


class _Binder:
    def __init__(self, form: Form, sources: Sources) -> None:
        self._form = form
        self._sources = sources
        self._stdin_used = False
        self._given: dict[str, _Given] = {}
        self._engine: dict[str, list[str]] = {}

    def run(self, tokens: Sequence[str]) -> Bound:
        pending = list(reversed(tokens))
        while pending:
            self._take(pending.pop(), pending)
        arguments = self._base()
        for flag in self._form.flags:
            if flag.shape.constant and flag.required and flag.name not in arguments:
                arguments[flag.name] = plain(flag.shape.constant[0])
        for given in self._given.values():
            arguments[given.flag.name] = self._value(given)
        for text in self._engine.get("arg", ()):
            self._loose(text, arguments)
        deprecated = tuple(given.flag.spelling for given in self._given.values() if _is_deprecated(given.flag))
        engine = {name: tuple(values) for name, values in self._engine.items() if name not in {"args", "arg"}}
        return Bound(encode(arguments), engine, deprecated)

    # Tokens

    def _take(self, word: str, pending: list[str]) -> None:
        if word in _SHORT:
            self._engine.setdefault(_SHORT[word], []).append("")
            return
        if not word.startswith("--") or word == "--":
            _fail("positional", f"{_shown(word)} stands alone; every input is a flag", "see `--help` for the flags")
        name, separator, text = word.partition("=")
        name, forced = (name[: -len(":json")], True) if name.endswith(":json") else (name, False)
        flag = self._form.by_token.get(name)
        if flag is None:
            self._take_engine(name, text if separator else None, pending)
            return
        given = self._given.setdefault(flag.name, _Given(flag))
        if flag.switch and not forced:
            given.switched.append(self._switch(flag, name, text if separator else None, pending))
            return
        given.texts.append((text if separator else self._next(flag, name, pending), forced))

    def _take_engine(self, name: str, text: str | None, pending: list[str]) -> None:
        word = name[2:].removeprefix(ENGINE_PREFIX)
        if word not in ENGINE:
            close = difflib.get_close_matches(name, [*self._form.by_token, *(f"--{word}" for word in ENGINE)], n=3)
            known = ", ".join(sorted(flag.spelling for flag in self._form.flags if not flag.hidden)) or "none"
            remedy = f"did you mean {' or '.join(close)}?" if close else f"flags of this tool: {known}"
            _fail("unknown_flag", f"there is no flag {_shown(name)}", remedy)
        if ENGINE[word] and text is None:
            if not pending:
                _fail("no_value", f"{name} needs a value")
            text = pending.pop()
        elif not ENGINE[word] and text is not None:
            _fail("value", f"{name} takes no value")
        if word != "arg" and word in self._engine:
            _fail("repeated", f"{name} is given twice")
        self._engine.setdefault(word, []).append(text or "")

    def _next(self, flag: Flag, name: str, pending: list[str]) -> str:
        if not pending:
            _fail("no_value", f"{name} needs a value", f"write {name}=VALUE")
        following = pending[-1]
        negative = flag.numeric and _NUMBER.fullmatch(following) is not None
        if following.startswith("-") and len(following) > 1 and not negative:
            _fail("no_value", f"{name} needs a value", f"write {name}={_shown(following)} if that is the value")
        return pending.pop()

    def _switch(self, flag: Flag, name: str, text: str | None, pending: list[str]) -> bool:
        negated = name == flag.negation
        if text is None:
            if pending and pending[-1] in {"true", "false"}:
                _fail("value", f"{name} takes its value with `=`", f"write {flag.spelling}={pending[-1]}")
            return not negated
        if text == "@null" and not negated:
            _fail("value", f"{name} is true or false", f"write {flag.spelling}:json=null for null")
        if negated or text not in {"true", "false"}:
            _fail("value", f"{name} is true or false", f"write {flag.spelling}=true or {flag.spelling}=false")
        return text == "true"

    # Values

    def _base(self) -> dict[str, Value]:
        texts = self._engine.get("args", ())
        if not texts:
            return {}
        text = self._text(texts[0], "--args")
        value = self._json(text, "--args", "args")
        if not isinstance(value, dict):
            _fail("args", "--args is a JSON object")
        return value

    def _loose(self, text: str, arguments: dict[str, Value]) -> None:
        """`--arg NAME=VALUE`, for names that have no flag."""
        name, separator, raw = text.partition("=")
        if not separator:
            _fail("value", f"--arg takes NAME=VALUE, not {_shown(text)}")
        flag = next((flag for flag in self._form.flags if flag.name == name), None)
        label = f"--arg {name}"
        if name in self._given:
            _fail("repeated", f"{name} is given twice")
        if flag is not None:
            given = _Given(flag, [(raw, False)])
            arguments[name] = self._value(given) if not flag.switch else self._any(raw, label, ("boolean",))
            return
        arguments[name] = self._any(self._text(raw, label), label, ("string",))

    def _value(self, given: _Given) -> Value:
        flag = given.flag
        if flag.switch and given.switched:
            if len(given.switched) + len(given.texts) > 1:
                _fail("repeated", f"{flag.spelling} is given twice")
            return given.switched[0]
        if flag.shape.listed:
            return self._list(given)
        if len(given.texts) > 1:
            _fail("repeated", f"{flag.spelling} is given twice", "give it once; it holds one value")
        text, forced = given.texts[0]
        if text == "@null" and not forced:
            return None
        text = self._text(text, flag.spelling)
        return self._json(text, flag.spelling) if forced else self._one(text, flag.shape, flag.spelling)

    def _list(self, given: _Given) -> Value:
        flag = given.flag
        if len(given.texts) == 1 and given.texts[0] == ("@null", False):
            return None
        items: list[Value] = []
        for raw, forced in given.texts:
            text = self._text(raw, flag.spelling)
            whole = self._whole(text, flag.shape, flag.spelling)
            if forced and whole is None:
                _fail("value", f"{flag.spelling}:json needs a JSON list")
            items += whole if whole is not None else [self._one(text, flag.shape, flag.spelling)]
        return items

    def _whole(self, text: str, shape: Shape, label: str) -> list[Value] | None:
        """The items when the text is a JSON list of such items."""
        if not text.lstrip().startswith("["):
            return None
        try:
            value = plain(exact.loads(text))
        except InvalidInput:
            if "string" in shape.types:
                return None
            raise self._bad_json(text, label) from None
        if not isinstance(value, list):
            return None
        fitting = all(item is None or _fits(item, shape) for item in value)
        return value if fitting or "string" not in shape.types else None

    def _bad_json(self, text: str, label: str) -> InvalidInput:
        try:
            exact.loads(text)
        except InvalidInput as error:
            return InvalidInput(f"{label} is not JSON: {error.message}", code="call.value")
        return InvalidInput(f"{label} is not JSON", code="call.value")

    def _one(self, text: str, shape: Shape, label: str) -> Value:
        if shape.constant:
            return self._constant(text, shape, label)
        if shape.choices:
            return self._choice(text, shape, label)
        if shape.json == "any":
            return self._any(text, label, shape.types)
        if shape.json:
            value = self._json(text, label)
            wanted = dict if shape.json == "object" else list
            if not (isinstance(value, wanted) or (value is None and shape.nullable)):
                _fail("value", f"{label} needs a JSON {shape.json}")
            return value
        return self._scalar(text, shape.types, label)

    def _constant(self, text: str, shape: Shape, label: str) -> Value:
        constant = plain(shape.constant[0])
        if isinstance(constant, str) and text == constant:
            return constant
        value = self._any(text, label, ("string",))
        if not same(value, constant):
            _fail("value", f"{label} can only be {encode(constant).decode()}", "leave it out: it is filled in")
        return constant

    def _choice(self, text: str, shape: Shape, label: str) -> Value:
        for choice in shape.choices:
            if isinstance(choice, str) and choice == text:
                return choice
        value = self._any(text, label, ()) if _looks_like_json(text) else None
        for choice in shape.choices:
            member = plain(choice)
            if value is not None and not isinstance(member, str) and same(value, member):
                return member
        shown = ", ".join(choice if isinstance(choice, str) else exact.dumps(choice) for choice in shape.choices)
        _fail("value", f"{label} is none of the choices", f"one of: {shown}")

    def _scalar(self, text: str, types: Sequence[Scalar], label: str) -> Value:
        if "integer" in types and _INTEGER.fullmatch(text) and len(text) <= exact.MAX_INTEGER_DIGITS:
            return int(text.partition(".")[0])
        if "number" in types and _NUMBER.fullmatch(text) and len(text) <= 400:
            return _number(text)
        if "boolean" in types and text in {"true", "false"}:
            return text == "true"
        if "string" in types:
            return text
        word = {"integer": "a whole number", "number": "a number", "boolean": "true or false"}
        _fail("value", f"{label} needs {' or '.join(word[kind] for kind in types)}, not {_shown(text)}")

    def _any(self, text: str, label: str, types: Sequence[Scalar]) -> Value:
        """JSON when it is JSON, else text where text is possible."""
        try:
            return plain(exact.loads(text))
        except (InvalidInput, ValueError):
            if types and "string" not in types:
                return self._scalar(text, types, label)
            if not types and text.lstrip()[:1] in {"{", "[", '"'}:
                raise self._bad_json(text, label) from None
            return text

    def _json(self, text: str, label: str, code: str = "value") -> Value:
        try:
            return plain(exact.loads(text))
        except InvalidInput as error:
            _fail(code, f"{label} is not JSON: {error.message}")
        except ValueError as error:
            _fail(code, f"{label} holds {error}")

    def _text(self, raw: str, label: str) -> str:
        """The text a value stands for: `@path` and `-` are read, `@@` is a literal `@`."""
        if raw in {"-", "@-"}:
            if self._stdin_used:
                _fail("stdin", "standard input can be read once only")
            self._stdin_used = True
            text = self._sources.read_stdin()
        elif raw.startswith("@@"):
            text = raw[1:]
        elif raw.startswith("@"):
            text = self._sources.read_file(raw[1:])
        else:
            text = raw
        if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
            _fail("value", f"{label} holds bytes that are not text")
        return text


def _number(text: str) -> Value:
    value = Decimal(text)
    return int(value) if re.fullmatch(r"[+-]?[0-9]+", text) else value


def _fits(item: Value, shape: Shape) -> bool:
    if shape.choices:
        return any(same(item, plain(choice)) for choice in shape.choices)
    kinds: dict[Scalar, bool] = {
        "string": isinstance(item, str),
        "boolean": isinstance(item, bool),
        "integer": isinstance(item, int) and not isinstance(item, bool),
        "number": isinstance(item, (int, Decimal)) and not isinstance(item, bool),
    }
    return any(kinds[kind] for kind in shape.types) or (shape.json == "object" and isinstance(item, dict))


def _looks_like_json(text: str) -> bool:
    try:
        exact.loads(text)
    except InvalidInput:
        return False
    return True


def _is_deprecated(flag: Flag) -> bool:
    return isinstance(flag.schema, dict) and flag.schema.get("deprecated") is True


def _shown(token: str) -> str:
    safe = token.encode("utf-8", "backslashreplace").decode()
    return safe if len(safe) <= 60 else safe[:59] + "…"
