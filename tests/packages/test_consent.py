"""What a person agrees to: any change of what would run asks anew, and nothing else does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from homeport.ground.secrets import Template
from homeport.packages.consent import Launch, TrustRecord, launch_digest

LAUNCH = Launch(
    "tracker",
    "python tracker==1.0",
    ("{runtime}/bin/tracker", "--fast"),
    env={"TOKEN": (Template("{secret:tracker}"),), "LEVEL": (Template("debug"),), "PYTHONPATH": (Template("lib"),)},
    headers={"Authorization": (Template("Bearer {secret:tracker}"),)},
    runtime="sha256:" + "a" * 64,
)


@pytest.mark.parametrize(
    "change",
    [
        {"server": "other"},
        {"source": "python tracker==1.1"},
        {"argv": ("{runtime}/bin/tracker", "--slow")},
        {"argv": ("{runtime}/bin/tracker --fast",)},
        {"cwd": "sub"},
        {"url": "https://mcp.example.com"},
        {"runtime": "sha256:" + "b" * 64},
        {"env": {**LAUNCH.env, "MORE": (Template("x"),)}},
        {"env": {"TOKEN": LAUNCH.env["TOKEN"]}},
        {"env": {**LAUNCH.env, "TOKEN": (Template("{secret:bank}"),)}},
        {"env": {**LAUNCH.env, "LEVEL": (Template("{env:SSH_AUTH_SOCK}"),)}},
        {"env": {**LAUNCH.env, "PYTHONPATH": (Template("/tmp/theirs"),)}},
        {"headers": {"Authorization": (Template("Bearer {secret:bank}"),)}},
    ],
)
def test_a_change_of_what_would_run_or_what_it_is_given_needs_a_new_agreement(change: dict[str, Any]) -> None:
    assert launch_digest(replace(LAUNCH, **change)) != launch_digest(LAUNCH)


@pytest.mark.parametrize(
    "change",
    [
        {"env": dict(reversed(list(LAUNCH.env.items())))},
        {"env": {**LAUNCH.env, "LEVEL": (Template("info"),)}},
        {"headers": {"authorization": LAUNCH.headers["Authorization"]}},
    ],
)
def test_another_order_or_an_ordinary_value_is_the_same_launch(change: dict[str, Any]) -> None:
    assert launch_digest(replace(LAUNCH, **change)) == launch_digest(LAUNCH)


@pytest.mark.parametrize(
    "name", ["LD_PRELOAD", "DYLD_INSERT_LIBRARIES", "NODE_OPTIONS", "PATH", "https_proxy", "BASH_ENV"]
)
def test_the_value_of_a_variable_that_steers_code_is_part_of_the_launch(name: str) -> None:
    one = replace(LAUNCH, env={name: (Template("a"),)})
    two = replace(LAUNCH, env={name: (Template("b"),)})

    assert launch_digest(one) != launch_digest(two)


def test_a_record_trusts_exactly_what_was_agreed_to() -> None:
    record = TrustRecord().agreed({"a": "sha256:1"}, "sha256:p")

    assert record.trusts("a", "sha256:1")
    assert not record.trusts("a", "sha256:2")
    assert not record.trusts("b", "sha256:1")
    assert record.trusts_profiles("sha256:p")
    assert not record.trusts_profiles("sha256:q")


def test_an_empty_digest_is_never_trusted() -> None:
    assert not TrustRecord().trusts("a", "")
    assert not TrustRecord({"a": ""}).trusts("a", "")
    assert not TrustRecord().trusts_profiles("")


def test_agreeing_to_one_server_keeps_the_others_and_the_profiles() -> None:
    record = TrustRecord({"a": "1"}, "p").agreed({"b": "2"})

    assert record == TrustRecord({"a": "1", "b": "2"}, "p")
    assert record.kept(["b", "c"]) == TrustRecord({"b": "2"}, "p")
