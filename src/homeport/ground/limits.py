"""Every bound on size, number and time, in one documented place."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Sizes in bytes, times in seconds."""

    message: int = 16 * 1024 * 1024
    """One JSON-RPC message in either direction, and one HTTP body."""
    arguments: int = 4 * 1024 * 1024
    """The arguments of one call."""
    depth: int = 200
    """Containers within containers in a message."""
    header: int = 32 * 1024
    """All header fields of one HTTP request."""
    list_pages: int = 100
    """Pages of one upstream list."""
    list_items: int = 10_000
    """Items of one upstream list."""
    stderr_ring: int = 64 * 1024
    """What is kept of a child's standard error."""
    connect_timeout: float = 30.0
    """From spawn or dial to a negotiated session."""
    probe_timeout: float = 5.0
    """How long a server may stay silent on `server/discover` before it counts as a legacy one."""
    call_timeout: float = 60.0
    """A call without progress; progress notifications start it anew."""
    call_total: float = 3600.0
    """A call, however much progress it tells."""
    ask_timeout: float = 120.0
    """An approval nobody answers is a refusal after this."""
    idle_stop: float = 600.0
    """A shared child without a call is stopped after this."""
    detached_idle: float = 1800.0
    """A gateway that `connect` started ends this long after its last client."""
    close_grace: float = 0.5
    """A child gets this after end of input, and again after SIGTERM, before SIGKILL."""
    facts_max_age: float = 5.0
    """Availability facts older than this are read again."""
    concurrent_streams: int = 256
    """Open event streams of one gateway."""


DEFAULT = Limits()
