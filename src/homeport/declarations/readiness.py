"""Whether the application runs now, by the runtime file it writes: a second evaluation, apart from availability.

Effort `local` reads the file, the process and the address; `network` sends one MCP `initialize` to that loopback
address besides. Nothing is kept: every question reads again. The file's token goes nowhere but to that address.
"""

from __future__ import annotations

import ntpath
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from homeport.declarations import wording
from homeport.declarations.availability import availability, this_machine
from homeport.declarations.model import (
    NOT_CHECKED,
    AppDef,
    Availability,
    Declaration,
    Liveness,
    Observation,
)
from homeport.ground import exact
from homeport.ground.errors import InvalidInput, Unavailable
from homeport.ground.secrets import Secret
from homeport.machine import loopback
from homeport.machine.expansion import expand
from homeport.machine.protocol import CannotRead, FileFact, Machine

if TYPE_CHECKING:
    from homeport.machine.loopback import Endpoint

Effort: TypeAlias = Literal["local", "network"]
ReadinessState: TypeAlias = Literal[
    "not_declared", "app_not_running", "endpoint_unavailable", "not_answering", "running", "answering"
]

MAX_RUNTIME_FILE: Final = 64 * 1024
MAX_PID: Final = 2**31 - 1
CLOCK_SLACK: Final = 2.0
"""Seconds by which a file's time and a process's start may be apart: they are taken from different clocks."""

Dial: TypeAlias = "Callable[[Endpoint, Secret | None, float], int | None]"


@dataclass(frozen=True, slots=True)
class Runtime:
    """What a runtime file says, checked."""

    pid: int
    endpoint: Endpoint | None
    token: Secret | None
    modified: float
    trouble: str = ""
    """Why there is no endpoint."""


@dataclass(frozen=True, slots=True)
class Readiness:
    """The answer: three facts, and what they come to. The token is in none of them."""

    state: ReadinessState
    process: Observation = NOT_CHECKED
    endpoint: Observation = NOT_CHECKED
    answering: Observation = NOT_CHECKED
    sentence: str = ""
    remedy: str = ""

    @property
    def running(self) -> bool | None:
        """Whether the application runs; None when the declaration does not say how to tell."""
        if self.state == "not_declared":
            return None
        return self.state != "app_not_running"


def readiness(
    declaration: Declaration,
    machine: Machine | None = None,
    *,
    effort: Effort = "local",
    deadline: float = 3.0,
    dial: Dial = loopback.initialize_status,
) -> Readiness:
    """Whether a declaration's application runs here and, with effort `network`, answers within `deadline` seconds."""
    here = machine if machine is not None else this_machine()
    app = declaration.app_for(here.platform)
    if app is None or app.liveness.kind == "none":
        return Readiness("not_declared")
    title = declaration.title
    try:
        runtime = read_runtime(here, app.liveness)
    except CannotRead as error:
        return _not_running(title, Observation("absent", detail=error.message))
    process = _process(here, app, runtime)
    if process.state != "present":
        return _not_running(title, process)
    if runtime.endpoint is None:
        address = Observation("unavailable", detail=runtime.trouble)
        return _without_endpoint(title, process, address)
    address = Observation("present", runtime.endpoint.url)
    if effort == "local":
        return Readiness("running", process, address, sentence=f"{title} is running.")
    status = dial(runtime.endpoint, runtime.token, deadline)
    if status in loopback.ANSWERING:
        return Readiness("answering", process, address, Observation("present", str(status)), f"{title} answers.")
    said = f"it answered with status {status}" if status is not None else "nothing answered"
    sentence = f"{title} is running, but its local connection does not answer: {said}."
    answering = Observation("unavailable", detail=said)
    return Readiness("not_answering", process, address, answering, sentence, f"Restart {title}.")


def _not_running(title: str, process: Observation) -> Readiness:
    return Readiness("app_not_running", process, sentence=f"{title} is not running.", remedy=f"Start {title}.")


def _without_endpoint(title: str, process: Observation, address: Observation) -> Readiness:
    sentence = f"{title} is running, but its local connection is not usable: {address.detail}."
    remedy = f"Open {title} and switch on its local connection."
    return Readiness("endpoint_unavailable", process, address, sentence=sentence, remedy=remedy)


def read_runtime(machine: Machine, liveness: Liveness) -> Runtime:
    """The runtime file. Raises `CannotRead` when it is missing, not this user's, too large or no JSON object."""
    path = expand(machine, liveness.path)
    if path.reason:
        raise CannotRead(path.reason, path.detail)
    fact = machine.stat(path.path)
    _check_file(machine, fact)
    data = machine.read(path.path, MAX_RUNTIME_FILE)
    try:
        table = exact.loads(data.removeprefix(b"\xef\xbb\xbf"))
    except InvalidInput as error:
        raise CannotRead("unreadable", f"its runtime file is no JSON: {error.message}") from None
    if not isinstance(table, dict):
        raise CannotRead("unreadable", "its runtime file is no JSON object")
    pid = table.get(liveness.pid_key)
    if not isinstance(pid, int) or isinstance(pid, bool) or not 0 < pid <= MAX_PID:
        raise CannotRead("unreadable", f"its runtime file has no process id under {liveness.pid_key!r}")
    url, token = table.get(liveness.url_key), table.get(liveness.token_key)
    return _runtime(liveness, pid, url, token, fact.modified)


def _runtime(liveness: Liveness, pid: int, url: object, token: object, modified: float) -> Runtime:
    endpoint = loopback.endpoint(url, liveness.endpoint_path) if isinstance(url, str) else None
    secret = Secret(token) if isinstance(token, str) and token else None
    if endpoint is None:
        trouble = f"the address under {liveness.url_key!r} is not an http address with a port on this computer"
        return Runtime(pid, None, None, modified, trouble)
    if secret is not None and not loopback.sendable(secret):
        return Runtime(pid, None, None, modified, f"the token under {liveness.token_key!r} cannot be sent")
    return Runtime(pid, endpoint, secret, modified)


def _check_file(machine: Machine, fact: FileFact) -> None:
    if fact.kind != "file":
        reason = fact.kind if fact.kind in {"missing", "denied", "hung", "invalid_path"} else "not_a_file"
        said = "there is no runtime file" if reason == "missing" else "its runtime file is no regular file of this user"
        raise CannotRead(reason, said)
    if fact.size > MAX_RUNTIME_FILE:
        raise CannotRead("too_large", f"its runtime file is larger than {MAX_RUNTIME_FILE} bytes")
    if fact.owner is not None and machine.user_id is not None and fact.owner not in {machine.user_id, 0}:
        raise CannotRead("untrusted", "its runtime file belongs to another user")
    if fact.owner is not None and fact.mode & 0o022:
        raise CannotRead("untrusted", "its runtime file can be written by other users")


def _process(machine: Machine, app: AppDef, runtime: Runtime) -> Observation:
    fact = machine.process(runtime.pid)
    if not fact.alive:
        return Observation("absent", detail=f"process {runtime.pid} has ended")
    if fact.started is not None and runtime.modified and fact.started > runtime.modified + CLOCK_SLACK:
        return Observation("absent", detail=f"process {runtime.pid} is younger than the runtime file: another program")
    wanted = app.liveness.executable
    if wanted and fact.executable is not None and not _same_program(wanted, fact.executable, app.os_family):
        return Observation("absent", detail=f"process {runtime.pid} is another program than {wanted}")
    return Observation("present", str(runtime.pid))


def _same_program(wanted: str, path: str, os_family: str) -> bool:
    name = ntpath.basename(path) if os_family == "win32" else path.rpartition("/")[2]
    return name.casefold() == wanted.casefold() if os_family == "win32" else name == wanted


@dataclass(frozen=True, slots=True)
class LiveEndpoint:
    """Where a running application listens."""

    url: str
    token: Secret | None


def live_endpoint(declaration: Declaration, machine: Machine | None = None) -> LiveEndpoint:
    """The address to connect to, read anew for every connection. Raises `Unavailable`; there is no other address."""
    here = machine if machine is not None else this_machine()
    app = declaration.app_for(here.platform)
    found = readiness(declaration, here)
    if app is None or found.state != "running":
        state = found.state
        said = found.sentence or f"{declaration.title} does not say where it listens."
        raise Unavailable(said, code=f"declaration.{state}", remedy=found.remedy)
    try:
        runtime = read_runtime(here, app.liveness)
    except CannotRead as error:
        raise Unavailable(error.message, code="declaration.app_not_running", remedy=found.remedy) from None
    if runtime.endpoint is None:
        raise Unavailable(runtime.trouble, code="declaration.endpoint_unavailable", remedy=found.remedy)
    return LiveEndpoint(runtime.endpoint.url, runtime.token)


def gated(declaration: Any, machine: Machine | None = None) -> Availability:
    """`availability`, and with `requires.running` also whether the application runs: what gates calls and lists.

    Without `requires.running` a stopped application does not hide its server; `readiness` annotates it.
    """
    answer = availability(declaration, machine)
    if not answer.offerable or not isinstance(declaration, Declaration) or not declaration.requires.running:
        return answer
    if readiness(declaration, machine).running is not False:
        return answer
    unmet = wording.not_running(declaration.title)
    return replace(
        answer,
        state="installed_not_running",
        sentence=unmet.sentence,
        remedy=unmet.remedy,
        unmet=(*answer.unmet, unmet),
    )
