"""Servers made with other people's libraries: `python official.py mcp|fastmcp stdio|http [PORT]`."""

# No deferred annotations here: both libraries evaluate them outside of `build`, where `Context` is not known.
import sys
from typing import Any


def build(library: str) -> Any:
    """A small server with one tool that tells progress and one that asks."""
    if library == "fastmcp":
        from fastmcp import Context, FastMCP

        server: Any = FastMCP("official")
    else:
        from mcp.server.mcpserver import Context, MCPServer

        server = MCPServer("official", instructions="Be kind.")

    @server.tool()
    async def echo(text: str) -> str:
        """Say it again."""
        return text

    @server.tool()
    async def steps(count: int, ctx: Context) -> str:
        """Tell progress."""
        for step in range(count):
            await ctx.report_progress(step + 1, count)
        return "done"

    @server.prompt()
    def greet(name: str) -> str:
        """Greet."""
        return f"Hello {name}"

    @server.resource("memo://one")
    def memo() -> str:
        """A memo."""
        return "one"

    return server


def main() -> None:
    """Serve."""
    library, transport = sys.argv[1:3]
    server = build(library)
    if transport == "stdio":
        server.run(transport="stdio", **({"show_banner": False} if library == "fastmcp" else {}))
        return
    import uvicorn

    app = server.http_app(path="/mcp") if library == "fastmcp" else server.streamable_http_app()
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[3]), log_level="warning")


if __name__ == "__main__":
    main()
