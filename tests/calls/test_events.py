"""Live events: everyone hears, nobody is held up."""

from __future__ import annotations

import asyncio

import pytest

from homeport.calls.events import Bus, Event, Topic
from homeport.calls.ports import AuditRow

pytestmark = pytest.mark.anyio
ROW = AuditRow("i", 1, "begun", "default", "c 1", "http", "s", "tools/call", "time", "now", "accept")


def event(number: int) -> Event:
    return Event(Topic.FAULT, {"number": number})


async def test_every_listener_hears_in_order() -> None:
    bus = Bus()
    with bus.subscribe() as one, bus.subscribe() as two:
        for number in range(3):
            bus.publish(event(number))
        one.close()
        two.close()
        heard = [[each.data["number"] async for each in listener] for listener in (one, two)]
    assert heard == [[0, 1, 2], [0, 1, 2]]
    assert bus.listeners == 0


async def test_a_slow_listener_loses_the_oldest_and_knows_how_many() -> None:
    bus = Bus()
    slow = bus.subscribe(size=2)
    for number in range(5):
        bus.publish(event(number))
    bus.close()
    assert slow.lost == 3
    assert [each.data["number"] async for each in slow] == [3, 4]


async def test_a_listener_that_waits_is_woken() -> None:
    bus = Bus()
    subscription = bus.subscribe()

    async def first() -> Event:
        async for each in subscription:
            return each
        raise AssertionError

    waiting = asyncio.create_task(first())
    await asyncio.sleep(0)
    bus.observe(ROW)
    heard = await asyncio.wait_for(waiting, 5)
    assert (heard.topic, heard.row) == (Topic.CALL, ROW)
    subscription.close()


async def test_a_callback_hears_at_once_until_it_stops() -> None:
    bus, heard = Bus(), list[Event]()
    stop = bus.listen(heard.append)
    bus.publish(event(1))
    stop()
    stop()
    bus.publish(event(2))
    assert heard == [event(1)]
