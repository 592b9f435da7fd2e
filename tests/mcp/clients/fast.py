"""The client of PyPI's `fastmcp`: takes the steps of a scenario against a server, and prints each answer."""

import asyncio
import json
import os
import sys
from pathlib import Path

import mcp_types as types
from fastmcp import Client
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from mcp.client.subscriptions import listen

Step = dict[str, object]


async def sample(*_: object) -> str:
    """Answer what a server asks the model."""
    return "a sample"


async def elicit(*_: object) -> types.ElicitResult:
    """Answer what a server asks the user."""
    return types.ElicitResult(action="accept", content={"name": "Anna", "integer": 7})


async def told(*_: object) -> None:
    """Take progress and log messages."""


async def take(client: Client, step: Step) -> object:
    """Take one step."""
    match step["do"]:
        case "tools":
            return await client.list_tools_mcp()
        case "call":
            progress = told if step.get("progress") else None
            return await client.call_tool_mcp(step["name"], step["arguments"], progress_handler=progress)
        case "resources":
            return await client.list_resources_mcp()
        case "templates":
            return await client.list_resource_templates_mcp()
        case "read":
            return await client.read_resource_mcp(step["uri"])
        case "subscribe":
            return await client.session.subscribe_resource(step["uri"])
        case "unsubscribe":
            return await client.session.unsubscribe_resource(step["uri"])
        case "prompts":
            return await client.list_prompts_mcp()
        case "prompt":
            return await client.get_prompt_mcp(step["name"], step.get("arguments"))
        case "complete":
            reference = types.PromptReference(type="ref/prompt", name=step["prompt"])
            return await client.complete_mcp(reference, step["argument"])
        case "level":
            return await client.set_logging_level(step["level"])
        case "roots":
            return await client.send_roots_list_changed()
        case "listen":
            async with listen(client.session, tools_list_changed=True) as changes:
                called = await client.call_tool_mcp(step["call"], {})
                return [called, type(await anext(changes)).__name__]
        case "ping":
            return await client.ping()
    raise ValueError(step["do"])


async def main(mode: str, scenario: str, command: list[str]) -> None:
    """Take all steps."""
    steps = json.loads(Path(scenario).read_text())["steps"]
    if command[0].startswith("http://"):
        server = StreamableHttpTransport(command[0], headers={"Authorization": f"Bearer {os.environ['GATE_TOKEN']}"})
    else:
        server = StdioTransport(command=command[0], args=command[1:], keep_alive=False)
    handlers = {"sampling_handler": sample, "elicitation_handler": elicit, "log_handler": told}
    async with Client(server, mode=mode, timeout=30, roots=["file:///srv/work"], **handlers) as client:
        hello = [client.protocol_version, client.server_info, client.server_capabilities, client.instructions]
        for number, step in enumerate([None, *steps]):
            try:
                answer = hello if step is None else await take(client, step)
            except Exception as error:
                answer = f"{type(error).__name__}: {error}"
            print(number, json.dumps(answer, default=lambda model: model.model_dump(mode="json")), flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
