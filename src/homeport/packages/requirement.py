"""Exact pins: one version of one package, or a refusal that says how to write it. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from homeport.ground.errors import InvalidInput

MAX_NUMBER: Final = 2**64 - 1
"""Numbers of a semantic version are unsigned 64-bit integers to the resolvers that read them."""

_NUMBER: Final = r"(?:0|[1-9][0-9]*)"
_PRERELEASE_PART: Final = rf"(?:{_NUMBER}|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_TAIL: Final = rf"(?:-{_PRERELEASE_PART}(?:\.{_PRERELEASE_PART})*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?"
SEMVER: Final = re.compile(rf"({_NUMBER})\.({_NUMBER})\.({_NUMBER}){_TAIL}", re.ASCII)

_NPM_NAME: Final = re.compile(r"(?:@[a-z0-9~][a-z0-9._~-]*/)?[a-z0-9~][a-z0-9._~-]*", re.ASCII)
_GROUP: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z0-9]+(?:-[a-z0-9]+)*)*", re.ASCII)
_NAME: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*", re.ASCII)

_COMPARATOR: Final = re.compile(
    rf"(?:=|>=|<=|>|<|\^|~)?\s*(?:(?:{_NUMBER})(?:\.(?:{_NUMBER}|[*xX]))?(?:\.(?:{_NUMBER}|[*xX]))?{_TAIL})", re.ASCII
)


@dataclass(frozen=True, slots=True)
class Exact:
    """One version of one package."""

    name: str
    version: str
    extras: tuple[str, ...] = ()
    group: str = ""


def python_requirement(text: str) -> Exact:
    """`name==version`, extras allowed (PEP 508). Raises `InvalidInput`: `package.requirement`, `package.not_exact`."""
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.utils import canonicalize_name

    try:
        parsed = Requirement(text)
    except InvalidRequirement:
        raise _unreadable(text, "a Python requirement", "name==1.2.3") from None
    wanted = f"write `{canonicalize_name(parsed.name)}==X.Y.Z` with the one version that shall run"
    if parsed.url or parsed.marker:
        raise InvalidInput(
            f"{text!r} has {'an address' if parsed.url else 'a marker'}: a runtime is a name and one version",
            code="package.not_exact",
            remedy=wanted,
        )
    only = list(parsed.specifier)
    if len(only) != 1 or only[0].operator != "==" or only[0].version.endswith(".*"):
        raise InvalidInput(f"{text!r} does not name one exact version", code="package.not_exact", remedy=wanted)
    return Exact(canonicalize_name(parsed.name), only[0].version, tuple(sorted(parsed.extras)))


def node_requirement(text: str) -> Exact:
    """`name@version` or `@scope/name@version`. Raises `InvalidInput`: `package.requirement`, `package.not_exact`."""
    name, at, version = text.strip().rpartition("@")
    if not at or not name:
        name, version = text.strip(), ""
    if not _NPM_NAME.fullmatch(name):
        raise _unreadable(text, "an npm package", "name@1.2.3")
    if not _is_semver(version):
        raise InvalidInput(
            f"{text!r} does not name one exact version",
            code="package.not_exact",
            remedy=f"write `{name}@X.Y.Z` with the one version that shall run",
        )
    return Exact(name, version)


def package_requirement(text: str) -> Exact:
    """`group/name@=X.Y.Z`. Raises `InvalidInput`: `package.requirement`, `package.not_exact`."""
    address, at, version = text.strip().partition("@")
    group, slash, name = address.partition("/")
    if not (slash and _GROUP.fullmatch(group) and _NAME.fullmatch(name)):
        raise _unreadable(text, "a package", "group/name@=1.2.3")
    if not at:
        raise InvalidInput(
            f"{text!r} does not name one exact version", code="package.not_exact", remedy=f"write `{address}@=X.Y.Z`"
        )
    return Exact(name, exact_version(version), group=group)


def exact_version(text: str) -> str:
    """The version of `=X.Y.Z`, its build part dropped: no resolver tells builds apart.

    Raises `InvalidInput`: `package.requirement` for what is no requirement at all, `package.not_exact` for one that
    lets more than one version in.
    """
    stripped = text.strip()
    version = stripped[1:].strip() if stripped.startswith("=") else ""
    if _is_semver(version):
        return version.partition("+")[0]
    if not _is_requirement(stripped):
        raise _unreadable(text, "a version requirement", "=1.2.3")
    raise InvalidInput(
        f"{stripped!r} is not one exact version",
        code="package.not_exact",
        remedy="write `=X.Y.Z`; release the package anew, in lockstep, when what it serves moves",
    )


def _is_semver(text: str) -> bool:
    match = SEMVER.fullmatch(text)
    return bool(match) and all(int(number) <= MAX_NUMBER for number in match.groups())


def _is_requirement(text: str) -> bool:
    """Whether a semver parser reads it: comparators with commas between, `*` alone, or nothing (any version)."""
    if text in {"", "*", "x", "X"}:
        return True
    return all(_is_comparator(part.strip()) for part in text.split(","))


def _is_comparator(text: str) -> bool:
    numbers = (int(number) for number in re.findall(r"(?<![0-9A-Za-z-])[0-9]+", text.partition("-")[0]))
    return bool(_COMPARATOR.fullmatch(text)) and all(number <= MAX_NUMBER for number in numbers)


def _unreadable(text: str, what: str, example: str) -> InvalidInput:
    return InvalidInput(f"{text!r} is not {what}", code="package.requirement", remedy=f"write it like `{example}`")
