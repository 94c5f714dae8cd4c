"""Bounds on calls: so many a minute, so many at once, for a profile and for a tool.

A token bucket starts full, so a burst of a minute's worth is allowed, and fills evenly. All bounds of a call are looked
at before any is charged: a call that one bound refuses costs nothing at the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from homeport.surface.policy import Rates

MAX_KEYS: Final = 10_000
"""Buckets kept; the ones that are full again say nothing and go first."""


@dataclass(frozen=True, slots=True)
class Exceeded:
    """The bound that refuses."""

    key: str
    bound: Literal["calls_per_minute", "concurrent"]
    limit: int
    retry_after: float
    """Seconds until one call is possible; 0 for `concurrent`: when another ends."""


@dataclass(slots=True)
class _Bucket:
    tokens: float
    at: float


class Permit:
    """Leave to run one call; release it when the call has ended."""

    __slots__ = ("_keys", "_limiter")

    def __init__(self, limiter: Limiter, keys: tuple[str, ...]) -> None:
        self._limiter = limiter
        self._keys = keys

    def release(self) -> None:
        """Give the places back; a second time does nothing."""
        keys, self._keys = self._keys, ()
        self._limiter.leave(keys)


class Limiter:
    """The bounds of one process. `clock` is monotonic seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._buckets: dict[str, _Bucket] = {}
        self._running: dict[str, int] = {}

    def admit(self, bounds: Sequence[tuple[str, Rates]]) -> Permit | Exceeded:
        """One call under every `(key, rates)`: a permit that must be released, or the first bound that refuses."""
        now = self._clock()
        for key, rates in bounds:
            if rates.concurrent is not None and self._running.get(key, 0) >= rates.concurrent:
                return Exceeded(key, "concurrent", rates.concurrent, 0.0)
            if rates.calls_per_minute is not None:
                wait = self._wait(key, rates.calls_per_minute, now)
                if wait > 0:
                    return Exceeded(key, "calls_per_minute", rates.calls_per_minute, wait)
        return self._charge(bounds)

    def running(self, key: str) -> int:
        """Calls under way for a key with a `concurrent` bound."""
        return self._running.get(key, 0)

    def leave(self, keys: tuple[str, ...]) -> None:
        """End a call that was charged to `keys`; `Permit.release` calls this."""
        for key in keys:
            left = self._running.get(key, 0) - 1
            if left > 0:
                self._running[key] = left
            else:
                self._running.pop(key, None)

    def _charge(self, bounds: Sequence[tuple[str, Rates]]) -> Permit:
        concurrent: list[str] = []
        for key, rates in bounds:
            if rates.calls_per_minute is not None:
                self._buckets[key].tokens -= 1
            if rates.concurrent is not None:
                self._running[key] = self._running.get(key, 0) + 1
                concurrent.append(key)
        return Permit(self, tuple(concurrent))

    def _wait(self, key: str, per_minute: int, now: float) -> float:
        if per_minute <= 0:
            return 60.0
        bucket = self._buckets.get(key)
        if bucket is None:
            self._forget_full_ones(now)
            bucket = self._buckets[key] = _Bucket(float(per_minute), now)
        bucket.tokens = min(float(per_minute), bucket.tokens + (now - bucket.at) * per_minute / 60)
        bucket.at = now
        return 0.0 if bucket.tokens >= 1 else (1 - bucket.tokens) * 60 / per_minute

    def _forget_full_ones(self, now: float) -> None:
        if len(self._buckets) >= MAX_KEYS:
            # After a minute without a call a bucket is full, whatever its rate.
            self._buckets = {key: bucket for key, bucket in self._buckets.items() if now - bucket.at < 60}
