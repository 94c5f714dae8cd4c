"""Whole listings, exact and bounded."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from tests.servers import scripted_server
from tests.servers.scripted import PAGE, PAGE_TEXT, TOOLS
from tests.upstreams.conftest import QUICK, Opener

from homeport.ground.errors import ProtocolViolation
from homeport.ground.exact import Number
from homeport.upstreams.listing import page_uris, read_surface_lists

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_everything_a_server_offers_is_read(opened: Opener, era: str) -> None:
    listing = await read_surface_lists(await opened(scripted_server("--era", era)))
    assert listing.tools == TOOLS
    assert [prompt["name"] for prompt in listing.prompts if isinstance(prompt, dict)] == ["greet"]
    assert [one["uriTemplate"] for one in listing.templates if isinstance(one, dict)] == ["memo://{name}"]
    assert listing.pages == {PAGE: PAGE_TEXT}
    assert listing.problems == []
    assert listing.ttl_ms == (0 if era == "modern" else None)
    surface = listing.surface()
    assert sorted(surface.tools) == sorted(str(tool["name"]) for tool in TOOLS)
    assert surface.server.name == "scripted"


async def test_pages_of_a_list_are_joined(opened: Opener) -> None:
    listing = await read_surface_lists(await opened(scripted_server("--page-size", "4")))
    assert listing.tools == TOOLS


async def test_documents_are_left_out_when_not_wanted(opened: Opener) -> None:
    listing = await read_surface_lists(await opened(scripted_server()), pages=False)
    assert listing.pages == {}


async def test_numbers_and_order_stay_as_they_were(opened: Opener, tmp_path: Path) -> None:
    tools = tmp_path / "tools.json"
    text = '[{"inputSchema":{"type":"object","maximum":1.50},"z":12345678901234567890,"name":"t","a":null}]'
    tools.write_text(text)
    listing = await read_surface_lists(await opened(scripted_server("--tools", str(tools))))
    (tool,) = listing.tools
    assert isinstance(tool, dict)
    assert list(tool) == ["inputSchema", "z", "name", "a"]
    assert isinstance(tool["inputSchema"], dict)
    assert isinstance(tool["inputSchema"]["maximum"], Number)
    assert tool["z"] == 12345678901234567890


async def test_a_page_that_cannot_be_read_is_a_problem_of_its_own(opened: Opener, tmp_path: Path) -> None:
    tools = tmp_path / "tools.json"
    missing = {"name": "t", "inputSchema": {"type": "object"}, "_meta": {"ui": {"resourceUri": "ui://gone/x"}}}
    tools.write_text(json.dumps([missing]))
    listing = await read_surface_lists(await opened(scripted_server("--tools", str(tools))))
    assert len(listing.tools) == 1
    assert [problem.code for problem in listing.problems] == ["upstream.page"]


@pytest.mark.parametrize("limits", [{"list_pages": 3}, {"list_items": 5}])
async def test_a_list_without_end_is_refused(opened: Opener, limits: dict[str, int]) -> None:
    session = await opened(scripted_server("--page-size", "2"))
    with pytest.raises(ProtocolViolation) as caught:
        await read_surface_lists(session, limits=dataclasses.replace(QUICK, **limits))
    assert caught.value.code == "upstream.list_too_long"


def test_the_pages_of_tools_are_found_in_both_spellings_and_once() -> None:
    tools = [
        {"_meta": {"ui": {"resourceUri": "ui://a"}}},
        {"_meta": {"ui/resourceUri": "ui://b"}},
        {"_meta": {"ui": {"resourceUri": "ui://a"}}},
        {"_meta": {"ui": {"resourceUri": "https://evil"}}},
        {"_meta": {"ui": {"resourceUri": 5}}},
        {"_meta": None},
        "text",
    ]
    assert page_uris(tools) == ["ui://a", "ui://b"]  # pyright: ignore[reportArgumentType]
