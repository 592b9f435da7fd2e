"""Reads lines as Python's `json` and the SDK do: for each line of standard input, writes what they read.

The SDK is the one that is installed beside this Python, of version 1 or 2.
"""

import io
import json
import sys
from collections.abc import Callable
from typing import Any

from canonical import noted

ENVELOPE = ("id", "method", "params", "result", "error")


def message(members: dict[str, Any]) -> dict[str, Any]:
    """The parts of a message whose members were read."""
    read = {name: members[name] for name in ENVELOPE if name in members}
    if "method" in members:
        read["kind"] = "request" if "id" in members else "notification"
    else:
        read["kind"] = "error" if "error" in members else "result"
    params = members.get("params")
    if members.get("method") == "tools/call" and isinstance(params, dict):
        read["name"], read["arguments"] = params.get("name"), params.get("arguments")
    return read


def plain(line: str) -> dict[str, Any]:
    members = json.loads(line)
    if not isinstance(members, dict):
        raise TypeError("no object")
    return message(members)


def sdk() -> Callable[[str], dict[str, Any]]:
    try:
        from mcp_types import CallToolRequestParams, jsonrpc_message_adapter

        def validate(line: str) -> Any:
            return jsonrpc_message_adapter.validate_json(line, by_name=False)

        def call(params: Any) -> Any:
            return CallToolRequestParams.model_validate(params, by_name=False)

    except ImportError:
        from mcp.types import CallToolRequestParams, JSONRPCMessage

        def validate(line: str) -> Any:
            return JSONRPCMessage.model_validate_json(line).root

        call = CallToolRequestParams.model_validate

    def read(line: str) -> dict[str, Any]:
        typed = validate(line)
        members = {name: getattr(typed, name) for name in ENVELOPE if name in typed.model_fields_set}
        if "error" in members:
            members["error"] = members["error"].model_dump(exclude_unset=True)
        is_call = members.get("method") == "tools/call" and "id" in members
        if is_call:
            params = call(members.pop("params", None) or {})
        parts = message(members)
        if is_call:
            parts["name"], parts["arguments"] = params.name, params.arguments or {}
        return parts

    return read


def attempt(read: Callable[[str], dict[str, Any]], line: str) -> dict[str, Any]:
    """Runs a decoder within Python's own limits."""
    try:
        return read(line)
    except (ValueError, TypeError, RecursionError) as error:
        return {"refused": f"{type(error).__name__}"}


def note_parts(read: dict[str, Any]) -> dict[str, Any]:
    return {part: noted(value) for part, value in read.items()}


def main() -> None:
    limit = sys.getrecursionlimit()
    readers = {"plain": plain, "sdk": sdk()}
    # As servers read lines: with every line end that Python's text streams know.
    lines = io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8", errors="replace")
    for line in lines:
        messages = {name: attempt(read, line) for name, read in readers.items()}
        # The notation nests as deeply as what was read.
        sys.setrecursionlimit(50_000)
        print(json.dumps({name: note_parts(read) for name, read in messages.items()}))
        sys.setrecursionlimit(limit)


main()
