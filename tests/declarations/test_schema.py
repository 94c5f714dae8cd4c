from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.declarations.rows_of_parsing import ACCEPTED, ROWS, darwin, linux, server_json, win32

from homeport.declarations.parse import check_declaration
from homeport.declarations.schema import declaration_schema

VALIDATOR = jsonschema_rs.validator_for(declaration_schema())

# A tuple is no JSON value and a key that is no text cannot be in a JSON object.
OUTSIDE_JSON = {"P-05", "P-12-tuple"}


@pytest.mark.parametrize(
    ("app", "requires", "verdict"),
    [pytest.param(*row[1:4], id=row[0]) for row in ROWS if row[0] not in OUTSIDE_JSON],
)
def test_the_schema_agrees_with_the_parser(app: Any, requires: Any, verdict: str) -> None:
    document = json.loads(json.dumps({"app": app, "requires": requires}))
    assert VALIDATOR.is_valid(document) is (verdict == ACCEPTED)


PATHS = st.text(alphabet="/\\a.*:~$%{} C", max_size=8)
NAMES = st.text(alphabet="/\\a.*: C@", max_size=5)
VERSIONS = st.text(alphabet="019.<>=!, a", max_size=8)


@settings(max_examples=500, deadline=None)
@given(PATHS, NAMES, PATHS, VERSIONS)
def test_the_schema_agrees_with_the_parser_on_any_text(path: str, name: str, file: str, version: str) -> None:
    documents: list[tuple[Any, Any]] = [
        (linux(path), None),
        (win32(path), None),
        (linux([{"kind": "command", "name": name}]), None),
        (darwin([{"kind": "homebrew", "formula": "x", "file": file}], "executable"), None),
        (server_json(endpoint_path=path), None),
        (server_json(path=path), None),
        (server_json(pid_key=name, executable=name), None),
        (darwin(version={"kind": "plist"}), {"app": True, "min_version": version}),
    ]
    for app, requires in documents:
        _, faults = check_declaration("thing", raw_app=app, raw_requires=requires)
        valid = VALIDATOR.is_valid({"app": app, "requires": requires})
        assert valid is (not faults), (app, requires, faults)


@settings(max_examples=200, deadline=None)
@given(VERSIONS)
def test_the_schema_refuses_no_range_that_the_parser_takes(version: str) -> None:
    app, requires = darwin(version={"kind": "plist"}), {"app": True, "version": version}
    _, faults = check_declaration("thing", raw_app=app, raw_requires=requires)
    valid = VALIDATOR.is_valid({"app": app, "requires": requires})
    assert valid or faults
    assert not valid or not faults or "no version can meet" in faults[0].message
