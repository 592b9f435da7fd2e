"""The client of PyPI's `mcp`: takes the steps of a scenario against a server, and prints each answer.

The server is a command, or an address with a token in the environment.
"""

import asyncio
import json
import os
import sys
from pathlib import Path

import httpx2
import mcp_types as types
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

Step = dict[str, object]


async def sample(*_: object) -> types.CreateMessageResult:
    """Answer what a server asks the model."""
    content = types.TextContent(type="text", text="a sample")
    return types.CreateMessageResult(role="assistant", content=content, model="none")


async def elicit(*_: object) -> types.ElicitResult:
    """Answer what a server asks the user."""
    return types.ElicitResult(action="accept", content={"name": "Anna", "integer": 7})


async def roots(*_: object) -> types.ListRootsResult:
    """Say where the client works."""
    return types.ListRootsResult(roots=[types.Root(uri="file:///srv/work", name="work")])


async def told(*_: object) -> None:
    """Take progress and log messages."""


async def take(client: Client, step: Step) -> object:
    """Take one step."""
    match step["do"]:
        case "tools":
            return await client.list_tools()
        case "call":
            progress = told if step.get("progress") else None
            return await client.call_tool(step["name"], step["arguments"], progress_callback=progress)
        case "resources":
            return await client.list_resources()
        case "templates":
            return await client.list_resource_templates()
        case "read":
            return await client.read_resource(step["uri"])
        case "subscribe":
            return await client.subscribe_resource(step["uri"])
        case "unsubscribe":
            return await client.unsubscribe_resource(step["uri"])
        case "prompts":
            return await client.list_prompts()
        case "prompt":
            return await client.get_prompt(step["name"], step.get("arguments"))
        case "complete":
            reference = types.PromptReference(type="ref/prompt", name=step["prompt"])
            return await client.complete(reference, step["argument"])
        case "level":
            return await client.set_logging_level(step["level"])
        case "roots":
            return await client.send_roots_list_changed()
        case "listen":
            async with client.listen(tools_list_changed=True) as changes:
                called = await client.call_tool(step["call"], {})
                return [called, type(await anext(changes)).__name__]
        case "ping":
            return await client.send_ping()
    raise ValueError(step["do"])


async def main(mode: str, scenario: str, command: list[str]) -> None:
    """Take all steps."""
    steps = json.loads(Path(scenario).read_text())["steps"]
    if command[0].startswith("http://"):
        headers = {"Authorization": f"Bearer {os.environ['GATE_TOKEN']}"}
        server = streamable_http_client(command[0], http_client=httpx2.AsyncClient(headers=headers, timeout=30))
    else:
        server = StdioServerParameters(command=command[0], args=command[1:])
    callbacks = {
        "sampling_callback": sample,
        "elicitation_callback": elicit,
        "list_roots_callback": roots,
        "logging_callback": told,
    }
    async with Client(server, mode=mode, read_timeout_seconds=30, **callbacks) as client:
        hello = [client.protocol_version, client.server_info, client.server_capabilities, client.instructions]
        for number, step in enumerate([None, *steps]):
            try:
                answer = hello if step is None else await take(client, step)
            except Exception as error:
                answer = f"{type(error).__name__}: {error}"
            print(number, json.dumps(answer, default=lambda model: model.model_dump(mode="json")), flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
