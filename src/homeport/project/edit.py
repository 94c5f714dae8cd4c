"""Edits of `homeport.toml` that keep every comment, blank and order of what they do not touch. Pure: text to text.

A new table is put in as text, and a removed one cut out, so nothing else can change; a key of a table that is there
is changed by tomlkit. What came out is read again and must hold exactly what was asked for.
"""

from __future__ import annotations

import copy
import functools
import tomllib
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from typing import Any, Concatenate, ParamSpec, cast

from homeport.ground.errors import Conflict, InvalidInput, Place
from homeport.ground.paths import PROJECT_FILE
from homeport.project import toml_text
from homeport.project.lines import KeyPath, headers

_P = ParamSpec("_P")


def _keeping_line_ends(edit: Callable[Concatenate[str, _P], str]) -> Callable[Concatenate[str, _P], str]:
    """The edit, made on lines that end in LF; a file whose lines end in CR LF gets them back."""

    @functools.wraps(edit)
    def edited(text: str, /, *args: _P.args, **options: _P.kwargs) -> str:
        if "\r\n" not in text:
            return edit(text, *args, **options)
        return edit(text.replace("\r\n", "\n"), *args, **options).replace("\n", "\r\n")

    return edited


def new_project(name: str) -> str:
    """The text of a new project file: no servers, one profile that is granted nothing."""
    return f"[project]\nname = {toml_text.value(name)}\n\n[profiles.default]\n"


@_keeping_line_ends
def add_server(text: str, name: str, table: Mapping[str, Any]) -> str:
    """The text with `[servers.NAME]` added behind the servers there are.

    `table` is what belongs in it: `{"command": "npx", "args": […]}`. Raises `Conflict` (`project.server_exists`),
    `InvalidInput` (`project.syntax`).
    """
    if name in _read(text).get("servers", {}):
        raise Conflict(
            f"there is a server {name!r} already",
            code="project.server_exists",
            place=Place(PROJECT_FILE, path=f"servers.{name}"),
            remedy=f"choose another name, or `homeport remove {name}` first",
        )
    path = ("servers", name)
    return _checked(text, lambda whole: _put(whole, path, table), lambda: _insert(text, path, table))


@_keeping_line_ends
def remove_server(text: str, name: str) -> str:
    """The text without the server and all that was granted of it. Raises `InvalidInput` (`project.unknown_server`)."""
    document = _read(text)
    if name not in document.get("servers", {}):
        raise InvalidInput(
            f"there is no server {name!r}",
            code="project.unknown_server",
            remedy=f"known here: {', '.join(document.get('servers', {}))}",
        )
    paths: list[KeyPath] = [("servers", name)]
    paths += [
        ("profiles", profile, "grants", name)
        for profile, table in document.get("profiles", {}).items()
        if name in table.get("grants", {})
    ]
    for path in paths:
        text = _without(text, path)
    return text


@_keeping_line_ends
def set_grant(
    text: str,
    profile: str,
    server: str,
    can: Sequence[str],
    *,
    never: Sequence[str] | None = None,
    prompts: Sequence[str] | None = None,
    resources: Sequence[str] | None = None,
) -> str:
    """The text in which the profile may call `can` of the server; other keys and rules of the grant stay.

    None leaves a key as it is; an empty list removes it, and an empty `can` is written: it says that nothing is
    granted. The profile is made when there is none of that name.
    """
    path = ("profiles", profile, "grants", server)
    wanted: dict[str, list[str] | None] = {"can": list(can)}
    for key, names in (("never", never), ("prompts", prompts), ("resources", resources)):
        if names is not None:
            wanted[key] = list(names) or None
    if _at(_read(text), path) is None:
        table = {key: value for key, value in wanted.items() if value is not None}
        return _checked(text, lambda whole: _put(whole, path, table), lambda: _insert(text, path, table))
    return _change(text, path, wanted)


@_keeping_line_ends
def remove_grant(text: str, profile: str, server: str) -> str:
    """The text in which nothing of the server is granted to the profile; unchanged when nothing was."""
    path = ("profiles", profile, "grants", server)
    return text if _at(_read(text), path) is None else _without(text, path)


def _read(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(str(error), code="project.syntax", place=Place(PROJECT_FILE)) from None


def _checked(text: str, expect: Callable[[dict[str, Any]], None], attempt: Callable[[], str]) -> str:
    """The attempt, if it holds what `expect` makes of the old document; else the same edit by tomlkit."""
    expected = copy.deepcopy(_read(text))
    expect(expected)
    edited = attempt()
    if _holds(edited, expected):
        return edited
    import tomlkit

    document = tomlkit.parse(text)
    expect(cast("dict[str, Any]", document))
    return tomlkit.dumps(document)


def _holds(text: str, expected: Mapping[str, Any]) -> bool:
    try:
        return tomllib.loads(text) == expected
    except tomllib.TOMLDecodeError:
        return False


def _at(document: Mapping[str, Any], path: KeyPath) -> Any:
    found: Any = document
    for key in path:
        found = cast("Mapping[Any, Any]", found).get(key) if isinstance(found, Mapping) else None
    return found


def _put(document: MutableMapping[str, Any], path: KeyPath, table: Mapping[str, Any]) -> None:
    inside: Any = document
    for key in path[:-1]:
        inside = inside.setdefault(key, {})
    inside[path[-1]] = copy.deepcopy(dict(table))


def _insert(text: str, path: KeyPath, table: Mapping[str, Any]) -> str:
    """The block behind the last one that shares the most of its path; a new server before the profiles."""
    block = toml_text.block(cast("tuple[str, ...]", path), table)
    known = headers(text)
    for depth in range(len(path) - 1, 0, -1):
        alike = [index for index, (header, _) in enumerate(known) if header[:depth] == path[:depth]]
        if alike:
            following = known[alike[-1] + 1 :]
            return _spliced(text, _before_comment(text, following[0][1]) if following else len(text), block)
    later = [start for header, start in known if path[0] == "servers" and header[0] == "profiles"]
    return _spliced(text, _before_comment(text, later[0]) if later else len(text), block)


def _spliced(text: str, at: int, block: str) -> str:
    before, after = text[:at].rstrip("\n"), text[at:].lstrip("\n")
    return "\n\n".join(part for part in (before, block.rstrip("\n"), after) if part).rstrip("\n") + "\n"


def _before_comment(text: str, at: int) -> int:
    """The start of the comment lines right above a header: they belong to it."""
    lines = text[:at].splitlines(keepends=True)
    while lines and lines[-1].lstrip().startswith("#"):
        at -= len(lines.pop())
    return at


def _without(text: str, path: KeyPath) -> str:
    def drop(document: dict[str, Any]) -> None:
        del _at(document, path[:-1])[path[-1]]

    expected = copy.deepcopy(_read(text))
    drop(expected)
    edited = _cut(text, path)
    if _same_but_empty(edited, expected):
        return edited
    import tomlkit

    document = tomlkit.parse(text)
    drop(cast("dict[str, Any]", document))
    return tomlkit.dumps(document)


def _same_but_empty(text: str, expected: dict[str, Any]) -> bool:
    """Whether the text holds what is expected; a table that lost its last member may have lost its header with it."""
    try:
        return _pruned(tomllib.loads(text)) == _pruned(expected)
    except tomllib.TOMLDecodeError:
        return False


def _pruned(document: dict[str, Any]) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for key, value in document.items():
        pruned = _pruned(cast("dict[str, Any]", value)) if isinstance(value, dict) else value
        if pruned != {}:
            kept[key] = pruned
    return kept


def _cut(text: str, path: KeyPath) -> str:
    known = headers(text)
    for index in range(len(known) - 1, -1, -1):
        header, start = known[index]
        if header[: len(path)] != path:
            continue
        end = _before_comment(text, known[index + 1][1]) if index + 1 < len(known) else len(text)
        before, after = text[:start].rstrip("\n"), text[end:].lstrip("\n")
        text = "\n\n".join(part for part in (before, after) if part).rstrip("\n") + "\n"
    return text


def _change(text: str, path: KeyPath, wanted: Mapping[str, Sequence[str] | None]) -> str:
    import tomlkit

    document = tomlkit.parse(text)
    grant = cast("MutableMapping[str, Any]", _at(cast("Mapping[str, Any]", document), path))
    for key, names in wanted.items():
        if names is None:
            grant.pop(key, None)
        elif grant.get(key) != names:
            grant[key] = tomlkit.value(toml_text.value(names))
    return tomlkit.dumps(document)
