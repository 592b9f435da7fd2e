"""`permit`: whether a call may run. The checks come in the order of docs/profiles.md, "Tools and permissions"."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from profile import Profile, Tool, asks, group_members, number, to_matches
from typing import Any

from clean import marked
from origins import Origins, mentions
from places import INSIDE, OUTSIDE, UNCLEAR, at_host, below
from schema import ACCEPTS, OPEN, REJECTS
from stores import add_labels, keys_of
from values import (
    ALL,
    Malformed,
    Number,
    Path,
    canonical,
    compact,
    equal,
    parse,
    path_of,
    pointer,
    select,
)


class BadRequest(ValueError):
    """Facts or a call that are not what their schemas say."""


class Denied(Exception):
    """A check that denies the call, with the code of its reason."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass
class Digests:
    """The digests of actions and of equal calls. Their bytes are the kernel's own: a test may put others in place."""

    action: Callable[[str], str] = lambda envelope: "sha256:" + hashlib.sha256(envelope.encode()).hexdigest()
    same: Callable[[str], str] = lambda call: hashlib.sha256(call.encode()).hexdigest()[:32]


@dataclass
class Need:
    """An approval that rules ask for: rules that ask the same people for the same time are one."""

    codes: list[tuple[str, Any]]
    """The codes of its reasons, each with what tells it from another of the same code."""
    people: list[str]
    ttl: int
    groups: tuple[str, ...] = ()


def merged(needs: list[Need]) -> list[Need]:
    made: list[Need] = []
    for need in needs:
        for other in made:
            if (other.people, other.ttl) == (need.people, need.ttl):
                other.codes += need.codes
                break
        else:
            made.append(Need(list(need.codes), need.people, need.ttl))
    return made


@dataclass
class Decision:
    permit: str
    tool: Tool | None
    codes: list[str]
    arguments: str | None = None
    digest: str | None = None
    allowed: list[str] | None = None
    ask: dict[str, Any] | None = None
    approval: dict[str, Any] | None = None
    origins: list[tuple[str, str | None]] = field(default_factory=list)
    secrets: list[dict[str, str]] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    same: str = ""


def find(profile: Profile, server: str | None, name: str) -> Tool:
    found = [tool for tool in profile.tools if tool.name == name and server in (None, tool.server)]
    if not found:
        raise Denied("unknown_tool")
    if len(found) > 1:
        raise Denied("ambiguous_tool")
    return found[0]


def mode_of(profile: Profile, facts: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
    if not profile.modes:
        return None
    if facts.get("mode") not in profile.modes:
        raise BadRequest("mode")
    return facts["mode"], profile.modes[facts["mode"]]


def mode_for_task(mode: dict[str, Any], task: Any) -> bool:
    for path, values in mode.get("when", {}).items():
        found = [item for _, item in select(task, path_of(path) or ())]
        if not any(equal(item, value) for item in found for value in values):
            return False
    return True


def in_mode(profile: Profile, facts: dict[str, Any], tool: Tool) -> bool:
    mode = mode_of(profile, facts)
    if mode is None:
        return True
    names = mode[1]["tools"]
    return mode_for_task(mode[1], facts.get("task")) and any(name in ("*", tool.name, tool.full) for name in names)


def on_surface(facts: dict[str, Any], tool: Tool) -> bool:
    return "surface" not in facts or tool.full in facts["surface"] or tool.delegate is not None


def never(tool: Tool) -> bool:
    permits = [case["permit"] for case in tool.permit] if isinstance(tool.permit, list) else [tool.permit]
    return all(permit == "deny" for permit in permits)


def always_denied(profile: Profile, tool: Tool) -> bool:
    return any(name in ("*", tool.name, tool.full) and when.root in (True, {}) for name, when, _ in profile.deny)


def allowed_tools(profile: Profile, facts: dict[str, Any]) -> list[Tool]:
    return [
        tool
        for tool in profile.tools
        if not tool.invalid
        and not never(tool)
        and not always_denied(profile, tool)
        and in_mode(profile, facts, tool)
        and on_surface(facts, tool)
    ]


# Arguments


def known_names(tool: Tool, profile: Profile, at: Path) -> tuple[set[str], set[str]]:
    """The names that a schema, a scope or a deny rule has for one place, and those of schemas alone."""
    names: set[str] = set()
    documents = [tool.entry.get("arguments", True), *(case["when"] for case in _cases(tool) if "when" in case)]
    pinned = tool.definition or {}
    documents += [pinned[key] for key in ("inputSchema", "parameters", "input_schema") if key in pinned]
    denies = [rule.get("when", True) for name, _, rule in profile.deny if name in ("*", tool.name, tool.full)]
    for document in [*documents, *denies]:
        names |= _declared(document, at)
    schemas = set(names)
    rules = [path for path, _ in [*tool.scope, *tool.origins, *tool.secrets]]
    if "key" in tool.entry.get("store", {}):
        rules.append(path_of(tool.entry["store"]["key"]) or ())
    for case in tool.cases or ():
        rules += [*case.below, *case.hosts]
    for path in rules:
        if len(path) > len(at) and isinstance(path[len(at)], str):
            if all(one is ALL or one == other for one, other in zip(path, at, strict=False)):
                names.add(path[len(at)])
    return names, schemas


def _cases(tool: Tool) -> list[dict[str, Any]]:
    return tool.permit if isinstance(tool.permit, list) else []


def _declared(schema: Any, at: Path) -> set[str]:
    if not isinstance(schema, dict):
        return set()
    found: set[str] = set()
    for name in ("allOf", "anyOf", "oneOf"):
        for inner in schema.get(name, ()):
            found |= _declared(inner, at)
    for name in ("not", "if", "then", "else"):
        found |= _declared(schema.get(name), at)
    if not at:
        return found | set(schema.get("properties", {})) | set(schema.get("required", ()))
    if isinstance(at[0], str):
        return found | _declared(schema.get("properties", {}).get(at[0], schema.get("additionalProperties")), at[1:])
    return found | _declared(schema.get("items"), at[1:]) | _declared(schema.get("contains"), at[1:])


def confusing(tool: Tool, profile: Profile, value: Any, at: Path = ()) -> bool:
    """Whether a name differs only in case from one that a rule has for its place."""
    if isinstance(value, dict):
        names, schemas = known_names(tool, profile, at)
        folded = {name.casefold() for name in names}
        for name, item in value.items():
            if (name.casefold() in folded and name not in names) or (name == "__proto__" and name not in schemas):
                return True
            if confusing(tool, profile, item, (*at, name)):
                return True
    elif isinstance(value, list):
        return any(confusing(tool, profile, item, (*at, index)) for index, item in enumerate(value))
    return False


def walk(value: Any, path: Path, at: Path = ()) -> tuple[list[Path], list[tuple[Path, Any]], list[Path]]:
    """The places on the way, the values at the end, and the places where something of another type stands."""
    if not path:
        if isinstance(value, (dict, list)):
            return [], [], [at]
        return [], [(at, value)], []
    step, rest = path[0], path[1:]
    if isinstance(step, str):
        if not isinstance(value, dict):
            return [], [], [at]
        inner = [((*at, step), value[step])] if step in value else []
        wrong: list[Path] = []
    else:
        if not isinstance(value, list):
            return [], [], [at]
        inner = [((*at, index), item) for index, item in enumerate(value) if step in (ALL, index)]
        wrong = [(*at, index) for index in range(len(value)) if step not in (ALL, index)]
    passed, ends = [at], []
    for place, item in inner:
        more = walk(item, rest, place)
        passed += more[0]
        ends += more[1]
        wrong += more[2]
    return passed, ends, wrong


def shaped(value: Any, paths: list[Path]) -> tuple[list[list[tuple[Path, Any]]], list[tuple[int, Path]]]:
    """The values of each rule, and the places of another type that no other rule reaches."""
    walked = [walk(value, path) for path in paths]
    reached = [{*passed, *(at for at, _ in ends)} for passed, ends, _ in walked]
    wrong = [
        (index, at)
        for index, (_, _, places) in enumerate(walked)
        for at in places
        if not any(at in places_reached for other, places_reached in enumerate(reached) if other != index)
    ]
    return [ends for _, ends, _ in walked], wrong


def secret_places(tool: Tool, value: Any) -> list[dict[str, str]]:
    """The secrets that a call takes, in the order of its arguments."""
    found: dict[str, str] = {}
    for path, names in tool.secrets:
        for at, item in select(value, path):
            if isinstance(item, str) and item.startswith("secret:"):
                if item[7:] in names:
                    found[pointer(at)] = item[7:]
                else:
                    found.setdefault(pointer(at), "")
    if "" in found.values():
        raise Denied("secret")
    order = [pointer(at) for at, _ in _places(value)]
    return [{"at": at, "name": found[at]} for at in sorted(found, key=order.index)]


def _places(value: Any, at: Path = ()) -> list[tuple[Path, Any]]:
    if isinstance(value, dict):
        return [one for name, item in value.items() for one in _places(item, (*at, name))]
    if isinstance(value, list):
        return [one for index, item in enumerate(value) for one in _places(item, (*at, index))]
    return [(at, value)]


@dataclass
class Sources:
    """What scopes and origins of one profile refer to."""

    task: Any
    context: dict[str, Any]
    lists: dict[str, Any]
    facts: dict[str, Any]


def scoped(tool: Tool, value: Any, sources: Sources | None, secrets: set[str]) -> bool:
    """Whether each scope accepts the arguments. Without sources, only rules by values are looked at."""
    rules = [rule for _, rule in tool.scope]
    ends, wrong = shaped(value, [path for path, _ in tool.scope])
    if wrong:
        return False
    for rule, values in zip(rules, ends, strict=True):
        for at, item in values:
            if pointer(at) not in secrets and not _in_scope(rule, item, sources):
                return False
    return True


def _in_scope(rule: dict[str, Any], item: Any, sources: Sources | None) -> bool:
    if "values" in rule:
        return isinstance(item, str) and item in rule["values"]
    if "below" in rule:
        return isinstance(item, str) and below(item, rule["below"]) == INSIDE
    if "hosts" in rule:
        return isinstance(item, str) and at_host(item, rule["hosts"]) == INSIDE
    if sources is None:
        return True
    if "list" in rule:
        return isinstance(item, str) and item in sources.lists[rule["list"]]
    if item is None:
        return False
    text = item if isinstance(item, str) else item.raw if isinstance(item, Number) else str(item).lower()
    found = [sources.task if place == "task" else sources.context.get(place[8:]) for place in rule["from"]]
    return any(mentions(source, text) for source in found)


def case_verdict(case: Any, value: Any) -> str:
    """Whether a case holds (`ACCEPTS`), fails (`REJECTS`) or is open."""
    verdict = case.when.verdict(value)
    if verdict == ACCEPTS and case.when.open(value):
        verdict = OPEN
    verdicts = [verdict]
    for places, judge in ((case.below, below), (case.hosts, at_host)):
        for path, listed in places.items():
            _, ends, wrong = walk(value, path)
            found = [judge(item, listed) if isinstance(item, str) else UNCLEAR for _, item in ends]
            found += [UNCLEAR] * len(wrong)
            if found and all(one == INSIDE for one in found):
                verdicts.append(ACCEPTS)
            else:
                verdicts.append(REJECTS if all(one == OUTSIDE for one in found) else OPEN)
    return REJECTS if REJECTS in verdicts else OPEN if OPEN in verdicts else ACCEPTS


def permits(tool: Tool, value: Any) -> list[tuple[int, Any]]:
    """The approvals that the `permit` of a tool asks for, each with the number of its case. Empty if it allows."""
    if tool.cases is None:
        chosen = [(0, tool.permit)]
    else:
        chosen = []
        for number_of_case, case in enumerate(tool.cases):
            verdict = case_verdict(case, value)
            if verdict != REJECTS:
                chosen.append((number_of_case, case.permit))
            if verdict == ACCEPTS:
                break
        else:
            chosen.append((-1, "deny"))
    if any(permit == "deny" for _, permit in chosen):
        raise Denied("permit")
    return [(number_of_case, permit) for number_of_case, permit in chosen if asks(permit)]


def judge_arguments(profile: Profile, tool: Tool, value: Any) -> None:
    if tool.input and not tool.input.accepts(value):
        raise Denied("definition")
    if tool.arguments and not tool.arguments.accepts(value):
        raise Denied("arguments")


def judge_deny(profile: Profile, tool: Tool, value: Any) -> None:
    for name, when, _ in profile.deny:
        if name in ("*", tool.name, tool.full) and when.verdict(value) != REJECTS:
            raise Denied("deny")


def example(profile: Profile, tool: Tool, value: Any) -> bool:
    """Whether schemas, deny rules, scopes by values and `permit` allow an example, or ask about it."""
    try:
        if confusing(tool, profile, value):
            return False
        judge_arguments(profile, tool, value)
        judge_deny(profile, tool, value)
        secrets = {one["at"] for one in secret_places(tool, value)}
        if not scoped(tool, value, None, secrets):
            return False
        permits(tool, value)
    except Denied:
        return False
    return True


# The decision


class Kernel:
    """`permit` for one profile."""

    def __init__(self, profile: Profile, digests: Digests | None = None) -> None:
        self.profile = profile
        self.digests = digests or Digests()

    def permit(self, facts: dict[str, Any], call: dict[str, Any]) -> Decision:
        profile = self.profile
        mode_of(profile, facts)
        given = call["arguments"]
        text = given if isinstance(given, str) else compact(given)
        decision = Decision("deny", None, [])
        try:
            tool = find(profile, call.get("server"), call["tool"])
            self._lists(tool, facts)
            if tool.invalid:
                raise Denied("invalid_definition")
            self._exists(tool, facts)
            decision.tool = tool
            value = self._admit(tool, text)
            decision.same = self.same(tool, value)
            decision.digest = self._digest(tool, facts, text)
            needs = self._judge(tool, facts, value, decision)
            if self._approved(tool, facts, call, needs, decision):
                decision.permit, decision.arguments = "allow", text
                self._spend(tool, facts, value, decision)
            else:
                decision.permit, decision.arguments = "approval", text
        except Denied as fault:
            decision.permit = "deny"
            decision.codes = [fault.code]
            decision.allowed = [tool.full for tool in allowed_tools(profile, facts)]
            decision.ask, decision.approval = None, None
            decision.secrets = []
            decision.facts = {name: decision.facts[name] for name in () if name in decision.facts}
        return decision

    def same(self, tool: Tool, value: Any) -> str:
        return self.digests.same(json.dumps([tool.server, tool.name]) + canonical(value))

    def _lists(self, tool: Tool, facts: dict[str, Any]) -> None:
        for _, rule in [*tool.scope, *tool.origins]:
            for place in [rule, *(one for one in rule.get("from", []) if isinstance(one, dict))]:
                if "list" in place and place["list"] not in facts.get("lists", {}):
                    raise BadRequest("lists")

    def _exists(self, tool: Tool, facts: dict[str, Any]) -> None:
        if not in_mode(self.profile, facts, tool):
            raise Denied("mode")
        if not on_surface(facts, tool):
            raise Denied("surface")

    @staticmethod
    def _admit(tool: Tool, text: str) -> Any:
        if len(text.encode("utf-8", "surrogatepass")) > (number(tool.entry.get("max_arguments_bytes")) or 65536):
            raise Denied("too_large")
        try:
            value = parse(text)
        except Malformed:
            raise Denied("malformed") from None
        if not isinstance(value, dict):
            raise Denied("malformed")
        return value

    def _digest(self, tool: Tool, facts: dict[str, Any], text: str) -> str:
        programs = facts.get("programs", {})
        server = tool.server or ""
        program = programs.get(f"{server}/{tool.name}", programs.get(f"{server}/"))
        envelope = [tool.server, tool.name, compact(tool.definition, sort=True), text, facts["run"], self.profile.text]
        return self.digests.action(json.dumps([*envelope, facts["principal"], facts.get("mode"), program]))

    def labels(self, facts: dict[str, Any]) -> set[str]:
        """The labels of all that the run has read: those of results, and of the context that it was given."""
        labels = set(facts.get("labels", []))
        for one in self.profile.context:
            if one["name"] in facts.get("context", {}):
                labels |= set(one.get("labels", []))
        return labels

    def _judge(self, tool: Tool, facts: dict[str, Any], value: Any, decision: Decision) -> list[Need]:
        profile = self.profile
        if confusing(tool, profile, value):
            raise Denied("malformed")
        judge_arguments(profile, tool, value)
        judge_deny(profile, tool, value)
        if tool.effect != "read" and marked(value, tool):
            raise Denied("mark")
        decision.secrets = secret_places(tool, value)
        secrets = {one["at"] for one in decision.secrets}
        sources = Sources(facts.get("task"), facts.get("context", {}), facts.get("lists", {}), facts)
        if not scoped(tool, value, sources, secrets):
            raise Denied("scope")
        rules = self._origins(tool, value, sources, decision)
        rules += self._flows(tool, facts, decision)
        self._budget(tool, facts, value, decision)
        asked_cases = permits(tool, value)
        own = [permit for _, permit in asked_cases]
        needs = [self._need(tool, "permit", one, own) for one in own]
        for need, (number_of_case, _) in zip(needs, asked_cases, strict=True):
            need.codes = [("permit", number_of_case)]
        others: list[Need] = []
        for code, about, then in rules:
            need = self._need(tool, code, then, own)
            asked = (code, need.groups, need.ttl)
            if code == "flow" and any((one.codes[0][0], one.groups, one.ttl) == asked for one in others):
                continue
            need.codes = [(code, about)]
            others.append(need)
        return merged(needs + others)

    def _need(self, tool: Tool, code: str, then: Any, own: list[Any]) -> Need:
        """The approval that a rule asks for. `approval` alone has the groups of the tool's own `permit`."""
        if then == "approval":
            cases = [case["permit"] for case in tool.permit] if isinstance(tool.permit, list) else [tool.permit]
            then = next((one for one in [*own, *cases] if asks(one)), None)
            if then is None:
                return Need([(code, None)], group_members(self.profile, list(self.profile.approvers)), 600)
        people = group_members(self.profile, then["approval"]["by"])
        groups = tuple(then["approval"]["by"])
        return Need([(code, then)], people, number(then["approval"].get("ttl_s"), 600) or 600, groups)

    def _origins(self, tool: Tool, value: Any, sources: Sources, decision: Decision) -> list[tuple[str, Any, Any]]:
        if not tool.origins:
            return []
        prove = Origins(sources.facts, sources.task, sources.context, sources.lists)
        ends, wrong = shaped(value, [path for path, _ in tool.origins])
        shapes = [(index, pointer(at)) for index, at in wrong]
        lacking: list[tuple[int, str]] = list(shapes)
        proven: list[tuple[str, str | None]] = []
        secrets = {one["at"]: one["name"] for one in decision.secrets}
        count = 0
        for index, values in enumerate(ends):
            for at, item in values:
                count += 1
                place = pointer(at)
                name = f"secret {secrets[place]}" if place in secrets else None
                if name is None and count <= 256:
                    name = prove.of(item, tool.origins[index][1]["from"])
                if name is None:
                    lacking.append((index, place))
                else:
                    proven.append((place, name))
        order = [pointer(at) for at, _ in _places(value)]
        lacking.sort(key=lambda one: (one[0], order.index(one[1]) if one[1] in order else -1))
        decision.origins = [*((place, None) for _, place in lacking), *proven][:64]
        needs: list[tuple[str, Any, Any]] = []
        for index in sorted({index for index, _ in lacking}):
            about = next(place for other, place in lacking if other == index)
            rule = tool.origins[index][1]
            sought = rule["path"] if (index, about) in shapes else rule["from"]
            other = rule.get("else")
            if other == "deny":
                raise Denied("origin")
            if other is not None:
                needs.append(("origin", (about, sought), other))
        return needs

    def _flows(self, tool: Tool, facts: dict[str, Any], decision: Decision) -> list[tuple[str, Any, Any]]:
        labels = self.labels(facts)
        fine = bool(decision.origins) and all(name for _, name in decision.origins)
        applied = [
            flow
            for flow in self.profile.flows
            if flow["after"] in labels and to_matches(flow["to"], tool) and not ("unless" in flow and fine)
        ]
        if any(flow["then"] == "deny" for flow in applied):
            raise Denied("flow")
        return [("flow", (flow["after"], flow["to"] == "egress"), flow["then"]) for flow in applied]

    def _budget(self, tool: Tool, facts: dict[str, Any], value: Any, decision: Decision) -> None:
        budget, used = self.profile.budget, facts.get("used", {})
        for name in ("tool_calls", "tokens", "ms"):
            if name in budget and _count(used, name) >= budget[name]:
                raise Denied("budget")
        limit = number(tool.entry.get("same_call"), budget.get("same_call"))
        calls = used.get("calls", {})
        count = sum(int(_plain(calls.get(prefix + decision.same, 0))) for prefix in ("", "read:", "either:"))
        if limit is not None and count >= limit:
            raise Denied("same_call")
        rate = tool.rate()
        if rate:
            at = int(_plain(facts["at"]))
            times = [int(_plain(time)) for time in used.get("recent", {}).get(tool.full, [])]
            if len([time for time in times if time > at - rate[1]]) >= rate[0]:
                raise Denied("rate")

    def _approved(
        self, tool: Tool, facts: dict[str, Any], call: dict[str, Any], needs: list[Need], decision: Decision
    ) -> bool:
        """Whether each approval that is needed is there. Otherwise puts the question into the decision."""
        if not needs:
            return True
        _profile, at, key, digest = self.profile, int(_plain(facts["at"])), call["key"], decision.digest
        ttl = min(need.ttl for need in needs) * 1000
        asks_now = facts.get("asks", [])
        mine = [one for one in asks_now if one["key"] == key and one["digest"] == digest]
        asked = mine[-1] if mine else None
        asked_at = int(_plain(asked["at"])) if asked else at
        expires = min(int(_plain(asked["expires"])), asked_at + ttl) if asked else at + ttl
        decided = [one for one in facts.get("approvals", []) if one["key"] == key]
        everybody = {who for need in needs for who in need.people}
        for one in decided:
            if one["digest"] == digest and one["decision"] == "rejected" and not one.get("spent"):
                if one["principal"] in everybody:
                    raise Denied("rejected")
        used: list[dict[str, Any]] = []
        unmet: list[Need] = []
        codes: list[str] = []
        for need in needs:
            why: list[str] = []
            fine: dict[str, Any] | None = None
            for one in decided:
                code = self._holds(one, need, digest, asked, asked_at, expires, at)
                if code == "":
                    fine = fine or one
                elif code:
                    why.append(code)
            if fine:
                used.append(fine)
            else:
                codes = codes if unmet else why
                unmet.append(need)
        if not unmet:
            decision.approval = {"principal": used[0]["principal"], "at": int(_plain(used[0]["at"]))}
            decision.facts["approvals"] = [
                {**one, "spent": True} if any(one is other for other in used) else one for one in facts["approvals"]
            ]
            return True
        if asked is None or at >= expires:
            asked, expires = None, at + ttl
        reasons: list[tuple[str, Any]] = []
        for reason in unmet[0].codes:
            if reason not in reasons:
                reasons.append(reason)
        decision.codes = [*(code for code, _ in reasons), *codes]
        decision.ask = {"key": key, "digest": digest, "by": unmet[0].people, "expires": expires}
        kept = [one for one in asks_now if not (one["key"] == key and one["digest"] == digest)]
        if asked is None or expires != int(_plain(asked["expires"])):
            new = {"key": key, "digest": digest, "at": at if asked is None else asked_at, "expires": expires}
            decision.facts["asks"] = [*kept, new]
        if asked is None and any(one["digest"] == digest and not one.get("spent") for one in decided):
            decision.facts["approvals"] = [
                {**one, "spent": True} if one["key"] == key and one["digest"] == digest else one
                for one in facts["approvals"]
            ]
        return False

    @staticmethod
    def _holds(
        one: dict[str, Any],
        need: Need,
        digest: str | None,
        asked: dict[str, Any] | None,
        asked_at: int,
        expires: int,
        at: int,
    ) -> str | None:
        """Why a decision of a person does not meet a need: a code. Empty if it does, and None if it is used up."""
        when = int(_plain(one["at"]))
        if one["digest"] != digest:
            return "digest"
        if one["principal"] not in need.people:
            return "approver"
        if one["decision"] == "rejected":
            return None
        if asked is None or when < asked_at:
            return "before_ask"
        if when >= expires or at >= expires:
            return "expired"
        return None if one.get("spent") else ""

    def _spend(self, tool: Tool, facts: dict[str, Any], value: Any, decision: Decision) -> None:
        used = facts.get("used", {})
        calls = {name: int(_plain(count)) for name, count in used.get("calls", {}).items()}
        if tool.effect != "read":
            calls = {name: count for name, count in calls.items() if not name.startswith("read:")}
        name = ("read:" if tool.effect == "read" else "") + decision.same
        calls[name] = calls.get(name, 0) + 1
        new: dict[str, Any] = {"tool_calls": _count(used, "tool_calls") + 1, "tokens": _count(used, "tokens")}
        new |= {"ms": _count(used, "ms"), "calls": calls}
        recent = {name: [int(_plain(time)) for time in times] for name, times in used.get("recent", {}).items()}
        rate = tool.rate()
        if rate:
            recent[tool.full] = [*recent.get(tool.full, []), int(_plain(facts["at"]))]
            recent[tool.full] = [time for time in recent[tool.full] if time > int(_plain(facts["at"])) - rate[1]]
        if recent:
            new["recent"] = recent
        decision.facts["used"] = new
        store = tool.entry.get("store")
        if store and tool.effect != "read":
            before = facts.get("stores", [])
            after = add_labels(before, store["name"], keys_of(store, value), sorted(self.labels(facts)))
            if after != before:
                decision.facts["stores"] = after


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, Number) else value


def _count(used: dict[str, Any], name: str) -> int:
    return int(_plain(used.get(name, 0)))
