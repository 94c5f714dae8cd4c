"""Whether a process of Windows is alive, asked with the least right that tells it."""

from __future__ import annotations

import sys

from homeport.machine.protocol import ProcessFact

_LIMITED_QUERY = 0x1000
_SYNCHRONIZE = 0x00100000
_ACCESS_DENIED = 5
_TIMED_OUT = 0x102
_EPOCH = 11_644_473_600
"""Seconds from 1601 to 1970."""


def look(pid: int) -> ProcessFact:
    """A process by id. One that may not be opened runs as someone else, an elevated one for example: alive."""
    if sys.platform != "win32":
        return ProcessFact(alive=False)
    import ctypes
    from ctypes import wintypes

    kernel = ctypes.WinDLL("kernel32", use_last_error=True)
    kernel.OpenProcess.restype = wintypes.HANDLE
    handle = kernel.OpenProcess(_LIMITED_QUERY | _SYNCHRONIZE, False, pid)
    if not handle:
        return ProcessFact(alive=ctypes.get_last_error() == _ACCESS_DENIED)
    try:
        # An exited process stays open while someone holds a handle; only its wait state tells.
        if kernel.WaitForSingleObject(wintypes.HANDLE(handle), 0) != _TIMED_OUT:
            return ProcessFact(alive=False)
        size = wintypes.DWORD(32_768)
        text = ctypes.create_unicode_buffer(size.value)
        named = kernel.QueryFullProcessImageNameW(wintypes.HANDLE(handle), 0, text, ctypes.byref(size))
        times = [wintypes.FILETIME() for _ in range(4)]
        told = kernel.GetProcessTimes(wintypes.HANDLE(handle), *(ctypes.byref(moment) for moment in times))
        ticks = (times[0].dwHighDateTime << 32) | times[0].dwLowDateTime
        return ProcessFact(True, text.value if named else None, ticks / 10_000_000 - _EPOCH if told else None)
    finally:
        kernel.CloseHandle(wintypes.HANDLE(handle))
