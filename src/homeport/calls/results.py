"""What the pipeline must know of a result without taking it apart: is it an error, does it ask for input. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from homeport.ground import exact
from homeport.ground.digests import of_bytes
from homeport.ground.errors import InvalidInput, ProtocolViolation
from homeport.ground.exact import Json
from homeport.ground.secrets import HIDDEN


class _Request(msgspec.Struct):
    method: str = ""


class _Head(msgspec.Struct, rename="camel"):
    is_error: bool = False
    result_type: str = "complete"
    input_requests: dict[str, _Request] | None = None
    request_state: str | None = None


class _Error(msgspec.Struct):
    code: int = 0
    message: str = ""
    data: msgspec.Raw = msgspec.Raw(b"null")


@dataclass(frozen=True, slots=True)
class Head:
    """`asks`: the methods of the input it requires (2026-07-28, basic/patterns/mrtr); empty for a complete result."""

    is_error: bool
    complete: bool
    asks: tuple[str, ...] = ()


def read(result: bytes) -> Head:
    """The head of a raw result. Raises `ProtocolViolation` (`upstream.result`) for what is no result object."""
    try:
        head = _head.decode(result)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ProtocolViolation(
            f"the server's result is not one: {error}", code="upstream.result", whose="upstream"
        ) from None
    requests = head.input_requests or {}
    return Head(head.is_error, head.result_type != "input_required", tuple(item.method for item in requests.values()))


_head: Final = msgspec.json.Decoder(_Head)


def error_text(error: bytes) -> str:
    """The message of a raw JSON-RPC error object; empty when it has none."""
    try:
        return msgspec.json.decode(error, type=_Error).message
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""


def error_as_result(error: bytes) -> bytes:
    """A JSON-RPC error as the error result that rules on results look at: its whole text, data included."""
    text = error.decode("utf-8", "replace")
    return msgspec.json.encode({"content": [{"type": "text", "text": text}], "isError": True})


HIDDEN_RESULT: Final = msgspec.json.encode({"content": [{"type": "text", "text": HIDDEN}], "isError": True})
HIDDEN_ERROR: Final = msgspec.json.encode({"code": -32603, "message": HIDDEN})


def scrubbed(raw: bytes, scrub: Callable[[str], str], instead: bytes) -> bytes:
    """Raw JSON of an error without the secrets that a server echoed in it; the same bytes when there are none.

    A result that is no error is never touched: its bytes are the server's (design section 3). `instead`: for a text
    with secrets that cannot be read as JSON.
    """
    try:
        value = exact.loads(raw)
    except InvalidInput:
        text = raw.decode("utf-8", "replace")
        return raw if scrub(text) == text else instead
    # String by string: an escape that we did not think of is undone by decoding, not by guessing.
    clean = _cleaned(value, scrub)
    return raw if clean == value else exact.dumps(clean).encode("utf-8", "surrogatepass")


def _cleaned(value: Json, scrub: Callable[[str], str]) -> Json:
    match value:
        case str():
            return scrub(value)
        case list():
            return [_cleaned(item, scrub) for item in value]
        case dict():
            return {scrub(key): _cleaned(item, scrub) for key, item in value.items()}
        case _:
            return value


def summary(raw: bytes, *, is_error: bool, scheme: Callable[[bytes], str] = of_bytes) -> dict[str, Any]:
    """What the journal tells of an answer: no values."""
    return {"is_error": is_error, "bytes": len(raw), "digest": scheme(raw)}
