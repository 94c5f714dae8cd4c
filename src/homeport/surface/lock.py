"""`homeport.surface/<server>.json`: what a server offers, as text for review and as values.

    {"format": 1, "server": {…}, "instructions": "…", "capabilities": {…},
     "tools": {NAME: {"digest": "sha256:…", "definition": {…}}}, "prompts": …, "templates": …,
     "pages": {URI: "sha256:…"}, "quarantined": {NAME: {"code", "reason", "definition"}}, "digest": "sha256:…"}

Definitions stay as received, members in their order and numbers as written; everything of ours is sorted by name. The
digest is over the canonical form of all else, so a file that was edited by hand is noticed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from homeport.ground import digests, exact
from homeport.ground.errors import InvalidInput, Place
from homeport.ground.exact import Json
from homeport.surface.headers import header_fault
from homeport.surface.model import FORMAT, Item, Quarantined, ServerIdentity, Surface
from homeport.surface.schemas import usable
from homeport.surface.weight import Unusable

MAX_FILE: Final = 64 * 1024 * 1024
MAX_NAME: Final = 256
"""Characters of a tool's or prompt's name."""
_RELOCK: Final = "read the server again with `homeport lock`, or restore the file from version control"


def from_listing(
    *,
    server: ServerIdentity | None = None,
    instructions: str = "",
    capabilities: Mapping[str, Json] | None = None,
    tools: Sequence[Json] = (),
    prompts: Sequence[Json] = (),
    templates: Sequence[Json] = (),
    pages: Mapping[str, str] | None = None,
) -> Surface:
    """The surface out of raw definitions (as `ground.exact` decodes them) and the texts of `ui://` pages by URI.

    A definition that cannot be used is quarantined alone, with code and reason. Never raises for what a server sent.
    """
    quarantined: dict[str, Quarantined] = {}
    surface = Surface(
        server=server or ServerIdentity(),
        instructions=instructions,
        capabilities=dict(capabilities or {}),
        tools=_items(tools, "name", "", quarantined, check=True),
        prompts=_items(prompts, "name", "prompts/", quarantined),
        templates=_items(templates, "uriTemplate", "templates/", quarantined),
        pages={uri: _page_digest(text) for uri, text in sorted((pages or {}).items())},
        quarantined=dict(sorted(quarantined.items())),
    )
    return _sealed(surface)


def _items(
    definitions: Sequence[Json], key: str, prefix: str, quarantined: dict[str, Quarantined], *, check: bool = False
) -> dict[str, Item]:
    """Items by name; what cannot be one goes to `quarantined` under `prefix` + name."""
    counts = Counter(_name_of(definition, key) for definition in definitions)
    items: dict[str, Item] = {}
    for index, definition in enumerate(definitions):
        name = _name_of(definition, key)
        fault = _name_fault(name, counts) or (_tool_fault(definition) if check else None)
        if fault is None and isinstance(definition, dict):
            items[name] = Item(name, definition, digests.of_json(definition))
        else:
            code, reason = fault or ("item.not_object", "the definition is not an object")
            where = prefix + (name or f"#{index}")
            quarantined[where] = Quarantined(where, code, reason, definition)
    return dict(sorted(items.items()))


def _name_of(definition: Json, key: str) -> str:
    name = definition.get(key) if isinstance(definition, dict) else None
    return name if isinstance(name, str) else ""


def _name_fault(name: str, counts: Counter[str]) -> tuple[str, str] | None:
    if not name:
        return "item.name", "the definition has no name"
    if len(name) > MAX_NAME:
        return "item.name", f"the name has {len(name)} characters; at most {MAX_NAME}"
    if any(ord(character) < 32 or ord(character) == 127 or 0xD800 <= ord(character) <= 0xDFFF for character in name):
        return "item.name", "the name holds control characters"
    if counts[name] > 1:
        return "item.duplicate", f"the server lists {name!r} {counts[name]} times"
    return None


def _tool_fault(definition: Json) -> tuple[str, str] | None:
    if not isinstance(definition, dict):
        return None
    try:
        usable(definition.get("inputSchema"))
    except Unusable as error:
        return error.code, error.text
    if definition.get("outputSchema") is not None:
        try:
            usable(definition["outputSchema"])
        except Unusable as error:
            return error.code.replace("schema.", "output_schema.", 1), f"outputSchema: {error.text}"
    return header_fault(definition.get("inputSchema"))


def _sealed(surface: Surface) -> Surface:
    return replace(surface, digest=digests.of_json(_document(surface)))


def _page_digest(text: str) -> str:
    return digests.of_bytes(text.encode("utf-8", "surrogatepass"))


def _document(surface: Surface) -> dict[str, Json]:
    identity = surface.server
    return {
        "format": FORMAT,
        "server": {"name": identity.name, "version": identity.version, "protocol": identity.protocol},
        "instructions": surface.instructions,
        "capabilities": dict(surface.capabilities),
        "tools": _written(surface.tools),
        "prompts": _written(surface.prompts),
        "templates": _written(surface.templates),
        "pages": dict(surface.pages),
        "quarantined": {
            name: {"code": item.code, "reason": item.reason, "definition": item.definition}
            for name, item in surface.quarantined.items()
        },
    }


def _written(items: Mapping[str, Item]) -> dict[str, Json]:
    return {name: {"digest": item.digest, "definition": dict(item.definition)} for name, item in items.items()}


def dump(surface: Surface) -> bytes:
    """The file: two-space indent, final newline; the same surface, the same bytes."""
    document = {**_document(surface), "digest": surface.digest}
    # A lone surrogate stands in a string only, where its backslash form is the JSON escape.
    return (exact.dumps(document, indent=2) + "\n").encode("utf-8", "backslashreplace")


def relock(old: bytes | None, surface: Surface) -> bytes:
    """What the file shall hold: the old bytes when they hold an equal surface, so that a server's changed order of
    members or tools makes no difference to review."""
    if old is not None:
        try:
            if parse(old).digest == surface.digest:
                return old
        except InvalidInput:
            pass
    return dump(surface)


def parse(data: bytes, *, file: str = "") -> Surface:
    """The surface in a file.

    Raises `InvalidInput` with the place: `surface.unreadable`, `surface.newer_format`, `surface.shape`,
    `surface.digest` (edited by hand or damaged).
    """
    document = _decoded(data, file)
    _check_format(document, file)
    reader = _Reader(document, file)
    surface = Surface(
        server=reader.identity(),
        instructions=reader.text("instructions"),
        capabilities=reader.object("capabilities"),
        tools=dict(reader.items("tools")),
        prompts=dict(reader.items("prompts")),
        templates=dict(reader.items("templates")),
        pages=dict(reader.pages()),
        quarantined=dict(reader.quarantined()),
        digest=reader.text("digest"),
    )
    expected = digests.of_json({key: value for key, value in document.items() if key != "digest"})
    if surface.digest != expected:
        raise _edited(surface, file)
    return surface


def _decoded(data: bytes, file: str) -> dict[str, Json]:
    if len(data) > MAX_FILE:
        raise InvalidInput(
            f"{len(data)} bytes; at most {MAX_FILE}", code="surface.unreadable", place=Place(file), remedy=_RELOCK
        )
    try:
        document = exact.loads(data)
    except InvalidInput as error:
        raise InvalidInput(
            f"not a surface file: {error.message}", code="surface.unreadable", place=Place(file), remedy=_RELOCK
        ) from None
    if not isinstance(document, dict):
        raise _misshapen("the file does not hold an object", file, "")
    return document


def _check_format(document: Mapping[str, Json], file: str) -> None:
    number = document.get("format")
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise _misshapen("`format` is not a positive integer", file, "format")
    if number > FORMAT:
        raise InvalidInput(
            f"written by a newer Homeport (format {number}; this one reads {FORMAT})",
            code="surface.newer_format",
            place=Place(file, path="format"),
            remedy="install the Homeport that wrote it, or a newer one",
        )


def _misshapen(text: str, file: str, path: str) -> InvalidInput:
    return InvalidInput(text, code="surface.shape", place=Place(file, path=path), remedy=_RELOCK)


def _edited(surface: Surface, file: str) -> InvalidInput:
    everything: Iterable[Item] = (*surface.tools.values(), *surface.prompts.values(), *surface.templates.values())
    changed = sorted(item.name for item in everything if digests.of_json(dict(item.definition)) != item.digest)
    which = f": {', '.join(changed[:5])}" if changed else ""
    return InvalidInput(
        f"the content is not what was locked{which}", code="surface.digest", place=Place(file), remedy=_RELOCK
    )


class _Reader:
    """Takes the members of the document out, each with its expected shape."""

    def __init__(self, document: Mapping[str, Json], file: str) -> None:
        self._document = document
        self._file = file

    def object(self, key: str) -> dict[str, Json]:
        value = self._document.get(key)
        if not isinstance(value, dict):
            raise _misshapen(f"`{key}` is not an object", self._file, key)
        return value

    def text(self, key: str) -> str:
        return self._text(self._document, key, key)

    def _text(self, holder: Mapping[str, Json], key: str, path: str) -> str:
        value = holder.get(key)
        if not isinstance(value, str):
            raise _misshapen(f"`{key}` is not a string", self._file, path)
        return value

    def identity(self) -> ServerIdentity:
        server = self.object("server")
        name, version, protocol = (self._text(server, key, f"server.{key}") for key in ("name", "version", "protocol"))
        return ServerIdentity(name, version, protocol)

    def items(self, key: str) -> Iterator[tuple[str, Item]]:
        for name, entry in self.object(key).items():
            path = f"{key}.{name}"
            definition = entry.get("definition") if isinstance(entry, dict) else None
            if not isinstance(entry, dict) or not isinstance(definition, dict):
                raise _misshapen("an item is not an object with a `definition`", self._file, path)
            yield name, Item(name, definition, self._text(entry, "digest", path))

    def pages(self) -> Iterator[tuple[str, str]]:
        pages = self.object("pages")
        for uri in pages:
            yield uri, self._text(pages, uri, f"pages.{uri}")

    def quarantined(self) -> Iterator[tuple[str, Quarantined]]:
        for name, entry in self.object("quarantined").items():
            path = f"quarantined.{name}"
            if not isinstance(entry, dict):
                raise _misshapen("an item is not an object", self._file, path)
            code, reason = self._text(entry, "code", path), self._text(entry, "reason", path)
            yield name, Quarantined(name, code, reason, entry.get("definition"))
