"""The suite `@modelcontextprotocol/conformance` against a server, straight and through the gate: the same verdicts.

The suite speaks HTTP. Straight, the server serves it by the SDK. Through the gate, the server is behind standard input
and output, and the gate serves HTTP. The suite has no token to give: `authorize.mjs` adds it.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import page
import suite

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


def main() -> int:
    """Compare. Gives 1 where a check passes without the gate and not through it, or fails through it."""
    given = suite.arguments().parse_args()
    folder = given.modules.parent
    program = [str(given.node), "--import", str(folder / "authorize.mjs"), str(suite.entry(given.modules))]
    scenarios = [name for name, versions in suite.scenarios(program, "server") if VERSION in versions]
    server = [str(given.node), str(folder / "server.mjs")]
    environment = {**os.environ, "GATE_TOKEN": TOKEN}
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)

        def gate(name: str, tools: list[dict], server: list[str]) -> list[str]:
            profile = str(write_profile(name, tools, folder))
            listen = ["--listen", "127.0.0.1:0", "--token-env", "GATE_TOKEN"]
            return [str(given.seamgate), "mcp", "-p", profile, *listen, "--", *server]

        plain = verdicts(program, scenarios, VERSION, [*server, "--http"], environment)
        gated = verdicts(program, scenarios, VERSION, gate("all", listed_by(server), server), environment)
        without = [str(given.node), str(given.modules.parent / "stateless.mjs")]
        command = gate("stateless", listed_by(without), without)
        stateless = verdicts(program, OF_HTTP, STATELESS, command, environment)
    checks = sorted({*plain, *gated})
    rows = [("without the gate", Counter(plain.values())), ("through it", Counter(gated.values()))]
    different = [name for name in checks if plain.get(name) != gated.get(name)]
    told = [f"- `{name}`: {word(plain, name)} without the gate, {word(gated, name)} through it" for name in different]
    text = f"{len(scenarios)} scenarios for servers of {VERSION}, {len(checks)} checks.\n\n{suite.counts('', rows)}"
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
    program: list[str], scenarios: list[str], version: str, command: list[str], environment: dict
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
                subprocess.run([*program, *words], capture_output=True, timeout=60, check=False, env=environment)
                checks = {f"{scenario}/{name}": check["status"] for name, check in suite.verdicts(Path(results))}
                found.update(checks or {scenario: "FAILURE"})
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
