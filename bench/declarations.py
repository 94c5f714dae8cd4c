"""What a declaration costs: reading a thousand, and evaluating one, beside `json.loads` of the same bytes."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

from bench.measure import Result
from bench.place import Place
from homeport.declarations.availability import availability
from homeport.declarations.parse import parse_declaration
from homeport.machine.local import LocalMachine

COUNT = 1_000
ROUNDS = 5


def results(place: Place) -> Iterator[Result]:
    """Every row of this module."""
    del place
    raw = [described(number) for number in range(COUNT)]
    texts = [json.dumps(each) for each in raw]
    scale = _median(lambda: [json.loads(text) for text in texts]) * 1e3

    def parse() -> list[Any]:
        return [parse_declaration("app", raw_app=each["app"], raw_requires=each["requires"]) for each in raw]

    taken = _median(parse) * 1e3
    yield Result("reading 1,000 declarations", taken, "ms", "json.loads of the same", taken / scale, "100 ms")
    declarations = parse()
    machine = LocalMachine()
    started = time.perf_counter()
    for declaration in declarations:
        availability(declaration, machine)
    one = scale * 1e3 / COUNT
    cold = (time.perf_counter() - started) / COUNT * 1e6
    yield Result("evaluating one, three places, first time", cold, "µs", "json.loads of the same", cold / one)
    warm = _median(lambda: [availability(each, machine) for each in declarations]) / COUNT * 1e6
    yield Result("evaluating one, three places, again", warm, "µs", "json.loads of the same", warm / one, "50 µs")


def described(number: int) -> dict[str, Any]:
    """A declaration with three locations, of which the last is there."""
    location = [f"/opt/vendor-{number}/app", f"~/.local/vendor-{number}/app", "/bin/sh"]
    return {"app": {"linux": {"presence": "executable", "location": location}}, "requires": {"app": True}}


def _median(work: Callable[[], object]) -> float:
    samples: list[float] = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        work()
        samples.append(time.perf_counter() - started)
    return statistics.median(samples)
