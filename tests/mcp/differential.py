"""Real clients against real servers, with and without the gate: every message is compared.

In a run through the gate, one recorder stands before it and one behind it, so each message is compared with itself.
Beside that, what the client says of each answer is compared with a run without the gate. `cargo xtask mcp differential`
installs all of them.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import page

HERE = Path(__file__).resolve().parent
CLIENTS = ["sdk.py", "fast.py", "sdk.mjs", "client.mjs", "inspector"]
SERVERS = ["everything", "filesystem", "memory", "git", "time", "sqlite"]
# With the protocol of 2026-07-28, which these clients speak.
STATELESS = [
    (client, server) for client in ("sdk.py", "fast.py", "client.mjs") for server in ("stateless", "stateless-node")
]

# Clients that speak HTTP with the gate, which speaks standard input and output with the server.
HTTP = "over HTTP"
OVER_HTTP = [
    (client, f"{server} {HTTP}")
    for client, server in [*((client, "everything") for client in CLIENTS[:-1]), *STATELESS]
]

# The pairs that CI compares: a client in each language, the server with every part of the protocol, and a server in
# each language.
SMALL = [
    OVER_HTTP[0],
    OVER_HTTP[-1],
    ("sdk.py", "everything"),
    ("sdk.mjs", "everything"),
    ("sdk.py", "filesystem"),
    ("sdk.mjs", "git"),
    STATELESS[0],
    STATELESS[-1],
]

Message = dict[str, object]

# Of the gate that speaks HTTP.
TOKEN = "0123456789abcdef"

# With a limit that no result here reaches: a tool whose results may be cut is listed without its `outputSchema`.
ALLOWED = {"effect": "read", "permit": "allow", "result": {"max_bytes": 1048576}}

# The text that the gate puts before a result that it changed.
TOLD = "Found in the whole result: "

# The prefix of the ids that replace those of the gate's own requests.
OWN_ID = "own "

# The member of `_meta` that names the subscription a notification belongs to.
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"

# The possible outcomes of a message.
SAME = "same bytes beside the id"
ORDER = "same values, another order"
ALIKE = "answers that the client read alike"
LISTED = "tools listed by the gate"
BROKEN = "links broken, and told"
STATES = "states of the gate"
NUMBERED = "ids of the gate"
SHORTENED = "cancelled, without its reason"
OFFERED = "capabilities of the gate"
DENIED = "denied"
OWN = "asked by the gate itself"
COLUMNS = [SAME, ORDER, LISTED, BROKEN, STATES, NUMBERED, SHORTENED, OFFERED, DENIED, OWN, ALIKE]


@dataclass
class Paths:
    """The paths of all programs and folders."""

    seamgate: Path
    node: Path
    modules: Path
    clients: Path
    servers: Path
    sqlite: Path | None
    inspector: Path | None


@dataclass
class Outcome:
    """The outcomes of the messages of one client and one server."""

    counts: Counter = field(default_factory=Counter)
    different: list[str] = field(default_factory=list)


def main() -> int:
    """Compare, and print a table. Gives 1 where something differs."""
    parser = argparse.ArgumentParser()
    for name in ("seamgate", "node", "modules", "clients", "servers"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--sqlite", type=Path, help="where that server is installed; CI does without")
    parser.add_argument("--inspector", type=Path, help="where it is installed; without it, it is left out")
    parser.add_argument("--write", type=Path, help="the page that gets the table")
    parser.add_argument("--small", action="store_true", help="only what CI compares")
    parser.add_argument("--only", help="CLIENT/SERVER")
    parser.add_argument("--keep", type=Path, help="where the recordings stay")
    given = parser.parse_args()
    paths = Paths(
        given.seamgate, given.node, given.modules, given.clients, given.servers, given.sqlite, given.inspector
    )
    clients = CLIENTS if given.inspector else CLIENTS[:-1]
    every = [(client, server) for client in clients for server in SERVERS] + STATELESS + OVER_HTTP
    pairs = SMALL if given.small else every
    if given.only:
        client, server = given.only.split("/")
        pairs = [(client, server)]
    with tempfile.TemporaryDirectory() as made, ThreadPoolExecutor(2) as pool:
        kept = given.keep or Path(made)
        outcomes = list(pool.map(lambda pair: compare(paths, *pair, kept / "-".join(pair)), pairs))
    print(table(pairs, outcomes))
    if given.write:
        page.write(given.write, "differential", table(pairs, outcomes))
    for pair, outcome in zip(pairs, outcomes, strict=True):
        for difference in outcome.different:
            print(f"{'/'.join(pair)}: {difference}", file=sys.stderr)
    return 1 if any(outcome.different for outcome in outcomes) else 0


def compare(paths: Paths, client: str, server: str, folder: Path) -> Outcome:
    """Run one client against one server, without the gate and through it."""
    server, is_http = server.removesuffix(HTTP).rstrip(), server.endswith(HTTP)
    folder.mkdir(parents=True, exist_ok=True)
    scenario = json.loads((HERE / "servers" / f"{server}.json").read_text())
    outcome = Outcome()
    plain, plain_said = run(paths, client, scenario, folder / "plain", None)
    profile = write_profile(server, plain, folder)
    gated, gated_said = run(paths, client, scenario, folder / "gated", profile, is_http)
    if is_http:
        # Messages over HTTP are not recorded.
        said(scenario["steps"], plain_said, gated_said, outcome)
        return outcome
    for number, (before, behind) in enumerate(gated):
        through(before, behind, outcome, f"run {number}")
    denied = said(scenario["steps"], plain_said, gated_said, outcome)
    # The inspector does not call a tool that is not listed.
    if outcome.counts[DENIED] != denied and (client != "inspector" or outcome.counts[DENIED] > denied):
        outcome.different.append(f"{outcome.counts[DENIED]} calls were denied, {denied} should be")
    return outcome


def run(
    paths: Paths, client: str, scenario: dict, folder: Path, profile: Path | None, is_http: bool = False
) -> tuple[list[tuple[Path, Path]], list[str]]:
    """Let a client take all steps.

    Gives the recordings of each connection, before and behind the gate, and what it printed.
    """
    shutil.rmtree(folder, ignore_errors=True)
    # The same path in both runs, for servers say it.
    work = folder.parent / "work"
    shutil.rmtree(work, ignore_errors=True)
    make_work(work, scenario)
    folder.mkdir()
    values = {
        "{node}": str(paths.node),
        "{modules}": str(paths.modules),
        "{python}": str(paths.servers),
        "{clients}": str(paths.clients),
        "{here}": str(HERE),
        "{sqlite}": str(paths.sqlite),
        "{work}": str(work),
    }
    filled = folder / "scenario.json"
    text = json.dumps(scenario, ensure_ascii=False)
    for name, value in values.items():
        text = text.replace(name, value)
    filled.write_text(text)
    scenario = json.loads(text)
    recordings: list[tuple[Path, Path]] = []

    def server() -> list[str]:
        number = len(recordings)
        before, behind = folder / f"{number}-before", folder / f"{number}-behind"
        recordings.append((before, behind))
        recorder = [sys.executable, "-S", "-E", str(HERE / "record.py")]
        if profile is None:
            return [*recorder, str(before), *scenario["command"]]
        journal = folder / f"{number}-journal"
        gate = [str(paths.seamgate), "mcp", "-p", str(profile), "--journal", str(journal), "--"]
        return [*recorder, str(before), *gate, *recorder, str(behind), *scenario["command"]]

    printed = []
    environment = {**os.environ, "GATE_TOKEN": TOKEN}
    with serving(paths, profile, scenario, folder) if is_http else nullcontext() as address:
        reached = (lambda: [address]) if address else server
        for step, command in commands(paths, client, scenario, filled, reached):
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=180, check=False, cwd=folder, env=environment
            )
            (folder / "stderr").open("a").write(done.stderr)
            printed += done.stdout.splitlines() if step is None else [f"{step} {done.stdout}"]
    return recordings, printed


@contextmanager
def serving(paths: Paths, profile: Path, scenario: dict, folder: Path) -> Iterator[str]:
    """A gate that speaks HTTP. Gives its address."""
    command = [str(paths.seamgate), "mcp", "-p", str(profile), "--journal", str(folder / "journal")]
    command += ["--listen", "127.0.0.1:0", "--token-env", "GATE_TOKEN", "--", *scenario["command"]]
    environment = {**os.environ, "GATE_TOKEN": TOKEN}
    told = folder / "gate"
    gate = subprocess.Popen(command, cwd=folder, env=environment, stderr=told.open("w"))
    try:
        while not (served := re.search(r"serves (\S+)\n", told.read_text())) and gate.poll() is None:
            time.sleep(0.02)
        yield served.group(1)
    finally:
        gate.terminate()
        gate.wait(10)


def make_work(work: Path, scenario: dict) -> None:
    """Creates the files that the servers work on."""
    work.mkdir()
    for name, text in scenario.get("files", {}).items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(text)
    if scenario.get("repository"):
        date = "2026-01-01T12:00:00Z"
        by = {
            f"GIT_{who}_{what}": value
            for who in ("AUTHOR", "COMMITTER")
            for what, value in (("NAME", "Anna"), ("EMAIL", "anna@example.com"), ("DATE", date))
        }
        environment = {**os.environ, **by, "GIT_CONFIG_GLOBAL": os.devnull}
        for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "first"]):
            subprocess.run(["git", *words], cwd=work, env=environment, check=True)


def commands(
    paths: Paths, client: str, scenario: dict, filled: Path, server: Callable[[], list[str]]
) -> Iterator[tuple[int | None, list[str]]]:
    """The commands of a client. The inspector takes one step each time: its number comes first."""
    kinds = {".py": paths.clients / "python", ".mjs": paths.node}
    if runs := kinds.get(Path(client).suffix):
        script = (HERE / "clients" if client.endswith(".py") else paths.modules.parent) / client
        yield None, [str(runs), str(script), scenario.get("mode", "legacy"), str(filled), *server()]
    else:
        inspector = paths.inspector / "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
        for number, step in enumerate(scenario["steps"], 1):
            if words := inspected(step):
                command, *arguments = server()
                config = filled.with_name("inspector.json")
                config.write_text(json.dumps({"mcpServers": {"it": {"command": command, "args": arguments}}}))
                start = [str(paths.node), str(inspector), "--cli", "--config", str(config), "--server", "it"]
                yield number, [*start, *words]


def inspected(step: dict) -> list[str] | None:
    """A step as arguments of the inspector; none where it has no such step, or takes no such arguments."""
    given = step.get("arguments", {})
    if step["do"] == "call" and all(isinstance(value, str) for value in given.values()):
        pairs = [word for name, value in given.items() for word in ("--tool-arg", f"{name}={value}")]
        return ["--method", "tools/call", "--tool-name", step["name"], *pairs]
    lists = {"tools": "tools", "resources": "resources", "templates": "resources/templates", "prompts": "prompts"}
    if listed := lists.get(step["do"]):
        return ["--method", f"{listed}/list"]
    if step["do"] == "read":
        return ["--method", "resources/read", "--uri", step["uri"]]
    return None


def write_profile(server: str, plain: list[tuple[Path, Path]], folder: Path) -> Path:
    """A profile that allows all that the server listed without the gate."""
    tools = {}
    for before, _ in plain:
        for message in lines(before.with_suffix(".out")):
            for tool in (json.loads(message).get("result") or {}).get("tools", []):
                tools[tool["name"]] = tool
    profile = {
        "agent": server,
        "tools": [{"name": name, **ALLOWED} for name in tools],
        "servers": {"": {"methods": ["*"], "environment": ["PATH"]}},
    }
    lock = {"servers": {"": {"tools": list(tools.values())}}}
    path = folder / f"{server}.profile.json"
    path.write_text(json.dumps(profile))
    (folder / f"{server}.lock.json").write_text(json.dumps(lock))
    return path


def lines(path: Path) -> list[bytes]:
    """The messages of a recording."""
    return [line for line in path.read_bytes().split(b"\n") if line.strip()]


def through(before: Path, behind: Path, outcome: Outcome, where: str) -> None:
    """Compare what went into the gate with what came out of it, in both directions."""
    asked, sent = lines(before.with_suffix(".in")), lines(behind.with_suffix(".in"))
    answered, shown = lines(behind.with_suffix(".out")), lines(before.with_suffix(".out"))
    sent, answered = with_ids_of_client(asked, sent, answered)
    asked, shown = with_ids_of_server(asked, answered, shown, outcome)
    methods = {name(message): json.loads(message).get("method") for message in asked + sent}
    unsent, own = match(asked, sent, outcome, methods, f"{where}: to the server")
    unseen, made = match(answered, shown, outcome, methods, f"{where}: to the client")
    answers = {name(message): json.loads(message) for message in made}
    for message in unsent:
        # The gate itself answered the messages that it did not forward.
        answer = answers.pop(name(message).replace("request", "answer", 1), None)
        if answer is None:
            outcome.different.append(f"{where}: lost on the way to the server: {short(message)}")
        elif methods[name(message)] == "tools/list":
            is_known = any(tools_of(json.loads(other)) == tools_of(answer) for other in unseen)
            outcome.counts[LISTED] += is_known
            if not is_known:
                outcome.different.append(f"{where}: tools that the server did not list: {answer}")
        else:
            outcome.counts[DENIED] += 1
    known = {name(message).replace("request", "answer", 1) for message in own if b'"method"' in message}
    outcome.counts[OWN] += len(own)
    for message in unseen:
        if name(message) not in known and not subscription(json.loads(message)).startswith(OWN_ID):
            outcome.different.append(f"{where}: lost on the way to the client: {short(message)}")
    outcome.different += [f"{where}: made by the gate: {answer}" for answer in answers.values()]


def with_ids_of_client(asked: list[bytes], sent: list[bytes], answered: list[bytes]) -> tuple[list[bytes], list[bytes]]:
    """Put the client's own ids back into what the server got, and into what it answered.

    The gate counts its requests to each server itself. A request of the gate's own, as all for the list of tools are,
    gets an id that no client has.
    """
    left = [message for message in map(json.loads, asked) if "method" in message and "id" in message]
    ids: dict[object, object] = {}
    # The last first: the gate subscribes before its client does.
    left.reverse()
    for message in map(json.loads, reversed(sent)):
        if "method" not in message or "id" not in message:
            continue
        alike = [other for other in left if other["method"] == message["method"] != "tools/list"]
        same = next((other for other in alike if parameters(other) == parameters(message)), None)
        found = same or next(iter(alike), None)
        if found is not None:
            left.remove(found)
        ids[message["id"]] = found["id"] if found else f"{OWN_ID}{message['id']}"

    def put_back(message: bytes, is_sent: bool) -> bytes:
        parsed = json.loads(message)
        params = parsed.get("params") or {}
        written = []
        if ("method" in parsed) == is_sent and parsed.get("id") in ids:
            written.append((b"id", parsed["id"]))
        if is_sent and parsed.get("method") == "notifications/cancelled":
            written.append((b"requestId", params["requestId"]))
        if not is_sent and SUBSCRIPTION in params.get("_meta", {}):
            written.append((SUBSCRIPTION.encode(), params["_meta"][SUBSCRIPTION]))
        for member, number in written:
            pattern = rb'"%s"\s*:\s*%s(?=[,}\s])' % (member, re.escape(json.dumps(number).encode()))
            value = b'"%s":%s' % (member, json.dumps(ids.get(number, number)).encode())
            places = list(re.finditer(pattern, message))
            # Parameters and results can have such members too.
            place = places[0 if list(parsed).index("id") < len(parsed) - 1 else -1] if member == b"id" else places[0]
            message = message[: place.start()] + value + message[place.end() :]
        return message

    return [put_back(message, True) for message in sent], [put_back(message, False) for message in answered]


def parameters(message: dict) -> object:
    """The parameters of a message, without what the gate puts there for itself."""
    return {name: member for name, member in (message.get("params") or {}).items() if name != "requestState"}


def with_ids_of_server(
    asked: list[bytes], answered: list[bytes], shown: list[bytes], outcome: Outcome
) -> tuple[list[bytes], list[bytes]]:
    """Put the server's own ids back into its requests, as the client saw them, and into the client's answers.

    The gate gives each request to the client an id that nobody can guess.
    """
    ids: dict[object, object] = {}
    left = [message for message in map(json.loads, answered) if "method" in message and "id" in message]
    for message in map(json.loads, shown):
        number = message.pop("id", None)
        same = (other for other in left if {**other, "id": None} == {**message, "id": None})
        if "method" in message and (other := next(same, None)) is not None:
            left.remove(other)
            ids[number] = other["id"]

    def put_back(message: bytes, is_request: bool) -> bytes:
        parsed = json.loads(message)
        if ("method" in parsed) == is_request and parsed.get("id") in ids:
            outcome.counts[NUMBERED] += 1
            number = json.dumps(parsed["id"]).encode()
            return message.replace(number, json.dumps(ids[parsed["id"]]).encode(), 1)
        return message

    return [put_back(message, False) for message in asked], [put_back(message, True) for message in shown]


def tools_of(answer: dict) -> dict:
    """The result of `tools/list`, without the member that the gate does not pass on."""
    return {name: member for name, member in (answer.get("result") or {}).items() if name != "_meta"}


def name(message: bytes) -> str:
    """Returns the identity of a message: its kind, and its id or method."""
    parsed = json.loads(message)
    if "id" not in parsed:
        return f"notification {parsed.get('method')} {subscription(parsed)}"
    kind = "request" if "method" in parsed else "answer"
    return f"{kind} {json.dumps(parsed['id'])}"


def subscription(notification: dict) -> str:
    """The subscription that a notification belongs to, if it is of one."""
    meta = (notification.get("params") or {}).get("_meta") or {}
    return str(meta.get(SUBSCRIPTION, ""))


def match(there: list[bytes], here: list[bytes], outcome: Outcome, methods: dict, where: str) -> tuple[list, list]:
    """Compare each message with the one of its name. Gives those that are missing on either side."""
    left = list(here)
    missing = []
    for message in there:
        known = name(message)
        found = next((other for other in left if other == message), None)
        found = found or next((other for other in left if name(other) == known), None)
        if found is None:
            missing.append(message)
            continue
        left.remove(found)
        if found == message:
            outcome.counts[SAME] += 1
            continue
        method = methods.get(known.replace("answer", "request", 1))
        reasons = explain(method, message, found)
        if reasons is None:
            outcome.different.append(f"{where}: {method}: {short(message)} became {short(found)}")
        for reason in reasons or []:
            outcome.counts[reason] += 1
    return missing, left


def explain(method: str | None, message: bytes, found: bytes) -> list[str] | None:
    """Returns the reason why the gate changed a message, or None."""
    # Numbers as they are written.
    was, became = (json.loads(text, parse_float=str, parse_int=str) for text in (message, found))
    if was == became:
        return [ORDER]
    if method == "initialize" and "result" in was and offered(was) == offered(became):
        return [OFFERED]
    if method == "tools/call" and hold_states(was, became) and was == became:
        return [STATES]
    if was.get("method") == "notifications/cancelled":
        was["params"] = {"requestId": was["params"]["requestId"]}
        return [SHORTENED] if was == became else None
    content = became.get("result", {}).get("content", []) if method == "tools/call" else []
    if content and content[-1].get("text", "").startswith(TOLD) and " link" in content.pop()["text"]:
        became = json.loads(json.dumps(became).replace("[:]", ":"))
        return [BROKEN] if was == became else None
    return None


def offered(message: dict) -> dict:
    """The answer to `initialize`, without what the gate decides: it has no tasks, and says itself when tools change."""
    capabilities = dict(message["result"]["capabilities"])
    capabilities.pop("tasks", None)
    if "tools" in capabilities:
        capabilities["tools"] = {**capabilities["tools"], "listChanged": True}
    return {**message, "result": {**message["result"], "capabilities": capabilities}}


def hold_states(was: dict, became: dict) -> bool:
    """Returns whether one of two messages has the gate's state instead of the server's. Removes both."""
    part = "result" if "result" in was else "params"
    states = [message.get(part, {}).pop("requestState", "") for message in (was, became)]
    return sum(state.startswith("seamgate-state-") for state in states) == 1


def said(steps: list[dict], plain: list[str], gated: list[str], outcome: Outcome) -> int:
    """Compare what the client made of each answer. Gives how many calls the gate should have denied."""
    if len(plain) < len(steps) // 4 + 1:
        outcome.different.append(f"without the gate, the client printed {len(plain)} lines only")
    if len(plain) != len(gated):
        outcome.different.append(f"the client printed {len(plain)} lines without the gate, {len(gated)} through it")
        return 0
    denied = 0
    for line, other in zip(plain, gated, strict=True):
        number = int(line.split(" ", 1)[0])
        step = steps[number - 1] if number else {"do": "hello"}
        if step.get("denied"):
            denied += 1
        if step.get("denied") or step.get("varies") or TOLD in other:
            continue
        if stripped(step, line) == stripped(step, other):
            outcome.counts[ALIKE] += 1
        else:
            outcome.different.append(f"the client read {line[:300]} without the gate, {other[:300]} through it")
    return denied


def stripped(step: dict, line: str) -> object:
    """Returns a client's output, without the parts that the gate omits."""
    left_out = {"hello": {"tasks", "listChanged", "list_changed"}, "tools": {"_meta", "meta"}}.get(step["do"], set())
    text = line[line.index(" ") :]
    try:
        value = json.loads(text)
    except ValueError:
        return text

    def strip(value: object) -> object:
        match value:
            case dict():
                return {
                    name: strip(member) for name, member in value.items() if name not in left_out and member is not None
                }
            case list():
                return [strip(item) for item in value]
        return value

    return strip(value)


def short(message: bytes) -> str:
    """A message for a person."""
    text = message.decode(errors="replace")
    return text if len(text) < 600 else f"{text[:600]}… ({len(text)} characters)"


def table(pairs: list[tuple[str, str]], outcomes: list[Outcome]) -> str:
    """Returns the outcomes of all messages, in Markdown."""
    rows = [["client", "server", *COLUMNS, "**different**"]]
    rows.append(["---", "---", *["---:"] * (len(COLUMNS) + 1)])
    for (client, server), outcome in zip(pairs, outcomes, strict=True):
        counts = [str(outcome.counts[column]) for column in COLUMNS]
        rows.append([client, server, *counts, str(len(outcome.different))])
    return page.table(rows)


if __name__ == "__main__":
    sys.exit(main())
