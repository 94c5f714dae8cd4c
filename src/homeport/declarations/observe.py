"""The version of one copy that was found, read from where the declaration says. Never raises for what it reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias, cast

from homeport.declarations.locate import Package
from homeport.declarations.model import NOT_CHECKED, AppDef, Candidate, Observation
from homeport.machine import linux, macos, windows
from homeport.machine.expansion import expand
from homeport.machine.protocol import CannotRead, Machine
from homeport.machine.versions import version_within

MAX_VERSION: Final = 256


def observe(machine: Machine, app: AppDef, copy: Candidate, copies: Sequence[Candidate]) -> Observation:
    """The version of `copy`, which is one of the present `copies`."""
    reader = READERS.get(app.version.kind)
    if reader is None:
        return NOT_CHECKED
    try:
        found = reader(machine, app, copy, copies)
    except CannotRead as error:
        return Observation("error", detail=error.message)
    if found.state == "present" and len(found.value) > MAX_VERSION:
        return Observation("error", detail=f"its version is longer than {MAX_VERSION} characters")
    return found


def _stated(text: str | None, nothing: str) -> Observation:
    return Observation("present", text) if text else Observation("unavailable", detail=nothing)


def _plist(machine: Machine, app: AppDef, copy: Candidate, copies: Sequence[Candidate]) -> Observation:
    bundle = macos.bundle_of(copy.path) if app.presence == "executable" else copy.path
    table = macos.info(machine, bundle)
    for key in ("CFBundleShortVersionString", "CFBundleVersion"):
        value: object = table.get(key)
        if isinstance(value, str | int | float) and value:
            return Observation("present", str(value), f"{key} in {bundle}/Contents/Info.plist")
    return Observation("unavailable", detail="its Info.plist states no version")


def _pe_resource(machine: Machine, app: AppDef, copy: Candidate, copies: Sequence[Candidate]) -> Observation:
    return _stated(machine.pe_version(copy.path), "the program states no version")


def _uninstall(machine: Machine, app: AppDef, copy: Candidate, copies: Sequence[Candidate]) -> Observation:
    entries = windows.matching(windows.uninstall_entries(machine), app.version.argument)
    if not entries:
        return Observation("absent", detail=f"no uninstall entry is named {app.version.argument!r}")
    for entry in _nearest(machine, entries, copy, copies):
        if entry.version.strip():
            return Observation("present", entry.version.strip(), f"DisplayVersion of {entry.name!r}")
    return Observation("unavailable", detail="its uninstall entry states no version")


def _nearest(
    machine: Machine, entries: list[windows.UninstallEntry], copy: Candidate, copies: Sequence[Candidate]
) -> list[windows.UninstallEntry]:
    """The entries that may speak for a copy: the one that gave its path, those whose folder holds it, then those
    that speak for no other copy."""
    gave = [entry for entry in entries if entry == copy.origin]
    holds = [entry for entry in entries if _holds(machine, entry, copy.path)]
    others = [other for other in copies if other is not copy]
    claimed = [
        entry
        for entry in entries
        if any(entry == other.origin or _holds(machine, entry, other.path) for other in others)
    ]
    free = [entry for entry in entries if entry not in claimed]
    return list(dict.fromkeys([*gave, *holds, *free]))


def _holds(machine: Machine, entry: windows.UninstallEntry, path: str) -> bool:
    folder = expand(machine, windows.unquoted(entry.folder)) if entry.folder.strip() else None
    if folder is None or folder.reason:
        return False
    base = folder.path.replace("/", "\\").rstrip("\\").casefold() + "\\"
    return path.replace("/", "\\").casefold().startswith(base)


def _flatpak(machine: Machine, app: AppDef, copy: Candidate, copies: Sequence[Candidate]) -> Observation:
    origin = cast("object", copy.origin)
    name = app.version.argument or _named(app, "flatpak")
    own = isinstance(origin, Package) and origin.kind == "flatpak"
    bases = [origin.base] if isinstance(origin, Package) and own else linux.flatpak_installations(machine)
    for base in bases:
        if base is bases[-1] or machine.stat(f"{base}/app/{name}").kind == "directory":
            return _stated(linux.flatpak_version(machine, base, name), "its metainfo states no release")
    return Observation("unavailable", detail="no Flatpak installation has it")


def _snap(machine: Machine, app: AppDef, copy: Candidate, copies: Sequence[Candidate]) -> Observation:
    name = app.version.argument or _named(app, "snap").partition(".")[0]
    return _stated(linux.snap_version(machine, name), "its snap.yaml states no version")


def _dpkg(machine: Machine, app: AppDef, copy: Candidate, copies: Sequence[Candidate]) -> Observation:
    origin = cast("object", copy.origin)
    name = app.version.argument or _named(app, "dpkg")
    if isinstance(origin, Package) and origin.kind == "dpkg" and origin.name == name:
        version: str | None = origin.version
    else:
        package = linux.dpkg_package(machine, name)
        version = package.version if package else None
    return _stated(linux.upstream_version(version) if version else None, f"the package {name} is not installed")


def _path(machine: Machine, app: AppDef, copy: Candidate, copies: Sequence[Candidate]) -> Observation:
    origin = cast("object", copy.origin)
    if isinstance(origin, Package):
        texts: Sequence[str] = (origin.version,)
    else:
        texts = cast("tuple[str, ...]", origin) if isinstance(origin, tuple) else ()
    found = next((version for text in texts if (version := version_within(text)) is not None), None)
    return _stated(found.text.strip() if found else None, "what its '*' matched holds no version")


def _named(app: AppDef, kind: str) -> str:
    """The package that the first location of a kind names."""
    return next((location.value for location in app.locations if location.kind == kind), "")


Reader: TypeAlias = Callable[[Machine, AppDef, Candidate, Sequence[Candidate]], Observation]

READERS: Final[Mapping[str, Reader]] = {
    "plist": _plist,
    "pe_resource": _pe_resource,
    "uninstall_registry": _uninstall,
    "flatpak": _flatpak,
    "snap": _snap,
    "dpkg": _dpkg,
    "path": _path,
}
