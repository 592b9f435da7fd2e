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
# Without a session, what the suite asks of HTTP: of all else, the server would answer.
STATELESS = "2026-07-28"
OF_HTTP = [
    "dns-rebinding-protection",
    "http-custom-header-server-validation",
    "http-header-validation",
    "server-sse-multiple-streams",
]
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
        folder = Path(made)

        def gate(name: str, tools: list[dict], server: list[str]) -> list[str]:
            profile = str(write_profile(name, tools, folder))
            listen = ["--listen", "127.0.0.1:0", "--token-env", "GATE_TOKEN"]
            return [str(given.seamgate), "mcp", "-p", profile, *listen, "--", *server]

        plain = verdicts(suite, scenarios, VERSION, [*server, "--http"], environment)
        gated = verdicts(suite, scenarios, VERSION, gate("all", listed_by(server), server), environment)
        without = [str(given.node), str(given.modules.parent / "stateless.mjs")]
        command = gate("stateless", listed_by(without), without)
        stateless = verdicts(suite, OF_HTTP, STATELESS, command, environment)
    checks = sorted({*plain, *gated})
    rows = [["", "pass", "warn", "fail"], ["---", "---:", "---:", "---:"]]
    for name, found in (("without the gate", plain), ("through it", gated)):
        counts = Counter(found.values())
        rows.append([name, *(str(counts[word]) for word in ("SUCCESS", "WARNING", "FAILURE"))])
    different = [name for name in checks if plain.get(name) != gated.get(name)]
    told = [f"- `{name}`: {word(plain, name)} without the gate, {word(gated, name)} through it" for name in different]
    text = f"{len(scenarios)} scenarios for servers of {VERSION}, {len(checks)} checks.\n\n{page.table(rows)}"
    text += "".join(f"\n{line}" for line in ["", *told]) if told else ""
    passed = sum(verdict == "SUCCESS" for verdict in stateless.values())
    text += f"\n\n{len(OF_HTTP)} scenarios of {STATELESS} about HTTP, through the gate: "
    text += f"{len(stateless)} checks, {passed} pass."
    print(text)
    for name in checks:
        if "FAILURE" in (plain.get(name), gated.get(name)):
            print(f"{name}: {word(plain, name)} without the gate, {word(gated, name)} through it", file=sys.stderr)
    failed = [name for name, verdict in stateless.items() if verdict != "SUCCESS"]
    for name in failed:
        print(f"{name}: {word(stateless, name)} through the gate, without a session", file=sys.stderr)
    if given.write:
        page.write(given.write, "conformance", text)
    is_worse = any(plain.get(name) == "SUCCESS" or gated.get(name) == "FAILURE" for name in different)
    return int(is_worse or bool(failed))


def word(verdicts: dict[str, str], name: str) -> str:
    """A verdict for a person."""
    return verdicts.get(name, "not checked").lower()


def verdicts(
    suite: list[str], scenarios: list[str], version: str, command: list[str], environment: dict
) -> dict[str, str]:
    """The verdict of each check."""
    found = {}
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
    try:
        # The server prints its port, and the gate its address.
        port = re.search(r"(\d+)(/mcp)?$", server.stdout.readline().strip()).group(1)
        for scenario in scenarios:
            with tempfile.TemporaryDirectory() as results:
                words = ["server", "--url", f"http://127.0.0.1:{port}/mcp", "--scenario", scenario]
                words += ["--spec-version", version, "--output-dir", results]
                subprocess.run([*suite, *words], capture_output=True, timeout=60, check=False, env=environment)
                checks = sorted(Path(results).rglob("checks.json"))
                if not checks:
                    found[scenario] = "FAILURE"
                for check in (check for path in checks for check in json.loads(path.read_text())):
                    if check["status"] not in TOLD:
                        # Several checks have the same id.
                        name = f"{scenario}/{check['id']}"
                        times = sum(known.split(" ")[0] == name for known in found)
                        found[f"{name} {times + 1}" if times else name] = check["status"]
    finally:
        server.terminate()
        server.communicate(timeout=10)
    return found


def listed_by(server: list[str]) -> list[dict]:
    """The tools of a server: one with sessions, or one without, which answers what it knows."""
    client = {"name": "x", "version": "1"}
    name = "io.modelcontextprotocol"
    meta = {f"{name}/protocolVersion": STATELESS, f"{name}/clientCapabilities": {}, f"{name}/clientInfo": client}
    hello = {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": client}
    asked = [
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list", "params": {"_meta": meta}},
    ]
    lines = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in asked)
    done = subprocess.run(server, input=lines, capture_output=True, text=True, check=True)
    return next(found["result"]["tools"] for found in map(json.loads, done.stdout.splitlines()) if found.get("id") == 2)


def write_profile(name: str, tools: list[dict], folder: Path) -> Path:
    """A profile that allows all."""
    profile = {
        "agent": "conformance",
        "tools": [{"name": tool["name"], "effect": "read", "permit": "allow"} for tool in tools],
        "servers": {"": {"methods": ["*"]}},
    }
    (folder / f"{name}.lock.json").write_text(json.dumps({"servers": {"": {"tools": tools}}}))
    path = folder / f"{name}.profile.json"
    path.write_text(json.dumps(profile))
    return path


if __name__ == "__main__":
    sys.exit(main())
