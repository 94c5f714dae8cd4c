"""An MCP server that fronts Inkscape: a desktop application that may or may not be on this machine.

It is small on purpose (standard library, one file) and says nothing of whether Inkscape is there: that is declared in
`homeport.toml`, so that its tools are withheld, with the reason, where they could only fail.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

TOOLS: list[dict[str, Any]] = [
    {
        "name": "list_objects",
        "title": "List the objects of a drawing",
        "description": "Every object of an SVG file with its id, position and size in pixels.",
        "inputSchema": {
            "type": "object",
            "properties": {"drawing": {"type": "string", "description": "Path of the SVG file."}},
            "required": ["drawing"],
            "additionalProperties": False,
        },
        "annotations": {"readOnlyHint": True, "openWorldHint": False},
    },
    {
        "name": "export_png",
        "title": "Export a drawing as PNG",
        "description": "Render an SVG file to a PNG file beside it and return the path of the PNG.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "drawing": {"type": "string", "description": "Path of the SVG file."},
                "width": {"type": "integer", "minimum": 1, "maximum": 8192, "description": "Width in pixels."},
            },
            "required": ["drawing"],
            "additionalProperties": False,
        },
        "annotations": {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": True},
    },
]


def inkscape(*arguments: str) -> str:
    """Run Inkscape without a window and return what it printed."""
    program = shutil.which("inkscape")
    if program is None:
        raise RuntimeError("Inkscape is not on this machine's PATH")
    done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=50, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip() or f"Inkscape ended with status {done.returncode}")
    return done.stdout


def list_objects(drawing: str) -> str:
    """One line an object: id, x, y, width, height."""
    return inkscape("--query-all", drawing)


def export_png(drawing: str, width: int | None = None) -> str:
    """Render beside the drawing."""
    target = Path(drawing).with_suffix(".png")
    size = [f"--export-width={width}"] if width else []
    inkscape(drawing, *size, f"--export-filename={target}")
    return str(target)


def call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Run a tool; a failure of Inkscape is a result the model can read."""
    try:
        text = {"list_objects": list_objects, "export_png": export_png}[name](**arguments)
    except (RuntimeError, OSError, subprocess.TimeoutExpired, TypeError) as error:
        return {"content": [{"type": "text", "text": str(error)}], "isError": True}
    return {"content": [{"type": "text", "text": text}]}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    """The result of a request, or None where the method is unknown."""
    if method == "initialize":
        return {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "inkscape-server", "version": "1.0.0"},
        }
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call" and params.get("name") in {tool["name"] for tool in TOOLS}:
        return call(params["name"], params.get("arguments") or {})
    return {} if method == "ping" else None


def main() -> None:
    """One JSON-RPC message a line, until standard input ends."""
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        result = answer(message["method"], message.get("params") or {})
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        if result is None:
            reply["error"] = {"code": -32601, "message": f"unknown method {message['method']}"}
        else:
            reply["result"] = result
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
