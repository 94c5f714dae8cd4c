"""The official client through the gateway: both eras on both legs, over HTTP and over `homeport connect`."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import pytest
from mcp import MCPError
from tests.gateway.clients import ERAS, Way, client, text
from tests.gateway.stack import Stack, running, scripted

from homeport.surface.policy import Grant, Profile

pytestmark = pytest.mark.anyio

NEW = ("echo", "add", "slow", "raw", "page", "fail", "refuse", "log")
PROFILES = (
    Profile(
        "default",
        grants={
            "old": Grant("old", can=("*",), never=("delete",), prompts=("*",), resources=("memo://*",)),
            "new": Grant(
                "new", can=("echo", "add", "slow", "raw", "page", "fail", "refuse", "log"), prompts=("greet",)
            ),
        },
    ),
    Profile("narrow", grants={"new": Grant("new", can=("echo",))}),
)


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def stack(anyio_backend: str) -> AsyncGenerator[Stack]:
    servers = {"old": scripted("old", "--era", "legacy"), "new": scripted("new", "--era", "modern")}
    async with running(servers, PROFILES) as made:
        yield made


both_ways = pytest.mark.parametrize("way", ["http", "connect"])
both_eras = pytest.mark.parametrize("era", ERAS)
both_servers = pytest.mark.parametrize("server", ["old", "new"])


@both_ways
@both_eras
async def test_the_list_is_what_is_granted(stack: Stack, way: Way, era: str) -> None:
    async with client(stack, way, era) as connected:
        names = [tool.name for tool in (await connected.list_tools()).tools]
    assert names == sorted(names)
    assert {name for name in names if name.startswith("new__")} == {f"new__{name}" for name in NEW}
    assert "old__delete" not in names
    assert "old__echo" in names


@both_ways
@both_eras
@both_servers
async def test_a_tool_is_called(stack: Stack, way: Way, era: str, server: str) -> None:
    async with client(stack, way, era) as connected:
        assert text(await connected.call_tool(f"{server}__echo", {"text": "héllo\n☃"})) == "héllo\n☃"
        added = await connected.call_tool(f"{server}__add", {"a": 2, "b": 3})
        assert added.structured_content == {"sum": 5}


@both_ways
@both_eras
@both_servers
async def test_progress_arrives_before_the_answer(stack: Stack, way: Way, era: str, server: str) -> None:
    seen: list[float] = []

    async def progressed(progress: float, total: float | None, message: str | None) -> None:
        seen.append(progress)

    async with client(stack, way, era) as connected:
        result = await connected.call_tool(
            f"{server}__slow", {"seconds": 0.3, "steps": 3}, progress_callback=progressed
        )
    assert text(result) == "done"
    assert seen == [1, 2, 3]


@both_ways
@both_eras
@both_servers
async def test_errors_of_the_server_are_its_own(stack: Stack, way: Way, era: str, server: str) -> None:
    async with client(stack, way, era) as connected:
        failed = await connected.call_tool(f"{server}__fail", {"text": "no luck"})
        assert failed.is_error
        assert text(failed) == "no luck"
        with pytest.raises(MCPError) as caught:
            await connected.call_tool(f"{server}__refuse", {"code": -31000, "message": "not today"})
    assert (caught.value.error.code, caught.value.error.message) == (-31000, "not today")
    assert caught.value.error.data == {"by": "scripted"}


@both_ways
@both_eras
@pytest.mark.parametrize("name", ["old__delete", "new__quit", "new__invented", "echo"])
async def test_a_denied_tool_answers_like_an_unknown_one(stack: Stack, way: Way, era: str, name: str) -> None:
    async with client(stack, way, era) as connected:
        with pytest.raises(MCPError) as caught:
            await connected.call_tool(name, {})
    assert (caught.value.error.code, caught.value.error.message) == (-32602, f"unknown tool: {name}")


@both_ways
@both_eras
async def test_wrong_arguments_are_a_result_that_a_model_reads(stack: Stack, way: Way, era: str) -> None:
    async with client(stack, way, era) as connected:
        result = await connected.call_tool("new__add", {"a": "two", "b": 3})
    assert result.is_error
    assert result.meta["homeport/refusal"]["kind"] == "invalid_arguments"
    assert "a" in text(result)


@both_ways
@both_eras
@both_servers
async def test_a_prompt_is_listed_and_got(stack: Stack, way: Way, era: str, server: str) -> None:
    async with client(stack, way, era) as connected:
        assert [prompt.name for prompt in (await connected.list_prompts()).prompts] == ["new__greet", "old__greet"]
        got = await connected.get_prompt(f"{server}__greet", {"name": "Ada"})
    assert got.messages[0].content.text == "Greet Ada."


@both_ways
@both_eras
async def test_resources_are_listed_live_and_read(stack: Stack, way: Way, era: str) -> None:
    async with client(stack, way, era) as connected:
        assert [str(resource.uri) for resource in (await connected.list_resources()).resources] == ["memo://one"]
        templates = (await connected.list_resource_templates()).resource_templates
        assert [template.uri_template for template in templates] == ["memo://{name}"]
        read = await connected.read_resource("memo://two")
        assert read.contents[0].text == "memo two"
        with pytest.raises(MCPError):
            await connected.read_resource("file:///etc/passwd")


@both_ways
@both_eras
@both_servers
async def test_the_page_of_a_granted_tool_is_read_under_its_aggregate_address(
    stack: Stack, way: Way, era: str, server: str
) -> None:
    async with client(stack, way, era) as connected:
        tools = {tool.name: tool for tool in (await connected.list_tools()).tools}
        uri = tools[f"{server}__page"].meta["ui"]["resourceUri"]
        assert uri == f"ui://{server}.homeport/scripted/page"
        read = await connected.read_resource(uri)
    assert str(read.contents[0].uri) == uri
    assert "hello" in read.contents[0].text


@both_ways
@both_eras
async def test_a_profile_sees_its_own_tools_only(stack: Stack, way: Way, era: str) -> None:
    async with client(stack, way, era, profile="narrow") as connected:
        assert [tool.name for tool in (await connected.list_tools()).tools] == ["new__echo"]


@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_at_one_servers_endpoint_names_are_its_own(stack: Stack, era: str) -> None:
    async with client(stack, "http", era, "default", "new") as connected:
        tools = {tool.name: tool for tool in (await connected.list_tools()).tools}
        assert "echo" in tools
        assert tools["page"].meta["ui"]["resourceUri"] == "ui://scripted/page"
        assert text(await connected.call_tool("echo", {"text": "x"})) == "x"
        assert connected.instructions == "Use echo for everything."
        with pytest.raises(MCPError, match="unknown tool"):
            await connected.call_tool("old__echo", {"text": "x"})


@both_ways
@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_it_introduces_itself_with_its_servers_instructions(stack: Stack, way: Way, era: str) -> None:
    async with client(stack, way, era) as connected:
        assert connected.server_info.name == "homeport"
        assert connected.instructions == "[new]\nUse echo for everything.\n\n[old]\nUse echo for everything."
        assert connected.protocol_version == ("2025-11-25" if era == "legacy" else "2026-07-28")


@both_ways
async def test_completion_is_asked_of_the_server(stack: Stack, way: Way) -> None:
    from mcp_types import PromptReference

    async with client(stack, way, "2026-07-28") as connected:
        done = await connected.complete(
            PromptReference(type="ref/prompt", name="old__greet"), {"name": "name", "value": "A"}
        )
    assert done.completion.values == ["A-done"]


@both_ways
@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
async def test_a_legacy_client_pings_and_is_told_by_its_log_level(stack: Stack, way: Way) -> None:
    heard: list[str] = []

    async def logged(params: Any) -> None:
        heard.append(params.data)

    async with client(stack, way, "legacy", logging_callback=logged) as connected:
        await connected.send_ping()
        await connected.set_logging_level("error")
        await connected.call_tool("old__log", {"text": "quiet"})
        await connected.set_logging_level("info")
        await connected.call_tool("old__log", {"text": "loud"})
    assert heard == ["loud"]


@both_ways
@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
async def test_a_modern_client_is_told_what_it_asked_for(stack: Stack, way: Way) -> None:
    heard: list[str] = []

    async def logged(params: Any) -> None:
        heard.append(params.data)

    async with client(stack, way, "2026-07-28", logging_callback=logged) as connected:
        await connected.call_tool("old__log", {"text": "quiet"})
    async with client(stack, way, "2026-07-28", logging_callback=logged, log_level="info") as connected:
        await connected.call_tool("old__log", {"text": "loud"})
    assert heard == ["loud"]


@both_ways
async def test_a_legacy_server_asks_a_legacy_client(stack: Stack, way: Way) -> None:
    from mcp_types import ElicitResult

    async def asked(context: Any, params: Any) -> ElicitResult:
        return ElicitResult(action="accept", content={"name": params.message})

    async with client(stack, way, "legacy", elicitation_callback=asked) as connected:
        result = await connected.call_tool("old__ask", {"message": "Who?"})
    assert text(result) == 'answered {"action": "accept", "content": {"name": "Who?"}}'


@both_ways
async def test_a_client_that_cannot_be_asked_is_not_asked(stack: Stack, way: Way) -> None:
    async with client(stack, way, "legacy") as connected:
        assert "cannot be asked" in text(await connected.call_tool("old__ask", {"message": "Who?"}))
    async with client(stack, way, "2026-07-28") as connected:
        assert "era.ask_back" in text(await connected.call_tool("old__ask", {"message": "Who?"}))


async def test_the_fastmcp_client_works_too(stack: Stack) -> None:
    from fastmcp import Client
    from fastmcp.client.transports import StreamableHttpTransport

    async with Client(StreamableHttpTransport(stack.url(), headers=stack.bearer())) as connected:
        assert "old__echo" in {tool.name for tool in await connected.list_tools()}
        assert text(await connected.call_tool("old__echo", {"text": "x"})) == "x"


async def test_every_call_is_in_the_journal(stack: Stack) -> None:
    async with client(stack, "http", "2026-07-28") as connected:
        await connected.call_tool("new__echo", {"text": "a secret text"})
        with pytest.raises(MCPError):
            await connected.call_tool("new__nothing", {})
    journal = stack.journal()
    assert '"name":"nothing","decision":"unknown"' in journal
    assert "a secret text" not in journal
