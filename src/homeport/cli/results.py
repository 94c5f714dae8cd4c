"""What `homeport call` shows of a result: exactly as it came, and of pictures and files that they are there."""

from __future__ import annotations

import base64
import binascii
import mimetypes
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from homeport.cli.exits import Exit
from homeport.cli.output import Output
from homeport.ground import exact
from homeport.ground.errors import Refused, Unavailable
from homeport.ground.exact import Json

MAX_FILES: Final = 10_000
"""Files of one name in the directory of `--save-content`."""


def show(output: Output, result: bytes, how: str, directory: Path | None) -> int:
    """Print a result as text, JSON or raw; `directory`: where blocks that are no text are saved. Gives the status.

    Raises `Refused` (`call.input_required`) when the server asks for input, `Unavailable` when a file cannot be saved.
    """
    decoded = exact.loads(result)
    members = decoded if isinstance(decoded, dict) else {}
    if how == "raw":
        output.stdout.write(result.decode("utf-8", "replace") + "\n")
    elif how == "json" or output.json:
        output.stdout.write(exact.dumps(decoded, indent=2) + "\n")
    elif "structuredContent" in members:
        output.stdout.write(exact.dumps(members["structuredContent"], indent=2) + "\n")
    else:
        for text in _texts(members):
            output.line(text)
    _others(output, members, directory, told=how == "text" and not output.json)
    if members.get("resultType") == "input_required":
        raise _input_required(members)
    return Exit.OUTSIDE_FAILED if members.get("isError") is True else Exit.DONE


def _blocks(members: Mapping[str, Json]) -> Iterator[Mapping[str, Json]]:
    content = members.get("content")
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict):
            yield block


def _texts(members: Mapping[str, Json]) -> Iterator[str]:
    for block in _blocks(members):
        if block.get("type") == "text":
            yield str(block.get("text"))


def _others(output: Output, members: Mapping[str, Json], directory: Path | None, *, told: bool) -> None:
    """Pictures, sounds and files: saved, or with `told` a line each that says they are there."""
    for block in _blocks(members):
        if block.get("type") == "text":
            continue
        saved = _bytes_of(block)
        if directory is not None and saved is not None:
            output.note(f"saved {_save(directory, saved, _mime(block))}")
        elif told or directory is not None:
            hint = "--json prints it" if saved is None else "--json prints it, --save-content DIR saves it"
            output.note(f"[{_mime(block) or block.get('type')}: not shown; {hint}]")


def _mime(block: Mapping[str, Json]) -> str:
    inner = block.get("resource")
    holder = inner if isinstance(inner, dict) else block
    return str(holder.get("mimeType") or "")


def _bytes_of(block: Mapping[str, Json]) -> bytes | None:
    """What a picture, a sound or an embedded resource holds; None: nothing that could be a file."""
    inner = block.get("resource")
    holder = inner if isinstance(inner, dict) else block
    if isinstance(text := holder.get("text"), str):
        return text.encode("utf-8", "surrogatepass")
    data = holder.get("data", holder.get("blob"))
    if not isinstance(data, str):
        return None
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return None


def _save(directory: Path, data: bytes, mime: str) -> Path:
    """Write to a new file; nothing of its name comes from the server, and nothing is written over."""
    suffix = mimetypes.guess_extension(mime.partition(";")[0].strip()) or ".bin"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for number in range(1, MAX_FILES):
            path = directory / f"content-{number}{suffix}"
            try:
                descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
            except FileExistsError:
                continue
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            return path
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise Unavailable(
            f"{directory}: {why}", code="call.save", remedy="the call was made; name a directory that can be written"
        ) from None
    raise Unavailable(f"{directory} is full of earlier files", code="call.save", remedy="name another directory")


def _input_required(members: Mapping[str, Json]) -> Refused:
    requests = members.get("inputRequests")
    asked = [
        f"{name}: {_question(request)}" for name, request in (requests.items() if isinstance(requests, dict) else ())
    ]
    return Refused(
        "the server asks for input that this command cannot give" + "".join(f"\n  {line}" for line in asked),
        code="call.input_required",
        remedy="call it from an agent that answers such questions",
    )


def _question(request: Json) -> str:
    if not isinstance(request, dict):
        return "?"
    params = request.get("params")
    message = params.get("message") if isinstance(params, dict) else None
    return f"{request.get('method')}" + (f" {message!r}" if isinstance(message, str) else "")
