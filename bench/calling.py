"""What a call costs: through the gateway beside the same server directly, with every rule on."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from typing import Any

from bench.measure import Result, cpu_seconds, resident_mb, wrk
from bench.place import Gateway, Place

ROUNDS = 3
SECONDS = 2.0


def results(place: Place) -> Iterator[Result]:
    """Every row of this module."""
    direct = f"http://127.0.0.1:{place.port}/mcp"
    with place.up() as gateway:
        wrk(f"{gateway.endpoint}/default/cup", connections=8, seconds=1, headers=gateway.headers)
        for connections in (1, 32):
            floor, through, pipe = _interleaved(direct, gateway, connections)
            yield from _rows("HTTP", connections, floor, through)
            yield from _rows("stdio", connections, floor, pipe)
        yield Result("gateway after load", resident_mb(gateway.pid), "MB")


def _interleaved(direct: str, gateway: Gateway, connections: int) -> tuple[list[Any], list[Any], list[Any]]:
    floor: list[Any] = []
    through: list[Any] = []
    pipe: list[Any] = []
    for _ in range(ROUNDS):
        floor.append(wrk(direct, connections=connections, seconds=SECONDS, headers={}))
        through.append(_loaded(gateway, "cup", connections))
        pipe.append(_loaded(gateway, "pipe", connections))
    return floor, through, pipe


def _loaded(gateway: Gateway, server: str, connections: int) -> dict[str, Any]:
    before = cpu_seconds(gateway.pid)
    sample = wrk(
        f"{gateway.endpoint}/default/{server}", connections=connections, seconds=SECONDS, headers=gateway.headers
    )
    sample["cpu"] = (cpu_seconds(gateway.pid) - before) / max(sample["n"], 1) * 1e6
    assert not sample["err"], sample
    return sample


def _rows(leg: str, connections: int, floor: list[Any], through: list[Any]) -> Iterator[Result]:
    def middle(samples: list[Any], key: str) -> float:
        return statistics.median(sample[key] for sample in samples)

    label = f"{leg} server, {connections} client{'s' if connections > 1 else ''}"
    for key in ("p50", "p99"):
        added = middle(through, key) - middle(floor, key)
        goal = "150 µs" if (key, connections) == ("p50", 1) else ""
        ratio = middle(through, key) / middle(floor, key)
        yield Result(f"{label}: added {key}", added, "µs", "the server directly", ratio, goal)
    rate = middle(through, "rps")
    goal = "9000/s" if connections == 32 else ""
    yield Result(f"{label}: calls", rate, "/s", "the server directly", rate / middle(floor, "rps"), goal)
    yield Result(f"{label}: CPU a call", middle(through, "cpu"), "µs", goal="110 µs" if connections == 32 else "")
