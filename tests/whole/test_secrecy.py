"""A secret that a server leaks comes out nowhere (surface.md section 14, law 10)."""

from __future__ import annotations

import base64
import json
import os
import urllib.parse

import pytest
from tests.support.clients import over_http
from tests.support.homeport import Home, scripted

pytestmark = pytest.mark.anyio

STORED = 'st0red/"p@ss" wörd-8817'
FROM_ENVIRONMENT = "env1ronment+p@ss=5521"
LEAKY = """
import base64, json, os, sys, urllib.parse
sys.path.insert(0, {root!r})
from tests.servers import scripted
def forms(name):
    text = os.environ[name]
    return [text, urllib.parse.quote(text, safe=""), base64.b64encode(text.encode()).decode(), json.dumps(text)[1:-1]]
def call(server, message, params, modern):
    leaked = " | ".join(forms("KEY") + forms("TOKEN"))
    print("refused by the service:", leaked, file=sys.stderr, flush=True)
    if params["name"] == "refuse":
        raise scripted.RpcError(-32050, leaked)
    if params["name"] == "quit":
        os._exit(3)
    return {{"content": [scripted.text(leaked)], "isError": True}}
scripted.Server.call = call
print("starting with", forms("KEY"), forms("TOKEN"), file=sys.stderr, flush=True)
scripted.main()
"""


def travelling(text: str) -> set[bytes]:
    """The forms in which a secret would be found."""
    forms = {
        text,
        urllib.parse.quote(text, safe=""),
        json.dumps(text)[1:-1],
        json.dumps(text, ensure_ascii=False)[1:-1],
    }
    return {form.encode() for form in forms} | {base64.b64encode(text.encode())}


async def test_law_10_a_planted_secret_is_found_nowhere(home: Home) -> None:
    script = home.root / "leaky.py"
    script.write_text(LEAKY.format(root=os.getcwd()), "utf-8")
    text = scripted().split("\n")[0] + f'\nargs = ["{script}"]\n'
    home.write(
        f'[project]\nname = "x"\n[servers.alpha]\n{text}'
        'env = { KEY = "{secret:key}", TOKEN = ["{secret:none}", "{env:PLANTED}"] }\n'
        '[profiles.default.grants.alpha]\ncan = ["*"]\n'
    )
    home.extra["PLANTED"] = FROM_ENVIRONMENT
    home.run("secrets", "set", "key", stdin=STORED + "\n")
    said = [home.run("lock", "--yes", "-v", check=None)]
    said += [home.run("call", "alpha", tool, *more, check=3) for tool in ("echo", "refuse") for more in _ways(tool)]
    told: list[str] = []
    with home.up() as up:
        async with over_http(up, "2026-07-28") as client:
            told += [str(await client.list_tools()), str(await client.call_tool("alpha__echo", {"text": "x"}))]
        said += [home.run("call", "alpha", "quit", check=3), home.run("logs", "alpha"), home.run("ps", "--json")]
    said += [home.run("audit", "--jsonl"), home.run("explain", "alpha", "echo", check=None)]
    everything = "\n".join([*told, *(done.stdout + done.stderr for done in said)]).encode()
    assert b"[hidden]" in everything
    kept = {home.root / "homeport" / "state" / "secrets.json"}
    files = {file: file.read_bytes() for file in home.root.rglob("*") if file.is_file() and file not in kept}
    for form in travelling(STORED) | travelling(FROM_ENVIRONMENT):
        assert form not in everything
        assert [file for file, data in files.items() if form in data and file.name != "secrets.json"] == []


def _ways(tool: str) -> list[tuple[str, ...]]:
    given = ("--text", "x") if tool == "echo" else ()
    return [given, (*given, "--json")]
