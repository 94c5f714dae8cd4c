from __future__ import annotations

from typing import Any

import pytest

from homeport.machine.gpu import ADAPTERS, classify, gpus
from homeport.machine.simulated import SimulatedMachine, from_data

IDS = [
    pytest.param([0x8086, 0x10DE], {"intel", "nvidia"}, "nvidia", id="G-01"),
    pytest.param([0x8086, 0x1002], {"intel", "amd"}, "amd", id="G-02-amd"),
    pytest.param([0x8086], {"intel"}, "intel", id="G-02-intel"),
    pytest.param([0x1AF4], set(), "none", id="G-03-virtio"),
    pytest.param([], set(), "none", id="G-03-empty"),
    pytest.param(["10DE"], {"nvidia"}, "nvidia", id="G-04"),
    pytest.param([" 0x10de\n"], {"nvidia"}, "nvidia", id="G-04-prefix"),
    pytest.param([""], set(), "unknown", id="G-05"),
    pytest.param(["", 0x10DE], {"nvidia"}, "nvidia", id="G-06"),
]


@pytest.mark.parametrize(("ids", "vendors", "name"), IDS)
def test_vendor_ids_are_a_set_of_vendors(ids: list[Any], vendors: set[str], name: str) -> None:
    found = classify(ids)
    assert (set(found.vendors), found.name) == (vendors, name)


def linux(*files: str, texts: dict[str, str] | None = None, directories: tuple[str, ...] = ()) -> SimulatedMachine:
    return from_data({"files": dict.fromkeys(files, "x") | (texts or {}), "directories": list(directories)})


def windows(**adapters: dict[str, str]) -> SimulatedMachine:
    registry = {f"HKLM\\{ADAPTERS}\\{name[1:]}": values for name, values in adapters.items()}
    return from_data({"platform": "win32", "registry": registry})


def card(vendor: str, number: int = 0) -> dict[str, str]:
    return {f"/sys/class/drm/card{number}/device/vendor": f"{vendor}\n"}


def pci(address: str, kind: str) -> dict[str, str]:
    base = f"/sys/bus/pci/devices/{address}"
    return {f"{base}/class": kind, f"{base}/vendor": "0x10de"}


PORT = {"/sys/class/drm/card0-HDMI-A-1/x": ""}

MACHINES = [
    pytest.param(linux("/proc/driver/nvidia/version"), "nvidia", id="G-07"),
    pytest.param(linux(), "unknown", id="G-08"),
    pytest.param(linux("/dev/dxg", "/usr/lib/wsl/lib/libcuda.so.1"), "nvidia", id="G-09-cuda"),
    pytest.param(linux("/dev/dxg", directories=("/sys/class/drm",)), "unknown", id="G-09"),
    pytest.param(windows(_0000={"MatchingDeviceId": "ROOT\\BasicDisplay"}), "none", id="G-10"),
    pytest.param(from_data({"platform": "darwin", "architecture": "arm64"}), "apple_silicon", id="G-11-arm64"),
    pytest.param(from_data({"platform": "darwin", "architecture": "x86_64"}), "unknown", id="G-11-intel"),
    pytest.param(linux(texts=card("0x10de")), "nvidia", id="drm"),
    pytest.param(linux(texts=card("")), "unknown", id="unreadable-card"),
    pytest.param(linux(directories=("/sys/class/drm",)), "none", id="no-cards"),
    pytest.param(linux(directories=("/sys/class/drm",), texts=PORT), "none", id="port"),
    pytest.param(
        linux(
            directories=("/sys/class/drm",),
            texts=pci("0000:01:00.0", "0x030000"),
        ),
        "nvidia",
        id="held-by-another-driver",
    ),
    pytest.param(
        linux(
            directories=("/sys/class/drm",),
            texts=pci("0000:02:00.0", "0x020000"),
        ),
        "none",
        id="network-card",
    ),
    pytest.param(windows(_0000={"MatchingDeviceId": "PCI\\VEN_10DE&DEV_2684"}), "nvidia", id="windows"),
    pytest.param(windows(_0000={}), "unknown", id="windows-unreadable"),
    pytest.param(windows(_Configuration={"MatchingDeviceId": "PCI\\VEN_10DE"}), "none", id="windows-other-key"),
    pytest.param(from_data({"platform": "win32"}), "unknown", id="windows-no-class"),
]  # fmt: skip


@pytest.mark.parametrize(("machine", "name"), MACHINES)
def test_a_machine_has_these_vendors(machine: SimulatedMachine, name: str) -> None:
    found = gpus(machine)
    assert found.name == name
    assert found.evidence or name == "none"


def test_two_vendors_are_both_told() -> None:
    machine = linux(texts=card("0x10de") | card("0x1002", 1))
    assert gpus(machine).meets(["amd"])
    assert gpus(machine).meets(["intel"]) is False
    assert gpus(linux()).meets(["intel"]) is None


@pytest.mark.parametrize(("answer", "architecture"), [pytest.param(1, "arm64", id="G-11-rosetta")])
def test_a_translated_interpreter_does_not_hide_the_hardware(
    answer: int, architecture: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    from homeport.machine import local

    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(local, "_sysctl", lambda _: answer)
    assert local.LocalMachine(environment={}).architecture == architecture
