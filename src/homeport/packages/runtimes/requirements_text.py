"""The text between uv and the lock: `name==version ; marker --hash=…`, parsed and written. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from homeport.ground.errors import Unavailable
from homeport.packages.pins import Dependency

_PIN: Final = re.compile(
    r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^\]]*\])?==(?P<version>[^\s;]+)(?:\s*;\s*(?P<marker>.+))?"
)
_HASH: Final = re.compile(r"sha256:[0-9a-f]{64}")


def dependencies(text: str) -> Iterator[Dependency]:
    """The pins of a compiled requirements file. Raises `Unavailable` (`runtime.unreadable_resolution`)."""
    for line in re.sub(r"\\\n", " ", text).splitlines():
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        head, *hashes = (part.strip() for part in line.split("--hash="))
        match = _PIN.fullmatch(head)
        if match is None or not hashes or not all(map(_HASH.fullmatch, hashes)):
            raise Unavailable(
                f"uv answered with a line that is no hashed pin: {line[:120]}", code="runtime.unreadable_resolution"
            )
        yield Dependency(match["name"], match["version"], tuple(sorted(set(hashes))), match["marker"] or "")


def requirements(pins: Iterable[Dependency]) -> str:
    """The requirements file that installs exactly these."""
    return "".join(_entry(pin) for pin in pins)


def _entry(pin: Dependency) -> str:
    marker = f" ; {pin.marker}" if pin.marker else ""
    return f"{pin.name}=={pin.version}{marker} " + " ".join(f"--hash={digest}" for digest in pin.hashes) + "\n"
