"""The connection to a running gateway: its run file, the socket, and the hello line."""

from __future__ import annotations

import json
import os
import socket
import struct
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

HELLO_TIMEOUT = 10.0
"""Seconds for the gateway to accept or refuse a connection."""

CHUNK = 65536


class NotRunning(Exception):
    """No gateway answers for this project."""


class HelloRefused(Exception):
    """The gateway is there and does not accept this connection: an unknown profile, a token needed, another version."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy


class Hello:
    """What is said first on the socket."""

    def __init__(self, profile: str, *, resumed: bool = False) -> None:
        self.profile = profile
        self.resumed = resumed
        """The agent behind this connection was connected to an earlier gateway: its lists may be out of date."""

    def line(self) -> bytes:
        """The hello line."""
        said: dict[str, object] = {"homeport": 1, "kind": "mcp", "profile": self.profile, "pid": os.getpid()}
        if self.resumed:
            said["resumed"] = True
        return json.dumps(said, separators=(",", ":")).encode() + b"\n"


class Link:
    """One open connection. Lines out through `send`, lines in through `lines`."""

    def __init__(self, connection: socket.socket, rest: bytes) -> None:
        self._socket = connection
        self._rest = bytearray(rest)

    def send(self, line: bytes) -> None:
        """Write one line whole. Raises `OSError`: then its end was not written, so the gateway did not act on it."""
        self._socket.sendall(line)

    def lines(self) -> list[bytes]:
        """The next whole lines, at least one; empty when the gateway closed the connection."""
        while True:
            end = self._rest.rfind(b"\n")
            if end >= 0:
                whole = bytes(self._rest[: end + 1])
                del self._rest[: end + 1]
                return whole.splitlines(keepends=True) if whole.count(b"\n") > 1 else [whole]
            try:
                data = self._socket.recv(CHUNK)
            except OSError:
                return []
            if not data:
                return []
            self._rest += data

    def finish_sending(self) -> None:
        """No more lines come from us; the gateway answers what it has and closes."""
        self._shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """Close; a thread blocked in `lines` returns."""
        self._shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _shutdown(self, how: int) -> None:
        try:
            self._socket.shutdown(how)
        except OSError:
            return


def open_link(run_file: str, hello: Hello) -> Link:
    """Connect to the gateway that left `run_file`. Raises `NotRunning` or `HelloRefused`."""
    path = _socket_path(run_file)
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(HELLO_TIMEOUT)
        connection.connect(path)
        _check_peer(connection)
        connection.sendall(hello.line())
        answer, rest = _first_line(connection)
        connection.settimeout(None)
    except OSError as error:
        connection.close()
        raise NotRunning(f"{path}: {error.strerror or error}") from None
    except NotRunning:
        connection.close()
        raise
    said = _object(answer)
    if said.get("homeport") == 1 and "error" not in said:
        return Link(connection, rest)
    connection.close()
    detail = as_object(said.get("error"))
    raise HelloRefused(
        str(detail.get("message") or "the gateway does not speak this version of the protocol"),
        str(detail.get("remedy") or "homeport down"),
    )


def _socket_path(run_file: str) -> str:
    try:
        with open(run_file, "rb") as file:
            path = _object(file.read(65536)).get("socket")
    except OSError as error:
        raise NotRunning(f"{run_file}: {error.strerror}") from None
    if not isinstance(path, str) or not path:
        raise NotRunning(f"{run_file}: names no socket")
    return path


def _check_peer(connection: socket.socket) -> None:
    """The other end must be a process of this user. Only Linux tells."""
    if sys.platform != "linux":
        return
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    _, uid, _ = struct.unpack("3i", raw)
    if uid != os.getuid():
        raise NotRunning(f"the socket belongs to another user (uid {uid})")


def _first_line(connection: socket.socket) -> tuple[bytes, bytes]:
    data = b""
    while b"\n" not in data:
        more = connection.recv(CHUNK)
        if not more or len(data) > CHUNK:
            raise NotRunning("the gateway closed the connection before it said anything")
        data += more
    line, _, rest = data.partition(b"\n")
    return line, rest


def as_object(value: Any) -> dict[str, object]:
    """A JSON object, or an empty one for anything else."""
    if not isinstance(value, dict):
        return {}
    members: dict[str, object] = value  # pyright: ignore[reportUnknownVariableType]
    return members


def _object(data: bytes) -> dict[str, object]:
    try:
        return as_object(json.loads(data))
    except ValueError:
        return {}
