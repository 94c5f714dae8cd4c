"""Carry lines between an agent's pipes and the gateway's socket, over restarts of the gateway.

Two threads copy, one a direction, so neither waits for the other. What is kept beside the bytes: the handshake of a
legacy client, to say it again to a new gateway, and the requests without an answer yet. When the gateway is gone, the
ones that only read are asked again, and the others are answered with an error that says their outcome is unknown:
a call is never sent twice.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time

from homeport.connect.link import Hello, HelloRefused, Link, as_object
from homeport.connect.start import StartFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MAX_LINE = 16 * 1024 * 1024
"""Bytes of one message from the agent, as `ground.limits` says."""

RENEWALS = 5
"""Connections renewed within `RENEWAL_WINDOW` seconds before this counts as a gateway that cannot live."""

RENEWAL_WINDOW = 60.0

FINISH_TIMEOUT = 30.0
"""Seconds for the answers to what was asked before the agent closed its end."""

ASKED_AGAIN = frozenset(
    (
        "initialize",
        "ping",
        "server/discover",
        "tools/list",
        "prompts/list",
        "resources/list",
        "resources/templates/list",
        "subscriptions/listen",
        "logging/setLevel",
    )
)
"""Methods that may be sent twice: they change nothing, or the same thing again."""

RESPONSE_HEAD = b'{"jsonrpc":"2.0","id":'
"""How every response of the gateway begins, and nothing else it sends: the id is found without decoding a result."""

REPLAY_ID = "homeport/replay"


class Bridge:
    """One agent's conversation. `reach` opens a connection, starting a gateway if needed."""

    def __init__(self, profile: str, reach: Callable[[Hello], Link], *, stdin: int = 0, stdout: int = 1) -> None:
        self._profile = profile
        self._reach = reach
        self._stdin = stdin
        self._stdout = stdout
        self._link: Link | None = None
        self._lock = threading.Lock()
        self._waiting: dict[object, tuple[str, bytes]] = {}
        self._handshake: list[bytes] = []
        self._asked_again: list[bytes] = []
        """Lines that the last renewal sent."""
        self._renewed: list[float] = []
        self._ending = False

    def run(self) -> int:
        """Copy until the agent closes its end or no gateway can be reached. The exit status: 0, 1 refused, 3 failed."""
        try:
            self._link = self._reach(Hello(self._profile))
        except (HelloRefused, StartFailed) as error:
            return self._tell_everyone(error)
        reader = threading.Thread(target=self._from_gateway, daemon=True)
        reader.start()
        self._from_agent()
        with self._lock:
            self._ending = True
            link = self._link
            if self._waiting:
                link.finish_sending()
        if self._waiting:
            reader.join(FINISH_TIMEOUT)
        return 0

    def _from_agent(self) -> None:
        with open(self._stdin, "rb", closefd=False) as stdin:
            while True:
                line = stdin.readline(MAX_LINE + 1)
                if not line:
                    return
                if len(line) > MAX_LINE:
                    _skip_line(stdin.readline, line)
                    self._answer(None, -32600, f"a message may have at most {MAX_LINE} bytes", "message.too_long")
                elif line.strip():
                    self._send(line if line.endswith(b"\n") else line + b"\n")

    def _send(self, line: bytes) -> None:
        """Note what it asks, then pass it on; over a dead connection, once that is renewed."""
        request = self._note(line)
        while True:
            link = self._link
            if link is None:
                os._exit(3)
            try:
                link.send(line)
                return
            except OSError:
                self._renew(link, unsent=line)
                if request is not None and not self._still_unsent(request, line):
                    return

    def _still_unsent(self, request: str | int, line: bytes) -> bool:
        """Whether a renewal, whichever thread made it, neither answered this request as lost nor asked it again."""
        with self._lock:
            waiting = self._waiting.get(request)
            return waiting is not None and waiting[1] is line and not any(sent is line for sent in self._asked_again)

    def _note(self, line: bytes) -> str | int | None:
        """Remember what is asked; returns the id of a request."""
        try:
            message = as_object(json.loads(line))
        except (ValueError, RecursionError):
            return None
        method, request = message.get("method"), message.get("id")
        if not isinstance(method, str):
            return None
        if method == "initialize":
            self._handshake = [json.dumps({**message, "id": REPLAY_ID}, separators=(",", ":")).encode() + b"\n"]
        elif method == "notifications/initialized":
            self._handshake = [*self._handshake[:1], line]
        elif method == "notifications/cancelled":
            self._waiting.pop(as_object(message.get("params")).get("requestId"), None)
        if not isinstance(request, str | int):
            return None
        self._waiting[request] = (method, line)
        return request

    def _from_gateway(self) -> None:
        while True:
            link = self._link
            if link is None:
                os._exit(3)
            lines = link.lines()
            if lines:
                for line in lines:
                    if self._settle(line):
                        self._write(line)
            elif self._ending:
                return
            else:
                self._renew(link)

    def _settle(self, line: bytes) -> bool:
        """Cross the request off that this answers. False for the answer to a replayed handshake: not the agent's."""
        if not line.startswith(RESPONSE_HEAD):
            return True
        head = line[len(RESPONSE_HEAD) : len(RESPONSE_HEAD) + 2048].decode("utf-8", "replace")
        try:
            request, _ = _DECODER.raw_decode(head)
        except ValueError:
            return True
        if request == REPLAY_ID:
            return False
        if isinstance(request, str | int):
            self._waiting.pop(request, None)
        return True

    def _renew(self, dead: Link, unsent: bytes = b"") -> None:
        """Replace a dead connection, once, whichever thread saw it first."""
        with self._lock:
            if self._link is not dead or self._ending:
                return
            dead.close()
            self._pace()
            again = self._give_up_on_calls(unsent)
            self._asked_again = [line for _, line in again]
            try:
                link = self._reach(Hello(self._profile, resumed=True))
                replayed = [] if any(line_method == "initialize" for line_method, _ in again) else self._handshake
                for line in (*replayed, *(line for _, line in again)):
                    link.send(line)
            except (HelloRefused, StartFailed, OSError) as error:
                for request in list(self._waiting):
                    self._answer(request, -32603, str(error), "gateway.unreachable")
                _complain(error)
                os._exit(3)
            self._link = link

    def _give_up_on_calls(self, unsent: bytes) -> list[tuple[str, bytes]]:
        """Answer the calls whose outcome is unknown. Returns what may be asked again, oldest first."""
        again: list[tuple[str, bytes]] = []
        for request, (method, line) in list(self._waiting.items()):
            if line is unsent:
                continue
            if method in ASKED_AGAIN:
                again.append((method, line))
                continue
            self._waiting.pop(request, None)
            self._answer(
                request,
                -32603,
                "Homeport's gateway ended while this ran, so its outcome is unknown: it may have been carried out. "
                "`homeport audit` shows what was sent.",
                "gateway.outcome_unknown",
            )
        return again

    def _pace(self) -> None:
        now = time.monotonic()
        self._renewed = [moment for moment in self._renewed if now - moment < RENEWAL_WINDOW]
        if len(self._renewed) >= RENEWALS:
            _complain(StartFailed("the gateway ended again and again", "the gateway's log"))
            os._exit(3)
        time.sleep((0, 0.1, 0.3, 1, 2)[len(self._renewed)])
        self._renewed.append(now)

    def _answer(self, request: object, code: int, message: str, reason: str) -> None:
        error = {"code": code, "message": message, "data": {"code": reason}}
        body = {"jsonrpc": "2.0", "id": request, "error": error}
        self._write(json.dumps(body, separators=(",", ":")).encode() + b"\n")

    def _write(self, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(self._stdout, data) :]
        except OSError:
            os._exit(0)  # the agent is gone, and nobody is left to tell

    def _tell_everyone(self, error: HelloRefused | StartFailed) -> int:
        """No gateway: say so to people, and to the agent as the answer to its first request."""
        _complain(error)
        with open(self._stdin, "rb", closefd=False) as stdin:
            for line in iter(lambda: stdin.readline(MAX_LINE), b""):
                self._note(line)
                for request in list(self._waiting):
                    self._answer(request, -32603, _sentence(error), "gateway.unreachable")
                    return 1 if isinstance(error, HelloRefused) else 3
        return 1 if isinstance(error, HelloRefused) else 3


_DECODER = json.JSONDecoder()


def _skip_line(readline: Callable[[int], bytes], line: bytes) -> None:
    while line and not line.endswith(b"\n"):
        line = readline(MAX_LINE)


def _sentence(error: Exception) -> str:
    if isinstance(error, HelloRefused):
        return f"Homeport: {error.message}. {error.remedy}"
    if isinstance(error, StartFailed):
        return f"Homeport: {error.message}" + (f"; its log is {error.log}" if error.log else "")
    return f"Homeport: {error}"


def _complain(error: Exception) -> None:
    sys.stderr.write(_sentence(error) + "\n")
    sys.stderr.flush()
