from __future__ import annotations

import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.declarations.described import (
    UNINSTALL,
    declared,
    on_linux,
    on_macos,
    on_windows,
    plist,
    row,
)

from homeport.calls.gate import Gate
from homeport.calls.roster import Entry
from homeport.declarations.availability import availability, evaluate
from homeport.declarations.explain import explain
from homeport.declarations.model import OFFERABLE, Availability, Declaration
from homeport.declarations.parse import parse_declaration
from homeport.ground.limits import DEFAULT
from homeport.machine.local import LocalMachine
from homeport.machine.simulated import SimulatedMachine, from_data

APP = "/A.app"


def on_mac_with(*versions: Any) -> SimulatedMachine:
    """Copies /A.app, /B.app, … that state these versions."""
    files = {
        f"/{chr(65 + index)}.app/Contents/Info.plist": version if isinstance(version, dict | str) else plist(version)
        for index, version in enumerate(versions)
    }
    return from_data({"platform": "darwin", "home": "/Users/me", "files": files})


def mac_app(count: int = 1, minimum: str | None = None, **requires: Any) -> Declaration:
    wanted = {"app": True, **requires} | ({} if minimum is None else {"min_version": minimum})
    return declared("darwin", [f"/{chr(65 + index)}.app" for index in range(count)], wanted, version={"kind": "plist"})


def drm(*ids: str) -> dict[str, str]:
    return {f"/sys/class/drm/card{index}/device/vendor": f"0x{text}\n" for index, text in enumerate(ids)}


@pytest.mark.parametrize("platform", [pytest.param("freebsd14", id="V-01"), "linux"])
def test_what_needs_nothing_reads_nothing(platform: str) -> None:
    machine = SimulatedMachine(platform=platform)
    answer = availability(parse_declaration("thing"), machine)
    assert answer.as_dict() == {"state": "no_requirements", "version": None, "path": None, "min_version": None}
    assert answer.offerable
    assert machine.reads.total() == 0


@pytest.mark.parametrize(
    "requires", [pytest.param({"app": True}, id="V-02"), pytest.param({"app": True, "gpu": "nvidia"}, id="V-03")]
)
@pytest.mark.parametrize("ask", [availability, lambda *given: explain(*given).evaluation.availability])
def test_an_undeclared_system_is_told_without_a_read(requires: Any, ask: Any) -> None:
    machine = on_linux("/x", files=drm("8086"))
    answer = ask(declared("win32", "C:/x/y.exe", requires), machine)
    assert (answer.state, answer.path) == ("unsupported_os", None)
    assert machine.reads.total() == 0


@pytest.mark.parametrize(
    ("files", "directories", "verified"),
    [
        pytest.param(drm("10de"), [], True, id="V-04-nvidia"),
        pytest.param({}, [], False, id="V-04-unknown"),
    ],
)
def test_a_gpu_that_is_here_or_cannot_be_read_passes(files: Any, directories: Any, verified: bool) -> None:
    answer = availability(
        parse_declaration("thing", raw_requires={"gpu": "nvidia"}), on_linux(files=files, directories=directories)
    )
    assert answer.state == "no_requirements"
    assert [each.facet for each in answer.unverified] == ([] if verified else ["gpu"])


@pytest.mark.parametrize(
    "machine",
    [
        pytest.param(on_linux(files=drm("8086")), id="V-05-intel"),
        pytest.param(on_linux(files=drm("1002")), id="V-05-amd"),
        pytest.param(on_linux(directories=["/sys/class/drm"]), id="V-05-none"),
        pytest.param(on_macos(architecture="arm64"), id="V-05-apple"),
    ],
)
def test_another_gpu_or_none_is_unsupported(machine: SimulatedMachine) -> None:
    answer = availability(parse_declaration("thing", raw_requires={"gpu": "nvidia"}), machine)
    assert answer.state == "unsupported_gpu"
    assert answer.sentence == "thing needs an NVIDIA GPU; none was found on this machine."
    assert answer.remedy == "Use thing on a machine with an NVIDIA GPU."


def test_one_of_several_gpus_is_enough() -> None:
    declaration = parse_declaration("thing", raw_requires={"gpu": ["nvidia", "amd"]})
    assert availability(declaration, on_linux(files=drm("1002"))).offerable
    assert "an NVIDIA GPU or an AMD GPU" in availability(declaration, on_linux(files=drm("8086"))).sentence


@row("V-06")
def test_the_first_unmet_need_decides_and_explain_tells_all() -> None:
    declaration, machine = declared("linux", "/x", {"app": True, "gpu": "nvidia"}), on_linux(files=drm("8086"))
    answer = availability(declaration, machine)
    assert (answer.state, len(answer.unmet)) == ("unsupported_gpu", 1)
    assert "/x" not in machine.asked
    trace = explain(declaration, machine).evaluation.availability
    assert trace.state == "unsupported_gpu"
    assert [unmet.code for unmet in trace.unmet] == ["unsupported_gpu", "missing_app"]
    assert trace.path is None


@row("V-07")
def test_a_missing_application_names_its_first_place_and_counts_the_others() -> None:
    answer = availability(declared("linux", ["/a", "/b", "$U/c"]), on_linux())
    assert (answer.state, answer.path) == ("missing_app", "/a")
    assert answer.sentence == "thing is not installed: looked at /a and 2 more places."
    places = explain(declared("linux", ["/a", "/b", "$U/c"]), on_linux()).as_dict()["places"]
    assert [place["path"] for place in places] == ["/a", "/b", "$U/c"]


READ = [
    pytest.param(plist("9.8.7"), "9.8.7", id="V-09"),
    pytest.param("broken", None, id="V-10"),
    pytest.param(plist(CFBundleVersion="45"), "45", id="V-13"),
    pytest.param(plist("", CFBundleVersion="45"), "45", id="V-14"),
    pytest.param({"plist": [1]}, None, id="V-15"),
    pytest.param(plist(2.4), "2.4", id="V-16"),
]


@pytest.mark.parametrize(("info", "version"), READ)
def test_without_a_minimum_a_version_is_told_when_it_can_be_read(info: Any, version: str | None) -> None:
    answer = availability(mac_app(), on_mac_with(info))
    assert answer == Availability("available", version, APP)
    trace = explain(mac_app(), on_mac_with(info)).as_dict()
    assert version is not None or trace["places"][0]["version"]["detail"]


@row("V-08")
def test_without_a_source_there_is_no_version() -> None:
    assert availability(declared("linux", "/x"), on_linux("/x")) == Availability("available", None, "/x")


NEEDED = [
    pytest.param("broken", "2.3.0", "version_unreadable", None, id="V-11"),
    pytest.param(plist("2.2.9"), "2.3.0", "version_too_old", "2.2.9", id="V-12-old"),
    pytest.param(plist("2.3.0"), "2.3.0", "available", "2.3.0", id="V-12"),
    pytest.param({"plist": [1]}, "2.3.0", "version_unreadable", None, id="V-15"),
    pytest.param(plist("2.3.0 (1234)"), "2.3", "available", "2.3.0 (1234)", id="V-17"),
    pytest.param(plist("2.3.0-beta"), "2.3.0", "version_too_old", "2.3.0-beta", id="V-18"),
    pytest.param(plist("2.3.0-beta"), "2.2.9", "available", "2.3.0-beta", id="V-18-older"),
    pytest.param(plist("v2.3"), "2.3", "available", "v2.3", id="V-19"),
    pytest.param(plist("2,3,0,1"), "2.3", "available", "2,3,0,1", id="V-20"),
    pytest.param(plist("2.3.0.12594"), "2.3.0", "available", "2.3.0.12594", id="V-21"),
    pytest.param(plist("2.3"), "2.3.0", "available", "2.3", id="V-22"),
    pytest.param(plist("2.3.0"), "2.3", "available", "2.3.0", id="V-22-longer"),
    pytest.param(plist("2.10"), "2.9", "available", "2.10", id="V-23"),
    pytest.param(plist("02.3"), "2.3", "available", "02.3", id="V-24"),
    pytest.param(plist("1234567890.1"), "2.3", "available", "1234567890.1", id="V-25"),
    pytest.param(plist("latest"), "2.3", "version_unreadable", "latest", id="no-digits"),
]


@pytest.mark.parametrize(("info", "minimum", "state", "version"), NEEDED)
def test_a_minimum_is_met_or_the_reason_told(info: Any, minimum: str, state: Any, version: str | None) -> None:
    answer = availability(mac_app(minimum=minimum), on_mac_with(info))
    assert answer == Availability(state, version, APP, minimum)
    assert answer.sentence
    assert bool(answer.remedy) is (state != "available")


COPIES = [
    pytest.param([plist("1.0"), plist("2.4")], "available", "2.4", "/B.app", id="V-26"),
    pytest.param([plist("2.4"), plist("3.0")], "available", "2.4", "/A.app", id="V-27"),
    pytest.param([plist("1.0"), plist("1.5")], "version_too_old", "1.5", "/B.app", id="V-28"),
    pytest.param(["broken", plist("1.0")], "version_too_old", "1.0", "/B.app", id="V-29"),
    pytest.param([plist("2.0-beta")], "version_too_old", "2.0-beta", "/A.app", id="V-30"),
]


@pytest.mark.parametrize(("infos", "state", "version", "path"), COPIES)
def test_the_first_copy_that_meets_the_minimum_is_taken_else_the_newest_is_told(
    infos: list[Any], state: Any, version: str, path: str
) -> None:
    answer = availability(mac_app(len(infos), "2.0"), on_mac_with(*infos))
    assert answer == Availability(state, version, path, "2.0")


def vendor(minimum: str | None = None, prefix: str = "Vendor App", location: Any = None) -> Declaration:
    location = location or [{"kind": "uninstall_registry", "display_name_prefix": prefix, "file": "a.exe"}]
    version = {"kind": "uninstall_registry", "display_name_prefix": prefix}
    return declared("win32", location, {"app": True} | ({"min_version": minimum} if minimum else {}), version=version)


def entries(*entries: tuple[str, str, str]) -> dict[str, dict[str, str]]:
    names = ("DisplayName", "DisplayVersion", "InstallLocation")
    return {
        f"{UNINSTALL}\\{index}": {name: text for name, text in zip(names, each, strict=True) if text}
        for index, each in enumerate(entries)
    }


@row("V-31")
def test_each_copy_has_the_version_of_its_own_entry() -> None:
    registry = entries(("Vendor App", "1.0", "C:\\1"), ("Vendor App", "3.0", "C:\\2"))
    machine = on_windows("C:\\1\\a.exe", "C:\\2\\a.exe", registry=registry)
    assert availability(vendor("2.0"), machine) == Availability("available", "3.0", "C:\\2\\a.exe", "2.0")
    by_path = vendor("2.0", location=["C:\\1\\a.exe", "C:\\2\\a.exe"])
    assert availability(by_path, machine) == Availability("available", "3.0", "C:\\2\\a.exe", "2.0")


@row("V-32")
def test_a_sibling_product_does_not_speak_for_this_one() -> None:
    registry = entries(("Vendor App Beta", "1.0", "C:\\1"), ("Vendor App", "3.0", "C:\\2"), ("Vendor Apple", "9", ""))
    machine = on_windows("C:\\1\\a.exe", "C:\\2\\a.exe", registry=registry)
    assert availability(vendor("2.0"), machine) == Availability("available", "3.0", "C:\\2\\a.exe", "2.0")
    assert availability(vendor("2.0", location="C:\\Q\\a.exe"), on_windows("C:\\Q\\a.exe", registry=registry)) == (
        Availability("available", "3.0", "C:\\Q\\a.exe", "2.0")
    )


@row("V-33")
def test_an_entry_without_a_version_does_not_end_the_search() -> None:
    registry = entries(("Vendor App", "", "C:\\1"), ("Vendor App (x64)", "3.0", ""))
    machine = on_windows("C:\\1\\a.exe", registry=registry)
    assert availability(vendor("2.0"), machine) == Availability("available", "3.0", "C:\\1\\a.exe", "2.0")


@row("V-34")
def test_the_name_is_matched_in_any_case() -> None:
    machine = on_windows("C:\\1\\a.exe", registry=entries(("VENDOR app", "3.0", "C:\\1")))
    assert availability(vendor("2.0"), machine).offerable


@row("V-35")
def test_a_program_states_its_version_on_any_host() -> None:
    declaration = declared("win32", "C:/x/y.exe", {"app": True, "min_version": "2.3"}, version={"kind": "pe_resource"})
    machine = on_windows(files={"C:\\x\\y.exe": {"pe_version": "2.3.0.1"}})
    assert availability(declaration, machine) == Availability("available", "2.3.0.1", "C:/x/y.exe", "2.3")
    without = on_windows("C:\\x\\y.exe")
    assert availability(declaration, without).state == "version_unreadable"


@row("V-36")
def test_a_minimum_that_linux_cannot_check_is_flagged() -> None:
    app = {
        "linux": {"presence": "executable", "location": "/x"},
        "darwin": {"presence": "bundle", "location": "/A.app", "version": {"kind": "plist"}},
    }
    declaration = parse_declaration("thing", raw_app=app, raw_requires={"app": True, "min_version": "2"})
    answer = availability(declaration, on_linux("/x"))
    assert answer == Availability("available", None, "/x", "2")
    assert [each.facet for each in answer.unverified] == ["version"]


@row("V-37")
def test_an_answer_has_no_truth_value() -> None:
    with pytest.raises(TypeError):
        bool(Availability("available"))


@row("V-38")
def test_another_systems_block_is_not_inspectable_from_here() -> None:
    machine = on_linux("C:/x/y.exe")
    answer = availability(declared("win32", "C:/x/y.exe"), machine, os_family="win32")
    assert answer.state == "missing_app"
    assert "Windows" in answer.sentence
    assert "machine with Windows" in answer.remedy
    assert machine.reads.total() == 0


@row("V-39")
def test_an_app_block_alone_requires_nothing() -> None:
    machine = on_linux()
    assert availability(declared("linux", "/x", {}), machine).state == "no_requirements"
    assert machine.reads.total() == 0


@row("V-40")
def test_an_absence_counts_as_soon_as_the_facts_are_read_again() -> None:
    now = [0.0]
    machine = on_linux("/x")
    gate = Gate(machine, availability, lambda: now[0])
    entry = Entry("thing", "command", None, None, declaration=declared("linux", "/x"), trusted=True)
    assert gate.check(entry) is None
    machine._files.clear()
    now[0] = DEFAULT.facts_max_age
    withheld = gate.check(entry)
    assert withheld is not None
    assert withheld.detail == "missing_app"


@row("S-14", "S-15")
def test_only_a_declaration_withholds_a_server_for_its_application() -> None:
    gate = Gate(on_linux(), availability, lambda: 0.0)
    assert gate.check(Entry("thing", "command", None, None, trusted=True)) is None
    withheld = gate.check(Entry("thing", "command", None, None, declaration=declared("linux", "/x"), trusted=True))
    assert withheld is not None
    assert withheld.sentence == "thing is not installed: looked at /x."


@row("S-20")
def test_a_server_that_declares_nothing_needs_nothing() -> None:
    assert parse_declaration("thing", raw_app=None, raw_requires=None).requires_app is False


RANGES = [
    (">=4.2,<6", "5.1", "available", ""),
    (">=4.2,<6", "6.0", "version_too_old", "is too new"),
    (">=4.2,<6", "6.0-beta", "version_too_old", "is too new"),
    (">=4.2,<6", "4.1", "version_too_old", "is too old"),
    (">4.2", "4.2_1", "version_too_old", "is too old"),
    ("==4.2", "4.2.0 (9)", "available", ""),
    ("!=4.2", "4.2", "version_too_old", "is too old"),
]


@pytest.mark.parametrize(("wanted", "version", "state", "text"), RANGES)
def test_a_range_is_met_or_said_which_way_it_is_missed(wanted: str, version: str, state: str, text: str) -> None:
    answer = availability(mac_app(version=wanted), on_mac_with(plist(version)))
    assert answer.state == state
    assert text in answer.sentence


def test_a_title_and_a_homepage_are_shown() -> None:
    app = {
        "title": "Vendor Studio",
        "homepage": "https://vendor.example/get",
        "linux": {"presence": "executable", "location": "/x"},
    }
    answer = availability(parse_declaration("thing", raw_app=app, raw_requires={"app": True}), on_linux())
    assert answer.sentence == "Vendor Studio is not installed: looked at /x."
    assert "Install Vendor Studio from https://vendor.example/get" in answer.remedy


@row("S-25")
def test_an_undeclared_system_is_not_told_to_install_anything() -> None:
    answer = availability(declared("win32", "C:/x/y.exe"), on_linux())
    assert answer.sentence == "thing is not available on Linux: it is declared for Windows only."
    assert "nstall" not in answer.remedy


class Published:
    """What the published interface asks of a declaration, and no more."""

    requires_app = True
    min_version = None
    required_gpu = None

    @staticmethod
    def app_for(os_family: str) -> Any:
        return declared("linux", "/x").app_for(os_family)


def test_anything_with_the_four_published_views_can_be_evaluated() -> None:
    assert availability(Published(), on_linux("/x")) == Availability("available", None, "/x")


def test_an_evaluation_starts_no_process_and_opens_no_connection() -> None:
    seen: list[str] = []
    watching = [True]

    def hook(event: str, _: Any) -> None:
        if watching[0] and event.split(".", maxsplit=1)[0] in {"subprocess", "socket", "os"} and event not in HARMLESS:
            seen.append(event)

    sys.addaudithook(hook)
    location = ["/opt/*/x", "~/x", {"kind": "command", "name": "sh"}, {"kind": "flatpak", "app_id": "a.b"}]
    location += [{"kind": "desktop", "id": "a.b"}, {"kind": "dpkg", "package": "dash"}, {"kind": "snap", "name": "v"}]
    declaration = declared("linux", location, {"app": True, "gpu": "nvidia"}, version={"kind": "dpkg"})
    explain(declaration, LocalMachine())
    watching[0] = False
    assert seen == []


HARMLESS = {"os.listdir", "os.scandir", "os.putenv", "os.unsetenv"}

FILES = st.dictionaries(
    st.sampled_from(["/a", "/o/v 1/x", "/o/v 2.0/x", "/bin/v", "/sys/class/drm/card0/device/vendor", "/a/b"]),
    st.sampled_from(["", "0x10de\n", "0x8086\n", "text"]),
)


@settings(max_examples=200, deadline=None)
@given(FILES, st.booleans(), st.sampled_from([(), ("nvidia",), ("amd", "intel")]))
def test_an_evaluation_is_total_and_gives_the_same_answer_again(
    files: dict[str, str], app: bool, vendors: tuple[str, ...]
) -> None:
    location = ["/a", "/o/v */x", {"kind": "command", "name": "v"}]
    block = {"linux": {"presence": "executable", "location": location, "version": {"kind": "path"}}}
    requires = {"app": app, **({"gpu": list(vendors)} if vendors else {})}
    declaration = parse_declaration("thing", raw_app=block, raw_requires=requires)
    machine = on_linux(files=files, environment={"PATH": "/bin"})
    answer = availability(declaration, machine)
    assert answer == availability(declaration, machine)
    assert answer.offerable is (answer.state in OFFERABLE)
    assert answer.offerable is (not answer.unmet)
    assert bool(answer.remedy) is not answer.offerable
    assert answer == evaluate(declaration, machine, thorough=True).availability
