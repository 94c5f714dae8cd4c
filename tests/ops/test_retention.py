"""How long the audit trail is kept, and who says so."""

from __future__ import annotations

import os
from concurrent.futures import Future
from pathlib import Path

import pytest

from homeport.ground.errors import InvalidInput
from homeport.ops.retention import DEFAULT_DAYS, VARIABLE, days, trim

DAY = 86_400


class Index:
    def __init__(self) -> None:
        self.before: list[int] = []

    def forget(self, before_ms: int) -> Future[int]:
        self.before.append(before_ms)
        return Future()


@pytest.mark.parametrize(
    ("text", "kept"), [(None, DEFAULT_DAYS), ("", DEFAULT_DAYS), ("7", 7), (" 30 ", 30), ("forever", None)]
)
def test_days_are_read_from_the_environment(text: str | None, kept: int | None) -> None:
    assert days({} if text is None else {VARIABLE: text}) == kept


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "ten", "9" * 20, "²"])
def test_what_is_no_number_of_days_is_refused_rather_than_guessed(text: str) -> None:
    with pytest.raises(InvalidInput, match=VARIABLE):
        days({VARIABLE: text})


def test_old_journals_go_and_the_index_forgets_as_much(tmp_path: Path) -> None:
    now = 1000 * DAY
    nobody = 2**22 + 1
    for name, age in {f"a-{nobody}": 91, f"b-{nobody}": 89, f"c-{os.getpid()}": 91}.items():
        file = tmp_path / f"{name}.jsonl"
        file.write_text("{}\n")
        os.utime(file, (now - age * DAY, now - age * DAY))
    index = Index()
    assert [file.name for file in trim(tmp_path, index, keep_days=90, now=now)] == [f"a-{nobody}.jsonl"]
    assert index.before == [910 * DAY * 1000]
    assert trim(tmp_path, index, keep_days=None, now=2 * now) == []
    assert len(index.before) == 1
