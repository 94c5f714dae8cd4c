"""`homeport.toml` in the role of a project: bytes to values, every problem told at once with its place."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from homeport.ground.errors import InvalidInput, Place, Problem, Unavailable
from homeport.ground.paths import PROJECT_FILE
from homeport.project import keys
from homeport.project.findings import Findings
from homeport.project.lines import locate
from homeport.project.misspelt import nearest
from homeport.project.model import Project
from homeport.project.servers import server
from homeport.project.shape import conform
from homeport.project.values import table
from homeport.surface.policy import Profile
from homeport.surface.policy_parse import parse_profiles


def load(root: Path) -> Project:
    """Read and parse the file in `root`.

    Raises `InvalidInput` (`project.*`, all problems collected), `Unavailable` (`project.absent`,
    `project.unreadable`).
    """
    file = root / PROJECT_FILE
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        raise Unavailable(
            f"there is no {PROJECT_FILE} in {root}",
            code="project.absent",
            remedy="homeport init",
            place=Place(str(file)),
        ) from None
    except OSError as error:
        raise Unavailable(
            f"cannot be read: {error.strerror}",
            code="project.unreadable",
            remedy=f"make {file} readable for this user",
            place=Place(str(file)),
        ) from None
    return parse(data, root=root)


def parse(data: bytes, *, root: Path) -> Project:
    """The project in `data`. Raises `InvalidInput` (`project.*`, `policy.*`, …) with every problem of the file."""
    file = str(root / PROJECT_FILE)
    document, text = _decode(data, file)
    findings = Findings(file, locate(text))
    _require_role(document, findings)
    for path, problem in conform(document, keys.document()):
        findings.add(path, problem)
    project = table(document.get("project"))
    servers = {
        name: found
        for name, raw in table(document.get("servers")).items()
        if isinstance(raw, dict) and (found := server(name, cast("dict[str, Any]", raw), findings)) is not None
    }
    profiles, problems = parse_profiles(table(document.get("profiles")), place_of=findings.place)
    findings.problems += problems
    _check_granted(profiles, table(document.get("servers")), findings)
    findings.finish()
    return Project(
        root,
        str(project.get("name", "")),
        servers,
        profiles,
        {name: str(url) for name, url in table(document.get("registries")).items()},
    )


def _check_granted(profiles: Mapping[str, Profile], servers: Mapping[str, Any], findings: Findings) -> None:
    """A grant for a server that this file does not have is a slip of the pen, not a wish for later."""
    for profile in profiles.values():
        for name in profile.grants:
            if name not in servers:
                near = nearest(name, servers)
                remedy = f"write `{near}`" if near else f"remove the grant, or `homeport add {name}`"
                path = ("profiles", profile.name, "grants", name)
                findings.add(path, Problem("project.unknown_server", f"there is no server {name!r}", remedy=remedy))


def _decode(data: bytes, file: str) -> tuple[dict[str, Any], str]:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidInput("not UTF-8", code="project.encoding", place=Place(file, line)) from None
    text = text.replace("\r\n", "\n")
    try:
        return tomllib.loads(text), text
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"\(at line (\d+), column \d+\)", str(error))
        line = int(found[1]) if found else text.count("\n") + 1
        message = re.sub(r" \(at .*\)$", "", str(error))
        raise InvalidInput(message, code="project.syntax", place=Place(file, line)) from None
    except RecursionError:
        raise InvalidInput("nested too deeply", code="project.syntax", place=Place(file)) from None


def _require_role(document: Mapping[str, Any], findings: Findings) -> None:
    """A file is a project or a package, never both; a package's file is not read as a project."""
    if "package" not in document:
        return
    both = "project" in document
    message = (
        "a file is a project or a package, never both" if both else "this is the file of a package, not of a project"
    )
    remedy = (
        "move [package] into a directory of its own" if both else "homeport init, in another directory, makes a project"
    )
    raise InvalidInput(message, code="project.role", place=findings.place(("package",)), remedy=remedy)
