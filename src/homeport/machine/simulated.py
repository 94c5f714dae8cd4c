"""A machine described by data, for tests and for authors (`homeport check --machine FILE`).

    {"platform": "win32", "architecture": "AMD64", "home": "C:\\Users\\me", "environment": {"PATH": "…"},
     "files": {"C:\\Vendor\\app.exe": {"pe_version": "2.3.0.0"}, "C:\\run.json": "text",
               "/usr/bin/tool": {"executable": true}, "/lnk": {"link": "/usr/bin/tool"}, "/p": {"kind": "other"},
               "/A.app/Contents/Info.plist": {"plist": {"CFBundleIdentifier": "…"}}, "/x": {"base64": "…"}},
     "directories": ["/empty"],
     "registry": {"HKLM\\SOFTWARE\\…": {"DisplayName": "…"}},
     "processes": {"41": {"executable": "/usr/bin/tool", "started": 1.0}},
     "user_id": 1000}

A file makes the directories above it. On Windows paths and keys are matched in any case, and either slash is good.
`registry` keys below `WOW6432Node` are the 32-bit view. Every question asked is counted in `reads`.
"""

from __future__ import annotations

import base64
import ntpath
import plistlib
import posixpath
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

from homeport.ground.errors import InvalidInput
from homeport.machine.protocol import (
    MISSING,
    Bits,
    CannotRead,
    FileFact,
    FileKind,
    Hive,
    Names,
    ProcessFact,
    RegistryKey,
)

MAX_LINKS: Final = 40
KEYS: Final = (
    "platform", "architecture", "home", "environment", "files", "directories", "registry", "processes", "user_id",
)  # fmt: skip
FILE_KEYS: Final = (
    "kind", "executable", "text", "base64", "plist", "pe_version", "size", "modified", "owner", "mode", "link",
)  # fmt: skip
_KINDS: Final = ("file", "other", "denied", "hung", "unreadable")


@dataclass(frozen=True, slots=True)
class SimulatedFile:
    """One file of a described machine."""

    kind: FileKind = "file"
    data: bytes = b""
    executable: bool = True
    size: int = -1
    """-1: as long as its data."""
    modified: float = 0.0
    owner: int | None = None
    mode: int = 0o644
    link: str = ""
    pe_version: str | None = None


@dataclass(slots=True)
class SimulatedMachine:
    """A machine that is what its data says."""

    platform: str = "linux"
    architecture: str = "x86_64"
    home: str = ""
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    files: Mapping[str, SimulatedFile] = field(default_factory=dict[str, SimulatedFile])
    directories: tuple[str, ...] = ()
    registry_keys: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    processes: Mapping[int, ProcessFact] = field(default_factory=dict[int, ProcessFact])
    user_id: int | None = None
    reads: Counter[str] = field(default_factory=Counter[str])
    """Questions asked, by the name of the method."""
    asked: list[str] = field(default_factory=list[str])
    """The paths and keys asked about, in order."""
    _files: dict[str, SimulatedFile] = field(default_factory=dict[str, SimulatedFile], repr=False)
    _children: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]], repr=False)
    _keys: dict[str, tuple[RegistryKey, dict[str, str]]] = field(
        default_factory=dict[str, tuple[RegistryKey, dict[str, str]]], repr=False
    )

    def __post_init__(self) -> None:
        for path, file in self.files.items():
            self._files[self._key(path)] = file
            self._above(path)
        for path in self.directories:
            self._children.setdefault(self._key(path), {})
            self._above(path)
        for key, values in self.registry_keys.items():
            self._add_key(key, values)

    def _path_rules(self) -> Any:
        return ntpath if self.platform == "win32" else posixpath

    def _key(self, path: str) -> str:
        normal = cast("str", self._path_rules().normpath(path))
        return normal.casefold() if self.platform == "win32" else normal

    def _above(self, path: str) -> None:
        rules = self._path_rules()
        normal = cast("str", rules.normpath(path))
        while True:
            parent, name = cast("tuple[str, str]", rules.split(normal))
            if not name:
                return
            self._children.setdefault(self._key(parent), {})[self._key(name)] = name
            normal = parent

    def _add_key(self, key: str, values: Mapping[str, str]) -> None:
        parts = [part for part in key.split("\\") if part]
        for depth in range(1, len(parts) + 1):
            at = "\\".join(parts[:depth]).casefold()
            found, children = self._keys.setdefault(at, (RegistryKey(), {}))
            if depth == len(parts):
                self._keys[at] = (RegistryKey(dict(values), found.subkeys), children)
            else:
                children.setdefault(parts[depth].casefold(), parts[depth])

    def _count(self, what: str, about: str) -> None:
        self.reads[what] += 1
        self.asked.append(about)

    def _resolve(self, path: str) -> str | None:
        """The key of what a path leads to, links followed; None when there are too many links."""
        rules = self._path_rules()
        for _ in range(MAX_LINKS):
            followed = self._one_link(path)
            if followed is None:
                return self._key(path)
            at, rest = followed
            path = cast("str", rules.normpath(rules.join(rules.dirname(at), self._files[self._key(at)].link, rest)))
        return None

    def _one_link(self, path: str) -> tuple[str, str] | None:
        """The first link on the way down a path, and what follows it."""
        rules = self._path_rules()
        normal = cast("str", rules.normpath(path))
        steps: list[str] = []
        while True:
            steps.append(normal)
            parent = cast("str", rules.dirname(normal))
            if parent == normal:
                break
            normal = parent
        for step in reversed(steps):
            file = self._files.get(self._key(step))
            if file is not None and file.link:
                return step, cast("str", rules.normpath(path))[len(step) :].lstrip("/\\")
        return None

    def stat(self, path: str) -> FileFact:
        """What is at an absolute path, links followed."""
        self._count("stat", path)
        if "\0" in path:
            return FileFact("invalid_path")
        key = self._resolve(path)
        if key is None:
            return MISSING
        file = self._files.get(key)
        if file is not None:
            size = len(file.data) if file.size < 0 else file.size
            runs = file.kind == "file" and (file.executable or self.platform == "win32")
            return FileFact(file.kind, runs, size, file.modified, file.owner, file.mode)
        if key in self._children:
            return FileFact("directory", mode=0o755)
        return MISSING

    def names(self, path: str, limit: int) -> Names:
        """At most `limit` names in a directory."""
        self._count("names", path)
        if "\0" in path:
            return Names(trouble="invalid_path")
        key = self._resolve(path)
        if key is None or key not in self._children:
            return Names(trouble="missing")
        names = tuple(self._children[key].values())
        return Names(names[:limit], complete=len(names) <= limit)

    def _file(self, path: str) -> SimulatedFile:
        key = None if "\0" in path else self._resolve(path)
        file = self._files.get(key) if key is not None else None
        if file is None:
            directory = key is not None and key in self._children
            raise CannotRead("not_a_file" if directory else "missing", "it is not a regular file")
        if file.kind != "file":
            raise CannotRead("not_a_file" if file.kind == "other" else file.kind, "it is not a regular file")
        return file

    def read(self, path: str, limit: int) -> bytes:
        """A regular file of at most `limit` bytes. Raises `CannotRead`."""
        self._count("read", path)
        file = self._file(path)
        if max(len(file.data), file.size) > limit:
            raise CannotRead("too_large", f"it is larger than {limit} bytes")
        return file.data

    def link(self, path: str) -> str | None:
        """What a symbolic link says, or None when it is none."""
        self._count("link", path)
        file = self._files.get(self._key(path))
        return file.link if file is not None and file.link else None

    def registry(self, hive: Hive, key: str, bits: Bits = 64) -> RegistryKey | None:
        """A registry key in one view; only Windows has one."""
        self._count("registry", f"{hive}\\{key}")
        if self.platform != "win32":
            return None
        if bits == 32 and hive == "HKLM":
            first, _, rest = key.partition("\\")
            key = f"{first}\\WOW6432Node\\{rest}"
        found = self._keys.get(f"{hive}\\{key}".casefold())
        return RegistryKey(found[0].values, tuple(found[1].values())) if found is not None else None

    def process(self, pid: int) -> ProcessFact:
        """Whether a process is alive."""
        self._count("process", str(pid))
        return self.processes.get(pid, ProcessFact(alive=False))

    def pe_version(self, path: str) -> str | None:
        """The binary file version of a PE file: stated, or read from its bytes. Raises `CannotRead`."""
        self._count("pe_version", path)
        file = self._file(path)
        if file.pe_version is not None or not file.data:
            return file.pe_version
        from homeport.machine.pe import file_version

        return file_version(file.data)


def from_data(data: object) -> SimulatedMachine:
    """A machine from a decoded description. Raises `InvalidInput` (`machine.description`)."""
    table = _mapping(data, "the description")
    unknown = sorted(str(key) for key in table if key not in KEYS)
    if unknown:
        raise _wrong(f"unknown keys {', '.join(unknown)}; allowed are {', '.join(KEYS)}")
    platform = _text(table.get("platform", "linux"), "platform")
    return SimulatedMachine(
        platform=platform,
        architecture=_text(table.get("architecture", "x86_64"), "architecture"),
        home=_text(table.get("home", ""), "home"),
        environment=_texts(table.get("environment", {}), "environment"),
        files={
            _text(path, "files"): _file(path, value)
            for path, value in _mapping(table.get("files", {}), "files").items()
        },
        directories=tuple(_text(path, "directories") for path in _list(table.get("directories", []), "directories")),
        registry_keys={
            long_hive(_text(key, "registry")): _texts(values, f"registry {key}")
            for key, values in _mapping(table.get("registry", {}), "registry").items()
        },
        processes=dict(
            _process(pid, value) for pid, value in _mapping(table.get("processes", {}), "processes").items()
        ),
        user_id=_whole(table.get("user_id"), "user_id"),
    )


def long_hive(key: str) -> str:
    """A registry key with its hive in the short spelling."""
    hive, _, rest = key.strip("\\").partition("\\")
    short = {"HKEY_LOCAL_MACHINE": "HKLM", "HKEY_CURRENT_USER": "HKCU"}.get(hive.upper(), hive.upper())
    return f"{short}\\{rest}"


def _file(path: object, value: object) -> SimulatedFile:
    if isinstance(value, str):
        return SimulatedFile(data=value.encode("utf-8", "surrogatepass"))
    what = f"files {path}"
    table = _mapping(value, what)
    unknown = sorted(str(key) for key in table if key not in FILE_KEYS)
    if unknown:
        raise _wrong(f"{what}: unknown keys {', '.join(unknown)}; allowed are {', '.join(FILE_KEYS)}")
    kind = _text(table.get("kind", "file"), what)
    if kind not in _KINDS:
        raise _wrong(f"{what}: kind is {kind!r}; allowed are {', '.join(_KINDS)}")
    version = table.get("pe_version")
    return SimulatedFile(
        kind=cast("FileKind", kind),
        data=_content(table, what),
        executable=_flag(table.get("executable", True), what),
        size=_whole(table.get("size"), what) or -1,
        modified=float(_whole(table.get("modified"), what) or 0),
        owner=_whole(table.get("owner"), what),
        mode=_whole(table.get("mode"), what) or 0o644,
        link=_text(table.get("link", ""), what),
        pe_version=None if version is None else _text(version, what),
    )


def _content(table: Mapping[Any, object], what: str) -> bytes:
    if "plist" in table:
        try:
            return plistlib.dumps(cast("Any", table["plist"]))
        except (TypeError, OverflowError, RecursionError, AttributeError):
            raise _wrong(f"{what}: plist holds what a property list cannot") from None
    if "base64" in table:
        try:
            return base64.b64decode(_text(table["base64"], what), validate=True)
        except ValueError:
            raise _wrong(f"{what}: base64 is not base64") from None
    return _text(table.get("text", ""), what).encode("utf-8", "surrogatepass")


def _process(pid: object, value: object) -> tuple[int, ProcessFact]:
    text = _text(pid, "processes")
    if not (text.isascii() and text.isdecimal() and len(text) < 11):
        raise _wrong(f"processes: {text!r} is no process id")
    table = _mapping(value, f"processes {text}")
    program, started = table.get("executable"), table.get("started")
    return int(text), ProcessFact(
        alive=True,
        executable=None if program is None else _text(program, f"processes {text}"),
        started=float(started) if isinstance(started, int | float) else None,
    )


def _wrong(message: str) -> InvalidInput:
    remedy = "docs/declarations.md, section Simulated machines, shows one"
    return InvalidInput(message, code="machine.description", remedy=remedy)


def _mapping(value: object, what: str) -> Mapping[Any, object]:
    if not isinstance(value, dict):
        raise _wrong(f"{what} must be a mapping")
    return cast("dict[Any, object]", value)


def _list(value: object, what: str) -> list[object]:
    if not isinstance(value, list):
        raise _wrong(f"{what} must be a list")
    return cast("list[object]", value)


def _text(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise _wrong(f"{what} must be a text")
    return value


def _texts(value: object, what: str) -> dict[str, str]:
    return {_text(key, what): _text(text, what) for key, text in _mapping(value, what).items()}


def _flag(value: object, what: str) -> bool:
    if not isinstance(value, bool):
        raise _wrong(f"{what} must be true or false")
    return value


def _whole(value: object, what: str) -> int | None:
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise _wrong(f"{what} must be a whole number")
