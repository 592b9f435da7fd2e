"""Random runs: each event is sent to the twin and to the kernel, and must lead to the same records and actions."""

from __future__ import annotations

import json
from collections import Counter
from profile import Profile
from typing import Any

from generate import Random
from permit import BadRequest, Digests, Kernel
from run import Run, Unsupported
from seamgate import Gate, SeamgateFault
from values import parse


def tool(r: Random, name: str) -> dict[str, Any]:
    made: dict[str, Any] = {"name": name, "effect": r.choice(["read", "read", "idempotent", "effectful", "effectful"])}
    made["permit"] = r.choice(["allow", "allow", "deny", approval(r), approval(r)])
    if r.maybe(0.3):
        made["permit"] = [
            {"when": {"required": ["n"], "properties": {"n": {"maximum": 1}}}, "permit": "allow"},
            {"permit": approval(r)},
        ]
    if r.maybe(0.15):
        made["same_call"] = r.randint(1, 3)
    if r.maybe(0.2):
        made["egress"] = True
    made["result"] = {"labels": r.some(["untrusted", "private"], 0, 2)}
    return made


def approval(r: Random) -> dict[str, Any]:
    return {"approval": {"by": r.some(["oncall", "lead"], 1, 2), "ttl_s": r.choice([5, 60, 600])}}


def profile(r: Random, agent: str) -> dict[str, Any]:
    made: dict[str, Any] = {"agent": agent, "tools": [tool(r, f"t{i}") for i in range(r.randint(2, 4))]}
    made["approvers"] = {"oncall": [{"principal": "ben"}, {"principal": "cleo"}], "lead": [{"principal": "cleo"}]}
    made["budget"] = {"tokens": 1_000_000}
    for name, values in (
        ("steps", [2, 4, 9]),
        ("tool_calls", [1, 3, 9]),
        ("ms", [20_000, 300_000]),
        ("same_call", [1, 2]),
    ):
        if r.maybe(0.4):
            made["budget"][name] = r.choice(values)
    if r.maybe(0.5):
        made["flows"] = [
            {"after": r.choice(["untrusted", "private"]), "to": r.choice(["effectful", "egress", "read"])}
            | {"then": r.choice(["deny", "approval", approval(r)])}
        ]
    if r.maybe(0.7):
        made["prompt"] = {"role": "You test."}
        made["final"] = {"contract": {"agent": agent, "schema": {"type": "object", "required": ["done"]}}}
        if r.maybe(0.2):
            made["on_reject"] = "stop"
        if r.maybe(0.2):
            made["on_limit"] = "failed"
    if r.maybe(0.25):
        made["modes"] = {"a": {"tools": ["*"], "by": ["lead"]}, "b": {"tools": ["t0"], "by": ["oncall"]}}
    return made


def words(step: dict[str, Any]) -> str:
    """The records and actions of a step, in the words of tests/runs."""
    made = []
    for one in step["records"]:
        kind = one["type"]
        if kind == "decision":
            made += [f"deny:{one['reasons'][0]['code']}"] if one["permit"] == "deny" else []
        elif kind == "observation":
            made.append(f"observe:{one['status']}")
        elif kind == "output":
            made.append(f"output:{one['kind']}")
        elif kind in ("surface", "joined"):
            made.append(kind)
        elif kind == "cut":
            made.append(f"cut:{one['from']}")
        elif kind != "used":
            made.append(f"{kind}:{one['code']}")
    for one in step["actions"]:
        kind = one["type"]
        suffix = {
            "ask_model": "purpose",
            "execute": "tool",
            "ask_approval": "call",
            "cancel": "call",
            "finish": "status",
        }
        made.append(f"{kind}:{one[suffix[kind]]}" if kind in suffix else kind)
    return " ".join(made) or "nothing"


def event(r: Random, run: Run, document: dict[str, Any], at: int) -> dict[str, Any]:
    calls = list(run.calls.values())
    open_calls = [one for one in calls if one.state in ("asked", "ready", "sent", "started", "uncertain")]
    roll = r.random()
    made: dict[str, Any]
    loop = "prompt" in document
    if loop and run.model and roll < 0.55:
        made = {"type": "model_output", "key": run.model[0], "usage": {"input": 1, "output": 1}}
        pick = r.random()
        if pick < 0.75:
            made["calls"] = [call(r, document) for _ in range(r.choice([1, 1, 2, 3]))]
        elif pick < 0.9:
            made["text"] = r.choice(["hm", '{"question": "Which?"}', '{"plan": ["a"]}', '{"other": 1}'])
        else:
            made["text"] = '{"done": true}'
        return {**made, "at": at}
    if not loop and roll < 0.35:
        return {"type": "call", **call(r, document), "at": at}
    pool: list[Any] = [{"type": "tick"}, {"type": "tick"}]
    if not any(one.state == "started" and one.approved_until and one.effect != "effectful" for one in calls):
        pool.append({"type": "resumed"})  # README.md, "Not compared": the kernel judges them again
    pool.append({"type": "user_message", "text": f"word {at}"})
    if r.maybe(0.02):
        pool = [{"type": "cancelled"}]
    if "modes" in document:
        pool.append({"type": "mode", "mode": r.choice(["a", "b", "c"]), "principal": r.choice(["anna", "ben", "cleo"])})
    if run.model:
        pool.append({"type": "model_failed", "key": run.model[0], "message": "overloaded", "retry": r.maybe(0.9)})
    if "input" in run.last:
        pool.append({"type": "input", "key": run.last["input"], "text": "yes"})
    for one in r.sample(open_calls, min(2, len(open_calls))) + ([r.choice(calls)] if calls and r.maybe(0.3) else []):
        more: list[Any] = [
            {"type": "tool_started", "call": one.key},
            {"type": "tool_result", "call": one.key, "text": "x"},
        ]
        more.append({"type": "tool_result", "call": one.key, "result": {"a": 1}, "status": r.choice(["ok", "error"])})
        more.append(
            {"type": "tool_failed", "call": one.key, "message": "no"} | ({"effect": "none"} if r.maybe(0.3) else {})
        )
        more.append({"type": "call_cancelled", "call": one.key} | ({"effect": "none"} if r.maybe(0.2) else {}))
        if one.state == "asked" and one.digest and r.maybe(0.9):
            decision = "rejected" if r.maybe(0.2) else "approved"
            more = [{"type": "approval", "key": one.key, "digest": one.digest, "decision": decision}] * 3
            more = [{**each, "principal": r.choice(["anna", "ben", "cleo", "cleo"])} for each in more]
        if one.state == "uncertain":
            outcome = r.choice(["done", "not_done"])
            more += [{"type": "resolution", "call": one.key, "outcome": outcome, "principal": "anna"}] * 4
        if one.state == "sent":
            more += [{"type": "tool_started", "call": one.key}] * 3
        if r.maybe(0.05):
            more.append({"type": "job", "call": one.key, "ttl_s": 30})
        pool += [r.choice(more) for _ in range(3)]
    return {**r.choice(pool), "at": at}


def call(r: Random, document: dict[str, Any]) -> dict[str, Any]:
    name = r.choice(document["tools"])["name"] if r.maybe(0.97) else "nope"
    return {"tool": name, "arguments": r.choice([{"n": 1}, {"n": 1}, {"n": 2}, {}, {"n": r.randint(3, 6)}])}


def run(count: int, seed: int, limit: int) -> tuple[Counter[str], list[str]]:
    """Compare so many events."""
    counts: Counter[str] = Counter()
    failed: list[str] = []
    number, sent, gate = 0, 0, Gate()
    while sent < count and len(failed) < limit:
        number += 1
        r = Random(f"run/{seed}/{number}")
        if number % 60 == 0:
            gate = Gate()
        agent = f"r{number}"
        document = profile(r, agent)
        text = json.dumps(document)
        try:
            gate.register_profile(text)
        except SeamgateFault:
            counts["profiles refused"] += 1
            continue
        twin = Run(Kernel(Profile(text), Digests()))
        instance, state, digests = gate.instance(), None, {}
        at = 1_790_000_000_000
        happened: list[str] = []
        one: dict[str, Any] = {
            "type": "started",
            "run": "r1",
            "principal": "anna",
            "nonce": "c0ffee00c0ffee00",
            "at": at,
        }
        for _ in range(r.randint(5, 30)):
            theirs = (
                {**one, "digest": digests.get((one["key"], one["digest"]), one["digest"])} if "digest" in one else one
            )
            step = instance.advance(agent, state, json.dumps(theirs))
            document_of_step = json.loads(step.json)
            state = json.dumps(document_of_step["state"])
            right = words(document_of_step)
            try:
                left = twin.send(parse(json.dumps(one), 96) | {"at": one["at"]})
            except Unsupported as fault:
                counts[f"runs left at: {fault}"] += 1
                break
            except BadRequest:
                left = "fault"
            for action in document_of_step["actions"]:
                if action["type"] == "ask_approval" and action["call"] in twin.calls:
                    digests[action["call"], twin.calls[action["call"]].digest] = action["ask"]["digest"]
            sent += 1
            counts[one["type"]] += 1
            shown = {name: item for name, item in one.items() if name not in ("nonce", "usage", "digest")}
            happened.append(f"{json.dumps(shown)} -> {right}")
            if sorted(left.split()) != sorted(right.split()):
                failed.append(f"run/{seed}/{number}: twin {left!r}\n  {text}\n  " + "\n  ".join(happened))
                break
            if twin.status == "ended" and r.maybe(0.7):
                break
            at += r.choice([0, 1000, 1000, 1000, 1000, 5000, 30_000, 61_000, 700_000])
            lapsed = [
                each for each in twin.calls.values() if each.state == "sent" and at >= (each.approved_until or 2**60)
            ]
            if lapsed:
                break  # README.md, "Not compared": a call that lapses before it starts, with equal calls beside it
            one = event(r, twin, document, at)
        counts["runs"] += 1
    return counts, failed
