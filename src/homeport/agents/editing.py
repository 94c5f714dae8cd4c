"""One entry in one file, whatever its format: put, take out, and put everything back as it was. Pure.

Every edit is checked before it is handed back: the new text must decode to exactly what was meant, everything else
unchanged. An edit that cannot be made so is refused, and the file stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, cast

from homeport.agents.catalog import Agent
from homeport.agents.documents import decode
from homeport.agents.editors import json_text, toml_text, yaml_text
from homeport.agents.editors.json_text import equal
from homeport.agents.editors.source import Source, source
from homeport.ground.errors import InvalidInput, Place

SIDECAR: Final = "homeport"
"""The top-level key that names what is managed, in files whose agents tolerate one."""


@dataclass(frozen=True, slots=True)
class Origin:
    """What a file had before we first wrote into it, so that taking everything out restores its bytes."""

    depth: int
    """How many keys of the path to the servers existed; -1: the file was absent, empty or blank."""
    hollow: str | None = None
    """The text inside the innermost existing container if that was empty; for depth -1 the whole text."""
    absent: bool = False
    """Whether there was no file."""


def origin(data: bytes | None, agent: Agent, *, file: str = "") -> Origin:
    """What a file has now, of the way to its servers."""
    if data is None:
        return Origin(-1, "", absent=True)
    src = source(data, file)
    if src.blank:
        return Origin(-1, src.text)
    depth, value = 0, decode(src, agent.format)
    while depth < len(agent.key_path) and isinstance(value, Mapping):
        members = cast("Mapping[str, Any]", value)
        if agent.key_path[depth] not in members:
            break
        value = members[agent.key_path[depth]]
        depth += 1
    return Origin(depth, _hollow(src, agent, agent.key_path[:depth]))


def put(data: bytes | None, agent: Agent, name: str, entry: Mapping[str, Any], *, file: str = "") -> bytes:
    """The file with the entry `name` in it: added after the others, or, where it exists, changed in place.

    Raises `InvalidInput`: `config.*` for a file that cannot be read, `config.edit` for one that cannot be edited.
    """
    src = source(data or b"", file)
    before = _value(src, agent)
    meant = _with(agent, before, name, entry)
    text = _put_text(src, agent, name, entry, before)
    edited, now = _checked(src, agent, text, meant)
    if not equal(find(now, agent, name), entry):
        raise _not_editable(file)
    return edited


def take_out(data: bytes, agent: Agent, name: str, *, file: str = "") -> bytes:
    """The file without the entry `name`; unchanged where there is none. The order of the others is kept."""
    src = source(data, file)
    before = _value(src, agent)
    if name not in _named(before, agent):
        return data
    if agent.container == "map":
        text = _format(agent).remove(src, (*agent.key_path, name))
    else:
        text = _items(agent).remove_item(src, agent.key_path, agent.id_key, name)
    return _checked(src, agent, text, _without(agent, before, name))[0]


def restore(data: bytes, agent: Agent, was: Origin, *, file: str = "") -> bytes | None:
    """The file with the containers that we made taken out again, where nothing is in them now.

    None: the file was not there and holds nothing now; it can go.
    """
    src = source(data, file)
    path = agent.key_path
    for depth in range(len(path), max(was.depth, 0), -1):
        if not _is_empty(_at(_value(src, agent), path[:depth])):
            return src.encode(src.text)
        src = replace(src, text=_format(agent).remove(src, path[:depth]))
    if was.depth < 0:
        if not re.fullmatch(r"\s*(?:\{\s*\}\s*)?", src.text):
            return src.encode(src.text)
        return None if was.absent else src.encode(was.hollow or "")
    if was.hollow is not None and _is_empty(_at(_value(src, agent), path[: was.depth])):
        src = replace(src, text=_restore_hollow(src, agent, path[: was.depth], was.hollow))
    return src.encode(src.text)


def mark(data: bytes, agent: Agent, names: Sequence[str], *, file: str = "") -> bytes:
    """The file with the sidecar naming exactly `names`, sorted; without names the sidecar goes.

    Other members of the sidecar are kept. Raises `InvalidInput` (`config.sidecar`) where our key holds no object.
    """
    src = source(data, file)
    value = _value(src, agent)
    now = value.get(SIDECAR)
    if now is not None and not isinstance(now, Mapping):
        place = Place(file, path=SIDECAR)
        remedy = f"remove `{SIDECAR}`, or make it an object, in an editor"
        raise InvalidInput("the key is ours and holds no object", code="config.sidecar", place=place, remedy=remedy)
    meant = dict(value)
    others = {key: member for key, member in cast("Mapping[str, Any]", now or {}).items() if key != "managed"}
    listed = sorted(set(names))
    if listed:
        meant[SIDECAR] = {**cast("Mapping[str, Any]", now or {}), "managed": listed}
        if equal(meant, value):
            return data
        path, content = ((SIDECAR,), {"managed": listed}) if now is None else ((SIDECAR, "managed"), listed)
        text = _format(agent).put(src, path, content)
    elif now is None:
        return data
    elif others:
        meant[SIDECAR] = others
        text = _format(agent).remove(src, (SIDECAR, "managed"))
    else:
        del meant[SIDECAR]
        text = _format(agent).remove(src, (SIDECAR,))
    return _checked(src, agent, text, meant)[0]


def marked(data: bytes, agent: Agent, *, file: str = "") -> tuple[str, ...]:
    """The names in a file's sidecar; anything in it that is no text is passed over."""
    now = _value(source(data, file), agent).get(SIDECAR)
    listed = cast("Mapping[str, Any]", now).get("managed") if isinstance(now, Mapping) else None
    return (
        tuple(name for name in cast("list[Any]", listed) if isinstance(name, str)) if isinstance(listed, list) else ()
    )


def entries(data: bytes, agent: Agent, *, file: str = "") -> dict[str, Any]:
    """The entries by name, as decoded."""
    return _named(_value(source(data, file), agent), agent)


def _named(root: Mapping[str, Any], agent: Agent) -> dict[str, Any]:
    value = _at(root, agent.key_path)
    if value is None:
        return {}
    if isinstance(value, list):
        return {str(item.get(agent.id_key, "")): item for item in _objects(cast("list[Any]", value))}
    return dict(cast("Mapping[str, Any]", value))


def find(root: Mapping[str, Any], agent: Agent, name: str) -> Any:
    """The entry of this name in a decoded file; None where there is none."""
    value = _at(root, agent.key_path)
    if isinstance(value, list):
        return next((item for item in _objects(cast("list[Any]", value)) if item.get(agent.id_key) == name), None)
    return cast("Mapping[str, Any]", value).get(name) if isinstance(value, Mapping) else None


def _objects(items: list[Any]) -> list[Mapping[str, Any]]:
    return [cast("Mapping[str, Any]", item) for item in items if isinstance(item, Mapping)]


# --- texts -------------------------------------------------------------------------------------------------------


def _format(agent: Agent) -> Any:
    if agent.format == "toml":
        return toml_text
    return yaml_text if agent.format == "yaml" else json_text


def _items(agent: Agent) -> Any:
    if agent.format in {"toml", "yaml"}:
        return _format(agent)
    message = f"{agent.name} keeps its servers in a JSON list, which is not edited"
    raise InvalidInput(message, code="config.edit", remedy="add the entry in an editor")


def _put_text(src: Source, agent: Agent, name: str, entry: Mapping[str, Any], before: Mapping[str, Any]) -> str:
    there = find(before, agent, name)
    if there is not None and isinstance(there, Mapping) and equal(there, entry):
        return src.text
    if agent.container != "map":
        if there is not None:
            src = replace(src, text=_items(agent).remove_item(src, agent.key_path, agent.id_key, name))
        return _items(agent).put_item(src, agent.key_path, entry)
    path = (*agent.key_path, name)
    if not isinstance(there, Mapping) or not there:
        return _format(agent).put(src, path, dict(entry))
    return _change(src, agent, path, cast("Mapping[str, Any]", there), entry)


def _change(src: Source, agent: Agent, path: Sequence[str], now: Mapping[str, Any], entry: Mapping[str, Any]) -> str:
    """Only the members that differ: what stays keeps its spelling and its comments."""
    text = src.text
    for key in now:
        if key not in entry:
            text = _format(agent).remove(replace(src, text=text), (*path, key))
    for key, member in entry.items():
        if key not in now or not equal(now[key], member):
            text = _format(agent).put(replace(src, text=text), (*path, key), member)
    return text


def _checked(src: Source, agent: Agent, text: str, meant: Mapping[str, Any]) -> tuple[bytes, dict[str, Any]]:
    """The new bytes and their value, if the value is what was meant."""
    try:
        now = _value(replace(src, text=text), agent)
    except InvalidInput:
        now = None
    # The comparison in C takes true for 1 and is many times quicker; our own entry is compared strictly by `put`.
    same = now is not None and _pruned(now, agent) == _pruned(meant, agent)
    if now is None or not (same or equal(_pruned(now, agent), _pruned(meant, agent))):
        raise _not_editable(src.file)
    return src.encode(text), now


def _not_editable(file: str) -> InvalidInput:
    message = "cannot be edited without changing something else in it"
    remedy = "add or remove the entry in an editor; homeport register --dry-run shows it"
    return InvalidInput(message, code="config.edit", place=Place(file), remedy=remedy)


def _pruned(root: Mapping[str, Any], agent: Agent) -> Mapping[str, Any]:
    """The value without empty containers on the path to the servers: absent, null and empty mean the same there."""
    value = dict(root)
    parents: list[dict[str, Any]] = [value]
    for key in agent.key_path[:-1]:
        inner = parents[-1].get(key)
        if not isinstance(inner, Mapping):
            break
        parents[-1][key] = dict(cast("Mapping[str, Any]", inner))
        parents.append(parents[-1][key])
    for parent, key in reversed(list(zip(parents, agent.key_path, strict=False))):
        if key in parent and _is_empty(parent[key]):
            del parent[key]
    return value


def _value(src: Source, agent: Agent) -> dict[str, Any]:
    value = decode(src, agent.format)
    if not isinstance(value, dict):
        message = "is not an object at its root"
        raise InvalidInput(message, code="config.shape", place=Place(src.file, 1), remedy="make it an object: {}")
    root = cast("dict[str, Any]", value)
    holder: Any = root
    for depth, key in enumerate(agent.key_path):
        last = depth == len(agent.key_path) - 1
        holder = cast("Mapping[str, Any]", holder).get(key)
        if holder is None:
            break
        wanted = list if last and agent.container != "map" else Mapping
        if not isinstance(holder, wanted):
            where = ".".join(agent.key_path[: depth + 1])
            kind = "a list" if wanted is list else "an object"
            place = Place(src.file, path=where)
            remedy = f"make {where} {kind}, in an editor"
            raise InvalidInput(f"{where} is not {kind}", code="config.shape", place=place, remedy=remedy)
    return root


def _at(root: Mapping[str, Any], path: Sequence[str]) -> Any:
    value: Any = root
    for key in path:
        value = cast("Mapping[str, Any]", value).get(key) if isinstance(value, Mapping) else None
    return value


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, Mapping | list) and not value)


def _with(agent: Agent, root: Mapping[str, Any], name: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    meant, holder, last = _opened(agent, root)
    if agent.container == "map":
        holder[last] = {**(holder.get(last) or {}), name: dict(entry)}
    else:
        holder[last] = [*(_others(holder.get(last), agent, name)), dict(entry)]
    return meant


def _without(agent: Agent, root: Mapping[str, Any], name: str) -> dict[str, Any]:
    meant, holder, last = _opened(agent, root)
    if agent.container == "map":
        holder[last] = {key: value for key, value in holder[last].items() if key != name}
    else:
        holder[last] = _others(holder[last], agent, name)
    return meant


def _opened(agent: Agent, root: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any], str]:
    """A copy of the way to the servers (the rest is shared), its last holder, and the last key."""
    meant = holder = dict(root)
    for key in agent.key_path[:-1]:
        holder[key] = dict(holder.get(key) or {})
        holder = holder[key]
    return meant, holder, agent.key_path[-1]


def _others(items: Any, agent: Agent, name: str) -> list[Any]:
    every = cast("list[Any]", items or [])
    doomed = [id(item) for item in _objects(every) if item.get(agent.id_key) == name]
    return [item for item in every if id(item) not in doomed]


def _hollow(src: Source, agent: Agent, path: Sequence[str]) -> str | None:
    if agent.format == "yaml":
        return yaml_text.hollow(src, path)
    span = toml_text.hollow(src, path) if agent.format == "toml" else json_text.inner(src.text, path)
    return None if span is None else src.text[span[0] : span[1]]


def _restore_hollow(src: Source, agent: Agent, path: Sequence[str], inside: str) -> str:
    if agent.format == "yaml":
        return yaml_text.restore_hollow(src, path, inside) if path else inside
    span = toml_text.hollow(src, path) if agent.format == "toml" else json_text.inner(src.text, path)
    return src.text if span is None else src.text[: span[0]] + inside + src.text[span[1] :]
