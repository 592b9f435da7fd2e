"""The tools of the example. They read what the service of SRE_HOME wrote.

Usage: tools.py NAME    one call: its arguments on standard input, the result on standard output
       tools.py mcp     an MCP server over standard input and output: query_metrics, inspect_deployments

SRE_HOME/calls.ndjson gets a line for each call that is done.
"""

import json
import os
import sys
import time

HOME = os.environ.get("SRE_HOME", ".")
# Of a call that is a command. An MCP server gets it with the call.
KEY = os.environ.get("SEAMGATE_IDEMPOTENCY_KEY")
SERVICE = "payment-api"
LEVELS = ["info", "warn", "error"]
METRICS = ["requests", "errors", "db_pool_in_use", "db_pool_max"]
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
RESTART_S = 5


class Failed(Exception):
    """The tool could not do it, for the reason given."""


def path(name):
    return os.path.join(HOME, name)


def lines(name):
    try:
        with open(path(name), encoding="utf-8") as file:
            return [json.loads(line) for line in file]
    except FileNotFoundError:
        return []


def append(name, line):
    with open(path(name), "ab", buffering=0) as file:
        file.write((json.dumps(line) + "\n").encode())


def stamp(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def window(arguments):
    """The service's name, and the time from which on to look."""
    if arguments["service"] != SERVICE:
        raise Failed(f"no data for the service {arguments['service']}")
    since = arguments["since"]
    return {"service": SERVICE, "since": since}, time.time() - int(since[:-1]) * UNITS[since[-1]]


def search_logs(arguments):
    about, begin = window(arguments)
    levels = LEVELS[LEVELS.index(arguments.get("level", "info")) :]
    found = [line for line in lines("service.log") if line["level"] in levels and line["timestamp"] >= stamp(begin)]
    return {**about, "count": len(found), "lines": found, "until": stamp(time.time())}


def query_metrics(arguments):
    about, begin = window(arguments)
    metric = arguments["metric"]
    samples = [(sample["at"], sample[metric]) for sample in lines("metrics.ndjson") if sample["at"] >= begin]
    values = [value for _, value in samples]
    changes = [sample for before, sample in zip([None, *values], samples) if sample[1] != before]
    return {
        **about,
        "metric": metric,
        "max": max(values, default=None),
        "last": values[-1] if values else None,
        "changes": [{"at": stamp(at), "value": value} for at, value in changes],
        "until": stamp(time.time()),
    }


def inspect_deployments(arguments):
    about, begin = window(arguments)
    found = [line for line in lines("deployments.ndjson") if line["at"] >= stamp(begin)]
    return {**about, "count": len(found), "deployments": found, "until": stamp(time.time())}


def restart_service(arguments):
    """Ask the supervisor, and wait until it is done. It restarts as often as it is asked: nobody here looks at the key again."""
    if arguments["service"] != SERVICE:
        raise Failed(f"no such service: {arguments['service']}")
    before = len(lines("ledger.ndjson"))
    asked = {"key": KEY}
    try:
        control = os.open(path("control"), os.O_WRONLY | os.O_NONBLOCK)
    except OSError as error:
        raise Failed(f"the service has no supervisor: {error.strerror}") from None
    os.write(control, (json.dumps(asked) + "\n").encode())
    os.close(control)
    end = time.monotonic() + RESTART_S
    while time.monotonic() < end:
        done = lines("ledger.ndjson")[before:]
        if any(line["key"] == asked["key"] for line in done):
            return {"service": SERVICE, "restarted": True}
        time.sleep(0.005)
    raise Failed(f"the service was not back after {RESTART_S} s")


TOOLS = {tool.__name__: tool for tool in (search_logs, query_metrics, inspect_deployments, restart_service)}


def call(name, arguments, key):
    result = TOOLS[name](arguments)
    append("calls.ndjson", {"tool": name, "key": key})
    return result


SERVICE_AND_SINCE = {
    "service": {"type": "string"},
    "since": {"type": "string", "pattern": "^[1-9][0-9]{0,3}[smhd]$"},
}

LISTED = [
    {
        "name": "query_metrics",
        "description": "The values of one metric of a service since so long ago: where it changed, the greatest and the last.",
        "inputSchema": {
            "type": "object",
            "required": ["service", "metric", "since"],
            "properties": {**SERVICE_AND_SINCE, "metric": {"enum": METRICS}},
            "additionalProperties": False,
        },
        "annotations": {"readOnlyHint": True},
    },
    {
        "name": "inspect_deployments",
        "description": "What was deployed of a service since so long ago.",
        "inputSchema": {
            "type": "object",
            "required": ["service", "since"],
            "properties": SERVICE_AND_SINCE,
            "additionalProperties": False,
        },
        "annotations": {"readOnlyHint": True},
    },
]


def called(params):
    name = params["name"]
    if all(tool["name"] != name for tool in LISTED):
        return {"content": [{"type": "text", "text": f"no tool {name}"}], "isError": True}
    try:
        result = call(name, params.get("arguments", {}), params.get("_meta", {}).get("seamgate.dev/idempotency-key"))
    except Failed as error:
        return {"content": [{"type": "text", "text": str(error)}], "isError": True}
    return {"content": [{"type": "text", "text": json.dumps(result)}], "structuredContent": result}


def serve():
    for line in sys.stdin:
        message = json.loads(line)
        method, answer = message.get("method"), {"jsonrpc": "2.0", "id": message.get("id")}
        if method == "initialize":
            answer["result"] = {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "metrics", "version": "1.0.0"},
            }
        elif method == "tools/list":
            answer["result"] = {"tools": LISTED}
        elif method == "tools/call":
            answer["result"] = called(message["params"])
        elif method == "ping":
            answer["result"] = {}
        elif "id" in message:
            answer["error"] = {"code": -32601, "message": f"no method {method}"}
        else:
            continue
        print(json.dumps(answer), flush=True)


def main(name):
    if name == "mcp":
        return serve()
    try:
        print(json.dumps(call(name, json.load(sys.stdin), KEY)))
    except Failed as error:
        print(error)
        sys.exit(1)


if __name__ == "__main__":
    main(sys.argv[1])
