"""Asking the running gateway of a project: `ps`, `logs`, `restart`, `down`, and calls that should go through it."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from homeport.gateway import runfile
from homeport.ground.errors import (
    Conflict,
    HomeportError,
    InvalidInput,
    ProtocolViolation,
    Refused,
    Unavailable,
)
from homeport.ground.paths import project_key
from homeport.ops.context import Context

ANSWER_SECONDS: Final = 10.0
"""How long a gateway may take for what needs no server."""

_FAMILIES: Final = {
    "invalid_input": InvalidInput,
    "refused": Refused,
    "unavailable": Unavailable,
    "conflict": Conflict,
}


def find(context: Context, root: Path) -> runfile.Running | None:
    """The gateway of a project, if one is up."""
    return runfile.running(context.paths.run, project_key(root))


def required(context: Context) -> runfile.Running:
    """The gateway of the project in force. Raises `Unavailable` (`gateway.absent`)."""
    found = find(context, context.root())
    if found is None:
        raise Unavailable("no gateway is running for this project", code="gateway.absent", remedy="homeport up")
    return found


def ask(
    running: runfile.Running, verb: str, params: Mapping[str, Any] | None = None, *, timeout: float = ANSWER_SECONDS
) -> Any:
    """One verb of an operator. Raises what the gateway answered, or `Unavailable` (`gateway.silent`)."""
    request = json.dumps({"id": 1, "verb": verb, "params": dict(params or {})}).encode()
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(timeout)
            connection.connect(running.socket)
            connection.sendall(b'{"homeport":1,"kind":"operator"}\n' + request + b"\n")
            with connection.makefile("rb") as lines:
                _told(json.loads(lines.readline()))
                return _told(json.loads(lines.readline())).get("result")
    except (OSError, ValueError) as error:
        raise Unavailable(
            f"the gateway (pid {running.pid}) does not answer: {error}",
            code="gateway.silent",
            remedy="homeport down, then homeport up",
        ) from None


def _told(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    error = answer.get("error")
    if error:
        raise _raised(error)
    return answer


def _raised(error: Mapping[str, Any]) -> HomeportError:
    message, code, remedy = str(error.get("message")), str(error.get("code")), str(error.get("remedy") or "")
    family = str(error.get("family") or "refused")
    if family == "protocol_violation":
        return ProtocolViolation(message, code=code, whose="upstream", remedy=remedy)
    kind = _FAMILIES.get(family)
    return kind(message, code=code, remedy=remedy) if kind else HomeportError(message, code=code, remedy=remedy)


def down(context: Context, *, timeout: float = 15.0) -> int:
    """Stop the gateway and wait until it is gone; returns its pid. Raises `Unavailable` (`gateway.absent`)."""
    found = required(context)
    ask(found, "down")
    end = time.monotonic() + timeout
    while find(context, context.root()) is not None:
        if time.monotonic() > end:
            raise Unavailable(
                f"the gateway (pid {found.pid}) has not ended within {timeout:.0f} s",
                code="gateway.lingers",
                remedy=f"kill {found.pid}",
            )
        time.sleep(0.05)
    return found.pid
