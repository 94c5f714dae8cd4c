"""What Linux records about installed programs: Flatpak, snaps, desktop files, the dpkg database. Over `Machine`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from homeport.machine.protocol import CannotRead, Machine, variable

MAX_DESKTOP_FILE: Final = 256 * 1024
MAX_DPKG_STATUS: Final = 64 * 1024 * 1024
MAX_DPKG_LIST: Final = 8 * 1024 * 1024
SNAP_ROOTS: Final = ("/snap", "/var/lib/snapd/snap")
PROGRAM_FOLDERS: Final = ("/usr/bin", "/bin", "/usr/local/bin", "/usr/games", "/usr/sbin", "/sbin")


def absolute_folder(text: str | None) -> str:
    """A folder that a variable names, when it is absolute and climbs nowhere; else empty."""
    if not text or not text.startswith("/") or text.startswith("//") or ".." in text.split("/") or "\0" in text:
        return ""
    return text.rstrip("/") or "/"


def data_home(machine: Machine) -> str:
    """`XDG_DATA_HOME`, else `~/.local/share`; empty when there is no home."""
    said = absolute_folder(variable(machine, "XDG_DATA_HOME"))
    return said or (f"{machine.home.rstrip('/')}/.local/share" if machine.home else "")


def flatpak_installations(machine: Machine) -> list[str]:
    """The system's, then the user's. A user's installation may have been moved with its data."""
    system = absolute_folder(variable(machine, "FLATPAK_SYSTEM_DIR")) or "/var/lib/flatpak"
    user = absolute_folder(variable(machine, "FLATPAK_USER_DIR"))
    shares = [data_home(machine)] + ([f"{machine.home.rstrip('/')}/.local/share"] if machine.home else [])
    users = [user] if user else [f"{share}/flatpak" for share in shares if share]
    return list(dict.fromkeys([system, *users]))


def application_folders(machine: Machine) -> list[str]:
    """Where desktop files are: the XDG data directories, the exports of Flatpak and of snaps (XDG Base Directory)."""
    said = (variable(machine, "XDG_DATA_DIRS") or "/usr/local/share:/usr/share").split(":")
    shares = [data_home(machine), *map(absolute_folder, said)]
    folders = [f"{share}/applications" for share in shares if share]
    folders += [f"{base}/exports/share/applications" for base in flatpak_installations(machine)]
    folders.append("/var/lib/snapd/desktop/applications")
    return list(dict.fromkeys(folders))


@dataclass(frozen=True, slots=True)
class DesktopEntry:
    """The program of a desktop file; `hidden` when the file says that the application is deleted."""

    program: str
    hidden: bool


def desktop_entry(data: bytes) -> DesktopEntry:
    """Read a desktop file (Desktop Entry Specification): `TryExec`, else the first word of `Exec`."""
    values: dict[str, str] = {}
    group = ""
    for line in data.decode("utf-8", "surrogateescape").splitlines():
        if line.startswith("["):
            group = line.strip()
        elif group == "[Desktop Entry]" and "=" in line and not line.startswith("#"):
            key, _, value = line.partition("=")
            values.setdefault(key.strip(), value.strip())
    program = values.get("TryExec") or _first_word(values.get("Exec", ""))
    return DesktopEntry(program, values.get("Hidden", "").lower() == "true")


def _first_word(command: str) -> str:
    quoted = re.match(r'"((?:[^"\\]|\\.)*)"', command)
    if quoted:
        return re.sub(r"\\(.)", r"\1", quoted[1])
    return command.split(maxsplit=1)[0] if command.strip() else ""


@dataclass(frozen=True, slots=True)
class DebianPackage:
    """An installed package of the dpkg database."""

    name: str
    version: str
    architecture: str


def dpkg_package(machine: Machine, name: str) -> DebianPackage | None:
    """A package when it is installed. Raises `CannotRead` when the database cannot be read."""
    data = b"\n" + machine.read("/var/lib/dpkg/status", MAX_DPKG_STATUS)
    head = b"\nPackage: " + name.encode("utf-8", "surrogatepass") + b"\n"
    at = data.find(head)
    while at >= 0:
        end = data.find(b"\n\n", at + 1)
        stanza = data[at + 1 : end if end >= 0 else len(data)].decode("utf-8", "replace")
        fields = dict(re.findall(r"^([A-Za-z-]+): *(.*)$", stanza, re.MULTILINE))
        if fields.get("Status", "").split(" ")[-1:] == ["installed"]:
            return DebianPackage(name, fields.get("Version", ""), fields.get("Architecture", ""))
        at = data.find(head, at + 1)
    return None


def dpkg_files(machine: Machine, package: DebianPackage) -> list[str]:
    """The paths a package installed. Raises `CannotRead`."""
    base = f"/var/lib/dpkg/info/{package.name}"
    try:
        data = machine.read(f"{base}.list", MAX_DPKG_LIST)
    except CannotRead:
        data = machine.read(f"{base}:{package.architecture}.list", MAX_DPKG_LIST)
    return data.decode("utf-8", "surrogateescape").splitlines()


def dpkg_programs(files: list[str], package: str, wanted: str) -> list[str]:
    """The programs of a package: the file asked for, else the one named like it, else all in program folders."""
    if wanted:
        ending = "/" + wanted.replace("\\", "/")
        return [path for path in files if path.endswith(ending)]
    programs = [path for path in files if path.rpartition("/")[0] in PROGRAM_FOLDERS]
    named = [path for path in programs if path.rpartition("/")[2] == package]
    return named or programs


def upstream_version(text: str) -> str:
    """A Debian version without epoch and Debian revision (Debian Policy 5.6.12): `1:2.3-4` is `2.3`."""
    without_epoch = re.sub(r"^[0-9]+:", "", text)
    return without_epoch.rpartition("-")[0] or without_epoch


def snap_version(machine: Machine, name: str) -> str | None:
    """The version in a snap's `meta/snap.yaml`. Raises `CannotRead`."""
    for root in SNAP_ROOTS:
        try:
            data = machine.read(f"{root}/{name}/current/meta/snap.yaml", MAX_DESKTOP_FILE)
        except CannotRead as error:
            if error.reason == "missing":
                continue
            raise
        match = re.search(r"^version:[ \t]*(.+?)[ \t]*(?:[ \t]#.*)?$", data.decode("utf-8", "replace"), re.MULTILINE)
        return match[1].strip("'\"").strip() or None if match else None
    raise CannotRead("missing", "the snap is not mounted")


def flatpak_version(machine: Machine, base: str, app_id: str) -> str | None:
    """The newest release in a Flatpak application's AppStream metainfo. Raises `CannotRead`."""
    shares = [f"{base}/app/{app_id}/current/active/{part}/share" for part in ("files", "export")]
    for share in shares:
        for path in (f"{share}/metainfo/{app_id}.metainfo.xml", f"{share}/appdata/{app_id}.appdata.xml"):
            try:
                data = machine.read(path, MAX_DPKG_LIST)
            except CannotRead as error:
                if error.reason == "missing":
                    continue
                raise
            return metainfo_version(data)
    raise CannotRead("missing", "its metainfo is not there")


def metainfo_version(data: bytes) -> str | None:
    """The version of the first release in an AppStream file, which lists the newest first. Raises `CannotRead`."""
    from xml.parsers.expat import ExpatError, ParserCreate

    releases: list[str] = []

    def start(name: str, attributes: dict[str, str]) -> None:
        if name == "release" and attributes.get("version") and attributes.get("type", "stable") == "stable":
            releases.append(attributes["version"])

    def refuse(*_: object) -> None:
        raise CannotRead("unreadable", "its metainfo declares entities")

    parser = ParserCreate()
    parser.StartElementHandler = start
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(data, True)
    except ExpatError:
        raise CannotRead("unreadable", "its metainfo is not well-formed") from None
    return releases[0] if releases else None
