"""Which keys `homeport.toml` has, said once: the parser and the JSON Schema both come from here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from homeport.ground.names import PROFILE, SERVER
from homeport.project.shape import (
    Choice,
    Elsewhere,
    Fields,
    Flag,
    Named,
    OneOrSeveral,
    Several,
    Shape,
    Text,
)

HEADER_NAME: Final = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
VARIABLE_NAME: Final = r"[A-Za-z_][A-Za-z0-9_().-]*"

_VALUE: Final = OneOrSeveral(
    Text("A value; `{secret:NAME}` and `{env:NAME}` in it are filled in when the server starts."),
    "A value, or a list of which the first that can be filled in and is not empty wins.",
)

RUNTIME: Final = Fields(
    {
        "python": Text("A distribution from PyPI as `name==version`.", r"(?s).+", "a requirement like `name==1.2.3`"),
        "node": Text("A package from npm as `name@version`.", r"(?s).+", "a requirement like `name@1.2.3`"),
        "command": Text(
            "The script of the package to run, where its name is not the package's.",
            r"[A-Za-z0-9_][A-Za-z0-9_.+-]*",
            "the name of a script",
        ),
    },
    "A program resolved with all its dependencies into the lock. Exactly one of `python` and `node`.",
)


def server(app: Mapping[str, Any], requires: Mapping[str, Any]) -> Fields:
    """One `[servers.NAME]`, with the fragments that the declarations room has for its two keys."""
    return Fields(
        {
            "command": Text(
                "A program on this machine; searched on PATH unless it has a slash.", r"(?s).+", "a program"
            ),
            "args": Several(Text("One argument."), "Arguments, passed as they are."),
            "runtime": RUNTIME,
            "package": Text("An `mcp` package as `group/name@=version`.", r"(?s).+", "like `group/name@=1.2.3`"),
            "url": Text("A server reached over Streamable HTTP.", r"https?://[^\s#]+", "an http or https URL"),
            "headers": Named(_VALUE, "Header fields sent to `url`.", HEADER_NAME, "the name of a header field"),
            "env": Named(_VALUE, "Variables of the server's environment.", VARIABLE_NAME, "the name of a variable"),
            "cwd": Text("The working directory, relative to the project.", r"(?s).+", "a directory"),
            "enabled": Flag("false: kept, but never started or served.", default=True),
            "apps": Flag("false: interactive pages of this server are not shown.", default=True),
            "isolation": Choice(("shared", "caller"), "Whether callers share one process or each has its own."),
            "app": Elsewhere(app),
            "requires": Elsewhere(requires),
        },
        "A server. Exactly one of `command`, `runtime`, `package` and `url` says what it is.",
    )


def document(
    *, app: Mapping[str, Any] | None = None, requires: Mapping[str, Any] | None = None, profile: Shape | None = None
) -> Fields:
    """The whole file in the role of a project."""
    return Fields(
        {
            "project": Fields(
                {"name": Text("What the project is called.", r"[^\s\x00-\x1f][^\x00-\x1f]{0,99}", "a short name")},
                "The project itself.",
                required=("name",),
            ),
            "servers": Named(
                server(app or {}, requires or {}),
                "The servers by name.",
                rf"(?!(?:mcp|homeport)$){SERVER.pattern}",
                "a server name: lower-case letters, digits and hyphens, starting with a letter, at most 40, "
                "not `mcp` or `homeport`",
            ),
            "profiles": Elsewhere({}) if profile is None else Named(profile, "Who may call what.", PROFILE.pattern),
            "registries": Named(
                Text("Where packages come from.", r"(?:https?|file)://\S+", "a URL"),
                "Sources of `mcp` packages by name.",
                r"[a-z][a-z0-9-]{0,39}",
                "a name of lower-case letters, digits and hyphens",
            ),
        },
        "A Homeport project: which servers there are and who may call what.",
        required=("project",),
    )
