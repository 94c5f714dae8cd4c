"""What is said to people and models about an availability: one sentence of reason, one of remedy. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from homeport.declarations.locate import override_variable
from homeport.declarations.model import GPU_NAMES, OS_NAMES, AppDef, Candidate, Unmet


def listed(words: Sequence[str], joiner: str) -> str:
    """`a`, `a or b`, `a, b or c`."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {joiner} {words[-1]}"


def gpu_phrase(vendors: Sequence[str]) -> str:
    """`an NVIDIA GPU`, `an NVIDIA GPU or an AMD GPU`."""
    return listed([GPU_NAMES.get(vendor, "a supported GPU") for vendor in vendors], "or")


def system_name(platform: str) -> str:
    """An operating system as people call it."""
    return OS_NAMES.get(platform, platform)


def version_phrase(minimum: str | None, wanted: str | None) -> str:
    """`version 4.2 or newer`, `a version in >=4.2,<6`."""
    if minimum and wanted:
        return f"version {minimum} or newer in {wanted}"
    return f"version {minimum} or newer" if minimum else f"a version in {wanted}"


def unsupported_os(title: str, platform: str, declared: Sequence[str]) -> Unmet:
    """The application is declared for other systems only."""
    others = [system_name(system) for system in declared]
    here = system_name(platform)
    sentence = f"{title} is not available on {here}"
    if not others:
        return Unmet("unsupported_os", f"{sentence}.", f"Declare where {title} is on {here}.")
    remedy = f"Use {title} on {listed(others, 'or')}."
    return Unmet("unsupported_os", f"{sentence}: it is declared for {listed(others, 'and')} only.", remedy)


def unsupported_gpu(title: str, vendors: Sequence[str]) -> Unmet:
    """None of the wanted GPUs is here."""
    phrase = gpu_phrase(vendors)
    sentence = f"{title} needs {phrase}; none was found on this machine."
    return Unmet("unsupported_gpu", sentence, f"Use {title} on a machine with {phrase}.")


def missing_app(name: str, title: str, homepage: str, app: AppDef, candidates: Sequence[Candidate]) -> Unmet:
    """The application was found in no place."""
    if any(candidate.reason == "not_this_os" for candidate in candidates):
        here = f"{title} for {system_name(app.os_family)} cannot be looked for from this machine."
        return Unmet("missing_app", here, f"Run homeport check {name} on a machine with {system_name(app.os_family)}.")
    places = list(dict.fromkeys(candidate.path for candidate in candidates if candidate.path))
    looked = f": looked at {places[0]}" if places else ""
    if len(places) > 1:
        looked += f" and {len(places) - 1} more place{'s' if len(places) > 2 else ''}"
    source = f" from {homepage}" if homepage else ""
    remedy = (
        f"Install {title}{source}, or set {override_variable(name)} to its path; "
        f"`homeport check {name} -v` lists every place looked at."
    )
    return Unmet("missing_app", f"{title} is not installed{looked}.", remedy)


def version_too_old(title: str, version: str, needed: str) -> Unmet:
    """The best copy is below what is needed."""
    return Unmet(
        "version_too_old", f"{title} {version} is too old: {needed} is needed.", f"Update {title} to {needed}."
    )


def version_too_new(title: str, version: str, needed: str) -> Unmet:
    """Every copy is above the range."""
    return Unmet("version_too_new", f"{title} {version} is too new: {needed} is needed.", f"Install {title} {needed}.")


def version_unreadable(name: str, title: str, path: str, why: str, needed: str) -> Unmet:
    """No copy tells a version that can be compared."""
    reason = f" ({why})" if why else ""
    sentence = f"The version of {title} at {path} cannot be read{reason}, and {needed} is needed."
    remedy = f"Reinstall or update {title} to {needed}; homeport check {name} -v shows what was read."
    return Unmet("version_unreadable", sentence, remedy)


def not_running(title: str) -> Unmet:
    """The application is here and does not run."""
    return Unmet("installed_not_running", f"{title} is installed but not running.", f"Start {title}, then try again.")


def refused_install(name: str, state: str, needed: str) -> str:
    """One line for a verb that would install a server that can never run here."""
    return f"{name} is unavailable: {state}, needs {needed}."
