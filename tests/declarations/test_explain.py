from __future__ import annotations

import json

from tests.declarations.described import declared, on_linux, on_windows

from homeport.declarations.explain import explain


def test_the_trace_is_json_and_text_with_the_home_shortened() -> None:
    machine = on_linux("/home/me/apps/x-2/x", files={"/home/me/bin/x": {"executable": False}})
    location = ["~/bin/x", "~/apps/x-*/x", "$NONE/x"]
    declaration = declared("linux", location, {"app": True, "min_version": "1"}, version={"kind": "path"})
    trace = explain(declaration, machine)
    data = json.loads(json.dumps(trace.as_dict()))
    assert (data["state"], data["path"], data["version"]) == ("available", "~/apps/x-2/x", "2")
    assert [(place["path"], place["reason"]) for place in data["places"]] == [
        ("~/bin/x", "not_executable"),
        ("~/apps/x-2/x", "found"),
        ("$NONE/x", "unset_variable"),
    ]
    assert data["places"][0]["remedy"] == "make the file executable for this user"
    assert data["places"][1]["version"] == {"state": "present", "value": "2", "detail": "", "meets": True}
    text = trace.text()
    assert "/home/me" not in text
    assert "the variable NONE is not set" in text
    assert text.splitlines()[0] == "thing: available"


def test_the_home_is_shortened_in_any_case_on_windows() -> None:
    machine = on_windows(environment={"LOCALAPPDATA": "c:\\users\\ME\\AppData"})
    trace = explain(declared("win32", "%LOCALAPPDATA%\\x.exe"), machine)
    assert trace.as_dict()["places"][0]["path"] == "~\\AppData\\x.exe"


def test_the_evidence_of_a_gpu_is_told() -> None:
    machine = on_linux("/x", files={"/sys/class/drm/card0/device/vendor": "0x8086\n"})
    trace = explain(declared("linux", "/x", {"app": True, "gpu": "nvidia"}), machine)
    assert trace.as_dict()["gpu"] == {
        "wanted": ["nvidia"],
        "class": "intel",
        "vendors": ["intel"],
        "known": True,
        "evidence": ["/sys/class/drm/card0/device/vendor: 0x8086"],
    }
    assert "GPU: intel" in trace.text()
