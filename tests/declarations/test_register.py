from __future__ import annotations

import threading

import pytest
from tests.declarations.described import row

from homeport.declarations import register as shared
from homeport.declarations.parse import parse_declaration
from homeport.declarations.register import Register
from homeport.ground.errors import Conflict

ONE = parse_declaration("thing")
TWO = parse_declaration("thing", raw_requires={"gpu": "amd"})


def listened() -> tuple[Register, list[int]]:
    register, heard = Register(), list[int]()
    register.listen(lambda: heard.append(register.generation))
    return register, heard


@row("S-10")
def test_another_owner_may_not_take_a_name() -> None:
    register = Register()
    register.register("thing", ONE, owner="first")
    with pytest.raises(Conflict, match="belongs to first; second may not replace it"):
        register.register("thing", TWO, owner="second")
    assert register.lookup("thing") == ONE
    register.register("thing", TWO, owner="first")
    assert register.lookup("thing") == TWO


@row("S-11")
def test_forgetting_what_is_not_there_is_no_change() -> None:
    register, heard = listened()
    assert not register.unregister("thing")
    register.clear()
    assert heard == []


@row("S-12")
def test_a_batch_is_heard_of_once_and_no_change_never() -> None:
    register, heard = listened()
    with register.batch():
        register.register("thing", ONE)
        register.unregister("thing")
        register.register("thing", TWO)
        register.clear()
    assert len(heard) == 1
    register.register("thing", ONE)
    register.register("thing", ONE)
    assert len(heard) == 2


@row("S-13")
def test_a_listener_that_fails_undoes_nothing_and_hides_no_change(caplog: pytest.LogCaptureFixture) -> None:
    register = Register()
    heard: list[str] = []

    def fails() -> None:
        raise RuntimeError("a bug")

    register.listen(fails)
    register.listen(lambda: heard.append("after"))
    register.register("thing", ONE)
    assert register.lookup("thing") == ONE
    assert heard == ["after"]
    assert "a listener of the declarations failed" in caplog.text


def test_a_listener_may_change_the_register_and_end_itself() -> None:
    register = Register()

    def once() -> None:
        end()
        register.register("other", TWO)

    end = register.listen(once)
    register.register("thing", ONE)
    register.register("third", ONE)
    assert set(register.visible()) == {"thing", "other", "third"}


def test_changes_before_a_conflict_are_heard_of() -> None:
    register, heard = listened()
    register.register("thing", ONE, owner="first")

    def both() -> None:
        with register.batch():
            register.register("other", ONE)
            register.register("thing", TWO, owner="second")

    with pytest.raises(Conflict):
        both()
    assert len(heard) == 2


@row("S-24")
def test_of_two_owners_of_a_name_the_second_is_told_and_its_others_stand() -> None:
    register = Register()
    register.register("thing", ONE, owner="first")
    with pytest.raises(Conflict):
        register.register("thing", TWO, owner="second")
    register.register("other", TWO, owner="second")
    assert register.unregister_owner("second") == 1
    assert set(register.visible()) == {"thing"}


def test_an_owner_is_replaced_at_once_or_not_at_all() -> None:
    register, heard = listened()
    register.register("a", ONE, owner="first")
    register.register("b", ONE, owner="first")
    register.register("c", ONE, owner="second")
    heard.clear()
    register.replace_owner("first", {"b": TWO, "d": ONE})
    assert {entry.name for entry in register.entries()} == {"b", "c", "d"}
    assert len(heard) == 1
    with pytest.raises(Conflict):
        register.replace_owner("first", {"c": TWO, "e": ONE})
    assert {entry.name for entry in register.entries()} == {"b", "c", "d"}


def test_a_profile_lies_over_the_base() -> None:
    register = Register()
    register.register("thing", ONE)
    handle = register.register("thing", TWO, profile="work", owner="me")
    assert register.lookup("thing", profile="work") == TWO
    assert register.lookup("thing", profile="home") == register.lookup("thing") == ONE
    assert register.visible("work")["thing"] == TWO
    assert handle.release()
    assert register.lookup("thing", profile="work") == ONE


def test_a_handle_does_not_take_back_what_replaced_it() -> None:
    register = Register()
    first = register.register("thing", ONE)
    register.register("thing", TWO)
    assert not first.release()
    assert register.lookup("thing") == TWO


def test_the_register_of_the_process_has_the_published_functions() -> None:
    shared.clear()
    try:
        shared.register("thing", ONE)
        assert shared.lookup("thing") == ONE
        shared.register("thing", TWO)
        assert shared.unregister("thing")
        assert shared.lookup("thing") is None
    finally:
        shared.clear()


def test_threads_do_not_lose_each_others_entries() -> None:
    register = Register()

    def fill(start: int) -> None:
        for number in range(start, start + 200):
            register.register(f"s{number}", ONE)

    threads = [threading.Thread(target=fill, args=(start,)) for start in range(0, 1000, 200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(register.entries()) == register.generation == 1000
