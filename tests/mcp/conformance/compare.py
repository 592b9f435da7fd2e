"""The suite `@modelcontextprotocol/conformance` against a server, straight and through the gate: the same verdicts.

The suite speaks HTTP. Straight, the server serves it by the SDK. Through the gate, the server is behind standard input
and output, and the gate serves HTTP. The suite has no token to give: `authorize.mjs` adds it. Its scenarios for
clients, most of them about OAuth, are left out.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import page

VERSION = "2025-11-25"
TOKEN = "0123456789abcdef"

# What is no verdict.
TOLD = {"INFO", "SKIPPED"}


def main() -> int:
    """Compare. Gives 1 where a check passes without the gate and not through it, or fails through it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seamgate", type=Path, required=True)
    parser.add_argument("--node", type=Path, required=True, help="22 or later")
    parser.add_argument("--modules", type=Path, required=True)
    parser.add_argument("--write", type=Path, help="the page that gets the table")
    given = parser.parse_args()
    folder = given.modules.parent
    suite = [str(given.node), "--import", str(folder / "authorize.mjs")]
    suite.append(str(given.modules / "@modelcontextprotocol/conformance/dist/index.js"))
    listed = subprocess.run([*suite, "list", "--server"], check=True, capture_output=True, text=True).stdout
    listed = re.findall(r"^  - (\S+) \[(.*)\]", listed, re.MULTILINE)
    scenarios = [name for name, versions in listed if VERSION in versions.split(",")]
    server = [str(given.node), str(folder / "server.mjs")]
    environment = {**os.environ, "GATE_TOKEN": TOKEN}
    with tempfile.TemporaryDirectory() as made:
        profile = write_profile(server, Path(made))
        gate = [str(given.seamgate), "mcp", "-p", str(profile), "--listen", "127.0.0.1:0", "--token-env", "GATE_TOKEN"]
        plain, gated = (
            verdicts(suite, scenarios, command, environment)
            for command in ([*server, "--http"], [*gate, "--", *server])
        )
    checks = sorted({*plain, *gated})
    rows = [["", "pass", "warn", "fail"], ["---", "---:", "---:", "---:"]]
    for name, found in (("without the gate", plain), ("through it", gated)):
        counts = Counter(found.values())
        rows.append([name, *(str(counts[word]) for word in ("SUCCESS", "WARNING", "FAILURE"))])
    different = [name for name in checks if plain.get(name) != gated.get(name)]
    told = [f"- `{name}`: {word(plain, name)} without the gate, {word(gated, name)} through it" for name in different]
    text = f"{len(scenarios)} scenarios for servers of {VERSION}, {len(checks)} checks.\n\n{page.table(rows)}"
    text += "".join(f"\n{line}" for line in ["", *told]) if told else ""
    print(text)
    for name in checks:
        if "FAILURE" in (plain.get(name), gated.get(name)):
            print(f"{name}: {word(plain, name)} without the gate, {word(gated, name)} through it", file=sys.stderr)
    if given.write:
        page.write(given.write, "conformance", text)
    is_worse = any(plain.get(name) == "SUCCESS" or gated.get(name) == "FAILURE" for name in different)
    return int(is_worse)


def word(verdicts: dict[str, str], name: str) -> str:
    """A verdict for a person."""
    return verdicts.get(name, "not checked").lower()


def verdicts(suite: list[str], scenarios: list[str], command: list[str], environment: dict) -> dict[str, str]:
    """The verdict of each check."""
    found = {}
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
    try:
        # The server prints its port, and the gate its address.
        port = re.search(r"(\d+)(/mcp)?$", server.stdout.readline().strip()).group(1)
        for scenario in scenarios:
            with tempfile.TemporaryDirectory() as results:
                words = ["server", "--url", f"http://127.0.0.1:{port}/mcp", "--scenario", scenario]
                words += ["--spec-version", VERSION, "--output-dir", results]
                subprocess.run([*suite, *words], capture_output=True, timeout=60, check=False, env=environment)
                checks = sorted(Path(results).rglob("checks.json"))
                if not checks:
                    found[scenario] = "FAILURE"
                for check in (check for path in checks for check in json.loads(path.read_text())):
                    if check["status"] not in TOLD:
                        found[f"{scenario}/{check['id']}"] = check["status"]
    finally:
        server.terminate()
        server.communicate(timeout=10)
    return found


def write_profile(server: list[str], folder: Path) -> Path:
    """A profile that allows all."""
    asked = [
        {
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "x", "version": "1"},
            },
        },
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
    ]
    lines = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in asked)
    done = subprocess.run(server, input=lines, capture_output=True, text=True, check=True)
    tools = next(
        found["result"]["tools"] for found in map(json.loads, done.stdout.splitlines()) if found.get("id") == 2
    )
    profile = {
        "agent": "conformance",
        "tools": [{"name": tool["name"], "effect": "read", "permit": "allow"} for tool in tools],
        "servers": {"": {"methods": ["*"]}},
    }
    (folder / "all.lock.json").write_text(json.dumps({"servers": {"": {"tools": tools}}}))
    path = folder / "all.profile.json"
    path.write_text(json.dumps(profile))
    return path


if __name__ == "__main__":
    sys.exit(main())
