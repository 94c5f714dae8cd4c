"""What Windows records about installed programs: uninstall entries and App Paths. Rules over `Machine`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from homeport.ground.errors import InvalidInput
from homeport.machine.protocol import Bits, Hive, Machine

UNINSTALL: Final = "SOFTWARE\\Microsoft\\Windows\\CurrentVersion\\Uninstall"
APP_PATHS: Final = "SOFTWARE\\Microsoft\\Windows\\CurrentVersion\\App Paths"
VIEWS: Final[tuple[tuple[Hive, Bits], ...]] = (("HKLM", 64), ("HKLM", 32), ("HKCU", 64))
MAX_ENTRIES: Final = 10_000

_VERSIONED: Final = re.compile(r"[\s_-]*(?:\(|v(?:ersion)?\.?\s*[0-9]|[0-9])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class UninstallEntry:
    """One installed program as Windows lists it."""

    key: str
    name: str
    version: str
    folder: str
    icon: str
    uninstaller: str


def uninstall_entries(machine: Machine) -> list[UninstallEntry]:
    """All entries: this machine's 64-bit view, its 32-bit view, then this user's; each in enumeration order."""
    found: list[UninstallEntry] = []
    for hive, bits in VIEWS:
        root = machine.registry(hive, UNINSTALL, bits)
        for name in root.subkeys if root else ():
            key = f"{UNINSTALL}\\{name}"
            entry = machine.registry(hive, key, bits)
            if entry is not None and len(found) < MAX_ENTRIES:
                texts = [
                    entry.value(value) or ""
                    for value in ("DisplayName", "DisplayVersion", "InstallLocation", "DisplayIcon", "UninstallString")
                ]
                found.append(UninstallEntry(f"{hive}\\{key}", *texts))
    return found


def matching(entries: list[UninstallEntry], prefix: str) -> list[UninstallEntry]:
    """The entries of one product, best first, in any case.

    Its name alone; then its name with a version or a bracket after it; then its name as the first words of another
    (`Vendor App Beta`). A name that only starts with the same letters (`Vendor Apple`) is another product.
    """
    wanted = prefix.strip().casefold()
    ranked = [(rank, entry) for entry in entries if (rank := _rank(entry.name.strip().casefold(), wanted)) is not None]
    ranked.sort(key=lambda item: item[0])
    return [entry for _, entry in ranked]


def _rank(name: str, wanted: str) -> int | None:
    if not wanted or not name.startswith(wanted):
        return None
    rest = name[len(wanted) :]
    if not rest:
        return 0
    if rest[0].isalnum() and wanted[-1].isalnum():
        return None
    return 1 if _VERSIONED.match(rest) else 2


def unquoted(text: str) -> str:
    """A registry text without blanks and the quotes around it."""
    return text.strip().strip('"').strip()


def icon_file(text: str) -> str:
    """The program of a `DisplayIcon` (`"C:\\V\\v.exe",0`)."""
    return unquoted(re.sub(r",\s*-?[0-9]+\s*$", "", text))


def uninstaller_folder(text: str) -> str:
    """The folder of an `UninstallString`'s program; empty for an installer of the system's."""
    trimmed = text.strip()
    quoted = re.match(r'"([^"]+)"', trimmed)
    plain = re.match(r"(.+?\.exe)(?:\s|$)", trimmed, re.IGNORECASE)
    program = quoted[1] if quoted else plain[1] if plain else ""
    folder, _, name = program.replace("/", "\\").rpartition("\\")
    return "" if name.casefold() in {"msiexec.exe", "rundll32.exe", "cmd.exe"} else folder


def app_path(machine: Machine, file: str) -> list[str]:
    """What App Paths says for a program's file name: this user's entry first, as Windows itself looks."""
    found: list[str] = []
    order: tuple[tuple[Hive, Bits], ...] = (("HKCU", 64), ("HKLM", 64), ("HKLM", 32))
    for hive, bits in order:
        key = machine.registry(hive, f"{APP_PATHS}\\{file}", bits)
        text = unquoted((key.value("") if key else "") or "")
        if text and text not in found:
            found.append(text)
    return found


def registry_export(data: bytes) -> dict[str, dict[str, str]]:
    """An exported registry file (`.reg`, version 4 or 5) as a simulated machine's `registry`.

    Raises `InvalidInput` (`machine.registry_file`) when it is none. Binary values are left out; numbers become text.
    """
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        raise InvalidInput("it is neither UTF-16 nor UTF-8", code="machine.registry_file") from None
    lines = re.sub(r"\\\r?\n\s*", "", text).splitlines()
    if not lines or not re.fullmatch(r"(Windows Registry Editor Version 5\.00|REGEDIT4)\s*", lines[0]):
        raise InvalidInput("its first line is not that of a registry file", code="machine.registry_file")
    keys: dict[str, dict[str, str]] = {}
    values: dict[str, str] | None = None
    for line in lines[1:]:
        header = re.fullmatch(r"\[([^-].*)\]\s*", line)
        if header:
            values = keys.setdefault(header[1], {})
        elif values is not None:
            _take(values, line)
    return keys


def _take(values: dict[str, str], line: str) -> None:
    match = re.fullmatch(r'(?:"((?:[^"\\]|\\.)*)"|@)=(.*)', line.strip())
    if match is None:
        return
    name, raw = re.sub(r"\\(.)", r"\1", match[1] or ""), match[2]
    if raw.startswith('"'):
        values[name] = re.sub(r"\\(.)", r"\1", raw[1:].removesuffix('"'))
    elif raw.startswith("dword:"):
        values[name] = str(int(raw[6:] or "0", 16))
    elif raw.startswith(("hex(2):", "hex(1):")):
        numbers = bytes(int(part, 16) for part in raw[7:].split(",") if part.strip())
        values[name] = numbers.decode("utf-16-le", "replace").rstrip("\0")
