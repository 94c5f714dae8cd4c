"""Which keys `homeport.toml` has, said once: the parser and the JSON Schema both come from here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from homeport.ground.names import PROFILE as PROFILE_NAME
from homeport.ground.names import SERVER
from homeport.project.shape import (
    Choice,
    Elsewhere,
    Fields,
    Flag,
    Named,
    OneOrSeveral,
    Several,
    Text,
    Whole,
)

ANY: Final = r"[\s\S]+"
"""Anything but nothing, spelled so that every dialect of patterns reads it alike."""

HEADER_NAME: Final = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
SERVER_NAME: Final = rf"(?!(?:mcp|homeport)$){SERVER.pattern}"
VARIABLE_NAME: Final = r"[A-Za-z_][A-Za-z0-9_().-]*"

_VALUE: Final = OneOrSeveral(
    Text("A value; `{secret:NAME}` and `{env:NAME}` in it are filled in when the server starts."),
    "A value, or a list of which the first that can be filled in and is not empty wins.",
)

RUNTIME: Final = Fields(
    {
        "python": Text("A distribution from PyPI as `name==version`.", ANY, "a requirement like `name==1.2.3`"),
        "node": Text("A package from npm as `name@version`.", ANY, "a requirement like `name@1.2.3`"),
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
            "command": Text("A program on this machine; searched on PATH unless it has a slash.", ANY, "a program"),
            "args": Several(Text("One argument."), "Arguments, passed as they are."),
            "runtime": RUNTIME,
            "package": Text("An `mcp` package as `group/name@=version`.", ANY, "like `group/name@=1.2.3`"),
            "url": Text("A server reached over Streamable HTTP.", r"https?://[^\s#]+", "an http or https URL"),
            "headers": Named(_VALUE, "Header fields sent to `url`.", HEADER_NAME, "the name of a header field"),
            "env": Named(_VALUE, "Variables of the server's environment.", VARIABLE_NAME, "the name of a variable"),
            "cwd": Text("The working directory, relative to the project.", ANY, "a directory"),
            "enabled": Flag("false: kept, but never started or served.", default=True),
            "apps": Flag("false: interactive pages of this server are not shown.", default=True),
            "isolation": Choice(("shared", "caller"), "Whether callers share one process or each has its own."),
            "app": Elsewhere(app),
            "requires": Elsewhere(requires),
        },
        "A server. Exactly one of `command`, `runtime`, `package` and `url` says what it is.",
    )


_NAMES: Final = Several(Text("A name.", ANY, "a name"), "Names, each once.", unique=True)
_PATTERN: Final = OneOrSeveral(Text("A pattern."), "A pattern, or a list of which one must match.")
_BY_SELECTOR: Final = Named(_PATTERN, "Patterns by the path of an argument.")

LIMITS: Final = Fields(
    {"calls_per_minute": Whole("Calls in a minute."), "concurrent": Whole("Calls at one time.")}, "Bounds on calls."
)

RULE: Final = Fields(
    {
        "tool": Text("A tool's name, or `*`.", ANY, "the name of a tool"),
        "deny": _BY_SELECTOR,
        "allow": _BY_SELECTOR,
        "post_call": Named(_PATTERN, "Patterns by the path of a value in the result."),
        "restrict": Named(_PATTERN, "Globs by the name of an argument."),
        "pin": Named(Elsewhere({}), "Values that an argument always has, by its path."),
        "optional": Several(_NAMES.item, "Arguments that may be absent although a rule is on them.", unique=True),
        "sensitive": Several(_NAMES.item, "Arguments whose values are never written down.", unique=True),
        "destructive": Flag("true: counts as destructive, whatever the server says.", default=False),
        "describe": Text("Text that is added to the tool's description.", ANY, "a text"),
        "name": Text("The tool's name as a command.", r"[a-z0-9][a-z0-9-]*", "a command's name"),
        "message": Text("What a refused caller is told.", ANY, "a text"),
        "fail_when": Text("When a result counts as a failure.", ANY, "an expression"),
        "limits": LIMITS,
        "on_output_mismatch": Choice(("warn", "refuse"), "What to do with a result that is not of the locked schema."),
    },
    "Rules of one tool, or of all.",
    required=("tool",),
)

GRANT: Final = Fields(
    {
        "can": Several(_NAMES.item, 'The tools that may be called, or `["*"]`.', unique=True),
        "never": Several(
            Text("A tool's name.", r"(?!\*$)[\s\S]+", "the name of a tool"), "Tools that are never served.", unique=True
        ),
        "prompts": Several(_NAMES.item, 'The prompts that may be used, or `["*"]`.', unique=True),
        "resources": Several(_NAMES.item, "URI patterns of the resources that may be read.", unique=True),
        "may_ask": Several(
            Choice(("elicitation", "sampling", "roots"), "A kind of question."),
            "What the server may ask back.",
            unique=True,
        ),
        "rule": Several(RULE, "Rules on calls."),
    },
    "What a profile may use of one server. Absent means denied.",
)

PROFILE: Final = Fields(
    {
        "approval": Choice(("read-only", "confirm", "full"), "Which granted tools run, ask or are refused."),
        "apps": Choice(("confirm", "full"), "The most that calls of an interactive page get."),
        "asks": Several(
            Choice(("console", "terminal", "client"), "Who may answer."), "Who may answer a question.", unique=True
        ),
        "limits": LIMITS,
        "restrict": Named(_PATTERN, "Globs on an argument, for every granted tool that has it."),
        "grants": Named(GRANT, "What may be used, by server.", SERVER_NAME),
        "require_token": Flag("true: reachable with this profile's token only.", default=False),
    },
    "Who is calling: which grants, which approval.",
)


PROFILES: Final = Named(PROFILE, "Who may call what.", PROFILE_NAME.pattern, "a profile's name")
"""For the JSON Schema only: `surface.policy_parse` reads the profiles of a file."""


def document(*, app: Mapping[str, Any] | None = None, requires: Mapping[str, Any] | None = None) -> Fields:
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
                SERVER_NAME,
                "a server name: lower-case letters, digits and hyphens, starting with a letter, at most 40, "
                "not `mcp` or `homeport`",
            ),
            "profiles": Elsewhere({}),
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
