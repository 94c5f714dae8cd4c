"""The front end as committed: complete, small, and without an address of anyone."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from homeport.console.built import INDEX, STATIC, read_built
from homeport.ground.errors import Unavailable

FILES = read_built()


def test_every_file_that_the_page_names_is_there() -> None:
    page = FILES[INDEX].body.decode()
    named = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert named
    assert [name for name in named if name not in FILES] == []


def test_the_page_has_no_script_or_style_of_its_own() -> None:
    page = FILES[INDEX].body.decode()
    assert re.search(r"<script(?![^>]* src=)", page) is None
    assert "<style" not in page
    assert " style=" not in page


def test_nothing_in_it_is_an_address() -> None:
    for name, file in FILES.items():
        found = set(re.findall(rb"https?://[^\s\"'`)]+", file.body))
        # Names of XML vocabularies, which nobody fetches.
        assert {address for address in found if not address.startswith(b"http://www.w3.org/")} == set(), name


def test_nothing_in_it_makes_markup_of_text() -> None:
    code = b"".join(file.body for name, file in FILES.items() if name.endswith(".js"))
    for way in (b"insertAdjacentHTML", b"document.write", b"eval(", b"new Function", b"outerHTML"):
        assert way not in code


def test_the_source_never_asks_for_markup_or_makes_a_link_of_text() -> None:
    source = Path(__file__).parents[2] / "frontend" / "src"
    for path in source.rglob("*.ts*"):
        text = path.read_text(encoding="utf-8")
        assert "dangerouslySetInnerHTML" not in text, path
        assert "innerHTML" not in text, path
        # Every address is made by `route.href`, or is a place on the page.
        assert set(re.findall(r"href=(\{[a-z]+|\"#)", text)) <= {"{href", '"#'}, path


def test_it_is_small() -> None:
    assert sum(len(gzip.compress(file.body)) for file in FILES.values()) < 60_000


def test_files_with_a_hash_in_their_name_are_kept_for_ever_and_others_asked_for_again() -> None:
    for name, file in FILES.items():
        assert (b"immutable" in file.cache) == name.startswith("/assets/")


def test_an_installation_without_it_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(Unavailable) as caught:
        read_built(tmp_path)
    assert caught.value.code == "console.not_built"
    assert "make frontend" in caught.value.remedy


def test_it_lies_in_the_package() -> None:
    assert STATIC.parent.name == "console"
