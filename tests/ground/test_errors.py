"""Errors tell everything that is wrong, with places."""

from __future__ import annotations

from homeport.ground.errors import InvalidInput, Place, Problem


def test_a_place_reads_like_a_compilers() -> None:
    assert str(Place("homeport.toml", 7, "servers.x.url")) == "homeport.toml:7: servers.x.url"
    assert str(Place(line=3)) == "line 3"
    assert str(Place(path="a.b")) == "a.b"


def test_many_problems_are_one_error_that_tells_all() -> None:
    problems = [Problem("project.a", "first", Place("f", 1)), Problem("project.b", "second", Place("f", 2))]
    error = InvalidInput.collected(problems)
    assert list(error.problems()) == problems
    assert "f:1: first" in str(error)
    assert "f:2: second" in str(error)


def test_one_problem_is_itself() -> None:
    error = InvalidInput.collected([Problem("project.a", "first", Place("f", 1), "do this")])
    assert (error.code, error.remedy, str(error)) == ("project.a", "do this", "f:1: first")
