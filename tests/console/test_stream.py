"""An event stream towards a browser that is too slow, or gone."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.support.desk import call

from homeport.calls.events import Event, Topic
from homeport.console.stream import EventStream, framed


def test_a_row_is_one_line_whatever_is_in_it() -> None:
    row = call(1, name="a\r\nevent: state\ndata: {}\n\n", reason="\u2028\x00")
    frame = framed(Event(Topic.CALL, row=row))
    assert frame.count(b"\n") == 3
    assert b"\r" not in frame
    assert frame.startswith(b"event: call\ndata: {")


def test_half_a_surrogate_pair_travels_escaped() -> None:
    assert rb'"name":"a\ud800"' in framed(Event(Topic.CALL, row=call(1, name="a\ud800")))


@pytest.mark.anyio
async def test_a_browser_that_does_not_read_loses_the_oldest_events_and_is_told_to_read_everything() -> None:
    sent: list[bytes] = []
    held = asyncio.Event()

    async def send(message: Any) -> None:
        sent.append(message.get("body", b""))
        await held.wait()

    async def receive() -> Any:
        await asyncio.Event().wait()

    stream = EventStream(receive, send, lambda: True)
    running = asyncio.ensure_future(stream.run())
    for number in range(40):
        stream.put(Event(Topic.CALL, row=call(number, name="x" * 100_000)))
    held.set()
    while not any(b"event: missed" in part for part in sent):
        await asyncio.sleep(0)
    stream.close()
    await asyncio.wait_for(running, 5)
    told = b"".join(sent)
    assert call(0).id.encode() not in told
    assert call(39).id.encode() in told


@pytest.mark.anyio
async def test_a_connection_that_breaks_ends_the_stream_without_an_error() -> None:
    async def send(_message: Any) -> None:
        raise OSError("gone")

    async def receive() -> Any:
        await asyncio.Event().wait()

    await asyncio.wait_for(EventStream(receive, send, lambda: True).run(), 5)
