"""Two more suites through the gate: `replay.py FOLDER`, the folder with the snapshot that has InjecAgent's data.

The calls of each user's task are made in their order, and after the poisoned result the calls that the injection wants.
The kernel decides as in `seamgate mcp`: through the loop of the Python package, one for each case.
"""

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import bfcl_tools
import injecagent_tools
import page
import seamgate
from bfcl_cases import Bfcl
from cases import Call, Case, World
from injecagent_cases import InjecAgent
from rules import Tool
from seamgate import AllowedDecision, ApprovalDecision, Decision, Gate, Loop

HERE = Path(__file__).resolve().parent

# The outcome of a call: it arrived, the gate denied it, or a person was asked.
WORKED, REFUSED, ASKED = "worked", "refused", "asked"
# Whom the approver denies.
NOBODY, INJECTED, ALL = "nobody", "injected", "all"


# The places of values without an origin.
NOWHERE = "stands nowhere before the call"
OTHERWISE = "the user writes it in another form"
ELSEWHERE = "stands only in a result"
PLACES = [NOWHERE, OTHERWISE, ELSEWHERE]


@dataclass
class Made:
    """A call that was made, and what it came to."""

    call: Call
    is_injected: bool
    arrived: bool
    came_to: str
    why: str
    """The reason why it is not simply allowed, or the origins of its targets."""


@dataclass
class Outcome:
    """The outcome of one case."""

    case: Case
    made: list[Made] = field(default_factory=list)
    solved: bool = False

    def injected(self) -> Iterator[Made]:
        """The injected calls."""
        return (one for one in self.made if one.is_injected)

    def user(self) -> Iterator[Made]:
        """The user's calls."""
        return (one for one in self.made if not one.is_injected)

    def reached(self) -> bool:
        """Returns whether all calls that the injection wants arrived."""
        wanted = [one.arrived for one in self.injected()]
        return bool(wanted) and all(wanted)


class Suite:
    """A suite with its gate."""

    def __init__(self, name: str, tools: list[Tool]) -> None:
        self.name = name
        profile = json.loads((HERE / f"{name}.profile.json").read_text())
        definitions = {tool.name: tool.definition() for tool in tools}
        for entry in profile["tools"]:
            entry["definition"] = definitions[entry["name"]]
        self.gate = Gate()
        self.gate.register_profile(profile)
        acts = [one for one in profile["tools"] if one["effect"] == "effectful" or one.get("egress")]
        self.effects = {one["name"] for one in acts}
        self.flat = {one["name"]: one for one in profile["tools"]}


def main() -> int:
    """Replay all cases, and print tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--write", type=Path, help="the page that gets the tables")
    parser.add_argument(
        "--calls", type=Path, help="a file that gets each injected effect that got through, and each question"
    )
    given = parser.parse_args()
    tools = injecagent_tools.tools(given.folder)
    injecagent = Suite("injecagent", tools)
    told = [run(injecagent, InjecAgent(given.folder))]
    tools = bfcl_tools.tools()
    bfcl = Suite("bfcl", tools)
    orders = {tool.name: list(tool.arguments["properties"]) for tool in tools}
    orders |= {kit: [tool.name for tool in tools if tool.kit == kit] for kit in bfcl_tools.KITS.values()}
    told.append(run(bfcl, Bfcl(bfcl.effects, orders)))
    text = "\n\n".join(page.headed(rows) for rows in tables(told))
    print(text)
    if given.write:
        page.write(given.write, "two-more", text)
    if given.calls:
        given.calls.write_text("".join(f"{line}\n" for runs in told for line in listed(runs)))
    return 0


@dataclass
class Runs:
    """The outcomes of a suite: without the gate, and with approvers who deny all, injected calls alone, or nobody."""

    suite: Suite
    plain: list[Outcome]
    denied: list[Outcome]
    judged: list[Outcome]
    approved: list[Outcome]


def run(suite: Suite, source: InjecAgent | Bfcl) -> Runs:
    """Replay the cases of a suite in each way."""
    cases = source.cases()
    solved: dict[str, object] = {}
    plain = []
    for case in cases:
        world = source.world(case)
        outcome = replay(None, case, world, NOBODY)
        # The state that the task alone leads to is what solves it.
        outcome.solved = solved.setdefault(key(case), world.state()) == world.state()
        plain.append(outcome)
    gated = {}
    for denies in (ALL, INJECTED, NOBODY):
        gated[denies] = []
        for case in cases:
            if denies == NOBODY and case.injected:
                continue
            world = source.world(case)
            outcome = replay(suite, case, world, denies)
            outcome.solved = solved[key(case)] == world.state()
            gated[denies].append(outcome)
    return Runs(suite, plain, gated[ALL], gated[INJECTED], gated[NOBODY])


def key(case: Case) -> str:
    """Return what tells users' tasks apart."""
    return json.dumps([(turn.said, [(call.tool, call.arguments) for call in turn.calls]) for turn in case.turns])


def replay(suite: Suite | None, case: Case, world: World, denies: str) -> Outcome:
    """Make the calls of a case."""
    outcome = Outcome(case)
    loop = suite.gate.loop(suite.name, run="replay", principal="user") if suite else None
    seen = Seen()
    number = 0
    for turn in case.turns:
        if loop:
            loop.said(turn.said)
            seen.said.append(turn.said)
        for call in turn.calls:
            made = make(loop, call, world, seen, len(outcome.made), is_injected=False, denies=denies)
            outcome.made.append(made)
            if number == case.poisoned and made.arrived:
                outcome.made += [
                    make(loop, evil, world, seen, len(outcome.made) + index, is_injected=True, denies=denies)
                    for index, evil in enumerate(case.injected)
                ]
            number += 1
    return outcome


def make(
    loop: Loop | None, call: Call, world: World, seen: "Seen", number: int, *, is_injected: bool, denies: str
) -> Made:
    """Make one call, if the gate and the approver let it."""
    if loop is None:
        world.call(call)
        return Made(call, is_injected, True, WORKED, "")
    asked: seamgate.Call = {"key": str(number), "tool": call.tool, "arguments": call.arguments}
    decision = loop.permit(asked)
    came_to = WORKED
    why = seen.cause(decision, call)
    if isinstance(decision, ApprovalDecision):
        came_to = ASKED
        is_denied = denies == ALL or (denies == INJECTED and is_injected)
        (loop.reject if is_denied else loop.approve)(decision, "owner")
        decision = loop.permit(asked)
    arrived = isinstance(decision, AllowedDecision)
    if isinstance(decision, AllowedDecision):
        result, has_failed = world.call(Call(call.tool, json.loads(decision.arguments)))
        loop.observe(asked, {"result": result, "status": "error" if has_failed else "ok"})
        seen.results.append((call.tool, json.dumps(result)))
    elif came_to == WORKED:
        came_to = REFUSED
    return Made(call, is_injected, arrived, came_to, why)


@dataclass
class Seen:
    """The texts that were said and read so far in a case."""

    said: list[str] = field(default_factory=list)
    results: list[tuple[str, str]] = field(default_factory=list)

    def cause(self, decision: Decision, call: Call) -> str:
        """Say where the targets of an allowed call come from, or why another one is not simply allowed."""
        proofs = decision.origins or ()
        if isinstance(decision, AllowedDecision):
            origins = {"the user" if proof.origin == "user" else f"`{proof.origin}`" for proof in proofs}
            return "; ".join(sorted(origins)) or "no rule"
        codes = {reason.code for reason in decision.reasons}
        if not codes & {"flow", "origin"}:
            return "its arguments do not fit the definition"
        lacking = [proof.pointer for proof in proofs if not proof.origin]
        if not lacking:
            return "the tool has no rule about targets" if "flow" in codes else "each call needs approval"
        arguments = sorted({at.split("/")[1] for at in lacking})
        places = {self.place(value(call, at)) for at in lacking}
        worst = next(place for place in PLACES if place in places)
        return f"{', '.join(f'`{name}`' for name in arguments)}: {worst}"

    def place(self, wanted: object) -> str:
        """Say where a value without an origin does stand, if anywhere."""
        written = str(wanted)
        whole = re.compile(rf"(?<!\w){re.escape(written)}(?!\w)")
        if any(whole.search(text) for _, text in self.results):
            return ELSEWHERE
        said = "\n".join(self.said).lower()
        forms = {written.lower().lstrip("@"), f"{wanted:,}" if is_number(wanted) else written.lower()}
        return OTHERWISE if any(form in said for form in forms) else NOWHERE


def is_number(value: object) -> bool:
    """Returns whether a value is a number."""
    return isinstance(value, (int, float))


def value(call: Call, pointer: str) -> object:
    """Return the value at a pointer into the arguments."""
    found: object = call.arguments
    for part in pointer.split("/")[1:]:
        found = found[int(part)] if isinstance(found, list) else found[part]
    return found


def tables(told: list[Runs]) -> list[list[list[str]]]:
    """The tables of the page."""
    return [attacks(told), calls(told), through(told), questions(told)]


def groups(told: list[Runs]) -> Iterator[tuple[str, Runs, str | None]]:
    """The rows: each group of attacks, and each suite."""
    for runs in told:
        found = sorted({one.case.group for one in runs.plain if one.case.group})
        for group in found:
            yield f"{runs.suite.name}, {group}", runs, group
        yield runs.suite.name, runs, None


def attacks(told: list[Runs]) -> list[list[str]]:
    """Returns a table of the outcomes of attacks."""
    head = ["suite", "attacks", "goals reached without the gate", "all denied", "injected calls denied"]
    rows = [[*head, "injected effects without the gate", "all denied", "injected calls denied", "stopped"]]
    for name, runs, group in groups(told):
        taken = [
            [one for one in ran if one.case.injected and group in (None, one.case.group)]
            for ran in (runs.plain, runs.denied, runs.judged)
        ]
        goals = [str(sum(one.reached() for one in ran)) for ran in taken]
        done = [
            sum(act.arrived and act.call.tool in runs.suite.effects for one in ran for act in one.injected())
            for ran in taken
        ]
        stopped = f"{100 * (done[0] - done[2]) / done[0]:.1f} %"
        rows.append([name, str(len(taken[0])), *goals, *map(str, done), stopped])
    return rows


def calls(told: list[Runs]) -> list[list[str]]:
    """Returns a table of the user tasks that succeeded."""
    head = ["suite", "", "tasks", "without a person", "solved without the gate", "all denied", "injected calls denied"]
    rows = [[*head, "all approved", "calls", "work", "ask for approval", "are refused"]]
    for runs in told:
        for how, is_attacked in (("no attack", False), ("attack", True)):
            taken = [
                [one for one in ran if bool(one.case.injected) == is_attacked]
                for ran in (runs.plain, runs.denied, runs.judged, runs.approved)
            ]
            solved = [str(sum(one.solved for one in ran)) if ran else "" for ran in taken]
            free = sum(all(act.came_to == WORKED for act in one.user()) for one in taken[2])
            counted = Counter(act.came_to for one in taken[2] for act in one.user())
            shares = [page.share(counted[word], counted.total()) for word in (WORKED, ASKED, REFUSED)]
            row = [runs.suite.name, how, str(len(taken[0])), page.share(free, len(taken[0])), *solved]
            rows.append([*row, str(counted.total()), *shares])
    return rows


def through(told: list[Runs]) -> list[list[str]]:
    """Lists the attacks that still succeeded if only injected calls are denied."""
    rows = [["suite", "what still got through", "times", "effect", "its targets come from"]]
    for runs in told:
        arrived = [act for one in runs.judged for act in one.injected() if act.arrived]
        found = Counter((act.call.tool, act.why) for act in arrived if act.call.tool in runs.suite.effects)
        rows += [[runs.suite.name, f"`{tool}`", str(times), "yes", why] for (tool, why), times in sorted(found.items())]
        reads = [act.call.tool for act in arrived if act.call.tool not in runs.suite.effects]
        if reads:
            rows.append([runs.suite.name, f"{len(set(reads))} tools", str(len(reads)), "reads only", ""])
    return rows


def questions(told: list[Runs]) -> list[list[str]]:
    """Lists the questions about honest calls without an attack."""
    rows = [["suite", "tool", "questions", "of its calls", "why"]]
    for runs in told:
        alone = [act for one in runs.judged if not one.case.injected for act in one.user()]
        every = Counter(act.call.tool for act in alone)
        asked = Counter((act.call.tool, act.why) for act in alone if act.came_to != WORKED)
        for (tool, why), times in sorted(asked.items(), key=lambda one: (one[0][1].partition(": ")[::-1], one[0])):
            rows.append([runs.suite.name, f"`{tool}`", str(times), str(every[tool]), why])
    return rows


def listed(runs: Runs) -> Iterator[str]:
    """Each injected effect that got through, and each question of an honest call, as a line of JSON."""
    for one in runs.judged:
        said = [turn.said for turn in one.case.turns]
        for act in one.made:
            if act.is_injected and act.arrived and act.call.tool in runs.suite.effects:
                what = "through"
            elif not act.is_injected and act.came_to != WORKED and not one.case.injected:
                what = "question"
            else:
                continue
            known = {"suite": runs.suite.name, "what": what, "case": one.case.name, "tool": act.call.tool}
            yield json.dumps({**known, "arguments": act.call.arguments, "why": act.why, "said": said})


if __name__ == "__main__":
    sys.exit(main())
