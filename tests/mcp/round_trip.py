"""Real files, read through the gate, changed at one place, and written back: which are right, byte for byte?

    python3 tests/mcp/round_trip.py [--gate target/release/seamgate] [--count 200] [FOLDER…]

The folders hold packages of registries; the default are those of Cargo and of Python on this machine. A run fails if a
file is destroyed in silence: it is either right, or the write was denied.
"""

import argparse
import json
import os
import random
import re
import site
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ENDS = (".rs", ".py", ".js", ".ts", ".c", ".h", ".sh", ".yml", ".yaml", ".toml", ".json", ".md", ".rst", ".csv", ".txt")

# Files whose kind is rare in packages: each stands for one that a model edits.
RARE = {
    "bom.cs": "\ufeffusing System;\r\nclass A { }\r\n",
    "bom.csv": "\ufeffname,value\r\nfirst,1\r\nsecond,2\r\n",
    "crlf.yaml": "name: first\r\nvalue: 1\r\n",
    "cr.txt": "first line\rsecond line\r",
    "token.env": "GITHUB_TOKEN=ghp_" + "a1" * 18 + "\nNAME=first\n",
    "password.yaml": "database:\n  password: hunter22secret\n  name: first\n",
    "presigned.md": "[report](https://bucket.s3.amazonaws.com/a?X-Amz-Signature=" + "0123456789abcdef" * 4 + ")\nfirst\n",
    "badge.md": "# first\n\n![status](https://img.example/status.svg)\n\n[![ci][b]][c]\n\n[b]: https://img.example/b.svg\n",
    "page.html": "<html><link rel=stylesheet href=https://cdn.example/first.css><body>second</body></html>\n",
    "zero.md": "soft\u00adhyphen and zero\u200bwidth in first\n",
    "escape.rs": 'const FIRST: &str = "\\u{200b}";\n',
    "colour.log": "\x1b[31mfirst\x1b[0m\nsecond\n",
    "key.pem": "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj\n-----END PRIVATE KEY-----\nfirst\n",
    "long.txt": "first line of many\n" * 4000,
}

SERVER = r"""
import json, sys
def answer(id, result):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": id, "result": result}) + "\n")
    sys.stdout.flush()
properties = {"path": {"type": "string"}, "content": {"type": "string"}}
tools = [
    {"name": "read_file", "description": "Reads a file.", "inputSchema": {"type": "object", "properties": properties}},
    {"name": "write_file", "description": "Writes a file.", "inputSchema": {"type": "object", "properties": properties}},
]
for line in sys.stdin:
    message = json.loads(line)
    id, method, parameters = message.get("id"), message.get("method"), message.get("params", {})
    if method == "initialize":
        info = {"name": "files", "version": "1"}
        answer(id, {"protocolVersion": parameters["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info})
    elif method == "tools/list":
        answer(id, {"tools": tools})
    elif method == "tools/call":
        arguments = parameters["arguments"]
        if parameters["name"] == "read_file":
            text = open(arguments["path"], "rb").read().decode()
        else:
            open(arguments["path"], "wb").write(arguments["content"].encode())
            text = "written"
        answer(id, {"content": [{"type": "text", "text": text}]})
    elif id is not None:
        answer(id, {})
"""


class Gate:
    """A client of the gate, which has a server for files behind it."""

    def __init__(self, program: str, folder: Path, clean: str) -> None:
        tools = [
            {"name": "read_file", "server": "files", "effect": "read", "permit": "allow", "result": {"clean": clean}},
            {"name": "write_file", "server": "files", "effect": "idempotent", "permit": "allow"},
        ]
        if clean == "none":
            # Text of this tool is trusted, marks in it too.
            tools[1]["result"] = {"clean": clean}
        for tool in tools:
            tool["max_arguments_bytes"] = 1048576
        tools[0]["result"]["max_bytes"] = 60000
        profile = {"agent": "files", "tools": tools, "budget": {"tool_calls": 100000}}
        (folder / "files.profile.json").write_text(json.dumps(profile))
        (folder / "server.py").write_text(SERVER)
        arguments = [program, "mcp", "-p", "files.profile.json", "--", sys.executable, "server.py"]
        environment = {**os.environ, "USER": os.environ.get("USER", "anna")}
        self.process = subprocess.Popen(
            arguments, cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.number = 0
        client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "round-trip", "version": "1"}}
        self.ask("initialize", client)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.ask("tools/list", {})

    def send(self, message: dict) -> None:
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method: str, parameters: dict) -> dict:
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": parameters})
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise SystemExit("the gate ended")
            message = json.loads(line)
            if message.get("id") == self.number and "method" not in message:
                return message

    def call(self, name: str, arguments: dict) -> tuple[bool, str]:
        """Returns whether the call was answered, and its first text. Notes of the gate follow the text."""
        message = self.ask("tools/call", {"name": name, "arguments": arguments})
        result = message.get("result", {})
        texts = [block["text"] for block in result.get("content", []) if block.get("type") == "text"]
        return "error" not in message and not result.get("isError"), (texts or [json.dumps(message)])[0]

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()


def changed(text: str) -> str:
    """A text with one word changed: the first one that stands by itself."""
    return re.sub(r"(?<![\w{\[\\:/@.-])[a-z]{4,8}(?= |,|$)", lambda word: word[0] + "_edited", text, count=1)


def files(folders: list[str], count: int) -> dict[str, bytes]:
    """Files of the folders, and the rare ones."""
    found = []
    for folder in folders:
        for path, _, names in os.walk(folder):
            found += [os.path.join(path, name) for name in names if name.endswith(ENDS)]
    found.sort()
    random.Random(1).shuffle(found)
    chosen = {name: text.encode() for name, text in RARE.items()}
    for path in found:
        if len(chosen) >= count:
            break
        data = Path(path).read_bytes()
        try:
            text = data.decode()
        except UnicodeDecodeError:
            continue
        if 100 < len(data) < 200_000 and changed(text) != text:
            chosen[f"{len(chosen)}{Path(path).suffix}"] = data
    return chosen


def measure(program: str, clean: str, chosen: dict[str, bytes]) -> tuple[Counter, list[str]]:
    """Counts the files that are right, denied, unchanged in the parts that were shown, or destroyed."""
    outcomes, destroyed = Counter(), []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        gate = Gate(program, folder, clean)
        for name, data in chosen.items():
            path = folder / name
            path.write_bytes(data)
            _, shown = gate.call("read_file", {"path": str(path)})
            is_written, answer = gate.call("write_file", {"path": str(path), "content": changed(shown)})
            after = path.read_bytes()
            if after == changed(data.decode()).encode():
                outcomes["right"] += 1
            elif after == data and not is_written:
                outcomes["denied: " + ("a mark" if "stands for a text" in answer else answer[:80])] += 1
            else:
                outcomes["destroyed"] += 1
                destroyed.append(name)
        gate.close()
    return outcomes, destroyed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gate", default="target/release/seamgate")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("folders", nargs="*")
    arguments = parser.parse_args()
    cargo = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo")) / "registry/src"
    chosen = files(arguments.folders or [str(cargo), *site.getsitepackages()], arguments.count)
    failed = False
    for clean in ("full", "mark", "none"):
        outcomes, destroyed = measure(os.path.abspath(arguments.gate), clean, chosen)
        told = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
        print(f'clean "{clean}": {len(chosen)} files: {told}')
        for name in destroyed:
            print(f"  destroyed: {name}")
        failed |= bool(destroyed)
    sys.exit(failed)


if __name__ == "__main__":
    main()
