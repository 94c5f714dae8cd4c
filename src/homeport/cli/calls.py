"""`tools` and `call`: the granted tools as commands."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from homeport.cli.completion import CallCommand, complete_server, complete_token, complete_tool
from homeport.cli.exits import Exit
from homeport.cli.results import show
from homeport.cli.session import Session, open_session, verb
from homeport.ground import exact
from homeport.ground.errors import InvalidInput, Refused, Unavailable
from homeport.ops import toolbox
from homeport.ops.calling import Called
from homeport.surface.binding import Sources
from homeport.surface.decide import GrantedTool
from homeport.surface.flags import Form, help_line

OUTPUTS = ("text", "json", "raw")


@click.command("tools")
@click.argument("server", default="")
@click.option("--profile", default="default", show_default=True, metavar="P", help="Whose.")
@verb()
def tools_command(session: Session, server: str, profile: str) -> None:
    """The tools granted to a profile, of SERVER or of all; withheld servers with the reason."""
    shelf = toolbox.shelf(session.context, profile, server)
    output = session.output
    if output.json:
        output.data([toolbox.described(tool) for tool in shelf.tools])
    elif shelf.tools:
        rows = [(tool.server, tool.command, _first_line(tool)) for tool in shelf.tools]
        output.table(rows, head=("SERVER", "TOOL", "WHAT IT DOES"))
    for why in shelf.withheld:
        output.note(f"{why.server} is withheld: {why.sentence}" + (f"\n  hint: {why.remedy}" if why.remedy else ""))
    for problem in shelf.problems:
        output.note(f"note: {problem}")
    if not shelf.tools and not shelf.withheld:
        output.note("no tool is granted; next: homeport grant SERVER --read-only, or TOOL…")


def _first_line(tool: GrantedTool) -> str:
    text = tool.definition.get("description")
    line = text.strip().partition("\n")[0] if isinstance(text, str) else ""
    return line if len(line) <= 90 else line[:89] + "…"


@click.command(
    "call",
    cls=CallCommand,
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False, "help_option_names": []},
)
@click.option("--json", is_flag=True, help="Print the whole result as JSON.")
@click.option("--project", metavar="DIR", help="The project's directory.")
@click.option("--profile", default="", metavar="P", help="Default: default.")
@click.option("-q", "--quiet", is_flag=True)
@click.option("-v", "--verbose", is_flag=True)
@click.argument("server", default="", shell_complete=complete_server)
@click.argument("tool", default="", shell_complete=complete_tool)
@click.argument("tokens", nargs=-1, type=click.UNPROCESSED, shell_complete=complete_token)
@click.pass_context
def call_command(
    context: click.Context,
    server: str,
    tool: str,
    tokens: tuple[str, ...],
    project: str | None,
    profile: str,
    *,
    json: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    """Call TOOL of SERVER with its own flags: homeport call time get-current-time --timezone Europe/Madrid.

    TOOL is its command name or its name verbatim; `homeport call SERVER TOOL --help` lists its flags. Also --args JSON,
    --args @file, --args - (standard input), --dry-run, --describe, --output text|json|raw, --timeout SECONDS,
    --save-content DIR (pictures, sounds and files of the result).

    Completion in a shell: eval "$(_HOMEPORT_COMPLETE=bash_source homeport)"; also zsh_source and fish_source.
    """
    if server in {"", "-h", "--help"} or tool in {"", "-h", "--help"}:
        click.echo(context.get_help())
        return Exit.DONE if {server, tool} & {"-h", "--help"} else Exit.WRONG_INPUT
    project = project or _value_of(tokens, "project")
    session = open_session(json=json, quiet=quiet, verbose=verbose, project=project)
    chosen = profile or _value_of(tokens, "profile") or "default"
    return _call(session, server, tool, tokens, chosen)


def _value_of(tokens: Sequence[str], name: str) -> str:
    """The value of a flag that must be known before the tool is; the binder reads it again with the others."""
    for index, token in enumerate(tokens):
        for spelling in (f"--{name}", f"--homeport-{name}"):
            if token == spelling and index + 1 < len(tokens):
                return tokens[index + 1]
            if token.startswith(f"{spelling}="):
                return token.partition("=")[2]
    return ""


def _call(session: Session, server: str, tool: str, tokens: Sequence[str], profile: str) -> int:
    found = toolbox.find(session.context, profile, server, tool)
    if not isinstance(found, GrantedTool):
        # It goes along the path all the same: what was asked for and refused belongs in the audit trail.
        return _print(session, _made(session, server, tool, b"{}", profile, dry_run=False), {})
    form = toolbox.form_of(found)
    bound = toolbox.bind_tokens(form, tokens, Sources(_read_file, sys.stdin.read))
    engine = dict(bound.engine)
    _take_engine(session, engine)
    if "help" in engine:
        session.output.line(_help(found, form))
        return Exit.DONE
    if "describe" in engine:
        session.output.data(toolbox.described(found, form))
        return Exit.DONE
    for spelling in bound.deprecated:
        session.output.note(f"note: {spelling} is deprecated")
    timeout = _timeout(engine, session.context.limits.call_total)
    called = _made(
        session, found.server, found.name, bound.arguments, profile, dry_run="dry-run" in engine, timeout=timeout
    )
    return _print(session, called, engine)


def _take_engine(session: Session, engine: Mapping[str, Sequence[str]]) -> None:
    session.output.json |= "json" in engine
    session.output.quiet |= "quiet" in engine
    session.output.verbose |= "verbose" in engine
    if "query" in engine:
        raise InvalidInput("--query is not supported yet", code="call.unsupported", remedy="leave --query out")
    if _how(engine) not in OUTPUTS:
        raise InvalidInput(f"--output {_how(engine)} is none of {', '.join(OUTPUTS)}", code="call.output")


def _how(engine: Mapping[str, Sequence[str]]) -> str:
    return engine.get("output", ("text",))[-1]


def _timeout(engine: Mapping[str, Sequence[str]], most: float) -> float | None:
    """`--timeout` in seconds; None: as configured."""
    if "timeout" not in engine:
        return None
    text = engine["timeout"][-1]
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds <= most:
        raise InvalidInput(f"--timeout {text}: not a number of seconds above 0, at most {most:g}", code="call.timeout")
    return seconds


def _made(
    session: Session,
    server: str,
    tool: str,
    arguments: bytes,
    profile: str,
    *,
    dry_run: bool,
    timeout: float | None = None,
) -> Called:
    """Through the running gateway, else in this process."""
    from homeport.ops import running

    context = session.context
    gateway = running.find(context, context.root().resolve())
    if gateway is None:
        from homeport.cli.inprocess import call_once

        return call_once(context, server, tool, arguments, profile, dry_run=dry_run, timeout=timeout)
    request = {
        "server": server,
        "tool": tool,
        "arguments": arguments.decode(),
        "profile": profile,
        "dry_run": dry_run,
        "timeout": timeout,
    }
    return Called.read(running.ask(gateway, "call", request, timeout=context.limits.call_total))


def _read_file(path: str) -> str:
    try:
        return Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Unavailable(f"{path} cannot be read: {error}", code="call.file", remedy="name a readable file") from None


def _help(tool: GrantedTool, form: Form) -> str:
    text = tool.definition.get("description")
    lines = [f"homeport call {tool.server} {tool.command} [flags]", "", *(str(text or "").strip().splitlines()), ""]
    lines += ["Flags:"] if form.flags else ["It takes no flags."]
    width = max((len(flag.spelling) for flag in form.flags if not flag.hidden), default=0)
    lines += [f"  {flag.spelling:<{width}}  {help_line(flag)}" for flag in form.flags if not flag.hidden]
    if form.json_only:
        lines += ["", f"Only through --args JSON: {', '.join(form.json_only)}"]
    lines += [
        "",
        "Also: --args JSON|@file|-, --dry-run, --describe, --output text|json|raw, --json, --timeout SECONDS,",
    ]
    lines += ["--save-content DIR"]
    return "\n".join(lines)


def _print(session: Session, called: Called, engine: Mapping[str, Sequence[str]]) -> int:
    output = session.output
    match called.outcome:
        case "delivered":
            saved = engine.get("save-content")
            return show(output, called.result, _how(engine), Path(saved[-1]) if saved else None)
        case "dry":
            output.data(
                {
                    "server": called.server,
                    "tool": called.tool,
                    "arguments": toolbox.plain(exact.loads(called.result)),
                    "allowed_by": called.text,
                    "rule": called.rule,
                    "place": called.place,
                }
            )
            return Exit.DONE
        case "error":
            raise _server_error(called)
        case _:
            raise _refusal(called)


def _server_error(called: Called) -> Unavailable:
    error = json.loads(called.result)
    drifted = error.get("code") in {-32601, -32602}
    remedy = f"homeport surface diff {called.server} tells whether it still offers {called.tool} as locked"
    message = f"{called.server}: {error.get('message')}"
    return Unavailable(message, code="call.upstream_failed", remedy=remedy if drifted else "")


def _refusal(called: Called) -> InvalidInput | Refused | Unavailable:
    """The error of the family that the exit status comes from."""
    code = f"call.{called.kind}"
    remedy = "" if called.kind == "unknown" else called.remedy
    # A caller reads the remedy in the sentence; here it is the hint.
    text = called.text.removesuffix(f". To mend it: {remedy}") if remedy else called.text
    if called.kind == "unknown":
        why = f"homeport tools {called.server} lists what is granted; homeport explain {called.server} {called.tool}"
        return InvalidInput(text, code=code, remedy=f"{why} tells why this is not")
    if called.kind in {"invalid_arguments", "secret_missing"}:
        return InvalidInput(text, code=code, remedy=remedy)
    if called.kind in {"upstream_failed", "journal", "unavailable_here", "output_mismatch", "cancelled"}:
        return Unavailable(text, code=code, remedy=remedy)
    return Refused(text, code=code, remedy=remedy)
