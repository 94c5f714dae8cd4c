"""Exact pins: the shapes of packages.md section 3.3, and those of PyPI and npm."""

from __future__ import annotations

import pytest

from homeport.ground.errors import InvalidInput
from homeport.packages.requirement import (
    Exact,
    exact_version,
    node_requirement,
    package_requirement,
    python_requirement,
)

ACCEPTED = [
    ("1", "=1.2.3", "1.2.3"),
    ("2", " \t=1.2.3 ", "1.2.3"),
    ("3a", "= 1.2.3", "1.2.3"),
    ("3b", "=  1.2.3", "1.2.3"),
    ("4", "=0.0.0", "0.0.0"),
    ("5a", "=1.2.3-rc.1", "1.2.3-rc.1"),
    ("5b", "=1.2.3-alpha", "1.2.3-alpha"),
    ("6", "=1.2.3+build.7", "1.2.3"),
    ("7", "=1.2.3-rc.1+b", "1.2.3-rc.1"),
    ("8", "=18446744073709551615.0.0", "18446744073709551615.0.0"),
]
NOT_EXACT = {
    "10": ["1.2.3"],
    "11": ["^1.2.3", "^0.6"],
    "12": ["~1.2.3", "~1.2"],
    "13": ["=1.2"],
    "14": ["=1"],
    "15": ["=1.2.*", "=1.2.x", "=1.2.X"],
    "16": ["=1.*", "=1.x"],
    "17": ["1.2.*", "1.*"],
    "18": ["*"],
    "19": ["", "   "],
    "20": [">=1.2.3", "<=1.2.3", ">1.2.3", "<2.0.0"],
    "21": [">=1.2.3, <=1.2.3"],
    "22": ["=1.2.3, =1.2.3"],
}
UNREADABLE = {
    "23": ["=*"],
    "24": ["==1.2.3", "!=1.2.3"],
    "25": ["v1.2.3", "=v1.2.3"],
    "26": ["=01.2.3", "=1.2.3-01"],
    "27": ["=1.2.3.4"],
    "28": ["=1.2.3,"],
    "29": ["=", "latest", "=1.2.3-"],
    "30": ["1.2.3 - 2.0.0", "^1 || ^2"],
    "31": ["=18446744073709551616.0.0"],
    "32": ["=\uff11.2.3"],
}


def rows(table: dict[str, list[str]]) -> list[object]:
    return [pytest.param(text, id=f"pkg-3.3-{row}-{text!r}") for row, texts in table.items() for text in texts]


@pytest.mark.parametrize(
    ("text", "version"), [pytest.param(text, version, id=f"pkg-3.3-{row}") for row, text, version in ACCEPTED]
)
def test_an_exact_requirement_gives_its_version(text: str, version: str) -> None:
    assert exact_version(text) == version


@pytest.mark.parametrize("text", rows(NOT_EXACT))
def test_a_requirement_that_lets_more_in_is_refused_as_not_exact(text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        exact_version(text)

    assert caught.value.code == "package.not_exact"
    assert "=X.Y.Z" in caught.value.remedy
    assert "lockstep" in caught.value.remedy


@pytest.mark.parametrize("text", rows(UNREADABLE))
def test_what_is_no_requirement_is_refused_as_unreadable(text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        exact_version(text)

    assert caught.value.code == "package.requirement"
    assert repr(text) in caught.value.message


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        ("mcp-server-time==2026.10.19", Exact("mcp-server-time", "2026.10.19")),
        ("MCP_Server.Time == 1.0", Exact("mcp-server-time", "1.0")),
        ("thing[b,a]==1.0rc1", Exact("thing", "1.0rc1", ("a", "b"))),
        ("thing==1.0+local.2", Exact("thing", "1.0+local.2")),
    ],
)
def test_a_python_requirement_names_one_version(text: str, exact: Exact) -> None:
    assert python_requirement(text) == exact


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("thing", "package.not_exact"),
        ("thing>=1", "package.not_exact"),
        ("thing==1.*", "package.not_exact"),
        ("thing===1", "package.not_exact"),
        ("thing==1,==1", "package.not_exact"),
        ("thing==1; python_version > '3'", "package.not_exact"),
        ("thing @ https://example.com/thing.whl", "package.not_exact"),
        ("thing@1.0", "package.not_exact"),
        ("./thing", "package.requirement"),
        ("thing==1\nother==2", "package.requirement"),
        ("-r file", "package.requirement"),
        ("", "package.requirement"),
    ],
)
def test_another_python_requirement_is_refused_with_the_shape_to_write(text: str, code: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        python_requirement(text)

    assert caught.value.code == code
    assert "==" in caught.value.remedy


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        ("thing@1.2.3", Exact("thing", "1.2.3")),
        ("@scope/thing@1.2.3-rc.1", Exact("@scope/thing", "1.2.3-rc.1")),
    ],
)
def test_a_node_requirement_names_one_version(text: str, exact: Exact) -> None:
    assert node_requirement(text) == exact


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("thing", "package.not_exact"),
        ("@scope/thing", "package.not_exact"),
        ("thing@latest", "package.not_exact"),
        ("thing@^1.2.3", "package.not_exact"),
        ("thing@1.2", "package.not_exact"),
        ("thing@v1.2.3", "package.not_exact"),
        ("thing@npm:other@1.2.3", "package.requirement"),
        ("Thing@1.2.3", "package.requirement"),
        ("git+https://example.com/x@1.2.3", "package.requirement"),
        ("../thing@1.2.3", "package.requirement"),
        ("--global@1.2.3", "package.requirement"),
        ("", "package.requirement"),
    ],
)
def test_another_node_requirement_is_refused(text: str, code: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        node_requirement(text)

    assert caught.value.code == code


def test_a_package_requirement_has_group_name_and_version() -> None:
    assert package_requirement("org.blender/blender-mcp@=1.4.0") == Exact("blender-mcp", "1.4.0", group="org.blender")


@pytest.mark.parametrize(
    "text", ["blender@=1.0.0", "org/blender", "org/blender@1.0.0", "Org/x@=1.0.0", "org_x/y@=1.0.0", "a..b/c@=1.0.0"]
)
def test_another_package_requirement_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        package_requirement(text)
