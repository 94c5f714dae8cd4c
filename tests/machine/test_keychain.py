"""Secrets: in a keyring that answers in time, else in a file for this user only; never printed, never lost."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from homeport.ground.errors import InvalidInput, Refused, Unavailable
from homeport.ground.secrets import Secret
from homeport.machine import keychain
from homeport.machine.keychain import Keyring, SecretStore


class Ring:
    """A keyring in memory."""

    def __init__(self) -> None:
        self.held: dict[str, str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.held.get(f"{service}/{username}")

    def set_password(self, service: str, username: str, password: str) -> None:
        self.held[f"{service}/{username}"] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.held[f"{service}/{username}"]


def in_file(state: Path) -> SecretStore:
    return SecretStore(state, environment={"HOMEPORT_SECRETS": "file"}, platform="linux")


def in_ring(state: Path, ring: Keyring) -> SecretStore:
    return SecretStore(state, environment={}, platform="linux", opener=lambda: (ring, "Test Ring"))


@pytest.fixture(params=["file", "ring"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> SecretStore:
    return in_file(tmp_path) if request.param == "file" else in_ring(tmp_path, Ring())


def test_a_secret_is_kept_replaced_listed_and_removed(store: SecretStore) -> None:
    assert store.get("tracker") is None
    store.set("tracker", Secret("one"))
    store.set("a/b.c-d_e", Secret("päss\n"))
    store.set("tracker", Secret("two"))

    assert store.get("tracker") == Secret("two")
    assert store.get("a/b.c-d_e") == Secret("päss\n")
    assert store.names() == ("a/b.c-d_e", "tracker")
    assert store.delete("tracker")
    assert not store.delete("tracker")
    assert store.get("tracker") is None
    assert store.names() == ("a/b.c-d_e",)


@pytest.mark.parametrize("name", ["", "a b", "../x", "-x", "x\n", "x" * 129, "a}b"])
def test_a_name_that_no_reference_could_hold_is_refused(store: SecretStore, name: str) -> None:
    with pytest.raises(InvalidInput):
        store.set(name, Secret("x"))


def test_the_file_is_for_its_owner_only(tmp_path: Path) -> None:
    store = in_file(tmp_path / "state")
    store.set("a", Secret("x"))
    file = tmp_path / "state" / "secrets.json"

    assert store.where == str(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_a_file_that_others_can_read_is_refused_with_the_remedy(tmp_path: Path) -> None:
    store = in_file(tmp_path)
    store.set("a", Secret("x"))
    (tmp_path / "secrets.json").chmod(0o644)

    with pytest.raises(Refused) as caught:
        store.get("a")
    assert "chmod 600" in caught.value.remedy


@pytest.mark.parametrize("text", ["", "[1]", '{"a": 1}', "{"])
def test_a_damaged_file_is_told_and_never_overwritten(tmp_path: Path, text: str) -> None:
    file = tmp_path / "secrets.json"
    file.write_text(text)
    file.chmod(0o600)

    with pytest.raises(Unavailable):
        in_file(tmp_path).set("a", Secret("x"))
    assert file.read_text() == text


def test_a_keyring_holds_the_value_and_the_file_only_the_name(tmp_path: Path) -> None:
    ring = Ring()
    store = in_ring(tmp_path, ring)
    store.set("a", Secret("hunter22"))

    assert store.where == "the system keyring (Test Ring)"
    assert ring.held == {"homeport/a": "hunter22"}
    assert not any("hunter22" in file.read_text() for file in tmp_path.iterdir())


def test_what_was_stored_before_there_was_a_keyring_is_found_and_moves_when_set(tmp_path: Path) -> None:
    in_file(tmp_path).set("a", Secret("old"))
    store = in_ring(tmp_path, Ring())

    assert store.get("a") == Secret("old")
    assert store.names() == ("a",)
    store.set("a", Secret("new"))
    assert in_file(tmp_path).get("a") is None
    assert store.get("a") == Secret("new")


class Broken(Ring):
    def get_password(self, service: str, username: str) -> str | None:
        raise RuntimeError("locked")


def test_a_keyring_that_fails_says_why_and_how_to_do_without(tmp_path: Path) -> None:
    with pytest.raises(Unavailable) as caught:
        in_ring(tmp_path, Broken()).get("a")

    assert "locked" in caught.value.message
    assert "HOMEPORT_SECRETS=file" in caught.value.remedy


def test_a_keyring_that_hangs_is_given_up_within_the_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    let_go = threading.Event()

    class Hanging(Ring):
        def get_password(self, service: str, username: str) -> str | None:
            let_go.wait(30)
            return None

    monkeypatch.setattr(keychain, "BOUND", 0.05)
    with pytest.raises(Unavailable) as caught:
        in_ring(tmp_path, Hanging()).get("a")
    let_go.set()
    assert caught.value.code == "secrets.keyring"


def opener_that(raises: Exception | None) -> Callable[[], tuple[Keyring, str] | None]:
    def opener() -> tuple[Keyring, str] | None:
        if raises is not None:
            raise raises
        return None

    return opener


@pytest.mark.parametrize("raises", [None, RuntimeError("no bus")])
def test_without_a_keyring_the_file_is_used(tmp_path: Path, raises: Exception | None) -> None:
    store = SecretStore(tmp_path, environment={}, platform="linux", opener=opener_that(raises))
    store.set("a", Secret("x"))

    assert store.where == str(tmp_path / "secrets.json")


def test_no_keyring_library_is_loaded_where_no_session_bus_is(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from homeport.machine.keychain import SecretStore\n"
        f"store = SecretStore(Path({str(tmp_path)!r}), environment={{}}, platform='linux')\n"
        "assert store.get('a') is None; assert 'keyring' not in sys.modules\n"
    )
    source = Path(keychain.__file__).parents[2]
    subprocess.run([sys.executable, "-c", script], check=True, env={**os.environ, "PYTHONPATH": str(source)})


def test_many_threads_lose_nothing(tmp_path: Path) -> None:
    store = in_file(tmp_path)
    threads = [threading.Thread(target=store.set, args=(f"s{n}", Secret(str(n)))) for n in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(store.names()) == 10


def test_many_processes_lose_nothing(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from homeport.ground.secrets import Secret\n"
        "from homeport.machine.keychain import SecretStore\n"
        f"store = SecretStore(Path({str(tmp_path)!r}), environment={{}}, platform='linux')\n"
        "for n in range(10): store.set(f's{sys.argv[1]}-{n}', Secret('x'))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(keychain.__file__).parents[2])}
    writers = [subprocess.Popen([sys.executable, "-c", script, str(n)], env=environment) for n in range(4)]

    assert [writer.wait(60) for writer in writers] == [0] * 4
    assert len(in_file(tmp_path).names()) == 40


def test_a_kept_value_never_replaces_another_and_an_equal_one_is_used_again(store: SecretStore) -> None:
    assert store.keep("a.KEY", Secret("one")) == "a.KEY"
    assert store.keep("a.KEY", Secret("two")) == "a.KEY-2"
    assert store.keep("a.KEY", Secret("two")) == "a.KEY-2"
    assert store.keep("a.KEY", Secret("one")) == "a.KEY"
    assert store.get("a.KEY") == Secret("one")
