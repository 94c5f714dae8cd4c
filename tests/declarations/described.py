"""Machines described in a line, and the declarations looked for on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import pytest

from homeport.declarations.locate import locate
from homeport.declarations.model import Declaration, Resolution
from homeport.declarations.parse import parse_declaration
from homeport.machine.simulated import SimulatedMachine, from_data

Test = TypeVar("Test", bound=Callable[..., None])

UNINSTALL = "HKLM\\SOFTWARE\\Microsoft\\Windows\\CurrentVersion\\Uninstall"
UNINSTALL_32 = "HKLM\\SOFTWARE\\WOW6432Node\\Microsoft\\Windows\\CurrentVersion\\Uninstall"
UNINSTALL_USER = "HKCU\\SOFTWARE\\Microsoft\\Windows\\CurrentVersion\\Uninstall"
APP_PATHS = "HKLM\\SOFTWARE\\Microsoft\\Windows\\CurrentVersion\\App Paths"


def on_linux(*files: str, **rest: Any) -> SimulatedMachine:
    return _machine("linux", "/home/me", files, rest)


def on_windows(*files: str, **rest: Any) -> SimulatedMachine:
    return _machine("win32", "C:\\Users\\me", files, rest)


def on_macos(*bundles: str, **rest: Any) -> SimulatedMachine:
    """Each bundle gets an Info.plist without a version."""
    described = {f"{bundle}/Contents/Info.plist": {"plist": {"CFBundleName": "x"}} for bundle in bundles}
    return _machine("darwin", "/Users/me", (), {**rest, "files": {**described, **rest.get("files", {})}})


def _machine(platform: str, home: str, files: tuple[str, ...], rest: dict[str, Any]) -> SimulatedMachine:
    described = {path: {"executable": True} for path in files}
    return from_data({"platform": platform, "home": home, **rest, "files": {**described, **rest.get("files", {})}})


def plist(version: Any = None, **more: Any) -> dict[str, Any]:
    return {"plist": {**({} if version is None else {"CFBundleShortVersionString": version}), **more}}


def declared(os_family: str, location: Any, requires: Any = None, **block: Any) -> Declaration:
    presence = block.pop("presence", "bundle" if os_family == "darwin" else "executable")
    app = {os_family: {"presence": presence, "location": location, **block}}
    return parse_declaration("thing", raw_app=app, raw_requires={"app": True} if requires is None else requires)


def found(os_family: str, location: Any, machine: SimulatedMachine, **block: Any) -> Resolution:
    app = declared(os_family, location, **block).app_for(os_family)
    assert app is not None
    return locate(app, machine)


def places(resolution: Resolution) -> list[tuple[str, bool]]:
    return [(candidate.path, candidate.present) for candidate in resolution.candidates]


def reasons(resolution: Resolution) -> list[str]:
    return [candidate.reason for candidate in resolution.candidates]


def row(*numbers: str) -> Callable[[Test], Test]:
    """Puts the numbers of the specification's rows into a test's id."""

    def mark(test: Test) -> Test:
        return pytest.mark.usefixtures("row")(pytest.mark.parametrize("row", numbers, indirect=True)(test))

    return mark
