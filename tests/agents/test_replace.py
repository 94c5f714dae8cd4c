"""The writer: old bytes or new bytes, whole, and no version of anybody lost in silence."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.powers import NEEDS_BITS, bits_count

from homeport.agents.replace import ChangedMeanwhileError, Disk, Swap, swap
from homeport.ground.errors import Conflict, HomeportError, Unavailable


class Interleaved(Disk):
    """Another program acts just before one of our steps."""

    def __init__(self, step: str, act: Callable[[], object]) -> None:
        self._step, self._act = step, act
        self.steps: list[str] = []

    def step(self, name: str) -> None:
        self.steps.append(name)
        if name == self._step:
            self._step = ""
            self._act()


class NoExchange(Disk):
    """A file system without atomic exchange."""

    def exchange(self, first: Path, second: Path) -> bool:
        return False

    def rename_new(self, source: Path, target: Path) -> bool:
        return False


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    path = tmp_path / "home/config.json"
    path.write_bytes(b"old")
    return path


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


def beside(path: Path) -> list[str]:
    return sorted(entry.name for entry in path.parent.iterdir())


@pytest.mark.parametrize("disk", [Disk(), NoExchange()], ids=["exchange", "plain"])
def test_a_file_is_replaced_and_the_old_one_kept(file: Path, state: Path, disk: Disk) -> None:
    file.chmod(0o640)
    done = swap(Swap(file, b"old", b"new"), state=state, disk=disk)
    assert file.read_bytes() == b"new"
    assert file.stat().st_mode & 0o777 == 0o640
    assert done.kept
    assert done.kept.read_bytes() == b"old"
    assert beside(file) == ["config.json"]


@pytest.mark.parametrize("disk", [Disk(), NoExchange()], ids=["exchange", "plain"])
def test_a_new_file_is_for_this_user_only(tmp_path: Path, state: Path, disk: Disk) -> None:
    path = tmp_path / "a/b/new.json"
    swap(Swap(path, None, b"new"), state=state, disk=disk)
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o600
    assert beside(path) == ["new.json"]


def test_a_file_that_was_made_is_taken_away(file: Path, state: Path) -> None:
    done = swap(Swap(file, b"old", None), state=state)
    assert not file.exists()
    assert done.kept
    assert done.kept.read_bytes() == b"old"


def test_other_bytes_than_expected_change_nothing(file: Path, state: Path) -> None:
    for change in (Swap(file, b"else", b"new"), Swap(file, None, b"new"), Swap(file, b"else", None)):
        with pytest.raises(ChangedMeanwhileError):
            swap(change, state=state)
    assert file.read_bytes() == b"old"
    assert beside(file) == ["config.json"]


STEPS = ["mkdir", "create", "write", "fsync", "chmod", "exchange", "keep"]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("how", ["in-place", "rename"])
def test_another_writer_at_any_step_loses_nothing(file: Path, state: Path, step: str, how: str) -> None:
    def write() -> None:
        if how == "in-place":
            file.write_bytes(b"theirs")
        else:
            other = file.with_name("other")
            other.write_bytes(b"theirs")
            other.replace(file)

    disk = Interleaved(step, write)
    if step == "keep":
        # It wrote after our version was in place: its word is the last one.
        swap(Swap(file, b"old", b"new"), state=state, disk=disk)
    else:
        with pytest.raises(ChangedMeanwhileError):
            swap(Swap(file, b"old", b"new"), state=state, disk=disk)
    assert file.read_bytes() == b"theirs"
    assert beside(file) == ["config.json"]
    assert step in disk.steps


def test_a_program_that_had_the_file_open_writes_into_the_kept_one(file: Path, state: Path) -> None:
    with file.open("r+b") as held:
        done = swap(Swap(file, b"old", b"new"), state=state)
        held.write(b"late")
    assert file.read_bytes() == b"new"
    assert done.kept
    assert done.kept.read_bytes() == b"late"


def test_a_writer_that_strikes_twice_keeps_both_its_versions(file: Path, state: Path) -> None:
    class Twice(Disk):
        def step(self, name: str) -> None:
            if name == "exchange":
                file.write_bytes(b"first")
            elif name == "exchange back":
                file.write_bytes(b"second")

    with pytest.raises(Conflict) as lost:
        swap(Swap(file, b"old", b"new"), state=state, disk=Twice())
    assert lost.value.code == "config.lost_race"
    kept = {path.read_bytes() for path in (state / "backups").rglob("*") if path.is_file()}
    assert {file.read_bytes(), *kept} >= {b"first", b"second"}
    assert str(state / "backups") in str(lost.value)


def test_a_file_that_appears_while_one_is_made_stays(tmp_path: Path, state: Path) -> None:
    path = tmp_path / "new.json"
    disk = Interleaved("rename", lambda: path.write_bytes(b"theirs"))
    with pytest.raises(ChangedMeanwhileError):
        swap(Swap(path, None, b"new"), state=state, disk=disk)
    assert path.read_bytes() == b"theirs"


def test_a_free_running_writer_and_we_lose_nothing(file: Path, state: Path) -> None:
    """The writer appends lines read-modify-write under no lock of ours; every line it wrote is somewhere."""
    file.write_bytes(b"")
    stop = threading.Event()
    written: list[bytes] = []

    def writer() -> None:
        number = 0
        while not stop.is_set() and number < 400:
            data = file.read_bytes()
            number += 1
            line = b"w%d\n" % number
            other = file.with_name("writer.tmp")
            other.write_bytes(data + line)
            other.replace(file)
            written.append(line)

    thread = threading.Thread(target=writer)
    thread.start()
    ours = 0
    while thread.is_alive() and ours < 60:
        before = file.read_bytes()
        try:
            swap(Swap(file, before, before + b"us\n"), state=state)
            ours += 1
        except (ChangedMeanwhileError, Conflict):
            continue
    stop.set()
    thread.join()
    everywhere = [file.read_bytes()] + [path.read_bytes() for path in (state / "backups").rglob("*") if path.is_file()]
    lines = {line + b"\n" for data in everywhere for line in data.split(b"\n")}
    assert written
    assert [line for line in written[-5:] if line not in lines] == []


KILLED = """
import os, sys
from pathlib import Path
from homeport.agents.replace import Disk, Swap, swap
class Killed(Disk):
    def step(self, name):
        if name == sys.argv[3]:
            os.kill(os.getpid(), 9)
swap(Swap(Path(sys.argv[1]), b"old", b"new"), state=Path(sys.argv[2]), disk=Killed())
"""


@pytest.mark.parametrize("step", STEPS)
def test_a_kill_at_any_step_leaves_a_whole_file(file: Path, state: Path, step: str) -> None:
    died = subprocess.run([sys.executable, "-c", KILLED, str(file), str(state), step], check=False, timeout=60)
    assert died.returncode == -9
    assert file.read_bytes() in {b"old", b"new"}
    swap(Swap(file, file.read_bytes(), b"newer"), state=state)
    assert file.read_bytes() == b"newer"
    assert beside(file) == ["config.json"]


@pytest.mark.parametrize("step", ["create", "write", "fsync", "chmod", "exchange"])
def test_a_full_disk_at_any_step_changes_nothing(file: Path, state: Path, step: str) -> None:
    def full() -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(Unavailable) as refused:
        swap(Swap(file, b"old", b"new"), state=state, disk=Interleaved(step, full))
    assert refused.value.code == "config.unwritable"
    assert "No space left" in refused.value.message
    assert file.read_bytes() == b"old"
    assert beside(file) == ["config.json"]


def test_a_link_stays_and_its_target_changes(file: Path, state: Path) -> None:
    link = file.parent.parent / "link.json"
    link.symlink_to("home/config.json")
    swap(Swap(link, b"old", b"new"), state=state)
    assert link.is_symlink()
    assert file.read_bytes() == b"new"


def test_a_link_to_a_file_not_yet_there_gets_one(tmp_path: Path, state: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    link = tmp_path / "link.json"
    link.symlink_to(tmp_path / "dotfiles/config.json")
    swap(Swap(link, None, b"new"), state=state)
    assert link.is_symlink()
    assert (tmp_path / "dotfiles/config.json").read_bytes() == b"new"


def test_links_that_lead_nowhere_in_a_circle_or_out_of_the_project_are_refused(tmp_path: Path, state: Path) -> None:
    outside, project = tmp_path / "outside.json", tmp_path / "project"
    project.mkdir()
    outside.write_bytes(b"old")
    (project / "out.json").symlink_to(outside)
    (project / "nowhere.json").symlink_to(tmp_path / "gone/config.json")
    (project / "a.json").symlink_to("b.json")
    (project / "b.json").symlink_to("a.json")
    for name, before in (("out.json", b"old"), ("nowhere.json", None), ("a.json", None)):
        with pytest.raises(HomeportError):
            swap(Swap(project / name, before, b"new", inside=project), state=state)
    assert outside.read_bytes() == b"old"
    assert not (tmp_path / "gone").exists()


def test_what_is_no_regular_file_is_refused(tmp_path: Path, state: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "directory").mkdir()
    for name in ("pipe", "directory"):
        with pytest.raises(Conflict) as refused:
            swap(Swap(tmp_path / name, b"", b"new"), state=state)
        assert refused.value.code == "config.not_regular"


def test_a_read_only_file_is_left_alone(file: Path, state: Path) -> None:
    file.chmod(0o444)
    with pytest.raises(Unavailable) as refused:
        swap(Swap(file, b"old", b"new"), state=state)
    assert refused.value.code == "config.read_only"
    assert file.read_bytes() == b"old"


@pytest.mark.skipif(not bits_count(), reason=NEEDS_BITS)
def test_a_read_only_directory_is_told(file: Path, state: Path) -> None:
    file.parent.chmod(0o555)
    try:
        with pytest.raises(Unavailable) as refused:
            swap(Swap(file, b"old", b"new"), state=state)
    finally:
        file.parent.chmod(0o755)
    assert refused.value.code == "config.unwritable"


def test_a_file_with_several_names_is_told(file: Path, state: Path) -> None:
    os.link(file, file.with_name("second.json"))
    assert swap(Swap(file, b"old", b"new"), state=state).notes
    assert file.with_name("second.json").read_bytes() == b"old"


def test_an_agent_s_own_lock_is_waited_for(file: Path, state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("homeport.agents.replace.LOCK_WAIT", 0.05)
    lock = file.with_name("config.json.lock")
    lock.mkdir()
    with pytest.raises(Conflict) as busy:
        swap(Swap(file, b"old", b"new"), state=state)
    assert busy.value.code == "config.busy"
    os.utime(lock, (1, 1))
    swap(Swap(file, b"old", b"new"), state=state)
    assert file.read_bytes() == b"new"


def test_two_of_us_take_turns(file: Path, state: Path) -> None:
    file.write_bytes(b"0")

    def count() -> None:
        for _ in range(10):
            while True:
                before = file.read_bytes()
                try:
                    swap(Swap(file, before, b"%d" % (int(before) + 1)), state=state)
                    break
                except ChangedMeanwhileError:
                    continue

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert file.read_bytes() == b"40"
