from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from tests.declarations.described import (
    APP_PATHS,
    UNINSTALL,
    UNINSTALL_32,
    UNINSTALL_USER,
    declared,
    found,
    on_linux,
    on_macos,
    on_windows,
    places,
    plist,
    reasons,
    row,
)

from homeport.declarations.availability import availability
from homeport.declarations.explain import explain
from homeport.declarations.locate import locate
from homeport.machine.local import LocalMachine


def vendor(file: str = "a.exe", prefix: str = "Vendor App") -> list[dict[str, Any]]:
    return [{"kind": "uninstall_registry", "display_name_prefix": prefix, "file": file}]


def entry(name: str = "Vendor App", **values: str) -> dict[str, str]:
    return {"DisplayName": name, **values}


PRESENCE = [
    pytest.param("linux", "/x", on_linux(files={"/x": {"executable": False}}), ["not_executable"], id="L-01"),
    pytest.param("linux", "/x", on_linux(directories=["/x"]), ["not_a_file"], id="L-02"),
    pytest.param("linux", "/x", on_linux(files={"/x": {"link": "/gone"}}), ["not_found"], id="L-03"),
    pytest.param("darwin", "/A.app", on_macos(directories=["/A.app/Contents"]), ["not_a_bundle"], id="L-04"),
    pytest.param("darwin", "/A.app", on_macos(files={"/A.app": "text"}), ["not_a_bundle"], id="L-05"),
    pytest.param("linux", "$UNSET/x", on_linux("/$UNSET/x"), ["unset_variable"], id="L-06"),
    pytest.param("linux", "%PF%/x", on_linux("/%PF%/x"), ["unset_variable"], id="L-07"),
    pytest.param("linux", "$EMPTY/x", on_linux("/x", environment={"EMPTY": ""}), ["unset_variable"], id="L-08"),
    pytest.param("win32", "%EMPTY%/v", on_windows(environment={"EMPTY": ""}), ["unset_variable"], id="L-09"),
    pytest.param("win32", "%SHARE%/v", on_windows(environment={"SHARE": "\\\\srv\\s"}), ["refused_network"], id="L-10"),
    pytest.param("win32", "%DD%/x", on_windows(environment={"DD": "C:\\a\\..\\b"}), ["refused_parent"], id="L-11"),
    pytest.param("linux", "/opt/50%/x", on_linux("/opt/50%/x"), ["found"], id="L-12-percent"),
    pytest.param("linux", "/opt/a$b/x", on_linux("/opt/a$b/x"), ["found"], id="L-12-dollar"),
    pytest.param("win32", "C:/a$$b/x", on_windows("C:/a$b/x"), ["found"], id="L-13"),
    pytest.param("linux", ["/a", "/b"], on_linux("/b"), ["not_found", "found"], id="L-15"),
    pytest.param("linux", ["/a", "/b"], on_linux("/a", "/b"), ["found", "found"], id="L-16"),
]


@pytest.mark.parametrize(("os_family", "location", "machine", "expected"), PRESENCE)
def test_a_place_says_what_is_there(os_family: str, location: Any, machine: Any, expected: list[str]) -> None:
    assert reasons(found(os_family, location, machine)) == expected


@row("L-03")
def test_the_trace_tells_where_a_broken_link_leads() -> None:
    machine = on_linux(files={"/x": {"link": "/gone"}})
    place = explain(declared("linux", "/x"), machine).as_dict()["places"][0]
    assert (place["reason"], place["present"]) == ("broken_link", False)
    assert "/gone" in place["detail"]


@pytest.mark.parametrize(
    ("os_family", "location", "environment"),
    [
        pytest.param("linux", "$UNSET/x", {}, id="L-06"),
        pytest.param("win32", "%EMPTY%/v", {"EMPTY": ""}, id="L-09"),
        pytest.param("win32", "%SHARE%/v", {"SHARE": "\\\\srv\\s"}, id="L-10"),
        pytest.param("win32", "%SHARE%/v", {"SHARE": "//srv/s"}, id="L-10-slashes"),
        pytest.param("win32", "%DEV%/v", {"DEV": "\\\\.\\pipe\\x"}, id="L-10-device"),
        pytest.param("win32", "%DD%/x", {"DD": "C:\\a\\..\\b"}, id="L-11"),
        pytest.param("linux", "$DD/x", {"DD": "relative"}, id="relative"),
        pytest.param("linux", "$DD/x", {"DD": "//srv/s"}, id="posix-network"),
    ],
)
def test_what_is_refused_after_expansion_is_never_asked_for(
    os_family: str, location: str, environment: dict[str, str]
) -> None:
    make = on_windows if os_family == "win32" else on_linux
    machine = make(environment=environment)
    assert not found(os_family, location, machine).found
    assert machine.reads.total() == 0


@row("L-14")
def test_another_account_is_not_looked_up() -> None:
    from homeport.machine.expansion import expand

    assert expand(on_linux(), "~nosuchuser/x").reason == "other_account"


@row("L-16")
def test_of_two_present_copies_the_first_is_taken() -> None:
    assert found("linux", ["/a", "/b"], on_linux("/a", "/b")).command == "/a"


ORDER = [
    pytest.param("Thing *", ["Thing 2.9", "Thing 2.10", "Thing 10.0b"], ["Thing 10.0b", "Thing 2.10"], id="L-17"),
    pytest.param("Blender *", ["Blender 5", "Blender 5.2"], ["Blender 5.2", "Blender 5"], id="L-18"),
    pytest.param("Blender *", ["Blender 5.2", "Blender LTS"], ["Blender 5.2", "Blender LTS"], id="L-19"),
    pytest.param("A *", ["A 5.2", "A 5.2b"], ["A 5.2", "A 5.2b"], id="L-20-b"),
    pytest.param("A *", ["A 5.2-rc1", "A 5.2"], ["A 5.2", "A 5.2-rc1"], id="L-20-rc"),
    pytest.param("A *", ["A 5.2", "A 5.2_1"], ["A 5.2_1", "A 5.2"], id="revision"),
    pytest.param("App *", ["App v3", "App 4"], ["App 4", "App v3"], id="leading-v"),
    pytest.param("A *", ["A 5.2 LTS", "A 5.2"], ["A 5.2", "A 5.2 LTS"], id="plainer-first"),
    pytest.param("A *", ["A 01.0", "A 1.0"], ["A 1.0", "A 01.0"], id="stable-tie"),
    pytest.param("App *", ["App ²", "App 1"], ["App 1", "App ²"], id="L-21"),
    pytest.param("*", ["t1", ".t2"], ["t1"], id="L-24"),
    pytest.param("v[1]*", ["v[1]x", "v1x"], ["v[1]x"], id="L-25"),
]


@pytest.mark.parametrize(("pattern", "folders", "expected"), ORDER)
def test_matches_are_tried_by_the_version_the_star_matched(
    pattern: str, folders: list[str], expected: list[str]
) -> None:
    machine = on_linux(*(f"/o/{folder}/x" for folder in folders))
    resolution = found("linux", f"/o/{pattern}/x", machine)
    assert [path.split("/")[2] for path, _ in places(resolution)][: len(expected)] == expected
    backwards = on_linux(*(f"/o/{folder}/x" for folder in reversed(folders)))
    assert places(found("linux", f"/o/{pattern}/x", backwards)) == places(resolution)


@row("L-22")
def test_no_match_is_an_absent_candidate_that_shows_the_pattern() -> None:
    resolution = found("linux", "/o/Thing */x", on_linux(directories=["/o"]))
    assert (places(resolution), reasons(resolution)) == ([("/o/Thing */x", False)], ["no_match"])


@row("L-23")
def test_a_higher_folder_without_the_file_is_told_and_the_next_is_tried() -> None:
    machine = on_linux("/o/T 1/x", directories=["/o/T 2"])
    assert places(found("linux", "/o/T */x", machine)) == [("/o/T 2/x", False), ("/o/T 1/x", True)]


def test_a_star_never_matches_across_a_slash_and_may_stand_in_every_segment() -> None:
    machine = on_windows("C:\\v\\App 2\\bin 3\\a.exe", "C:\\v\\App 1\\bin 9\\a.exe")
    assert [path for path, _ in places(found("win32", "C:\\v\\app *\\b*\\a.exe", machine))] == [
        "C:\\v\\App 2\\bin 3\\a.exe",
        "C:\\v\\App 1\\bin 9\\a.exe",
    ]
    assert not found("win32", "C:\\v\\*\\a.exe", machine).found


def test_a_nul_before_a_star_is_an_absent_place() -> None:
    assert reasons(found("linux", "/a\0b/*/x", on_linux())) == ["invalid_path"]


def test_a_folder_of_more_names_than_are_listed_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("homeport.machine.stars.MAX_NAMES", 10)
    for index in range(30):
        (tmp_path / f"v{index}").mkdir()
    machine = LocalMachine(environment={"HOME": "/nowhere"})
    resolution = found("linux", f"{tmp_path}/v*/x", machine)  # pyright: ignore[reportArgumentType]
    assert len(resolution.candidates) == 11
    assert resolution.candidates[-1].reason == "too_many"


COMMAND = [{"kind": "command", "name": "v"}]


@row("L-26")
def test_a_command_that_is_not_on_path_tells_the_folders_searched() -> None:
    resolution = found("linux", COMMAND, on_linux(environment={"PATH": "/usr/bin:/bin"}))
    assert places(resolution) == [("v", False)]
    assert "/usr/bin, /bin" in resolution.candidates[0].detail
    assert resolution.kind == "missing"


def test_a_command_is_found_on_path() -> None:
    resolution = found("linux", COMMAND, on_linux("/bin/v", environment={"PATH": "/usr/bin:/bin"}))
    assert (resolution.kind, resolution.command) == ("path_executable", "/bin/v")


@pytest.mark.parametrize(
    "path",
    [
        pytest.param("bin", id="L-27"),
        pytest.param("", id="L-28-empty"),
        pytest.param(":", id="L-28-entry"),
    ],
)
def test_relative_and_empty_path_entries_are_ignored(path: str) -> None:
    machine = on_linux("/bin/v", "/v", environment={"PATH": path})
    assert not found("linux", COMMAND, machine).found
    assert machine.reads.total() == 0


def test_a_windows_command_takes_each_ending_of_pathext_and_never_a_share() -> None:
    environment = {"Path": '\\\\srv\\bin;"C:\\Program Files\\V"', "PATHEXT": ".EXE;.CMD"}
    machine = on_windows("C:\\Program Files\\V\\v.cmd", "\\\\srv\\bin\\v.exe", environment=environment)
    assert found("win32", COMMAND, machine).command == "C:\\Program Files\\V\\v.CMD"


REGISTRY = [
    pytest.param({"A": entry(InstallLocation='"C:\\V"')}, ["C:\\V\\a.exe"], "C:\\V\\a.exe", id="L-29"),
    pytest.param({"A": entry(InstallLocation="%PF%\\V")}, ["C:\\P\\V\\a.exe"], "C:\\P\\V\\a.exe", id="L-30"),
    pytest.param({"A": entry(DisplayIcon="C:\\V\\a.exe,0")}, ["C:\\V\\a.exe"], "C:\\V\\a.exe", id="L-31-icon"),
    pytest.param(
        {"A": entry(UninstallString='"C:\\V\\unins.exe" /S')}, ["C:\\V\\a.exe"], "C:\\V\\a.exe", id="L-31-uninstaller"
    ),
    pytest.param({"A": entry(InstallLocation="\\\\srv\\V")}, [], None, id="L-32-network"),
    pytest.param({"A": entry(InstallLocation="\\\\?\\C:\\V")}, ["C:\\V\\a.exe"], "C:\\V\\a.exe", id="L-32-device"),
    pytest.param({"A": entry(InstallLocation="/\\srv\\V")}, ["/\\srv\\V\\a.exe"], None, id="L-33-mixed"),
    pytest.param({"A": entry(InstallLocation="\\/srv")}, ["\\/srv\\a.exe"], None, id="L-33-other"),
    pytest.param({"A": entry(InstallLocation="V")}, ["V\\a.exe"], None, id="L-34"),
    pytest.param(
        {"A": entry(InstallLocation="C:\\1"), "B": entry(InstallLocation="C:\\2")},
        ["C:\\2\\a.exe"],
        "C:\\2\\a.exe",
        id="L-35",
    ),
]


@pytest.mark.parametrize(("entries", "files", "expected"), REGISTRY)
def test_an_uninstall_entry_leads_to_its_program(
    entries: dict[str, dict[str, str]], files: list[str], expected: str | None
) -> None:
    registry = {f"{UNINSTALL}\\{name}": values for name, values in entries.items()}
    machine = on_windows(*files, registry=registry, environment={"PF": "C:\\P"})
    resolution = found("win32", vendor(), machine)
    assert resolution.command == expected
    if expected is None:
        assert machine.reads["stat"] == 0


@row("L-31")
def test_app_paths_help_when_an_entry_has_no_folder() -> None:
    registry = {f"{UNINSTALL}\\A": entry(), f"{APP_PATHS}\\a.exe": {"": '"C:\\Z\\a.exe"'}}
    resolution = found("win32", vendor(), on_windows("C:\\Z\\a.exe", registry=registry))
    assert resolution.command == "C:\\Z\\a.exe"
    assert reasons(resolution) == ["no_folder", "found"]


@row("L-36")
def test_a_windows_block_on_another_system_says_so_and_reads_nothing() -> None:
    machine = on_linux()
    answer = availability(declared("win32", vendor()), machine, os_family="win32")
    assert (answer.state, answer.path) == ("missing_app", None)
    assert "cannot be looked for from this machine" in answer.sentence
    assert machine.reads.total() == 0


@row("P-44")
def test_a_star_in_the_file_of_an_entry_is_a_star() -> None:
    registry = {f"{UNINSTALL}\\A": entry(InstallLocation="C:\\V")}
    machine = on_windows("C:\\V\\app-1.9\\a.exe", "C:\\V\\app-1.10\\a.exe", registry=registry)
    assert found("win32", vendor("app-*\\a.exe"), machine).command == "C:\\V\\app-1.10\\a.exe"


def test_entries_are_read_of_both_views_and_of_the_user() -> None:
    registry = {
        f"{UNINSTALL_USER}\\A": entry(InstallLocation="C:\\user"),
        f"{UNINSTALL_32}\\A": entry(InstallLocation="C:\\32"),
        f"{UNINSTALL}\\A": entry(InstallLocation="C:\\64"),
    }
    resolution = found("win32", vendor(), on_windows(registry=registry))
    assert [path for path, _ in places(resolution)] == ["C:\\64\\a.exe", "C:\\32\\a.exe", "C:\\user\\a.exe"]


FLATPAK = [{"kind": "flatpak", "app_id": "org.v.V"}]


@pytest.mark.parametrize(
    ("file", "environment"),
    [
        pytest.param("/home/me/.local/share/flatpak/exports/bin/org.v.V", {}, id="L-37"),
        pytest.param("/data/flatpak/exports/bin/org.v.V", {"XDG_DATA_HOME": "/data"}, id="L-37-xdg"),
        pytest.param("/mine/exports/bin/org.v.V", {"FLATPAK_USER_DIR": "/mine"}, id="L-37-user-dir"),
        pytest.param("/sys/exports/bin/org.v.V", {"FLATPAK_SYSTEM_DIR": "/sys"}, id="L-37-system-dir"),
    ],
)
def test_a_flatpak_is_found_in_either_installation(file: str, environment: dict[str, str]) -> None:
    assert found("linux", FLATPAK, on_linux(file, environment=environment)).command == file


@row("L-38")
def test_a_snap_is_found_below_either_root() -> None:
    machine = on_linux("/var/lib/snapd/snap/bin/v")
    resolution = found("linux", [{"kind": "snap", "name": "v"}], machine)
    assert places(resolution) == [("/snap/bin/v", False), ("/var/lib/snapd/snap/bin/v", True)]


@row("L-39")
def test_an_application_is_found_in_a_subfolder() -> None:
    machine = on_macos("/Applications/Sub/Vendor.app")
    resolution = found("darwin", [{"kind": "app_bundle", "name": "Vendor"}], machine)
    assert resolution.command == "/Applications/Sub/Vendor.app"
    assert places(resolution)[:3] == [
        ("/Applications/Vendor.app", False),
        ("/Users/me/Applications/Vendor.app", False),
        ("/System/Applications/Vendor.app", False),
    ]


@row("L-39")
def test_an_application_is_found_by_its_identifier() -> None:
    files = {"/Applications/Sub/Any.app/Contents/Info.plist": plist("1", CFBundleIdentifier="org.V.app")}
    machine = on_macos("/Applications/Other.app", files=files)
    resolution = found("darwin", [{"kind": "bundle_id", "id": "org.v.app"}], machine)
    assert places(resolution) == [("/Applications/Sub/Any.app", True)]


@row("L-40")
def test_an_alias_of_a_store_application_is_no_regular_file() -> None:
    alias = "C:\\Users\\me\\AppData\\Local\\Microsoft\\WindowsApps\\v.exe"
    machine = on_windows(files={alias: {"kind": "other"}})
    assert reasons(found("win32", alias, machine)) == ["not_a_file"]


def test_homebrew_is_searched_below_its_prefixes() -> None:
    machine = on_macos(
        files={
            "/opt/homebrew/Cellar/v/2.1/bin/v": {"executable": True},
            "/opt/homebrew/opt/v": {"link": "../Cellar/v/2.1"},
        }
    )
    location = [{"kind": "homebrew", "formula": "v"}]
    declaration = declared("darwin", location, presence="executable", version={"kind": "path"})
    answer = availability(declaration, machine)
    assert (answer.path, answer.version) == ("/opt/homebrew/opt/v/bin/v", "2.1")


def test_a_cask_is_found_in_the_caskroom_newest_first() -> None:
    machine = on_macos("/usr/local/Caskroom/v/1.9/V.app", "/usr/local/Caskroom/v/1.10/V.app")
    declaration = declared(
        "darwin", [{"kind": "homebrew_cask", "cask": "v", "file": "V.app"}], version={"kind": "path"}
    )
    assert availability(declaration, machine).version == "1.10"


DESKTOP = [{"kind": "desktop", "id": "org.v.V"}]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[Desktop Entry]\nTryExec=v\nExec=other %U\n", "/usr/bin/v"),
        ('[Desktop Entry]\nExec="/opt/v v/run" --x %U\n', "/opt/v v/run"),
        ("[Desktop Entry]\nExec=/usr/bin/v %U\n[Desktop Action new]\nExec=x\n", "/usr/bin/v"),
        ("[Desktop Entry]\nExec=/usr/bin/v\nHidden=true\n", None),
        ("[Desktop Entry]\nName=V\n", None),
        ("[Desktop Entry]\nExec=//srv/v\n", None),
        ("[Desktop Entry]\nExec=../v\n", None),
    ],
)
def test_a_desktop_file_names_the_program(text: str, expected: str | None) -> None:
    machine = on_linux(
        "/usr/bin/v",
        "/opt/v v/run",
        files={"/home/me/.local/share/applications/org.v.V.desktop": text},
        environment={"PATH": "/usr/bin"},
    )
    assert found("linux", DESKTOP, machine).command == expected


def test_a_desktop_file_is_looked_for_in_the_data_directories() -> None:
    file = "/share/applications/org.v.V.desktop"
    machine = on_linux(
        "/v", files={file: "[Desktop Entry]\nExec=/v\n"}, environment={"XDG_DATA_DIRS": "relative:/share:"}
    )
    assert found("linux", DESKTOP, machine).command == "/v"


DPKG_STATUS = """Package: other
Status: install ok installed
Version: 9

Package: v
Status: install ok installed
Architecture: amd64
Version: 1:2.3.0+dfsg-4ubuntu1

Package: gone
Status: deinstall ok config-files
Version: 1
"""


@pytest.mark.parametrize(
    ("package", "expected", "version"), [("v", "/usr/bin/v", "2.3.0+dfsg"), ("gone", None, None), ("none", None, None)]
)
def test_a_package_of_the_dpkg_database_names_its_program(
    package: str, expected: str | None, version: str | None
) -> None:
    machine = on_linux(
        "/usr/bin/v",
        "/usr/bin/v-tool",
        files={
            "/var/lib/dpkg/status": DPKG_STATUS,
            "/var/lib/dpkg/info/v:amd64.list": "/.\n/usr\n/usr/bin\n/usr/bin/v-tool\n/usr/bin/v\n",
        },
    )
    declaration = declared("linux", [{"kind": "dpkg", "package": package}], version={"kind": "dpkg"})
    answer = availability(declaration, machine)
    assert answer.version == version
    assert (answer.path if answer.offerable else None) == expected


def test_a_user_says_where_an_application_is() -> None:
    machine = on_linux("/mine/v", "/x", environment={"HOMEPORT_APP_THING": "/mine/v"})
    resolution = found("linux", "/x", machine)
    assert places(resolution) == [("/mine/v", True), ("/x", True)]
    assert resolution.candidates[0].source == "app:thing:override"
    refused = on_linux("/x", environment={"HOMEPORT_APP_THING": "//srv/v"})
    assert reasons(found("linux", "/x", refused)) == ["refused_network", "found"]


def test_sources_and_kinds_are_named_as_published() -> None:
    machine = on_linux("/x", "/bin/v", environment={"PATH": "/bin"})
    resolution = found("linux", [*COMMAND, "/x"], machine)
    assert [candidate.source for candidate in resolution.candidates] == ["app:thing:command", "app:thing"]
    assert resolution.kind == "path_executable"
    assert found("linux", ["/x", *COMMAND], machine).kind == "known_path"


def test_a_real_file_tree_is_read_as_if_it_were_the_whole_disk(tmp_path: Path) -> None:
    (tmp_path / "opt" / "v-2").mkdir(parents=True)
    program = tmp_path / "opt" / "v-2" / "v"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    (tmp_path / "usr" / "bin").mkdir(parents=True)
    (tmp_path / "etc").mkdir()
    (tmp_path / "usr" / "bin" / "v").symlink_to("/etc/alternatives-v")
    (tmp_path / "etc" / "alternatives-v").symlink_to("../../../opt/v-2/v")
    machine = LocalMachine(tmp_path, {"PATH": "/usr/bin", "HOME": "/home/me"})
    app = declared("linux", [*COMMAND, "/opt/v-*/v", "/usr/bin/sh"]).app_for("linux")
    assert app is not None
    resolution = locate(app, machine)
    assert places(resolution) == [("/usr/bin/v", True), ("/opt/v-2/v", True), ("/usr/bin/sh", False)]


def test_a_fifo_is_no_program_and_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x", 0o755)
    machine = LocalMachine(environment={})
    app = declared("linux", str(tmp_path / "x")).app_for("linux")
    assert app is not None
    assert reasons(locate(app, machine)) == ["not_a_file"]
