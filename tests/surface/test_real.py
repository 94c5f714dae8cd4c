"""The surfaces of real public servers, as recorded by `scripts/record_surfaces.py`."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
from tests.surface.reported import REAL, RECORDED, REPORT, recorded, report, whole_view

from homeport.ground import exact
from homeport.surface.binding import Sources, bind
from homeport.surface.decide import GrantedTool
from homeport.surface.flags import form, help_line
from homeport.surface.lock import dump

EACH = pytest.mark.parametrize("file", RECORDED, ids=lambda file: file.stem)


def nothing(_: str = "") -> str:
    raise AssertionError


def test_at_least_twelve_servers_are_recorded_each_with_its_exact_version() -> None:
    listed = tomllib.loads((REAL / "servers.toml").read_text("utf-8"))
    assert sorted(listed) == [file.stem for file in RECORDED]
    assert len(listed) >= 12
    for server in listed.values():
        assert re.search(r"(==|.@)\d[\w.]*$", next(iter(server["runtime"].values())))


@EACH
def test_a_recorded_lock_is_read_and_written_byte_for_byte(file: Path) -> None:
    assert dump(recorded(file)) == file.read_bytes()


@EACH
def test_what_is_served_is_what_is_locked(file: Path) -> None:
    surface = recorded(file)
    view = whole_view(file.stem, surface)
    assert view.problems == ()
    assert view.warnings == ()
    assert [tool.name for tool in view.tools(file.stem)] == sorted(surface.tools)
    for tool in view.tools(file.stem):
        assert exact.canonical(exact.loads(tool.definition_bytes)) == exact.canonical(
            dict(surface.tools[tool.name].definition)
        )


@EACH
def test_every_tool_has_a_command_of_its_own_and_every_property_a_way_to_be_said(file: Path) -> None:
    tools = whole_view(file.stem, recorded(file)).tools(file.stem)
    assert len({tool.command for tool in tools}) == len(tools)
    for tool in tools:
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", tool.command)
        made = form(tool.definition.get("inputSchema"))
        described = tool.definition["inputSchema"]
        assert isinstance(described, dict)
        named = described.get("properties")
        assert set(made.fidelity) == set(named if isinstance(named, dict) else ())
        assert {flag.name for flag in made.flags} | set(made.json_only) == set(made.fidelity)
        assert all(help_line(flag) for flag in made.flags)


@EACH
def test_what_is_required_is_asked_for_before_anything_is_sent(file: Path) -> None:
    for tool in whole_view(file.stem, recorded(file)).tools(file.stem):
        bound = bind(form(tool.definition.get("inputSchema")), ["--args", "{}"], Sources(nothing, nothing))
        _, problem = tool.check(bound.arguments)
        assert (problem is None) is (not required(tool)), tool.name


def required(tool: GrantedTool) -> bool:
    """Whether a call without arguments misses something."""
    schema = tool.definition["inputSchema"]
    assert isinstance(schema, dict)
    return bool(schema.get("required"))


@EACH
def test_fidelity_and_lint_are_as_reviewed(file: Path) -> None:
    assert report(file) == json.loads(REPORT.read_text("utf-8"))[file.stem]
