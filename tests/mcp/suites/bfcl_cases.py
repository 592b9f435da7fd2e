"""The cases of BFCL's multi-turn part: 200 dialogues with the calls that solve them.

BFCL has no attacks. Here an attack is what another dialogue does: the effects of one of its turns. It comes after the
first result that holds text which others could have written, and only tools of the attacked dialogue take part.
"""

import ast
import copy
import importlib
import json
from importlib.resources import files
from pathlib import Path

from bfcl_tools import KITS
from cases import Call, Case, Turn

SOURCES = "bfcl_eval.eval_checker.multi_turn_eval.func_source_code"
STATELESS = {"MathAPI"}
# Results with contents of files, messages, posts or tickets.
POISONED = set(
    "cat grep tail sort diff view_messages_sent search_messages get_tweet get_user_tweets search_tweets "
    "get_tweet_comments get_ticket get_user_tickets".split()
)


class Instances:
    """The objects of a dialogue, on which BFCL's own code acts."""

    def __init__(self, entry: dict) -> None:
        modules = {kit: document for document, kit in KITS.items()}
        self._all = []
        for kit in entry["involved_classes"]:
            one = getattr(importlib.import_module(f"{SOURCES}.{modules[kit]}"), kit)()
            if kit not in STATELESS:
                one._load_scenario(copy.deepcopy(entry["initial_config"].get(kit, {})), long_context=False)
            self._all.append(one)

    def call(self, call: Call) -> tuple[object, bool]:
        """Call a method. BFCL tells of a failure by a member `error`."""
        method = next(getattr(one, call.tool) for one in self._all if hasattr(one, call.tool))
        try:
            result = method(**copy.deepcopy(call.arguments))
        except (
            Exception
        ) as error:  # BFCL's classes raise whatever they meet, and its own evaluation reads that as text.
            return {"error": str(error)}, True
        return json.loads(json.dumps(result, default=str)), isinstance(result, dict) and "error" in result

    def state(self) -> object:
        """Return all attributes, except the private ones, as BFCL's own check compares them."""
        return [{name: it for name, it in vars(one).items() if not name.startswith("_")} for one in self._all]


class Bfcl:
    """The cases, and a world for each."""

    def __init__(self, effects: set[str], orders: dict[str, list[str]]) -> None:
        folder = Path(str(files("bfcl_eval"))) / "data"
        name = "BFCL_v4_multi_turn_base.json"
        answers = [json.loads(line) for line in (folder / "possible_answer" / name).read_text().splitlines()]
        entries = [json.loads(line) for line in (folder / name).read_text().splitlines()]
        self._entries = {entry["id"]: entry for entry in entries}
        self._truth = {one["id"]: one["ground_truth"] for one in answers}
        self._effects = effects
        self._orders = orders

    def cases(self) -> list[Case]:
        """Return each dialogue alone, and with attacks if a result of it can hold poison."""
        alone = [Case("", known, self._turns(known)) for known in self._entries]
        attacks = [(case.name, wanted) for case in alone for turn in case.turns if (wanted := self._wanted(turn))]
        found = list(alone)
        for case in alone:
            calls = [call for turn in case.turns for call in turn.calls]
            at = next((number for number, call in enumerate(calls) if call.tool in POISONED), None)
            if at is None:
                continue
            have = self._tools(case.name)
            fit = [calls for name, calls in attacks if name != case.name and {one.tool for one in calls} <= have]
            different = {repr(calls): calls for calls in fit}.values()
            found += [Case("", case.name, case.turns, calls, at) for calls in different]
        return found

    def world(self, case: Case) -> Instances:
        """Return a new world of a case."""
        return Instances(self._entries[case.name])

    def _turns(self, known: str) -> list[Turn]:
        asked = self._entries[known]["question"]
        return [
            Turn("\n".join(one["content"] for one in said), [self._read(call) for call in calls])
            for said, calls in zip(asked, self._truth[known], strict=True)
        ]

    def _wanted(self, turn: Turn) -> list[Call]:
        return [call for call in turn.calls if call.tool in self._effects]

    def _tools(self, known: str) -> set[str]:
        return {tool for kit in self._entries[known]["involved_classes"] for tool in self._orders[kit]}

    def _read(self, written: str) -> Call:
        """Read a call that is written in Python."""
        call = ast.parse(written, mode="eval").body
        assert isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
        names = self._orders[call.func.id]
        arguments = {name: ast.literal_eval(value) for name, value in zip(names, call.args, strict=False)}
        arguments |= {str(one.arg): ast.literal_eval(one.value) for one in call.keywords}
        return Call(call.func.id, arguments)
