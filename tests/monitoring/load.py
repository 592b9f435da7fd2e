"""Loads gates, agents and `seamgate check`, and compares what Prometheus' queries return with what journals and answers contain.

Prometheus runs with the files of deploy/monitoring, of which only the targets and the intervals are replaced. Every query of the
dashboard is executed. The tables of the dashboard must return exactly what the journals contain, and the answers about verdicts.

Usage: load.py SEAMGATE FOLDER [--calls NUMBER] [--verdicts NUMBER] [--turns NUMBER] [--record]
"""

import argparse
import collections
import json
import math
import os
import pathlib
import random
import secrets
import shutil
import socket
import statistics
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request

import stack

TOKEN = secrets.token_hex(16)
AGENT, TOOL = "gen_ai_agent_name", "gen_ai_tool_name"
LIMIT = 120

SERVER = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    if method == "initialize":
        result = dict(protocolVersion="2025-06-18", capabilities=dict(tools={}), serverInfo=dict(name="load", version="1"))
    elif method == "tools/list":
        names = ["read", "fail", "break", "drop", "send", "post"]
        result = dict(tools=[dict(name=name, inputSchema=dict(type="object")) for name in names])
    elif method == "tools/call":
        name = message["params"]["name"]
        if name == "break":
            error = dict(code=-32603, message="broken on purpose")
            print(json.dumps(dict(jsonrpc="2.0", id=message["id"], error=error)), flush=True)
            continue
        result = dict(content=[dict(type="text", text="x")], isError=name == "fail")
    else:
        continue
    print(json.dumps(dict(jsonrpc="2.0", id=message["id"], result=result)), flush=True)
"""

# The words of an agent's model. The task says which way the run goes.
MODEL = r"""
import json, sys
asked = sys.stdin.read()
usage = dict(input=len(asked), output=17)
if "way-fail" in asked:
    sys.exit(1)
if "way-loop" in asked or '"call":"c1"' not in asked:
    print(json.dumps(dict(calls=[dict(tool="look", arguments={})], usage=usage)))
elif "way-wait" in asked and '"call":"c2"' not in asked:
    print(json.dumps(dict(calls=[dict(tool="erase", arguments={})], usage=usage)))
else:
    print(json.dumps(dict(text=json.dumps(dict(done=True)), usage=usage)))
"""


def gate_profile(agent):
    def tool(name, effect, permit):
        return {"name": name, "server": "s", "effect": effect, "permit": permit}

    def ask(seconds):
        return {"approval": {"by": ["owner"], "ttl_s": seconds}}

    tools = [
        tool("read", "read", "allow"),
        tool("fail", "read", "allow"),
        tool("break", "read", "allow"),
        tool("drop", "effectful", "deny"),
        tool("send", "effectful", ask(3600)),
        tool("post", "effectful", ask(3)),
    ]
    return {"agent": agent, "approvers": {"owner": [{"principal": "anna"}]}, "servers": {"s": {"methods": []}}, "tools": tools}


AGENT_PROFILE = {
    "agent": "tidy",
    "version": "1.0.0",
    "prompt": {"role": "You tidy up.", "rules": ["Say that you are done."]},
    "approvers": {"owner": [{"principal": "anna"}]},
    "tools": [
        {"name": "look", "effect": "read", "permit": "allow"},
        {"name": "erase", "effect": "effectful", "permit": {"approval": {"by": ["owner"], "ttl_s": 3600}}},
    ],
    "budget": {"steps": 10, "tool_calls": 10},
    "final": {"contract": {"agent": "tidy", "schema": {"type": "object", "required": ["done"]}}},
}
OBJECT = {"type": "object"}
AGENT_LOCK = {"servers": {"": {"tools": [{"name": name, "description": name, "inputSchema": OBJECT} for name in ("look", "erase")]}}}
AGENT_SERVERS = {"servers": {"": {"tools": {name: {"command": ["sh", "-c", "echo '{}'"]} for name in ("look", "erase")}}}}


CONTRACTS = {
    "order": {
        "type": "object",
        "required": ["sku", "count"],
        "properties": {"sku": {"type": "string", "pattern": "^[A-Z]"}, "count": {"type": "integer", "minimum": 1}},
    },
    "triage": {"enum": ["low", "high"]},
    # Nobody asks about it.
    "quiet": True,
}
# Names and values that only requests have.
PRIVATE = "private"


def request(dice, number):
    """Returns the line of a request: most have a verdict, and some a fault."""
    way = dice.random()
    if way < 0.04:
        return dice.choice([b"no request", b"\xff\xfe", b"[1]", b'{"agent": "order"}'])
    agent = dice.choice(["order", "order", "triage"])
    if way < 0.06:
        return json.dumps({"id": number, "agent": f"{PRIVATE}-{number}", "output": "1"}).encode()
    if way < 0.08:
        # This contract holds for its own request.
        contract = {"agent": f"{PRIVATE}-{number % 7}", "schema": dice.choice([True, False])}
        return json.dumps({"id": number, "contract": contract, "output": "1"}).encode()
    if way < 0.09:
        return json.dumps({"id": number, "contract": {"agent": "order", "schema": {"type": PRIVATE}}, "output": "1"}).encode()
    if agent == "triage":
        output = json.dumps(dice.choice(["low", "high", f"{PRIVATE}-{number}"]))
    else:
        document = {"sku": dice.choice(["A-7", "b", 5, None]), "count": dice.randrange(3), f"{PRIVATE}-{number}": 1}
        output = json.dumps({name: value for name, value in document.items() if value is not None})
    output = dice.choice([output, f"```json\n{output}\n```", f"{output[:-1]}", "I cannot help with that."]) if way < 0.5 else output
    finish = dice.choice(["stop", "unknown", "refusal", "length"])
    return json.dumps({"id": number, "agent": agent, "output": output, "finish": finish}).encode()


def verdicts(program, folder, count):
    """Asks about outputs in five batches, of which three share a file. Returns the counts of all answers by name."""
    contracts = folder / "contracts"
    contracts.mkdir()
    for agent, schema in CONTRACTS.items():
        (contracts / f"{agent}.contract.json").write_text(json.dumps({"agent": agent, "schema": schema}))
    found = collections.defaultdict(collections.Counter)
    dice = random.Random(51)

    def batch(file, more):
        requests = b"\n".join(request(dice, number) for number in range(count // 5)) + b"\n"
        command = [program, "check", "--ndjson", "-c", "contracts", "--metrics", f"textfile/{file}.prom", *more]
        done = subprocess.run(command, cwd=folder, input=requests, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        answers = done.stdout.splitlines()
        if len(answers) != count // 5:
            sys.exit(f"{len(answers)} answers to {count // 5} requests, with status {done.returncode}")
        for answer in map(json.loads, answers):
            if "fault" in answer:
                found["faults"][file, answer["fault"]["fault"]] += 1
                continue
            report = answer["report"]
            agent = report["agent"] if report["agent"] in CONTRACTS else "(unknown)"
            found["verdicts"][agent, report["disposition"]] += 1
            for violation in (report["error"] or {}).get("violations", []):
                found["violations"][agent, violation["keyword"]] += 1
            found["fuel"][file, agent] += answer["usage"]["fuel"]
            found["verdicts of a file"][file, agent] += 1

    for file, more in (("day", []), ("night", ["--warm"]), ("day", ["--warm", "-j1"]), ("night", []), ("day", [])):
        batch(file, more)
        # Rates need samples of several scrapes.
        time.sleep(2.5)
    for file in ("day", "night"):
        found["waiting"][(file,)] = 0
    return found


def compare_verdicts(prometheus, found):
    """Compares the tables of the dashboard, and the histograms, with the answers."""
    table = Table("answers")
    by_panel = stack.instant_queries(stack.dashboard())
    exact = [
        (by_panel["All verdicts"], (AGENT, "disposition"), found["verdicts"]),
        (by_panel["All violations"], (AGENT, "keyword"), found["violations"]),
        (by_panel["Faults"], ("file", "code"), found["faults"]),
        ("seamgate_verdict_fuel_sum", ("file", AGENT), found["fuel"]),
        ("seamgate_verdict_fuel_count", ("file", AGENT), found["verdicts of a file"]),
        ('seamgate_verdict_fuel_bucket{le="+Inf"}', ("file", AGENT), found["verdicts of a file"]),
        ("seamgate_verdict_duration_seconds_count", ("file", AGENT), found["verdicts of a file"]),
        ("seamgate_requests_waiting", ("file",), found["waiting"]),
    ]
    for expression, labels, counted in exact:
        name = next((name for name, known in by_panel.items() if known == expression), expression)
        table.compare(name, as_counts(prometheus.query(stack.filled(expression)), labels), counted)
    return table


class Node:
    """Prometheus' node exporter, with the files of a folder."""

    def __init__(self, folder):
        self.port = free_port()
        (folder / "textfile").mkdir()
        command = ["prometheus-node-exporter", f"--web.listen-address=127.0.0.1:{self.port}", "--collector.disable-defaults"]
        command += ["--collector.textfile", "--collector.textfile.directory=textfile"]
        self.process = subprocess.Popen(command, cwd=folder, stderr=open(folder / "node.log", "w"))
        until(self.scrape, "the node exporter does not start")

    def scrape(self):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=30) as answer:
                return answer.read().decode()
        except OSError:
            return None

    def end(self):
        self.process.terminate()
        self.process.wait(timeout=LIMIT)


def environment():
    return {**os.environ, "USER": "anna", "SEAMGATE_TOKEN": TOKEN}


class Gate:
    """A gate, with its client. Several calls can be in flight."""

    def __init__(self, program, folder, agent, runs):
        profile = folder / f"{agent}.profile.json"
        profile.write_text(json.dumps(gate_profile(agent)))
        command = [program, "mcp", "-p", profile, "--journal", runs, "--", sys.executable, "server.py"]
        log = open(folder / f"{agent}.log", "a")
        self.process = subprocess.Popen(
            command, cwd=folder, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
        )
        self.count, self.answers = 0, {}
        info = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "load", "version": "1"}}
        self.wait(self.send("initialize", info))
        self.write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def write(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def send(self, method, params):
        self.count += 1
        self.write({"jsonrpc": "2.0", "id": self.count, "method": method, "params": params})
        return self.count

    def call(self, tool, number):
        return self.send("tools/call", {"name": tool, "arguments": {"n": number}})

    def wait(self, request):
        while request not in self.answers:
            line = self.process.stdout.readline()
            if not line:
                sys.exit(f"the gate ended with status {self.process.wait()}: see its log")
            message = json.loads(line)
            if "id" in message and "method" not in message:
                self.answers[message["id"]] = message
        return self.answers.pop(request)

    def end(self):
        self.process.stdin.close()
        self.process.wait(timeout=LIMIT)


def load(program, folder, runs, calls):
    """Makes the calls. Returns the gates, which still run, and how many calls each tool got."""
    dice = random.Random(50)
    # The rest of the calls are `read`.
    shares = [("(unknown)", 0.07), ("drop", 0.08), ("fail", 0.05), ("break", 0.03)]
    counts = {name: int(calls * share) for name, share in shares}
    counts |= {"send": max(calls // 80, 10), "post": max(calls // 250, 5)}
    plan = [name for name, count in counts.items() for _ in range(count)]
    plan += ["read"] * (calls - len(plan))
    dice.shuffle(plan)
    gates = [Gate(program, folder, agent, runs) for agent in ("team", "reports", "night")]
    for number, name in enumerate(plan):
        gate = gates[number % 2]
        tool = f"no \"such\" {{tool}}\\{number}" if name == "(unknown)" else name
        request = gate.call(tool, number)
        if name not in ("send", "post"):
            gate.wait(request)
    return gates, counts


def waiting(program, folder, sends):
    """Returns the calls that wait for long."""
    command = [program, "approve", "runs", "--json"]
    # The status says that calls wait.
    output = subprocess.run(command, cwd=folder, env=environment(), stdout=subprocess.PIPE).stdout
    asks = sorted((ask["folder"], ask["ask"]["key"]) for ask in json.loads(output) if ask["tool"] == "s/send")
    if len(asks) != sends:
        sys.exit(f"{len(asks)} calls wait, not {sends}")
    return asks


def decide(program, folder, asks, *more):
    for run, key in asks:
        command = [program, "approve", run, key, "--as", "anna", "--yes", *more]
        subprocess.run(command, cwd=folder, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)


def agents(program, folder):
    """Runs agents to their ends: final, failed, and waiting for a person."""
    (folder / "model.py").write_text(MODEL)
    for name, value in (("profile", AGENT_PROFILE), ("lock", AGENT_LOCK), ("servers", AGENT_SERVERS)):
        (folder / f"tidy.{name}.json").write_text(json.dumps(value))
    agent = ["agent", "-p", "tidy.profile.json", "--servers", "tidy.servers.json", "--as", "joe"]
    model = ["--", sys.executable, "model.py"]
    statuses = collections.Counter()
    for number in range(12):
        way = ["plain", "loop", "wait", "fail"][number % 4]
        task = ["--task", json.dumps({"way": f"way-{way}"}), "--journal", f"runs/tidy-{number}"]
        command = [program, *agent, *task, *model]
        done = subprocess.run(command, cwd=folder, env=environment(), stdin=subprocess.DEVNULL, capture_output=True)
        statuses[way, done.returncode] += 1
    # One goes on, after a person approved its call.
    for command in (["approve", "runs/tidy-2", "--as", "anna", "--yes"], ["agent", "--resume", "runs/tidy-2"]):
        subprocess.run([program, *command], cwd=folder, env=environment(), stdin=subprocess.DEVNULL, capture_output=True, check=True)
    return statuses


def journals(runs):
    """Returns the counts of the journals by name. The keys are pairs of labels."""
    found = collections.defaultdict(collections.Counter)
    samples = collections.defaultdict(list)
    for path in sorted(runs.glob("*/journal.ndjson")):
        agent, tools, asked, ended, number, at = None, {}, {}, False, -1, 0
        for line in path.read_text().splitlines():
            try:
                line = json.loads(line)
            except ValueError:
                found["broken"][()] += 1
                break
            # A step that is appended again after a failure has the same numbers.
            if line["n"] <= number:
                continue
            number = line["n"]
            agent = line["run"]["agent"] if "run" in line else agent
            event, record, action = line.get("event", {}), line.get("record", {}), line.get("action", {})
            # The time of a run is the greatest that it has seen: two processes append to it.
            at = max(at, event.get("at", at))
            if event.get("type") == "approval":
                found["approvals"][agent, event["decision"]] += 1
                if event["key"] in asked:
                    samples["wait", agent].append((at - asked[event["key"]][0]) / 1000)
            if event.get("type") == "model_output":
                for kind in ("input", "output"):
                    if kind in event.get("usage", {}):
                        samples["tokens", agent, kind].append(event["usage"][kind])
            if record.get("type") == "decision":
                known = "effect" in record
                tool = "/".join(filter(None, (record.get("server"), record["tool"]))) if known else "(unknown)"
                tools[record["call"]] = tool
                found["decisions"][agent, tool, record["permit"]] += 1
                for reason in record.get("reasons", []):
                    found["reasons"][agent, reason["code"], record["permit"]] += 1
                if record["permit"] != "approval":
                    asked.pop(record["call"], None)
            if record.get("type") in ("observation", "settled"):
                tool = tools.get(record["call"], "(unknown)")
                was_asked = asked.pop(record["call"], None) is not None
                if record["type"] == "settled":
                    found["results"][agent, tool, record["code"]] += 1
                    if was_asked and record["code"] == "expired":
                        found["approvals"][agent, "expired"] += 1
                else:
                    found["results"][agent, tool, record["status"]] += 1
                    if "duration_ms" in record:
                        samples["duration", agent, tool].append(record["duration_ms"] / 1000)
            if record.get("type") == "output":
                found["outputs"][agent, record["kind"]] += 1
            if action.get("type") == "ask_approval":
                asked[action["call"]] = (at, action["ask"]["expires"])
            if action.get("type") == "finish" and not ended:
                ended, asked = True, {}
                found["ended"][agent, action["status"]] += 1
        found["journals"][()] += 1
        # A journal without a first line does not say whose run it is.
        if agent is not None:
            found["waiting"][(agent,)] += sum(expires > 1000 * time.time() for _, expires in asked.values())
            found["under way"][(agent,)] += not ended
    return found, samples


class Prometheus:
    """A server with the files of deploy/monitoring."""

    def __init__(self, folder, target, node):
        stack.configure(folder, target, TOKEN, node)
        self.port = free_port()
        command = ["prometheus", "--config.file=prometheus.yml", f"--web.listen-address=127.0.0.1:{self.port}"]
        command += ["--storage.tsdb.path=tsdb", "--log.level=warn"]
        self.process = subprocess.Popen(command, cwd=folder, stderr=open(folder / "prometheus.log", "w"))
        until(lambda: self.api("status/buildinfo"), "Prometheus does not start")

    def api(self, path, **values):
        address = f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(values)}"
        try:
            with urllib.request.urlopen(address, timeout=30) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            sys.exit(f"{values}: {error.read().decode()}")
        except OSError:
            return None

    def query(self, expression, at=None):
        return self.api("query", query=expression, **({"time": at} if at else {}))["result"]

    def range(self, expression, seconds):
        end = time.time()
        return self.api("query_range", query=expression, start=end - seconds, end=end, step=5)["result"]


def until(condition, otherwise, seconds=LIMIT):
    end = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > end:
            sys.exit(otherwise)
        time.sleep(0.2)
    return value


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Site:
    """`seamgate serve`, on a port of its own."""

    def __init__(self, program, folder, runs):
        self.port = free_port()
        command = [program, "serve", "--runs", runs, "--listen", f"127.0.0.1:{self.port}", "--token-env", "SEAMGATE_TOKEN"]
        log = open(folder / "serve.log", "a")
        self.process = subprocess.Popen(command, cwd=folder, env=environment(), stderr=log)
        until(self.scrape, "seamgate serve does not start")

    def scrape(self):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.read().decode()
        except OSError:
            return None

    def end(self):
        self.process.terminate()
        self.process.wait(timeout=LIMIT)


def as_counts(result, labels):
    """Returns an answer of Prometheus by the values of labels, without what is 0."""
    counts = {tuple(row["metric"].get(label, "") for label in labels): float(row["value"][1]) for row in result}
    return {labels: value for labels, value in counts.items() if value != 0}


class Table:
    """Comparisons with the counts of a source. Each has a row."""

    def __init__(self, source):
        self.source, self.rows, self.failed = source, [], False

    def compare(self, name, queried, counted):
        counted = {labels: float(value) for labels, value in counted.items() if value != 0}
        is_equal = queried.keys() == counted.keys() and all(
            math.isclose(queried[labels], counted[labels], rel_tol=1e-9) for labels in counted
        )
        self.rows.append((name, len(counted), sum(counted.values()), sum(queried.values()), is_equal))
        if not is_equal:
            self.failed = True
            different = {labels for labels in counted.keys() | queried.keys() if queried.get(labels) != counted.get(labels)}
            for labels in sorted(different)[:10]:
                print(f"{name}: {labels}: the {self.source} {counted.get(labels)}, Prometheus {queried.get(labels)}", file=sys.stderr)

    def lines(self):
        def number(value):
            return f"{value:,.3f}".rstrip("0").rstrip(".")

        yield f"| what | label sets | {self.source} | Prometheus | equal |"
        yield "| --- | ---: | ---: | ---: | --- |"
        for name, sets, counted, queried, is_equal in self.rows:
            yield f"| {name} | {sets} | {number(counted)} | {number(queried)} | {'yes' if is_equal else '**no**'} |"


def compare(prometheus, runs):
    """Compares the tables of the dashboard, and the histograms, with the journals."""
    found, samples = journals(runs)
    table = Table("journals")
    by_panel = stack.instant_queries(stack.dashboard())
    exact = [
        ("Decisions", (AGENT, TOOL, "permit"), found["decisions"]),
        ("Reasons", (AGENT, "code", "permit"), found["reasons"]),
        ("Results", (AGENT, TOOL, "status"), found["results"]),
        ("Decisions of people", (AGENT, "decision"), found["approvals"]),
        ("Outputs of models", (AGENT, "kind"), found["outputs"]),
        ("Runs ended", (AGENT, "status"), found["ended"]),
        ("Runs under way", (AGENT,), found["under way"]),
        ("Approvals waiting", (AGENT,), found["waiting"]),
        ("Journals", (), found["journals"]),
        ("Broken journals", (), found["broken"]),
        ("Tokens", (AGENT, "gen_ai_token_type"), {key[1:]: sum(all) for key, all in samples.items() if key[0] == "tokens"}),
    ]
    for name, labels, counted in exact:
        table.compare(name, as_counts(prometheus.query(stack.filled(by_panel[name])), labels), counted)
    histograms = [
        ("duration", "gen_ai_execute_tool_duration_seconds", (AGENT, TOOL)),
        ("wait", "seamgate_approval_wait_seconds", (AGENT,)),
        ("tokens", "gen_ai_client_token_usage", (AGENT, "gen_ai_token_type")),
    ]
    for kind, metric, labels in histograms:
        by_labels = {key[1:]: all for key, all in samples.items() if key[0] == kind}
        result = prometheus.query(f"{metric}_bucket")
        queried = as_counts(result, (*labels, "le"))
        bounds = {row["metric"]["le"] for row in result}
        counted = {(*key, le): sum(sample <= float(le) for sample in all) for key, all in by_labels.items() for le in bounds}
        table.compare(f"{metric}, buckets", queried, counted)
        sums = {key: sum(all) for key, all in by_labels.items()}
        table.compare(f"{metric}, sum", as_counts(prometheus.query(f"{metric}_sum"), labels), sums)
    ages = as_counts(prometheus.query("seamgate_approvals_oldest_seconds"), (AGENT,))
    waiting = {key for key, count in found["waiting"].items() if count}
    if ages.keys() != waiting or not all(0 < age < 3600 for age in ages.values()):
        sys.exit(f"the ages of the calls that wait are {ages}, and {waiting} have such calls")
    return table


def every_query(prometheus):
    """Executes each query of the dashboard. Each must return a number for at least one time."""
    count, empty = 0, []
    for panel, expression in stack.queries(stack.dashboard()):
        filled = stack.filled(expression)
        result = prometheus.range(filled, 120)
        values = [value for row in result for _, value in row["values"] if value not in ("NaN", "+Inf", "-Inf")]
        count += 1
        if not values:
            empty.append(f"{panel}: {filled}")
    if empty:
        sys.exit("no numbers from:\n" + "\n".join(empty))
    return count


def cpu(process):
    """Returns the seconds that a process has computed."""
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def turns(program, folder, count, calls=2000):
    """Measures calls without and with `seamgate serve`, which is scraped each second, in turns. Yields for each turn the seconds on
    the clock and the seconds that the gate computed, each as a pair."""
    for turn in range(count):
        measured = {}
        for is_served in (False, True) if turn % 2 else (True, False):
            runs = folder / f"turn-{turn}-{is_served}"
            runs.mkdir()
            gate = Gate(program, folder, "turn", runs)
            for number in range(50):
                gate.wait(gate.call("read", number))
            stopped = threading.Event()
            if is_served:
                site = Site(program, folder, runs)

                def scrape():
                    while not stopped.wait(1):
                        site.scrape()

                thread = threading.Thread(target=scrape)
                thread.start()
            start, computed = time.monotonic(), cpu(gate.process)
            for number in range(calls):
                gate.wait(gate.call("read", number))
            measured[is_served] = (time.monotonic() - start, cpu(gate.process) - computed)
            stopped.set()
            if is_served:
                thread.join()
                site.end()
            gate.end()
            shutil.rmtree(runs)
        yield tuple(zip(measured[False], measured[True]))


def print_turns(measured):
    for name, pairs in zip(("on the clock", "computed by the gate"), zip(*measured)):
        alone, scraped = (statistics.median(column) for column in zip(*pairs))
        ratios = sorted(scraped / alone for alone, scraped in pairs)
        print(
            f"2,000 calls, {name}, medians of {len(pairs)} turns: {alone:.2f} s alone, {scraped:.2f} s beside a scrape each second; "
            f"ratio of a turn {statistics.median(ratios):.3f}, from {ratios[0]:.3f} to {ratios[-1]:.3f}"
        )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("seamgate", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path, help="a folder that is made anew")
    parser.add_argument("--calls", type=int, default=5000)
    parser.add_argument("--verdicts", type=int, default=100_000)
    parser.add_argument("--turns", type=int, default=10)
    parser.add_argument("--record", action="store_true", help="record the metrics for check.py")
    arguments = parser.parse_args()
    program, folder = arguments.seamgate.resolve(), arguments.folder.resolve()
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "runs").mkdir(parents=True)
    (folder / "server.py").write_text(SERVER)
    site = Site(program, folder, "runs")
    node = Node(folder)
    prometheus = Prometheus(folder, f"127.0.0.1:{site.port}", f"127.0.0.1:{node.port}")
    try:
        check(arguments, program, folder, site, prometheus, node)
    finally:
        prometheus.process.terminate()
        prometheus.process.wait(timeout=LIMIT)
        node.end()
        site.end()


def recorded(file, text, is_new):
    """Records the metrics of a text, or compares their names and labels with those that were recorded."""
    if is_new:
        file.write_text(text)
    elif difference := stack.shape(text) ^ stack.shape(file.read_text()):
        sys.exit(f"{file.name} has other names or labels: {sorted(difference)}; record them again with --record")


def check(arguments, program, folder, site, prometheus, node):
    runs = folder / "runs"
    start = time.monotonic()
    gates, counts = load(program, folder, runs, arguments.calls)
    print(f"{arguments.calls:,} calls in {time.monotonic() - start:.1f} s", flush=True)
    # Of ten calls that wait, five are approved at once and one later, and three are rejected.
    asks = waiting(program, folder, counts["send"])
    first = [ask for number, ask in enumerate(asks) if number % 10 < 5]
    rejected = [ask for number, ask in enumerate(asks) if 5 <= number % 10 < 8]
    last = [ask for number, ask in enumerate(asks) if number % 10 == 8]
    decide(program, folder, first)
    decide(program, folder, rejected, "--reject", "--reason", "not now")
    # One gate ends while its call waits; the others stay, with the calls that nobody decided.
    gates[2].call("send", 0)
    gates[2].end()
    statuses = agents(program, folder)
    # One journal is broken from its start, and one at its end.
    for name, text in (("broken", ""), ("cut", (runs / "tidy-0" / "journal.ndjson").read_text())):
        (runs / name).mkdir()
        (runs / name / "journal.ndjson").write_text(text + "not a line of a journal\n")


    def taken(count):
        def is_quiet():
            return sum(journals(runs)[0]["approvals"].values()) == count

        until(is_quiet, f"the gates have not taken {count} decisions: {journals(runs)[0]['approvals']}")

    # One decision is about an agent's call. Rates need another after a scrape that has the first.
    count = counts["post"] + len(first) + len(rejected) + 1
    taken(count)
    time.sleep(3)
    decide(program, folder, last)
    taken(count + len(last))
    for number in range(20):
        for gate in gates[:2]:
            for tool in ("read", "fail", "drop"):
                gate.wait(gate.call(tool, number))
    start = time.monotonic()
    answers = verdicts(program, folder, arguments.verdicts)
    print(f"{arguments.verdicts:,} requests for verdicts in {time.monotonic() - start:.1f} s", flush=True)
    time.sleep(3)
    tables = [compare(prometheus, runs), compare_verdicts(prometheus, answers)]
    for table in tables:
        print("\n".join(table.lines()), flush=True)
    if PRIVATE in node.scrape():
        sys.exit("a label has a value of a request")
    print(f"runs of agents by their way and exit status: {dict(statuses)}")
    count = every_query(prometheus)
    print(f"{count} queries of the dashboard return numbers")
    firing = {alert["labels"]["alertname"] for alert in prometheus.api("alerts")["alerts"]}
    print(f"alerts, pending or firing: {', '.join(sorted(firing))}")
    if "SeamgateJournalBroken" not in firing:
        sys.exit("the alert about the broken journal is missing")
    recorded(stack.SCRAPE, site.scrape(), arguments.record)
    recorded(stack.TEXTFILE, (folder / "textfile" / "day.prom").read_text(), arguments.record)
    for gate in gates[:2]:
        gate.end()
    if any(table.failed for table in tables):
        sys.exit("Prometheus does not agree with the journals and the answers")
    if arguments.turns:
        print_turns(list(turns(program, folder, arguments.turns)))


if __name__ == "__main__":
    main()
