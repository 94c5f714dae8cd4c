"""Keys of the Windows registry, read in the view that is asked for, whatever the interpreter is built for."""

from __future__ import annotations

import sys

from homeport.machine.protocol import Bits, Hive, RegistryKey

MAX_ENTRIES = 10_000
"""Values and subkeys read of one key."""


def read_key(hive: Hive, key: str, bits: Bits) -> RegistryKey | None:
    """One key, or None when there is none or it may not be read; always None off Windows."""
    if sys.platform != "win32":
        return None
    import winreg

    root = winreg.HKEY_LOCAL_MACHINE if hive == "HKLM" else winreg.HKEY_CURRENT_USER
    view = winreg.KEY_WOW64_64KEY if bits == 64 else winreg.KEY_WOW64_32KEY
    try:
        opened = winreg.OpenKey(root, key, 0, winreg.KEY_READ | view)
    except OSError:
        return None
    with opened:
        subkeys, values, _ = winreg.QueryInfoKey(opened)
        names: list[str] = []
        found: dict[str, str] = {}
        for index in range(min(subkeys, MAX_ENTRIES)):
            try:
                names.append(winreg.EnumKey(opened, index))
            except OSError:
                break
        for index in range(min(values, MAX_ENTRIES)):
            try:
                name, value, _kind = winreg.EnumValue(opened, index)
            except OSError:
                break
            if isinstance(value, str | int):
                found[name] = str(value)
        return RegistryKey(found, tuple(names))
