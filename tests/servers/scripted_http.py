"""The scripted server behind a URL, of either era, in threads of the test's own process; standard library only.

    with scripted_http(era="legacy", answers="sse") as server:
        ... server.url, server.received, server.push({...})

It speaks what `scripted.py` speaks. `answers`: `json`, or `sse` (an event stream for every request). `hostile` makes it
misbehave: `redirect` (to another origin), `redirect-here` (308 to another path of its own), `unauthorized`,
`unavailable` (503), `html`, `huge`, `cut` (ends in the middle of an event stream), `silent-stream`, `wrong-id`,
`forget` (404 for every session after the first call), `resume` (legacy: ends each call's stream before the answer,
which a GET with `Last-Event-ID` then gets), `no-stream` (405 for GET).
"""

from __future__ import annotations

import contextlib
import json
import queue
import threading
import time
from argparse import Namespace
from collections.abc import Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.servers import scripted

OPTIONS = {"name": "scripted", "instructions": "Use echo for everything.", "tools": "", "page_size": 0, "record": ""}


class ScriptedHttp(scripted.Server):
    """The scripted server, with each message going out where the request's thread says."""

    def __init__(self, era: str, answers: str, hostile: str) -> None:
        super().__init__(Namespace(era=era, **OPTIONS))
        self.answers_as = answers
        self.hostile = hostile
        self.url = ""
        self.received: list[tuple[str, dict[str, str], Any]] = []
        """`(HTTP method, header fields with lower-case names, body)`."""
        self.sessions: set[str] = set()
        self.deleted: list[str] = []
        self.streams: list[queue.Queue[dict[str, Any] | None]] = []
        self.parked: dict[str, str] = {}
        self.streaming = threading.Event()
        """Somebody hears the legacy GET stream, or a modern subscription."""
        self.ending = threading.Event()
        self.here = threading.local()

    def write(self, text: str) -> None:
        self.here.sink(text)

    def changed(self) -> None:
        self.push({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})

    def push(self, message: dict[str, Any]) -> None:
        """Say something that belongs to no request."""
        for stream in self.streams:
            stream.put(message)

    def seen(self, method: str) -> list[tuple[dict[str, str], Any]]:
        """Headers and body of every message with this JSON-RPC method."""
        return [(headers, body) for _, headers, body in self.received if body and body.get("method") == method]


class Handler(BaseHTTPRequestHandler):
    """One HTTP request."""

    protocol_version = "HTTP/1.1"
    owner: ScriptedHttp
    cut = False

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Silent."""

    def finish(self) -> None:
        with contextlib.suppress(OSError):
            super().finish()

    def body(self) -> Any:
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        value = json.loads(data) if data else None
        fields = {name.lower(): text for name, text in self.headers.items()}
        self.owner.received.append((self.command, fields, value))
        return value

    def plain(self, status: int, text: str = "", kind: str = "application/json", **fields: str) -> None:
        self.send_response(status)
        data = text.encode()
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def start_stream(self, **fields: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.close_connection = True
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def event(self, text: str, identity: str = "") -> None:
        with contextlib.suppress(OSError):
            head = f"id: {identity}\n" if identity else ""
            self.wfile.write(f": comment\n{head}event: message\ndata: {text}\n\n".encode())
            self.wfile.flush()

    def do_POST(self) -> None:
        message = self.body()
        owner = self.owner
        if not self.misbehaved(message):
            if "method" not in message:
                with owner.answered:
                    owner.answers[str(message["id"])] = message
                    owner.answered.notify_all()
                self.plain(202)
            elif "id" not in message:
                owner.notified(message)
                self.plain(202)
            elif self.admitted(message):
                self.serve(message)

    def misbehaved(self, message: dict[str, Any]) -> bool:
        """The hostile answers that need no conversation; whether one was given."""
        called = message.get("method") == "tools/call"
        match self.owner.hostile:
            case "redirect":
                self.plain(307, Location="http://127.0.0.2:9/mcp")
            case "redirect-here" if self.path == "/mcp":
                self.plain(308, Location="/moved")
            case "unauthorized":
                self.plain(401, '{"error":"who are you"}', WWW_Authenticate='Bearer resource_metadata="http://x/y"')
            case "unavailable" if called:
                self.plain(503, "later", "text/plain")
            case "html":
                self.plain(200, "<h1>hello</h1>", "text/html")
            case "huge" if called:
                self.plain(200, json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {"x": "y" * 3_000_000}}))
            case "cut" if called:
                self.start_stream()
                self.wfile.write(b'data: {"jsonrpc":"2.0",')
            case "silent-stream" if called:
                self.start_stream()
                self.owner.ending.wait(5)
            case "wrong-id" if called:
                self.plain(200, json.dumps({"jsonrpc": "2.0", "id": 999_999, "result": {}}))
            case "forget" if called:
                self.owner.sessions.clear()
                return False
            case _:
                return False
        return True

    def admitted(self, message: dict[str, Any]) -> bool:
        """Legacy: the session is one of ours. Modern: the header fields agree with the body."""
        if self.owner.options.era == "legacy":
            identity = self.headers.get("Mcp-Session-Id", "")
            if message["method"] == "initialize" or identity in self.owner.sessions:
                return True
            self.plain(404 if identity else 400, '{"jsonrpc":"2.0","error":{"code":-32000,"message":"no session"}}')
            return False
        version = ((message.get("params") or {}).get("_meta") or {}).get(scripted.META + "protocolVersion")
        if self.headers.get("Mcp-Method") != message["method"] or self.headers.get("MCP-Protocol-Version") != version:
            error = {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32020, "message": "header mismatch"}}
            self.plain(400, json.dumps(error))
            return False
        return True

    def serve(self, message: dict[str, Any]) -> None:
        owner, fields = self.owner, {}
        if message["method"] == "initialize" and owner.options.era == "legacy":
            identity = f"session-{len(owner.sessions) + len(owner.deleted) + 1}"
            owner.sessions.add(identity)
            fields["Mcp_Session_Id"] = identity
        if message["method"] == "subscriptions/listen" and owner.options.era == "modern":
            self.subscribe(message)
        elif owner.hostile == "resume" and message["method"] == "tools/call":
            owner.here.sink = lambda text: owner.parked.__setitem__("e1", text)
            owner.answer(message)
            self.start_stream()
            self.wfile.write(b"retry: 20\nid: e1\ndata:\n\n")
        elif owner.answers_as == "sse":
            self.start_stream(**fields)
            owner.here.sink = self.event
            owner.answer(message)
        else:
            sent: list[str] = []
            owner.here.sink = sent.append
            owner.answer(message)
            status = 404 if '"code": -32601' in sent[-1] and owner.options.era == "modern" else 200
            self.plain(status, sent[-1], **fields)

    def subscribe(self, message: dict[str, Any]) -> None:
        meta = {scripted.META + "subscriptionId": message["id"]}
        self.start_stream()
        granted = {"_meta": meta, "notifications": message["params"]["notifications"]}
        acknowledged = {"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": granted}
        self.event(json.dumps(acknowledged))
        self.relay()

    def relay(self) -> None:
        """Pass on what is pushed until the server ends."""
        stream: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self.owner.streams.append(stream)
        self.owner.streaming.set()
        while (message := stream.get()) is not None:
            self.event(json.dumps(message))

    def do_GET(self) -> None:
        self.body()
        last = self.headers.get("Last-Event-ID", "")
        if last in self.owner.parked:
            self.start_stream()
            self.event(self.owner.parked[last], "e2")
        elif self.owner.options.era == "modern" or self.owner.hostile == "no-stream":
            self.plain(405)
        elif self.headers.get("Mcp-Session-Id") not in self.owner.sessions:
            self.plain(404)
        else:
            self.start_stream()
            self.relay()

    def do_DELETE(self) -> None:
        self.body()
        identity = self.headers.get("Mcp-Session-Id", "")
        self.owner.sessions.discard(identity)
        self.owner.deleted.append(identity)
        self.plain(200)


@contextlib.contextmanager
def scripted_http(era: str = "modern", answers: str = "json", hostile: str = "") -> Generator[ScriptedHttp]:
    """A running server on a free port of 127.0.0.1, ended with the block."""
    owner = ScriptedHttp(era, answers, hostile)
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Handler,), {"owner": owner}))
    server.daemon_threads = True
    owner.url = f"http://127.0.0.1:{server.server_address[1]}/mcp"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield owner
    finally:
        owner.ending.set()
        for stream in owner.streams:
            stream.put(None)
        server.shutdown()
        server.server_close()
        thread.join(5)


def until(condition: Any, seconds: float = 5.0) -> bool:
    """Whether something becomes true in time; for what another thread does."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.005)
    return False
