"""The rules of one tool, compiled: pins, restrict, deny, allow on arguments; post_call on results. Pure.

Every rule reads one way: when it fires, the call does not go through. Rules for `*` and for the tool itself add up, so
adding one never permits more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from homeport.ground.errors import Place, Problem
from homeport.ground.exact import Json
from homeport.ground.reason import Reason
from homeport.surface import patterns, selectors
from homeport.surface.patterns import PatternSet
from homeport.surface.policy import Patterns, Rates, Rule
from homeport.surface.policy_parse import suggestion
from homeport.surface.schemas import Value, plain
from homeport.surface.selectors import Resolved, Selector, Unrenderable
from homeport.surface.verdict import Objection

UNBOUNDED: Final = Rates()

Modal = Literal["deny", "allow", "restrict", "post_call"]


@dataclass(frozen=True, slots=True)
class Guard:
    """One line of a rule."""

    modal: Modal
    selector: Selector
    patterns: PatternSet
    place: Place
    optional: bool = False
    default: tuple[str, ...] = ()
    """Texts of the schema's default: what an absent argument would mean to the server."""

    def objection(self, document: Value, message: str) -> Objection | None:
        """Why these arguments do not go through, or None."""
        try:
            texts = selectors.values(self.selector, document)
        except Unrenderable:
            return self._refuse("has a form that cannot be checked against the rule", message)
        if self.modal == "deny":
            return self._denied(texts, message)
        if not texts:
            return self._absent(message)
        if all(self.patterns.first(text) is not None for text in texts):
            return None
        return self._refuse(f"must match {self._shown()}", message)

    def _denied(self, texts: Sequence[str], message: str) -> Objection | None:
        for text in texts:
            index = self.patterns.first(text)
            if index is not None:
                return self._refuse(f"may not match {self.patterns.sources[index]}", message, index)
        return None

    def _absent(self, message: str) -> Objection | None:
        passes = self.default and all(self.patterns.first(text) is not None for text in self.default)
        if self.optional or passes:
            return None
        return self._refuse(f"is missing, and must match {self._shown()}", message)

    def _shown(self) -> str:
        return " or ".join(self.patterns.sources[:5]) + (" or others" if len(self.patterns.sources) > 5 else "")

    def _refuse(self, what: str, message: str, index: int | None = None) -> Objection:
        text = f"{self.selector.text} {what} ({self.modal} rule)"
        return refusal(self.modal, f"{text}. {message}" if message else text, self.place, self.selector.text, index)


def refusal(modal: str, text: str, place: Place, selector: str, index: int | None = None) -> Objection:
    """An objection that names the sentence of the policy which fired."""
    details = {"selector": selector, "modal": modal}
    if index is not None:
        details["pattern"] = str(index)
    remedy = f"change the `{modal}` on `{selector}` in the profile, if this call is meant to be permitted"
    return Objection(text, Reason(f"rule.{modal}", text, place.file, place.line, remedy), details)


@dataclass(frozen=True, slots=True)
class Pin:
    """An argument that always has one value."""

    selector: Selector
    value: Value
    place: Place


@dataclass(frozen=True, slots=True)
class ToolRules:
    """Everything the policy says of one tool."""

    pins: tuple[Pin, ...] = ()
    guards: tuple[Guard, ...] = ()
    """In the order they are asked: restrict, deny, allow."""
    post: tuple[Guard, ...] = ()
    sensitive: tuple[str, ...] = ()
    destructive: bool = False
    describe: str = ""
    name: str = ""
    message: str = ""
    rates: Rates = UNBOUNDED
    on_output_mismatch: Literal["warn", "refuse"] = "warn"
    problems: tuple[Problem, ...] = field(default=())
    """Not empty: the rules do not fit the tool, and the tool is not granted."""


NO_RULES: Final = ToolRules()


def compile_rules(
    tool: str,
    definition: Mapping[str, Json],
    rules: Sequence[Rule],
    restrict: Sequence[Patterns],
) -> ToolRules:
    """The rules for one tool out of those that name it or `*` (the specific one last) and the profile's `restrict`."""
    if not rules and not restrict:
        return NO_RULES
    compiler = _Compiler(tool, definition)
    optional = frozenset(text for rule in rules for text in rule.optional)
    guards = [
        *compiler.guards("restrict", restrict, optional, only_if_present=True),
        *(g for rule in rules for g in compiler.guards("restrict", rule.restrict, optional)),
        *(g for rule in rules for g in compiler.guards("deny", rule.deny, optional)),
        *(g for rule in rules for g in compiler.guards("allow", rule.allow, optional)),
    ]
    return ToolRules(
        pins=tuple(compiler.pins(rules)),
        guards=tuple(guards),
        post=tuple(g for rule in rules for g in compiler.post(rule.post_call)),
        sensitive=tuple(dict.fromkeys(text for rule in rules for text in rule.sensitive)),
        destructive=any(rule.destructive for rule in rules),
        describe=_last(rules, "describe"),
        name=_last(rules, "name"),
        message=_last(rules, "message"),
        rates=_tightest([rule.limits for rule in rules]),
        on_output_mismatch="refuse" if any(rule.on_output_mismatch == "refuse" for rule in rules) else "warn",
        problems=tuple(compiler.problems),
    )


def _last(rules: Sequence[Rule], attribute: str) -> str:
    found = [text for rule in rules if (text := str(getattr(rule, attribute)))]
    return found[-1] if found else ""


def _tightest(rates: Sequence[Rates]) -> Rates:
    minute = [rate.calls_per_minute for rate in rates if rate.calls_per_minute is not None]
    concurrent = [rate.concurrent for rate in rates if rate.concurrent is not None]
    return Rates(min(minute, default=None), min(concurrent, default=None))


class _Compiler:
    """Compiles lines against one tool's schemas and keeps what does not fit."""

    def __init__(self, tool: str, definition: Mapping[str, Json]) -> None:
        self._tool = tool
        self._input = definition.get("inputSchema")
        self._output = definition.get("outputSchema")
        self.problems: list[Problem] = []

    def guards(
        self, modal: Modal, lines: Sequence[Patterns], optional: frozenset[str], *, only_if_present: bool = False
    ) -> Iterator[Guard]:
        for line in lines:
            selector = selectors.parse(line.selector)
            found = selectors.resolve(selector, self._input)
            if only_if_present and not found.found:
                continue
            if not self._fits(line, found):
                continue
            compiled = patterns.globs(line.patterns) if modal == "restrict" else patterns.expressions(line.patterns)
            default = _default_texts(found)
            yield Guard(modal, selector, compiled, line.place, line.selector in optional, default)

    def _fits(self, line: Patterns, found: Resolved) -> bool:
        if found.found and found.scalar:
            return True
        close = suggestion(line.selector, found.names)
        known = ", ".join(found.names) or "none"
        what = "is not a single value" if found.found else "is not an argument"
        self.problems.append(
            Problem(
                "policy.selector",
                f"{line.selector!r} {what} of {self._tool}",
                line.place,
                f"write `{close}`" if close else f"known there: {known}",
            )
        )
        return False

    def post(self, lines: Sequence[Patterns]) -> Iterator[Guard]:
        for line in lines:
            selector = selectors.parse(line.selector)
            if isinstance(self._output, dict) and selector.text != "text":
                found = selectors.resolve(selector, self._output)
                if not found.found:
                    close = suggestion(line.selector, found.names)
                    remedy = f"write `{close}`" if close else f"known there: {', '.join(found.names) or 'none'}"
                    text = f"{line.selector!r} is not in the results of {self._tool}"
                    self.problems.append(Problem("policy.selector", text, line.place, remedy))
                    continue
            yield Guard("post_call", selector, patterns.expressions(line.patterns), line.place)

    def pins(self, rules: Sequence[Rule]) -> Iterator[Pin]:
        merged = {text: (value, rule.place) for rule in rules for text, value in rule.pin.items()}
        for text, (value, place) in merged.items():
            selector = selectors.parse(text)
            names = pinned_names(self._input, selector)
            if names is None:
                yield Pin(selector, plain(value), place)
                continue
            close = suggestion(text, names)
            remedy = f"write `{close}`" if close else f"known there: {', '.join(names) or 'none'}"
            message = f"the pin {text!r} is not an argument of {self._tool}"
            self.problems.append(Problem("policy.selector", message, place, remedy))


def pinned_names(schema: Json, selector: Selector) -> tuple[str, ...] | None:
    """None when a pin's path leads through `properties` alone; else the names known where it got lost."""
    current = schema
    for part in selector.parts:
        properties = current.get("properties") if isinstance(current, dict) else None
        if not isinstance(properties, dict) or part.name not in properties:
            return tuple(sorted(properties)) if isinstance(properties, dict) else ()
        current = properties[part.name]
    return None


def _default_texts(found: Resolved) -> tuple[str, ...]:
    if not found.has_default:
        return ()
    default = plain(found.default)
    try:
        return tuple(selectors.values(selectors.parse("x"), {"x": default}))
    except Unrenderable:
        return ()


def apply_pins(pins: Sequence[Pin], arguments: dict[str, Value], message: str) -> Objection | None:
    """Fill the pinned arguments in; an objection when the caller gave one of them another value."""
    for pin in pins:
        holder = arguments
        for part in pin.selector.parts[:-1]:
            inner = holder.setdefault(part.name, {})
            if not isinstance(inner, dict):
                return _pin_refused(pin, message)
            holder = inner
        name = pin.selector.parts[-1].name
        if name in holder and not same(holder[name], pin.value):
            return _pin_refused(pin, message)
        holder[name] = pin.value
    return None


def _pin_refused(pin: Pin, message: str) -> Objection:
    text = f"{pin.selector.text} is set by the policy and may not be given another value (pin rule)"
    return refusal("pin", f"{text}. {message}" if message else text, pin.place, pin.selector.text)


def same(left: Value, right: Value) -> bool:
    """Equality as JSON has it: `1` is `1.0`, and `true` is not `1`."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(value, right[key]) for key, value in left.items())
    return left == right
