"""From decoded mappings to a `Declaration`, or every problem in them. Standard library only; opens and asks nothing.

`parse_declaration` raises one `DeclarationError` that tells all problems. `check_declaration` returns them, for the
reader of a project file, which knows the line of each key.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, cast

from homeport.declarations import written
from homeport.declarations.kinds import (
    APP_KEYS,
    BLOCK_KEYS,
    BUNDLE_SYSTEMS,
    LIVENESS_KEYS,
    LIVENESS_KINDS,
    LOCATION_KINDS,
    PRESENCES,
    REQUIRES_KEYS,
    VERSION_KINDS,
    LocationKind,
    VersionKind,
)
from homeport.declarations.model import (
    GPU_VENDORS,
    NO_LIVENESS,
    NO_VERSION,
    OS_FAMILIES,
    AppDef,
    AppSpec,
    Declaration,
    Liveness,
    Location,
    Presence,
    RequiresSpec,
    VersionSource,
    as_mapping,
)
from homeport.ground.errors import InvalidInput, Place, Problem
from homeport.machine import versions

Keys: TypeAlias = tuple[str | int, ...]

_GPU_ALIASES: Final = {"apple": "apple_silicon"}
_MAX_SHOWN: Final = 60
_ABSENT: Final = object()


class DeclarationError(InvalidInput, ValueError):
    """A declaration that cannot be meant. Its text starts with the caller's `where` and tells every problem."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One problem at one key path, counted from the declaration (`("app", "linux", "location", 1)`)."""

    keys: Keys
    code: str
    message: str
    remedy: str = ""

    @property
    def path(self) -> str:
        """`app.linux.location[1]`."""
        return dotted(self.keys)

    @property
    def text(self) -> str:
        """The path and what is wrong there."""
        return f"{self.path} {self.message}"


def dotted(keys: Keys) -> str:
    """A key path as people write it."""
    text = ""
    for key in keys:
        if isinstance(key, int):
            text += f"[{key}]"
        else:
            text += f".{key}" if text else key
    return text


def shown(value: object) -> str:
    """A decoded value in a message: bounded, whatever it holds."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return repr(value if len(value) <= _MAX_SHOWN else value[:_MAX_SHOWN] + "…")
    if isinstance(value, int):
        return str(value) if value.bit_length() < 200 else "a huge number"
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list" if value else "an empty list"
    return f"a {type(value).__name__}"


@dataclass(slots=True)
class _Report:
    faults: list[Fault] = field(default_factory=list[Fault])

    def add(self, keys: Keys, code: str, message: str, remedy: str = "") -> None:
        self.faults.append(Fault(keys, f"declaration.{code}", message, remedy))

    def unknown_keys(self, keys: Keys, table: Mapping[object, object], allowed: Sequence[str]) -> bool:
        """Report every key that is not allowed, with the nearest that is."""
        found = False
        for key in table:
            if isinstance(key, str) and key in allowed:
                continue
            found = True
            near = _nearest(key, allowed)
            at = (*keys, key if isinstance(key, str) else shown(key))
            remedy = f"write {near!r}" if near else f"allowed are {', '.join(allowed)}"
            did_you_mean = f" (did you mean {near!r}?)" if near else ""
            self.add(at, "unknown_key", f"is an unknown key{did_you_mean}; allowed are {', '.join(allowed)}", remedy)
        return found

    def choice(self, keys: Keys, value: object, allowed: Sequence[str]) -> str | None:
        """The value when it is one of the allowed texts."""
        if isinstance(value, str) and value in allowed:
            return value
        near = _nearest(value, allowed)
        self.add(
            keys, "value", f"is {shown(value)}; allowed are {', '.join(allowed)}", f"write {near!r}" if near else ""
        )
        return None

    def text(self, keys: Keys, value: object, wrong: Callable[[str], str]) -> str | None:
        """A trimmed text that passes its check."""
        if value is _ABSENT:
            self.add(keys, "required", "is required")
            return None
        if not isinstance(value, str):
            self.add(keys, "type", f"is {shown(value)}; it must be a text")
            return None
        trimmed = value.strip()
        message = wrong(trimmed) if trimmed else "must not be empty"
        if message:
            self.add(keys, "value", f"is {shown(value)}; it {message}")
            return None
        return trimmed


def _nearest(key: object, allowed: Sequence[str]) -> str:
    if not isinstance(key, str) or len(key) > 40:
        return ""
    from difflib import get_close_matches

    folded = {name.casefold(): name for name in allowed}
    near = get_close_matches(key.casefold(), list(folded), n=1, cutoff=0.6)
    return folded[near[0]] if near else ""


def _anything(_: str) -> str:
    return ""


def parse_declaration(name: str, *, raw_app: Any = None, raw_requires: Any = None, where: str = "") -> Declaration:
    """A declaration from decoded `app` and `requires` values; null is absent.

    `where` labels the messages. Raises `DeclarationError`, and nothing else, with every problem found.
    """
    declaration, faults = check_declaration(name, raw_app=raw_app, raw_requires=raw_requires)
    if declaration is not None:
        return declaration
    label = f"{where}: " if where else ""
    problems = [Problem(fault.code, label + fault.text, Place(path=fault.path), fault.remedy) for fault in faults]
    text = "\n".join(problem.message for problem in problems)
    raise DeclarationError(text, code=problems[0].code, remedy=problems[0].remedy, many=problems)


def declaration_problems(
    name: str,
    *,
    raw_app: Any = None,
    raw_requires: Any = None,
    place_of: Callable[[Keys], Place] | None = None,
) -> tuple[Declaration | None, list[Problem]]:
    """The declaration, or all problems as the caller's own, each at the place that `place_of` gives for its keys."""
    declaration, faults = check_declaration(name, raw_app=raw_app, raw_requires=raw_requires)
    place = place_of or _own_place
    return declaration, [Problem(fault.code, fault.message, place(fault.keys), fault.remedy) for fault in faults]


def _own_place(keys: Keys) -> Place:
    return Place(path=dotted(keys))


def check_declaration(
    name: str, *, raw_app: Any = None, raw_requires: Any = None
) -> tuple[Declaration | None, tuple[Fault, ...]]:
    """The declaration, or None and every fault in the order found."""
    report = _Report()
    app = _app(report, name, raw_app)
    requires = _requires(report, raw_requires)
    if requires is not None:
        _agree(report, app, requires, _declared_systems(raw_app), has_app=raw_app is not None)
    if report.faults or requires is None:
        return None, tuple(report.faults)
    return Declaration(name, app, requires), ()


def _app(report: _Report, name: str, raw: object) -> AppSpec | None:
    if raw is None:
        return None
    table = as_mapping(raw)
    if table is None:
        report.add(("app",), "type", f"is {shown(raw)}; it must be a mapping of {', '.join(OS_FAMILIES)}")
        return None
    report.unknown_keys(("app",), table, APP_KEYS)
    blocks: dict[str, AppDef] = {}
    written_systems = [key for key in table if isinstance(key, str) and key in OS_FAMILIES]
    for system in written_systems:
        block = _block(report, name, system, table[system])
        if block is not None:
            blocks[system] = block
    if not written_systems:
        report.add(("app",), "required", f"needs a block for at least one of {', '.join(OS_FAMILIES)}")
    title, homepage = table.get("title"), table.get("homepage")
    return AppSpec(
        blocks,
        (report.text(("app", "title"), title, _anything) or "") if title is not None else "",
        (report.text(("app", "homepage"), homepage, written.wrong_homepage) or "") if homepage is not None else "",
    )


def _block(report: _Report, name: str, system: str, raw: object) -> AppDef | None:
    keys: Keys = ("app", system)
    table = as_mapping(raw)
    if table is None:
        report.add(keys, "type", f"is {shown(raw)}; it must be a mapping")
        return None
    report.unknown_keys(keys, table, BLOCK_KEYS)
    presence = _presence(report, (*keys, "presence"), table.get("presence", _ABSENT))
    locations = _locations(report, (*keys, "location"), table.get("location"), system, presence)
    version = _version(report, (*keys, "version"), table.get("version"), system, locations)
    liveness = _liveness(report, (*keys, "liveness"), table.get("liveness"), system)
    if presence is None or locations is None or version is None or liveness is None:
        return None
    if presence == "bundle" and system not in BUNDLE_SYSTEMS:
        report.add((*keys, "presence"), "value", "is 'bundle'; bundles exist only on darwin", "write 'executable'")
        return None
    return AppDef(name, system, presence, locations, version, liveness)


def _presence(report: _Report, keys: Keys, raw: object) -> Presence | None:
    if raw is _ABSENT:
        report.add(keys, "required", f"is required; allowed are {', '.join(PRESENCES)}")
        return None
    return cast("Presence | None", report.choice(keys, raw, PRESENCES))


def _locations(
    report: _Report, keys: Keys, raw: object, system: str, presence: Presence | None
) -> tuple[Location, ...] | None:
    if isinstance(raw, str):
        items: list[object] = [raw]
    elif as_mapping(raw):
        items = [raw]
    elif isinstance(raw, list) and raw:
        items = cast("list[object]", raw)
    else:
        what = "is required" if raw is None else f"is {shown(cast('object', raw))}"
        report.add(keys, "required", f"{what}; it must be a path or a list of paths and location kinds")
        return None
    single = not isinstance(raw, list)
    found: list[Location] = []
    for index, item in enumerate(items):
        location = _location(report, keys if single else (*keys, index), item, system, presence)
        if location is not None:
            found.append(location)
    return tuple(found) if len(found) == len(items) else None


def _location(report: _Report, keys: Keys, raw: object, system: str, presence: Presence | None) -> Location | None:
    if isinstance(raw, str):
        path = report.text(keys, raw, lambda text: written.wrong_path(text, system))
        return None if path is None else Location("path", path)
    table = as_mapping(raw)
    if table is None:
        report.add(keys, "type", f"is {shown(raw)}; it must be a path or a mapping with 'kind'")
        return None
    name = report.choice((*keys, "kind"), table.get("kind"), tuple(LOCATION_KINDS))
    if name is None:
        return None
    kind = LOCATION_KINDS[name]
    before = len(report.faults)
    if system not in kind.systems:
        report.add((*keys, "kind"), "value", f"is {name!r}, which is only valid under {', '.join(kind.systems)}")
    elif presence is not None and kind.presence != presence:
        report.add((*keys, "kind"), "value", f"is {name!r}, which needs presence {kind.presence!r}, not {presence!r}")
    allowed = ("kind", kind.key) if kind.file == "none" else ("kind", kind.key, "file")
    report.unknown_keys(keys, table, allowed)
    value = report.text((*keys, kind.key), table.get(kind.key, _ABSENT), _value_check(kind))
    file = _file(report, (*keys, "file"), table.get("file", _ABSENT), kind)
    if value is None or len(report.faults) > before:
        return None
    if kind.value == "bundle" and not value.endswith(".app"):
        value += ".app"
    return Location(name, value, file)


def _value_check(kind: LocationKind | VersionKind) -> Callable[[str], str]:
    return _anything if kind.value == "text" else written.wrong_name


def _file(report: _Report, keys: Keys, raw: object, kind: LocationKind) -> str:
    if kind.file == "none" or (raw is _ABSENT and kind.file == "optional"):
        return ""
    if isinstance(raw, str) and raw != raw.strip():
        report.add(keys, "value", f"is {shown(raw)}; it must not start or end with a blank")
        return ""
    return report.text(keys, raw, lambda text: written.wrong_relative(text, stars=True)) or ""


def _version(
    report: _Report, keys: Keys, raw: object, system: str, locations: tuple[Location, ...] | None
) -> VersionSource | None:
    if raw is None:
        return NO_VERSION
    table = as_mapping(raw)
    if table is None:
        report.add(keys, "type", f"is {shown(raw)}; it must be a mapping with 'kind'", "leave it out for no version")
        return None
    before = len(report.faults)
    name = report.choice((*keys, "kind"), table.get("kind"), tuple(VERSION_KINDS))
    if name is None:
        return None
    kind = VERSION_KINDS[name]
    if system not in kind.systems:
        report.add((*keys, "kind"), "value", f"is {name!r}, which is only valid under {', '.join(kind.systems)}")
    report.unknown_keys(keys, table, ("kind", kind.key) if kind.key else ("kind",))
    argument = ""
    if kind.key and (kind.required or kind.key in table):
        argument = report.text((*keys, kind.key), table.get(kind.key, _ABSENT), _value_check(kind)) or ""
    elif kind.locations and locations is not None and not any(_gives(kind, location) for location in locations):
        sources = " or ".join(kind.locations)
        report.add(keys, "value", f"has the kind {name!r}, which needs a location that gives it: {sources}")
    return VersionSource(name, argument) if len(report.faults) == before else None


def _gives(kind: VersionKind, location: Location) -> bool:
    """Whether a location gives a version source its argument; a path does by its star."""
    return location.kind in kind.locations and (location.kind != "path" or "*" in location.value)


def _liveness(report: _Report, keys: Keys, raw: object, system: str) -> Liveness | None:
    if raw is None:
        return NO_LIVENESS
    table = as_mapping(raw)
    if table is None:
        report.add(keys, "type", f"is {shown(raw)}; it must be a mapping with 'kind'")
        return None
    if not table:
        return NO_LIVENESS
    before = len(report.faults)
    kind = report.choice((*keys, "kind"), table.get("kind", "none"), LIVENESS_KINDS)
    if kind is None:
        return None
    report.unknown_keys(keys, table, LIVENESS_KEYS if kind == "server_json" else ("kind",))
    if kind == "none":
        return NO_LIVENESS if len(report.faults) == before else None
    fields = {key: _member(report, (*keys, key), table.get(key)) for key in ("pid_key", "url_key", "token_key")}
    liveness = Liveness(
        kind,
        report.text((*keys, "path"), table.get("path", _ABSENT), lambda text: _runtime_path(text, system)) or "",
        fields["pid_key"] or NO_LIVENESS.pid_key,
        fields["url_key"] or NO_LIVENESS.url_key,
        fields["token_key"] or NO_LIVENESS.token_key,
        _optional(report, (*keys, "endpoint_path"), table, written.wrong_endpoint) or NO_LIVENESS.endpoint_path,
        _optional(report, (*keys, "executable"), table, written.wrong_name),
    )
    return liveness if len(report.faults) == before else None


def _runtime_path(text: str, system: str) -> str:
    return "must not hold '*'" if "*" in text else written.wrong_path(text, system)


def _member(report: _Report, keys: Keys, raw: object) -> str:
    return "" if raw is None or raw == "" else report.text(keys, raw, written.wrong_key) or ""


def _optional(report: _Report, keys: Keys, table: Mapping[object, object], wrong: Callable[[str], str]) -> str:
    raw = table.get(keys[-1])
    return "" if raw is None else report.text(keys, raw, wrong) or ""


def _requires(report: _Report, raw: object) -> RequiresSpec | None:
    if raw is None:
        return RequiresSpec()
    table = as_mapping(raw)
    if table is None:
        report.add(("requires",), "type", f"is {shown(raw)}; it must be a mapping of {', '.join(REQUIRES_KEYS)}")
        return None
    report.unknown_keys(("requires",), table, REQUIRES_KEYS)
    return RequiresSpec(
        app=_flag(report, ("requires", "app"), table.get("app", False)),
        min_version=_minimum(report, table.get("min_version")),
        gpu=_gpus(report, table.get("gpu")),
        version=_range(report, table.get("version")),
        running=_flag(report, ("requires", "running"), table.get("running", False)),
    )


def _flag(report: _Report, keys: Keys, raw: object) -> bool:
    if not isinstance(raw, bool):
        report.add(keys, "type", f"is {shown(raw)}; it must be a boolean: true or false")
        return False
    return raw


def _minimum(report: _Report, raw: object) -> str | None:
    if raw is None or (isinstance(raw, str) and versions.is_requirement(raw)):
        return raw
    keys: Keys = ("requires", "min_version")
    allowed = f"it must be a dotted numeric text like '4.2', at most {versions.MAX_DIGITS} ASCII digits a part"
    as_text = repr(raw) if isinstance(raw, float) or (isinstance(raw, int) and raw.bit_length() < 64) else ""
    remedy = f'write "{as_text}"' if versions.is_requirement(as_text) else ""
    report.add(keys, "value", f"is {shown(raw)}; {allowed}", remedy)
    return None


def _range(report: _Report, raw: object) -> str | None:
    if raw is None:
        return None
    keys: Keys = ("requires", "version")
    found = versions.read_range(raw) if isinstance(raw, str) else None
    if found is None:
        report.add(keys, "value", f"is {shown(raw)}; it must be a range like '>=4.2,<6' of dotted numbers")
        return None
    if found.empty():
        report.add(keys, "value", f"is {shown(raw)}, which no version can meet")
        return None
    return cast("str", raw)


def _gpus(report: _Report, raw: object) -> tuple[str, ...]:
    keys: Keys = ("requires", "gpu")
    if raw is None:
        return ()
    if isinstance(raw, list):
        items = cast("list[object]", raw)
        if not items:
            report.add(keys, "value", f"is an empty list; allowed are {', '.join(GPU_VENDORS)}")
        vendors = [_gpu(report, (*keys, index), item) for index, item in enumerate(items)]
    else:
        vendors = [_gpu(report, keys, raw)]
    return tuple(dict.fromkeys(vendor for vendor in vendors if vendor))


def _gpu(report: _Report, keys: Keys, raw: object) -> str:
    folded: object = raw
    if isinstance(raw, str):
        folded = re.sub(r"[\s-]+", "_", raw.strip().casefold())
        folded = _GPU_ALIASES.get(folded, folded)
    return report.choice(keys, folded if folded in GPU_VENDORS else raw, GPU_VENDORS) or ""


def _declared_systems(raw_app: object) -> int:
    table = as_mapping(raw_app)
    return sum(1 for system in OS_FAMILIES if system in table) if table else 0


def _agree(report: _Report, app: AppSpec | None, requires: RequiresSpec, declared: int, *, has_app: bool) -> None:
    """What `requires` asks of `app`."""
    if requires.app and not has_app:
        report.add(("requires", "app"), "value", "is true, but there is no app block to find it with")
    for key, value in (("min_version", requires.min_version), ("version", requires.version)):
        if value is None:
            continue
        if not requires.app:
            report.add(("requires", key), "value", "needs requires.app = true", "add app = true under requires")
        elif app is not None:
            _has_sources(report, app, key, declared)
    if requires.running and app is not None and all(block.liveness.kind == "none" for block in app.blocks.values()):
        report.add(("requires", "running"), "value", "is true, but no block has a liveness to tell it by")
    elif requires.running and not has_app:
        report.add(("requires", "running"), "value", "is true, but there is no app block to tell it by")


def _has_sources(report: _Report, app: AppSpec, key: str, declared: int) -> None:
    """Each declared system must tell versions, except Linux when another system is declared."""
    for system in sorted(app.blocks):
        excused = system == "linux" and declared > 1
        if app.blocks[system].version.kind == "none" and not excused:
            message = f"needs a version source, since requires.{key} is set"
            report.add(("app", system, "version"), "required", message)
