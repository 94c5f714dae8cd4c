"""The published JSON Schema: committed as generated, and of one mind with the parser about keys and types."""

from __future__ import annotations

import copy
import json
import tomllib
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from tests.project.test_parse import WHOLE

from homeport.project.schema import json_schema, text

REPOSITORY = Path(__file__).parents[2]
VALIDATOR = jsonschema_rs.validator_for(json_schema())


def test_the_committed_schema_is_the_one_the_model_gives() -> None:
    assert (REPOSITORY / "schema" / "homeport.schema.json").read_text("utf-8") == text(), "run `make docs`"


def test_the_schema_is_a_schema() -> None:
    jsonschema_rs.meta.validate(json_schema())


def test_a_valid_project_is_valid() -> None:
    VALIDATOR.validate(tomllib.loads(WHOLE))


@pytest.mark.parametrize("file", sorted(REPOSITORY.glob("examples/*/homeport.toml")), ids=lambda file: file.parent.name)
def test_every_example_is_valid(file: Path) -> None:
    VALIDATOR.validate(tomllib.loads(file.read_text("utf-8")))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("project", "nam"), "x"),
        (("project", "name"), 3),
        (("servers", "Bad"), {"command": "x"}),
        (("servers", "mcp"), {"command": "x"}),
        (("servers", "time", "comand"), "x"),
        (("servers", "time", "url"), "https://x"),
        (("servers", "time", "isolation"), "none"),
        (("servers", "time", "runtime", "ruby"), "x"),
        (("servers", "local", "env", "A=B"), "x"),
        (("servers", "local", "env", "A"), []),
        (("servers", "local", "env", "A"), 3),
        (("servers", "local", "headers"), {"a": "b"}),
        (("servers", "tracker", "cwd"), "x"),
        (("servers", "tracker", "url"), "ftp://x"),
        (("profiles", "default", "aproval"), "full"),
        (("profiles", "default", "approval"), "none"),
        (("profiles", "default", "limits"), {"concurrent": 0}),
        (("profiles", "default", "grants", "time", "can"), "x"),
        (("profiles", "default", "grants", "time", "never"), ["*"]),
        (("profiles", "default", "grants", "time", "rule"), [{"deny": {"a": "b"}}]),
        (("registries", "house"), 3),
        (("more",), {}),
    ],
)
def test_what_the_parser_refuses_by_shape_the_schema_refuses_too(path: tuple[str, ...], value: Any) -> None:
    document = copy.deepcopy(tomllib.loads(WHOLE))
    inside = document
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = value

    assert not VALIDATOR.is_valid(document)


def test_the_text_is_stable() -> None:
    assert json.loads(text()) == json_schema()
