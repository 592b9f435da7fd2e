"""Writes the profiles by the rules: `profiles.py FOLDER`, the folder with the snapshot that has InjecAgent's data."""

import json
import sys
from pathlib import Path

import bfcl_tools
import injecagent_tools
from rules import profile

HERE = Path(__file__).parent


def main() -> None:
    """Write both profiles."""
    made = {
        "injecagent": profile(
            "injecagent", "330 tools of one person, in 38 toolkits.", injecagent_tools.tools(Path(sys.argv[1])), set()
        ),
        "bfcl": profile(
            "bfcl",
            "Files, messages, posts, tickets, stocks, journeys and a car of one person.",
            bfcl_tools.tools(),
            {"MathAPI"},
        ),
    }
    for name, known in made.items():
        (HERE / f"{name}.profile.json").write_text(lines(known))


def lines(known: dict) -> str:
    """Write a profile with one line for each tool."""
    parts = []
    for name, value in known.items():
        if name == "tools":
            entries = ",\n    ".join(json.dumps(entry) for entry in value)
            parts.append(f'  "tools": [\n    {entries}\n  ]')
        else:
            parts.append(f"  {json.dumps(name)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    main()
