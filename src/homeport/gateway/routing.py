"""Names across an aggregate: whose page a `ui://` address is, and where it stands in what a server sends. Pure.

Tools and prompts are named by `ground.names.served`. Pages are different: two servers made from one example share the
address `ui://greeting/app.html`, so in an aggregate alone `ui://X` of a server becomes `ui://<server>.homeport/X`, in
definitions, in results and in reads. That is the one edit of `_meta`; at a single server's endpoint nothing is edited.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from typing import Final, NamedTuple

from homeport.gateway.messages import exact_bytes
from homeport.ground.errors import InvalidInput
from homeport.ground.exact import Json, loads

SCHEME: Final = "ui://"
DOMAIN: Final = ".homeport/"

Edit = Callable[[str], str]


class Target(NamedTuple):
    """Where a client came in: a profile, and one server of it or (empty) all of them."""

    profile: str
    server: str = ""


def aggregate_page(server: str, uri: str) -> str:
    """The address of a server's page in an aggregate; any other address as it is."""
    return f"{SCHEME}{server}{DOMAIN}{uri[len(SCHEME) :]}" if uri.startswith(SCHEME) else uri


def split_page(uri: str, servers: Container[str]) -> tuple[str, str] | None:
    """The server and its own address behind an aggregate's; None for an address that is no such."""
    if not uri.startswith(SCHEME):
        return None
    server, separator, rest = uri[len(SCHEME) :].partition(DOMAIN)
    return (server, SCHEME + rest) if separator and server in servers else None


def aggregate_definition(definition: Mapping[str, Json], server: str, name: str) -> dict[str, Json]:
    """A tool's or prompt's definition as an aggregate serves it: its name, and the address of its page."""
    edited: dict[str, Json] = {**definition, "name": name}
    meta = definition.get("_meta")
    if isinstance(meta, dict):
        edited["_meta"] = _edited_meta(meta, lambda uri: aggregate_page(server, uri))
    return edited


def aggregate_result(result: bytes, server: str) -> bytes:
    """A result as an aggregate delivers it: the same bytes, unless a page's address is in it."""
    if b"ui:" not in result and b"ui\\" not in result:
        return result
    try:
        value = loads(result)
    except InvalidInput:
        return result
    if not isinstance(value, dict):
        return result
    edited = _edited_result(value, lambda uri: aggregate_page(server, uri))
    return result if edited == value else exact_bytes(edited)


def _edited_result(result: dict[str, Json], edit: Edit) -> dict[str, Json]:
    edited = dict(result)
    meta, contents, content = result.get("_meta"), result.get("contents"), result.get("content")
    if isinstance(meta, dict):
        edited["_meta"] = _edited_meta(meta, edit)
    if isinstance(contents, list):
        edited["contents"] = [_edited_uri(item, edit) for item in contents]
    if isinstance(content, list):
        edited["content"] = [_edited_block(block, edit) for block in content]
    return edited


def _edited_block(block: Json, edit: Edit) -> Json:
    if not isinstance(block, dict):
        return block
    if block.get("type") == "resource_link":
        return _edited_uri(block, edit)
    if block.get("type") == "resource":
        return {**block, "resource": _edited_uri(block.get("resource"), edit)}
    return block


def _edited_uri(holder: Json, edit: Edit) -> Json:
    uri = holder.get("uri") if isinstance(holder, dict) else None
    return {**holder, "uri": edit(uri)} if isinstance(holder, dict) and isinstance(uri, str) else holder


def _edited_meta(meta: dict[str, Json], edit: Edit) -> dict[str, Json]:
    edited = dict(meta)
    flat, nested = meta.get("ui/resourceUri"), meta.get("ui")
    if isinstance(flat, str):
        edited["ui/resourceUri"] = edit(flat)
    uri = nested.get("resourceUri") if isinstance(nested, dict) else None
    if isinstance(nested, dict) and isinstance(uri, str):
        edited["ui"] = {**nested, "resourceUri": edit(uri)}
    return edited
