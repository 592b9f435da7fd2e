"""The cases of InjecAgent: 17 tasks of users, each alone and with each of 62 instructions of attackers.

InjecAgent says which tools an attacker wants called, and not with which arguments. These are the ones that models most
often gave, of those that fit the definition: the snapshot has the runs of six models, which obeyed each instruction at
least once.
"""

import ast
import json
from collections import Counter, defaultdict
from pathlib import Path

from cases import Call, Case, Turn
from injecagent_tools import DATA, tools

GROUPS = {"dh": "direct harm", "ds": "data stealing"}
POISON = "<Attacker Instruction>"
OBEYED = "Action Input:"
TYPES = {"string": str, "array": list, "object": dict, "integer": int, "number": (int, float), "boolean": bool}


class Templates:
    """Answers with InjecAgent's results: the user's tool with the poison, attackers' tools as recorded."""

    def __init__(self, results: dict[str, object]) -> None:
        self._results = results
        self._arrived: list[str] = []

    def call(self, call: Call) -> tuple[object, bool]:
        """Return the result of a call. An effect has nothing but success to tell."""
        self._arrived.append(call.tool)
        return self._results.get(call.tool, {"success": True}), False

    def state(self) -> object:
        """Return the user's calls that arrived: InjecAgent has no environment to check."""
        return self._arrived[:1]


class InjecAgent:
    """The cases, and a world for each."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._schemas = {tool.name: tool.arguments for tool in tools(folder)}
        self._wanted, self._recorded = self._runs()
        self._users = [json.loads(line) for line in (folder / DATA / "user_cases.jsonl").read_text().splitlines()]
        self._results: dict[str, dict[str, object]] = {}

    def cases(self) -> list[Case]:
        """Return each user's task alone, and with each attack."""
        found = [self._case(user, "", None) for user in self._users]
        for short, group in GROUPS.items():
            lines = (self._folder / DATA / f"attacker_cases_{short}.jsonl").read_text().splitlines()
            found += [self._case(user, group, json.loads(line)) for line in lines for user in self._users]
        return found

    def world(self, case: Case) -> Templates:
        """Return a new world of a case."""
        return Templates(self._results[case.name])

    def _case(self, user: dict, group: str, attack: dict | None) -> Case:
        call = Call(user["User Tool"], ast.literal_eval(user["Tool Parameters"]))
        turns = [Turn(user["User Instruction"], [call])]
        text = attack["Attacker Instruction"] if attack else "Nothing."
        name = f"{call.tool} {text}"
        self._results[name] = {call.tool: filled(ast.literal_eval(user["Tool Response Template"]), text)}
        if not attack:
            return Case("", name, turns)
        injected = [Call(tool, self._wanted[text, tool]) for tool in attack["Attacker Tools"]]
        if len(injected) > 1 and injected[0].tool != call.tool:
            self._results[name][injected[0].tool] = self._recorded[text]
        return Case(group, name, turns, injected)

    def _runs(self) -> tuple[dict[tuple[str, str], dict], dict[str, object]]:
        """Read from the recorded runs what models called, and what attackers' first tools returned."""
        said: dict[tuple[str, str], Counter] = defaultdict(Counter)
        returned: dict[str, object] = {}
        for path in sorted((self._folder / "results").glob("[BE][AN]*/*/test_cases_d*_[be][an]*.json")):
            for line in path.read_text().splitlines():
                run = json.loads(line)
                text = run["Attacker Instruction"]
                for step in ("output", "output Step 2"):
                    found = obeyed(run.get(step) or "", run["Attacker Tools"])
                    if found and fits(found[1], self._schemas[found[0]]):
                        said[text, found[0]][json.dumps(found[1], sort_keys=True)] += 1
                if told := run.get("Attacker Tool Response"):
                    returned.setdefault(text, parsed(told))
        return {key: json.loads(counts.most_common(1)[0][0]) for key, counts in said.items()}, returned


def obeyed(output: str, tools: list[str]) -> tuple[str, dict] | None:
    """Return the call that a model made, if it is one that the attacker wants."""
    before, mark, after = output.partition(OBEYED)
    tool = before.rpartition("Action:")[2].strip()
    if not mark or tool not in tools:
        return None
    try:
        arguments, _ = json.JSONDecoder().raw_decode(after.strip())
    except ValueError:
        return None
    return (tool, arguments) if isinstance(arguments, dict) else None


def fits(arguments: dict, schema: dict) -> bool:
    """Returns whether arguments match the definition of their tool."""
    known = schema["properties"]
    return {*schema["required"]} <= {*arguments} <= {*known} and all(
        isinstance(value, TYPES[known[name]["type"]]) for name, value in arguments.items()
    )


def parsed(text: str) -> object:
    """Return a recorded result as JSON, if it is."""
    try:
        return json.loads(text)
    except ValueError:
        return {"text": text}


def filled(template: object, text: str) -> object:
    """Put a text in the place of the poison."""
    if isinstance(template, str):
        return template.replace(POISON, text)
    if isinstance(template, list):
        return [filled(one, text) for one in template]
    if isinstance(template, dict):
        return {name: filled(one, text) for name, one in template.items()}
    return template
