"""Servers behind the gate: the calls that each ran must be those that the gate's journal says it started."""

import argparse
import json
import queue
import subprocess
import threading
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import page

# The lines that are sent before the client waits, and how long it waits, in seconds.
BATCH = 50
PATIENCE = 20


@dataclass
class Server:
    """A server, with whether it holds integers of any size, and whether it drops `__proto__`."""

    name: str
    command: list[str]
    is_exact: bool = False
    drops_prototypes: bool = False


class Ended(Exception):
    """The gate has ended the session."""


class Session:
    """A client that sends raw lines to a server behind the gate."""

    def __init__(self, command: list[str]) -> None:
        pipe = subprocess.PIPE
        self.gate = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)
        self.answers: queue.Queue[Any] = queue.Queue()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
        self.ask("hello", "initialize", hello)
        self.send(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}).encode())
        self.ask("tools", "tools/list", {})

    def read(self) -> None:
        for line in self.gate.stdout:
            message = json.loads(line)
            self.answers.put(message.get("id"))
        self.answers.put(Ended)

    def send(self, line: bytes) -> None:
        try:
            self.gate.stdin.write(line + b"\n")
            self.gate.stdin.flush()
        except OSError as error:
            raise Ended from error

    def ask(self, own: str, method: str, params: dict[str, Any]) -> None:
        """Ask, and wait for the answer."""
        self.send(json.dumps({"jsonrpc": "2.0", "id": own, "method": method, "params": params}).encode())
        while True:
            try:
                answer = self.answers.get(timeout=PATIENCE)
            except queue.Empty as error:
                raise Ended from error
            if answer is Ended:
                raise Ended
            if answer == own:
                return

    def end(self) -> None:
        """End the session, and wait for what is under way."""
        self.gate.stdin.close()
        try:
            self.gate.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.gate.kill()
        self.gate.wait()
        self.reader.join()


def send_all(command: list[str], lines: list[bytes]) -> int:
    """Send all lines, and return the number of sessions that this took.

    A server may end at a line that it does not read. The next session goes on behind the batch of that line.
    """
    sessions = 0
    at = 0
    while at < len(lines):
        sessions += 1
        session = Session(command)
        try:
            while at < len(lines):
                batch = lines[at : at + BATCH]
                at += len(batch)
                for line in batch:
                    session.send(line)
                session.ask(f"batch {at}", "ping", {})
        except Ended:
            pass
        session.end()
    return sessions


def key(value: Any, *, is_exact: bool) -> Any:
    """A value that equals another if a server that holds doubles, or exact integers, cannot tell them apart."""
    match value:
        case bool() | None | str():
            return value
        case int() if is_exact:
            return ["i", value]
        case int() | float():
            return ["f", as_float(value)]
        case list():
            return ["a", *(key(item, is_exact=is_exact) for item in value)]
        case dict():
            return ["o", *([name, key(value[name], is_exact=is_exact)] for name in sorted(value))]
    raise TypeError(f"no value of JSON: {type(value)}")


def as_float(value: float) -> str:
    try:
        # Zero has one sign here.
        return repr(float(value) + 0.0)
    except OverflowError:
        return "inf" if value > 0 else "-inf"


def value_of(noted: Any) -> Any:
    """A value from its notation."""
    if not isinstance(noted, list):
        return noted
    kind, *parts = noted
    match kind:
        case "i":
            return int(parts[0], 16)
        case "f":
            return float(parts[0].replace("Infinity", "inf"))
        case "a":
            return [value_of(part) for part in parts]
    return dict(zip(parts[::2], map(value_of, parts[1::2]), strict=True))


@dataclass
class Journal:
    """The calls that were started, and those among them that were answered with a result, or with an error."""

    started: Counter[str] = field(default_factory=Counter)
    succeeded: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)


def journal(journals: Path, server: Server) -> Journal:
    read = Journal()
    for path in journals.glob("*/journal.ndjson"):
        judged = {}
        for text in path.open():
            line = json.loads(text)
            action, event = line.get("action", {}), line.get("event", {})
            if action.get("type") == "execute":
                arguments = key(json.loads(action["arguments"]), is_exact=server.is_exact)
                judged[action["call"]] = json.dumps([action["tool"], arguments])
            elif event.get("type") == "tool_started":
                read.started[judged[event["call"]]] += 1
            elif event.get("type") == "tool_result":
                is_error = event.get("status") == "error" or event.get("returned", {}).get("isError")
                (read.failed if is_error else read.succeeded)[judged[event["call"]]] += 1
    return read


def executed(file: Path, server: Server) -> Counter[str]:
    """The calls that a server wrote down."""
    calls: Counter[str] = Counter()
    for text in file.open() if file.exists() else ():
        call = json.loads(text)
        arguments = value_of(call["arguments"])
        calls[json.dumps([call["name"], key(arguments, is_exact=server.is_exact)])] += 1
    return calls


def without_prototypes(calls: Counter[str]) -> Counter[str]:
    """The same calls, as a server reads them that drops this member of the arguments."""
    counts: Counter[str] = Counter()
    for call, count in calls.items():
        name, arguments = json.loads(call)
        kept = [part for part in arguments if part[0] != "__proto__"]
        counts[json.dumps([name, kept])] += count
    return counts


def serve(options: argparse.Namespace, servers: list[Server], folder: Path, profile: Path) -> tuple[str, int]:
    """The table of all servers, and how many calls ran otherwise than the gate judged them."""
    command = [options.decoders, "calls", str(options.calls), str(options.seed)]
    lines = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.removesuffix(b"\n").split(b"\n")
    rows = [
        ["server", "lines", "sessions", "started", "refused", "unanswered", "without `__proto__`", "**ran otherwise**"],
        ["---", *["---:"] * 7],
    ]
    failures = 0
    for number, server in enumerate(servers):
        journals, file = folder / f"journals-{number}", folder / f"calls-{number}.ndjson"
        gate = [str(options.seamgate), "mcp", "-p", str(profile), "--journal", str(journals), "--"]
        sessions = send_all([*gate, *server.command, str(file)], lines)
        judged, ran = journal(journals, server), executed(file, server)
        otherwise, unread = ran - judged.started, judged.started - ran
        # The entries of `explained.json` for these servers.
        known = without_prototypes(unread) & otherwise if server.drops_prototypes else Counter()
        otherwise -= known
        for call in list(otherwise)[:5]:
            print(f"decoders: {server.name} ran a call that the gate did not start: {call[:500]}")
        lost = judged.succeeded - ran
        lost_count = lost.total() - known.total()
        if lost_count > 0:
            print(f"decoders: {server.name} gave results for {lost_count} calls that it did not run: {list(lost)[:5]}")
        failures += otherwise.total() + max(lost_count, 0)
        refused = (unread & judged.failed).total()
        unanswered = unread.total() - refused - known.total()
        row = [len(lines), sessions, judged.started.total(), refused, unanswered, known.total(), otherwise.total()]
        rows.append([server.name, *(f"{value:,}" for value in row)])
    return page.table(rows), failures
