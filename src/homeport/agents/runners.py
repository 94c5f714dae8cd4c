"""Commands that fetch what they run: `npx`, `uvx` and their kin, with or without a pin. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final, Literal

from homeport.agents.shapes import Seen

Ecosystem = Literal["python", "node"]


@dataclass(frozen=True, slots=True)
class Runner:
    """A package that a runner fetches and starts."""

    runner: str
    """`npx`, `uvx`, …"""
    ecosystem: Ecosystem
    name: str
    version: str
    """Exact, or empty: whatever is newest."""
    written: str
    """The requirement as it stands in the entry."""
    command: str = ""
    """The script to run where the entry names one that is not the package's own name."""
    args: tuple[str, ...] = ()
    """What the server itself is given."""
    extras: tuple[str, ...] = ()
    """Further requirements (`--with`, `-p`): a pin alone cannot say them."""

    @property
    def requirement(self) -> str:
        """The exact requirement; empty without a version."""
        if not self.version:
            return ""
        return f"{self.name}{'==' if self.ecosystem == 'python' else '@'}{self.version}"


_RUNNERS: Final[dict[tuple[str, ...], Ecosystem]] = {
    ("npx",): "node",
    ("bunx",): "node",
    ("pnpx",): "node",
    ("pnpm", "dlx"): "node",
    ("yarn", "dlx"): "node",
    ("bun", "x"): "node",
    ("npm", "exec"): "node",
    ("uvx",): "python",
    ("uv", "tool", "run"): "python",
    ("pipx", "run"): "python",
}

_WITH_VALUE: Final = frozenset(
    {
        "--package",
        "-p",
        "--from",
        "--with",
        "--python",
        "--spec",
        "--registry",
        "--index",
        "--index-url",
        "--extra-index-url",
    }
    | {"--default-index", "--cache", "--directory", "--project", "-c", "--call", "--with-editable", "--env-file"}
)
_NAMES_PACKAGE: Final = frozenset({"--package", "-p", "--from", "--spec"})
_EXACT: Final = re.compile(r"v?\d+(?:\.\d+)*[0-9A-Za-z.+!_-]*")


def runner_of(seen: Seen) -> Runner | None:
    """What a runner in this entry fetches; None for any other command. `cmd /c npx …` is looked through."""
    words = _unwrapped((seen.command, *seen.args))
    for head, ecosystem in _RUNNERS.items():
        if tuple(words[: len(head)]) == head:
            return _parse(" ".join(head), ecosystem, words[len(head) :])
    return None


def unpinned(seen: Seen) -> Runner | None:
    """What a runner fetches without an exact version; local paths and addresses are not versions of a package."""
    found = runner_of(seen)
    if found is None or found.version or ADDRESS.match(found.written) or re.search(r"[${%]", found.written):
        return None
    return found


ADDRESS: Final = re.compile(r"git\+|https?:|file:|github:|git@|[./~\\]|[A-Za-z]:[/\\]")
"""How a requirement begins that is a place, not a package with versions."""


def _unwrapped(words: tuple[str, ...]) -> list[str]:
    rest = list(words)
    if PurePath(rest[0]).name.lower() in {"cmd", "cmd.exe"} and len(rest) > 2 and rest[1].lower() == "/c":
        rest = rest[2:]
    if rest:
        # Windows paths are looked through on every system: the entry may have been written elsewhere.
        name = re.split(r"[/\\]", rest[0])[-1]
        rest[0] = re.sub(r"\.(?:exe|cmd|ps1)$", "", name, flags=re.IGNORECASE)
    return rest


def _parse(runner: str, ecosystem: Ecosystem, words: list[str]) -> Runner | None:
    packages: list[str] = []
    extras: list[str] = []
    at = 0
    while at < len(words) and words[at].startswith("-"):
        flag, equals, inline = words[at].partition("=")
        if flag == "--":
            at += 1
            break
        takes = flag in _WITH_VALUE
        value = inline if equals else words[at + 1] if takes and at + 1 < len(words) else ""
        if flag in _NAMES_PACKAGE and value:
            packages.append(value)
        elif flag == "--with" and value:
            extras.append(value)
        at += 2 if takes and not equals else 1
    rest = words[at:]
    command = ""
    if packages:
        command = rest[0] if rest else ""
        written, args = packages[0], tuple(rest[1:])
    elif rest:
        written, args = rest[0], tuple(rest[1:])
    else:
        return None
    if args[:1] == ("--",) and packages:
        args = args[1:]
    name, version = _split(written, ecosystem)
    if command in {name, re.sub(r"^@[^/]*/", "", name)}:
        command = ""
    return Runner(runner, ecosystem, name, version, written, command, args, (*packages[1:], *extras))


def _split(written: str, ecosystem: Ecosystem) -> tuple[str, str]:
    """Name and exact version; `latest`, ranges and no version at all are no version."""
    if ecosystem == "python":
        name, _, version = written.partition("==")
        if not version:
            name, _, version = written.partition("@")
        name = re.split(r"[<>=!~;\s]", name.strip(), maxsplit=1)[0]
    else:
        head, at, version = written[1:].rpartition("@")
        name = written[0] + head if at else written
        version = version if at else ""
    version = version.strip()
    return name, version.removeprefix("v") if _EXACT.fullmatch(version) and not version.endswith(("x", ".*")) else ""
