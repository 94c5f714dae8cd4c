from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.declarations.described import on_linux, on_windows, row

from homeport.declarations.model import Declaration
from homeport.declarations.parse import parse_declaration
from homeport.declarations.readiness import Readiness, gated, live_endpoint, readiness
from homeport.ground.errors import Unavailable
from homeport.ground.secrets import Secret
from homeport.machine.local import LocalMachine
from homeport.machine.loopback import Endpoint, endpoint, initialize_status
from homeport.machine.protocol import ProcessFact
from homeport.machine.simulated import SimulatedMachine

FILE = "/run/me/v.json"


def thing(os_family: str = "linux", path: str = FILE, running: bool = False, **liveness: Any) -> Declaration:
    location = "C:/v.exe" if os_family == "win32" else "/v"
    block = {
        "presence": "executable",
        "location": location,
        "liveness": {"kind": "server_json", "path": path, **liveness},
    }
    return parse_declaration("thing", raw_app={os_family: block}, raw_requires={"app": True, "running": running})


def machine(content: Any, **rest: Any) -> SimulatedMachine:
    text = content if isinstance(content, str) else json.dumps(content)
    described = {"text": text, "mode": 0o600, "owner": 1000, "modified": 1000, **rest.pop("file", {})}
    processes = rest.pop("processes", {"41": {"executable": "/v", "started": 500}})
    return on_linux("/v", files={FILE: described}, processes=processes, user_id=1000, **rest)


GOOD = {"pid": 41, "http": "http://127.0.0.1:9000/x", "token": "secret-token"}

FILES = [
    pytest.param(on_linux("/v"), "app_not_running", id="R-01-missing"),
    pytest.param(machine("no json"), "app_not_running", id="R-01-text"),
    pytest.param(machine("[1]"), "app_not_running", id="R-01-list"),
    pytest.param(machine("\ufeff" + json.dumps(GOOD)), "running", id="R-01-mark"),
    pytest.param(machine({**GOOD, "pid": True}), "app_not_running", id="R-02"),
    pytest.param(machine({**GOOD, "pid": 2**40}), "app_not_running", id="R-03"),
    pytest.param(machine({**GOOD, "pid": "41"}), "app_not_running", id="R-04"),
    pytest.param(machine({**GOOD, "pid": 40}), "app_not_running", id="R-05"),
    pytest.param(machine({**GOOD, "pid": -1}), "app_not_running", id="negative-pid"),
    pytest.param(machine({**GOOD, "http": "https://127.0.0.1:1"}), "endpoint_unavailable", id="R-06"),
    pytest.param(machine({**GOOD, "http": 7}), "endpoint_unavailable", id="no-text"),
    pytest.param(machine({**GOOD, "token": "a\r\nb: c"}), "endpoint_unavailable", id="token-that-ends-the-header"),
    pytest.param(machine(GOOD, file={"owner": 1001}), "app_not_running", id="another-user"),
    pytest.param(machine(GOOD, file={"mode": 0o666}), "app_not_running", id="writable-by-others"),
    pytest.param(machine(GOOD, file={"size": 2**30}), "app_not_running", id="gigabyte"),
    pytest.param(machine("[" * 100_000), "app_not_running", id="deep"),
    pytest.param(machine(GOOD, processes={"41": {"started": 2000}}), "app_not_running", id="reused-pid"),
    pytest.param(machine(GOOD), "running", id="good"),
]


@pytest.mark.parametrize(("here", "state"), FILES)
def test_a_runtime_file_says_whether_the_application_runs(here: SimulatedMachine, state: str) -> None:
    found = readiness(thing(), here)
    assert found.state == state
    assert bool(found.remedy) is (state != "running")
    assert "secret-token" not in repr(found)


def test_the_program_of_the_process_is_compared_when_the_declaration_names_it() -> None:
    assert readiness(thing(executable="v"), machine(GOOD)).running
    assert readiness(thing(executable="w"), machine(GOOD)).running is False


@row("R-05")
def test_nothing_is_dialled_for_an_application_that_does_not_run() -> None:
    dialled: list[Endpoint] = []
    found = readiness(
        thing(), machine({**GOOD, "pid": 40}), effort="network", dial=lambda at, _token, _s: dialled.append(at)
    )
    assert found.state == "app_not_running"
    assert dialled == []


URLS = [
    pytest.param("https://127.0.0.1:1", None, id="R-06"),
    pytest.param("http://127.0.0.1", None, id="R-07-no-port"),
    pytest.param("http://127.0.0.1:0", None, id="R-07-zero"),
    pytest.param("http://127.0.0.1:99999", None, id="R-07-too-high"),
    pytest.param("http://example.com:1", None, id="R-08-name"),
    pytest.param("http://127.0.0.2:9", "http://127.0.0.2:9/mcp", id="R-08-loopback"),
    pytest.param("http://0.0.0.0:1", None, id="R-08-any"),
    pytest.param("http://127.1:1", None, id="R-08-short"),
    pytest.param("http://2130706433:1", None, id="R-08-decimal"),
    pytest.param("http://u:p@127.0.0.1:1", None, id="R-09"),
    pytest.param("http://@127.0.0.1:9/", None, id="R-10"),
    pytest.param("HTTP://LOCALHOST:80", "http://127.0.0.1:80/mcp", id="R-11"),
    pytest.param("http://[::1]:9", "http://[::1]:9/mcp", id="R-12"),
    pytest.param("http://::1:9", None, id="R-12-bare"),
    pytest.param("http://[::ffff:127.0.0.1]:9", None, id="mapped"),
    pytest.param("http://127.0.0.1:9/ignored?x=1", "http://127.0.0.1:9/mcp", id="R-13"),
    pytest.param("http://127.0.0.1:9\n.evil.example/", None, id="newline"),
    pytest.param("http://localhost.evil.example:9", None, id="longer-name"),
]


@pytest.mark.parametrize(("url", "expected"), URLS)
def test_only_a_loopback_address_is_an_endpoint(url: str, expected: str | None) -> None:
    found = endpoint(url, "/mcp")
    assert (found.url if found else None) == expected


@row("R-14")
@pytest.mark.parametrize("path", ["@evil.example/", "//evil.example", "/a/../b", "mcp", "/a b", ""])
def test_a_path_that_could_rewrite_the_host_is_no_endpoint(path: str) -> None:
    assert endpoint("http://127.0.0.1:9", path) is None


@contextmanager
def listening(answer: bytes, *, drip: bool = False) -> Generator[tuple[int, list[bytes]]]:
    """A server that keeps the request it gets and answers with these bytes, drop by drop and without an end."""
    requests: list[bytes] = []
    done = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                requests.append(connection.recv(65_536))
                connection.sendall(answer)
                while drip and not done.wait(0.01):
                    try:
                        connection.sendall(b"x")
                    except OSError:
                        return

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield server.getsockname()[1], requests
        finally:
            done.set()
            thread.join(5)


def asked(answer: bytes, content: Any, *, drip: bool = False) -> tuple[Readiness, list[bytes]]:
    with listening(answer, drip=drip) as (port, requests):
        here = machine({**content, "http": f"http://127.0.0.1:{port}"})
        return readiness(thing(), here, effort="network", deadline=2.0), requests


@row("R-15")
def test_without_a_token_there_is_no_authorization() -> None:
    found, requests = asked(b"HTTP/1.1 200 OK\r\n\r\n", {"pid": 41})
    assert found.state == "answering"
    assert b"Authorization" not in requests[0]


def test_the_token_goes_to_the_endpoint() -> None:
    found, requests = asked(b"HTTP/1.1 401 Unauthorized\r\n\r\n", GOOD)
    assert found.state == "answering"
    assert b"\r\nAuthorization: Bearer secret-token\r\n" in requests[0]
    assert requests[0].startswith(b"POST /mcp HTTP/1.1\r\n")


@row("R-16")
def test_a_port_that_moves_is_followed() -> None:
    first, second = machine(GOOD), machine({**GOOD, "http": "http://127.0.0.1:9001"})
    assert live_endpoint(thing(), first).url == "http://127.0.0.1:9000/mcp"
    assert live_endpoint(thing(), second).url == "http://127.0.0.1:9001/mcp"
    assert live_endpoint(thing(), first).token == Secret("secret-token")


def test_there_is_no_endpoint_to_fall_back_on() -> None:
    with pytest.raises(Unavailable) as caught:
        live_endpoint(thing(), machine({**GOOD, "pid": 40}))
    assert caught.value.code == "declaration.app_not_running"
    assert caught.value.remedy == "Start thing."


@row("R-17")
def test_a_body_that_never_ends_is_not_read() -> None:
    found, _ = asked(b"HTTP/1.1 200 OK\r\n\r\n", GOOD, drip=True)
    assert found.state == "answering"


def test_a_status_line_that_never_ends_meets_the_deadline() -> None:
    with listening(b"", drip=True) as (port, _):
        assert initialize_status(Endpoint("127.0.0.1", port, "/mcp"), None, 0.3) is None


@row("R-18")
def test_an_error_is_no_answer() -> None:
    found, _ = asked(b"HTTP/1.1 500 Oops\r\n\r\n", GOOD)
    assert found.state == "not_answering"
    assert found.running
    assert "status 500" in found.sentence


def test_a_closed_port_is_no_answer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    here = machine({**GOOD, "http": f"http://127.0.0.1:{port}"})
    assert readiness(thing(), here, effort="network").state == "not_answering"


@row("R-19")
def test_a_process_that_may_not_be_asked_is_alive() -> None:
    here = on_windows("C:\\v.exe", files={"C:\\v.json": {"text": json.dumps(GOOD), "modified": 1000}})
    here.processes = {41: ProcessFact(alive=True)}
    assert readiness(thing("win32", "C:\\v.json", executable="v.exe"), here).state == "running"


def test_running_gates_only_when_it_is_required() -> None:
    stopped = machine({**GOOD, "pid": 40})
    assert gated(thing(), stopped).state == "available"
    answer = gated(thing(running=True), stopped)
    assert (answer.state, answer.offerable, answer.path) == ("installed_not_running", False, "/v")
    assert (answer.sentence, answer.remedy) == ("thing is installed but not running.", "Start thing, then try again.")
    assert gated(thing(running=True), machine(GOOD)).offerable
    missing = on_linux()
    assert gated(thing(running=True), missing).state == "missing_app"


def test_a_declaration_without_liveness_is_not_looked_at() -> None:
    here = on_linux("/v")
    block = {"linux": {"presence": "executable", "location": "/v"}}
    assert readiness(parse_declaration("thing", raw_app=block), here).running is None
    assert here.reads.total() == 0


def test_this_process_is_told_by_its_real_runtime_file(tmp_path: Path) -> None:
    program = Path(os.readlink("/proc/self/exe")).name
    file = tmp_path / "v.json"
    file.write_text(json.dumps({**GOOD, "pid": os.getpid()}))
    file.chmod(0o600)
    declaration = thing(path=str(file), executable=program)
    assert readiness(declaration, LocalMachine()).state == "running"
    file.chmod(0o622)
    assert readiness(declaration, LocalMachine()).state == "app_not_running"
    file.unlink()
    os.mkfifo(file, 0o600)
    assert readiness(declaration, LocalMachine()).state == "app_not_running"


def test_a_runtime_file_older_than_its_process_belongs_to_another(tmp_path: Path) -> None:
    file = tmp_path / "v.json"
    file.write_text(json.dumps({**GOOD, "pid": os.getpid()}))
    file.chmod(0o600)
    os.utime(file, (1_000_000, 1_000_000))
    assert readiness(thing(path=str(file)), LocalMachine()).state == "app_not_running"
