"""Which GPU vendors this machine has, with the evidence. No driver library and no process.

A read that failed is not an absence: `known` is False then, and a requirement passes unverified. Sources: Linux
`/proc/driver/nvidia`, DRM and PCI in sysfs, WSL2's `/dev/dxg`; Windows' display adapter class; macOS' architecture.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from homeport.machine.protocol import CannotRead, Machine

VENDOR_IDS: Final = {0x10DE: "nvidia", 0x1002: "amd", 0x8086: "intel"}
PRIORITY: Final = ("nvidia", "amd", "intel", "apple_silicon")
ADAPTERS: Final = "SYSTEM\\CurrentControlSet\\Control\\Class\\{4d36e968-e325-11ce-bfc1-08002be10318}"
MAX_ADAPTERS: Final = 16
MAX_NAMES: Final = 64
MAX_PCI: Final = 512


@dataclass(frozen=True, slots=True)
class Gpus:
    """The vendors found. With `known` False there may be others."""

    vendors: frozenset[str] = frozenset()
    known: bool = True
    evidence: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The one word for it: the first vendor by priority, `none` or `unknown`."""
        first = next((vendor for vendor in PRIORITY if vendor in self.vendors), None)
        return first or ("none" if self.known else "unknown")

    def meets(self, wanted: Sequence[str]) -> bool | None:
        """Whether one of the wanted vendors is here; None when that could not be read."""
        if not wanted or self.vendors.intersection(wanted):
            return True
        return False if self.known else None


def classify(ids: Iterable[str | int]) -> Gpus:
    """PCI vendor ids (hexadecimal texts, or numbers) as vendors.

    An empty text is an adapter that could not be read: it leaves the answer unknown unless another is recognised.
    """
    texts = [f"{text:04x}" if isinstance(text, int) else text.strip().lower().removeprefix("0x") for text in ids]
    numbers = [int(text, 16) for text in texts if re.fullmatch(r"[0-9a-f]{1,8}", text)]
    vendors = frozenset(VENDOR_IDS[number] for number in numbers if number in VENDOR_IDS)
    return Gpus(vendors, known=bool(vendors) or not texts or bool(numbers))


def gpus(machine: Machine) -> Gpus:
    """The GPU vendors of a machine."""
    match machine.platform:
        case "win32":
            return _windows(machine)
        case "darwin":
            apple = machine.architecture.lower() in {"arm64", "aarch64"}
            evidence = (f"the processor is {machine.architecture}",)
            return Gpus(frozenset({"apple_silicon"}), True, evidence) if apple else Gpus(known=False, evidence=evidence)
        case _:
            return _linux(machine)


def _windows(machine: Machine) -> Gpus:
    root = machine.registry("HKLM", ADAPTERS)
    if root is None:
        return Gpus(known=False, evidence=("the display adapters cannot be read",))
    ids: list[str] = []
    evidence: list[str] = []
    for name in root.subkeys[:MAX_ADAPTERS]:
        if not name.isdecimal():
            continue
        key = machine.registry("HKLM", f"{ADAPTERS}\\{name}")
        device = ((key.value("MatchingDeviceId") if key else "") or "").upper()
        vendor = re.search(r"VEN_([0-9A-F]{4})", device)
        evidence.append(f"display adapter {name}: {device or 'unreadable'}")
        if vendor:
            ids.append(vendor[1])
        elif not device:
            ids.append("")
        # A device without a vendor (`ROOT\BasicDisplay`) is software: no GPU, and nothing unknown.
    found = classify(ids)
    return Gpus(found.vendors, found.known, tuple(evidence))


def _linux(machine: Machine) -> Gpus:
    if machine.stat("/proc/driver/nvidia/version").kind != "missing":
        return _with(machine, frozenset({"nvidia"}), "/proc/driver/nvidia/version")
    if machine.stat("/dev/dxg").kind != "missing":
        return _subsystem(machine)
    return _with(machine, frozenset(), "")


def _subsystem(machine: Machine) -> Gpus:
    """WSL2: no DRM cards; Windows' driver is reached through `/dev/dxg`, and NVIDIA's puts CUDA beside it."""
    cuda = "/usr/lib/wsl/lib/libcuda.so.1"
    if machine.stat(cuda).kind == "file":
        return Gpus(frozenset({"nvidia"}), True, ("/dev/dxg", cuda))
    return Gpus(known=False, evidence=("/dev/dxg: the vendor is known to Windows only",))


def _with(machine: Machine, vendors: frozenset[str], proof: str) -> Gpus:
    """What DRM and PCI say, joined with vendors already proved."""
    cards, drm_known, drm = _drm(machine)
    devices, pci = _pci(machine)
    found = classify([*cards, *devices])
    known = found.known and (drm_known or bool(devices))
    evidence = (*([proof] if proof else []), *drm, *pci)
    joined = found.vendors | vendors
    return Gpus(joined, known or bool(joined), evidence)


def _drm(machine: Machine) -> tuple[list[str], bool, list[str]]:
    listing = machine.names("/sys/class/drm", 4096)
    if listing.trouble:
        return [], False, ["/sys/class/drm cannot be listed"]
    cards = [name for name in sorted(listing.names)[:MAX_NAMES] if name.startswith("card") and "-" not in name]
    paths = [f"/sys/class/drm/{name}/device/vendor" for name in cards[:MAX_ADAPTERS]]
    ids = [_id(machine, path) for path in paths]
    return ids, True, [f"{path}: {text or 'unreadable'}" for path, text in zip(paths, ids, strict=True)]


def _pci(machine: Machine) -> tuple[list[str], list[str]]:
    """Display controllers (class 0x03) on the PCI bus: also those that no graphics driver has."""
    ids: list[str] = []
    evidence: list[str] = []
    for name in sorted(machine.names("/sys/bus/pci/devices", MAX_PCI).names):
        base = f"/sys/bus/pci/devices/{name}"
        if not _id(machine, f"{base}/class").removeprefix("0x").startswith("03"):
            continue
        vendor = _id(machine, f"{base}/vendor")
        if vendor:
            ids.append(vendor)
            evidence.append(f"{base}/vendor: {vendor}")
    return ids, evidence


def _id(machine: Machine, path: str) -> str:
    try:
        return machine.read(path, 4096)[:16].decode("ascii", "replace").strip()
    except CannotRead:
        return ""
