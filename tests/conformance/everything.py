"""The server that the official suite asks for, on the official SDK: `python everything.py PORT`. Both eras.

Names, texts and schemas are the suite's; each tool does as little as its scenario looks at.
"""

# No deferred annotations here: the SDK evaluates them outside of this module's functions.
# pyright: basic
# ruff: noqa: PT028, E501, RUF100
import asyncio
import json
import sys
from typing import Annotated, Any

from mcp import types
from mcp.server.mcpserver import Context, MCPServer, RequestStateSecurity
from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, Field

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
SILENCE = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
NAMED = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}

server = MCPServer(
    "everything",
    log_level="WARNING",
    request_state_security=RequestStateSecurity(keys=[b"of a test, at least 32 bytes long"]),
)


def described(function: Any) -> Any:
    """The suite wants a description of everything."""
    function.__doc__ = function.__doc__ or function.__name__.replace("_", " ")
    return function


def tool(function: Any) -> Any:
    return server.tool()(described(function))


def prompt(function: Any) -> Any:
    return server.prompt()(described(function))


class Kept(EventStore):
    """Events in memory, for streams that are taken up again."""

    def __init__(self) -> None:
        self.events: list[tuple[str, Any]] = []

    async def store_event(self, stream_id: str, message: Any) -> str:
        self.events.append((stream_id, message))
        return str(len(self.events))

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> str | None:
        at = int(last_event_id)
        if not 0 < at <= len(self.events):
            return None
        stream = self.events[at - 1][0]
        for number, (one, message) in enumerate(self.events[at:], at + 1):
            if one == stream and message is not None:
                await send_callback(EventMessage(message, str(number)))
        return stream


def said(text: str) -> types.TextContent:
    return types.TextContent(type="text", text=text)


def image() -> types.ImageContent:
    return types.ImageContent(type="image", data=PIXEL, mime_type="image/png")


def embedded(uri: str, text: str, kind: str = "text/plain") -> types.EmbeddedResource:
    contents = types.TextResourceContents(uri=uri, mime_type=kind, text=text)
    return types.EmbeddedResource(type="resource", resource=contents)


@tool
def test_simple_text() -> str:
    return "This is a simple text response for testing."


@tool
def test_image_content() -> list[types.ImageContent]:
    return [image()]


@tool
def test_audio_content() -> list[types.AudioContent]:
    return [types.AudioContent(type="audio", data=SILENCE, mime_type="audio/wav")]


@tool
def test_embedded_resource() -> list[types.EmbeddedResource]:
    return [embedded("test://embedded-resource", "This is an embedded resource content.")]


@tool
def test_multiple_content_types() -> list[types.TextContent | types.ImageContent | types.EmbeddedResource]:
    mixed = embedded("test://mixed-content-resource", '{"test":"data","value":123}', "application/json")
    return [said("Multiple content types test:"), image(), mixed]


@tool
async def test_tool_with_logging(ctx: Context) -> str:
    for what in ("started", "processing data", "completed"):
        await ctx.info(f"Tool execution {what}")
        await asyncio.sleep(0.05)
    return "logged"


@tool
async def test_logging_tool(ctx: Context) -> str:
    await ctx.info("logged")
    return "logged"


@tool
async def test_streaming_elicitation(ctx: Context) -> str | types.InputRequiredResult:
    await ctx.report_progress(1, 2, "before the question")
    return "answered" if answer(ctx, "user_name") else need(user_name=ask())


@tool
async def test_tool_with_progress(ctx: Context) -> str:
    for step in (0, 50, 100):
        await ctx.report_progress(step, 100, f"step {step}")
        await asyncio.sleep(0.05)
    return "done"


@tool
def test_error_handling() -> str:
    raise RuntimeError("This tool intentionally returns an error for testing")


@tool
async def test_reconnection(ctx: Context) -> str:
    await ctx.close_sse_stream()
    await asyncio.sleep(0.2)
    return "taken up again"


@tool
async def test_sampling(prompt: str, ctx: Context) -> str:
    result = await ctx.session.create_message(
        messages=[types.SamplingMessage(role="user", content=said(prompt))],
        max_tokens=100,
        related_request_id=ctx.request_id,
    )
    return f"LLM response: {getattr(result.content, 'text', '')}"


class Answered(BaseModel):
    response: str = Field(description="The answer")


class Defaults(BaseModel):
    name: str = "John Doe"
    age: int = 30
    score: float = 95.5
    status: str = Field(default="active", json_schema_extra={"enum": ["active", "inactive", "pending"]})
    verified: bool = True


def extra(**members: Any) -> Any:
    return Field(json_schema_extra=members)


class Enums(BaseModel):
    untitledSingle: str = extra(enum=["option1", "option2", "option3"])
    titledSingle: str = extra(oneOf=[{"const": "value1", "title": "One"}, {"const": "value2", "title": "Two"}])
    untitledMulti: list[str] = extra(items={"type": "string", "enum": ["option1", "option2"]})
    titledMulti: list[str] = extra(items={"anyOf": [{"const": "value1", "title": "One"}]})
    legacyEnum: str = extra(enum=["opt1", "opt2"], enumNames=["Option One", "Option Two"])


async def elicited(ctx: Context, message: str, schema: type[BaseModel]) -> str:
    result = await ctx.elicit(message=message, schema=schema)
    return f"action={result.action}, content={result.data.model_dump_json() if result.action == 'accept' else '{}'}"


@tool
async def test_elicitation(message: str, ctx: Context) -> str:
    return await elicited(ctx, message, Answered)


@tool
async def test_elicitation_sep1034_defaults(ctx: Context) -> str:
    return await elicited(ctx, "Defaults of every type", Defaults)


@tool
async def test_elicitation_sep1330_enums(ctx: Context) -> str:
    return await elicited(ctx, "Choices of every form", Enums)


@tool
def test_x_mcp_header(region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})] = "<none>") -> str:
    return f"region={region}"


@tool
async def test_missing_capability(ctx: Context) -> str:
    if getattr(ctx.session.client_capabilities, "sampling", None) is None:
        needed = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, "sampling is needed", needed)
    return "sampling is there"


def ask(schema: dict[str, Any] = NAMED, message: str = "What is your name?") -> types.ElicitRequest:
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))


def sample(text: str) -> types.CreateMessageRequest:
    messages = [types.SamplingMessage(role="user", content=said(text))]
    return types.CreateMessageRequest(params=types.CreateMessageRequestParams(messages=messages, max_tokens=50))


def need(state: str | None = None, **requests: Any) -> types.InputRequiredResult:
    return types.InputRequiredResult(input_requests=requests, request_state=state)


def answer(ctx: Context, key: str) -> Any:
    return (ctx.input_responses or {}).get(key)


def content(given: Any, key: str) -> Any:
    return (getattr(given, "content", None) or {}).get(key)


@tool
async def test_input_required_result_elicitation(ctx: Context) -> str | types.InputRequiredResult:
    given = answer(ctx, "user_name")
    return f"Hello, {content(given, 'name')}!" if given else need(user_name=ask())


@tool
async def test_input_required_result_sampling(ctx: Context) -> str | types.InputRequiredResult:
    given = answer(ctx, "capital_question")
    return (
        f"Model said: {given.content.text}"
        if given
        else need(capital_question=sample("What is the capital of France?"))
    )


@tool
async def test_input_required_result_list_roots(ctx: Context) -> str | types.InputRequiredResult:
    given = answer(ctx, "client_roots")
    return f"{len(given.roots)} roots" if given else need(client_roots=types.ListRootsRequest())


OK = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}


@tool
async def test_input_required_result_request_state(ctx: Context) -> str | types.InputRequiredResult:
    good = answer(ctx, "confirm") and ctx.request_state == "nonce"
    return "state-ok: confirmed" if good else need("nonce", confirm=ask(OK, "Please confirm"))


@tool
async def test_input_required_result_tampered_state(ctx: Context) -> str | types.InputRequiredResult:
    return "state-ok" if ctx.request_state else need("round-1", confirm=ask(OK, "Please confirm"))


@tool
async def test_input_required_result_multiple_inputs(ctx: Context) -> str | types.InputRequiredResult:
    wanted = {"user_name": ask(), "greeting": sample("Generate a greeting"), "client_roots": types.ListRootsRequest()}
    return "All inputs received." if wanted.keys() <= (ctx.input_responses or {}).keys() else need("many", **wanted)


@tool
async def test_input_required_result_multi_round(ctx: Context) -> str | types.InputRequiredResult:
    state = json.loads(ctx.request_state or "{}")
    if state.get("round") == 2 and (given := answer(ctx, "step2")):
        return f"{state['name']} likes {content(given, 'color')}."
    if state.get("round") == 1 and (given := answer(ctx, "step1")):
        color = {"type": "object", "properties": {"color": {"type": "string"}}, "required": ["color"]}
        return need(json.dumps({"round": 2, "name": content(given, "name")}), step2=ask(color, "Step 2: which color?"))
    return need(json.dumps({"round": 1}), step1=ask(message="Step 1: What is your name?"))


@tool
async def test_input_required_result_capabilities(ctx: Context) -> types.InputRequiredResult:
    declared = ctx.client_capabilities
    wanted: dict[str, Any] = {}
    if getattr(declared, "sampling", None) is not None:
        wanted["sample"] = sample("Say hello")
    if getattr(declared, "elicitation", None) is not None:
        wanted["ask"] = ask()
    return need("gated", **wanted)


@tool
def json_schema_2020_12_tool() -> str:
    return "valid"


def any_of(*names: str) -> dict[str, Any]:
    return {"anyOf": [{"required": [name]} for name in names]}


server._tool_manager._tools["json_schema_2020_12_tool"].parameters = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
    "properties": {"address": {"$ref": "#/$defs/address"}, "contactMethod": {"type": "string", "enum": ["phone", "email"]}}
    | {name: {"type": "string"} for name in ("name", "phone", "email")},
    "allOf": [any_of("phone", "email")],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}  # fmt: skip


@tool
async def test_trigger_tool_change(ctx: Context) -> str:
    await ctx.notify_tools_changed()
    return "told"


@tool
async def test_trigger_prompt_change(ctx: Context) -> str:
    await ctx.notify_prompts_changed()
    return "told"


@server.resource("test://static-text")
def static_text() -> str:
    return "This is the content of the static text resource."


@server.resource("test://static-binary")
def static_binary() -> bytes:
    return bytes(range(16))


@server.resource("test://template/{id}/data")
def template(id: str) -> str:  # noqa: A002
    return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


@server.resource("test://watched-resource")
def watched() -> str:
    return "watched"


@prompt
def test_simple_prompt() -> str:
    return "This is a simple prompt for testing."


@prompt
def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


@prompt
def test_prompt_with_embedded_resource(resourceUri: str) -> list[Any]:  # noqa: N803
    held = embedded(resourceUri, "Embedded resource content for testing.").model_dump(by_alias=True, mode="json")
    return [{"role": "user", "content": held}, "Please process the embedded resource above."]


@prompt
def test_prompt_with_image() -> list[Any]:
    return [
        {"role": "user", "content": image().model_dump(by_alias=True, mode="json")},
        "Please analyze the image above.",
    ]


@prompt
async def test_input_required_result_prompt(ctx: Context) -> Any:
    schema = {"type": "object", "properties": {"context": {"type": "string"}}, "required": ["context"]}
    given = answer(ctx, "user_context")
    return (
        f"Use the following context: {content(given, 'context')}"
        if given
        else need(user_context=ask(schema, "Which context?"))
    )


@server.completion()
async def complete(ref: Any, argument: Any, context: Any) -> types.Completion:
    return types.Completion(values=[], total=0, has_more=False)


async def _nothing(ctx: Any, params: Any) -> types.EmptyResult:
    return types.EmptyResult()


for _method, _params in (
    ("logging/setLevel", types.SetLevelRequestParams),
    ("resources/subscribe", types.SubscribeRequestParams),
    ("resources/unsubscribe", types.UnsubscribeRequestParams),
):
    server._lowlevel_server.add_request_handler(_method, _params, _nothing)


if __name__ == "__main__":
    server.run(transport="streamable-http", port=int(sys.argv[1]), event_store=Kept(), retry_interval=100)
