"""An ASGI application behind a real HTTP server on a free loopback port, in a thread of its own."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import uvicorn

T = TypeVar("T")


@dataclass(frozen=True)
class Served:
    """Where it is, and its loop."""

    port: int
    loop: asyncio.AbstractEventLoop

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def do(self, act: Callable[[], T]) -> T:
        """Run `act` on the server's loop and return what it returns."""

        async def run() -> T:
            return act()

        return asyncio.run_coroutine_threadsafe(run(), self.loop).result(10)


@contextmanager
def served(app: Any, *, port: int = 0, before_end: Callable[[], None] = lambda: None) -> Generator[Served]:
    """Serve `app` while the block runs; `before_end` runs on its loop before the server is told to end."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    # From here on connections wait in line, however late the loop begins.
    listener.listen(64)
    config = uvicorn.Config(app, log_level="warning", lifespan="off", timeout_graceful_shutdown=5)
    server = uvicorn.Server(config)
    started: list[asyncio.AbstractEventLoop] = []
    ready = threading.Event()

    async def run() -> None:
        started.append(asyncio.get_running_loop())
        ready.set()
        await server.serve(sockets=[listener])

    thread = threading.Thread(target=lambda: asyncio.run(run()))
    thread.start()
    try:
        ready.wait(10)
        found = Served(listener.getsockname()[1], started[0])
        yield found
        found.do(before_end)
    finally:
        server.should_exit = True
        thread.join(20)
        listener.close()
