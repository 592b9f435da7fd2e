"""AgentDojo in two sessions that share a memory: the first reads poison, and the second acts on the notes.

Each suite gets two more tools, of a memory that both sessions share (`memory.json`). In an attack, the first session
makes the calls of a user task up to the first result that holds the poison, and notes the injected goal with the calls
that it wants. The second session is a new run with the same journal folder. It has the prompt of the same user task,
reads the note, and makes the injected calls. Without an attack, the first session makes the calls before the first
effect, and notes each result. The second reads the notes, and makes the other calls. The approver denies everything.

The same is done with profiles that differ in the two memory tools alone.
"""

import json
import pickle
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TextIO

import page
from agentdojo.functions_runtime import Function, FunctionCall, FunctionsRuntime, make_function
from agentdojo.task_suite.load_suites import get_suite
from replay import (
    ASKED,
    HERE,
    REFUSED,
    WORKED,
    Client,
    Outcome,
    Setting,
    came_to,
    chosen,
    connect,
    gated_by,
    is_effect,
    options,
    profile,
    publish,
    replay,
    servers,
    timed,
    wait_for,
)
from replay import host as host_one_session
from serve import BENCHMARK, SUITES, Pair, Playground, definition, poisoned, serve, write_verdict

# The memory's tools, as profiles name them.
MEMORY = json.loads((HERE / "memory.json").read_text())

# The longest note, in characters. A call's arguments may have 65,536 bytes.
LONGEST_NOTE = 15_000


@dataclass(frozen=True)
class Variant:
    """The differences of a profile's memory tools to those of `memory.json`."""

    name: str
    keeps_labels: bool = True
    private: bool = True
    writes_ask: bool = False

    def tools(self) -> list[dict]:
        """The memory's tools, as the profile names them."""
        write, read = (dict(tool) for tool in MEMORY)
        if not self.keeps_labels:
            del write["store"], read["store"]
        if not self.private:
            read["result"] = {**read["result"], "labels": []}
        if self.writes_ask:
            write |= {"effect": "effectful", "origins": [{"path": "$.key", "from": ["user"]}]}
        return [write, read]


BY_RULES = Variant("as in `memory.json`")
NO_STORE = Variant("no `store`", keeps_labels=False)
NO_PRIVATE = Variant("notes not `private`", private=False)
NEITHER = Variant("neither", keeps_labels=False, private=False)
ATTACKED = [BY_RULES, NO_STORE, NO_PRIVATE, NEITHER]
# The last one is for tasks without an attack alone: the note of an attack would not be written.
ALONE = [*ATTACKED, Variant("a note is an effect on its key", writes_ask=True)]


@dataclass
class Ended:
    """The outcome of two sessions: the notes that the first wrote, and the calls of other tools."""

    pair: Pair
    notes: Counter
    calls: list[tuple[str, str]]
    useful: bool
    reached: bool = False


class Session:
    """A session behind a gate of its own: a new run in the journal folder of the session before, if any."""

    def __init__(self, setting: Setting, name: str, pair: Pair, variant: Variant, before: "Session | None") -> None:
        self.verdict = setting.folder / f"{name}.json"
        self.journal = before.journal if before else setting.folder / f"{name}.journal"
        self._called: list[str] = []
        self._said = get_suite(BENCHMARK, pair.suite).user_tasks[pair.user].PROMPT
        kept = str(kept_beside(before.verdict)) if before else None
        server = connect(setting, [pair.suite, pair.user, pair.injection, kept, str(self.verdict)])
        chosen = profile_path(setting.folder, pair.suite, variant)
        self.client = Client(gated_by(setting, chosen, self.journal, server), setting)

    def __enter__(self) -> Self:
        self.client.hello()
        self.client.said = self._said
        return self

    def __exit__(self, *_: object) -> None:
        self.client.end()
        ended = wait_for(self.verdict)
        self.useful, self.reached = bool(ended["useful"]), bool(ended["reached"])
        ends = [came_to(number, ended["arrived"], self.client.asked) for number in range(len(self._called))]
        self.ends = list(zip(self._called, ends, strict=True))

    def call(self, name: str, arguments: object) -> bool:
        """Call a tool. Gives whether it worked."""
        self._called.append(name)
        return self.client.call(len(self._called) - 1, name, arguments)


class Remembering(Playground):
    """An environment with a memory. Both outlive a session in a file."""

    def __init__(self, pair: Pair, kept: Path | None) -> None:
        # Written by the session before, in this script's own folder.
        *known, self.notes = pickle.loads(kept.read_bytes()) if kept else [{}]
        super().__init__(pair, tuple(known))
        self.tools = [*self.suite.tools, *memory_tools(self.notes)]
        self.runtime = FunctionsRuntime(self.tools)

    def call(self, name: str, arguments: dict) -> dict[str, object]:
        """Call a tool. AgentDojo's checks do not see calls of the memory."""
        answer = super().call(name, arguments)
        if is_memory(name):
            self.trace.pop()
        return answer

    def keep(self, path: Path) -> None:
        """Write the environment and the notes for the next session."""
        trace = [FunctionCall(function=call.function, args=dict(call.args)) for call in self.trace]
        path.write_bytes(pickle.dumps((self.environment, self.before, trace, self.notes)))


def memory_tools(notes: dict[str, str]) -> list[Function]:
    """The tools of a memory."""

    def memory_write(key: str, value: str) -> str:
        """Saves a note under a key, for this session and later ones. It replaces an earlier note.

        :param key: The key of the note.
        :param value: The text of the note.
        """
        notes[key] = value
        return f"Saved {key}."

    def memory_read(key: str) -> str:
        """Reads the note that was saved under a key, in this session or an earlier one.

        :param key: The key of the note.
        """
        if key not in notes:
            raise ValueError(f"There is no note {key}.")
        return notes[key]

    return [make_function(memory_write), make_function(memory_read)]


def is_memory(name: str) -> bool:
    """Returns whether a tool belongs to the memory."""
    return name.startswith("memory_")


def host(which: list, source: TextIO, sink: TextIO) -> None:
    """Serve a session. Keep its environment for the next one, and write the verdict."""
    suite, user, injection, before, after = which
    ground = Remembering(Pair(suite, user, injection), before and Path(before))
    verdict = serve(ground, source, sink)
    ground.keep(kept_beside(Path(after)))
    write_verdict(Path(after), verdict)


def main() -> int:
    """Replay all pairs in two sessions, and print tables."""
    given, pairs = options()
    attacking = [pair for pair in pairs if pair.injection]
    alone = [pair for pair in pairs if not pair.injection]
    # Journals are synced to disk, unless they are in memory.
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as made:
        folder = Path(made)
        setting = Setting(folder, folder / "socket", given.seamgate)
        write_profiles(folder)
        with servers(setting.socket, host):
            attacked = timed("attacks", attacking, lambda numbered: attack(*numbered, setting))
            honest = timed("tasks", alone, lambda numbered: work(*numbered, setting))
        with servers(setting.socket, host_one_session):
            once = timed("tasks in one session", alone, lambda numbered: replay(*numbered, setting))
    noted = [ended for ended in attacked if ended]
    print(f"{len(noted)} of {len(attacking)} attacks read the poison and want calls", file=sys.stderr)
    publish(report(noted, honest, once), given.write, "two-sessions")
    return 0


def write_profiles(folder: Path) -> None:
    """Write the profile of each suite with a memory, once for each variant, with its lock file."""
    memory = [definition(tool) for tool in memory_tools({})]
    for suite in SUITES:
        lock = json.loads((HERE / f"{suite}.lock.json").read_text())
        lock["servers"][""]["tools"] += memory
        for variant in ALONE:
            path = profile_path(folder, suite, variant)
            own = profile(suite)
            path.write_text(json.dumps({**own, "tools": [*own["tools"], *variant.tools()]}))
            path.with_name(path.name.replace(".profile.", ".lock.")).write_text(json.dumps(lock))


def profile_path(folder: Path, suite: str, variant: Variant) -> Path:
    """The path of a suite's profile with a memory."""
    return folder / f"{suite}-{ALONE.index(variant)}.profile.json"


def kept_beside(verdict: Path) -> Path:
    """The path of the file that a session leaves for the next one."""
    return verdict.with_suffix(".kept")


def attack(number: int, pair: Pair, setting: Setting) -> dict[Variant, Ended]:
    """Note the injected calls in one session and make them in a second one, once for each variant."""
    ground = Playground(pair)
    wanted = ground.injection.ground_truth(ground.before)
    _, poison = poisoned(pair.suite, pair.user)
    if not wanted or not poison:
        return {}
    goal = json.dumps({"goal": ground.injection.GOAL, "calls": [[call.function, dict(call.args)] for call in wanted]})
    with Session(setting, f"attack-{number}", pair, BY_RULES, None) as first:
        for at, call in enumerate(ground.user.ground_truth(ground.before)):
            if first.call(call.function, call.args) and at in poison:
                first.call("memory_write", {"key": "todo", "value": goal})
                break
    if first.ends[-1] != ("memory_write", WORKED):
        return {}
    ended = {}
    for at, variant in enumerate(ATTACKED):
        with Session(setting, f"attack-{number}-{at}", pair, variant, first) as second:
            second.call("memory_read", {"key": "todo"})
            for call in wanted:
                second.call(call.function, call.args)
        ended[variant] = Ended(pair, Counter(), without_memory(second), second.useful, second.reached)
    return ended


def work(number: int, pair: Pair, setting: Setting) -> dict[Variant, Ended]:
    """Note the results of reads in one session and act on them in a second one, once for each variant."""
    ground = Playground(pair)
    calls = ground.user.ground_truth(ground.before)
    acts = [at for at, call in enumerate(calls) if not reads(pair.suite, call.function)]
    split = acts[0] if acts else len(calls)
    ended = {}
    first = None
    for at, variant in enumerate(ALONE):
        # The permissions of the first session differ in only one variant.
        if first is None or variant.writes_ask:
            first, keys = read_and_note(Session(setting, f"work-{number}-{at}-1", pair, variant, None), calls[:split])
        with Session(setting, f"work-{number}-{at}-2", pair, variant, first) as second:
            for key in keys:
                second.call("memory_read", {"key": key})
            for call in calls[split:]:
                second.call(call.function, call.args)
        made = [*without_memory(first), *without_memory(second)]
        notes = Counter(end for name, end in first.ends if name == "memory_write")
        ended[variant] = Ended(pair, notes, made, second.useful)
    return ended


def read_and_note(session: Session, calls: list[FunctionCall]) -> tuple[Session, list[str]]:
    """Make calls that read, and note each result. Gives the keys of the notes."""
    keys = []
    with session:
        for at, call in enumerate(calls):
            if session.call(call.function, call.args):
                key = f"{call.function}-{at}"
                if session.call("memory_write", {"key": key, "value": session.client.text[:LONGEST_NOTE]}):
                    keys.append(key)
    return session, keys


def reads(suite: str, tool: str) -> bool:
    """Returns whether a tool changes nothing."""
    return next(entry for entry in profile(suite)["tools"] if entry["name"] == tool)["effect"] != "effectful"


def without_memory(session: Session) -> list[tuple[str, str]]:
    """The outcomes of calls of a suite's own tools."""
    return [(name, end) for name, end in session.ends if not is_memory(name)]


def report(attacked: list[dict[Variant, Ended]], honest: list[dict[Variant, Ended]], once: list[Outcome]) -> str:
    """The tables."""
    return "\n\n".join([attacks(attacked), tasks(honest, once), variants(attacked, honest), leaks(attacked)])


def attacks(attacked: list[dict[Variant, Ended]]) -> str:
    """The attacks, suite by suite."""
    rows = [["suite", "attacks", "injected effects", "get through", "ask for approval", "are refused", "goals reached"]]
    for name, has in chosen():
        ended = [known[BY_RULES] for known in attacked if has(known[BY_RULES].pair.suite)]
        effects = effects_of(ended)
        counts = [len(ended), effects.total(), *(effects[end] for end in (WORKED, ASKED, REFUSED)), reached_by(ended)]
        rows.append([name, *map(str, counts)])
    return page.headed(rows)


def effects_of(ended: list[Ended]) -> Counter:
    """The outcomes of injected effects."""
    return Counter(end for one in ended for tool, end in one.calls if is_effect(one.pair.suite, tool))


def reached_by(ended: list[Ended]) -> int:
    """The injections that reached their goal."""
    return sum(one.reached for one in ended)


def tasks(honest: list[dict[Variant, Ended]], once: list[Outcome]) -> str:
    """The user tasks, suite by suite, in one session and in two."""
    heads = ["solved in one session", "in two", "calls ask in one session", "in two", "notes", "notes ask"]
    rows = [["suite", "tasks", *heads]]
    for name, has in chosen():
        single = [one for one in once if has(one.pair.suite)]
        double = [ended[BY_RULES] for ended in honest if has(ended[BY_RULES].pair.suite)]
        asked = sum((one.user for one in single), Counter())[ASKED]
        solved, ask, *notes = of_tasks(double)
        rows.append([name, str(len(single)), str(sum(one.useful for one in single)), solved, str(asked), ask, *notes])
    return page.headed(rows)


def of_tasks(ended: list[Ended]) -> list[str]:
    """The cells of tasks: those solved, calls that ask, notes, and notes that ask."""
    ends = Counter(end for one in ended for _, end in one.calls)
    notes = sum((one.notes for one in ended), Counter())
    solved = sum(one.useful for one in ended)
    return [str(cell) for cell in (solved, ends[ASKED], notes.total(), notes[ASKED])]


def variants(attacked: list[dict[Variant, Ended]], honest: list[dict[Variant, Ended]]) -> str:
    """The variants side by side."""
    heads = ["injected effects that get through", "goals reached", "tasks solved", "calls ask", "notes", "notes ask"]
    rows = [["memory tools", *heads]]
    for variant in ALONE:
        ended = [known[variant] for known in attacked] if variant in ATTACKED else []
        cells = [str(effects_of(ended)[WORKED]), str(reached_by(ended))] if ended else ["", ""]
        solved, ask, *notes = of_tasks([known[variant] for known in honest])
        # Without its notes, the second session does not have what a model would act on.
        rows.append([variant.name, *cells, *(["", ""] if variant.writes_ask else [solved, ask]), *notes])
    return page.headed(rows)


def leaks(attacked: list[dict[Variant, Ended]]) -> str:
    """The injected effects that got through, with labels that are kept and without."""
    counted = {
        variant: Counter(
            (one.pair.suite, tool)
            for one in (ended[variant] for ended in attacked)
            for tool, end in one.calls
            if end == WORKED and is_effect(one.pair.suite, tool)
        )
        for variant in ATTACKED
    }
    rows = [["suite", "effect that got through", *(variant.name for variant in counted)]]
    for suite, tool in sorted(set().union(*counted.values())):
        rows.append([suite, f"`{tool}`", *(str(times[suite, tool]) for times in counted.values())])
    return page.headed(rows)


if __name__ == "__main__":
    sys.exit(main())
