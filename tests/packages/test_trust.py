"""The trust file: per project and user, private, never believed when somebody else could have written it."""

from __future__ import annotations

import stat
import threading
from pathlib import Path

import pytest
from tests.support.powers import NEEDS_BITS, bits_count

from homeport.ground.errors import HomeportError, InvalidInput, Refused
from homeport.packages import trust
from homeport.packages.consent import TrustRecord


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "state" / "trust.json"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def test_nothing_is_trusted_before_somebody_agreed(file: Path, root: Path) -> None:
    assert trust.read(file, root) == TrustRecord()
    assert not file.exists()


def test_an_agreement_is_kept_for_its_project_only(file: Path, root: Path, tmp_path: Path) -> None:
    trust.change(file, root, lambda record: record.agreed({"a": "sha256:1"}, "sha256:p"))
    trust.change(file, tmp_path, lambda record: record.agreed({"z": "sha256:9"}))

    assert trust.read(file, root) == TrustRecord({"a": "sha256:1"}, "sha256:p")
    assert trust.read(file, tmp_path) == TrustRecord({"z": "sha256:9"})


def test_a_project_is_known_by_its_real_path(file: Path, root: Path, tmp_path: Path) -> None:
    trust.change(file, root, lambda record: record.agreed({"a": "sha256:1"}))
    link = tmp_path / "link"
    link.symlink_to(root)

    assert trust.read(file, link).trusts("a", "sha256:1")


def test_the_file_is_for_its_owner_only(file: Path, root: Path) -> None:
    trust.change(file, root, lambda record: record.agreed({"a": "sha256:1"}))

    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_a_file_that_others_may_write_says_nothing(file: Path, root: Path) -> None:
    trust.change(file, root, lambda record: record.agreed({"a": "sha256:1"}))
    file.chmod(0o666)

    with pytest.raises(Refused) as caught:
        trust.read(file, root)
    assert caught.value.code == "trust.exposed"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        '{"format": 2, "projects": {}}',
        '{"format": 1}',
        '{"format": 1, "projects": {"/x": {"launches": 3}}}',
    ],
)
def test_a_damaged_file_is_refused_and_left_as_it_is(file: Path, root: Path, text: str) -> None:
    file.parent.mkdir()
    file.write_text(text)
    file.chmod(0o600)

    with pytest.raises(InvalidInput) as caught:
        trust.change(file, root, lambda record: record.agreed({"a": "sha256:1"}))
    assert caught.value.code == "trust.corrupt"
    assert file.read_text() == text


def test_many_writers_at_once_lose_nothing(file: Path, root: Path) -> None:
    failures: list[HomeportError] = []

    def agree(number: int) -> None:
        try:
            trust.change(file, root, lambda record: record.agreed({f"s{number}": "sha256:1"}))
        except HomeportError as error:
            failures.append(error)

    threads = [threading.Thread(target=agree, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failures == []
    assert len(trust.read(file, root).launches) == 12


@pytest.mark.skipif(not bits_count(), reason=NEEDS_BITS)
def test_a_directory_that_cannot_be_written_is_told(file: Path, root: Path) -> None:
    file.parent.mkdir(mode=0o500)

    with pytest.raises(HomeportError) as caught:
        trust.change(file, root, lambda record: record)
    assert caught.value.remedy
