"""A well-behaved MCP server on standard streams for tests, of either era; standard library only.

    python scripted.py [--era legacy|modern|dual] [--name N] [--tools FILE] [--page-size N] [--start-delay S]
                       [--record FILE] [--stderr TEXT] [--instructions TEXT]

`--era dual` (the default) answers both `server/discover` and `initialize`. `--tools FILE` replaces the tool
definitions by a JSON array (read anew for each list, so a test can change it); a call of a tool that is not one of the
built-in ones is echoed. `--record FILE` appends every received line.

Built-in tools, by what a call does:

    echo {text}             the text                        env {name}      that environment variable, or "(unset)"
    add {a, b}              structured {"sum": …}           where {}        "<pid> <working directory>"
    slow {seconds, steps}   progress, then "done"           raw {}          a fixed odd-looking result, see RAW_RESULT
    fail {text}             isError: true                   big {bytes}     that many characters
    refuse {code, message}  a JSON-RPC error                delete {name}   "deleted <name>"; says it is destructive
    ask {message}           elicitation, then the answer    log {text}      a log message, then "logged"
    change {}               list_changed, one tool more     quit {code}     ends the process without an answer
    page {}                 a result with the page ui://scripted/page
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
import time
from typing import Any

MODERN = "2026-07-28"
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
META = "io.modelcontextprotocol/"
PAGE = "ui://scripted/page"
PAGE_TEXT = "<!doctype html><title>page</title><p>hello</p>"
RAW_RESULT = (
    '{ "content" : [ {"type":"text","text":"caf\\u00e9 \u00fc","x-unknown":1.0} ],'
    '"structuredContent":{"big":12345678901234567890,"tiny":1e-400,"z":1,"a":2},"unknownMember":null,'
    '"_meta":{"com.example/k":null}%s}'
)
"""`%s` is filled with `,"resultType":"complete"` in the modern era, else with nothing."""


def schema(required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    """An object schema."""
    return {"type": "object", "properties": properties, "required": list(required)}


TEXT = {"type": "string"}
TOOLS: list[dict[str, Any]] = [
    {"name": "echo", "description": "Say it again.", "inputSchema": schema(("text",), text=TEXT),
     "annotations": {"readOnlyHint": True}},
    {"name": "add", "description": "Add two integers.",
     "inputSchema": schema(("a", "b"), a={"type": "integer"}, b={"type": "integer"}),
     "outputSchema": schema(("sum",), sum={"type": "integer"}), "annotations": {"readOnlyHint": True}},
    {"name": "slow", "description": "Take a while.",
     "inputSchema": schema((), seconds={"type": "number"}, steps={"type": "integer"}),
     "annotations": {"readOnlyHint": True}},
    {"name": "fail", "description": "Answer with isError.", "inputSchema": schema((), text=TEXT)},
    {"name": "refuse", "description": "Answer with a JSON-RPC error.",
     "inputSchema": schema((), code={"type": "integer"}, message=TEXT)},
    {"name": "ask", "description": "Ask the user.", "inputSchema": schema((), message=TEXT)},
    {"name": "env", "description": "Read an environment variable.", "inputSchema": schema(("name",), name=TEXT),
     "annotations": {"readOnlyHint": True}},
    {"name": "where", "description": "Process and directory.", "inputSchema": schema(),
     "annotations": {"readOnlyHint": True}},
    {"name": "raw", "description": "A result with unusual bytes.", "inputSchema": schema(),
     "annotations": {"readOnlyHint": True}},
    {"name": "big", "description": "A long text.", "inputSchema": schema((), bytes={"type": "integer"}),
     "annotations": {"readOnlyHint": True}},
    {"name": "delete", "description": "Delete something.", "inputSchema": schema(("name",), name=TEXT),
     "annotations": {"destructiveHint": True}},
    {"name": "log", "description": "Log something.", "inputSchema": schema((), text=TEXT)},
    {"name": "change", "description": "Offer one more tool.", "inputSchema": schema()},
    {"name": "quit", "description": "End at once.", "inputSchema": schema((), code={"type": "integer"})},
    {"name": "page", "description": "Show a page.", "inputSchema": schema(),
     "_meta": {"ui": {"resourceUri": PAGE}}},
]  # fmt: skip
PROMPTS = [{"name": "greet", "description": "A greeting.", "arguments": [{"name": "name", "required": True}]}]
RESOURCES = [{"uri": "memo://one", "name": "one", "mimeType": "text/plain"}]
TEMPLATES = [{"uriTemplate": "memo://{name}", "name": "memo"}]


class RpcError(Exception):
    """Becomes the `error` of a response."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.error = {"code": code, "message": message} | ({} if data is None else {"data": data})


class Server:
    """One conversation on the standard streams."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.extra = 0
        self.asked = 0
        self.answers: dict[str, dict[str, Any]] = {}
        self.answered = threading.Condition()
        self.writing = threading.Lock()
        self.cancelled: set[str] = set()
        self.listeners: list[Any] = []

    def write(self, text: str) -> None:
        with self.writing:
            sys.stdout.buffer.write(text.encode() + b"\n")
            sys.stdout.buffer.flush()

    def send(self, **message: Any) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False))

    def run(self) -> None:
        for line in sys.stdin.buffer:
            if self.options.record:
                with open(self.options.record, "ab") as record:
                    record.write(line)
            message = json.loads(line)
            if "method" not in message:
                with self.answered:
                    self.answers[str(message.get("id"))] = message
                    self.answered.notify_all()
            elif "id" not in message:
                self.notified(message)
            elif message["method"] == "tools/call" and message["params"].get("name") in ("slow", "ask"):
                threading.Thread(target=self.answer, args=(message,), daemon=True).start()
            else:
                self.answer(message)

    def notified(self, message: dict[str, Any]) -> None:
        if message["method"] == "notifications/cancelled":
            self.cancelled.add(json.dumps(message["params"]["requestId"]))

    def answer(self, message: dict[str, Any]) -> None:
        params = message.get("params") or {}
        modern = META + "protocolVersion" in (params.get("_meta") or {})
        try:
            result = self.result(message, params, modern)
        except RpcError as error:
            self.send(id=message["id"], error=error.error)
            return
        if result is None or json.dumps(message["id"]) in self.cancelled:
            return
        if isinstance(result, str):
            self.write('{{"jsonrpc":"2.0","id":{},"result":{}}}'.format(json.dumps(message["id"]), result))
            return
        if modern:
            result.setdefault("resultType", "complete")
        self.send(id=message["id"], result=result)

    def result(self, message: dict[str, Any], params: dict[str, Any], modern: bool) -> dict[str, Any] | str | None:
        method = message["method"]
        era = self.options.era
        if era == "modern" and not modern:
            raise RpcError(-32602, "missing _meta; this server speaks " + MODERN, {"supported": [MODERN]})
        if era == "legacy" and modern:
            raise RpcError(-32601, "Method not found")
        if modern:
            wanted = params["_meta"][META + "protocolVersion"]
            if wanted != MODERN:
                raise RpcError(-32022, "Unsupported protocol version", {"supported": [MODERN], "requested": wanted})
        simple = {
            "ping": dict,
            "logging/setLevel": dict,
            "server/discover": self.discover,
            "initialize": lambda: self.initialize(params),
            "prompts/list": lambda: {"prompts": PROMPTS},
            "resources/list": lambda: {"resources": RESOURCES},
            "resources/templates/list": lambda: {"resourceTemplates": TEMPLATES},
            "resources/subscribe": dict,
            "resources/unsubscribe": dict,
            "prompts/get": lambda: self.prompt(params),
            "resources/read": lambda: self.resource(params),
            "completion/complete": lambda: {"completion": {"values": [params["argument"]["value"] + "-done"]}},
            "tools/list": lambda: self.tools(params),
        }
        if method in simple and not (modern and method in ("ping", "initialize")):
            answer = simple[method]()
            if modern and (method.endswith("/list") or method in ("resources/read", "server/discover")):
                answer |= {"ttlMs": 0, "cacheScope": "private"}
            return answer
        if method == "subscriptions/listen" and modern:
            self.listeners.append(message["id"])
            self.send(
                method="notifications/subscriptions/acknowledged",
                params={
                    "_meta": {META + "subscriptionId": message["id"]},
                    "notifications": params.get("notifications", {}),
                },
            )
            return None
        if method == "tools/call":
            return self.call(message, params, modern)
        raise RpcError(-32601, "Method not found")

    def capabilities(self) -> dict[str, Any]:
        return {"tools": {"listChanged": True}, "prompts": {}, "resources": {}, "logging": {}, "completions": {}}

    def identity(self) -> dict[str, Any]:
        return {"name": self.options.name, "version": "1.2.3"}

    def discover(self) -> dict[str, Any]:
        return {
            "supportedVersions": [MODERN],
            "capabilities": self.capabilities(),
            "instructions": self.options.instructions,
            "_meta": {META + "serverInfo": self.identity()},
        }

    def initialize(self, params: dict[str, Any]) -> dict[str, Any]:
        asked = params.get("protocolVersion")
        return {
            "protocolVersion": asked if asked in LEGACY else LEGACY[0],
            "capabilities": self.capabilities(),
            "serverInfo": self.identity(),
            "instructions": self.options.instructions,
        }

    def definitions(self) -> list[dict[str, Any]]:
        if self.options.tools:
            with open(self.options.tools, encoding="utf-8") as file:
                return json.load(file)
        return TOOLS + [{"name": f"extra_{n}", "inputSchema": schema()} for n in range(self.extra)]

    def tools(self, params: dict[str, Any]) -> dict[str, Any]:
        every, start = self.definitions(), int(params.get("cursor") or 0)
        end = start + (self.options.page_size or len(every) or 1)
        return {"tools": every[start:end]} | ({"nextCursor": str(end)} if end < len(every) else {})

    def prompt(self, params: dict[str, Any]) -> dict[str, Any]:
        if params.get("name") != "greet":
            raise RpcError(-32602, "unknown prompt")
        text = f"Greet {(params.get('arguments') or {}).get('name', 'nobody')}."
        return {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}

    def resource(self, params: dict[str, Any]) -> dict[str, Any]:
        uri = params.get("uri", "")
        if uri == PAGE:
            return {"contents": [{"uri": uri, "mimeType": "text/html;profile=mcp-app", "text": PAGE_TEXT}]}
        if uri.startswith("memo://"):
            return {"contents": [{"uri": uri, "mimeType": "text/plain", "text": "memo " + uri[7:]}]}
        raise RpcError(-32602, "unknown resource")

    def call(self, message: dict[str, Any], params: dict[str, Any], modern: bool) -> dict[str, Any] | str | None:
        name, arguments = params.get("name"), params.get("arguments") or {}
        match name:
            case "add":
                total = arguments["a"] + arguments["b"]
                return {"content": [text(total)], "structuredContent": {"sum": total}}
            case "slow":
                return self.slow(message, params, arguments)
            case "fail":
                return {"content": [text(arguments.get("text", "failed"))], "isError": True}
            case "refuse":
                raise RpcError(arguments.get("code", -32000), arguments.get("message", "refused"), {"by": "scripted"})
            case "ask":
                return self.ask(params, arguments, modern)
            case "raw":
                return RAW_RESULT % (',"resultType":"complete"' if modern else "")
            case "log":
                self.send(method="notifications/message", params={"level": "info", "data": arguments.get("text", "")})
                return {"content": [text("logged")]}
            case "change":
                self.extra += 1
                self.changed()
                return {"content": [text("changed")]}
            case "quit":
                os._exit(arguments.get("code", 3))
            case "page":
                return {"content": [text("a page")], "structuredContent": {"shown": True}}
            case _:
                return {"content": [text(plain(name, arguments))]}

    def changed(self) -> None:
        if not self.listeners:
            self.send(method="notifications/tools/list_changed")
        for listener in self.listeners:
            self.send(method="notifications/tools/list_changed", params={"_meta": {META + "subscriptionId": listener}})

    def slow(self, message: dict[str, Any], params: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
        steps, seconds = arguments.get("steps", 3), arguments.get("seconds", 0.3)
        token = (params.get("_meta") or {}).get("progressToken")
        for step in range(steps):
            time.sleep(seconds / steps)
            if json.dumps(message["id"]) in self.cancelled:
                break
            if token is not None:
                self.send(
                    method="notifications/progress",
                    params={"progressToken": token, "progress": step + 1, "total": steps},
                )
        return {"content": [text("done")]}

    def ask(self, params: dict[str, Any], arguments: dict[str, Any], modern: bool) -> dict[str, Any]:
        question = {
            "mode": "form",
            "message": arguments.get("message", "Your name?"),
            "requestedSchema": schema((), name=TEXT),
        }
        if modern:
            answers = params.get("inputResponses") or {}
            if "name" not in answers:
                return {
                    "resultType": "input_required",
                    "requestState": "state-1",
                    "inputRequests": {"name": {"method": "elicitation/create", "params": question}},
                }
            state = params.get("requestState")
            return {"content": [text(f"{state} answered {json.dumps(answers['name'], sort_keys=True)}")]}
        self.asked += 1
        key = f"ask-{self.asked}"
        self.send(id=key, method="elicitation/create", params=question)
        with self.answered:
            self.answered.wait_for(lambda: key in self.answers, timeout=30)
        reply = self.answers.get(key, {})
        return {"content": [text("answered " + json.dumps(reply.get("result", reply.get("error")), sort_keys=True))]}


def text(value: Any) -> dict[str, Any]:
    """A text block."""
    return {"type": "text", "text": str(value)}


def plain(name: Any, arguments: dict[str, Any]) -> str:
    """What the tools that only say something say."""
    match name:
        case "echo":
            return str(arguments.get("text", ""))
        case "env":
            return os.environ.get(str(arguments.get("name")), "(unset)")
        case "where":
            return f"{os.getpid()} {os.getcwd()}"
        case "big":
            return "x" * int(arguments.get("bytes", 1_000_000))
        case "delete":
            return f"deleted {arguments.get('name')}"
        case _:
            return f"{name} {json.dumps(arguments)}"


def main() -> None:
    """Read the options and serve until end of input."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--era", choices=("legacy", "modern", "dual"), default="dual")
    parser.add_argument("--name", default="scripted")
    parser.add_argument("--instructions", default="Use echo for everything.")
    parser.add_argument("--tools", default="")
    parser.add_argument("--page-size", type=int, default=0)
    parser.add_argument("--start-delay", type=float, default=0.0)
    parser.add_argument("--record", default="")
    parser.add_argument("--stderr", default="")
    options = parser.parse_args()
    if options.stderr:
        print(options.stderr, file=sys.stderr, flush=True)
    time.sleep(options.start_delay)
    Server(options).run()


if __name__ == "__main__":
    main()
