"""The suite `@modelcontextprotocol/conformance` against a server, straight and through the gate: the same verdicts.

The suite speaks HTTP, the gate standard input and output: `bridge.mjs` carries each message. So what the suite tests of
HTTP itself is left out, and so are its scenarios for clients, which are about HTTP and OAuth.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import page

HERE = Path(__file__).resolve().parent

# These are about HTTP, not about messages.
LEFT_OUT = {"server-sse-polling", "server-sse-multiple-streams", "dns-rebinding-protection"}


def main() -> int:
    """Compare. Gives 1 where a verdict differs."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seamgate", type=Path, required=True)
    parser.add_argument("--node", type=Path, required=True, help="22 or later")
    parser.add_argument("--modules", type=Path, required=True)
    parser.add_argument("--write", type=Path, help="the page that gets the table")
    given = parser.parse_args()
    suite = [str(given.node), str(given.modules / "@modelcontextprotocol/conformance/dist/index.js")]
    listed = subprocess.run([*suite, "list", "--server"], check=True, capture_output=True, text=True).stdout
    server_part = listed.split("Client scenarios")[0]
    scenarios = [name for name in re.findall(r"^  - (\S+)", server_part, re.MULTILINE) if name not in LEFT_OUT]
    server = [str(given.node), str(given.modules.parent / "server.mjs")]
    with tempfile.TemporaryDirectory() as made:
        profile = write_profile(server, Path(made))
        gate = [str(given.seamgate), "mcp", "-p", str(profile), "--", *server]
        plain, gated = (verdicts(given, suite, scenarios, command) for command in (server, gate))
    passed = [sum(word == "SUCCESS" for _, word in checks) for checks in (plain, gated)]
    text = (
        f"{len(scenarios)} scenarios for servers, {len(plain)} checks: {passed[0]} pass without the gate, "
        f"{passed[1]} through it, "
        f"and {sum(one == other for one, other in zip(plain, gated, strict=False))} verdicts are the same."
    )
    print(text)
    for one, other in zip(plain, gated, strict=False):
        if one != other or one[1] == "FAILURE":
            print(f"without the gate {one}, through it {other}")
    if given.write:
        page.write(given.write, "conformance", text)
    return int(plain != gated)


def verdicts(
    given: argparse.Namespace, suite: list[str], scenarios: list[str], command: list[str]
) -> list[tuple[str, str]]:
    """The verdict of each check."""
    found = []
    bridge = subprocess.Popen(
        [str(given.node), str(HERE / "bridge.mjs"), *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        url = f"http://127.0.0.1:{int(bridge.stdout.readline())}/mcp"
        for scenario in scenarios:
            with tempfile.TemporaryDirectory() as results:
                words = ["server", "--url", url, "--scenario", scenario, "--output-dir", results]
                subprocess.run([*suite, *words], capture_output=True, timeout=60, check=False)
                checks = sorted(Path(results).rglob("checks.json"))
                if not checks:
                    found.append((scenario, "no result"))
                for check in (check for path in checks for check in json.loads(path.read_text())):
                    found.append((f"{scenario}/{check['id']}", check["status"]))
    finally:
        bridge.terminate()
        bridge.wait(10)
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
