"""Every place where an application may be, in order, with what was found there. File metadata and records only.

No place ends the search: all candidates are kept, so that an old copy never hides a newer one and the trace can tell
each. One function a location kind, in `FINDERS`; how a kind is written is in `kinds`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

from homeport.declarations.model import AppDef, Candidate, Location, Presence, Resolution, ResolutionKind
from homeport.machine import linux, macos, windows
from homeport.machine.expansion import checked, expand, joined
from homeport.machine.protocol import CannotRead, Machine, paths_of, variable
from homeport.machine.stars import match_all

MAX_CANDIDATES: Final = 512
"""Candidates of one application."""

_UNREAD: Final[Mapping[str, str]] = {
    "missing": "nothing is there",
    "denied": "this user may not look there",
    "invalid_path": "this system cannot have such a path",
    "hung": "its file system does not answer",
    "unreadable": "it cannot be looked at",
    "too_many": "its folder holds more names than are listed",
}


@dataclass(frozen=True, slots=True)
class Package:
    """The record that gave a path. `base` is its installation, `version` what its record states, if it does."""

    kind: str
    name: str
    base: str = ""
    version: str = ""


@dataclass(slots=True)
class Search:
    """One search: where, for what, and the name its candidates carry."""

    machine: Machine
    app_id: str
    presence: Presence

    def look(self, path: str, kind: str = "", origin: object = None) -> Candidate:
        """The candidate of one absolute path."""
        source = f"app:{self.app_id}:{kind}" if kind else f"app:{self.app_id}"
        reason, detail = _look(self.machine, path, self.presence)
        return Candidate(path, source, reason == "found", reason, detail, origin)

    def absent(self, path: str, kind: str, reason: str, detail: str) -> Candidate:
        """A candidate that was not looked at, or a place without any."""
        source = f"app:{self.app_id}:{kind}" if kind else f"app:{self.app_id}"
        return Candidate(path, source, False, reason, detail)

    def written(self, text: str) -> Sequence[Candidate]:
        """The candidates of a written path, its home, variables and stars filled in."""
        path, reason, detail = expand(self.machine, text)
        if reason:
            return (self.absent(path, "", reason, detail),)
        return (self.look(path),) if "*" not in path else tuple(self.starred(path, ""))

    def starred(self, pattern: str, kind: str, origin: object = None) -> Iterator[Candidate]:
        """The candidates of a pattern, newest first."""
        matches = match_all(self.machine, pattern)
        for path, stars in zip(matches.paths, matches.stars, strict=True):
            yield self.look(path, kind, stars if origin is None else origin)
        if matches.trouble:
            yield self.absent(pattern, kind, matches.trouble, _UNREAD.get(matches.trouble, ""))
        elif not matches.paths:
            yield self.absent(pattern, kind, "no_match", "no folder or file matches the '*'")


def _look(machine: Machine, path: str, presence: Presence) -> tuple[str, str]:
    fact = machine.stat(path)
    if fact.kind == "file" and presence == "executable":
        return ("found", "") if fact.executable else ("not_executable", "this user may not run it")
    if fact.kind in _UNREAD:
        return ("not_found" if fact.kind == "missing" else fact.kind), _UNREAD[fact.kind]
    if presence == "bundle":
        if fact.kind != "directory":
            return "not_a_bundle", "it is a file, not an application bundle"
        if machine.stat(f"{path}/Contents/Info.plist").kind != "file":
            return "not_a_bundle", "it has no Contents/Info.plist"
        return "found", ""
    return "not_a_file", "it is a folder" if fact.kind == "directory" else "it is no regular file"


def locate(app: AppDef, machine: Machine) -> Resolution:
    """Look at every location of an application, and first at the place its user names.

    A block of another system than the machine's is not looked for: each of its places says so.
    """
    search = Search(machine, app.app_id, app.presence)
    if app.os_family != machine.platform:
        return Resolution("missing", tuple(_elsewhere(search, app)))
    found = _override(search)
    for location in app.locations:
        if location.kind == "path":
            found += search.written(location.value)
        else:
            found += FINDERS[location.kind](search, location)
        if len(found) > MAX_CANDIDATES:
            found[MAX_CANDIDATES:] = [search.absent("", "", "too_many", "there are too many places to look at")]
            break
    return Resolution(_kind(found), tuple(found))


def _kind(found: list[Candidate]) -> ResolutionKind:
    first = next((candidate for candidate in found if candidate.present), None)
    if first is None:
        return "missing"
    return "path_executable" if first.source.endswith(":command") else "known_path"


@lru_cache(maxsize=1024)
def override_variable(app_id: str) -> str:
    """The environment variable with which a user says where an application is."""
    return "HOMEPORT_APP_" + re.sub(r"[^A-Z0-9]", "_", app_id.upper())


def _override(search: Search) -> list[Candidate]:
    said = variable(search.machine, override_variable(search.app_id))
    if said is None:
        return []
    path, reason, detail = checked(search.machine, said)
    return [search.absent(said, "override", reason, detail) if reason else search.look(path, "override")]


def _elsewhere(search: Search, app: AppDef) -> Iterator[Candidate]:
    for location in app.locations:
        kind = "" if location.kind == "path" else location.kind
        path = location.value if location.kind in {"path", "command"} else ""
        yield search.absent(path, kind, "not_this_os", f"a place on {app.os_family} cannot be looked at from here")


def _command(search: Search, location: Location) -> Iterator[Candidate]:
    folders = program_folders(search.machine)
    for folder in folders:
        for name in program_names(search.machine, location.value):
            path = joined(search.machine, folder, name)
            if _look(search.machine, path, "executable")[0] == "found":
                yield search.look(path, "command")
                return
    looked = ", ".join(folders) if folders else "no absolute folder"
    yield search.absent(location.value, "command", "not_on_path", f"it is in none of PATH's folders: {looked}")


def program_folders(machine: Machine) -> list[str]:
    """The absolute folders of PATH, each once. Relative, empty and network entries are ignored."""
    said = variable(machine, "PATH") or ""
    entries = said.split(";" if machine.platform == "win32" else ":")
    folders = [checked(machine, entry.strip('"') if machine.platform == "win32" else entry) for entry in entries]
    return list(dict.fromkeys(folder.path for folder in folders if not folder.reason))


def program_names(machine: Machine, name: str) -> list[str]:
    """The file names that a command may have: on Windows with each of PATHEXT."""
    if machine.platform != "win32":
        return [name]
    said = variable(machine, "PATHEXT") or ".COM;.EXE;.BAT;.CMD"
    endings = [ending for ending in said.split(";") if re.fullmatch(r"\.[A-Za-z0-9]+", ending)]
    if any(name.casefold().endswith(ending.casefold()) for ending in endings):
        return [name]
    return [name + ending for ending in endings]


def _uninstall_registry(search: Search, location: Location) -> Iterator[Candidate]:
    machine, kind = search.machine, "uninstall_registry"
    entries = windows.matching(windows.uninstall_entries(machine), location.value)
    for entry in entries:
        yield from _of_entry(search, location, entry)
    name = paths_of(machine).basename(location.file)
    for text in windows.app_path(machine, name) if entries and "*" not in name else []:
        path = expand(machine, text)
        if path.reason:
            yield search.absent(text, kind, path.reason, path.detail)
        else:
            yield search.look(path.path, kind)
    if not entries:
        yield search.absent("", kind, "no_entry", f"no uninstall entry is named {location.value!r}")


def _of_entry(search: Search, location: Location, entry: windows.UninstallEntry) -> Iterator[Candidate]:
    """The places an uninstall entry leads to: its folder, else its icon's, else its uninstaller's."""
    machine, kind = search.machine, "uninstall_registry"
    folder = windows.unquoted(entry.folder)
    icon = windows.icon_file(entry.icon)
    folders = [folder] if folder else [icon.rpartition("\\")[0], windows.uninstaller_folder(entry.uninstaller)]
    folders = [text for text in dict.fromkeys(folders) if text]
    if not folders:
        yield search.absent("", kind, "no_folder", f"the uninstall entry {entry.name!r} names no folder")
    for text in folders:
        base = expand(machine, text)
        if base.reason:
            yield search.absent(base.path, kind, base.reason, base.detail)
            continue
        path = joined(machine, base.path, location.file)
        if "*" in location.file:
            yield from search.starred(path, kind, entry)
        else:
            yield search.look(path, kind, entry)


def _app_paths(search: Search, location: Location) -> Iterator[Candidate]:
    name = location.value if "." in location.value else f"{location.value}.exe"
    texts = windows.app_path(search.machine, name)
    for text in texts:
        path = expand(search.machine, text)
        if path.reason:
            yield search.absent(text, "app_paths", path.reason, path.detail)
        else:
            yield search.look(path.path, "app_paths")
    if not texts:
        yield search.absent(name, "app_paths", "no_entry", "App Paths does not have it")


def _app_bundle(search: Search, location: Location) -> Iterator[Candidate]:
    folders = macos.application_folders(search.machine)
    found = [search.look(f"{folder}/{location.value}", "app_bundle") for folder in folders]
    if not any(candidate.present for candidate in found):
        known = {candidate.path for candidate in found}
        below = [path for path in macos.bundles_below(search.machine) if path.endswith(f"/{location.value}")]
        found += [search.look(path, "app_bundle") for path in below if path not in known]
    yield from found


def _bundle_id(search: Search, location: Location) -> Iterator[Candidate]:
    wanted, found = location.value.casefold(), False
    for path in macos.bundles_below(search.machine):
        try:
            said = macos.info(search.machine, path).get("CFBundleIdentifier")
        except CannotRead:
            continue
        if isinstance(said, str) and said.casefold() == wanted:
            found = True
            yield search.look(path, "bundle_id")
    if not found:
        yield search.absent(location.value, "bundle_id", "no_entry", "no application has this identifier")


def _homebrew(search: Search, location: Location) -> Iterator[Candidate]:
    file = location.file or f"bin/{location.value}"
    for prefix in macos.homebrew_prefixes(search.machine):
        cellar = search.machine.link(f"{prefix}/opt/{location.value}") or ""
        version = cellar.rstrip("/").rpartition("/")[2]
        path = f"{prefix}/opt/{location.value}/{file}"
        yield search.look(path, "homebrew", Package("homebrew", location.value, prefix, version))


def _homebrew_cask(search: Search, location: Location) -> Iterator[Candidate]:
    for prefix in macos.homebrew_prefixes(search.machine):
        yield from search.starred(f"{prefix}/Caskroom/{location.value}/*/{location.file}", "homebrew_cask")


def _flatpak(search: Search, location: Location) -> Iterator[Candidate]:
    for base in linux.flatpak_installations(search.machine):
        origin = Package("flatpak", location.value, base)
        yield search.look(f"{base}/exports/bin/{location.value}", "flatpak", origin)


def _snap(search: Search, location: Location) -> Iterator[Candidate]:
    origin = Package("snap", location.value.partition(".")[0])
    for root in linux.SNAP_ROOTS:
        yield search.look(f"{root}/bin/{location.value}", "snap", origin)


def _desktop(search: Search, location: Location) -> Iterator[Candidate]:
    name = location.value.removesuffix(".desktop")
    names = list(dict.fromkeys((f"{name}.desktop", f"{name.replace('-', '/', 1)}.desktop")))
    found = False
    for folder in linux.application_folders(search.machine):
        for file in names:
            candidate = _of_desktop_file(search, f"{folder}/{file}")
            if candidate is not None:
                found = True
                yield candidate
    if not found:
        yield search.absent(f"{name}.desktop", "desktop", "no_entry", "no XDG data directory has this desktop file")


def _of_desktop_file(search: Search, path: str) -> Candidate | None:
    try:
        entry = linux.desktop_entry(search.machine.read(path, linux.MAX_DESKTOP_FILE))
    except CannotRead as error:
        if error.reason == "missing":
            return None
        return search.absent(path, "desktop", error.reason, error.message)
    if entry.hidden or not entry.program:
        said = "says that the application is deleted" if entry.hidden else "names no program"
        return search.absent(path, "desktop", "no_entry", f"the desktop file {said}")
    folders = [""] if entry.program.startswith("/") else program_folders(search.machine)
    programs = [f"{folder}/{entry.program}" if folder else entry.program for folder in folders]
    refused = checked(search.machine, programs[0]) if programs else None
    if refused is not None and refused.reason:
        return search.absent(entry.program, "desktop", refused.reason, refused.detail)
    looked = [search.look(program, "desktop") for program in programs]
    present = next((candidate for candidate in looked if candidate.present), None)
    if present is not None or len(looked) == 1:
        return present or looked[0]
    return search.absent(entry.program, "desktop", "not_on_path", f"{path} names it, and PATH does not have it")


def _dpkg(search: Search, location: Location) -> Iterator[Candidate]:
    try:
        package = linux.dpkg_package(search.machine, location.value)
        files = linux.dpkg_files(search.machine, package) if package else []
    except CannotRead as error:
        yield search.absent(location.value, "dpkg", error.reason, "the dpkg database cannot be read")
        return
    if package is None:
        yield search.absent(location.value, "dpkg", "no_entry", "the package is not installed")
        return
    origin = Package("dpkg", package.name, version=package.version)
    programs = linux.dpkg_programs(files, location.value, location.file)
    for path in programs[:MAX_CANDIDATES]:
        yield search.look(path, "dpkg", origin)
    if not programs:
        yield search.absent(location.value, "dpkg", "no_entry", "the package has no such program")


Finder: TypeAlias = Callable[[Search, Location], Iterator[Candidate]]

FINDERS: Final[Mapping[str, Finder]] = {
    "command": _command,
    "uninstall_registry": _uninstall_registry,
    "app_paths": _app_paths,
    "app_bundle": _app_bundle,
    "bundle_id": _bundle_id,
    "homebrew": _homebrew,
    "homebrew_cask": _homebrew_cask,
    "flatpak": _flatpak,
    "snap": _snap,
    "desktop": _desktop,
    "dpkg": _dpkg,
}
