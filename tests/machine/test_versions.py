from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from homeport.machine.versions import (
    Version,
    is_requirement,
    newest_first,
    read_range,
    read_version,
    satisfies,
    version_within,
)

ENOUGH = [
    ("2.3.0", "2.3.0"), ("2.3", "2.3.0"), ("2.3.0.0", "2.3"), ("2.10", "2.9"), ("02.3", "2.3"),
    ("11.0.9.509", "11.0.9"), ("2025.1", "25.1"), (" v2.3 ", "2.3"), ("2, 3, 0, 1", "2.3"),
    ("1.2.3 (build 4)", "1.2.3"),
    ("2.3.0+git.5", "2.3.0"), ("5.2 LTS", "5.2"), ("2.3.0-4ubuntu1", "2.3.0"), ("9.8p1", "9.8"), ("9" * 40, "1"),
]  # fmt: skip
TOO_LITTLE = [
    ("2.3.0-beta", "2.3.0"), ("2.3.0b2", "2.3"), ("2.3.0 RC 1", "2.3"), ("2.3~rc1", "2.3"), ("2.3.dev4", "2.3"),
    ("11.0.9", "11.0.9.509"), ("", "1"), ("2..3", "2"), ("2.3.", "2.3"), ("٢.٣", "1"), ("latest", "1"),
    ("1" * 300, "1"), ("\udc80", "1"), ("2.3.0-alpha", "2.3"), ("2.3.0-nightly.20260101", "2.3"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "minimum"), ENOUGH)
def test_a_version_meets_its_minimum(text: str, minimum: str) -> None:
    assert satisfies(text, minimum)


@pytest.mark.parametrize(("text", "minimum"), TOO_LITTLE)
def test_a_version_below_or_unreadable_does_not(text: str, minimum: str) -> None:
    assert not satisfies(text, minimum)


ASCENDING = [
    "1.0.dev1", "1.0-alpha", "1.0a2", "1.0-beta", "1.0-beta.2", "1.0-preview", "1.0rc1", "1.0", "1.0_1", "1.0-2",
    "1.0.1", "1.9", "1.10", "2", "10000000000000000000000",
]  # fmt: skip


def test_versions_are_in_order() -> None:
    versions = [read_version(text) for text in ASCENDING]
    assert all(versions)
    assert sorted(versions, key=lambda version: version or Version(())) == versions
    assert len({version.text for version in versions if version}) == len(ASCENDING)


@pytest.mark.parametrize("text", ["1", "1.2.3", "0", "999999999"])
def test_a_requirement_is_dotted_digits(text: str) -> None:
    assert is_requirement(text)


@pytest.mark.parametrize("text", ["", "1.", ".1", "1..2", "v1", "1\n", "٣", "1234567890", "1-2"])
def test_anything_else_is_no_requirement(text: str) -> None:
    assert not is_requirement(text)


@given(st.text(max_size=300))
def test_any_text_is_read_or_not_and_never_raises(text: str) -> None:
    version = read_version(text)
    assert version is None or version.text == text
    version_within(text)
    read_range(text)


PARTS = st.lists(st.integers(0, 10**12), min_size=1, max_size=5)


@given(PARTS, PARTS)
def test_dotted_numbers_compare_as_numbers(one: list[int], two: list[int]) -> None:
    def padded(parts: list[int]) -> list[int]:
        return parts + [0] * (5 - len(parts))

    left, right = read_version(".".join(map(str, one))), read_version(".".join(map(str, two)))
    assert left is not None
    assert right is not None
    assert (left < right) is (padded(one) < padded(two))
    assert (left == right) is (padded(one) == padded(two))


@given(st.lists(st.text("0123456789.ab -", max_size=6), unique=True))
def test_the_order_of_matches_does_not_depend_on_the_directory(names: list[str]) -> None:
    matches = [(f"/o/{name}", (name,)) for name in names]
    assert newest_first(matches) == newest_first(reversed(matches))


@pytest.mark.parametrize(
    ("text", "release"),
    [("blender-5.2.0-linux-x64", (5, 2)), ("App3D 5.1", (5, 1)), ("v12", (12,)), ("LTS", None), ("²", None)],
)
def test_a_version_is_found_in_a_name(text: str, release: tuple[int, ...] | None) -> None:
    version = version_within(text)
    assert (version.release if version else None) == release


def test_an_empty_range_is_recognised() -> None:
    for text, empty in ((">=4,<6", False), (">5,<5", True), ("==4,!=4", True), (">4,<4.1", False), ("<0", True)):
        found = read_range(text)
        assert found is not None
        assert found.empty() is empty, text
