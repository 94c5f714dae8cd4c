"""`[profiles]` of a `homeport.toml` as values: strict, every problem with its place, all of them at once."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time
from typing import Any, Final, Literal, TypeAlias, cast, get_args

from homeport.ground import names
from homeport.ground.errors import Place, Problem
from homeport.ground.exact import Json, Number
from homeport.surface import patterns, selectors
from homeport.surface.patterns import BadPattern
from homeport.surface.policy import Approval, AskBack, Asker, Grant, Patterns, Profile, Rates, Rule
from homeport.surface.selectors import BadSelector

Path: TypeAlias = tuple[str | int, ...]
PlaceOf: TypeAlias = Callable[[Path], Place]
"""From a path in the document (`("profiles", "default", "grants", "x", "can", 0)`) to where it stands."""

_PROFILE_KEYS: Final = ("approval", "apps", "asks", "limits", "restrict", "grants", "require_token")
_GRANT_KEYS: Final = ("can", "never", "prompts", "resources", "may_ask", "rule")
_RULE_KEYS: Final = (
    "tool", "deny", "allow", "post_call", "restrict", "pin", "optional", "sensitive", "destructive", "describe", "name",
    "message", "fail_when", "limits", "on_output_mismatch",
)  # fmt: skip
_LIMIT_KEYS: Final = ("calls_per_minute", "concurrent")


def parse_profiles(raw: Mapping[str, Any], *, place_of: PlaceOf) -> tuple[dict[str, Profile], list[Problem]]:
    """The profiles in the table `profiles` (its value, as `tomllib` gives it), and every problem found.

    Paths given to `place_of` begin at the document: `("profiles", NAME, …)`. A profile with a problem is returned as
    far as it could be read; a caller that found problems uses none of them.
    """
    reader = _Reader(place_of)
    profiles: dict[str, Profile] = {}
    for name, table in raw.items():
        path: Path = ("profiles", name)
        if not names.is_profile(name):
            reader.problem("policy.name", f"{name!r} cannot name a profile: lower-case letters, digits and `-`", path)
        if isinstance(table, dict):
            profiles[name] = _profile(name, cast("dict[str, Any]", table), reader, path)
        else:
            reader.problem("policy.type", "a profile is a table", path)
    return profiles, reader.problems


class _Reader:
    """Takes typed values out of tables and keeps the problems."""

    def __init__(self, place_of: PlaceOf) -> None:
        self._place_of = place_of
        self.problems: list[Problem] = []

    def place(self, path: Path) -> Place:
        return self._place_of(path)

    def problem(self, code: str, message: str, path: Path, remedy: str = "") -> None:
        self.problems.append(Problem(code, message, self._place_of(path), remedy))

    def known(self, table: Mapping[str, Any], keys: Sequence[str], path: Path) -> None:
        for key in table:
            if key not in keys:
                close = suggestion(key, keys)
                remedy = f"write `{close}`" if close else f"known here: {', '.join(keys)}"
                self.problem("policy.unknown_key", f"the key `{key}` is not known", (*path, key), remedy)

    def table(self, holder: Mapping[str, Any], key: str, path: Path) -> dict[str, Any]:
        value = holder.get(key, {})
        if isinstance(value, dict):
            return cast("dict[str, Any]", value)
        self.problem("policy.type", f"`{key}` is a table", (*path, key))
        return {}

    def flag(self, holder: Mapping[str, Any], key: str, path: Path) -> bool:
        value = holder.get(key, False)
        if isinstance(value, bool):
            return value
        self.problem("policy.type", f"`{key}` is true or false, without quotes", (*path, key))
        return False

    def text(self, holder: Mapping[str, Any], key: str, path: Path) -> str:
        if key not in holder:
            return ""
        value = holder[key]
        if isinstance(value, str) and value:
            return value
        self.problem("policy.type", f"`{key}` is a string that is not empty", (*path, key))
        return ""

    def choice(self, holder: Mapping[str, Any], key: str, choices: Sequence[str], default: str, path: Path) -> str:
        value = holder.get(key, default)
        if isinstance(value, str) and value in choices:
            return value
        self.problem("policy.value", f"`{key}` is one of {', '.join(choices)}", (*path, key), _meant(value, choices))
        return default

    def texts(self, holder: Mapping[str, Any], key: str, path: Path) -> tuple[str, ...]:
        """A list of strings, none empty, none twice."""
        value = holder.get(key, [])
        if not isinstance(value, list):
            self.problem("policy.type", f"`{key}` is a list of strings", (*path, key))
            return ()
        found: dict[str, None] = {}
        for index, item in enumerate(cast("list[Any]", value)):
            where = (*path, key, index)
            if not isinstance(item, str) or not item:
                self.problem("policy.type", f"`{key}` holds strings that are not empty", where)
            elif item in found:
                self.problem("policy.duplicate", f"{item!r} stands twice in `{key}`", where, "write it once")
            else:
                found[item] = None
        return tuple(found)

    def choices(self, holder: Mapping[str, Any], key: str, known: Sequence[str], path: Path) -> tuple[str, ...]:
        items = self.texts(holder, key, path)
        for item in items:
            if item not in known:
                where = (*path, key)
                self.problem(
                    "policy.value", f"{item!r} in `{key}` is none of {', '.join(known)}", where, _meant(item, known)
                )
        return tuple(item for item in items if item in known)


def suggestion(word: str, known: Iterable[str]) -> str:
    """The known word that was probably meant, or an empty string."""
    return next(iter(difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)), "")


def _meant(value: object, choices: Sequence[str]) -> str:
    close = suggestion(value, choices) if isinstance(value, str) else ""
    return f"write `{close}`" if close else ""


def _profile(name: str, table: Mapping[str, Any], reader: _Reader, path: Path) -> Profile:
    reader.known(table, _PROFILE_KEYS, path)
    grants: dict[str, Grant] = {}
    for server, raw in reader.table(table, "grants", path).items():
        where = (*path, "grants", server)
        if not isinstance(raw, dict):
            reader.problem("policy.type", "a grant is a table", where)
            continue
        grants[server] = _grant(server, cast("dict[str, Any]", raw), reader, where)
    asks = reader.choices(table, "asks", get_args(Asker), path) if "asks" in table else ("console", "terminal")
    return Profile(
        name,
        approval=cast("Approval", reader.choice(table, "approval", get_args(Approval), "full", path)),
        apps=cast("Literal['confirm', 'full']", reader.choice(table, "apps", ("confirm", "full"), "confirm", path)),
        asks=cast("tuple[Asker, ...]", asks),
        limits=_limits(table, reader, path),
        restrict=_rule_lines(table, "restrict", reader, path),
        grants=grants,
        require_token=reader.flag(table, "require_token", path),
        place=reader.place(path),
    )


def _limits(table: Mapping[str, Any], reader: _Reader, path: Path) -> Rates:
    limits = reader.table(table, "limits", path)
    where = (*path, "limits")
    reader.known(limits, _LIMIT_KEYS, where)
    found: dict[str, int] = {}
    for key in _LIMIT_KEYS:
        value = limits.get(key)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            reader.problem("policy.type", f"`{key}` is a whole number of at least 1", (*where, key))
        else:
            found[key] = value
    return Rates(**found)


def _grant(server: str, table: Mapping[str, Any], reader: _Reader, path: Path) -> Grant:
    reader.known(table, _GRANT_KEYS, path)
    if not names.is_server(server):
        reader.problem("policy.name", f"{server!r} cannot name a server", path)
    can, never = reader.texts(table, "can", path), reader.texts(table, "never", path)
    _check_lists(can, never, reader, path)
    may_ask = reader.choices(table, "may_ask", get_args(AskBack), path) if "may_ask" in table else ("elicitation",)
    resources = reader.texts(table, "resources", path)
    for index, pattern in enumerate(resources):
        _compiles(patterns.glob_expression, pattern, reader, (*path, "resources", index))
    return Grant(
        server,
        can=can,
        never=never,
        prompts=reader.texts(table, "prompts", path),
        resources=resources,
        may_ask=cast("tuple[AskBack, ...]", may_ask),
        rules=tuple(_rules(table, can, never, reader, path)),
        place=reader.place(path),
    )


def _check_lists(can: Sequence[str], never: Sequence[str], reader: _Reader, path: Path) -> None:
    if "*" in never:
        remedy = "leave the grant out: what is not granted is denied"
        reader.problem(
            "policy.never_all", "`never` holds names only; `*` would leave nothing", (*path, "never"), remedy
        )
    for name in (set(can) & set(never)) - {"*"}:
        reader.problem("policy.contradiction", f"{name!r} is in `can` and in `never`", (*path, "never"), "keep one")


def _rules(
    table: Mapping[str, Any], can: Sequence[str], never: Sequence[str], reader: _Reader, path: Path
) -> Iterator[Rule]:
    raw = table.get("rule", [])
    if not isinstance(raw, list):
        reader.problem("policy.type", "rules are written `[[…rule]]`, one table each", (*path, "rule"))
        return
    seen: set[str] = set()
    for index, entry in enumerate(cast("list[Any]", raw)):
        where = (*path, "rule", index)
        if not isinstance(entry, dict):
            reader.problem("policy.type", "a rule is a table", where)
            continue
        rule = _rule(cast("dict[str, Any]", entry), reader, where)
        _check_tool(rule, can, never, seen, reader, where)
        seen.add(rule.tool)
        yield rule


def _check_tool(
    rule: Rule, can: Sequence[str], never: Sequence[str], seen: set[str], reader: _Reader, path: Path
) -> None:
    if not rule.tool:
        return
    if rule.tool in seen:
        reader.problem("policy.duplicate", f"two rules for {rule.tool!r}", path, "put both into one rule")
    if rule.tool in never:
        reader.problem("policy.rule_for_never", f"{rule.tool!r} is in `never`: a rule for it has no meaning", path)
    elif rule.tool not in can and "*" not in can and rule.tool != "*":
        close = suggestion(rule.tool, can)
        remedy = f"write `{close}`" if close else f"add {rule.tool!r} to `can`, or remove the rule"
        reader.problem("policy.rule_without_grant", f"{rule.tool!r} is not in `can`", path, remedy)
    if rule.tool == "*" and rule.name:
        reader.problem("policy.value", "`name` names one tool, so it cannot stand in a rule for `*`", (*path, "name"))


def _rule(table: Mapping[str, Any], reader: _Reader, path: Path) -> Rule:
    reader.known(table, _RULE_KEYS, path)
    if "tool" not in table:
        reader.problem("policy.missing", "a rule says for which `tool` it is (or `*`)", path)
    name = reader.text(table, "name", path)
    if name and not _is_command(name):
        reader.problem("policy.name", f"{name!r} cannot be a command: `[a-z0-9][a-z0-9-]*`", (*path, "name"))
    mismatch = reader.choice(table, "on_output_mismatch", ("warn", "refuse"), "warn", path)
    rule = Rule(
        reader.text(table, "tool", path),
        deny=_rule_lines(table, "deny", reader, path),
        allow=_rule_lines(table, "allow", reader, path),
        post_call=_rule_lines(table, "post_call", reader, path),
        restrict=_rule_lines(table, "restrict", reader, path),
        pin=dict(_pins(table, reader, path)),
        optional=_selectors(table, "optional", reader, path),
        sensitive=_selectors(table, "sensitive", reader, path),
        destructive=reader.flag(table, "destructive", path),
        describe=reader.text(table, "describe", path),
        name=name,
        message=reader.text(table, "message", path),
        fail_when=reader.text(table, "fail_when", path),
        limits=_limits(table, reader, path),
        on_output_mismatch=cast("Literal['warn', 'refuse']", mismatch),
        place=reader.place(path),
    )
    _check_optional(rule, reader, path)
    if rule.fail_when:
        remedy = "use `post_call` until `fail_when` can be evaluated"
        reader.problem("policy.not_yet", "`fail_when` is not evaluated yet", (*path, "fail_when"), remedy)
    return rule


def _check_optional(rule: Rule, reader: _Reader, path: Path) -> None:
    governed = {line.selector for line in (*rule.allow, *rule.restrict)}
    for selector in rule.optional:
        if selector not in governed and rule.tool != "*" and not _maybe_profile_restrict(selector):
            close = suggestion(selector, governed)
            remedy = f"write `{close}`" if close else "remove it, or add the `allow` or `restrict` line it is meant for"
            reader.problem(
                "policy.optional", f"no `allow` or `restrict` here is on {selector!r}", (*path, "optional"), remedy
            )


def _maybe_profile_restrict(selector: str) -> bool:
    """A profile's own `restrict` can be what an `optional` loosens; that is seen when the view is compiled."""
    return "." not in selector and "[" not in selector


def _is_command(name: str) -> bool:
    import re

    return bool(re.fullmatch(r"[a-z0-9][a-z0-9-]*", name))


def _selectors(table: Mapping[str, Any], key: str, reader: _Reader, path: Path) -> tuple[str, ...]:
    found = reader.texts(table, key, path)
    for text in found:
        _compiles(selectors.parse, text, reader, (*path, key))
    return found


def _rule_lines(table: Mapping[str, Any], key: str, reader: _Reader, path: Path) -> tuple[Patterns, ...]:
    lines: list[Patterns] = []
    compiler: Callable[[Sequence[str]], object] = patterns.globs if key == "restrict" else patterns.expressions
    for selector, raw in reader.table(table, key, path).items():
        where = (*path, key, selector)
        _compiles(selectors.parse, selector, reader, where)
        sources: list[Any] = cast("list[Any]", raw) if isinstance(raw, list) else [raw]
        if not sources or not all(isinstance(source, str) for source in sources):
            reader.problem("policy.type", f"`{key}` takes a pattern or a list of patterns, as strings", where)
            continue
        _compiles(compiler, sources, reader, where)
        lines.append(Patterns(selector, tuple(sources), reader.place(where)))
    return tuple(lines)


def _compiles(compiler: Callable[[Any], object], source: object, reader: _Reader, path: Path) -> None:
    try:
        compiler(source)
    except BadPattern as error:
        reader.problem("policy.pattern", str(error), path)
    except BadSelector as error:
        reader.problem("policy.selector", str(error), path)


def _pins(table: Mapping[str, Any], reader: _Reader, path: Path) -> Iterator[tuple[str, Json]]:
    for selector, value in reader.table(table, "pin", path).items():
        where = (*path, "pin", selector)
        if "[" in selector:
            reader.problem("policy.selector", "a pin is on one value, not on the items of a list", where)
        _compiles(selectors.parse, selector, reader, where)
        try:
            yield selector, _json(value)
        except ValueError as error:
            reader.problem("policy.type", str(error), where)


def _json(value: object) -> Json:
    """A TOML value as JSON. Raises `ValueError` for what JSON cannot say."""
    if isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        if value != value or value in {float("inf"), float("-inf")}:  # noqa: PLR0124
            raise ValueError("a number is finite")
        return Number(repr(value))
    if isinstance(value, (datetime, date, time)):
        raise ValueError(  # noqa: TRY004
            "write a date as a string, as the tool expects it"
        )
    if isinstance(value, list):
        return [_json(item) for item in cast("list[object]", value)]
    if isinstance(value, dict):
        return {key: _json(item) for key, item in cast("dict[str, object]", value).items()}
    raise ValueError(f"{type(value).__name__} has no form in JSON")
