"""uv's refusals in our words. The texts are those of the uv that is installed."""

from __future__ import annotations

import pytest

from homeport.ground.errors import HomeportError
from homeport.packages.runtimes import node, uv
from homeport.packages.runtimes.program import Ended

NO_SOLUTION = "error: No solution found when resolving dependencies\n  cause: "


@pytest.mark.parametrize(
    ("said", "family", "code", "mentions"),
    [
        (
            NO_SOLUTION + "Because docopt==0.6.2 has no usable wheels and you\nrequire docopt==0.6.2, we can conclude",
            "refused",
            "runtime.needs_build",
            "docopt",
        ),
        (
            NO_SOLUTION + "Because only the following versions of inner are available: inner<=1 and inner==1 has no\n"
            "usable wheels and outer==1 depends on inner, we can conclude",
            "refused",
            "runtime.needs_build",
            "inner",
        ),
        (
            NO_SOLUTION + "Because nothing-here was not found in the package registry and you require nothing-here==1",
            "invalid_input",
            "package.absent",
            "nothing-here",
        ),
        (
            NO_SOLUTION + "Because there is no version of thing==9.9 and you require thing==9.9",
            "invalid_input",
            "package.absent",
            "thing==9.9",
        ),
        (
            "error: Request failed after 3 retries\n  cause: Failed to fetch: http://127.0.0.1:9/thing/",
            "unavailable",
            "runtime.index_unreachable",
            "cannot be reached",
        ),
        (
            NO_SOLUTION + "Because the requested Python version (>=3.9) does not satisfy Python>=3.10 and thing==1",
            "unavailable",
            "runtime.python_version",
            "newer Python",
        ),
        (
            "error: Failed to download `thing==1`\n  cause: Hash mismatch for `thing==1`\n\nExpected: sha256:a",
            "conflict",
            "runtime.hash_mismatch",
            "not the one that was locked",
        ),
        (NO_SOLUTION + "Because a depends on b<1 and c depends on b>1", "conflict", "runtime.unsatisfiable", "b>1"),
        ("error: something new", "unavailable", "runtime.installer_failed", "something new"),
    ],
)
def test_a_refusal_of_uv_is_understood(said: str, family: str, code: str, mentions: str) -> None:
    error: HomeportError = uv.failure("thing==1", Ended(1, "", said))

    assert (error.family, error.code) == (family, code)
    assert mentions in error.message


@pytest.mark.parametrize(
    ("npm_code", "family", "code"),
    [
        ("E404", "invalid_input", "package.absent"),
        ("ETARGET", "invalid_input", "package.absent"),
        ("EINTEGRITY", "conflict", "runtime.hash_mismatch"),
        ("ERESOLVE", "conflict", "runtime.unsatisfiable"),
        ("ECONNREFUSED", "unavailable", "runtime.index_unreachable"),
        ("EWHATEVER", "unavailable", "runtime.installer_failed"),
    ],
)
def test_a_refusal_of_npm_is_understood(npm_code: str, family: str, code: str) -> None:
    error = node.failure("thing@1.0.0", Ended(1, "", f"npm error code {npm_code}\nnpm error more words"))

    assert (error.family, error.code) == (family, code)
