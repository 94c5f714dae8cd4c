"""The trace of an evaluation: every place looked at, with its reason, what was read there and what would help."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from homeport.declarations.availability import Copy, Evaluation, evaluate, this_machine
from homeport.declarations.model import Candidate

if TYPE_CHECKING:
    from homeport.machine.protocol import Machine

REMEDIES: Final[Mapping[str, str]] = {
    "unset_variable": "set the variable, or install the application where the declaration looks",
    "other_account": "write the path out, or start it with '~/'",
    "refused_network": "put the application on this machine; network and device paths are never asked",
    "refused_parent": "take the '..' out of the variable",
    "relative": "make the variable an absolute path",
    "invalid_path": "take the characters out that no file name may have",
    "broken_link": "remove the link, or install what it leads to",
    "denied": "let this user read the folder",
    "hung": "mount the file system again",
    "not_executable": "make the file executable for this user",
    "not_a_bundle": "reinstall the application",
    "too_many": "make the pattern narrower",
    "not_this_os": "check it on a machine with that system",
}
"""By reason code. A place without an entry needs nothing but the application."""


@dataclass(frozen=True, slots=True)
class Trace:
    """What `explain` found. `home` is shortened to `~` in both forms, so that they can be shared."""

    evaluation: Evaluation
    home: str = ""
    windows: bool = False

    def as_dict(self) -> dict[str, Any]:
        """The trace as JSON."""
        answer = self.evaluation.availability
        version, path = answer.version, answer.path
        return {
            "server": self.evaluation.name,
            "title": self.evaluation.title,
            "os": self.evaluation.system,
            "state": answer.state,
            "offerable": answer.offerable,
            "version": version,
            "path": None if path is None else self.short(path),
            "min_version": answer.min_version,
            "needed_version": self.evaluation.needed_version or None,
            "sentence": self.short(answer.sentence),
            "remedy": self.short(answer.remedy),
            "unmet": [
                {"code": unmet.code, "sentence": self.short(unmet.sentence), "remedy": self.short(unmet.remedy)}
                for unmet in answer.unmet
            ],
            "unverified": [{"facet": each.facet, "sentence": self.short(each.sentence)} for each in answer.unverified],
            "gpu": self._gpu(),
            "places": [self._place(candidate) for candidate in self._candidates()],
        }

    def text(self) -> str:
        """The trace as lines for people."""
        return "\n".join(self._lines())

    def short(self, text: str) -> str:
        """A text with this user's home directory as `~`."""
        home = self.home.rstrip("/\\")
        if len(home) < 2:
            return text
        if self.windows:
            return _replaced(text, home, "~")
        return text.replace(home + "/", "~/")

    def _candidates(self) -> Sequence[Candidate]:
        return self.evaluation.resolution.candidates if self.evaluation.resolution else ()

    def _copy(self, candidate: Candidate) -> Copy | None:
        return next((copy for copy in self.evaluation.copies if copy.candidate is candidate), None)

    def _gpu(self) -> dict[str, Any] | None:
        found = self.evaluation.gpus
        if found is None:
            return None
        return {
            "wanted": list(self.evaluation.wanted_gpus),
            "class": found.name,
            "vendors": sorted(found.vendors),
            "known": found.known,
            "evidence": [self.short(line) for line in found.evidence],
        }

    def _place(self, candidate: Candidate) -> dict[str, Any]:
        copy = self._copy(candidate)
        observed = copy.observation if copy is not None else None
        return {
            "path": self.short(candidate.path),
            "source": candidate.source,
            "present": candidate.present,
            "reason": candidate.reason,
            "detail": self.short(candidate.detail),
            "remedy": REMEDIES.get(candidate.reason, ""),
            "version": None
            if copy is None or observed is None
            else {
                "state": observed.state,
                "value": observed.value or None,
                "detail": self.short(observed.detail),
                "meets": copy.meets,
            },
        }

    def _lines(self) -> Iterator[str]:
        answer = self.evaluation.availability
        yield f"{self.evaluation.name}: {answer.state}"
        yield f"  {self.short(answer.sentence)}"
        for unmet in answer.unmet[1:]:
            yield f"  {self.short(unmet.sentence)}"
        for unverified in answer.unverified:
            yield f"  not checked: {self.short(unverified.sentence)}"
        if self.evaluation.gpus is not None:
            yield f"  GPU: {self.evaluation.gpus.name}"
            for line in self.evaluation.gpus.evidence:
                yield f"    {self.short(line)}"
        candidates = self._candidates()
        if candidates:
            yield "  places looked at:"
        for candidate in candidates:
            yield from self._place_lines(candidate)
        for unmet in answer.unmet:
            yield f"  remedy: {self.short(unmet.remedy)}"

    def _place_lines(self, candidate: Candidate) -> Iterator[str]:
        kind = candidate.source.partition(":")[2].partition(":")[2] or "path"
        mark = "found" if candidate.present else candidate.reason
        detail = f" ({self.short(candidate.detail)})" if candidate.detail else ""
        yield f"    {mark:<16} {self.short(candidate.path) or '-'} [{kind}]{detail}"
        copy = self._copy(candidate)
        if copy is not None and copy.observation.state != "not_checked":
            said = copy.observation.value or copy.observation.state
            meets = {None: "", True: ", good", False: ", does not meet the requirement"}[copy.meets]
            why = f" ({self.short(copy.observation.detail)})" if copy.observation.detail else ""
            yield f"      version {said}{meets}{why}"
        if candidate.reason in REMEDIES:
            yield f"      {REMEDIES[candidate.reason]}"


def _replaced(text: str, old: str, new: str) -> str:
    """`text` with `old` replaced in any case."""
    folded, wanted, at = text.casefold(), old.casefold(), 0
    if len(folded) != len(text):
        return text.replace(old, new)
    found = ""
    while (place := folded.find(wanted, at)) >= 0:
        found += text[at:place] + new
        at = place + len(old)
    return found + text[at:]


def explain(declaration: Any, machine: Machine | None = None, *, os_family: str | None = None) -> Trace:
    """Evaluate past the first unmet need and tell everything. On an undeclared system nothing is read."""
    here = machine if machine is not None else this_machine()
    evaluation = evaluate(declaration, here, os_family=os_family, thorough=True)
    if evaluation.resolution is None:
        return Trace(evaluation, here.home, here.platform == "win32")
    looked = tuple(_with_link(here, candidate) for candidate in evaluation.resolution.candidates)
    evaluation = replace(evaluation, resolution=replace(evaluation.resolution, candidates=looked))
    return Trace(evaluation, here.home, here.platform == "win32")


def _with_link(machine: Machine, candidate: Candidate) -> Candidate:
    """The candidate, with the link told that leads nowhere. Only a trace asks: it costs a read for each place."""
    if candidate.reason != "not_found" or not candidate.path:
        return candidate
    target = machine.link(candidate.path)
    if target is None:
        return candidate
    return replace(candidate, reason="broken_link", detail=f"it is a link to {target}, which is not there")
