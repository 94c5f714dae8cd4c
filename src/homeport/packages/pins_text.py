"""`homeport.lock` as text: TOML that reviews and merges well, the same bytes for the same lock. Pure."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NoReturn, cast

from homeport.ground.errors import InvalidInput, Place
from homeport.ground.names import is_server
from homeport.ground.paths import LOCK_FILE
from homeport.packages.pins import FORMAT, Dependency, Kind, Lock, Pin, Runtime, new_runtime

_HEAD: Final = "# Written by Homeport. Commit it; change it with `homeport lock` (`--upgrade`).\n"
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
_HASH: Final = re.compile(r"sha256:[0-9a-f]{64}|sha(?:1|256|384|512)-[A-Za-z0-9+/]+={0,2}")
_SERVER_KEYS: Final = frozenset({"source", "argv", "runtime", "surface"})
_RUNTIME_KEYS: Final = frozenset({"digest", "kind", "requirement", "dependencies"})
_DEPENDENCY_KEYS: Final = frozenset({"name", "version", "hashes", "marker", "path", "depends"})


def dump(lock: Lock) -> bytes:
    """The lock as TOML: servers and runtimes in the order of their names and digests, one hash a line."""
    return "".join(_document(lock)).encode("utf-8")


def parse(data: bytes, *, file: str = LOCK_FILE) -> Lock:
    """The lock in `data`.

    Raises `InvalidInput`: `lock.newer` for a format this version does not know, `lock.corrupt` with file and line or
    key path for anything that `dump` does not write, a runtime whose content is not that of its digest included.
    """
    document = _decode(data, file)
    reader = _Reader(file)
    reader.format(document)
    reader.known(document, frozenset({"format", "servers", "runtimes"}), "")
    runtimes: dict[str, Runtime] = {}
    for index, raw in enumerate(reader.tables(document, "runtimes", "")):
        runtime = reader.runtime(raw, f"runtimes[{index}]")
        runtimes[runtime.digest] = runtime
    servers = reader.table(document, "servers")
    return Lock({name: reader.pin(name, raw, runtimes) for name, raw in servers.items()})


def _document(lock: Lock) -> Iterator[str]:
    yield _HEAD
    yield f"format = {FORMAT}\n"
    for name, pin in sorted(lock.pins.items()):
        yield f"\n[servers.{name}]\nsource = {_quoted(pin.source)}\n"
        if pin.argv:
            yield f"argv = [{', '.join(map(_quoted, pin.argv))}]\n"
        if pin.runtime is not None:
            yield f"runtime = {_quoted(pin.runtime.digest)}\n"
        if pin.surface:
            yield f"surface = {_quoted(pin.surface)}\n"
    for digest, runtime in sorted(lock.runtimes().items()):
        yield f"\n[[runtimes]]\ndigest = {_quoted(digest)}\nkind = {_quoted(runtime.kind)}\n"
        yield f"requirement = {_quoted(runtime.requirement)}\n"
        for dependency in runtime.dependencies:
            yield from _dependency(dependency)


def _dependency(each: Dependency) -> Iterator[str]:
    yield f"\n[[runtimes.dependencies]]\nname = {_quoted(each.name)}\nversion = {_quoted(each.version)}\n"
    if each.path:
        yield f"path = {_quoted(each.path)}\n"
    if each.marker:
        yield f"marker = {_quoted(each.marker)}\n"
    if each.depends:
        yield f"depends = {_lines(each.depends)}\n"
    # One text, a hash a line: the hundreds of strings of a list take tomllib ten times as long.
    yield "hashes = '''\n" + "".join(f"{digest}\n" for digest in each.hashes) + "'''\n"


def _lines(texts: Iterable[str]) -> str:
    return "[\n" + "".join(f"  {_quoted(text)},\n" for text in texts) + "]"


def _quoted(text: str) -> str:
    """A TOML basic string. JSON's escapes are TOML's, but DEL must be escaped too."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _decode(data: bytes, file: str) -> Mapping[str, Any]:
    try:
        return tomllib.loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _corrupt("not UTF-8", Place(file, line)) from None
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"\(at line (\d+), column \d+\)", str(error))
        line = int(found[1]) if found else data.count(b"\n") + 1
        raise _corrupt(re.sub(r" \(at .*\)$", "", str(error)), Place(file, line)) from None
    except RecursionError:
        raise _corrupt("nested too deeply", Place(file)) from None


def _corrupt(message: str, place: Place) -> InvalidInput:
    remedy = f"take {LOCK_FILE} from version control, or remove it and run `homeport lock`"
    return InvalidInput(message, code="lock.corrupt", place=place, remedy=remedy)


class _Reader:
    """Reads what `dump` writes and refuses everything else, saying where."""

    def __init__(self, file: str) -> None:
        self.file = file

    def fail(self, message: str, path: str) -> NoReturn:
        raise _corrupt(message, Place(self.file, path=path))

    def format(self, document: Mapping[str, Any]) -> None:
        found = document.get("format")
        if not isinstance(found, int) or isinstance(found, bool) or found < 1:
            self.fail("no format number", "format")
        if found > FORMAT:
            raise InvalidInput(
                f"written by a newer Homeport: its format is {found}, this version reads {FORMAT}",
                code="lock.newer",
                place=Place(self.file, path="format"),
                remedy="use the version of Homeport that wrote it, or a newer one",
            )

    def known(self, table: Mapping[str, Any], keys: frozenset[str], path: str) -> None:
        for key in table:
            if key not in keys:
                self.fail(f"unknown key {key!r}", path)

    def table(self, table: Mapping[str, Any], key: str) -> Mapping[str, Mapping[str, Any]]:
        found = table.get(key, {})
        if not isinstance(found, dict):
            self.fail("not a table", key)
        members = cast("dict[str, Any]", found)
        for name, value in members.items():
            if not isinstance(value, dict):
                self.fail("not a table", f"{key}.{name}")
        return members

    def tables(self, table: Mapping[str, Any], key: str, path: str) -> list[Mapping[str, Any]]:
        found = table.get(key, [])
        if not isinstance(found, list) or not all(isinstance(each, dict) for each in cast("list[Any]", found)):
            self.fail("not a list of tables", f"{path}.{key}" if path else key)
        return cast("list[Mapping[str, Any]]", found)

    def text(self, table: Mapping[str, Any], key: str, path: str, *, required: bool = True) -> str:
        found = table.get(key, None if required else "")
        if not isinstance(found, str):
            self.fail("missing" if found is None else "not a string", f"{path}.{key}")
        return found

    def texts(self, table: Mapping[str, Any], key: str, path: str) -> tuple[str, ...]:
        found = table.get(key, [])
        if not isinstance(found, list) or not all(isinstance(each, str) for each in cast("list[Any]", found)):
            self.fail("not a list of strings", f"{path}.{key}")
        return tuple(cast("list[str]", found))

    def pin(self, name: str, raw: Mapping[str, Any], runtimes: Mapping[str, Runtime]) -> Pin:
        path = f"servers.{name}"
        if not is_server(name):
            self.fail("not the name of a server", path)
        self.known(raw, _SERVER_KEYS, path)
        digest = self.text(raw, "runtime", path, required=False)
        if digest and digest not in runtimes:
            self.fail("names a runtime that is not in this file", f"{path}.runtime")
        surface = self.text(raw, "surface", path, required=False)
        if surface and not _DIGEST.fullmatch(surface):
            self.fail("not a digest", f"{path}.surface")
        return Pin(name, self.text(raw, "source", path), self.texts(raw, "argv", path), runtimes.get(digest), surface)

    def runtime(self, raw: Mapping[str, Any], path: str) -> Runtime:
        self.known(raw, _RUNTIME_KEYS, path)
        kind = self.text(raw, "kind", path)
        if kind not in {"python", "node"}:
            self.fail(f"{kind!r} is no kind of runtime", f"{path}.kind")
        tables = self.tables(raw, "dependencies", path)
        dependencies = [self.dependency(each, f"{path}.dependencies[{index}]") for index, each in enumerate(tables)]
        runtime = new_runtime(cast("Kind", kind), self.text(raw, "requirement", path), dependencies)
        if runtime.digest != self.text(raw, "digest", path):
            self.fail("its content is not what its digest says", f"{path}.digest")
        return runtime

    def dependency(self, raw: Mapping[str, Any], path: str) -> Dependency:
        self.known(raw, _DEPENDENCY_KEYS, path)
        hashes = tuple(self.text(raw, "hashes", path).split())
        if not hashes or not all(map(_HASH.fullmatch, hashes)):
            self.fail("a dependency needs its hashes, one a line", f"{path}.hashes")
        return Dependency(
            self.text(raw, "name", path),
            self.text(raw, "version", path),
            hashes,
            self.text(raw, "marker", path, required=False),
            self.text(raw, "path", path, required=False),
            self.texts(raw, "depends", path),
        )
