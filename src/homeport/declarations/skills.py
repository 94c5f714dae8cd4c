"""Which skills may be offered: those whose `requires_apps` name only servers that are available here.

The front matter of a `SKILL.md` says `requires_apps`: a name, or a list of names, of `{app: NAME, min_version: "4.2"}`
and of `{any: [NAME, …]}`. All must hold. A name is a server's, in any case. A gate of offering only: an explicit load
still works, with the reason as a warning.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias, cast

from homeport.declarations.model import Availability, Declaration, RequiresSpec, as_mapping
from homeport.machine import versions

MAX_SKILL: Final = 1024 * 1024
MAX_NAMES: Final = 100

Evaluate: TypeAlias = Callable[[Declaration], Availability]

_FRONT: Final = re.compile(r"\ufeff?---[ \t]*\r?\n(.*?\r?\n)?---[ \t]*(?:\r?\n|\Z)", re.DOTALL)

_MALFORMED: Final = "Its requires_apps must hold names, {app, min_version} or {any}."


@dataclass(frozen=True, slots=True)
class SkillAnswer:
    """Whether a skill is offered; `reasons` say why not, one sentence each."""

    offered: bool
    reasons: tuple[str, ...] = ()

    @property
    def warning(self) -> str:
        """What an explicit load of a hidden skill says; empty for one that is offered."""
        return "" if self.offered else f"This skill may not work here: {' '.join(self.reasons)}"


OFFERED: Final = SkillAnswer(True)


def front_matter(text: str) -> Mapping[str, Any]:
    """The front matter of a `SKILL.md`, empty when it has none. Raises nothing: a broken one counts as none."""
    match = _FRONT.match(text[:MAX_SKILL])
    if match is None or not match[1]:
        return {}
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        loaded: object = cast("Any", YAML(typ="safe", pure=True)).load(match[1])
    except (YAMLError, ValueError, RecursionError, TypeError):
        return {}
    table = as_mapping(loaded)
    return {str(key): value for key, value in table.items()} if table else {}


def skill_answer(requires_apps: object, declarations: Mapping[str, Declaration], evaluate: Evaluate) -> SkillAnswer:
    """The answer for one skill. Give an `evaluate` that remembers, so that many skills ask a machine once."""
    if not requires_apps:
        return OFFERED
    needs = cast("list[object]", requires_apps) if isinstance(requires_apps, list) else [requires_apps]
    by_name = {name.casefold(): declaration for name, declaration in declarations.items()}
    reasons = [reason for need in needs[:MAX_NAMES] if (reason := _missing(need, by_name, evaluate))]
    if len(needs) > MAX_NAMES:
        reasons.append(f"It names more than {MAX_NAMES} applications.")
    return SkillAnswer(not reasons, tuple(reasons))


def _missing(need: object, declarations: Mapping[str, Declaration], evaluate: Evaluate) -> str:
    """Why one need is not met; empty when it is."""
    table = as_mapping(need)
    if isinstance(need, str | int | float):
        return _missing_name(str(need), None, declarations, evaluate)
    if table is None:
        return _MALFORMED
    if set(table) == {"any"} and isinstance(table["any"], list) and table["any"]:
        choices = cast("list[object]", table["any"])[:MAX_NAMES]
        reasons = [_missing(choice, declarations, evaluate) for choice in choices if not _is_any(choice)]
        return "" if "" in reasons else " ".join(dict.fromkeys(reasons)) or "Its choice of applications is empty."
    name, minimum = table.get("app"), table.get("min_version")
    if not isinstance(name, str) or set(table) - {"app", "min_version"}:
        return _MALFORMED
    if minimum is not None and not (isinstance(minimum, str) and versions.is_requirement(minimum)):
        return f"The min_version it asks of {name.strip()} must be a text like '4.2'."
    return _missing_name(name, minimum, declarations, evaluate)


def _is_any(choice: object) -> bool:
    table = as_mapping(choice)
    return table is not None and "any" in table


def _missing_name(text: str, minimum: str | None, declarations: Mapping[str, Declaration], evaluate: Evaluate) -> str:
    name = text.strip()
    declaration = declarations.get(name.casefold())
    if declaration is None:
        return f"No server here declares {name!r}."
    answer = evaluate(presence_required(declaration, minimum))
    return "" if answer.offerable else answer.sentence


def presence_required(declaration: Declaration, minimum: str | None = None) -> Declaration:
    """The declaration as a skill means it: an application it can find must be there, also where its server can do
    without; `minimum` is the skill's own."""
    requires = declaration.requires
    if declaration.app is None:
        return declaration
    wanted: RequiresSpec = replace(requires, app=True, running=False)
    if minimum is not None:
        clause = f">={minimum}"
        wanted = replace(wanted, version=f"{requires.version},{clause}" if requires.version else clause)
    return replace(declaration, requires=wanted)


@dataclass(frozen=True, slots=True)
class SkillLinks:
    """What to change in an agent's skills folder so that it holds links to the offered skills only."""

    create: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()
    """Names that are taken by something we did not put there."""


def plan_links(offered: Sequence[str], present: Mapping[str, bool], ledger: Sequence[str]) -> SkillLinks:
    """The changes: `present` maps what is in the folder to whether it is our link still; `ledger` names what we made.

    Nothing is touched that is not in the ledger, or that was changed since.
    """
    ours = {name for name in ledger if present.get(name, False)}
    return SkillLinks(
        create=tuple(sorted(name for name in set(offered) if name not in present)),
        remove=tuple(sorted(ours - set(offered))),
        blocked=tuple(sorted(name for name in set(offered) if name in present and name not in ours)),
    )
