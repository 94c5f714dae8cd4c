"""The kinds of location and of version source: one entry each. Standard library only.

What an entry says is read by the parser, the JSON Schema and the documentation; `locate.FINDERS` and
`machine.version_sources` hold the code of the same names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from homeport.declarations.model import Presence

EVERYWHERE: Final = ("win32", "darwin", "linux")


@dataclass(frozen=True, slots=True)
class LocationKind:
    """How one kind is written."""

    name: str
    systems: tuple[str, ...]
    key: str
    presence: Presence
    value: Literal["name", "text", "bundle"] = "name"
    """`name`: one path segment; `text`: any text; `bundle`: a name that ends in `.app`, added when missing."""
    file: Literal["none", "optional", "required"] = "none"
    looks: str = ""
    """Where it looks, for the documentation."""


def _table(*kinds: LocationKind) -> Mapping[str, LocationKind]:
    return {kind.name: kind for kind in kinds}


LOCATION_KINDS: Final = _table(
    LocationKind("command", EVERYWHERE, "name", "executable", looks="the absolute folders of PATH"),
    LocationKind(
        "uninstall_registry", ("win32",), "display_name_prefix", "executable", "text", "required",
        "the folder that the program's uninstall entry names, then App Paths",
    ),
    LocationKind("app_paths", ("win32",), "name", "executable", looks="App Paths in the registry"),
    LocationKind(
        "app_bundle", ("darwin",), "name", "bundle", "bundle",
        looks="/Applications, ~/Applications, /System/Applications and their subfolders",
    ),
    LocationKind(
        "bundle_id", ("darwin",), "id", "bundle",
        looks="the applications in those folders whose Info.plist has this identifier",
    ),
    LocationKind(
        "homebrew", ("darwin", "linux"), "formula", "executable", file="optional",
        looks="the formula's linked version below Homebrew's prefix",
    ),
    LocationKind(
        "homebrew_cask", ("darwin",), "cask", "bundle", file="required", looks="the cask's versions in the Caskroom"
    ),
    LocationKind(
        "flatpak", ("linux",), "app_id", "executable", looks="the exports of the system's and the user's Flatpak"
    ),
    LocationKind("snap", ("linux",), "name", "executable", looks="/snap/bin, /var/lib/snapd/snap/bin"),
    LocationKind(
        "desktop", ("linux",), "id", "executable", looks="the program of a desktop file in the XDG data directories"
    ),
    LocationKind(
        "dpkg", ("linux",), "package", "executable", file="optional",
        looks="the files of a package in the dpkg database",
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class VersionKind:
    """How one source of versions is written."""

    name: str
    systems: tuple[str, ...]
    key: str = ""
    """The key of its argument; empty: it has none."""
    required: bool = False
    """Whether the argument must be given; otherwise it comes from a location of the same kind."""
    value: Literal["name", "text"] = "name"
    locations: tuple[str, ...] = ()
    """Kinds of location that give the argument."""


def _sources(*kinds: VersionKind) -> Mapping[str, VersionKind]:
    return {kind.name: kind for kind in kinds}


VERSION_KINDS: Final = _sources(
    VersionKind("none", EVERYWHERE),
    VersionKind("path", EVERYWHERE, locations=("path", "homebrew", "homebrew_cask")),
    VersionKind("pe_resource", ("win32",)),
    VersionKind("uninstall_registry", ("win32",), "display_name_prefix", required=True, value="text"),
    VersionKind("plist", ("darwin",)),
    VersionKind("flatpak", ("linux",), "app_id", locations=("flatpak",)),
    VersionKind("snap", ("linux",), "name", locations=("snap",)),
    VersionKind("dpkg", ("linux",), "package", locations=("dpkg",)),
)

PRESENCES: Final[tuple[Presence, ...]] = ("executable", "bundle")
BUNDLE_SYSTEMS: Final = ("darwin",)
LIVENESS_KINDS: Final = ("none", "server_json")

APP_KEYS: Final = (*EVERYWHERE, "title", "homepage")
BLOCK_KEYS: Final = ("presence", "location", "version", "liveness")
REQUIRES_KEYS: Final = ("app", "min_version", "version", "gpu", "running")
LIVENESS_KEYS: Final = ("kind", "path", "pid_key", "url_key", "token_key", "endpoint_path", "executable")
