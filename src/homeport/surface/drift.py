"""The difference between two surfaces of a server, told in full and classed (surface.md T-L5).

`breaking`: what worked may be refused. `widening`: more is possible than was reviewed. `text`: what people and models
read. `hint`: annotations. `meta`: the rest, `_meta` among it. Text and `_meta` are security relevant: models see them.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from homeport.ground import exact
from homeport.ground.exact import Json
from homeport.surface.model import Item, Surface
from homeport.surface.schema_drift import Change, Severity, schema_changes
from homeport.surface.visible import visible

Kind = Literal["added", "removed", "changed", "quarantined"]

_TEXT_PARTS = frozenset({"title", "description"})
_SCHEMA_PARTS = frozenset({"inputSchema", "outputSchema"})
_ABSENT = object()


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not as it was."""

    what: str
    """`tool`, `prompt`, `template`, `page`, `server`."""
    name: str
    kind: Kind
    severity: Severity
    part: str = ""
    """The member of the definition: `inputSchema`, `description`, `_meta`, …"""
    path: str = ""
    """Within the part, as a selector or a chain of keywords."""
    text: str = ""
    """What changed, in words."""
    before: Json = None
    after: Json = None
    security: bool = False
    """It reaches models or opens something: to be read, not waved through."""
    near: str = ""
    """Of a new tool: a removed or denied one it is nearly named like."""


def compare(was: Surface, now: Surface, *, denied: Iterable[str] = ()) -> Sequence[Difference]:
    """Every difference, by kind of thing and name. `denied`: tools that a policy names in `never`."""
    gone = {name for name in was.tools if name not in now.tools}
    return [
        *_server(was, now),
        *_tools(was, now, sorted({*gone, *denied})),
        *_items("prompt", was.prompts, now.prompts),
        *_items("template", was.templates, now.templates),
        *_pages(was.pages, now.pages),
        *_quarantined(was, now),
    ]


def in_sync(locked: Mapping[str, Json], live: Mapping[str, Json]) -> bool:
    """Whether a tool's live definition says the same as the locked one: the order of a set is no difference."""
    return next(_changed("tool", "", locked, live), None) is None


def _server(was: Surface, now: Surface) -> Iterator[Difference]:
    if was.instructions != now.instructions:
        yield Difference(
            "server", "", "changed", "text", "instructions", text="the instructions changed", security=True,
            before=was.instructions, after=now.instructions,
        )  # fmt: skip
    for part in ("name", "version", "protocol"):
        before, after = str(getattr(was.server, part)), str(getattr(now.server, part))
        if before != after:
            yield Difference(
                "server", "", "changed", "meta", part, text=f"its {part} changed", before=before, after=after
            )
    if exact.canonical(dict(was.capabilities)) != exact.canonical(dict(now.capabilities)):
        yield Difference(
            "server", "", "changed", "meta", "capabilities", text="its capabilities changed",
            before=dict(was.capabilities), after=dict(now.capabilities),
        )  # fmt: skip


def _tools(was: Surface, now: Surface, watched: Sequence[str]) -> Iterator[Difference]:
    for difference in _items("tool", was.tools, now.tools):
        if difference.kind == "removed" and difference.name in now.quarantined:
            continue
        near = nearly(difference.name, watched) if difference.kind == "added" else ""
        if not near:
            yield difference
            continue
        text = f"{difference.text}; its name is nearly that of {near!r}, which is removed or denied"
        yield Difference("tool", difference.name, "added", "widening", text=text, security=True, near=near)


def nearly(name: str, others: Iterable[str]) -> str:
    """The other name that this one could be taken for, or an empty string."""
    folded = _folded(name)
    for other in others:
        if other == name:
            continue
        if _folded(other) == folded or difflib.SequenceMatcher(None, name, other).ratio() >= 0.85:
            return other
    return ""


def _folded(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower().translate(str.maketrans("01l5", "oiis")))


def _items(what: str, was: Mapping[str, Item], now: Mapping[str, Item]) -> Iterator[Difference]:
    for name in sorted({*was, *now}):
        if name not in now:
            yield Difference(what, name, "removed", "breaking", text=f"the {what} is gone")
        elif name not in was:
            yield Difference(what, name, "added", "widening", text=f"a new {what}")
        elif was[name].digest != now[name].digest:
            yield from _changed(what, name, was[name].definition, now[name].definition)


def _changed(what: str, name: str, was: Mapping[str, Json], now: Mapping[str, Json]) -> Iterator[Difference]:
    for part in sorted({*was, *now}):
        before, after = was.get(part, _ABSENT), now.get(part, _ABSENT)
        if before is after or (before is not _ABSENT and after is not _ABSENT and _equal(was[part], now[part])):
            continue
        for change in _part_changes(part, was.get(part), now.get(part)):
            yield Difference(
                what, name, "changed", change.severity, part, change.path, change.text, change.before, change.after,
                security=change.severity in {"text", "meta", "widening"},
            )  # fmt: skip


def _equal(left: Json, right: Json) -> bool:
    return exact.canonical(left) == exact.canonical(right)


def _part_changes(part: str, before: Json, after: Json) -> Iterator[Change]:
    if part in _SCHEMA_PARTS and isinstance(before, dict) and isinstance(after, dict):
        yield from schema_changes(before, after)
    elif part in _SCHEMA_PARTS:
        yield Change("breaking", "", f"the {part} is {_came(before, after)}", before, after)
    elif part in _TEXT_PARTS:
        yield Change("text", "", f"the {part} {_verb(before, after)}", before, after)
    elif part == "annotations" and isinstance(before, (dict, type(None))) and isinstance(after, (dict, type(None))):
        yield from _members("hint", "annotation", before or {}, after or {})
    elif part == "_meta" and isinstance(before, (dict, type(None))) and isinstance(after, (dict, type(None))):
        yield from _members("meta", "member", before or {}, after or {})
    elif part == "arguments":
        yield Change("breaking", "", "the arguments changed", before, after)
    else:
        yield Change("meta", "", f"`{part}` {_verb(before, after)}", before, after)


def _came(before: Json, after: Json) -> str:
    return "new" if before is None else "gone" if after is None else "of another kind"


def _verb(before: Json, after: Json) -> str:
    return "is new" if before is None else "is gone" if after is None else "changed"


def _members(severity: Severity, word: str, was: Mapping[str, Json], now: Mapping[str, Json]) -> Iterator[Change]:
    told = False
    for key in sorted({*was, *now}):
        if key in was and key in now and _equal(was[key], now[key]):
            continue
        told = True
        verb = "is new" if key not in was else "is gone" if key not in now else "changed"
        yield Change(severity, key, f"the {word} `{key}` {verb}", was.get(key), now.get(key))
    if not told:
        yield Change(severity, "", f"an empty object of {word}s came or went", dict(was), dict(now))


def _pages(was: Mapping[str, str], now: Mapping[str, str]) -> Iterator[Difference]:
    for uri in sorted({*was, *now}):
        if uri not in now:
            yield Difference("page", uri, "removed", "breaking", text="the page is gone")
        elif uri not in was:
            yield Difference("page", uri, "added", "widening", text="a new page", security=True)
        elif was[uri] != now[uri]:
            yield Difference(
                "page", uri, "changed", "meta", text="the page changed", before=was[uri], after=now[uri], security=True
            )


def _quarantined(was: Surface, now: Surface) -> Iterator[Difference]:
    for name, item in now.quarantined.items():
        if name in was.quarantined and was.quarantined[name].code == item.code:
            continue
        severity: Severity = "breaking" if name in was.tools else "meta"
        yield Difference("tool", name, "quarantined", severity, text=f"quarantined: {item.reason}")
    for name in was.quarantined:
        if name not in now.quarantined and name not in now.tools:
            yield Difference("tool", name, "removed", "meta", text="the quarantined definition is gone")


def in_words(difference: Difference) -> str:
    """One difference as lines for people, untruncated; characters that do not show themselves are written out."""
    subject = visible(difference.name) or f"the {difference.what}"
    where = f" at `{visible(difference.path)}`" if difference.path else ""
    inside = f" ({difference.part})" if difference.part in _SCHEMA_PARTS and difference.part == "outputSchema" else ""
    head = f"{subject}: {visible(difference.text)}{where}{inside} [{difference.severity}]"
    if difference.before is None and difference.after is None:
        return head
    return "\n".join([head, *_side("-", difference.before), *_side("+", difference.after)])


def _side(mark: str, value: Json) -> Iterator[str]:
    if value is None:
        return
    text = value if isinstance(value, str) else exact.dumps(value)
    for line in text.split("\n"):
        yield f"  {mark} {visible(line)}"
