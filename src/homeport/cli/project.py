"""`init`, `import`, `add`, `remove`, `trust`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from homeport.cli.exits import Exit
from homeport.cli.session import Session, verb
from homeport.ops import projects


@click.command("init")
@click.argument("name", default="")
@verb()
def init_command(session: Session, name: str) -> None:
    """Start a project here: writes homeport.toml."""
    made = projects.init(session.context, name)
    if session.output.json:
        session.output.data({"file": str(made.file), "name": made.name})
        return
    session.output.note(f"wrote {made.file}")
    session.output.note("next: homeport add NAME --python PACKAGE==VERSION, or homeport import FILE")


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--agent", metavar="ID", default="", help="Whose file it is, where its path does not tell.")
@click.option("--server", "names", multiple=True, metavar="NAME", help="Only this one (repeatable).")
@click.option("--keep-values", is_flag=True, help="Leave values in the file instead of the secret store.")
@verb(consents=True)
def import_command(session: Session, file: Path, agent: str, names: Sequence[str], *, keep_values: bool) -> int:
    """Take servers over from an mcp.json or an agent's config FILE. Values become secrets; nothing starts."""
    changed = projects.import_servers(session.context, file, agent=agent, names=names, keep_values=keep_values)
    return _tell(session, changed)


@click.command("add")
@click.argument("name")
@click.argument("command", nargs=-1)
@click.option("--python", metavar="NAME==VERSION", default="", help="A distribution from PyPI, pinned.")
@click.option("--node", metavar="NAME@VERSION", default="", help="A package from npm, pinned.")
@click.option("--url", metavar="URL", default="", help="A server reached over Streamable HTTP.")
@click.option("--env", "env", multiple=True, metavar="NAME=VALUE", help="A variable it gets (repeatable).")
@click.option("--header", "headers", multiple=True, metavar="NAME=VALUE", help="A header it gets (repeatable).")
@click.option("--keep-values", is_flag=True, help="Leave values in the file instead of the secret store.")
@verb(consents=True)
def add_command(
    session: Session,
    name: str,
    command: Sequence[str],
    python: str,
    node: str,
    url: str,
    env: Sequence[str],
    headers: Sequence[str],
    *,
    keep_values: bool,
) -> int:
    """Add one server: --python, --node, --url, or after `--` the COMMAND that starts it.

    With --python and --node, what stands after `--` are its arguments.
    """
    changed = projects.add(
        session.context,
        name,
        python=python,
        node=node,
        url=url,
        command=command,
        env=dict(map(_pair, env)),
        headers=dict(map(_pair, headers)),
        keep_values=keep_values,
    )
    return _tell(session, changed)


def _pair(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not separator or not name:
        raise click.UsageError(f"{text!r} is not NAME=VALUE")
    return name, value


@click.command("remove")
@click.argument("name")
@verb()
def remove_command(session: Session, name: str) -> None:
    """Remove server NAME and what was granted of it."""
    file = projects.remove(session.context, name)
    if session.output.json:
        session.output.data({"file": str(file), "removed": name})
        return
    session.output.note(f"removed {name} from {file}")
    session.output.note("next: homeport lock")


@click.command("trust")
@verb(consents=True)
def trust_command(session: Session) -> None:
    """Agree to the launches and grants of a project that came from elsewhere. Shows all of them first."""
    from homeport.ops import trusting

    agreed = trusting.trust_project(session.context)
    if session.output.json:
        session.output.data(
            {"agreed": list(agreed.servers), "already": list(agreed.already), "profiles": agreed.profiles}
        )
        return
    if not agreed.servers and not agreed.profiles:
        session.output.note("nothing new: you agreed to all of it before")
        return
    session.output.note("agreed" + (f" to start {', '.join(agreed.servers)}" if agreed.servers else " to the grants"))
    session.output.note("next: homeport sync, then homeport up")


def _tell(session: Session, changed: projects.Changed) -> int:
    output = session.output
    if output.json:
        output.data(
            {
                "file": str(changed.file),
                "servers": list(changed.servers),
                "secrets": list(changed.secrets),
                "secrets_in": changed.secrets_where,
                "notes": list(changed.notes),
            }
        )
        return Exit.DONE
    output.note(f"wrote {', '.join(changed.servers)} to {changed.file}")
    if changed.secrets:
        output.note(f"moved into {changed.secrets_where}: {', '.join(changed.secrets)}")
    for note in changed.notes:
        output.note(f"note: {note}")
    from homeport.cli.lock import offer_lock

    return offer_lock(session, changed.servers)
