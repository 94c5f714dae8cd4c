"""The text of the journal: ids, rows, and the chain."""

from __future__ import annotations

import json
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from homeport.calls import lines
from homeport.calls.ports import AuditRow

ROW = AuditRow("i", 1, "begun", "default", "c 1", "http", "s", "tools/call", "time", "now", "accept")


def chained(*rows: AuditRow) -> list[bytes]:
    found, previous = [lines.encode(lines.header(pid=1, started_ms=2, version="v"), "")], ""
    for row in rows:
        previous = lines.link(found[-1])
        found.append(lines.encode(lines.members(row), previous))
    return found


@given(st.integers(0, 2**48 - 1), st.integers(0, 2**48 - 1), st.binary(min_size=10, max_size=10))
def test_ids_sort_by_time(first: int, second: int, random: bytes) -> None:
    one, two = lines.operation_id(first, random), lines.operation_id(second, random)
    assert (one < two) == (first < second)
    assert (one[14], one[19] in "89ab") == ("7", True)


texts = st.text(st.characters(exclude_categories=["Cs"]))


@given(texts, texts, st.none() | st.floats(0, 1e6), st.booleans())
def test_a_row_comes_back_as_it_was(name: str, reason: str, duration: float | None, dry: bool) -> None:
    row = replace(ROW, name=name, reason=reason, duration_ms=duration, dry_run=dry, args={"keys": [name], "bytes": 3})
    line = lines.encode(lines.members(row), "p")
    assert line.count(b"\n") == 1
    assert lines.row(line) == row


@given(st.binary(max_size=200))
def test_any_bytes_are_read_without_a_fault(data: bytes) -> None:
    assert list(lines.rows(data)) == []
    assert isinstance(lines.broken_links(data), list)


def test_an_untouched_chain_holds() -> None:
    assert lines.broken_links(b"".join(chained(ROW, ROW, ROW))) == []


def test_a_line_taken_out_shows() -> None:
    whole = chained(ROW, replace(ROW, id="j"), ROW)
    assert lines.broken_links(b"".join(whole[:2] + whole[3:])) == [3]


def test_a_changed_line_shows_at_the_next_one() -> None:
    whole = chained(ROW, ROW, ROW)
    whole[1] = whole[1].replace(b'"accept"', b'"policy"')
    assert lines.broken_links(b"".join(whole)) == [3]


def test_a_torn_last_line_is_no_row_and_no_broken_link() -> None:
    data = b"".join(chained(ROW, ROW))[:-20]
    assert len(list(lines.rows(data))) == 1
    assert lines.broken_links(data) == []


def test_what_says_nothing_is_left_out() -> None:
    told = json.loads(lines.encode(lines.members(ROW), ""))
    assert "reason" not in told
    assert "dry_run" not in told
    assert told["session"] == "s"
