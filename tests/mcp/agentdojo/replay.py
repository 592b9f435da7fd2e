"""AgentDojo through the gate: what its injections still do, and what its users can still do.

A model that obeys each injection is the worst case, so none is needed. The calls of each user task are made in their
order. After the first result that holds the poison come the calls that the injection wants. Then the user's calls go
on. The approver denies everything. Each pair of tasks has a server and a gate of its own. The same calls are made
without the gate.
"""

import argparse
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TextIO, TypeVar

import page
from agentdojo.task_suite.load_suites import get_suite
from serve import BENCHMARK, SUITES, Pair, Playground, poisoned, serve, write_verdict

T = TypeVar("T")

HERE = Path(__file__).resolve().parent

# The outcome of a call: it arrived at the server, the gate denied it, or a person was asked and denied it.
WORKED, REFUSED, ASKED = "worked", "refused", "asked"


@dataclass
class Outcome:
    """The outcome of one pair of tasks."""

    pair: Pair
    user: Counter = field(default_factory=Counter)
    injected: list[tuple[str, str]] = field(default_factory=list)
    was_read: bool = False
    useful: bool = False
    reached: bool = False


@dataclass
class Setting:
    """The commands that start servers."""

    folder: Path
    socket: Path
    seamgate: Path | None
    approver: str = "denies"


def main() -> int:
    """Replay all pairs, and print tables."""
    given, pairs = options()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        line = folder / "socket"
        with servers(line, host):
            plain = run_all(pairs, Setting(folder, line, None))
            gated = run_all(pairs, Setting(folder, line, given.seamgate))
            alone = [pair for pair in pairs if pair.injection is None]
            approved = run_all(alone, Setting(folder, line, given.seamgate, "approves"))
    publish(report(plain, gated, approved), given.write, "agentdojo")
    return 0


def options() -> tuple[argparse.Namespace, list[Pair]]:
    """Read the options of a replay, and choose its pairs."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seamgate", type=Path, required=True)
    parser.add_argument("--sample", type=int, help="take so many pairs only, the same ones each time")
    parser.add_argument("--write", type=Path, help="the page that gets the tables")
    given = parser.parse_args()
    pairs = all_pairs()
    if given.sample:
        pairs = random.Random(1).sample(pairs, given.sample)
    # Once, before servers are forked.
    for pair in pairs:
        poisoned(pair.suite, pair.user)
    return given, pairs


def publish(text: str, to: Path | None, mark: str) -> None:
    """Print tables, and write them between the marks of a page, if there is one."""
    print(text)
    if to:
        page.write(to, mark, text)


def all_pairs() -> list[Pair]:
    """Each user task by itself, and with each injection task that has calls to make."""
    pairs = []
    for name in SUITES:
        suite = get_suite(BENCHMARK, name)
        environment = suite.load_and_inject_default_environment({})
        injections = [known for known, task in suite.injection_tasks.items() if can_play(task, environment)]
        pairs += [Pair(name, user, injection) for user in suite.user_tasks for injection in [None, *injections]]
    return pairs


def can_play(task: object, environment: object) -> bool:
    """Returns whether an injection task names the calls, or at least the words, that it wants."""
    return bool(task.ground_truth(environment) or task.GROUND_TRUTH_OUTPUT)


def host(which: list, source: TextIO, sink: TextIO) -> None:
    """Serve the pair that a client names, and write the verdict where it says."""
    suite, user, injection, verdict = which
    write_verdict(Path(verdict), serve(Playground(Pair(suite, user, injection)), source, sink))


@contextmanager
def servers(line: Path, host: Callable[[list, TextIO, TextIO], None]) -> Iterator[None]:
    """Fork servers for connections to a socket, until the end of a block."""
    keeper = fork_servers(line, host)
    try:
        yield
    finally:
        os.kill(keeper, signal.SIGTERM)
        os.waitpid(keeper, 0)
        line.unlink()


def fork_servers(line: Path, host: Callable[[list, TextIO, TextIO], None]) -> int:
    """Start a process that forks a host for each connection: to import AgentDojo takes seconds. Gives its id."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(line))
    listener.listen(64)
    if keeper := os.fork():
        listener.close()
        return keeper
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        connection, _ = listener.accept()
        message, streams, _, _ = socket.recv_fds(connection, 4096, 2)
        if os.fork():
            connection.close()
            for stream in streams:
                os.close(stream)
            continue
        listener.close()
        with open(streams[0], encoding="utf-8") as source, open(streams[1], "w", encoding="utf-8") as sink:
            try:
                host(json.loads(message), source, sink)
            finally:
                os._exit(0)


def run_all(pairs: list[Pair], setting: Setting) -> list[Outcome]:
    """Replay all pairs, two at a time."""
    how = f"through the gate, whose approver {setting.approver} all" if setting.seamgate else "without the gate"
    return timed(f"pairs {how}", pairs, lambda numbered: replay(*numbered, setting))


def timed(what: str, pairs: list[Pair], do: Callable[[tuple[int, Pair]], T]) -> list[T]:
    """Do something for all pairs, two at a time, and print how long it took."""
    start = time.monotonic()
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(do, enumerate(pairs)))
    print(f"{len(pairs)} {what}: {time.monotonic() - start:.0f} s", file=sys.stderr)
    return done


def replay(number: int, pair: Pair, setting: Setting) -> Outcome:
    """Make the calls of a pair."""
    name = f"{setting.approver if setting.seamgate else 'plain'}-{number}"
    verdict = setting.folder / f"{name}.json"
    command = connect(setting, [pair.suite, pair.user, pair.injection, str(verdict)])
    if setting.seamgate:
        path = HERE / f"{pair.suite}.profile.json"
        command = gated_by(setting, path, setting.folder / f"{name}.journal", command)
    ground = Playground(pair)
    wanted = ground.injection.ground_truth(ground.before) if ground.injection else []
    _, poison = poisoned(pair.suite, pair.user)
    outcome = Outcome(pair)
    client = Client(command, setting)
    calls: list[tuple[object, bool]] = []
    try:
        client.hello()
        client.said = ground.user.PROMPT if setting.seamgate else None
        for at, call in enumerate(ground.user.ground_truth(ground.before)):
            worked = client.call(len(calls), call.function, call.args)
            calls.append((call, False))
            if worked and at in poison and not outcome.was_read:
                outcome.was_read = True
                for evil in wanted:
                    client.call(len(calls), evil.function, evil.args)
                    calls.append((evil, True))
    finally:
        client.end()
    ended = wait_for(verdict)
    for number, (call, is_injected) in enumerate(calls):
        end = came_to(number, ended["arrived"], client.asked)
        if is_injected:
            outcome.injected.append((call.function, end))
        else:
            outcome.user[end] += 1
    outcome.useful = ended["useful"]
    outcome.reached = bool(ended["reached"]) and outcome.was_read
    return outcome


def connect(setting: Setting, which: list) -> list[str]:
    """The command of a server. `which` tells the host what to serve."""
    return [sys.executable, "-S", "-E", str(HERE / "connect.py"), str(setting.socket), json.dumps(which)]


def gated_by(setting: Setting, profile: Path, journal: Path, server: list[str]) -> list[str]:
    """The command of a gate before a server."""
    return [str(setting.seamgate), "mcp", "-p", str(profile), "--journal", str(journal), "--", *server]


def came_to(number: int, arrived: list[int], asked: set[int]) -> str:
    """The outcome of one call, by its number."""
    return WORKED if number in arrived else ASKED if number in asked else REFUSED


def wait_for(verdict: Path) -> dict:
    """Returns the server's final report."""
    for _ in range(1000):
        if verdict.exists():
            return json.loads(verdict.read_text())
        time.sleep(0.01)
    raise TimeoutError(verdict)


class Client:
    """A client that calls one tool at a time, beside an approver who denies everything, or approves it."""

    def __init__(self, command: list[str], setting: Setting) -> None:
        self.asked: set[int] = set()
        self.said: str | None = None
        self.text = ""
        self._current = -1
        self._setting = setting
        self._last = 0
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=HERE
        )
        self._approver = threading.Thread(target=self._decide)
        self._approver.start()

    def hello(self) -> None:
        """Begin, as the protocol has it."""
        client = {"name": "replay", "version": "1.0.0"}
        self._ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self._send({"method": "notifications/initialized"})
        self._ask("tools/list", {})

    def call(self, number: int, name: str, arguments: object) -> bool:
        """Call a tool, and keep the text of its result. Gives whether it worked."""
        self._current = number
        meta = {"agentdojo/number": number, **({"seamgate/said": self.said} if self.said else {})}
        answer = self._ask("tools/call", {"name": name, "arguments": dict(arguments), "_meta": meta})
        result = answer.get("result", {"isError": True})
        self.text = "\n".join(part.get("text", "") for part in result.get("content", []))
        return not result.get("isError", False)

    def end(self) -> None:
        """Say goodbye."""
        self._process.stdin.close()
        self._process.wait(30)
        self._process.stdout.close()
        self._approver.join()

    def _send(self, message: dict) -> None:
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self._process.stdin.flush()

    def _ask(self, method: str, params: dict) -> dict:
        self._last += 1
        self._send({"id": self._last, "method": method, "params": params})
        while line := self._process.stdout.readline():
            message = json.loads(line)
            if message.get("id") == self._last:
                return message
        raise EOFError(method)

    def _decide(self) -> None:
        """Read what the gate says to people, and decide about each call that it asks about."""
        for line in self._process.stderr:
            if found := re.search(r"seamgate approve (\S+) (\S+)", line):
                self.asked.add(self._current)
                how = ["--reject"] if self._setting.approver == "denies" else []
                decide = [str(self._setting.seamgate), "approve", *found.groups(), *how, "--yes", "--as", "owner"]
                subprocess.run(decide, check=True, capture_output=True)


def report(plain: list[Outcome], gated: list[Outcome], approved: list[Outcome]) -> str:
    """The tables."""
    return "\n\n".join([attacks(plain, gated), calls(plain, gated, approved), leaks(gated)])


def attacks(plain: list[Outcome], gated: list[Outcome]) -> str:
    """Returns a table of the outcomes of attacks."""
    rows = [
        [
            "suite",
            "attacks",
            "goals reached without the gate",
            "with it",
            "injected effects without the gate",
            "with it",
            "stopped",
        ]
    ]
    for name, has in chosen():
        attacked = [[one for one in ran if has(one.pair.suite) and one.pair.injection] for ran in (plain, gated)]
        goals = [sum(one.reached for one in ran) for ran in attacked]
        ran = [effects(one) for one in attacked]
        stopped = f"{100 * (ran[0] - ran[1]) / ran[0]:.1f} %" if ran[0] else "-"
        rows.append([name, str(len(attacked[0])), *map(str, goals), *map(str, ran), stopped])
    return page.headed(rows)


def effects(outcomes: list[Outcome]) -> int:
    """The injected calls with an effect that arrived."""
    return sum(end == WORKED and is_effect(one.pair.suite, tool) for one in outcomes for tool, end in one.injected)


def is_effect(suite: str, tool: str) -> bool:
    """Returns whether a tool does more than read local data."""
    known = next(entry for entry in profile(suite)["tools"] if entry["name"] == tool)
    return known["effect"] == "effectful" or known.get("egress", False)


@cache
def profile(suite: str) -> dict:
    """Describes a suite's profile."""
    return json.loads((HERE / f"{suite}.profile.json").read_text())


def calls(plain: list[Outcome], gated: list[Outcome], approved: list[Outcome]) -> str:
    """Returns a table of the user tasks that succeeded."""
    solved = ["solved without the gate", "with it, all denied", "with it, all approved"]
    rows = [["suite", "", "tasks", *solved, "calls", "work", "ask for approval", "are refused"]]
    for name, has in chosen():
        for how, is_attacked in (("no attack", False), ("attack", True)):
            taken = [
                [one for one in ran if has(one.pair.suite) and bool(one.pair.injection) == is_attacked]
                for ran in (plain, gated, approved)
            ]
            counts = [str(sum(one.useful for one in ran)) if ran else "" for ran in taken]
            counted = sum((one.user for one in taken[1]), Counter())
            ends = [page.share(counted[word], counted.total()) for word in (WORKED, ASKED, REFUSED)]
            rows.append([name, how, str(len(taken[0])), *counts, str(counted.total()), *ends])
    return page.headed(rows)


def leaks(gated: list[Outcome]) -> str:
    """Lists the attacks that still succeeded."""
    counted = Counter((one.pair.suite, tool) for one in gated for tool, end in one.injected if end == WORKED)
    said = Counter(one.pair.suite for one in gated if one.reached and not one.injected)
    rows = [["suite", "what still got through", "times", "effect"]]
    effect = {True: "yes", False: "reads only"}
    for (suite, tool), times in sorted(counted.items()):
        rows.append([suite, f"`{tool}`", str(times), effect[is_effect(suite, tool)]])
    rows += [
        [suite, "the final answer says what the injection wants", str(times), "no call"]
        for suite, times in said.items()
    ]
    return page.headed(rows)


def chosen() -> list[tuple[str, Callable[[str], bool]]]:
    """The rows of a table: each suite, and all of them together."""
    return [*((name, lambda suite, name=name: suite == name) for name in SUITES), ("all", lambda _: True)]


if __name__ == "__main__":
    sys.exit(main())
