"""Compare the cost of the kernel in two components: `python benchmarks/kernel.py OLD.wasm NEW.wasm`, in a clone.

Each request is sent to a warm instance of both in turns. A case counts if both components take its profile and answer
each of its requests alike: with the same permit, the same status or as many actions. Fuel is exact. Time is the median
of the calls, as the host measures it.
"""

import hashlib
import json
import statistics
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from seamgate import Gate, SeamgateFault

TESTS = Path(__file__).resolve().parents[3] / "tests"

# Calls of each request and component whose time is taken.
ROUNDS = 16

# The time of a first event that has none.
START = 1_790_000_000_000


# The members of a request, as JSON texts.
Members = dict[str, str]

# The fuel of both components, and their seconds.
Figures = tuple[list[int], list[float]]


class Component:
    """One component. A custom section sets it apart from the host's own, so that both are compiled alike."""

    def __init__(self, path: str) -> None:
        self._bytes = Path(path).read_bytes() + b"\x00\x05\x04cost"

    def load(self, profile: str) -> None:
        """Take a profile alone, and begin a new instance. Raises a fault where the profile is invalid."""
        gate = Gate(component=self._bytes)
        gate.register_profile(profile)
        self.agent = json.loads(profile)["agent"]
        self.instance = gate.instance()

    def send(self, operation: str, members: Members) -> tuple[str, int, float]:
        """Send a request whose members are JSON texts: the answer, its fuel and its seconds."""
        texts = {"op": f'"{operation}"', "agent": json.dumps(self.agent), **members}
        request = "{" + ",".join(f'"{name}":{text}' for name, text in texts.items()) + "}"
        answer, usage = self.instance._warm.answer(request, len(request.encode()))
        return str(answer), usage.fuel, usage.elapsed_seconds


def calls() -> Iterator[tuple[str, str, Members]]:
    """The cases of `tests/calls`: a profile, an operation, and the members of the request."""
    for must in sorted(TESTS.glob("calls/*/*/must.txt")):
        case, group = must.parent, must.parent.parent
        facts = json.loads((group / "facts.json").read_text())
        if (case / "facts.json").exists():
            facts |= json.loads((case / "facts.json").read_text())
        # A case with `listed.json` asks for a surface.
        profile, call = (own(case, name) for name in ("profile.json", "call.json"))
        if (case / "listed.json").exists() or profile is None or call is None:
            continue
        members = {"facts": json.dumps(facts), "call": call}
        result = case / "result.json"
        if result.exists():
            yield profile, "observe", {**members, "result": result.read_text()}
        else:
            yield profile, "permit", members


def own(case: Path, name: str) -> str | None:
    """The text of a case's file, or of its group's."""
    return next((path.read_text() for path in (case / name, case.parent / name) if path.exists()), None)


class Run:
    """A run of `tests/runs` in one component, with the words of its events that only a run knows."""

    def __init__(self) -> None:
        self.state: str | None = None
        self.at = 0
        self.words: dict[str, str] = {}
        self.artifacts: dict[str, str] = {}
        self.sent: list[dict[str, Any]] = []

    def event(self, line: dict[str, Any]) -> dict[str, Any]:
        """The event that a line stands for."""
        if "again" in line:
            return dict(self.sent[line["again"] - 1])
        event: dict[str, Any] = self._replaced(line.get("event", line))
        event.setdefault("at", self.at + 1000 if self.at else START)
        if isinstance(event["at"], int):
            self.at = max(self.at, event["at"])
        for name in ("result", "text", "document", "message"):
            if (value := event.get(name)) is not None:
                text = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"), ensure_ascii=False)
                self.artifacts[f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"] = text
        return event

    def _replaced(self, value: Any) -> Any:
        match value:
            case str() if value.startswith("$") and not value.startswith("$."):
                return self.words[value]
            case list():
                return [self._replaced(item) for item in value]
            case {"$text": text, "$times": times}:
                return text * times
            case dict():
                return {name: self._replaced(item) for name, item in value.items()}
        return value

    def learn(self, actions: list[dict[str, Any]]) -> None:
        """Keep the keys and digests to which later events refer."""
        for action in actions:
            match action["type"]:
                case "ask_model":
                    self.words["$model"] = action["key"]
                case "ask_input":
                    self.words["$input"] = action["key"]
                case "ask_approval":
                    self.words["$digest"] = self.words[f"$digest:{action['call']}"] = action["ask"]["digest"]


class Unequal(Exception):
    """The components cannot be compared by a case."""


def runs() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The cases of `tests/runs`: a profile and the lines of events."""
    for events in sorted(TESTS.glob("runs/*/*/events.ndjson")):
        case = events.parent
        profile = json.loads(own(case, "profile.json") or "{}")
        if (case / "patch.json").exists():
            profile = merged(profile, json.loads((case / "patch.json").read_text()))
        yield json.dumps(profile), [json.loads(line) for line in events.read_text().splitlines() if line.strip()]


def merged(whole: Any, patch: Any) -> Any:
    """RFC 7396: members of a patch take the place of others, and null removes one."""
    if not isinstance(patch, dict):
        return patch
    whole = dict(whole) if isinstance(whole, dict) else {}
    for name, value in patch.items():
        if value is None:
            whole.pop(name, None)
        else:
            whole[name] = merged(whole.get(name), value)
    return whole


def only(members: Members, _: Component) -> list[Members]:
    """One request, which both components get alike."""
    return [members]


def requests_of(lines: list[dict[str, Any]], component: Component) -> list[Members]:
    """The requests of a run, each with the state that this component made."""
    run, requests = Run(), []
    for line in lines:
        if "state" in line:
            raise Unequal
        event = run.event(line)
        run.sent.append(dict(event))
        while True:
            members = {"event": json.dumps(event, ensure_ascii=False)}
            if run.state is not None:
                members["state"] = run.state
            requests.append(members)
            step = result_of(component.send("advance", members)[0])
            found = {digest: run.artifacts[digest] for digest in step.get("need") or () if digest in run.artifacts}
            if "need" not in step:
                run.learn(step["actions"])
                run.state = json.dumps(step["state"], ensure_ascii=False)
            elif found and "artifacts" not in event:
                event["artifacts"] = found
                continue
            break
    return requests


def result_of(answer: str) -> dict[str, Any]:
    """The result of an answer. A case with a fault says nothing about the cost of answers."""
    result: dict[str, Any] | None = json.loads(answer).get("result")
    if result is None:
        raise Unequal
    return result


def outcome(result: dict[str, Any]) -> object:
    """The part of a result on which both components must agree."""
    actions = result.get("actions")
    return result.get("permit") or result.get("status") or (actions and [action["type"] for action in actions])


def cases() -> Iterator[tuple[str, str, Callable[[Component], list[Members]]]]:
    """All cases: a profile, an operation, and a function that makes the requests for a component."""
    for profile, operation, members in calls():
        yield profile, operation, partial(only, members)
    for profile, lines in runs():
        yield profile, "advance", partial(requests_of, lines)


def compare(pair: list[Component], operation: str, requests: list[list[Members]]) -> list[Figures]:
    """Send the requests of both in turns: for each, the fuel and the seconds of both."""
    figures = []
    for both in zip(*requests, strict=True):
        # The first call of an instance compiles what it keeps.
        first = [outcome(result_of(one.send(operation, members)[0])) for one, members in zip(pair, both, strict=True)]
        if first[0] != first[1]:
            raise Unequal
        seconds: tuple[list[float], list[float]] = ([], [])
        fuel = [0, 0]
        for number in range(ROUNDS):
            # Each is first in half of the rounds.
            for at in (number % 2, 1 - number % 2):
                _, fuel[at], took = pair[at].send(operation, both[at])
                seconds[at].append(took)
        figures.append((fuel, [statistics.median(taken) for taken in seconds]))
    return figures


def main() -> None:
    """Compare two components, and print a table."""
    pair = [Component(path) for path in sys.argv[1:3]]
    figures: dict[str, list[Figures]] = defaultdict(list)
    left_out = 0
    for profile, operation, requests in cases():
        try:
            for one in pair:
                one.load(profile)
            figures[operation] += compare(pair, operation, [requests(one) for one in pair])
        except (SeamgateFault, Unequal, KeyError, ValueError):
            left_out += 1
    print(f"{left_out} cases left out")
    print("| | requests | fuel, new / old | time, new / old | fuel, old | time, old | time, new |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for operation, taken in sorted(figures.items()):
        ratios = [statistics.geometric_mean(one[part][1] / one[part][0] for one in taken) for part in (0, 1)]
        cells = [f"{len(taken):,}", *(f"{ratio:.3f}" for ratio in ratios)]
        cells.append(f"{statistics.median(one[0][0] for one in taken):,.0f}")
        cells += [f"{statistics.median(one[1][at] for one in taken) * 1e6:.0f} µs" for at in (0, 1)]
        print(f"| `{operation}` | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
