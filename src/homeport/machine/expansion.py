"""From a written path to the path that is asked for: home and variables filled in, and checked again afterwards.

What a variable holds is not the author's: it may be another machine's share, a device path or `..`. Such a path is
refused here, before anything touches it. An empty variable counts as unset, an unset one is never looked up.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from homeport.machine.protocol import Machine, paths_of, variable

_SLASHES: Final = re.compile(r"[/\\]")
_POSIX: Final = re.compile(r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))", re.ASCII)
_WINDOWS: Final = re.compile(
    r"\$\$|%([^%/\\:*?\"<>|=]+)%|\$(?:\{([A-Za-z_][A-Za-z0-9_()]*)\}|([A-Za-z_][A-Za-z0-9_]*))", re.ASCII
)
_LOCAL_DEVICE: Final = re.compile(r"[/\\]{2}[?.][/\\](?=[A-Za-z]:[/\\])")


class Expanded(NamedTuple):
    """A path ready to be asked for when `reason` is empty; else why it is not asked for."""

    path: str
    reason: str = ""
    detail: str = ""


def expand(machine: Machine, text: str) -> Expanded:
    """A written path on a machine. Reads the environment and nothing else."""
    if "$" not in text and "%" not in text and not text.startswith("~"):
        return checked(machine, text)
    filled = _home(machine, text)
    if filled.reason:
        return filled
    unset: list[str] = []
    pattern = _WINDOWS if machine.platform == "win32" else _POSIX

    def value(match: re.Match[str]) -> str:
        if match[0] == "$$":
            return "$"
        name = next(group for group in match.groups() if group)
        found = variable(machine, name)
        if found is None:
            # A `$x` inside a name may be the name itself: `a$b` is tried as written.
            before = filled.path[: match.start()]
            if not before or before[-1] in "/\\":
                unset.append(name)
            return match[0]
        return found.rstrip("/\\") if match.start() == 0 and len(found) > 3 else found

    path = pattern.sub(value, filled.path)
    if unset:
        return Expanded(path, "unset_variable", f"the variable {unset[0]} is not set")
    return checked(machine, path)


def _home(machine: Machine, text: str) -> Expanded:
    if not text.startswith("~"):
        return Expanded(text)
    if len(text) > 1 and not _SLASHES.match(text, 1):
        return Expanded(text, "other_account", "other accounts' homes are not looked up")
    if not machine.home:
        return Expanded(text, "unset_variable", "this user's home directory is not known")
    return Expanded(machine.home.rstrip("/\\") + text[1:])


def checked(machine: Machine, path: str) -> Expanded:
    """A path that may come from a variable or the registry: refused unless it is absolute and on this machine."""
    if "\0" in path:
        return Expanded(path, "invalid_path", "it holds a NUL character")
    windows = machine.platform == "win32"
    if windows:
        device = _LOCAL_DEVICE.match(path)
        path = path[device.end() :] if device else path
        if path.startswith(("\\\\", "//", "/\\", "\\/")):
            return Expanded(path, "refused_network", "it lies on another machine or names a device")
    elif path.startswith("//"):
        return Expanded(path, "refused_network", "it starts with '//', which may name another machine")
    if ".." in path and ".." in _SLASHES.split(path):
        return Expanded(path, "refused_parent", "it climbs with '..'")
    if not _absolute(path, windows=windows):
        return _not_absolute(path)
    return Expanded(path)


def _absolute(path: str, *, windows: bool) -> bool:
    if windows:
        return len(path) > 2 and path[1] == ":" and path[2] in "/\\" and path[0].isascii() and path[0].isalpha()
    return path.startswith("/")


def _not_absolute(path: str) -> Expanded:
    if path[:1] in {"%", "$"}:
        return Expanded(path, "unset_variable", "it starts with a variable that this system does not have")
    return Expanded(path, "relative", "it is not absolute")


def joined(machine: Machine, directory: str, *parts: str) -> str:
    """Parts below a directory, in the machine's spelling."""
    rules = paths_of(machine)
    if machine.platform != "win32":
        parts = tuple(part.replace("\\", "/") for part in parts)
    path: str = rules.join(directory, *parts)
    return path
