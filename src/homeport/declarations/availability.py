"""The answer for one machine: may a server that needs this be offered here, and if not, why.

The order (first unmet need decides): operating system, GPU, presence, version. What needs nothing reads nothing, and an
undeclared operating system reads nothing either. Nothing is kept between two calls: callers share an answer for as
long as they may (`Limits.facts_max_age`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from homeport.declarations import wording
from homeport.declarations.locate import locate
from homeport.declarations.model import (
    NOT_CHECKED,
    AppDef,
    Availability,
    Candidate,
    Declaration,
    Observation,
    Resolution,
    State,
    Unmet,
    Unverified,
)
from homeport.declarations.observe import observe
from homeport.machine.gpu import Gpus, gpus
from homeport.machine.versions import Range, Version, at_least, read_range, read_version

if TYPE_CHECKING:
    from homeport.machine.protocol import Machine


@dataclass(frozen=True, slots=True)
class Copy:
    """One present copy with what its version says. `meets` is None when no version was asked for."""

    candidate: Candidate
    observation: Observation = NOT_CHECKED
    version: Version | None = None
    meets: bool | None = None


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Everything one evaluation looked at, for the trace. `availability` is the answer."""

    name: str
    title: str
    system: str
    availability: Availability
    gpus: Gpus | None = None
    wanted_gpus: tuple[str, ...] = ()
    resolution: Resolution | None = None
    copies: tuple[Copy, ...] = ()
    needed_version: str = ""


@dataclass(slots=True)
class _Needs:
    """What a declaration asks, whoever made it: anything with the four published views will do."""

    name: str
    title: str
    homepage: str
    app: bool
    gpus: tuple[str, ...]
    minimum: str | None
    range: str | None
    declaration: Any

    @classmethod
    def of(cls, declaration: Any) -> _Needs:
        if isinstance(declaration, Declaration):
            requires = declaration.requires
            return cls(
                declaration.name,
                declaration.title,
                declaration.homepage,
                requires.app,
                requires.gpu,
                requires.min_version,
                requires.version,
                declaration,
            )
        name = str(getattr(declaration, "name", "the application"))
        gpu = declaration.required_gpu
        return cls(
            name, name, "", declaration.requires_app, (gpu,) if gpu else (), declaration.min_version, None, declaration
        )

    def versions(self) -> Range | None:
        """The range that a version must meet; None when any will do."""
        if self.minimum is None and self.range is None:
            return None
        lowest = at_least(self.minimum).clauses if self.minimum is not None else ()
        written = read_range(self.range) if self.range is not None else None
        return Range(lowest + (written.clauses if written is not None else ()))

    @property
    def needed_version(self) -> str:
        return wording.version_phrase(self.minimum, self.range) if self.minimum or self.range else ""


@dataclass(slots=True)
class _Answer:
    """An answer in the making."""

    needs: _Needs
    system: str
    unmet: list[Unmet] = field(default_factory=list[Unmet])
    unverified: list[Unverified] = field(default_factory=list[Unverified])
    gpus: Gpus | None = None
    resolution: Resolution | None = None
    copies: tuple[Copy, ...] = ()
    version: str | None = None
    path: str | None = None

    def done(self, state: State, sentence: str = "") -> Evaluation:
        first = self.unmet[0] if self.unmet else None
        if first is not None:
            state = "version_too_old" if first.code == "version_too_new" else _state(first.code)
        availability = Availability(
            state,
            self.version if not first or _of_app(first) else None,
            self.path if not first or _of_app(first) else None,
            self.needs.minimum if state != "no_requirements" else None,
            first.sentence if first else sentence,
            first.remedy if first else "",
            tuple(self.unmet),
            tuple(self.unverified),
        )
        return Evaluation(
            self.needs.name,
            self.needs.title,
            self.system,
            availability,
            self.gpus,
            self.needs.gpus,
            self.resolution,
            self.copies,
            self.needs.needed_version,
        )


def _state(code: str) -> State:
    known: dict[str, State] = {
        "unsupported_os": "unsupported_os",
        "unsupported_gpu": "unsupported_gpu",
        "missing_app": "missing_app",
        "version_unreadable": "version_unreadable",
    }
    return known.get(code, "version_too_old")


def _of_app(unmet: Unmet) -> bool:
    return unmet.code not in {"unsupported_os", "unsupported_gpu"}


def availability(declaration: Any, machine: Machine | None = None, *, os_family: str | None = None) -> Availability:
    """Whether what a declaration needs is here; stops at the first unmet need.

    `declaration` is a `Declaration` or anything with `requires_app`, `min_version`, `required_gpu` and `app_for`.
    `machine` is this computer by default. Never raises for what it finds there.
    """
    return evaluate(declaration, machine, os_family=os_family).availability


@cache
def this_machine() -> Machine:
    """This computer."""
    from homeport.machine.local import LocalMachine

    return LocalMachine()


def evaluate(
    declaration: Any, machine: Machine | None = None, *, os_family: str | None = None, thorough: bool = False
) -> Evaluation:
    """The answer with everything looked at. `thorough` goes on after the first unmet need, to collect them all."""
    needs = _Needs.of(declaration)
    if not needs.app and not needs.gpus:
        return _Answer(needs, "").done("no_requirements", f"{needs.title} needs nothing of this machine.")
    here = machine if machine is not None else this_machine()
    answer = _Answer(needs, os_family or here.platform)
    app: AppDef | None = declaration.app_for(answer.system) if needs.app else None
    if needs.app and app is None:
        declared = declaration.app.blocks if isinstance(declaration, Declaration) and declaration.app else ()
        answer.unmet.append(wording.unsupported_os(needs.title, answer.system, tuple(declared)))
        return answer.done("unsupported_os")
    _check_gpu(answer, here)
    if answer.unmet and not thorough:
        return answer.done("unsupported_gpu")
    if app is None:
        return answer.done("no_requirements", f"{needs.title} needs {wording.gpu_phrase(needs.gpus)}.")
    _check_app(answer, here, app)
    return answer.done("available", _here(answer))


def _here(answer: _Answer) -> str:
    version = f" {answer.version}" if answer.version else ""
    return f"{answer.needs.title}{version} is here: {answer.path}."


def _check_gpu(answer: _Answer, machine: Machine) -> None:
    if not answer.needs.gpus:
        return
    answer.gpus = gpus(machine)
    met = answer.gpus.meets(answer.needs.gpus)
    if met is None:
        phrase = wording.gpu_phrase(answer.needs.gpus)
        answer.unverified.append(Unverified("gpu", f"Whether {phrase} is here could not be read."))
    elif not met:
        answer.unmet.append(wording.unsupported_gpu(answer.needs.title, answer.needs.gpus))


def _check_app(answer: _Answer, machine: Machine, app: AppDef) -> None:
    needs = answer.needs
    answer.resolution = locate(app, machine)
    present = answer.resolution.present
    if not present:
        candidates = answer.resolution.candidates
        answer.path = next((candidate.path for candidate in candidates if candidate.path), None)
        answer.unmet.append(wording.missing_app(needs.name, needs.title, needs.homepage, app, candidates))
        return
    answer.path = present[0].path
    wanted = needs.versions()
    if app.version.kind == "none":
        answer.copies = tuple(Copy(candidate) for candidate in present)
        if wanted is not None:
            sentence = f"Which version of {needs.title} is here could not be read: the declaration says no source."
            answer.unverified.append(Unverified("version", sentence))
    elif wanted is None:
        observation = observe(machine, app, present[0], present)
        answer.version = observation.value if observation.state == "present" else None
        answer.copies = (Copy(present[0], observation), *(Copy(candidate) for candidate in present[1:]))
    else:
        _check_version(answer, [_copy(machine, app, candidate, present, wanted) for candidate in present], wanted)


def _copy(machine: Machine, app: AppDef, candidate: Candidate, present: Sequence[Candidate], wanted: Range) -> Copy:
    observation = observe(machine, app, candidate, present)
    version = read_version(observation.value) if observation.state == "present" else None
    return Copy(candidate, observation, version, version is not None and wanted.holds(version))


def _check_version(answer: _Answer, copies: list[Copy], wanted: Range) -> None:
    """The first copy that meets the range; else the newest one that can be compared tells what is wrong."""
    needs = answer.needs
    answer.copies = tuple(copies)
    meeting = next((copy for copy in copies if copy.meets), None)
    comparable = [copy for copy in copies if copy.version is not None]
    chosen = meeting or _newest(comparable) or copies[0]
    answer.path = chosen.candidate.path
    answer.version = chosen.observation.value or None
    if meeting is not None:
        return
    needed = needs.needed_version
    version = chosen.version
    if version is None:
        said = f"it says {chosen.observation.value!r}" if chosen.observation.value else chosen.observation.detail
        unmet = wording.version_unreadable(needs.name, needs.title, chosen.candidate.path, said, needed)
    elif wanted.too_new(version):
        unmet = wording.version_too_new(needs.title, version.text, needed)
    else:
        unmet = wording.version_too_old(needs.title, version.text, needed)
    answer.unmet.append(unmet)


def _newest(copies: list[Copy]) -> Copy | None:
    """The copy with the highest version, the first of equal ones."""
    best: Copy | None = None
    for copy in copies:
        if copy.version is not None and (best is None or best.version is None or copy.version > best.version):
            best = copy
    return best
