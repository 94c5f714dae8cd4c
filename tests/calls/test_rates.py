"""Limits on calls, on a clock that the test turns."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from homeport.calls.rates import Exceeded, Limiter, Permit
from homeport.surface.policy import Rates


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_minutes_worth_may_come_at_once_and_then_evenly() -> None:
    clock = Clock()
    limiter, bounds = Limiter(clock), [("p", Rates(calls_per_minute=6))]
    assert all(isinstance(limiter.admit(bounds), Permit) for _ in range(6))
    refused = limiter.admit(bounds)
    assert isinstance(refused, Exceeded)
    assert refused.retry_after == pytest.approx(10)
    clock.now += 10
    assert isinstance(limiter.admit(bounds), Permit)
    assert isinstance(limiter.admit(bounds), Exceeded)


def test_a_released_place_is_free_once() -> None:
    limiter, bounds = Limiter(Clock()), [("p", Rates(concurrent=2))]
    one, two = limiter.admit(bounds), limiter.admit(bounds)
    assert isinstance(one, Permit)
    assert isinstance(two, Permit)
    assert isinstance(limiter.admit(bounds), Exceeded)
    one.release()
    one.release()
    assert limiter.running("p") == 1
    assert isinstance(limiter.admit(bounds), Permit)
    assert isinstance(limiter.admit(bounds), Exceeded)


def test_a_bound_that_refuses_costs_nothing_at_the_others() -> None:
    limiter = Limiter(Clock())
    profile, tool = ("p", Rates(calls_per_minute=3, concurrent=3)), ("t", Rates(calls_per_minute=1))
    assert isinstance(limiter.admit([profile, tool]), Permit)
    assert all(isinstance(limiter.admit([profile, tool]), Exceeded) for _ in range(5))
    assert limiter.running("p") == 1
    assert [isinstance(limiter.admit([profile]), Permit) for _ in range(3)] == [True, True, False]


def test_nothing_a_minute_is_nothing() -> None:
    assert isinstance(Limiter(Clock()).admit([("p", Rates(calls_per_minute=0))]), Exceeded)


def test_no_bound_is_no_bound() -> None:
    limiter = Limiter(Clock())
    assert all(isinstance(limiter.admit([]), Permit) for _ in range(1000))


@given(st.lists(st.floats(0, 20), max_size=200), st.integers(1, 30))
def test_never_more_than_the_rate_and_one_burst(steps: list[float], per_minute: int) -> None:
    clock = Clock()
    limiter = Limiter(clock)
    admitted = 0
    for step in steps:
        clock.now += step
        admitted += isinstance(limiter.admit([("p", Rates(calls_per_minute=per_minute))]), Permit)
    assert admitted <= per_minute + clock.now * per_minute / 60 + 1e-6
