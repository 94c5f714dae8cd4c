"""npm's `package-lock.json` (version 3) to dependencies and back, without any address. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, cast

from homeport.ground.errors import Refused, Unavailable
from homeport.packages.pins import Dependency
from homeport.packages.requirement import Exact

_EDGES: Final = (("dependencies", ""), ("optionalDependencies", "optional:"), ("peerDependencies", "peer:"))
_ELSEWHERE: Final = re.compile(r"(?:git|https?|file|link|workspace|github|gitlab|bitbucket|gist)[+:]|[^@:\s]+/[^@\s]+$")
_PLATFORM: Final = ("os", "cpu", "libc")
_ROOT: Final = "homeport-runtime"


def package_json(wanted: Exact) -> dict[str, Any]:
    """The root package that depends on nothing but what is wanted."""
    return {"name": _ROOT, "version": "0.0.0", "private": True, "dependencies": {wanted.name: wanted.version}}


def dependencies(document: Mapping[str, Any]) -> Iterator[Dependency]:
    """What a package-lock holds. Raises `Refused` (`runtime.not_from_registry`), `Unavailable`."""
    packages = document.get("packages")
    if not isinstance(packages, dict) or document.get("lockfileVersion") != 3:
        raise Unavailable("npm wrote a lock of a version that is not known", code="runtime.unreadable_resolution")
    entries = {path: entry for path, entry in cast("dict[str, dict[str, Any]]", packages).items() if path}
    bundled = frozenset(path for path, entry in entries.items() if entry.get("inBundle"))
    for path, entry in entries.items():
        # What a package carries within is covered by its own hash, and npm finds it when it unpacks.
        if path not in bundled and not entry.get("dev"):
            yield _dependency(path, entry, bundled)


def _dependency(path: str, entry: Mapping[str, Any], bundled: frozenset[str]) -> Dependency:
    name = str(entry.get("name") or path.rpartition("node_modules/")[2])
    edges = tuple(sorted(_edges(path, entry, bundled)))
    integrity = str(entry.get("integrity", ""))
    foreign = [edge for edge in edges if _ELSEWHERE.match(edge.rpartition("@")[2])]
    if not integrity or entry.get("link") or foreign:
        what = f"wants {foreign[0]}" if foreign else "comes without a hash"
        raise Refused(
            f"{name} {what}: only packages of the registry can be locked",
            code="runtime.not_from_registry",
            remedy="choose a version that depends on published packages only",
        )
    return Dependency(name, str(entry["version"]), tuple(sorted(integrity.split())), _marker(entry), path, edges)


def _edges(path: str, entry: Mapping[str, Any], bundled: frozenset[str]) -> Iterator[str]:
    optional = {name for name, meta in dict(entry.get("peerDependenciesMeta", {})).items() if meta.get("optional")}
    for key, prefix in _EDGES:
        for name, wanted in dict(entry.get(key, {})).items():
            if f"{path}/node_modules/{name}" not in bundled:
                kind = "peer-optional:" if prefix == "peer:" and name in optional else prefix
                yield f"{kind}{name}@{wanted}"


def _marker(entry: Mapping[str, Any]) -> str:
    parts = [f"{key}={','.join(_listed(entry[key]))}" for key in _PLATFORM if key in entry]
    if entry.get("optional") or entry.get("devOptional"):
        parts.append("optional")
    return "; ".join(parts)


def _listed(value: object) -> Sequence[str]:
    return [value] if isinstance(value, str) else cast("Sequence[str]", value)


def package_lock(wanted: Exact, pins: Iterable[Dependency]) -> dict[str, Any]:
    """The package-lock that makes `npm ci` install exactly these, each checked against its hash."""
    root = package_json(wanted)
    packages: dict[str, Any] = {"": {key: root[key] for key in ("name", "version", "dependencies")}}
    packages |= {pin.path: _entry(pin) for pin in pins}
    return {"name": _ROOT, "version": "0.0.0", "lockfileVersion": 3, "requires": True, "packages": packages}


def _entry(pin: Dependency) -> dict[str, Any]:
    entry: dict[str, Any] = {"version": pin.version, "integrity": " ".join(pin.hashes)}
    if pin.path.rpartition("node_modules/")[2] != pin.name:
        entry["name"] = pin.name
    for part in filter(None, pin.marker.split("; ")):
        key, _, values = part.partition("=")
        entry[key] = values.split(",") if values else True
    for edge in pin.depends:
        _put_edge(entry, edge)
    return entry


def _put_edge(entry: dict[str, Any], edge: str) -> None:
    kind, colon, rest = edge.partition(":")
    keys = {"optional": "optionalDependencies", "peer": "peerDependencies", "peer-optional": "peerDependencies"}
    key, rest = (keys[kind], rest) if colon and kind in keys else ("dependencies", edge)
    name, wanted = split_edge(rest)
    entry.setdefault(key, {})[name] = wanted
    if kind == "peer-optional":
        entry.setdefault("peerDependenciesMeta", {})[name] = {"optional": True}


def split_edge(edge: str) -> tuple[str, str]:
    """`name@range` in two; a scope's own `@` stands at the start."""
    at = edge.index("@", 1)
    return edge[:at], edge[at + 1 :]
