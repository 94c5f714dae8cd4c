"""The index behind the journal: asked, rebuilt, shared, broken."""

from __future__ import annotations

import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from homeport.calls.audit import Journal
from homeport.calls.ports import AuditRow, StandingApproval
from homeport.ground.errors import Conflict, InvalidInput, Unavailable
from homeport.store.migrations import MIGRATIONS
from homeport.store.sqlite import SqliteStore

ROW = AuditRow(
    "id-0",
    1000,
    "begun",
    "default",
    "claude 1",
    "http",
    "s",
    "tools/call",
    "time",
    "now",
    "accept",
    args={"keys": ["zone"], "bytes": 3, "digest": "hmac:0"},
    phases_ms={"decide": 0.5},
)


def row(number: int, **rest: object) -> AuditRow:
    return replace(ROW, id=f"id-{number:04}", ts_ms=1000 + number, **rest)  # pyright: ignore[reportArgumentType]


def ids(store: SqliteStore, limit: int = 100, after: str = "", **filters: str) -> list[str]:
    store.flush()
    return [found.id for found in store.rows(limit=limit, filters=filters, after=after)]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(tmp_path / "state" / "homeport.db")
    yield opened
    opened.close()


def test_a_row_comes_back_whole_at_its_last_stage(store: SqliteStore) -> None:
    ended = replace(ROW, stage="ended", result={"is_error": False, "bytes": 2}, duration_ms=1.5)
    store.index((ROW,))
    store.index((ended,))
    store.index((ROW,))
    store.flush()
    assert list(store.rows(limit=10, filters={})) == [ended]


def test_rows_are_newest_first_and_paged(store: SqliteStore) -> None:
    store.index([row(number) for number in range(10)])
    assert ids(store, limit=3) == ["id-0009", "id-0008", "id-0007"]
    assert ids(store, limit=3, after="id-0007") == ["id-0006", "id-0005", "id-0004"]


def test_filters(store: SqliteStore) -> None:
    store.index(
        [
            row(1),
            row(2, server="git", project="/p"),
            row(3, decision="policy_denied", stage="refused"),
            row(4, name="%_'"),
        ]
    )
    assert ids(store, project="/p") == ["id-0002"]
    assert ids(store, server="git") == ["id-0002"]
    assert ids(store, decision="policy_denied") == ["id-0003"]
    assert ids(store, name="%_'") == ["id-0004"]
    assert ids(store, client="claude", server="time", stage="begun") == ["id-0004", "id-0001"]
    assert ids(store, since_ms="1002", until_ms="1004") == ["id-0003", "id-0002"]


@pytest.mark.parametrize("filters", [{"row": "x"}, {"1=1; --": ""}, {"since_ms": "yesterday"}])
def test_a_filter_that_is_none_is_refused(store: SqliteStore, filters: dict[str, str]) -> None:
    with pytest.raises(InvalidInput):
        list(store.rows(limit=1, filters=filters))


def test_the_file_is_this_users_alone(store: SqliteStore) -> None:
    store.index((ROW,))
    store.flush()
    files = list(store.path.parent.iterdir())
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def test_the_index_is_built_anew_from_the_journal(tmp_path: Path, store: SqliteStore) -> None:
    journal = Journal(tmp_path / "journal", key=b"k" * 32, store=store)
    for number in range(50):
        journal.begin(row(number))
        journal.end(row(number, stage="ended"))
    journal.close()
    before = ids(store)
    assert len(before) == 50
    assert store.rebuild(tmp_path / "journal").result(10) == 100
    assert ids(store) == before
    store.close()
    store.path.unlink()
    again = SqliteStore(store.path)
    assert again.catch_up(tmp_path / "journal").result(10) == 100
    assert ids(again) == before
    again.close()


def test_catching_up_reads_what_is_new_and_leaves_a_torn_line(tmp_path: Path, store: SqliteStore) -> None:
    journal = Journal(tmp_path / "journal", key=b"k" * 32)
    journal.begin(row(1))
    assert store.catch_up(tmp_path / "journal").result(10) == 1
    assert store.catch_up(tmp_path / "journal").result(10) == 0
    journal.end(row(1, stage="ended"))
    assert journal.path is not None
    whole = journal.path.read_bytes()
    with journal.path.open("ab") as file:
        file.write(b'{"id":"torn')
    assert store.catch_up(tmp_path / "journal").result(10) == 1
    assert store.catch_up(tmp_path / "journal").result(10) == 0
    assert journal.path.read_bytes().startswith(whole)
    assert [found.stage for found in store.rows(limit=9, filters={})] == ["ended"]
    journal.close()


def test_old_rows_are_forgotten(store: SqliteStore) -> None:
    store.index([row(number) for number in range(4)])
    assert store.forget(1002).result(10) == 2
    assert ids(store) == ["id-0003", "id-0002"]


def test_standing_approvals_outlive_the_process(tmp_path: Path) -> None:
    one = StandingApproval("default", "time", "now", "sha256:1", "/home/me/project", "console", 5)
    two = replace(one, tool="then", since_ms=6)
    store = SqliteStore(tmp_path / "homeport.db")
    store.approve(one)
    store.approve(two)
    store.revoke(one)
    store.close()
    again = SqliteStore(tmp_path / "homeport.db")
    assert list(again.standing()) == [two]
    again.close()


def test_a_newer_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "homeport.db"
    SqliteStore(path).close()
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(Conflict) as caught:
        SqliteStore(path)
    assert caught.value.code == "store.newer"
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"no database at all" * 100, b"SQLite format 3\0" + b"\xff" * 4000])
def test_a_corrupt_file_is_one_error_with_a_remedy(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "homeport.db"
    path.write_bytes(content)
    with pytest.raises(Unavailable) as caught:
        SqliteStore(path)
    assert caught.value.code == "store.unusable"
    assert "journal" in caught.value.remedy
    assert path.read_bytes() == content


def test_a_directory_that_cannot_be_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Unavailable):
        SqliteStore(tmp_path / "file" / "homeport.db")


def test_trouble_of_the_writer_is_told_once_and_fails_no_call(tmp_path: Path) -> None:
    told: list[str] = []
    store = SqliteStore(tmp_path / "homeport.db", tell=told.append)
    other = sqlite3.connect(store.path)
    other.execute("DROP TABLE calls")
    other.close()
    for number in range(3):
        store.index((row(number),))
        store.flush()
    assert len(told) == 1
    assert "journal is complete" in told[0]
    with pytest.raises(Unavailable):
        list(store.rows(limit=1, filters={}))
    store.close()


OPEN = """
import sys
from dataclasses import replace
from pathlib import Path
from homeport.calls.ports import AuditRow
from homeport.store.sqlite import SqliteStore
row = AuditRow("", 1, "ended", "default", "c", "http", "s", "tools/call", "time", "now", "accept")
store = SqliteStore(Path(sys.argv[1]))
for number in range(200):
    store.index((replace(row, id=f"{sys.argv[2]}-{number}"),))
store.flush()
store.close()
"""


def test_processes_that_start_together_migrate_once_and_share_the_file(tmp_path: Path) -> None:
    path = tmp_path / "homeport.db"
    processes = [subprocess.Popen([sys.executable, "-c", OPEN, str(path), str(number)]) for number in range(4)]
    assert [process.wait(60) for process in processes] == [0] * 4
    store = SqliteStore(path)
    assert len(ids(store, limit=10_000)) == 800
    store.close()
