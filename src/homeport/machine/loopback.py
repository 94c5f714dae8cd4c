"""An endpoint on this computer's loopback: what counts as one, and whether it answers. Sends to nothing else.

The address comes from a file that another program wrote. It is taken apart strictly, put together anew from checked
parts and dialled by number: no name is looked up, no proxy asked, no redirect followed, no body read.
"""

from __future__ import annotations

import ipaddress
import re
import socket
import time
from dataclasses import dataclass
from typing import Final

from homeport.ground.secrets import Secret

ANSWERING: Final = frozenset({200, 401, 403})
MIN_DEADLINE: Final = 0.1
MAX_STATUS_LINE: Final = 1024
_INITIALIZE: Final = (
    b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},'
    b'"clientInfo":{"name":"homeport","version":"1"}}}'
)
_URL: Final = re.compile(
    r"http://(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9.-]+)):([0-9]{1,5})(?:[/?#][\x21-\x7e]*)?", re.IGNORECASE
)
_PATH: Final = re.compile(r"/[A-Za-z0-9._~/-]*")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A loopback address by number, a port and a plain path."""

    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """`127.0.0.1:80`, `[::1]:80`."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def url(self) -> str:
        """The whole address."""
        return f"http://{self.authority}{self.path}"


def endpoint(url: str, path: str) -> Endpoint | None:
    """The endpoint that a runtime file's URL names, with the declared path in place of its own; None when it is none.

    Plain http, a port, no user information, and as host 127.0.0.0/8 or ::1 by number, or `localhost`.
    """
    match = _URL.fullmatch(url) if len(url) <= 2048 and "@" not in url else None
    if match is None or not _PATH.fullmatch(path) or path.startswith("//") or ".." in path.split("/"):
        return None
    host, port = _loopback(match[1] or match[2], bracketed=match[1] is not None), int(match[3])
    return Endpoint(host, port, path) if host and 0 < port < 65_536 else None


def _loopback(host: str, *, bracketed: bool) -> str:
    if host.lower() == "localhost" and not bracketed:
        return "127.0.0.1"
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return ""
    if isinstance(address, ipaddress.IPv6Address):
        return "::1" if bracketed and address == ipaddress.IPv6Address("::1") else ""
    return str(address) if not bracketed and address in ipaddress.IPv4Network("127.0.0.0/8") else ""


def sendable(token: Secret) -> bool:
    """Whether a token can stand in a header without ending it."""
    return re.fullmatch(r"[\x21-\x7e]{1,8192}", token.reveal()) is not None


def initialize_status(at: Endpoint, token: Secret | None, deadline: float = 3.0) -> int | None:
    """The HTTP status of one MCP `initialize` request; None when nothing answers within `deadline` seconds in all."""
    until = time.monotonic() + max(deadline, MIN_DEADLINE)
    headers = [
        f"POST {at.path} HTTP/1.1",
        f"Host: {at.authority}",
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        f"Content-Length: {len(_INITIALIZE)}",
        "Connection: close",
    ]
    if token is not None:
        headers.append(f"Authorization: Bearer {token.reveal()}")
    request = "\r\n".join((*headers, "", "")).encode("ascii") + _INITIALIZE
    try:
        with socket.create_connection((at.host, at.port), timeout=max(deadline, MIN_DEADLINE)) as connection:
            connection.settimeout(_left(until))
            connection.sendall(request)
            return _status(connection, until)
    except OSError:
        return None


def _left(until: float) -> float:
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _status(connection: socket.socket, until: float) -> int | None:
    data = b""
    while b"\n" not in data and len(data) < MAX_STATUS_LINE:
        connection.settimeout(_left(until))
        part = connection.recv(256)
        if not part:
            break
        data += part
    match = re.match(rb"HTTP/1\.[01] ([1-5][0-9]{2})[ \r\n]", data)
    return int(match[1]) if match else None
