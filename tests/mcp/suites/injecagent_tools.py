"""The tools of InjecAgent: of `data/tools.json`, and of nothing else."""

import json
import re
from pathlib import Path

from rules import Field, Tool

DATA = "data"


def tools(folder: Path) -> list[Tool]:
    """Read the definitions of all tools."""
    kits = json.loads((folder / DATA / "tools.json").read_text())
    return [read(kit["toolkit"], known) for kit in kits for known in kit["tools"]]


def read(kit: str, known: dict) -> Tool:
    """Read the definition of a tool."""
    properties = {one["name"]: {"type": one["type"], "description": one["description"]} for one in known["parameters"]}
    required = [one["name"] for one in known["parameters"] if one.get("required")]
    arguments = {"type": "object", "properties": properties, "required": required}
    fields = [found for one in known["returns"] for found in members(one)]
    said = " ".join(f"{one['name']} {one['description']}" for one in known["returns"])
    return Tool(kit, f"{kit}{known['name']}", known["summary"], arguments, fields, said)


def members(one: dict) -> list[Field]:
    """Return a value of a result, or what its description names in quotes, if it is a list or an object."""
    path = f"$.{one['name']}"
    if one["type"] not in ("array", "object"):
        return [Field(path, "$", one["name"])]
    within = f"{path}[*]" if one["type"] == "array" else path
    # A name in quotes is a member, and `limit` an argument.
    quoted = [name for name in re.findall(r"['`]([a-z_]+)['`]", one["description"]) if name != "limit"]
    if not quoted:
        return (
            [Field(within, path, one["name"], is_list=True, said=one["description"])] if one["type"] == "array" else []
        )
    return [Field(f"{within}.{name}", within, name) for name in dict.fromkeys(quoted)]
