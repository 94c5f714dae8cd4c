"""What every command shares: its options, its output, and the context made from this process."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from homeport.cli.consent import TerminalConsent, TerminalProgress
from homeport.cli.output import Output
from homeport.ground.paths import user_paths
from homeport.ops.context import Context


@dataclass(slots=True)
class Session:
    """One run of one command."""

    context: Context
    output: Output
    consent: TerminalConsent
    progress: TerminalProgress


def open_session(*, json: bool, quiet: bool, verbose: bool, project: str | None, yes: bool = False) -> Session:
    """Read this process's environment, once."""
    output = Output(json=json, quiet=quiet, verbose=verbose, stdout=sys.stdout, stderr=sys.stderr)
    environment = dict(os.environ)
    progress = TerminalProgress(output)
    consent = TerminalConsent(output, environment, progress, yes)
    home = Path.home()
    context = Context(
        paths=user_paths(environment, sys.platform, home),
        environment=environment,
        platform=sys.platform,
        home=home,
        directory=Path(project).resolve() if project else Path.cwd(),
        progress=progress,
        consent=consent,
    )
    return Session(context, output, consent, progress)


def verb(*, consents: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The shared options of a command; its function gets a `Session` first."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def run(json: bool, quiet: bool, verbose: bool, project: str | None, **options: Any) -> Any:
            session = open_session(
                json=json, quiet=quiet, verbose=verbose, project=project, yes=bool(options.pop("yes", False))
            )
            try:
                return function(session, **options)
            finally:
                session.progress.clear()

        wrapped: Callable[..., Any] = run
        for option in _options(consents=consents):
            wrapped = option(wrapped)
        return wrapped

    return decorate


def _options(*, consents: bool) -> list[Callable[[Callable[..., Any]], Callable[..., Any]]]:
    options = [
        click.option("-v", "--verbose", is_flag=True, help="Say more, on standard error."),
        click.option("-q", "--quiet", is_flag=True, help="Say only what is asked for."),
        click.option("--project", metavar="DIR", help="The project's directory; default: the nearest upwards."),
        click.option("--json", is_flag=True, help="Print data as JSON."),
    ]
    if consents:
        options.append(click.option("--yes", is_flag=True, help="Agree to what is shown, without being asked."))
    return options
