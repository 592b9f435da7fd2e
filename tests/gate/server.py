"""A scripted MCP server. Its rules are a JSON file: for each method, `tools/call NAME` or `tasks/get ID`, what it writes then.

An action is one of: {"result": R}, {"error": E}, {"notify": M}, {"request": M}, {"raw": TEXT} ($ID in it is the id of the request), {"echo": true} (a result whose text is
the line as it came), {"listen": true} (a subscription: it is acknowledged as it was asked for), {"tools_changed": true} (each subscription hears
it), {"state_bytes": N} (a result that asks for input, with a state of so many), {"repeat": TEXT, "times": N} (one string without a line end), {"environment": [NAME, …]} (those that it has), {"exit": STATUS}, {"sleep": SECONDS}, {"forget": true} (no answer).
Where a method comes again and again, `METHOD#2` is the second time. What it is told without being asked comes back as an answer: see "heard".
"""

import json
import os
import sys
import time

rules = json.load(open(sys.argv[1], encoding="utf-8"))
counts = {}
subscriptions = []
heard = []


def write(text):
    try:
        sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        # Nobody reads any more.
        os._exit(0)


def line(text):
    write(text + "\n")


def identifier(text):
    """The id as it is written."""
    begin = text.index('"id"') + 4
    rest = text[begin:].lstrip().removeprefix(":").lstrip()
    _, end = json.JSONDecoder().raw_decode(rest)
    return rest[:end]


def tell(method, subscription, **params):
    meta = {"io.modelcontextprotocol/subscriptionId": subscription}
    line(json.dumps({"jsonrpc": "2.0", "method": method, "params": {"_meta": meta, **params}}))


def act(action, text, id):
    if "result" in action:
        line('{"jsonrpc":"2.0","id":%s,"result":%s}' % (id, json.dumps(action["result"], ensure_ascii=False)))
    elif "result_text" in action:
        line('{"jsonrpc":"2.0","id":%s,"result":%s}' % (id, action["result_text"]))
    elif "error" in action:
        line(json.dumps({"jsonrpc": "2.0", "id": json.loads(id), "error": action["error"]}))
    elif "notify" in action:
        line(json.dumps({"jsonrpc": "2.0", **action["notify"]}))
    elif "request" in action:
        line(json.dumps({"jsonrpc": "2.0", **action["request"]}))
    elif "raw" in action:
        line(action["raw"].replace("$ID", id or "null"))
    elif "echo" in action:
        result = {"content": [{"type": "text", "text": text}]}
        line('{"jsonrpc":"2.0","id":%s,"result":%s}' % (id, json.dumps(result)))
    elif "listen" in action:
        subscriptions.append(json.loads(id))
        asked = json.loads(text)["params"]["notifications"]
        tell("notifications/subscriptions/acknowledged", subscriptions[-1], notifications=asked)
    elif "tools_changed" in action:
        for subscription in subscriptions:
            tell("notifications/tools/list_changed", subscription)
    elif "state_bytes" in action:
        result = {"resultType": "input_required", "requestState": "x" * action["state_bytes"]}
        line('{"jsonrpc":"2.0","id":%s,"result":%s}' % (id, json.dumps(result)))
    elif "heard" in action:
        result = {"content": [{"type": "text", "text": "\n".join(heard)}]}
        line('{"jsonrpc":"2.0","id":%s,"result":%s}' % (id, json.dumps(result)))
    elif "environment" in action:
        names = " ".join(name for name in action["environment"] if name in os.environ)
        line('{"jsonrpc":"2.0","id":%s,"result":%s}' % (id, json.dumps({"content": [{"type": "text", "text": names}]})))
    elif "repeat" in action:
        for _ in range(action["times"]):
            write(action["repeat"])
    elif "exit" in action:
        sys.exit(action["exit"])
    elif "sleep" in action:
        time.sleep(action["sleep"])


for received in sys.stdin:
    text = received.rstrip("\n")
    message = json.loads(text)
    method = message.get("method")
    if method is None or "id" not in message:
        if method != "notifications/initialized":
            heard.append(text)
        key = method
    else:
        key = method
        if method == "tools/call":
            key += " " + message["params"]["name"]
        elif method.startswith("tasks/"):
            key += " " + message["params"]["taskId"]
    counts[key] = counts.get(key, 0) + 1
    chosen = rules.get(f"{key}#{counts[key]}", rules.get(key))
    if chosen is None and "id" in message and method is not None:
        chosen = [{"error": {"code": -32601, "message": "Method not found"}}]
    id = identifier(text) if "id" in message else None
    for action in chosen or []:
        act(action, text, id)
