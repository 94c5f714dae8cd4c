"""Atomic replacement: the old bytes or the new ones, and an error that says what to do."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from homeport.ground.errors import Unavailable
from homeport.ground.files import private_directory, replace_atomically


def test_a_file_is_replaced_whole_with_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "file"
    replace_atomically(path, b"one", mode=0o600)
    replace_atomically(path, b"two", mode=0o600)
    assert path.read_bytes() == b"two"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in path.parent.iterdir()] == ["file"]


def test_a_read_only_directory_is_an_error_with_a_remedy_and_nothing_is_left(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(Unavailable) as caught:
            replace_atomically(path, b"new")
    finally:
        tmp_path.chmod(0o700)
    assert caught.value.code == "file.unwritable"
    assert str(tmp_path) in caught.value.remedy
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_a_private_directory_is_closed_to_others_even_if_it_was_open(tmp_path: Path) -> None:
    path = tmp_path / "state"
    path.mkdir(mode=0o755)
    private_directory(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o700
