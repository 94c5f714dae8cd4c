"""A gateway for tests of `connect` alone: the run file, the socket and the hello line, and scripted answers.

    python fake_gateway.py [--refuse] [--slow-start S] [--exit CODE] PROJECT

Every start appends a line to `<home>/starts`. Answers hold the method, this process's pid and what was received so
far. The method `die` ends the process at once, `hold` is never answered.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from homeport.connect import places


def serve(connection: socket.socket, refuse: bool) -> None:
    received: list[str] = []
    lines = connection.makefile("rb")
    hello = json.loads(lines.readline() or b"{}")
    if refuse:
        error = {
            "code": "profile.unknown",
            "message": f"there is no profile {hello['profile']}",
            "remedy": "homeport trust",
        }
        connection.sendall(json.dumps({"homeport": 1, "error": error}).encode() + b"\n")
        connection.close()
        return
    connection.sendall(b'{"homeport":1}\n')
    for line in lines:
        message = json.loads(line)
        method = message.get("method", "")
        received.append(method)
        if method == "die":
            os._exit(9)
        if "id" not in message or method == "hold":
            continue
        result: dict[str, Any] = {"pid": os.getpid(), "received": received, "hello": hello}
        if method == "big":
            result["text"] = "x" * 3_000_000
        identity = json.dumps(message["id"])
        connection.sendall(f'{{"jsonrpc":"2.0","id":{identity},"result":{json.dumps(result)}}}\n'.encode())
    connection.close()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--refuse", action="store_true")
    parser.add_argument("--slow-start", type=float, default=0)
    parser.add_argument("--exit", type=int)
    parser.add_argument("project")
    options = parser.parse_args()
    home = Path(os.environ["HOMEPORT_HOME"])
    with (home / "starts").open("a") as starts:
        starts.write(json.dumps({"pid": os.getpid(), "session": os.getsid(0), "environment": dict(os.environ)}) + "\n")
    if options.exit is not None:
        sys.exit(options.exit)
    time.sleep(options.slow_start)
    path = Path(tempfile.mkdtemp(dir=home)) / "s"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen(64)
    run = home / "state" / "run"
    run.mkdir(parents=True, exist_ok=True)
    written = run / f"{path.parent.name}.new"
    written.write_text(json.dumps({"pid": os.getpid(), "socket": str(path)}))
    written.rename(run / f"{places.project_key(options.project)}.json")
    threading.Timer(60, lambda: os._exit(0)).start()
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=serve, args=(connection, options.refuse), daemon=True).start()


if __name__ == "__main__":
    main()
