"""A server of PyPI's `mcp` with one tool, which writes its name and its arguments to the file that is named."""

import json
import sys
from pathlib import Path
from typing import Any

import anyio
from canonical import noted
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, TextContent, Tool

FILE = Path(sys.argv[1])
NOTE = Tool(name="note", description="Note the arguments.", input_schema={"type": "object"})


async def list_tools(context: Any, params: Any) -> ListToolsResult:
    return ListToolsResult(tools=[NOTE])


async def call_tool(context: Any, params: CallToolRequestParams) -> CallToolResult:
    with FILE.open("a") as file:
        file.write(json.dumps({"name": params.name, "arguments": noted(params.arguments or {})}) + "\n")
    return CallToolResult(content=[TextContent(type="text", text="noted")])


async def main() -> None:
    server = Server("decoders", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


anyio.run(main)
