"""What may stand in one field of a declaration: rooted paths, bare names, relative paths. Pure, standard library only.

Each check returns the words of what is wrong, or an empty text.
"""

from __future__ import annotations

import re
from typing import Final

_SLASHES: Final = re.compile(r"[/\\]")
_DRIVE: Final = re.compile(r"[A-Za-z]:[/\\]")
_START: Final = re.compile(
    r"~(?=[/\\]|\Z)|%[^%/\\:*?\"<>|=]+%|\$\{[A-Za-z_][A-Za-z0-9_()]*\}|\$[A-Za-z_][A-Za-z0-9_]*", re.ASCII
)
_KEY: Final = re.compile(r"[A-Za-z0-9_.-]+")
_ENDPOINT: Final = re.compile(r"/[A-Za-z0-9._~/-]*")


def wrong_path(text: str, os_family: str) -> str:
    """Why a text is not a rooted path for an operating system.

    Rooted: a drive and a slash on Windows, one slash elsewhere, or `~/`, `%NAME%`, `$NAME`, `${NAME}` in front.
    """
    segments = _SLASHES.split(text)
    if ".." in segments:
        return "must not climb with '..'"
    if "://" in text:
        return "must be a path, not an address"
    if "**" in text:
        return "must not hold '**': one '*' matches inside one path segment"
    if text[:1] in {"~", "%", "$"}:
        return _wrong_start(text)
    if os_family == "win32":
        return _wrong_windows(text)
    if text.startswith("//"):
        return "must start with one slash: '//' names another machine on some systems"
    return "" if text.startswith("/") else "must start with '/', '~/' or a variable"


def _wrong_start(text: str) -> str:
    match = _START.match(text)
    if match is None:
        if text.startswith("~"):
            return "must use '~/' for this user's home: other accounts are not looked up"
        return "must start with a whole variable: $NAME, ${NAME} or %NAME%"
    if _SLASHES.match(text, match.end()) and _SLASHES.match(text, match.end() + 1):
        return "must have one slash after its start"
    return ""


def _wrong_windows(text: str) -> str:
    if _DRIVE.match(text):
        return ""
    if re.match(r"[/\\]{2}", text):
        return "must be on this machine: network and device paths are refused"
    return "must start with a drive and a slash (C:\\), '~\\' or a variable"


def wrong_relative(text: str, *, stars: bool = False) -> str:
    """Why a text is not a relative path that stays below its folder."""
    segments = _SLASHES.split(text)
    if "://" in text:
        return "must be a path, not an address"
    if ".." in segments:
        return "must not climb with '..'"
    if "" in segments:
        return "must not start or end with a slash, nor double one"
    if ":" in segments[0]:
        return "must not name a drive"
    if "**" in text or ("*" in text and not stars):
        return "must not hold '**'" if stars else "must not hold '*'"
    return ""


def wrong_name(text: str) -> str:
    """Why a text is not a bare name: one path segment."""
    wrong = wrong_relative(text, stars=True)
    if wrong:
        return f"must be a bare name: {wrong}"
    if len(_SLASHES.split(text)) != 1:
        return "must be a bare name, without slashes"
    return "must name something" if text in {".", ".."} else ""


def wrong_key(text: str) -> str:
    """Why a text cannot name a member of a runtime file."""
    return "" if _KEY.fullmatch(text) else "must be letters, digits, '_', '.' or '-'"


def wrong_endpoint(text: str) -> str:
    """Why a text is not one plain path of a URL: anything else could rewrite the host that a token is sent to."""
    if not _ENDPOINT.fullmatch(text) or text.startswith("//"):
        return "must be a plain path: '/', letters, digits, '.', '_', '~', '-'"
    return "must not climb with '..'" if ".." in text.split("/") else ""


def wrong_homepage(text: str) -> str:
    """Why a text is not an address to show."""
    return "" if re.fullmatch(r"https://[^\s/@?#\"'<>\\]+(/[^\s\"'<>\\]*)?", text) else "must be an https:// address"
