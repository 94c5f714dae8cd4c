"""Names: what is valid, what an import makes valid, and names in an aggregate."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from homeport.ground import names


@pytest.mark.parametrize("name", ["a", "time", "my-server-2", "a" * 40])
def test_valid_server_names(name: str) -> None:
    assert names.is_server(name)


@pytest.mark.parametrize("name", ["", "A", "2fast", "a_b", "a.b", "-a", "a" * 41, "mcp", "homeport", "a\n", "ä"])
def test_invalid_server_names(name: str) -> None:
    assert not names.is_server(name)


@given(st.text(), st.sets(st.from_regex(r"[a-z][a-z0-9-]{0,39}", fullmatch=True)))
def test_an_import_makes_any_name_valid_and_new(name: str, taken: set[str]) -> None:
    made = names.as_server(name, taken)
    assert names.is_server(made)
    assert made not in taken


def test_a_good_name_is_kept_by_an_import() -> None:
    assert names.as_server("time") == "time"
    assert names.as_server("My Server!") == "my-server"


def test_a_short_served_name_is_server_and_tool() -> None:
    assert names.served("git", "git_status") == "git__git_status"


@given(st.from_regex(r"[a-z][a-z0-9-]{0,39}", fullmatch=True), st.text(min_size=1, max_size=200))
def test_a_served_name_is_never_longer_than_agents_take(server: str, tool: str) -> None:
    served = names.served(server, tool)
    assert len(served) <= names.MAX_SERVED
    assert served == names.served(server, tool)


def test_long_names_that_share_their_head_stay_apart() -> None:
    head = "a_very_long_tool_name_that_goes_on_and_on_and_on_"
    assert names.served("server", head + "one") != names.served("server", head + "two")
