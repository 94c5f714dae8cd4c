"""Rows A of surface.md section 13 that a project file decides, as issue 3 translates them into TOML."""

from __future__ import annotations

from pathlib import Path

import pytest

from homeport.ground.errors import InvalidInput
from homeport.project.parse import parse

PROJECT = '[project]\nname = "x"\n'
SERVER = PROJECT + "[servers.x]\n"
URL = 'url = "https://mcp.example.com/mcp"\n'


@pytest.mark.parametrize(
    ("text", "code", "line", "told"),
    [
        pytest.param('[servers.x]\ncommand = "x"\n', "project.missing", 0, "project", id="surface-1"),
        pytest.param(SERVER + URL + "[servers.x]\n" + URL, "project.syntax", 5, "twice", id="surface-2"),
        pytest.param(SERVER + URL + 'command = "x"\n', "project.source", 4, "`url`", id="surface-3"),
        pytest.param(SERVER + 'cwd = "x"\n', "project.source", 3, "`runtime`, `package`", id="surface-4"),
        pytest.param(SERVER + URL + 'args = ["x"]\n', "project.source", 5, "`args`", id="surface-5"),
        pytest.param(SERVER + 'command = "x"\nheaders = { A = "b" }\n', "project.source", 5, "`url`", id="surface-6"),
        pytest.param(SERVER + 'command = "x"\nargz = []\n', "project.unknown_key", 5, "'args'", id="surface-22"),
        pytest.param(PROJECT + 'name = "y"\n', "project.syntax", 3, "", id="surface-23"),
        pytest.param(PROJECT + '[servers.mcp]\ncommand = "x"\n', "project.name", 3, "mcp", id="surface-24"),
        pytest.param(PROJECT + '[package]\nname = "a/b"\n', "project.role", 3, "never both", id="surface-25"),
    ],
)
def test_a_file_that_cannot_be_meant_is_refused_with_its_line(text: str, code: str, line: int, told: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse(text.encode(), root=Path("/projects/x"))
    (problem,) = caught.value.problems()
    assert (problem.code, problem.place.line) == (code, line)
    assert told in f"{problem.place.path} {problem.message} {problem.remedy}"
