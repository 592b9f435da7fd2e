"""The client that the suite starts against one of its servers: a person who has that server behind `seamgate mcp`.

The suite appends the server's address, and names the scenario and the version of the protocol in the environment. The
person does what docs/mcp.md says: writes a servers file, logs in where seamgate says so, pins the tools, allows all of
them, and calls each one through the gate.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from itertools import count
from pathlib import Path
from urllib import error, request

# The suite gives a client 30 seconds.
TIME = 28
# The number of logins to one server before a person gives up.
LOGINS = 3
STATELESS = "2026-07-28"
META = "io.modelcontextprotocol"
UNSUPPORTED_VERSION = -32022
NAME = "suite"
# The address of a document that describes a client. The suite accepts this one (auth/basic-cimd).
DOCUMENT = "https://conformance-test.local/client-metadata.json"
CLIENT = {"name": "conformance", "version": "1"}


def main() -> int:
    """Play the person. Gives 1 if the server cannot be used."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seamgate", type=Path, required=True)
    parser.add_argument("url")
    given = parser.parse_args()
    signal.alarm(TIME)
    with tempfile.TemporaryDirectory() as folder:
        person = Person(given.seamgate, Path(folder), given.url)
        return int(not person.use())


class Person:
    """A person with a folder of their own, and as many logins as it takes."""

    def __init__(self, seamgate: Path, folder: Path, url: str) -> None:
        self.seamgate, self.folder = seamgate, folder
        self.version = os.environ["MCP_CONFORMANCE_PROTOCOL_VERSION"]
        self.context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
        self.environment = {**os.environ, "USER": "anna", "XDG_STATE_HOME": str(folder / "state")}
        self.logins = 0
        server = {"url": url}
        oauth = {}
        if "client_id" in self.context:
            oauth["client_id"] = self.context["client_id"]
        if "client_secret" in self.context:
            oauth["client_secret"] = "${SECRET}"
            self.environment["SECRET"] = self.context["client_secret"]
        if os.environ["MCP_CONFORMANCE_SCENARIO"] == "auth/basic-cimd":
            oauth["client_id"] = DOCUMENT
        if oauth:
            server["oauth"] = oauth
        self.servers = folder / "suite.servers.json"
        self.servers.write_text(json.dumps({"servers": {NAME: {"mcp": server}}}))
        self.profile = folder / "suite.profile.json"

    def use(self) -> bool:
        """Pin and allow all tools, and call them. Gives whether that worked."""
        tools = self.pinned()
        if tools is None:
            return False
        self.write_profile([tool["name"] for tool in tools])
        command = [self.seamgate, "mcp", "-p", self.profile, "--servers", self.servers]
        gate = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=self.environment)
        try:
            return Session(self, gate).play()
        finally:
            gate.stdin.close()
            gate.wait(timeout=TIME)

    def pinned(self) -> list[dict] | None:
        """Pin the definitions of all tools. Gives none if the server does not list any."""
        self.write_profile([])
        while True:
            command = ["mcp", "check", "-p", self.profile, "--servers", self.servers, "--accept"]
            done = self.run(command)
            if done.returncode in (0, 1):
                lock = self.folder / "suite.lock.json"
                listed = json.loads(lock.read_text())["servers"] if lock.exists() else {}
                return listed.get(NAME, {"tools": []})["tools"]
            if not self.log_in_if_told(done.stderr):
                return None

    def write_profile(self, names: list[str]) -> None:
        """Allow these tools, and all methods."""
        tools = [{"name": name, "server": NAME, "effect": "read", "permit": "allow"} for name in names]
        servers = {NAME: {"methods": ["*"]}}
        self.profile.write_text(json.dumps({"agent": "suite", "servers": servers, "tools": tools}))

    def run(self, command: list) -> subprocess.CompletedProcess:
        """Run a command to its end. The suite keeps what it says."""
        done = subprocess.run(
            [self.seamgate, *command], capture_output=True, text=True, check=False, env=self.environment
        )
        print(done.stdout, done.stderr, file=sys.stderr)
        return done

    def log_in_if_told(self, said: str) -> bool:
        """Run the command that seamgate names, if it names one. Gives whether the login worked."""
        if "`seamgate mcp login" not in said or self.logins == LOGINS:
            return False
        self.logins += 1
        command = [self.seamgate, "mcp", "login", "--no-browser", "--servers", self.servers, NAME]
        login = subprocess.Popen(command, stdout=sys.stderr, stderr=subprocess.PIPE, text=True, env=self.environment)
        for line in login.stderr:
            print(line, end="", file=sys.stderr)
            if re.match(r"\s+https?://", line):
                browse(line.strip())
        return login.wait() == 0


def browse(address: str) -> None:
    """Open an address as a browser does: follow all redirects."""
    try:
        with request.urlopen(address) as page:
            page.read()
    except error.URLError as why:
        print(f"the browser shows: {why}", file=sys.stderr)


class Session:
    """A client of the gate, over its standard input and output."""

    def __init__(self, person: Person, gate: subprocess.Popen) -> None:
        self.person, self.gate = person, gate
        self.ids = count(1)
        self.version = person.version

    def play(self) -> bool:
        """Ask for all that there is. Gives whether all of it was answered."""
        capabilities = self.begin()
        if capabilities is None:
            return False
        listed = self.ask("tools/list", {})
        tools = listed.get("result", {}).get("tools", [])
        answers = [self.call(params) for params in self.calls(tools)]
        # The others are called before the client comes back with an answer.
        answers += [self.call(self.with_inputs(params, answer)) for params, answer in answers if is_question(answer)]
        if "resources" in capabilities:
            for resource in self.ask("resources/list", {}).get("result", {}).get("resources", []):
                self.ask("resources/read", {"uri": resource["uri"]})
        if "prompts" in capabilities:
            for prompt in self.ask("prompts/list", {}).get("result", {}).get("prompts", []):
                self.ask("prompts/get", {"name": prompt["name"]})
        return "result" in listed and all("result" in answer for _, answer in answers)

    def begin(self) -> dict | None:
        """Agree on a version. Gives what the server can do, or nothing if it does not answer."""
        if self.version == STATELESS:
            answer = self.ask("server/discover", {})
        else:
            hello = {"protocolVersion": self.version, "capabilities": CAPABILITIES, "clientInfo": CLIENT}
            answer = self.ask("initialize", hello)
            self.send({"method": "notifications/initialized"})
        return answer["result"].get("capabilities", {}) if "result" in answer else None

    def calls(self, tools: list[dict]) -> list[dict]:
        """The calls that the scenario wants, or one of each tool."""
        if "toolCalls" in self.person.context:
            return self.person.context["toolCalls"]
        schemas = {tool["name"]: tool["inputSchema"] for tool in tools}
        if "json_schema_echo" in schemas:
            return [{"name": "json_schema_echo", "arguments": {"schema": schemas["json_schema_2020_12_tool"]}}]
        return [{"name": name, "arguments": sample(schema)} for name, schema in schemas.items()]

    def call(self, params: dict) -> tuple[dict, dict]:
        """Call a tool, and once more after a login, as long as the gate says that it takes one."""
        while True:
            answer = self.ask("tools/call", params)
            without_null = {name: value for name, value in params["arguments"].items() if value is not None}
            if answer.get("result", {}).get("isError") and without_null != params["arguments"]:
                # The gate denies what does not match the schema, and says so. A model then leaves the argument out.
                params = {**params, "arguments": without_null}
            elif not self.person.log_in_if_told(json.dumps(answer)):
                return params, answer

    def with_inputs(self, params: dict, answer: dict) -> dict:
        """The same call, with the answers to the server's questions."""
        result = answer["result"]
        answers = {key: accepted(asked["params"]) for key, asked in result["inputRequests"].items()}
        state = {"requestState": result["requestState"]} if "requestState" in result else {}
        return {**params, "inputResponses": answers, **state}

    def ask(self, method: str, params: dict) -> dict:
        """Send a request, and again if the server speaks another version. Gives the answer."""
        while True:
            if self.version == STATELESS:
                meta = {"protocolVersion": self.version, "clientInfo": CLIENT, "clientCapabilities": CAPABILITIES}
                params = {**params, "_meta": {f"{META}/{name}": value for name, value in meta.items()}}
            number = next(self.ids)
            self.send({"id": number, "method": method, "params": params})
            answer = self.wait(number)
            failure = answer.get("error", {})
            if failure.get("code") != UNSUPPORTED_VERSION or self.version not in failure["data"]["supported"]:
                return answer

    def wait(self, number: int) -> dict:
        """Wait for an answer, and answer meanwhile what the server asks."""
        for line in self.gate.stdout:
            message = json.loads(line)
            print(line, end="")
            if message.get("id") == number and "method" not in message:
                return message
            if message.get("method") == "elicitation/create":
                self.send({"id": message["id"], "result": accepted(message["params"])})
        return {"error": {"code": 0, "message": "the gate has ended"}}

    def send(self, message: dict) -> None:
        """Send a message."""
        self.gate.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.gate.stdin.flush()


CAPABILITIES = {"elicitation": {}, "roots": {}, "sampling": {}}


def is_question(answer: dict) -> bool:
    """Returns whether a server requests input before it returns a result."""
    return answer.get("result", {}).get("resultType") == "input_required"


def accepted(params: dict) -> dict:
    """The answer to a form: what it proposes."""
    return {"action": "accept", "content": sample(params["requestedSchema"])}


def sample(schema: dict) -> dict:
    """Members that fit a schema."""
    values = {"boolean": True, "integer": 2, "number": 2.5, "string": "text", "array": [], "object": {}}
    return {name: own.get("default", values.get(own.get("type"))) for name, own in schema.get("properties", {}).items()}


if __name__ == "__main__":
    sys.exit(main())
