from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.declarations.described import row
from tests.declarations.rows_of_parsing import ACCEPTED, OK, ROWS, linux, server_json

from homeport.declarations.kinds import LOCATION_KINDS, VERSION_KINDS
from homeport.declarations.locate import FINDERS
from homeport.declarations.model import Declaration, VersionSource
from homeport.declarations.observe import READERS
from homeport.declarations.parse import DeclarationError, check_declaration, declaration_problems, parse_declaration
from homeport.ground.errors import InvalidInput, Place


@pytest.mark.parametrize(("app", "requires", "verdict", "text"), [pytest.param(*row[1:], id=row[0]) for row in ROWS])
def test_what_is_written_is_accepted_or_told(app: Any, requires: Any, verdict: str, text: str) -> None:
    if verdict == ACCEPTED:
        declaration = parse_declaration("thing", raw_app=app, raw_requires=requires, where="here")
        assert text in _told(declaration)
    else:
        with pytest.raises(DeclarationError) as caught:
            parse_declaration("thing", raw_app=app, raw_requires=requires, where="here")
        message = str(caught.value)
        assert message.startswith("here: ")
        assert text in message


def _told(declaration: Declaration) -> str:
    blocks = declaration.app.blocks.values() if declaration.app else ()
    values = [location.value for block in blocks for location in block.locations]
    return "\n".join([*values, *declaration.required_gpus])


def test_a_declaration_error_is_a_value_error_of_our_family() -> None:
    with pytest.raises(ValueError):
        parse_declaration("thing", raw_app=3)
    with pytest.raises(InvalidInput):
        parse_declaration("thing", raw_app=3)


@row("P-82")
def test_all_errors_are_reported_together() -> None:
    with pytest.raises(DeclarationError) as caught:
        parse_declaration("thing", raw_app={"linux": {"presence": "x"}}, raw_requires={"gpu": "voodoo", "app": 1})
    paths = [problem.place.path for problem in caught.value.problems()]
    assert paths == ["app.linux.presence", "app.linux.location", "requires.app", "requires.gpu"]


@row("P-78")
def test_the_linux_exception_needs_another_system_that_was_written() -> None:
    _, faults = check_declaration(
        "thing", raw_app={**OK, "darwin": {"presence": 1}}, raw_requires={"app": True, "min_version": "1"}
    )
    assert "app.linux.version" not in [fault.path for fault in faults]


def test_problems_are_placed_by_the_caller() -> None:
    declaration, problems = declaration_problems(
        "thing", raw_app=linux(["/x", ""]), place_of=lambda keys: Place("f.toml", len(keys), "/".join(map(str, keys)))
    )
    assert declaration is None
    assert [str(problem.place) for problem in problems] == ["f.toml:4: app/linux/location/1"]


def test_defaults_of_liveness_stand_where_nothing_is_written() -> None:
    block = parse_declaration("thing", raw_app=server_json(pid_key="")).app_for("linux")
    assert block is not None
    liveness = block.liveness
    assert (liveness.pid_key, liveness.url_key, liveness.token_key) == ("pid", "http", "token")
    assert liveness.endpoint_path == "/mcp"


def test_a_version_source_takes_its_argument_from_a_location_of_its_kind() -> None:
    block = parse_declaration(
        "thing", raw_app=linux([{"kind": "snap", "name": "v"}], version={"kind": "snap"})
    ).app_for("linux")
    assert block is not None
    assert block.version == VersionSource("snap", "")
    with pytest.raises(DeclarationError, match="needs a location that gives it: snap"):
        parse_declaration("thing", raw_app=linux("/x", version={"kind": "snap"}))


@pytest.mark.parametrize("text", ["4.2", ">=4.2,", ">=4.2 <6", "=4", ">=v4", ">=4,<4", ">5,<5", 4, ""])
def test_a_range_that_nobody_can_mean_is_refused(text: Any) -> None:
    app = linux([{"kind": "dpkg", "package": "v"}], version={"kind": "dpkg"})
    with pytest.raises(DeclarationError, match=r"requires\.version"):
        parse_declaration("thing", raw_app=app, raw_requires={"app": True, "version": text})


def test_running_needs_a_liveness_to_tell_it_by() -> None:
    with pytest.raises(DeclarationError, match="no block has a liveness"):
        parse_declaration("thing", raw_app=OK, raw_requires={"running": True})
    assert parse_declaration("thing", raw_app=server_json(), raw_requires={"running": True}).requires.running


def test_every_kind_that_can_be_written_can_be_looked_for() -> None:
    assert set(FINDERS) == set(LOCATION_KINDS)
    assert set(READERS) == set(VERSION_KINDS) - {"none"}


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12)
WORDS = st.sampled_from(
    ["linux", "win32", "darwin", "presence", "location", "version", "liveness", "kind", "app", "gpu", "min_version",
     "executable", "bundle", "command", "name", "plist", "server_json", "path", "/x", "~/x", "C:\\x", "1.2", "nvidia"]
)  # fmt: skip
JSON = st.recursive(
    SCALARS | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS | st.text(max_size=4), inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=400, deadline=None)
@given(JSON, JSON)
def test_any_decoded_value_gives_a_declaration_or_a_declaration_error(app: Any, requires: Any) -> None:
    declaration, faults = check_declaration("thing", raw_app=app, raw_requires=requires)
    if declaration is None:
        assert faults
        with pytest.raises(DeclarationError):
            parse_declaration("thing", raw_app=app, raw_requires=requires)
    else:
        assert declaration == parse_declaration("thing", raw_app=app, raw_requires=requires)


def test_a_value_of_any_size_and_depth_is_told_in_one_line() -> None:
    deep: Any = []
    for _ in range(10_000):
        deep = [deep]
    for value in (deep, 10**5000, "x" * 10**6, {"\udc80": 1}, {(1, 2): 3}, float("nan")):
        with pytest.raises(DeclarationError) as caught:
            parse_declaration("thing", raw_app=value, raw_requires={"min_version": value})
        assert all(len(problem.message) < 400 for problem in caught.value.problems())
