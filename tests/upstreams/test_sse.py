"""Event streams, cut anywhere."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from homeport.ground.errors import ProtocolViolation
from homeport.upstreams.sse import Event, Events

STREAM = (
    b"\xef\xbb\xbf: hello\nretry: 1500\r\n\r\nevent: message\rid: 1\rdata: one\r\rdata:two\ndata: lines\nid\n\n"
    b"data\n\n\n\nid: a\0b\nunknown: x\ndata: \xc3\xbc \n\r\ndata: unfinished"
)
EVENTS = [Event(b"one", "1", "message"), Event(b"two\nlines"), Event(b""), Event(b"\xc3\xbc ")]


@given(st.lists(st.integers(0, len(STREAM)), max_size=30))
def test_pieces_of_any_size_give_the_same_events(cuts: list[int]) -> None:
    events = Events(1000)
    places = [0, *sorted(cuts), len(STREAM)]
    found = [event for start, end in itertools.pairwise(places) for event in events.feed(STREAM[start:end])]
    assert found == EVENTS
    assert events.retry_ms == 1500


def test_byte_by_byte() -> None:
    events = Events(1000)
    assert [event for byte in STREAM for event in events.feed(bytes([byte]))] == EVENTS


def test_an_event_is_given_as_soon_as_it_is_complete() -> None:
    assert Events(1000).feed(b"data: x\n\n") == [Event(b"x")]


@pytest.mark.parametrize("piece", [b"data: " + b"x" * 200, b"x" * 200, b"data: 12345\n" * 20])
def test_an_event_beyond_the_limit_is_refused(piece: bytes) -> None:
    with pytest.raises(ProtocolViolation):
        Events(100).feed(piece)


def test_many_small_events_are_no_large_one() -> None:
    assert len(Events(100).feed(b"data: 12345\n\n" * 100)) == 100


def test_a_retry_beyond_all_measure_is_bounded() -> None:
    events = Events(100)
    events.feed(b"retry: 999999999\nretry: soon\n\n")
    assert events.retry_ms == 60_000


@given(st.binary(max_size=200))
def test_any_bytes_are_taken(data: bytes) -> None:
    Events(1000).feed(data)
