"""Completion of `homeport call` in shells, by click's protocol: `eval "$(_HOMEPORT_COMPLETE=bash_source homeport)"`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import click
from click.shell_completion import CompletionItem

from homeport.cli.session import open_session
from homeport.ops import completing
from homeport.ops.completing import Word
from homeport.ops.context import Context


class CallCommand(click.Command):
    """`call`, whose flags are those of the tool that is named before them."""

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Options: of the command itself until a tool is named, then the tool's."""
        server, tool = str(ctx.params.get("server") or ""), str(ctx.params.get("tool") or "")
        if not (server and tool):
            return super().shell_complete(ctx, incomplete)
        words = completing.flags(_context(ctx), _profile(ctx), server, tool, _tokens(ctx))
        return _items(words, incomplete)


def complete_server(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Servers with a granted tool."""
    return _items(completing.servers(_context(ctx), _profile(ctx)), incomplete)


def complete_tool(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Granted tools of the server."""
    return _items(completing.tools(_context(ctx), _profile(ctx), str(ctx.params.get("server") or "")), incomplete)


def complete_token(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The value of the flag before, else the next flag."""
    server, tool = str(ctx.params.get("server") or ""), str(ctx.params.get("tool") or "")
    if not (server and tool):
        return []
    context, profile, tokens = _context(ctx), _profile(ctx), _tokens(ctx)
    last = tokens[-1] if tokens else ""
    if last.startswith("--") and "=" not in last and completing.takes_value(context, profile, server, tool, last):
        return _items(completing.values(context, profile, server, tool, last), incomplete)
    return _items(completing.flags(context, profile, server, tool, tokens), incomplete)


def _items(words: Iterable[Word], incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(word, help=told or None) for word, told in words if word.startswith(incomplete)]


def _tokens(ctx: click.Context) -> Sequence[str]:
    tokens: Any = ctx.params.get("tokens") or ()
    return [str(token) for token in tokens]


def _profile(ctx: click.Context) -> str:
    return str(ctx.params.get("profile") or "default")


def _context(ctx: click.Context) -> Context:
    project: Any = ctx.params.get("project")
    return open_session(json=False, quiet=True, verbose=False, project=project).context
