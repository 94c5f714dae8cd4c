from __future__ import annotations

import json
from typing import Any

import pytest
from tests.declarations.described import declared, on_linux, on_windows, row

from homeport.declarations.availability import availability
from homeport.declarations.parse import DeclarationError, parse_declaration
from homeport.declarations.readiness import Readiness, readiness
from homeport.declarations.status import install_refusal, install_warning, status


def drm(vendor: str) -> dict[str, Any]:
    return {"files": {"/sys/class/drm/card0/device/vendor": f"{vendor}\n"}}


BLENDER = parse_declaration("blender", raw_requires={"gpu": "nvidia"})
WITH_FILE = parse_declaration(
    "thing",
    raw_app={
        "linux": {
            "presence": "executable",
            "location": "/v",
            "liveness": {"kind": "server_json", "path": "/run/v.json"},
        }
    },
    raw_requires={"app": True},
)


@row("S-23")
def test_an_installing_verb_refuses_a_gpu_that_is_not_here() -> None:
    answer = availability(BLENDER, on_linux(**drm("0x8086")))
    refused = install_refusal(BLENDER, answer)
    assert refused is not None
    assert refused.message == "blender is unavailable: unsupported_gpu, needs an NVIDIA GPU."
    assert refused.remedy == "Use blender on a machine with an NVIDIA GPU."
    assert install_warning(BLENDER, answer) == ""


def test_an_installing_verb_refuses_another_system() -> None:
    declaration = declared("win32", "C:/x.exe")
    refused = install_refusal(declaration, availability(declaration, on_linux()))
    assert refused is not None
    assert refused.message == "thing is unavailable: unsupported_os, needs Windows."


@row("S-22")
def test_an_installing_verb_warns_of_a_missing_application_and_says_where_it_looked() -> None:
    declaration = declared("linux", "/x")
    answer = availability(declaration, on_linux())
    assert install_refusal(declaration, answer) is None
    warning = install_warning(declaration, answer)
    assert warning.startswith("thing will not be offered yet: thing is not installed: looked at /x.")
    assert install_warning(declaration, availability(declaration, on_linux("/x"))) == ""


def test_the_status_of_a_registered_server_names_the_gpu() -> None:
    told = status(BLENDER, availability(BLENDER, on_linux(**drm("0x8086"))), Readiness("not_declared"), connected=False)
    assert told.text == (
        "blender needs an NVIDIA GPU; none was found on this machine. Use blender on a machine with an NVIDIA GPU."
    )
    assert told.retry == "never_here"


@row("S-25")
def test_another_system_is_told_as_such() -> None:
    declaration = declared("linux", "/x")
    told = status(declaration, availability(declaration, on_windows()), Readiness("not_declared"), connected=False)
    assert (told.code, told.retry) == ("unsupported_os", "never_here")
    assert told.reason == "thing is not available on Windows: it is declared for Linux only."


STATES = [
    ({"pid": 40}, False, "app_not_running", "Start thing."),
    ({"pid": 41, "http": "https://x"}, False, "endpoint_unavailable", "Open thing and switch on its local connection."),
    ({"pid": 41, "http": "http://127.0.0.1:9"}, False, "not_connected", "Run `homeport restart thing`."),
    ({"pid": 41, "http": "http://127.0.0.1:9"}, True, "connected", ""),
]


@pytest.mark.parametrize(("content", "connected", "code", "action"), STATES)
def test_what_is_missing_comes_before_what_does_not_run_and_that_before_the_connection(
    content: dict[str, Any], connected: bool, code: str, action: str
) -> None:
    machine = on_linux("/v", files={"/run/v.json": {"text": json.dumps(content)}}, processes={"41": {}})
    told = status(WITH_FILE, availability(WITH_FILE, machine), readiness(WITH_FILE, machine), connected=connected)
    assert (told.code, told.action) == (code, action)
    missing = on_linux()
    told = status(WITH_FILE, availability(WITH_FILE, missing), readiness(WITH_FILE, missing), connected=connected)
    assert told.code == "missing_app"


@row("S-19")
def test_a_liveness_stands_in_an_app_block_and_nowhere_else() -> None:
    with pytest.raises(DeclarationError, match=r"requires\.liveness is an unknown key"):
        parse_declaration("thing", raw_requires={"liveness": {"kind": "server_json"}})


@row("S-21")
def test_a_liveness_without_a_path_is_an_error_when_it_is_read() -> None:
    block = {"presence": "executable", "location": "/v", "liveness": {"kind": "server_json"}}
    with pytest.raises(DeclarationError, match=r"liveness\.path is required"):
        parse_declaration("thing", raw_app={"linux": block})
