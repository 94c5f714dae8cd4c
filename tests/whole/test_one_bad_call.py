"""One path for everyone: the same bad call is refused for the same reason by every edge, and nothing is sent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from mcp import MCPError
from tests.support.clients import ERAS, Way, connected
from tests.support.homeport import Home, Up, scripted

pytestmark = pytest.mark.anyio

BAD: Mapping[str, tuple[str, dict[str, Any]]] = {
    "schema.required": ("add", {"a": 1}),
    "schema.type": ("add", {"a": "one", "b": 2}),
    "schema.unknown": ("add", {"a": 1, "b": 2, "c": 3}),
    "rule.deny": ("echo", {"text": "forbidden fruit"}),
    "rule.allow": ("env", {"name": "HOME"}),
    "rule.restrict": ("delete", {"name": "theirs"}),
    "rule.pin": ("big", {"bytes": 7}),
    "grant.never": ("quit", {}),
    "tool.unknown": ("invented", {}),
}
RULES = """
[[profiles.default.grants.alpha.rule]]
tool = "echo"
deny = { text = "^forbidden" }
[[profiles.default.grants.alpha.rule]]
tool = "env"
allow = { name = "^LANG$" }
[[profiles.default.grants.alpha.rule]]
tool = "delete"
restrict = { name = "our*" }
[[profiles.default.grants.alpha.rule]]
tool = "big"
pin = { bytes = 5 }
"""


async def served(up: Up, way: Way, era: str) -> dict[str, str]:
    """What an agent is told of each bad call, by rule."""
    told: dict[str, str] = {}
    async with connected(up, way, era) as client:
        for rule, (tool, arguments) in BAD.items():
            try:
                result = await client.call_tool(f"alpha__{tool}", arguments)
            except MCPError as error:
                told[rule] = f"{error.error.code}: {error.error.message}"
            else:
                assert result.is_error, rule
                told[rule] = result.content[0].text
    return told


def rules(home: Home) -> list[tuple[str, str, str]]:
    """Of every row of the audit trail, oldest first: edge, decision, rule."""
    rows = reversed(home.json("audit", "-n", "1000"))
    return [(row["edge"], row["decision"], row["rule"]) for row in rows]


async def test_the_same_bad_call_is_refused_for_the_same_reason_at_every_edge(home: Home) -> None:
    """surface-131"""
    record = home.root / "record"
    home.write(
        f'[project]\nname = "x"\n[servers.alpha]\n{scripted("--record", str(record))}'
        f'[profiles.default.grants.alpha]\ncan = ["*"]\nnever = ["quit"]\n{RULES}'
    )
    home.run("lock", "--yes")
    record.unlink()
    with home.up() as up:
        told = {f"{way} {era}": await served(up, way, era) for way in ("http", "connect") for era in ERAS}
    for tool, arguments in BAD.values():
        home.run("call", "alpha", tool, "--args", json.dumps(arguments), check=None)
    assert not record.exists(), "the server was not even started"
    (first, *others) = told.values()
    assert all(other == first for other in others)
    rows = rules(home)
    assert len(rows) == 5 * len(BAD)
    for start in range(0, len(rows), len(BAD)):
        of_one_edge = rows[start : start + len(BAD)]
        assert len({edge for edge, _, _ in of_one_edge}) == 1
        assert [rule for _, _, rule in of_one_edge] == list(BAD)
        assert [decision for _, decision, _ in of_one_edge] == [decision for _, decision, _ in rows[: len(BAD)]]
