"""Reading a machine: described, local, and from the records that systems keep."""

from __future__ import annotations

import os
import plistlib
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from homeport.ground.errors import InvalidInput
from homeport.machine import linux, macos, windows
from homeport.machine.expansion import expand
from homeport.machine.local import LocalMachine, _Deadline, network_mounts
from homeport.machine.pe import file_version
from homeport.machine.processes import look
from homeport.machine.protocol import CannotRead, Machine
from homeport.machine.simulated import SimulatedMachine, from_data
from homeport.machine.stars import match_all, matched

UNUSABLE = [
    [],
    {"platfrom": "linux"},
    {"files": []},
    {"files": {"/x": {"kind": "fifo"}}},
    {"files": {"/x": {"colour": 1}}},
    {"files": {"/x": {"base64": "%"}}},
    {"files": {"/x": {"plist": {"a": None}}}},
    {"files": {1: "x"}},
    {"files": {"/x": {"size": "1"}}},
    {"files": {"/x": {"executable": 1}}},
    {"directories": {}},
    {"registry": {"HKLM\\X": {"a": 1}}},
    {"processes": {"x": {}}},
    {"processes": {"1": []}},
    {"environment": {"A": 1}},
]


@pytest.mark.parametrize("description", UNUSABLE)
def test_a_description_that_cannot_be_meant_is_told(description: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        from_data(description)
    assert caught.value.code == "machine.description"


def test_both_machines_are_machines() -> None:
    machines: list[Machine] = [LocalMachine(), SimulatedMachine()]
    assert all(machine.platform for machine in machines)


def test_links_of_a_described_machine_are_followed_and_loops_end() -> None:
    machine = from_data(
        {"files": {"/a/x": "text", "/l": {"link": "a"}, "/m": {"link": "/l/x"}, "/o": {"link": "/o"}, "/p/q": "1"}}
    )
    assert machine.stat("/m").kind == "file"
    assert machine.read("/l/x", 10) == b"text"
    assert machine.stat("/o").kind == "missing"
    assert machine.names("/l", 10).names == ("x",)
    assert machine.link("/l") == "a"


def test_windows_is_described_in_any_case_and_either_slash() -> None:
    machine = from_data(
        {
            "platform": "win32",
            "files": {"C:\\Vendor\\App.exe": ""},
            "registry": {"HKEY_LOCAL_MACHINE\\SOFTWARE\\WOW6432Node\\V": {"Name": "x"}, "HKLM\\SOFTWARE\\W\\1": {}},
        }
    )
    assert machine.stat("c:/vendor/APP.EXE").kind == "file"
    found = machine.registry("HKLM", "software\\v", 32)
    assert found is not None
    assert found.value("name") == "x"
    parent = machine.registry("HKLM", "SOFTWARE\\W")
    assert parent is not None
    assert parent.subkeys == ("1",)


def test_a_file_of_this_machine_is_read_within_its_bound(tmp_path: Path) -> None:
    machine = LocalMachine(environment={})
    file = tmp_path / "x"
    file.write_bytes(b"12345")
    assert machine.read(str(file), 5) == b"12345"
    reasons: list[str] = []
    os.mkfifo(tmp_path / "fifo")
    for path, limit in ((file, 4), (tmp_path, 9), (tmp_path / "fifo", 9), (tmp_path / "none", 9), ("/a\0b", 9)):
        with pytest.raises(CannotRead) as caught:
            machine.read(str(path), limit)
        reasons.append(caught.value.reason)
    assert reasons == ["too_large", "not_a_file", "not_a_file", "missing", "invalid_path"]


def test_a_gigabyte_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "x"
    with file.open("wb") as stream:
        stream.truncate(2**30)
    with pytest.raises(CannotRead, match="larger than 10 bytes"):
        LocalMachine(environment={}).read(str(file), 10)


def test_the_bits_of_a_file_say_whether_it_runs(tmp_path: Path) -> None:
    machine = LocalMachine(environment={})
    file = tmp_path / "x"
    file.touch()
    file.chmod(0o644)
    assert not machine.stat(str(file)).executable
    file.chmod(0o755)
    assert machine.stat(str(file)).executable
    assert machine.stat(str(tmp_path)).kind == "directory"
    assert machine.stat(str(tmp_path / "x" / "y")).kind == "missing"
    assert machine.stat("/a\0").kind == "invalid_path"
    assert machine.stat("/" + "a" * 5000).kind == "invalid_path"


def test_links_below_a_root_stay_below_it(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "secret").write_text("outside")
    (root / "absolute").symlink_to("/secret")
    (root / "climbing").symlink_to("../../../secret")
    machine = LocalMachine(root, {})
    assert machine.stat("/absolute").kind == "missing"
    assert machine.stat("/climbing").kind == "missing"
    assert machine.stat("/../secret").kind == "missing"
    assert machine.home == ""


def test_a_file_system_that_does_not_answer_costs_its_deadline_once() -> None:
    deadline, never = _Deadline(0.05), threading.Event()
    try:
        started = time.monotonic()
        assert deadline.run("/net", lambda: never.wait(20) or "late", "hung") == "hung"
        assert deadline.run("/net", lambda: "not asked", "hung") == "hung"
        assert deadline.run("/other", lambda: "good", "hung") == "good"
        assert deadline.run("", lambda: "here", "hung") == "here"
        assert time.monotonic() - started < 10
    finally:
        never.set()


def test_network_mounts_are_told_from_mountinfo(tmp_path: Path) -> None:
    lines = [
        "36 35 98:0 / / rw - ext4 /dev/root rw",
        "37 35 0:40 / /home/my\\040net rw,noatime shared:1 - nfs4 srv:/x rw",
        "38 35 0:41 / /mnt/s rw - fuse.sshfs me@srv: rw",
        "39 35 0:42 / /mnt/w rw - fuseblk /dev/sdb rw",
        "rubbish",
    ]
    assert network_mounts(lines) == ("/home/my net", "/mnt/s")
    info = tmp_path / "proc" / "self"
    info.mkdir(parents=True)
    (info / "mountinfo").write_text("\n".join(lines))
    (tmp_path / "mnt" / "s").mkdir(parents=True)
    machine = LocalMachine(tmp_path, {})
    assert machine.stat("/mnt/s").kind == "directory"


def test_a_process_is_looked_at_and_not_touched() -> None:
    own = look(os.getpid())
    assert own.alive
    assert own.executable is None or Path(own.executable).is_absolute()
    assert own.started is None or abs(own.started - time.time()) < 86_400 * 365
    assert not look(0).alive
    assert not look(2**40).alive
    child = subprocess.Popen(["/bin/sh", "-c", "exit 0"])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    try:
        assert not look(child.pid).alive
    finally:
        child.wait()


STARS = [
    ("a*", "abc", ("bc",)), ("*", "x", ("x",)), ("*", ".x", None), (".*", ".x", ("x",)), ("a*b*c", "axbyc", ("x", "y")),
    ("a*a", "a", None), ("ab", "ab", ()), ("ab", "ac", None), ("a?c", "abc", None), ("[a]*", "[a]b", ("b",)),
    ("*.exe", "a.exe.exe", ("a.exe",)), ("**", "xy", ("", "xy")),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "name", "stars"), STARS)
def test_a_star_matches_inside_one_segment(pattern: str, name: str, stars: tuple[str, ...] | None) -> None:
    assert matched(pattern, name) == stars


def test_a_pattern_of_many_stars_takes_no_time() -> None:
    started = time.process_time()
    assert matched("a*" * 60 + "b", "a" * 250) is None
    assert time.process_time() - started < 1


def test_matches_are_cut_off_and_say_so() -> None:
    machine = from_data({"directories": [f"/o/v{index}" for index in range(300)]})
    found = match_all(machine, "/o/v*/x")
    assert (len(found.paths), found.trouble) == (256, "too_many")
    assert found.paths[0] == "/o/v299/x"


EXPANDED = [
    ("linux", "~/x", "/home/me/x", ""), ("linux", "$A/x", "/a/x", ""), ("linux", "${A}/x", "/a/x", ""),
    ("linux", "/o/${A}", "/o//a", ""), ("linux", "$REL/x", "rel/x", "relative"),
    ("linux", "/$A$B", "//a$B", "refused_network"),
    ("linux", "~bob/x", "~bob/x", "other_account"), ("linux", "/x\0", "/x\0", "invalid_path"),
    ("win32", "%a%\\x", "C:\\A\\x", ""), ("win32", "%ProgramFiles(x86)%\\x", "C:\\P\\x", ""),
    ("win32", "\\\\?\\C:\\x", "C:\\x", ""), ("win32", "\\\\?\\UNC\\srv\\x", "\\\\?\\UNC\\srv\\x", "refused_network"),
    ("win32", "%SHARE%\\x", "\\\\srv\\x", "refused_network"), ("win32", "C:x", "C:x", "relative"),
    ("win32", "%DRIVE%\\x", "D:\\x", ""),
]  # fmt: skip
VARIABLES = {
    "linux": {"A": "/a", "REL": "rel"},
    "win32": {"A": "C:\\A\\", "ProgramFiles(x86)": "C:\\P", "SHARE": "\\\\srv", "DRIVE": "D:"},
}


@pytest.mark.parametrize(("platform", "text", "path", "reason"), EXPANDED)
def test_a_written_path_is_filled_in_and_checked_again(platform: str, text: str, path: str, reason: str) -> None:
    home = "/home/me" if platform == "linux" else "C:\\Users\\me"
    found = expand(from_data({"platform": platform, "home": home, "environment": VARIABLES[platform]}), text)
    assert (found.path, found.reason) == (path, reason)


REGISTRY_FILE = (
    'Windows Registry Editor Version 5.00\r\n\r\n'
    "[HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Windows\\CurrentVersion\\Uninstall\\V]\r\n"
    '"DisplayName"="Vendor \\"App\\""\r\n"DisplayVersion"="2.3"\r\n'
    '"InstallLocation"=hex(2):25,00,50,00,46,00,25,00,5c,00,56,00,00,\\\r\n  00\r\n'
    '"EstimatedSize"=dword:0000000a\r\n@="unnamed"\r\n"Skipped"=hex:01,02\r\n'
)  # fmt: skip


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_an_exported_registry_file_describes_a_machine(encoding: str) -> None:
    keys = windows.registry_export(REGISTRY_FILE.encode(encoding))
    machine = from_data({"platform": "win32", "registry": keys})
    entry = windows.uninstall_entries(machine)[0]
    assert (entry.name, entry.version, entry.folder) == ('Vendor "App"', "2.3", "%PF%\\V")
    values = next(iter(keys.values()))
    assert values["EstimatedSize"] == "10"
    assert values[""] == "unnamed"
    assert "Skipped" not in values


@pytest.mark.parametrize("data", [b"", b"\xff\xfe\x00", b"text", b"\x80\x81"])
def test_what_is_no_registry_file_is_told(data: bytes) -> None:
    with pytest.raises(InvalidInput):
        windows.registry_export(data)


@pytest.mark.parametrize("form", [plistlib.FMT_XML, plistlib.FMT_BINARY])
def test_a_real_property_list_is_read_in_both_forms(tmp_path: Path, form: Any) -> None:
    contents = tmp_path / "A.app" / "Contents"
    contents.mkdir(parents=True)
    (contents / "Info.plist").write_bytes(plistlib.dumps({"CFBundleShortVersionString": "4.2"}, fmt=form))
    machine = LocalMachine(environment={})
    assert macos.info(machine, str(tmp_path / "A.app"))["CFBundleShortVersionString"] == "4.2"
    assert macos.is_bundle(machine, str(tmp_path / "A.app"))


@pytest.mark.parametrize(
    "data", [b"", b"bplist00", b"<plist><dict>",
             b"<?xml version='1.0'?><!DOCTYPE p [<!ENTITY a 'b'>]><plist>&a;</plist>",
             b"<plist><array/></plist>", b"<plist>" + b"<array>" * 3000 + b"</array>" * 3000 + b"</plist>"]
)  # fmt: skip
def test_a_broken_property_list_cannot_be_read(data: bytes) -> None:
    machine = SimulatedMachine(platform="darwin")
    machine._files["/A.app/Contents/Info.plist"] = _file(data)
    with pytest.raises(CannotRead):
        macos.info(machine, "/A.app")


def _file(data: bytes) -> Any:
    from homeport.machine.simulated import SimulatedFile

    return SimulatedFile(data=data)


def pip_launchers() -> list[Path]:
    """The launchers that pip puts beside scripts on Windows; distributions take them out of pip itself."""
    import distlib

    return sorted(Path(str(distlib.__file__)).parent.glob("*.exe"))


def test_a_real_windows_program_is_read_on_any_host() -> None:
    launchers = pip_launchers()
    assert launchers
    machine = LocalMachine(environment={})
    for launcher in launchers:
        version = machine.pe_version(str(launcher))
        assert version is not None
        assert len(version.split(".")) == 4
        assert version == file_version(launcher.read_bytes())


def test_the_version_block_of_a_program_is_read() -> None:
    assert file_version(program_with_version(2, 3, 400, 5)) == "2.3.400.5"


def program_with_version(*words: int) -> bytes:
    """The smallest PE file with a version resource: headers, one `.rsrc` section, one fixed block."""
    import struct

    fixed = struct.pack("<13I", 0xFEEF04BD, 0x10000, words[0] << 16 | words[1], words[2] << 16 | words[3], *([0] * 9))
    key = "VS_VERSION_INFO".encode("utf-16-le") + b"\0\0"
    head = struct.pack("<3H", 0, len(fixed), 0) + key
    head += b"\0" * (-len(head) % 4)
    version = bytearray(head + fixed)
    version[0:2] = struct.pack("<H", len(version))
    base, levels = 0x1000, b""
    for identifier, offset in ((16, 0x80000018), (1, 0x80000030), (1033, 0x48)):
        levels += struct.pack("<IIHHHH", 0, 0, 0, 0, 0, 1) + struct.pack("<II", identifier, offset)
    data = levels + struct.pack("<4I", base + 0x58, len(version), 0, 0) + bytes(version)
    section = b".rsrc\0\0\0" + struct.pack("<IIIIIIHHI", len(data), base, 0x400, 0x200, 0, 0, 0, 0, 0x40000040)
    directories = [(0, 0)] * 16
    directories[2] = (base, len(data))
    optional = struct.pack("<HBBIIIII", 0x20B, 14, 0, 0, 0x400, 0, 0, 0x1000)
    optional += struct.pack("<QIIHHHHHHIIIIHH", 0x140000000, 0x1000, 0x200, 6, 0, 0, 0, 6, 0, 0, 0x2000, 0x200, 0, 3, 0)
    optional += struct.pack("<QQQQII", 0x100000, 0x1000, 0x100000, 0x1000, 0, 16)
    optional += b"".join(struct.pack("<II", *each) for each in directories)
    coff = struct.pack("<HHIIIHH", 0x8664, 1, 0, 0, 0, len(optional), 0x22)
    dos = b"MZ" + b"\0" * 58 + struct.pack("<I", 0x40)
    headers = dos + b"PE\0\0" + coff + optional + section
    return headers.ljust(0x200, b"\0") + data.ljust(0x400, b"\0")


@pytest.mark.parametrize("data", [b"", b"MZ", b"no program", b"MZ" + b"\xff" * 500])
def test_what_is_no_program_cannot_be_read(data: bytes, tmp_path: Path) -> None:
    file = tmp_path / "x.exe"
    file.write_bytes(data)
    with pytest.raises(CannotRead):
        LocalMachine(environment={}).pe_version(str(file))


METAINFO = [
    (b"<component><releases><release version='2.1' date='x'/><release version='2.0'/></releases></component>", "2.1"),
    (
        b"<component><releases><release type='development' version='3'/><release version='2'/></releases></component>",
        "2",
    ),
    (b"<component/>", None),
]


@pytest.mark.parametrize(("data", "version"), METAINFO)
def test_the_newest_release_of_a_metainfo_is_the_version(data: bytes, version: str | None) -> None:
    assert linux.metainfo_version(data) == version


@pytest.mark.parametrize("data", [b"", b"<a>", b"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", b"\xff"])
def test_a_metainfo_that_is_broken_or_declares_entities_cannot_be_read(data: bytes) -> None:
    with pytest.raises(CannotRead):
        linux.metainfo_version(data)


def test_versions_of_snaps_and_flatpaks_are_read() -> None:
    base = "/var/lib/flatpak"
    machine = from_data(
        {
            "files": {
                "/var/lib/snapd/snap/v/current/meta/snap.yaml": "name: v\nversion: '4.2' # x\n",
                f"{base}/app/a.b/current/active/files/share/appdata/a.b.appdata.xml": METAINFO[0][0].decode(),
            }
        }
    )
    assert linux.snap_version(machine, "v") == "4.2"
    assert linux.flatpak_version(machine, base, "a.b") == "2.1"
    for ask in (lambda: linux.snap_version(machine, "w"), lambda: linux.flatpak_version(machine, base, "c.d")):
        with pytest.raises(CannotRead):
            ask()


@pytest.mark.parametrize(
    ("text", "version"), [("1:2.3-4ubuntu1", "2.3"), ("2.3", "2.3"), ("2.3~rc1-1", "2.3~rc1"), ("2.3-rc1-1", "2.3-rc1")]
)
def test_a_debian_version_is_stripped_to_upstreams(text: str, version: str) -> None:
    assert linux.upstream_version(text) == version
