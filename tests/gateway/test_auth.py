"""Two credentials, never interchangeable; names of this machine only."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.support.powers import NEEDS_BITS, bits_count

from homeport.gateway.auth import (
    LINK_SECONDS,
    OperatorSessions,
    Tokens,
    bearer,
    cookie_of,
    host_allowed,
    origin_allowed,
    set_cookie,
)
from homeport.ground.errors import InvalidInput


def test_a_profile_token_is_made_once_and_opens_its_profile(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path / "tokens" / "key.json")
    made = tokens.token("default").reveal()
    assert tokens.token("default").reveal() == made
    assert tokens.token("other").reveal() != made
    assert tokens.profile_of(made.encode()) == "default"
    assert tokens.profile_of(made[:-1].encode()) is None
    assert tokens.profile_of(b"") is None
    assert Tokens(tmp_path / "tokens" / "key.json").profile_of(made.encode()) == "default"


def test_only_this_user_may_read_the_tokens(tmp_path: Path) -> None:
    file = tmp_path / "tokens" / "key.json"
    Tokens(file).token("default")
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700


def test_a_rotated_token_opens_nothing(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path / "t.json")
    old = tokens.token("default").reveal().encode()
    new = tokens.rotate("default").reveal().encode()
    assert tokens.profile_of(old) is None
    assert tokens.profile_of(new) == "default"
    assert tokens.revoke("default")
    assert tokens.profile_of(new) is None
    assert not tokens.revoke("default")


def test_what_another_process_wrote_is_taken_over(tmp_path: Path) -> None:
    gateway, command = Tokens(tmp_path / "t.json"), Tokens(tmp_path / "t.json")
    made = command.token("late").reveal().encode()
    assert gateway.profile_of(made) is None
    gateway.reload()
    assert gateway.profile_of(made) == "late"


@pytest.mark.parametrize("written", ["[]", "nonsense", ""])
def test_a_corrupt_file_is_told_and_kept(tmp_path: Path, written: str) -> None:
    file = tmp_path / "t.json"
    file.write_text(written)
    with pytest.raises(InvalidInput) as caught:
        Tokens(file)
    assert caught.value.code == "tokens.corrupt"
    assert file.read_text() == written


def test_a_short_token_that_somebody_wrote_opens_nothing(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text(json.dumps({"default": "x", "other": 3}))
    tokens = Tokens(tmp_path / "t.json")
    assert tokens.profile_of(b"x") is None
    assert len(tokens.token("default").reveal()) > 32


@pytest.mark.skipif(not bits_count(), reason=NEEDS_BITS)
def test_a_directory_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(Exception, match="cannot be written"):
        Tokens(tmp_path / "deep" / "t.json").token("default")


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_link_opens_the_console_once() -> None:
    sessions = OperatorSessions(Clock())
    code = sessions.new_link()
    value = sessions.redeem(code)
    assert value is not None
    assert sessions.valid(value)
    assert sessions.redeem(code) is None
    assert not sessions.valid(code)


def test_a_link_is_good_for_five_minutes() -> None:
    clock = Clock()
    sessions = OperatorSessions(clock)
    code = sessions.new_link()
    clock.now = LINK_SECONDS
    assert sessions.redeem(code) is None


def test_a_session_ends_by_time_and_by_will() -> None:
    clock = Clock()
    sessions = OperatorSessions(clock)
    value = sessions.redeem(sessions.new_link()) or ""
    sessions.end(value)
    assert not sessions.valid(value)
    value = sessions.redeem(sessions.new_link()) or ""
    clock.now = 10**6
    assert not sessions.valid(value)


def test_the_cookie_is_hidden_from_scripts_and_other_sites() -> None:
    cookie = set_cookie("abc", secure=False)
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(cookie.split("; "))
    assert cookie_of(f"theme=dark; {cookie.split(';')[0]}; x=y") == "abc"
    assert cookie_of("theme=dark") == ""


@pytest.mark.parametrize(
    ("host", "good"),
    [
        (b"127.0.0.1:7333", True),
        (b"localhost", True),
        (b"LOCALHOST:1", True),
        (b"[::1]:7333", True),
        (b"[::1]", True),
        (b"evil.example", False),
        (b"localhost.evil.example:7333", False),
        (b"127.0.0.1:7333@evil.example", False),
        (b"localhost:x", False),
        (b"", False),
        (None, False),
    ],
)
def test_only_names_of_this_machine_are_served(host: bytes | None, good: bool) -> None:
    assert host_allowed(host) is good


@pytest.mark.parametrize(
    ("origin", "good"),
    [
        (None, True),
        (b"http://localhost:3000", True),
        (b"http://127.0.0.1:7333", True),
        (b"https://[::1]", True),
        (b"http://evil.example", False),
        (b"http://localhost.evil.example", False),
        (b"null", False),
        (b"file://", False),
        (b"http://localhost/path", False),
        (b"chrome-extension://localhost", False),
    ],
)
def test_only_pages_of_this_machine_may_call(origin: bytes | None, good: bool) -> None:
    assert origin_allowed(origin) is good


@pytest.mark.parametrize(
    ("header", "token"),
    [(b"Bearer abc", b"abc"), (b"bearer  abc ", b"abc"), (b"Basic abc", None), (b"Bearer ", None), (None, None)],
)
def test_a_token_comes_as_a_bearer(header: bytes | None, token: bytes | None) -> None:
    assert bearer(header) == token
