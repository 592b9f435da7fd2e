"""Compare the twin with the kernel: on the cases of this repository, and on random profiles and calls.

    python3 tests/twin/compare.py --cases
    python3 tests/twin/compare.py --random 10000 --seed 1
    python3 tests/twin/compare.py --runs 10000 --seed 1

Both need the package `seamgate` with its native backend. The status is 1 if there is a difference.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from profile import BadProfile, Profile

import generate
import random_runs
from observe import observe
from permit import BadRequest, Decision, Digests, Kernel, find
from run import Run, Unsupported
from schema import Schema
from seamgate import Gate
from values import Malformed, Number, parse

TESTS = HERE.parent


def loaded(*places: Path) -> str | None:
    return next((place.read_text() for place in places if place.exists()), None)


class Same:
    """The kernel's digest of equal calls: docs/runs.md says what it stands for, and not how it is made."""

    def __init__(self) -> None:
        self.known: dict[str, str] = {}

    def __call__(self, call: str) -> str:
        if call not in self.known:
            (server, name), end = json.JSONDecoder().raw_decode(call)
            tool = {"name": name, "effect": "read", "permit": "allow", "max_arguments_bytes": 4194304}
            if server is not None:
                tool["server"] = server
            gate = Gate()
            gate.register_profile(json.dumps({"agent": "same", "tools": [tool]}))
            facts = {"run": "r", "at": 0, "principal": "p"}
            asked = {"key": "c", "tool": name, "arguments": call[end:]}
            done = json.loads(gate.permit("same", json.dumps(facts), json.dumps(asked)).json)
            made = done["facts"].get("used", {"calls": [Digests().same(call)]})["calls"]
            self.known[call] = next(iter(made)).removeprefix("read:")
        return self.known[call]


def shown(decision: Decision) -> dict[str, Any]:
    """A decision of the twin, in the form of the kernel's."""
    made: dict[str, Any] = {"permit": decision.permit, "codes": decision.codes, "facts": decision.facts}
    if decision.tool:
        made["tool"] = decision.tool.full
        made["effect"] = decision.tool.effect
    for name in ("arguments", "allowed", "ask", "approval"):
        if getattr(decision, name) is not None:
            made[name] = getattr(decision, name)
    if decision.digest and decision.permit != "deny":
        made["digest"] = decision.digest
    if decision.secrets:
        made["secrets"] = decision.secrets
    if decision.origins:
        made["origins"] = sorted([place, name is not None] for place, name in decision.origins)
    return json.loads(json.dumps(made, default=_number))


def _number(value: Any) -> Any:
    if isinstance(value, Number):
        return json.loads(value.raw)
    raise TypeError(value)


def expected(document: dict[str, Any], tool: str | None) -> dict[str, Any]:
    """A decision of the kernel, without the texts that the pages do not determine."""
    made: dict[str, Any] = {"permit": document["permit"], "facts": document["facts"]}
    made["codes"] = [reason["code"] for reason in document["reasons"]]
    if tool is not None:
        server = document.get("server")
        made["tool"] = f"{server}/{document['tool']}" if server else document["tool"]
        made["effect"] = document.get("effect")
    for name in ("arguments", "allowed", "approval", "secrets"):
        if name in document:
            made[name] = document[name]
    if "digest" in document and document["permit"] != "deny":
        made["digest"] = document["digest"]
    if "ask" in document:
        made["ask"] = {name: item for name, item in document["ask"].items() if name not in ("view", "keys")}
    if "origins" in document:
        made["origins"] = sorted([one["pointer"], "origin" in one] for one in document["origins"])
    return made


def differences(twin: dict[str, Any], kernel: dict[str, Any], at: str = "") -> list[str]:
    found: list[str] = []
    for name in sorted({*twin, *kernel}):
        left, right = twin.get(name), kernel.get(name)
        if left == right:
            continue
        if isinstance(left, dict) and isinstance(right, dict):
            found += differences(left, right, f"{at}{name}.")
        else:
            found.append(f"{at}{name}: twin {json.dumps(left)[:900]}, kernel {json.dumps(right)[:900]}")
    return found


FACTS = Schema(parse((HERE.parents[1] / "schemas/facts.schema.json").read_text()))
CALL = Schema(parse((HERE.parents[1] / "schemas/call.schema.json").read_text()))


def decide(profile: str, facts: str, call: str, digests: Digests) -> dict[str, Any]:
    """The twin's decision, or its fault."""
    try:
        kernel = Kernel(Profile(profile), digests)
    except BadProfile as fault:
        return {"fault": "bad_profile", "why": str(fault)}
    try:
        given, asked = parse(facts, 96), parse(call, 96)
        if FACTS.errors(given) or CALL.errors(asked):
            return {"fault": "bad_request"}
        return shown(kernel.permit(given, asked))
    except (Malformed, BadRequest):
        return {"fault": "bad_request"}


def call_cases() -> tuple[Counter[str], list[str]]:
    counts: Counter[str] = Counter()
    failed: list[str] = []
    same = Same()
    for must in sorted((TESTS / "calls").glob("*/*/must.txt")):
        case, group = must.parent, must.parent.parent
        name = f"calls/{group.name}/{case.name}"
        profile = loaded(case / "profile.json", group / "profile.json") or ""
        facts = json.loads(loaded(group / "facts.json") or "{}")
        facts |= json.loads(loaded(case / "facts.json") or "{}")
        facts = json.dumps({name: value for name, value in facts.items() if value is not None})
        call = loaded(case / "call.json", group / "call.json") or "{}"
        decision, fault = loaded(case / "decision.json"), loaded(case / "fault.json")
        result = loaded(case / "result.json", group / "result.json")
        if loaded(case / "observation.json") and result:
            found = observation(profile, facts, call, result, json.loads(loaded(case / "observation.json") or ""))
            if found is None:
                counts["not compared"] += 1
                continue
        elif result or loaded(case / "listed.json") or not (decision or fault):
            counts["not compared"] += 1
            continue
        elif fault:
            wanted = {"fault": json.loads(fault)["fault"]}
            twin = decide(profile, facts, call, Digests())
            found = [] if twin.get("fault") == wanted["fault"] else [f"twin {twin}, kernel {wanted}"]
        else:
            document = json.loads(decision or "")
            twin = decide(profile, facts, call, Digests(lambda _: document.get("digest", "none"), same))
            found = differences(twin, expected(document, twin.get("tool")))
        if found:
            failed += [f"{name}: {one}" for one in found]
        counts["failed" if found else "passed"] += 1
    return counts, failed


def observation(profile: str, facts: str, call: str, result: str, wanted: dict[str, Any]) -> list[str] | None:
    """The differences of one observation. None if the twin does not implement it."""
    given, asked = parse(facts, 96), parse(call, 96)
    loaded_profile = Profile(profile)
    tool = find(loaded_profile, asked.get("server"), asked["tool"])
    arguments = asked["arguments"]
    arguments = parse(arguments) if isinstance(arguments, str) else arguments
    try:
        made = observe(tool, given, arguments, parse(result, 96)).shown()
    except Unsupported:
        return None
    return differences(made, {name: wanted[name] for name in made})


def merged(document: Any, patch: Any) -> Any:
    """A document with the changes of a patch (RFC 7396)."""
    if not isinstance(patch, dict):
        return patch
    made = dict(document) if isinstance(document, dict) else {}
    for name, value in patch.items():
        if value is None:
            made.pop(name, None)
        else:
            made[name] = merged(made.get(name), value)
    return made


def run_cases() -> tuple[Counter[str], list[str]]:
    counts: Counter[str] = Counter()
    failed: list[str] = []
    same = Same()
    for must in sorted((TESTS / "runs").glob("*/*/must.txt")):
        case, group = must.parent, must.parent.parent
        name = f"runs/{group.name}/{case.name}"
        document = json.loads(loaded(case / "profile.json", group / "profile.json") or "{}")
        document = merged(document, json.loads(loaded(case / "patch.json") or "{}"))
        wanted = must.read_text().splitlines()
        steps, found, why = one_run(json.dumps(document), (case / "events.ndjson").read_text(), wanted, same)
        counts["steps compared"] += steps
        counts["steps"] += len(wanted)
        if why:
            counts[f"runs left at: {why}"] += 1
        if found:
            failed.append(f"{name}: {found}")
        counts["runs failed" if found else "runs passed"] += 1
    return counts, failed


def one_run(profile: str, events: str, wanted: list[str], same: Same) -> tuple[int, str, str]:
    """The number of steps that were compared, the first difference, and what is not implemented."""
    try:
        run = Run(Kernel(Profile(profile), Digests(same=same)))
    except BadProfile as fault:
        return 0, f"bad profile {fault}", ""
    except Unsupported as fault:
        return 0, "", str(fault)
    sent: list[dict[str, Any]] = []
    at = 1_789_999_999_000
    for count, line in enumerate(events.splitlines()):
        event = json.loads(line)
        if "again" in event:
            event = sent[event["again"] - 1]
        elif "state" in event or "$times" in line:
            return count, "", "a changed state or a large text"
        else:
            event = turned(event, run.last)
            event.setdefault("at", at + 1000)
        sent.append(event)
        at = event["at"]
        if count >= len(wanted) or "fault" in wanted[count] or "need" in wanted[count]:
            return count, "", "faults and needs"
        try:
            words = run.send(parse(json.dumps(event), 96) | {"at": event["at"]})
        except Unsupported as fault:
            return count, "", str(fault)
        except BadRequest:
            words = "fault:bad_request"
        if sorted(words.split()) != sorted(wanted[count].split()):
            return count, f"event {count + 1} {json.dumps(event)[:160]}: twin {words!r}, kernel {wanted[count]!r}", ""
    return len(sent), "", ""


def turned(event: Any, last: dict[str, str]) -> Any:
    """An event in which the words stand for what only the run knows."""
    made = {}
    for name, value in event.items():
        if isinstance(value, str) and value.startswith("$"):
            key = {"$model": "model", "$input": "input", "$digest": ""}.get(value, value.removeprefix("$digest:"))
            value = last.get(key, value)
        made[name] = value
    return made


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", action="store_true", help="compare with the cases of tests/calls and tests/runs")
    parser.add_argument("--random", type=int, metavar="N", help="compare N random decisions")
    parser.add_argument("--runs", type=int, metavar="N", help="compare N events of random runs")
    parser.add_argument("--seed", type=int, default=1, metavar="S")
    parser.add_argument("--limit", type=int, default=20, help="the most differences that are printed")
    asked = parser.parse_args()
    failed: list[str] = []
    if asked.cases:
        counts, failed = call_cases()
        print("calls:", ", ".join(f"{count} {word}" for word, count in sorted(counts.items())))
        counts, more = run_cases()
        failed += more
        print("runs:", ", ".join(f"{count} {word}" for word, count in sorted(counts.items())))
    if asked.random:
        start = time.monotonic()
        counts, more = generate.run(asked.random, asked.seed, asked.limit)
        failed += more
        seconds = time.monotonic() - start
        print("random:", ", ".join(f"{count} {word}" for word, count in sorted(counts.items())))
        print(f"{asked.random / seconds:.0f} decisions a second")
    if asked.runs:
        start = time.monotonic()
        counts, more = random_runs.run(asked.runs, asked.seed, asked.limit)
        failed += more
        print("runs:", ", ".join(f"{count} {word}" for word, count in sorted(counts.items())))
        print(f"{asked.runs / (time.monotonic() - start):.0f} events a second")
    for one in failed[: asked.limit]:
        print(one)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
