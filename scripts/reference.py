"""Write the reference pages out of the code: `docs/reference/*.md`. With `--check`: fail if they differ."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from homeport.cli.exits import Exit
from homeport.cli.root import VERBS, homeport_command
from homeport.project import schema

ROOT = Path(__file__).parent.parent
REFERENCE = ROOT / "docs" / "reference"
NOTE = "<!-- Written by scripts/reference.py out of the code; `make docs` writes it again. -->\n\n"


def pages() -> dict[Path, str]:
    """File to text."""
    return {
        REFERENCE / "commands.md": NOTE + "".join(_commands()),
        REFERENCE / "exit-statuses.md": NOTE + "".join(_statuses()),
        ROOT / "schema" / "homeport.schema.json": schema.text(),
    }


def _commands() -> Iterator[str]:
    yield "# Commands\n\n"
    context = click.Context(homeport_command, info_name="homeport")
    for name in VERBS:
        command = homeport_command.get_command(context, name)
        assert command is not None, name
        yield from _command(command, click.Context(command, info_name=f"homeport {name}"))


def _command(command: click.Command, context: click.Context) -> Iterator[str]:
    context.max_content_width = 100
    yield f"## {context.info_name}\n\n```text\n{command.get_help(context)}\n```\n\n"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from _command(inner, click.Context(inner, info_name=f"{context.info_name} {name}"))


def _statuses() -> Iterator[str]:
    words = {
        Exit.DONE: "done",
        Exit.REFUSED: "refused by policy, trust or consent",
        Exit.WRONG_INPUT: "wrong input or usage; an unknown, denied or quarantined tool",
        Exit.OUTSIDE_FAILED: "the outside failed: a server, a registry, a disk, an application that is not here",
        Exit.CONFLICT: "conflict or drift: what is there is not what was locked",
        Exit.INTERNAL: "a fault of Homeport",
        Exit.INPUT_REQUIRED: "the server asks something that nobody here can answer",
        Exit.INTERRUPTED: "interrupted",
    }
    yield "# Exit statuses\n\n| status | means |\n| --- | --- |\n"
    for status in Exit:
        yield f"| {status.value} | {words[status]} |\n"


def main() -> int:
    """Write, or compare."""
    stale = {file: text for file, text in pages().items() if _stale(file, text)}
    if "--check" in sys.argv:
        for file in stale:
            sys.stderr.write(f"{file.relative_to(ROOT)} is not what the code says; run: make docs\n")
        return int(bool(stale))
    for file, text in stale.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return 0


def _stale(file: Path, text: str) -> bool:
    return not file.is_file() or file.read_text(encoding="utf-8") != text


if __name__ == "__main__":
    os.environ["COLUMNS"] = "100"
    sys.exit(main())
