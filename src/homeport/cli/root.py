"""The command: a table of verbs, each loaded when it is used, and the one place where errors become exit statuses."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any, Final

import click

import homeport
from homeport.cli.exits import Exit, status_of
from homeport.cli.output import Output
from homeport.ground.errors import HomeportError

VERBS: Final = {
    "doctor": ("look", "What is wrong with the MCP servers of your agents, and what mends it."),
    "init": ("project", "Start a project here."),
    "import": ("project", "Take servers over from an mcp.json or an agent's config."),
    "add": ("project", "Add one server."),
    "remove": ("project", "Remove one server."),
    "trust": ("project", "Agree to the launches and profiles of a project that came from elsewhere."),
    "lock": ("lock", "Resolve and pin what runs, and read what it offers."),
    "sync": ("lock", "Bring the disk to the lock."),
    "check": ("look", "Is the application here that a server needs, and if not, why."),
    "explain": ("look", "The whole decision on a server or a tool."),
    "surface": ("surface", "What servers offer, as locked."),
    "cost": ("surface", "What the tool lists cost an agent's context."),
    "grant": ("grants", "Allow tools of a server."),
    "deny": ("grants", "Take tools of a server back."),
    "tools": ("calls", "The granted tools."),
    "call": ("calls", "Call a tool."),
    "up": ("serve", "Gateway and console in one process."),
    "serve": ("serve", "The gateway alone."),
    "connect": ("serve", "The stdio side of the gateway, for an agent's config."),
    "ps": ("running", "The running gateway and its servers."),
    "logs": ("running", "What a server wrote to its standard error."),
    "restart": ("running", "Restart one server."),
    "down": ("running", "Stop the gateway."),
    "paths": ("running", "Where Homeport keeps things."),
    "approvals": ("approvals", "Calls that wait for a person's answer."),
    "audit": ("audit", "What was called, by whom, and what was refused."),
    "secrets": ("secrets", "Values that configuration refers to by name."),
    "token": ("token", "The tokens that open a profile's endpoint."),
}
"""Verb to the module that holds it, and its line in `--help` (so that help loads none of them)."""


class Verbs(click.Group):
    """A group whose commands are imported when they are run."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order of the table: it reads as a story."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of the verb."""
        found = VERBS.get(cmd_name)
        if found is None:
            return None
        module = importlib.import_module(f"homeport.cli.{found[0]}")
        return getattr(module, f"{cmd_name}_command")

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, but a misspelt verb gets the nearest one."""
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            import difflib

            near = difflib.get_close_matches(args[0], VERBS, n=1)
            hint = f" Did you mean `homeport {near[0]}`?" if near else ""
            raise click.UsageError(f"There is no command `{args[0]}`.{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The table, without importing anything."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in VERBS.items()])


@click.group(
    cls=Verbs,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="Exit status: 0 done, 1 refused, 2 wrong input, 3 the outside failed, 4 conflict or drift, 5 internal.",
)
@click.version_option(homeport.__version__, message="homeport %(version)s")
def homeport_command() -> None:
    """Which MCP servers an agent may use here, pinned, granted, behind one endpoint."""


def run(arguments: Sequence[str]) -> int:
    """Run one command line; returns the exit status. The boundary where every error ends."""
    output = Output(json="--json" in arguments, stdout=sys.stdout, stderr=sys.stderr)
    try:
        result: Any = homeport_command.main(args=list(arguments), prog_name="homeport", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Abort:
        return Exit.INTERRUPTED
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except click.ClickException as error:
        error.show()
        return Exit.WRONG_INPUT
    except HomeportError as error:
        output.error(error)
        return status_of(error)
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except BrokenPipeError:
        # The reader (`| head`) has gone; Python would complain again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.DONE
    except Exception as error:  # noqa: BLE001  # the boundary of the command line: an unknown error is ours to report
        return _internal(error, verbose="-v" in arguments or "--verbose" in arguments)
    return int(result) if isinstance(result, int) else Exit.DONE


def _internal(error: Exception, *, verbose: bool) -> int:
    if verbose:
        import traceback

        traceback.print_exception(error)
    sys.stderr.write(f"error: internal: {type(error).__name__}: {error}\n")
    sys.stderr.write("\nhint: this is a fault of Homeport; run again with -v and report what it prints\n")
    return Exit.INTERNAL
