"""A proxy that adds a profile's token to every request and changes nothing else: the suite's runner sends none."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator

_HEAD_END = b"\r\n\r\n"


@contextlib.asynccontextmanager
async def adding(token: str, port: int) -> AsyncGenerator[int]:
    """A port on loopback that leads to `port`, while the block runs. Host, Origin and blanks travel as received."""
    line = f"Authorization: Bearer {token}\r\n".encode("ascii")
    busy: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        busy.add(task)
        task.add_done_callback(busy.discard)
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await _both(reader, writer, line, port)
        await _closed(writer)

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in tuple(busy):
            task.cancel()
        await asyncio.gather(*busy, return_exceptions=True)
        await server.wait_closed()


async def _both(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, line: bytes, port: int) -> None:
    """Both directions of one connection until either side ends it."""
    up_reader, up_writer = await asyncio.open_connection("127.0.0.1", port)
    ways = [
        asyncio.ensure_future(_requests(reader, up_writer, line)),
        asyncio.ensure_future(_copy(up_reader, writer)),
    ]
    try:
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)
        await _closed(up_writer)


async def _requests(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, line: bytes) -> None:
    while True:
        head = await reader.readuntil(_HEAD_END)
        writer.write(head[:-2] + line + b"\r\n")
        await _body(head.lower(), reader, writer)
        await writer.drain()


async def _body(head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    fields = dict(field.split(b":", 1) for field in head.split(b"\r\n")[1:] if b":" in field)
    if b"chunked" in fields.get(b"transfer-encoding", b""):
        size = 1
        while size:
            first = await reader.readuntil(b"\r\n")
            size = int(first.split(b";")[0], 16)
            writer.write(first + await reader.readexactly(size + 2))
    elif length := int(fields.get(b"content-length", b"0")):
        writer.write(await reader.readexactly(length))


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()


async def _closed(writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
