"""The journal writes or says that it could not; nothing between."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from homeport.calls import lines
from homeport.calls.audit import MAX_TEXT, Journal, journal_key, prune
from homeport.calls.events import Bus, Topic
from homeport.calls.ports import AuditRow
from homeport.ground.errors import Unavailable
from homeport.ground.secrets import Scrubber, Secret

ROW = AuditRow("i", 1, "begun", "default", "c 1", "http", "s", "tools/call", "time", "now", "accept")


def journal(directory: Path, **rest: Any) -> Journal:
    return Journal(directory, key=b"k" * 32, tell=rest.pop("tell", lambda _: None), **rest)


def rows(opened: Journal) -> list[AuditRow]:
    assert opened.path is not None
    return list(lines.rows(opened.path.read_bytes()))


def test_the_file_is_this_users_alone(tmp_path: Path) -> None:
    opened = journal(tmp_path / "journal")
    opened.begin(ROW)
    assert opened.path is not None
    assert stat.S_IMODE(opened.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(opened.path.parent.stat().st_mode) == 0o700
    opened.close()


def test_a_row_is_in_the_file_when_the_call_returns(tmp_path: Path) -> None:
    opened = journal(tmp_path)
    opened.begin(ROW)
    opened.end(replace(ROW, stage="ended"))
    assert [row.stage for row in rows(opened)] == ["begun", "ended"]
    opened.close()


def test_two_journals_of_one_second_are_two_files(tmp_path: Path) -> None:
    one, two = journal(tmp_path, now=lambda: 1e9), journal(tmp_path, now=lambda: 1e9)
    one.begin(ROW)
    two.begin(ROW)
    assert one.path != two.path
    one.close()
    two.close()


def test_secrets_are_scrubbed_before_cutting(tmp_path: Path) -> None:
    secret = "s3cr3t-" + "x" * 60
    opened = journal(tmp_path, scrub=Scrubber([Secret(secret)]))
    reason = "y" * (MAX_TEXT - 10) + secret
    opened.refuse(replace(ROW, stage="refused", name=f"t-{secret}", reason=reason, args={"keys": [secret]}))
    assert opened.path is not None
    assert "s3cr3t" not in opened.path.read_text()
    assert len(rows(opened)[0].reason) <= MAX_TEXT
    opened.close()


def test_a_name_with_a_lone_surrogate_can_be_written(tmp_path: Path) -> None:
    opened = journal(tmp_path)
    opened.refuse(replace(ROW, stage="refused", name="\ud800"))
    assert rows(opened)[0].name == "?"
    opened.close()


def test_begin_raises_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    told: list[str] = []
    opened = journal(tmp_path / "file" / "journal", tell=told.append)
    for _ in range(2):
        with pytest.raises(Unavailable) as caught:
            opened.begin(ROW)
        assert caught.value.code == "journal.unwritable"
        assert caught.value.remedy
    assert len(told) == 1


def test_what_is_owed_is_written_before_the_next_call_begins(tmp_path: Path) -> None:
    (tmp_path / "in-the-way").write_text("")
    bus, told = Bus(), list[str]()
    states: list[bool] = []
    bus.listen(lambda event: states.append(event.data["writable"]) if event.topic is Topic.JOURNAL else None)
    opened = journal(tmp_path / "in-the-way", tell=told.append, bus=bus)
    opened.end(replace(ROW, id="a", stage="ended"))
    opened.refuse(replace(ROW, id="b", stage="refused"))
    assert not opened.writable
    with pytest.raises(Unavailable):
        opened.begin(replace(ROW, id="c"))
    (tmp_path / "in-the-way").unlink()
    opened.begin(replace(ROW, id="d"))
    assert opened.writable
    assert [row.id for row in rows(opened)] == ["a", "b", "d"]
    assert states == [False, True]
    assert len(told) == 2
    opened.close()


def test_a_deleted_file_is_noticed(tmp_path: Path) -> None:
    opened = journal(tmp_path)
    opened.begin(ROW)
    assert opened.path is not None
    opened.path.unlink()
    opened.begin(replace(ROW, id="after"))
    assert [row.id for row in rows(opened)] == ["after"]
    opened.close()


def test_the_key_is_made_once_and_kept(tmp_path: Path) -> None:
    key = journal_key(tmp_path / "state" / "journal.key")
    assert len(key) == 32
    assert journal_key(tmp_path / "state" / "journal.key") == key
    assert stat.S_IMODE((tmp_path / "state" / "journal.key").stat().st_mode) == 0o600
    assert sorted(path.name for path in (tmp_path / "state").iterdir()) == ["journal.key"]


def test_a_key_file_without_a_key_is_refused(tmp_path: Path) -> None:
    (tmp_path / "journal.key").write_bytes(b"short")
    with pytest.raises(Unavailable):
        journal_key(tmp_path / "journal.key")


def test_equal_arguments_have_equal_digests_that_nobody_else_can_make(tmp_path: Path) -> None:
    mine, other = journal(tmp_path), Journal(tmp_path, key=b"o" * 32)
    assert mine.digest(b"{}") == mine.digest(b"{}") != mine.digest(b"[]")
    assert mine.digest(b"{}") != other.digest(b"{}")


def test_old_journals_of_dead_processes_go(tmp_path: Path) -> None:
    for name in ("20200101T000000Z-11.jsonl", "20200101T000000Z-12.jsonl", "20990101T000000Z-13.jsonl"):
        (tmp_path / name).write_text("{}\n")
    os.utime(tmp_path / "20200101T000000Z-11.jsonl", (0, 0))
    os.utime(tmp_path / "20200101T000000Z-12.jsonl", (0, 0))
    now = (tmp_path / "20990101T000000Z-13.jsonl").stat().st_mtime
    gone = prune(tmp_path, keep_days=30, now=now, alive=lambda pid: pid == 12)
    assert [path.name for path in gone] == ["20200101T000000Z-11.jsonl"]


FULL_DISK = """
import json, resource, sys
from dataclasses import replace
from pathlib import Path
from homeport.calls.audit import Journal
from homeport.calls.ports import AuditRow
from homeport.ground.errors import Unavailable

row = AuditRow("i", 1, "begun", "default", "c", "http", "s", "tools/call", "time", "now", "accept")
journal = Journal(Path(sys.argv[1]), key=b"k" * 32)
def limit(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
journal.begin(replace(row, id="first"))
limit(journal.path.stat().st_size + 40)          # the next line fits in part only
told = []
for number in range(3):
    try:
        journal.begin(replace(row, id=f"refused-{number}"))
    except Unavailable as error:
        told.append(error.code)
journal.end(replace(row, id="first", stage="ended"))
torn = journal.path.read_bytes()
limit(resource.RLIM_INFINITY)
journal.begin(replace(row, id="after"))
print(json.dumps([told, torn.endswith(b"\\n"), str(journal.path)]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="file size limits are POSIX")
def test_a_full_disk_refuses_and_leaves_no_half_line(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", FULL_DISK, str(tmp_path)], capture_output=True, check=True, timeout=60)
    told, whole, path = json.loads(done.stdout)
    data = Path(path).read_bytes()
    assert told == ["journal.unwritable"] * 3
    assert whole
    assert [row.id for row in lines.rows(data)] == ["first", "first", "after"]
    assert lines.broken_links(data) == []
    assert b"cannot be written" in done.stderr
    assert b"can be written again" in done.stderr


APPEND = """
import sys
from dataclasses import replace
from pathlib import Path
from homeport.calls.audit import Journal
from homeport.calls.ports import AuditRow
row = AuditRow("i", 1, "begun", "default", "c", "http", "s", "tools/call", "time", "now", "accept")
journal = Journal(Path(sys.argv[1]), key=b"k" * 32)
for number in range(1000):
    journal.begin(replace(row, id=f"{sys.argv[2]}-{number}"))
"""


def test_two_processes_write_a_thousand_rows_each(tmp_path: Path) -> None:
    """surface-156"""
    processes = [subprocess.Popen([sys.executable, "-c", APPEND, str(tmp_path), name]) for name in "ab"]
    assert [process.wait(60) for process in processes] == [0, 0]
    files = [path.read_bytes() for path in tmp_path.glob("*.jsonl")]
    assert [lines.broken_links(data) for data in files] == [[], []]
    assert len({row.id for data in files for row in lines.rows(data)}) == 2000
