"""The tools of the multi-turn part of BFCL: of its documents about functions, and of nothing else."""

import json
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from rules import Field, Tool

KITS = {
    "gorilla_file_system": "GorillaFileSystem",
    "math_api": "MathAPI",
    "message_api": "MessageAPI",
    "posting_api": "TwitterAPI",
    "ticket_api": "TicketAPI",
    "trading_bot": "TradingBot",
    "travel_booking": "TravelAPI",
    "vehicle_control": "VehicleControlAPI",
}
TYPES = {"dict": "object", "float": "number", "tuple": "array"}


def tools() -> list[Tool]:
    """Read the definitions of all tools."""
    return [tool for document, kit in KITS.items() for tool in kit_tools(document, kit)]


def kit_tools(document: str, kit: str) -> Iterator[Tool]:
    """Read the definitions of a toolkit's tools."""
    path = Path(str(files("bfcl_eval"))) / "data" / "multi_turn_func_doc" / f"{document}.json"
    for line in path.read_text().splitlines():
        known = json.loads(line)
        description = known["description"].split("Tool description:")[-1].strip()
        fields = list(members("$", "$", known.get("response", {})))
        said = " ".join(descriptions(known.get("response", {})))
        yield Tool(kit, known["name"], description, schema(known["parameters"]), fields, said)


def schema(known: dict) -> dict:
    """Write a schema with the types of JSON Schema."""
    out = {"type": TYPES.get(known["type"], known["type"])}
    if out["type"] == "any":
        out = {}
    if "description" in known:
        out["description"] = known["description"]
    if "items" in known:
        out["items"] = schema(known["items"])
    if "properties" in known:
        out["properties"] = {name: schema(one) for name, one in known["properties"].items()}
        out["required"] = known.get("required", [])
    return out


def members(path: str, within: str, known: dict) -> Iterator[Field]:
    """Find the values of a result, with paths to them."""
    for name, one in known.get("properties", {}).items():
        here = f"{path}.{name}"
        items = one.get("items", {})
        if "properties" in one:
            yield from members(here, here, one)
        elif "properties" in items:
            yield from members(f"{here}[*]", f"{here}[*]", items)
        elif one.get("type") == "array":
            yield Field(f"{here}[*]", here, name, is_list=True, said=one.get("description", ""))
        elif name.replace("_", "").isalnum():
            yield Field(here, within, name)


def descriptions(known: dict) -> Iterator[str]:
    """Find what the schema of a result says in words."""
    for name, one in known.get("properties", {}).items():
        yield f"{name} {one.get('description', '')}"
        yield from descriptions(one)
        yield from descriptions(one.get("items", {}))
