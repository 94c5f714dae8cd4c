"""What every verb needs to know of the user and the machine, read once at the edge and passed down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from homeport.ground.errors import InvalidInput, Place
from homeport.ground.limits import DEFAULT, Limits
from homeport.ground.paths import PROJECT_FILE, UserPaths, find_project
from homeport.machine.keychain import SecretStore


class Progress(Protocol):
    """Shows long work. Every method returns at once and none can fail the work."""

    def step(self, text: str) -> None:
        """What is being done now, in a few words."""
        ...

    def done(self, text: str) -> None:
        """A line that stays."""
        ...


@dataclass(frozen=True, slots=True)
class Question:
    """Something only a person may agree to."""

    title: str
    details: tuple[str, ...]
    """Everything that is agreed to, untruncated, a line each."""
    verb: str
    """The command that asks, for the sentence that says how to agree without a terminal."""


class Consent(Protocol):
    """Asks the person at the terminal, or answers as `--yes` says."""

    def agree(self, question: Question) -> None:
        """Return if agreed. Raises `Refused` (`consent.declined`, `consent.no_terminal`)."""
        ...


@dataclass(frozen=True, slots=True)
class Context:
    """One user on one machine, in one directory."""

    paths: UserPaths
    environment: Mapping[str, str]
    platform: str
    home: Path
    directory: Path
    """The working directory, or `--project`."""
    progress: Progress
    consent: Consent
    limits: Limits = DEFAULT

    def secrets(self) -> SecretStore:
        """The secret store of this user."""
        return SecretStore(self.paths.state, environment=self.environment, platform=self.platform)

    def root(self) -> Path:
        """The directory of the project in force: the nearest upwards, else the user-level one.

        Raises `InvalidInput` (`project.none`) when there is neither.
        """
        found = find_project(self.directory)
        if found is not None:
            return found
        if self.paths.user_project.is_file():
            return self.paths.config
        raise InvalidInput(
            f"there is no {PROJECT_FILE} here or above, and no user-level one",
            code="project.none",
            place=Place(str(self.directory)),
            remedy="run `homeport init` for a new project, or `homeport import` to start from your agents' configs",
        )
