"""What this edge says when it cannot serve a message: the one table from codes to JSON-RPC and HTTP.

JSON-RPC: -32700 to -32600 as usual, -32020 to -32022 as 2026-07-28 defines them. HTTP: what *streamable-http* requires
of each; a fault that only arises inside a call is a 200 with an error in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from homeport.ground.errors import HomeportError, ProtocolViolation

PARSE: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL: Final = -32603
HEADER_MISMATCH: Final = -32020
MISSING_CAPABILITY: Final = -32021
UNSUPPORTED_VERSION: Final = -32022

RPC_CODES: Final[Mapping[str, int]] = {
    "rpc.parse": PARSE,
    "rpc.invalid": INVALID_REQUEST,
    "rpc.method": METHOD_NOT_FOUND,
    "rpc.params": INVALID_PARAMS,
    "rpc.header_mismatch": HEADER_MISMATCH,
    "rpc.capability": MISSING_CAPABILITY,
    "rpc.version": UNSUPPORTED_VERSION,
}

_BY_FAMILY: Final[Mapping[str, int]] = {"invalid_input": INVALID_PARAMS}

_HTTP_BY_RPC: Final[Mapping[int, int]] = {
    PARSE: 400,
    INVALID_REQUEST: 400,
    INVALID_PARAMS: 400,
    HEADER_MISMATCH: 400,
    MISSING_CAPABILITY: 400,
    UNSUPPORTED_VERSION: 400,
    METHOD_NOT_FOUND: 404,
}


class Fault(ProtocolViolation):
    """A client broke its protocol. `request` is the raw id of the request it is about, where that could be read."""

    def __init__(self, message: str, *, code: str, request: bytes = b"", data: Mapping[str, Any] | None = None) -> None:
        super().__init__(message, code=code, whose="downstream")
        self.request = request
        self.data = data


def rpc_code(error: HomeportError) -> int:
    """The JSON-RPC code of an error of ours."""
    return RPC_CODES.get(error.code) or _BY_FAMILY.get(error.family, INTERNAL)


def http_status(code: int) -> int:
    """The HTTP status of a modern response that holds an error with this code, sent before any call was made."""
    return _HTTP_BY_RPC.get(code, 200)


def error_members(error: HomeportError) -> dict[str, Any]:
    """`code`, `message`, `data` of an error of ours; `data` holds its stable code and its remedy."""
    if isinstance(error, Fault) and error.data is not None:
        data: dict[str, Any] = dict(error.data)
    else:
        data = {"code": error.code}
        if error.remedy:
            data["remedy"] = error.remedy
    return {"code": rpc_code(error), "message": error.message, "data": data}
