"""Filling configured values."""

from __future__ import annotations

import pytest

from homeport.calls.secrets_source import Missing, SecretsSource, fill
from homeport.ground.errors import InvalidInput, Refused
from homeport.ground.secrets import Chain, Reference, Scrubber, Secret, Template

pytestmark = pytest.mark.anyio
HELD = {"b": "from-the-store", "empty": ""}


def source(environment: dict[str, str] | None = None, scrubber: Scrubber | None = None) -> SecretsSource:
    return SecretsSource(lambda name: Secret(HELD[name]) if name in HELD else None, environment or {}, scrubber)


def chain(*texts: str) -> Chain:
    return tuple(Template(text) for text in texts)


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        pytest.param({}, "from-the-store", id="surface-46"),
        pytest.param({"A": ""}, "from-the-store", id="surface-144"),
        pytest.param({"A": " mine \n"}, "mine", id="the-first-that-is-there"),
    ],
)
async def test_the_first_that_is_not_empty_wins(environment: dict[str, str], expected: str) -> None:
    filled = await source(environment)({"TOKEN": chain("{env:A}", "{secret:b}")})
    assert filled["TOKEN"].reveal() == expected


async def test_text_around_a_reference_stays() -> None:
    filled = await source()({"Authorization": chain("Bearer {secret:b}")})
    assert filled["Authorization"].reveal() == "Bearer from-the-store"


async def test_a_missing_one_names_the_references_and_the_command_and_no_value() -> None:
    """surface-145"""
    with pytest.raises(Refused) as caught:
        await source({"A": ""})({"ONE": chain("{secret:absent}", "{env:A}"), "TWO": chain("{secret:b}{secret:empty}")})
    assert caught.value.code == "secret.missing"
    assert "{secret:absent}, {env:A}" in caught.value.message
    assert "TWO" in caught.value.message
    assert "from-the-store" not in caught.value.message
    assert caught.value.remedy == "homeport secrets set absent"


async def test_an_empty_value_that_somebody_wrote_is_a_value() -> None:
    assert (await source()({"FLAG": chain("{env:NONE}", "")}))["FLAG"].reveal() == ""


async def test_what_is_filled_in_is_scrubbed_from_then_on() -> None:
    scrubber = Scrubber()
    await source({"A": "environment-value"}, scrubber)({"ONE": chain("{env:A}"), "TWO": chain("{secret:b}")})
    assert scrubber("environment-value from-the-store") == "[hidden] [hidden]"


async def test_a_value_that_no_process_can_hold_is_refused() -> None:
    with pytest.raises(InvalidInput):
        await source()({"A": chain("a\0b")})


def test_what_is_missing_is_told_without_raising() -> None:
    (missing,) = source().missing({"ONE": chain("{env:NOPE}"), "TWO": chain("{secret:b}")})
    assert missing == Missing("ONE", (Reference("env", "NOPE"),))
    assert "NOPE" in missing.remedy


def test_an_empty_chain_is_missing() -> None:
    assert isinstance(fill("X", (), lambda _: None), Missing)
