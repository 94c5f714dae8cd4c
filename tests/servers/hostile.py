"""Servers that misbehave, one a mode; standard library only: `python hostile.py MODE [ARGUMENT]`.

exits CODE        writes two lines to stderr and ends         silent          reads, never answers
closes            closes stdout, stays                         deaf            never reads its input
noise             legacy server, chatter between its lines     not-mcp         answers JSON that is no JSON-RPC
html              writes an HTML page                          twice           answers every request twice
wrong-id          answers `tools/call` for another id first    huge N          answers `tools/call` with N bytes
endless           writes one line that never ends              half            half a message, then ends
both              result and error in one response             null            `result: null`
dies-on-probe     ends at the first request unless it is `initialize`
forks FILE        legacy server with a grandchild in a new session; its pid goes to FILE
stubborn FILE     ignores SIGTERM, SIGINT, SIGHUP and end of input; its pid goes to FILE
flood             legacy server that fills stderr without end
asks-strangely    legacy server that sends requests of unknown methods and with odd ids
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from typing import Any

TOOL = {"name": "echo", "inputSchema": {"type": "object"}}


def write(text: str) -> None:
    """One line on stdout."""
    sys.stdout.buffer.write(text.encode() + b"\n")
    sys.stdout.buffer.flush()


def respond(message: dict[str, Any], **rest: Any) -> str:
    """A response line."""
    return json.dumps({"jsonrpc": "2.0", "id": message["id"], **rest})


def legacy(message: dict[str, Any]) -> str | None:
    """What a minimal legacy server answers."""
    match message.get("method"):
        case "initialize":
            info = {"name": "hostile", "version": "0"}
            return respond(
                message, result={"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}
            )
        case "tools/list":
            return respond(message, result={"tools": [TOOL]})
        case "tools/call":
            return respond(message, result={"content": [{"type": "text", "text": "ok"}]})
        case _ if "id" in message and "method" in message:
            return respond(message, error={"code": -32601, "message": "Method not found"})
        case _:
            return None


def serve(mode: str, argument: str) -> None:
    """The modes that read messages."""
    for line in sys.stdin.buffer:
        message = json.loads(line)
        answer = legacy(message)
        called = message.get("method") == "tools/call"
        match mode:
            case "silent":
                continue
            case "not-mcp":
                write('{"hello": "world"}')
                write("[1, 2, 3]")
                write('"text"')
                continue
            case "noise":
                write("Starting up...")
                write("")
                write("\x1b[32mINFO\x1b[0m {not json}")
                sys.stdout.buffer.write(b"\xff\xfe\x00 bytes\n")
            case "twice" if answer:
                write(answer)
            case "wrong-id" if called:
                write(respond({"id": 999_999}, result={"content": [{"type": "text", "text": "wrong"}]}))
                write(respond({"id": "x"}, result={"content": []}))
                write(respond({"id": None}, error={"code": 1, "message": "whose?"}))
            case "huge" if called:
                answer = respond(message, result={"content": [{"type": "text", "text": "x" * int(argument)}]})
            case "half" if called:
                sys.stdout.buffer.write((answer or "").encode()[:20])
                sys.stdout.buffer.flush()
                return
            case "both" if called:
                answer = respond(message, result={}, error={"code": 1, "message": "both"})
            case "null" if called:
                answer = respond(message, result=None)
            case "dies-on-probe" if message.get("method") not in ("initialize", "notifications/initialized") and (
                message.get("method") == "server/discover"
            ):
                sys.exit(9)
            case "asks-strangely" if called:
                write(json.dumps({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}))
                write(json.dumps({"jsonrpc": "2.0", "id": None, "method": "roots/list"}))
                write(json.dumps({"jsonrpc": "2.0", "id": "q", "method": "secrets/give", "params": [1]}))
            case _:
                pass
        if answer:
            write(answer)


def prepare(mode: str, argument: str) -> bool:
    """What a mode does before it serves; whether it serves at all."""
    match mode:
        case "exits":
            print("cannot find the frobnicator\nset FROBNICATOR and try again", file=sys.stderr, flush=True)
            sys.exit(int(argument or 1))
        case "closes":
            os.close(1)
            time.sleep(60)
        case "deaf":
            time.sleep(60)
        case "html":
            write("<!doctype html>\n<title>404</title>")
        case "endless":
            while True:
                sys.stdout.buffer.write(b"x" * 65536)
        case "forks":
            child = subprocess.Popen(
                [sys.executable, "-c", "import time; time.sleep(120)"], start_new_session=True, stdin=subprocess.DEVNULL
            )
            with open(argument, "w", encoding="ascii") as file:
                file.write(f"{os.getpid()} {child.pid}")
        case "stubborn":
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)
            with open(argument, "w", encoding="ascii") as file:
                file.write(f"{os.getpid()}")
        case "flood":
            threading.Thread(target=flood, daemon=True).start()
        case _:
            return True
    return mode in ("html", "forks", "stubborn", "flood")


def flood() -> None:
    """Fill stderr."""
    while True:
        os.write(2, b"flood " * 1000 + b"\n")


def main() -> None:
    """Serve in the mode that the command line names."""
    mode = sys.argv[1]
    argument = sys.argv[2] if len(sys.argv) > 2 else ""
    if not prepare(mode, argument):
        return
    serve(mode, argument)
    while mode == "stubborn":
        time.sleep(60)


if __name__ == "__main__":
    main()
