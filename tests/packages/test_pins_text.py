"""The lock as text: deterministic, read back whole, and refused where it is not what was written."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homeport.ground.errors import InvalidInput
from homeport.packages.pins import Dependency, Lock, Pin, new_runtime
from homeport.packages.pins_text import dump, parse

HASH = "sha256:" + "a" * 64
RUNTIME = new_runtime(
    "python",
    "thing==1.0",
    [
        Dependency("thing", "1.0", (HASH, "sha256:" + "b" * 64)),
        Dependency("other", "2", (HASH,), "sys_platform == 'win32'"),
    ],
)
LOCK = Lock(
    {
        "time": Pin("time", "python thing==1.0", ("{runtime}/bin/thing", "--zone", "x y"), RUNTIME, HASH),
        "also-time": Pin("also-time", "python thing==1.0", ("{runtime}/bin/thing",), RUNTIME),
        "far": Pin("far", "https://mcp.example.com/mcp"),
    }
)

TEXT = f"""\
# Written by Homeport. Commit it; change it with `homeport lock` (`--upgrade`).
format = 1

[servers.also-time]
source = "python thing==1.0"
argv = ["{{runtime}}/bin/thing"]
runtime = "{RUNTIME.digest}"

[servers.far]
source = "https://mcp.example.com/mcp"

[servers.time]
source = "python thing==1.0"
argv = ["{{runtime}}/bin/thing", "--zone", "x y"]
runtime = "{RUNTIME.digest}"
surface = "{HASH}"

[[runtimes]]
digest = "{RUNTIME.digest}"
kind = "python"
requirement = "thing==1.0"

[[runtimes.dependencies]]
name = "other"
version = "2"
marker = "sys_platform == 'win32'"
hashes = '''
{HASH}
'''

[[runtimes.dependencies]]
name = "thing"
version = "1.0"
hashes = '''
{HASH}
sha256:{"b" * 64}
'''
"""


def test_a_lock_is_written_to_be_reviewed() -> None:
    assert dump(LOCK).decode() == TEXT


def test_servers_with_the_same_program_share_one_runtime() -> None:
    assert TEXT.count("[[runtimes]]") == 1


def test_the_order_in_which_a_lock_was_made_does_not_show() -> None:
    turned = Lock(dict(reversed(list(LOCK.pins.items()))))
    runtime = new_runtime("python", "thing==1.0", reversed(RUNTIME.dependencies))

    assert dump(turned) == dump(LOCK)
    assert runtime == RUNTIME


def test_an_empty_lock_is_a_lock() -> None:
    assert parse(dump(Lock())) == Lock()


hashes = st.from_regex(r"sha256:[0-9a-f]{64}|sha512-[A-Za-z0-9+/]{86}==", fullmatch=True)
texts = st.text(st.characters(codec="utf-8"), max_size=20)
dependencies = st.builds(
    Dependency,
    texts,
    texts,
    st.lists(hashes, min_size=1, max_size=3).map(lambda each: tuple(sorted(each))),
    texts,
    texts,
    st.lists(texts, max_size=3).map(tuple),
)
runtimes = st.builds(new_runtime, st.sampled_from(["python", "node"]), texts, st.lists(dependencies, max_size=4))
servers = st.from_regex(r"[a-z][a-z0-9-]{0,39}", fullmatch=True).filter(lambda name: name not in {"mcp", "homeport"})


@st.composite
def locks(draw: st.DrawFn) -> Lock:
    names = draw(st.lists(servers, max_size=4, unique=True))
    digest = st.from_regex(r"sha256:[0-9a-f]{64}", fullmatch=True) | st.just("")
    argv = st.lists(texts, max_size=4).map(tuple)
    return Lock({name: Pin(name, draw(texts), draw(argv), draw(st.none() | runtimes), draw(digest)) for name in names})


@settings(max_examples=80)
@given(locks())
def test_every_lock_comes_back_as_it_was_and_is_written_the_same_again(lock: Lock) -> None:
    data = dump(lock)

    assert parse(data) == lock
    assert dump(parse(data)) == data


def test_a_newer_format_is_refused_as_such_whatever_else_it_holds() -> None:
    with pytest.raises(InvalidInput) as caught:
        parse(b"format = 2\nnews = true\n", file="homeport.lock")

    assert caught.value.code == "lock.newer"


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("format = 1", "", "format"),
        ("format = 1", "format = true", "format"),
        ("format = 1", "format = 1\nextra = 1", ""),
        ('source = "https', 'sauce = "x"\nsource = "https', "servers.far"),
        ("[servers.far]", "[servers.Far]", "servers.Far"),
        ('source = "https://mcp.example.com/mcp"', "", "servers.far.source"),
        (f'surface = "{HASH}"', 'surface = "abc"', "servers.time.surface"),
        (f'runtime = "{RUNTIME.digest}"\n\n[servers.far]', f'runtime = "{HASH}"\n\n[servers.far]', "also-time.runtime"),
        ('argv = ["{runtime}/bin/thing"]', "argv = 3", "servers.also-time.argv"),
        ('kind = "python"', 'kind = "perl"', "runtimes[0].kind"),
        ('kind = "python"', 'kind = "node"', "runtimes[0].digest"),
        ('version = "2"', 'version = "3"', "runtimes[0].digest"),
        ('version = "2"', "version = 2", "runtimes[0].dependencies[0].version"),
        (f"'''\n{HASH}\n'''", "''", "runtimes[0].dependencies[0].hashes"),
        (f"'''\n{HASH}\n'''", "'md5:abc'", "runtimes[0].dependencies[0].hashes"),
        ("sha256:" + "b" * 64, "sha256:" + "c" * 64, "runtimes[0].digest"),
    ],
)
def test_a_lock_that_was_changed_by_hand_is_refused_with_the_place(old: str, new: str, place: str) -> None:
    assert old in TEXT
    with pytest.raises(InvalidInput) as caught:
        parse(TEXT.replace(old, new, 1).encode())

    assert caught.value.code == "lock.corrupt"
    assert place in str(caught.value.place)
    assert "homeport lock" in caught.value.remedy


@pytest.mark.parametrize(
    ("data", "line"), [(b"format = 1\n<<<<<<< HEAD\n", 2), (b"format = 1\n\xff", 2), (b"format = 1\n[x", 2)]
)
def test_a_lock_with_a_merge_conflict_or_garbage_names_the_line(data: bytes, line: int) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse(data)

    assert (caught.value.code, caught.value.place.line) == ("lock.corrupt", line)
