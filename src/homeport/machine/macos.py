"""Where macOS keeps applications, and what an application bundle says of itself. Rules over `Machine`."""

from __future__ import annotations

import plistlib
from collections import deque
from collections.abc import Iterator
from typing import Any, Final, cast
from xml.parsers.expat import ExpatError

from homeport.machine.protocol import CannotRead, Machine, variable

MAX_PLIST: Final = 4 * 1024 * 1024
MAX_FOLDERS: Final = 200
"""Folders searched below the application folders."""

MAX_DEPTH: Final = 2
MAX_NAMES: Final = 5_000


def application_folders(machine: Machine) -> list[str]:
    """This machine's, this user's, the system's; those after the first two were added by us."""
    user = [f"{machine.home.rstrip('/')}/Applications"] if machine.home else []
    return ["/Applications", *user, "/System/Applications"]


def is_bundle(machine: Machine, path: str) -> bool:
    """Whether an application bundle is there: a folder with an `Info.plist`."""
    return machine.stat(path).kind == "directory" and machine.stat(f"{path}/Contents/Info.plist").kind == "file"


def bundles_below(machine: Machine) -> Iterator[str]:
    """Every bundle in the application folders and their subfolders, shallow ones first; bounded."""
    queue = deque((folder, 0) for folder in application_folders(machine))
    seen = 0
    while queue and seen < MAX_FOLDERS:
        folder, depth = queue.popleft()
        seen += 1
        for name in sorted(machine.names(folder, MAX_NAMES).names):
            path = f"{folder}/{name}"
            if name.endswith(".app"):
                yield path
            elif depth < MAX_DEPTH and "." not in name and machine.stat(path).kind == "directory":
                queue.append((path, depth + 1))


def info(machine: Machine, bundle: str) -> dict[str, Any]:
    """A bundle's `Info.plist`, XML or binary. Raises `CannotRead`."""
    data = machine.read(f"{bundle}/Contents/Info.plist", MAX_PLIST)
    try:
        root: object = plistlib.loads(data)
    except (plistlib.InvalidFileException, ExpatError, ValueError, TypeError, LookupError, OverflowError, OSError):
        raise CannotRead("unreadable", "its Info.plist is no property list") from None
    except (RecursionError, AttributeError, MemoryError):
        raise CannotRead("unreadable", "its Info.plist is nested beyond reading") from None
    if not isinstance(root, dict):
        raise CannotRead("unreadable", "its Info.plist is not a dictionary")
    return cast("dict[str, Any]", root)


def bundle_of(path: str) -> str:
    """The bundle a path is in: itself, or the nearest folder above it that ends in `.app`."""
    at = path
    while at and not at.endswith(".app"):
        at = at.rpartition("/")[0]
    return at or path


def homebrew_prefixes(machine: Machine) -> list[str]:
    """Where Homebrew may be: what its variable says, then the prefixes it installs to."""
    said = variable(machine, "HOMEBREW_PREFIX")
    prefixes = [said] if said and said.startswith("/") and ".." not in said.split("/") else []
    usual = ["/opt/homebrew", "/usr/local"] if machine.platform == "darwin" else ["/home/linuxbrew/.linuxbrew"]
    return list(dict.fromkeys([*(prefix.rstrip("/") for prefix in prefixes), *usual]))
