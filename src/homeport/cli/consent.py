"""Asking the person at the terminal, and showing what takes long."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass

from homeport.agents.markers import running_agent
from homeport.cli.output import Output, plain
from homeport.ground.errors import Refused
from homeport.ops.context import Question


@dataclass(slots=True)
class TerminalProgress:
    """One line that changes on a terminal; plain lines with `-v`; nothing elsewhere."""

    output: Output
    live: bool = False

    def step(self, text: str) -> None:
        """Show what is being done now."""
        if self.output.quiet:
            return
        if self.output.stderr.isatty():
            self.output.stderr.write(f"\r\x1b[2K{plain(text)[:110]}…")
            self.output.stderr.flush()
            self.live = True
        else:
            self.output.detail(text)

    def done(self, text: str) -> None:
        """A line that stays."""
        self.clear()
        self.output.note(text)

    def clear(self) -> None:
        """Remove the changing line."""
        if self.live:
            self.output.stderr.write("\r\x1b[2K")
            self.output.stderr.flush()
            self.live = False


@dataclass(slots=True)
class TerminalConsent:
    """Shows the whole of what is agreed to and asks; `--yes` agrees beforehand."""

    output: Output
    environment: Mapping[str, str]
    progress: TerminalProgress
    yes: bool = False

    def agree(self, question: Question) -> None:
        """Return if agreed. Raises `Refused`: without a terminal or inside an agent's session nobody can agree."""
        self.progress.clear()
        for line in (question.title, *("  " + detail for detail in question.details)):
            self.output.stderr.write(plain(line) + "\n")
        if self.yes:
            return
        agent = running_agent(self.environment)
        if agent or not sys.stdin.isatty():
            why = f"this session belongs to {agent}" if agent else "standard input is no terminal"
            raise Refused(
                f"only a person may agree to this, and {why}",
                code="consent.no_terminal",
                remedy=f"run `{question.verb}` in a terminal, or with --yes if you have read the above",
            )
        self.output.stderr.write("Agree? [y/N] ")
        self.output.stderr.flush()
        if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
            raise Refused("declined", code="consent.declined", remedy=f"run `{question.verb}` again to be asked again")

    def choose(self, prompt: str, choices: tuple[str, ...], default: str) -> str:
        """One of `choices`; the default when nobody can be asked."""
        self.progress.clear()
        if self.yes or running_agent(self.environment) or not sys.stdin.isatty():
            return default
        self.output.stderr.write(f"{prompt} [{'/'.join(choices)}] ({default}) ")
        self.output.stderr.flush()
        answer = sys.stdin.readline().strip().lower()
        return next((choice for choice in choices if answer and choice.startswith(answer)), default)


class AlreadyAgreed:
    """For a step whose question was answered by choosing it."""

    def agree(self, question: Question) -> None:
        """Agreed."""
