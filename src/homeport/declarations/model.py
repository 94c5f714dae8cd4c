"""What a server needs of the machine, and the answer for one machine, as values. Standard library only.

A *declaration* is data (`app`: how the application is found, one block an operating system) and policy (`requires`).
An *availability* is the answer with its reasons; a *resolution* is every place looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NoReturn, TypeAlias, cast

OsFamily: TypeAlias = Literal["win32", "darwin", "linux"]
OS_FAMILIES: Final[tuple[OsFamily, ...]] = ("win32", "darwin", "linux")
OS_NAMES: Final[Mapping[str, str]] = {"win32": "Windows", "darwin": "macOS", "linux": "Linux"}

Presence: TypeAlias = Literal["executable", "bundle"]

GPU_VENDORS: Final[tuple[str, ...]] = ("nvidia", "amd", "intel", "apple_silicon")
GPU_NAMES: Final[Mapping[str, str]] = {
    "nvidia": "an NVIDIA GPU",
    "amd": "an AMD GPU",
    "intel": "an Intel GPU",
    "apple_silicon": "an Apple GPU",
}

State: TypeAlias = Literal[
    "no_requirements",
    "available",
    "unsupported_os",
    "unsupported_gpu",
    "missing_app",
    "version_too_old",
    "version_unreadable",
    "installed_not_running",
]
OFFERABLE: Final[frozenset[str]] = frozenset({"no_requirements", "available"})


@dataclass(frozen=True, slots=True)
class Location:
    """One place to look. `kind` is `path` or a kind of `declarations.kinds`."""

    kind: str
    value: str
    file: str = ""
    """Only for kinds that lead to a folder: the file in it, relative."""


@dataclass(frozen=True, slots=True)
class VersionSource:
    """Where the version of a found copy is read. `argument`: the entry or package it is bound to; may be empty."""

    kind: str = "none"
    argument: str = ""


@dataclass(frozen=True, slots=True)
class Liveness:
    """How to tell whether the application runs: a runtime file that it writes (`server_json`)."""

    kind: str = "none"
    path: str = ""
    pid_key: str = "pid"
    url_key: str = "http"
    token_key: str = "token"  # noqa: S105  the name of a JSON member
    endpoint_path: str = "/mcp"
    executable: str = ""
    """The file name the process must have; empty: not checked."""


NO_VERSION: Final = VersionSource()
NO_LIVENESS: Final = Liveness()


@dataclass(frozen=True, slots=True)
class AppDef:
    """One application on one operating system."""

    app_id: str
    os_family: str
    presence: Presence
    locations: tuple[Location, ...]
    version: VersionSource = NO_VERSION
    liveness: Liveness = NO_LIVENESS

    @property
    def version_kind(self) -> str:
        """`none`, or where versions are read."""
        return self.version.kind

    @property
    def liveness_kind(self) -> str:
        """`none` or `server_json`."""
        return self.liveness.kind


@dataclass(frozen=True, slots=True)
class AppSpec:
    """The blocks of an `app`, in the order written."""

    blocks: Mapping[str, AppDef]
    title: str = ""
    """How people call it; empty: the declaration's name."""
    homepage: str = ""
    """Where it can be had."""


@dataclass(frozen=True, slots=True)
class RequiresSpec:
    """The policy. `version` is a range (`>=4.2,<6`); `gpu` is any-of."""

    app: bool = False
    min_version: str | None = None
    gpu: tuple[str, ...] = ()
    version: str | None = None
    running: bool = False


NO_REQUIREMENTS: Final = RequiresSpec()


@dataclass(frozen=True, slots=True)
class Declaration:
    """What one server needs of the machine."""

    name: str
    app: AppSpec | None = None
    requires: RequiresSpec = NO_REQUIREMENTS

    @property
    def title(self) -> str:
        """The name shown to people."""
        return (self.app.title if self.app else "") or self.name

    @property
    def homepage(self) -> str:
        """Where the application can be had, if the declaration says so."""
        return self.app.homepage if self.app else ""

    @property
    def requires_app(self) -> bool:
        """Whether the application must be found."""
        return self.requires.app

    @property
    def min_version(self) -> str | None:
        """The lowest version that will do."""
        return self.requires.min_version

    @property
    def required_gpus(self) -> tuple[str, ...]:
        """GPU vendors of which one must be there; empty: none is needed."""
        return self.requires.gpu

    @property
    def required_gpu(self) -> str | None:
        """The first of `required_gpus`, as the published interface has it."""
        return self.requires.gpu[0] if self.requires.gpu else None

    def app_for(self, os_family: str) -> AppDef | None:
        """The block of an operating system."""
        return self.app.blocks.get(os_family) if self.app else None


ObservationState: TypeAlias = Literal["not_checked", "present", "absent", "unavailable", "error"]


@dataclass(frozen=True, slots=True)
class Observation:
    """One fact read: only `present` carries a value; `detail` is for people and never parsed."""

    state: ObservationState
    value: str = ""
    detail: str = ""


NOT_CHECKED: Final = Observation("not_checked")


@dataclass(frozen=True, slots=True)
class Candidate:
    """One place looked at. `reason` is a stable code (`declarations.reasons`), `detail` its words."""

    path: str
    source: str
    """`app:<id>` or `app:<id>:<kind>`."""
    present: bool
    reason: str = "found"
    detail: str = ""
    origin: Any = field(default=None, compare=False, repr=False)
    """What gave the path (an uninstall entry, a package): its version belongs to this copy."""


ResolutionKind: TypeAlias = Literal["known_path", "path_executable", "missing"]


@dataclass(frozen=True, slots=True)
class Resolution:
    """Every candidate in probe order."""

    kind: ResolutionKind
    candidates: tuple[Candidate, ...] = ()

    @property
    def found(self) -> bool:
        """Whether any copy is there."""
        return self.kind != "missing"

    @property
    def present(self) -> tuple[Candidate, ...]:
        """All copies that are there."""
        return tuple(candidate for candidate in self.candidates if candidate.present)

    @property
    def command(self) -> str | None:
        """The first copy that is there."""
        return next((candidate.path for candidate in self.candidates if candidate.present), None)


@dataclass(frozen=True, slots=True)
class Unmet:
    """One need that this machine does not meet."""

    code: str
    """A state, or `version_too_new` for a copy above the range."""
    sentence: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Unverified:
    """A need that could not be checked here and was let pass: `gpu` or `version`."""

    facet: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Availability:
    """The answer for one machine. Equality and dictionary form are over the four published fields.

    Truth-testing it raises `TypeError`: an answer that is not offerable is still an answer.
    """

    state: State
    version: str | None = None
    path: str | None = None
    min_version: str | None = None
    sentence: str = field(default="", compare=False)
    """One sentence for people and models."""
    remedy: str = field(default="", compare=False)
    unmet: tuple[Unmet, ...] = field(default=(), compare=False)
    unverified: tuple[Unverified, ...] = field(default=(), compare=False)

    @property
    def offerable(self) -> bool:
        """Whether the server's tools may be offered here."""
        return self.state in OFFERABLE

    def as_dict(self) -> dict[str, str | None]:
        """Exactly `state`, `version`, `path`, `min_version`."""
        return {"state": self.state, "version": self.version, "path": self.path, "min_version": self.min_version}

    def __bool__(self) -> NoReturn:
        raise TypeError("an Availability has no truth value; ask .offerable or .state")


def as_mapping(value: object) -> Mapping[object, object] | None:
    """A decoded mapping, its keys unchecked; None for anything else."""
    if isinstance(value, dict) or isinstance(value, Mapping):  # noqa: SIM101  the plain case is twenty times cheaper
        return cast("Mapping[object, object]", value)
    return None
