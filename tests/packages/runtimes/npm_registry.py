"""A package registry on loopback with a few packages of our own, so that the real npm can be used without a network."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import http.server
import io
import json
import tarfile
import threading
from collections.abc import Generator
from typing import Any
from urllib.parse import unquote


def tarball(manifest: dict[str, Any], files: dict[str, str]) -> bytes:
    """A package as npm packs it."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, text in {"package.json": json.dumps(manifest), **files}.items():
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return buffer.getvalue()


class Registry:
    """Packages by name and version; `publish` may replace one, as a registry that was broken into would."""

    def __init__(self) -> None:
        self.url = ""
        self.packages: dict[str, dict[str, tuple[dict[str, Any], bytes]]] = {}

    def publish(self, name: str, version: str, files: dict[str, str] | None = None, **manifest: Any) -> None:
        """Add a package."""
        whole = {"name": name, "version": version, **manifest}
        self.packages.setdefault(name, {})[version] = (whole, tarball(whole, files or {}))

    def document(self, name: str) -> dict[str, Any]:
        """What a registry answers for a package."""
        versions = {
            version: {
                **manifest,
                **({"hasInstallScript": True} if "install" in manifest.get("scripts", {}) else {}),
                "dist": {
                    "tarball": f"{self.url}/-/{name}/{version}.tgz",
                    "integrity": "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode(),
                },
            }
            for version, (manifest, data) in self.packages[name].items()
        }
        return {"name": name, "dist-tags": {"latest": max(versions)}, "versions": versions}

    def answer(self, path: str) -> bytes | None:
        """The body for a path, or None."""
        path = unquote(path).strip("/")
        if path.startswith("-/"):
            name, _, file = path.removeprefix("-/").rpartition("/")
            found = self.packages.get(name, {}).get(file.removesuffix(".tgz"))
            return found[1] if found else None
        return json.dumps(self.document(path)).encode() if path in self.packages else None


@contextlib.contextmanager
def serving(registry: Registry) -> Generator[Registry]:
    """Serve it on a free port."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = registry.answer(self.path.partition("?")[0])
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Length", str(len(body or b"{}")))
            self.end_headers()
            self.wfile.write(body or b"{}")

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        registry.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield registry
        finally:
            server.shutdown()
            thread.join()
