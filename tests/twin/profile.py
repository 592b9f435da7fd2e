"""Profiles: what docs/profiles.md says of each member, and of the mistakes that keep a profile from loading."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path as File
from typing import Any

from places import HOST, folder
from schema import Invalid, Schema
from values import ALL, Malformed, Number, Path, kind, parse, path_of, plain

SCHEMAS = File(__file__).parents[2] / "schemas"
UNITS = {"second": 1_000, "minute": 60_000, "hour": 3_600_000, "day": 86_400_000}


class BadProfile(ValueError):
    """A profile that does not load."""


@dataclass
class Case:
    when: Schema
    below: dict[Path, list[str]]
    hosts: dict[Path, list[str]]
    permit: Any
    free: bool


@dataclass
class Tool:
    """One tool that exists: an entry, or one definition that a pattern stands for."""

    entry: dict[str, Any]
    name: str
    server: str | None
    definition: dict[str, Any] | None
    effect: str
    order: int
    invalid: bool = False
    input: Schema | None = None
    output: Schema | None = None
    arguments: Schema | None = None
    result: Schema | None = None
    cases: list[Case] | None = None
    delegate: dict[str, Any] | None = None
    scope: list[tuple[Path, dict[str, Any]]] = field(default_factory=list)
    origins: list[tuple[Path, dict[str, Any]]] = field(default_factory=list)
    secrets: list[tuple[Path, list[str]]] = field(default_factory=list)

    @property
    def full(self) -> str:
        return f"{self.server}/{self.name}" if self.server is not None else self.name

    @property
    def permit(self) -> Any:
        return self.entry.get("permit", "deny")

    def rate(self) -> tuple[int, int] | None:
        """The number of calls, and the milliseconds of its window."""
        if "rate" not in self.entry:
            return None
        count, unit = self.entry["rate"].split("/")
        return int(count), UNITS[unit]


def number(value: Any, default: int | None = None) -> int | None:
    return int(value.value) if isinstance(value, Number) else default


def asks(permit: Any) -> bool:
    return isinstance(permit, dict)


class Profile:
    """A profile that loads."""

    _form: Schema | None = None

    def __init__(self, text: str) -> None:
        try:
            self.document = parse(text, 96)
        except Malformed as fault:
            raise BadProfile(str(fault)) from None
        Profile._form = Profile._form or Schema(parse((SCHEMAS / "profile.schema.json").read_text()))
        wrong = Profile._form.errors(self.document)
        if wrong:
            raise BadProfile(str(wrong[0]))
        self.text = text
        self.agent: str = self.document["agent"]
        self.approvers: dict[str, Any] = self.document.get("approvers", {})
        self.modes: dict[str, Any] = self.document.get("modes", {})
        self.budget: dict[str, int] = {name: int(item.value) for name, item in self._budget(self.document)}
        self.context: list[dict[str, Any]] = self.document.get("context", [])
        self.tools: list[Tool] = []
        self._tools()
        self.deny = [
            (rule["tool"], self._schema(rule.get("when", True)), rule) for rule in self.document.get("deny", [])
        ]
        self.flows: list[dict[str, Any]] = self.document.get("flows", [])
        self._references()
        for tool in self.tools:
            self._entry(tool)
        for flow in self.flows:
            if "unless" in flow and not any(tool.origins and _to(flow["to"], tool) for tool in self.tools):
                raise BadProfile("unless without origins")
        self._conditions()
        self._covers()
        self._examples()

    @staticmethod
    def _budget(document: dict[str, Any]) -> list[tuple[str, Number]]:
        return list(document.get("budget", {}).items())

    @staticmethod
    def _schema(document: Any, formats: bool = True) -> Schema:
        try:
            return Schema(document, formats=formats)
        except Invalid as fault:
            raise BadProfile(f"schema: {fault}") from None

    # Tools

    def _tools(self) -> None:
        entries = self.document["tools"]
        taken: set[tuple[str | None, str]] = set()
        for entry in entries:
            if (entry.get("server"), entry["name"]) in taken:
                raise BadProfile("tool twice")
            taken.add((entry.get("server"), entry["name"]))
            pattern = "*" in entry["name"]
            if ("definition" in entry and pattern) or ("definitions" in entry and not pattern):
                raise BadProfile("definition or definitions")
            if "rate" in entry and not re.fullmatch(
                rf"([1-9][0-9]{{0,2}}|1000)/({'|'.join(UNITS)})", entry["rate"], re.ASCII
            ):
                raise BadProfile("rate")
        for entry in entries:
            if "*" not in entry["name"]:
                definition = entry.get("definition")
                if definition is not None and definition["name"] != entry["name"]:
                    raise BadProfile("definition of another tool")
                self._add(entry, entry["name"], definition)
                continue
            seen: set[str] = set()
            for definition in entry.get("definitions", []):
                name = definition.get("name")
                if not isinstance(name, str) or not _matches(entry["name"], name) or name in seen:
                    raise BadProfile("definition of another tool")
                seen.add(name)
                if self._owner(entries, entry, name) is entry:
                    self._add(entry, name, definition)
        for each in self.document.get("delegate", []):
            entry = {"name": "delegate_" + each["agent"], "permit": each.get("permit", "deny")}
            if any(tool.server is None and tool.name == entry["name"] for tool in self.tools):
                raise BadProfile("delegate twice")
            self.tools.append(Tool(entry, entry["name"], None, None, "effectful", len(self.tools), delegate=each))

    @staticmethod
    def _owner(entries: list[dict[str, Any]], entry: dict[str, Any], name: str) -> dict[str, Any]:
        mine = [other for other in entries if other.get("server") == entry.get("server")]
        for other in mine:
            if other["name"] == name:
                return other
        ranked = [other for other in mine if "*" in other["name"] and _matches(other["name"], name)]
        best = max(other["name"].index("*") for other in ranked)
        first = [other for other in ranked if other["name"].index("*") == best]
        if len(first) > 1:
            raise BadProfile("patterns of equal rank")
        return first[0]

    def _add(self, entry: dict[str, Any], name: str, definition: dict[str, Any] | None) -> None:
        effect = entry["effect"]
        if effect == "annotated":
            hints = (definition or {}).get("annotations")
            hints = hints if isinstance(hints, dict) else {}
            effect = "effectful"
            if hints.get("readOnlyHint") is True:
                effect = "effectful" if hints.get("destructiveHint") is True else "read"
            elif hints.get("idempotentHint") is True:
                effect = "idempotent"
        self.tools.append(Tool(entry, name, entry.get("server"), definition, effect, len(self.tools)))

    def _entry(self, tool: Tool) -> None:
        entry = tool.entry
        formats = entry.get("formats", "annotate") == "assert"
        for name in ("inputSchema", "parameters", "input_schema"):
            if tool.definition and name in tool.definition and tool.input is None:
                try:
                    tool.input = Schema(tool.definition[name], formats=formats)
                except Invalid:
                    tool.invalid = True
        result = entry.get("result", {})
        if tool.definition and "outputSchema" in tool.definition:
            try:
                tool.output = Schema(tool.definition["outputSchema"], formats=formats)
            except Invalid:
                tool.invalid = True
        tool.arguments = self._schema(entry.get("arguments", True))
        if "schema" in result:
            tool.result = self._schema(result["schema"])
        for rule in result.get("supports", []):
            self._schema(rule.get("when", True))
        if isinstance(tool.permit, list):
            tool.cases = [self._case(tool, case) for case in tool.permit]
            if any(case.free for case in tool.cases[:-1]):
                raise BadProfile("a case that can never be reached")
        for rule in entry.get("scope", []):
            path = self._path(rule["path"])
            tool.scope.append((path, rule))
            text = "from" not in rule
            self._leads(tool, path, {"string"} if text else {"string", "number", "boolean"})
            self._places(rule)
        for rule in entry.get("origins", []):
            path = self._path(rule["path"])
            tool.origins.append((path, rule))
            places = [
                place for place in rule["from"] if not (isinstance(place, dict) and {"below", "hosts"} & set(place))
            ]
            self._leads(tool, path, {"string", "number", "boolean"} if places else {"string"})
            self._from(tool, rule)
        if tool.origins and not any("else" in rule for _, rule in tool.origins):
            if not any("unless" in flow and _to(flow["to"], tool) for flow in self.flows):
                raise BadProfile("origins that nothing uses")
        for rule in entry.get("secrets", []):
            path = self._path(rule["path"])
            tool.secrets.append((path, rule["names"]))
            self._leads(tool, path, {"string"})
        for name in ("cached",):
            if name in result.get("provenance", {}):
                self._path(result["provenance"][name])
        for name in ("confidence", "sampled", "partial"):
            if name in result:
                self._path(result[name])
        if "freshness" in result:
            self._path(result["freshness"]["path"])
        if "items" in result:
            items = self._path(result["items"])
            if not items or items[-1] is not ALL or ALL in items[:-1]:
                raise BadProfile("items")
        store = entry.get("store")
        if store and "key" in store:
            self._path(store["key"])

    def _case(self, tool: Tool, case: dict[str, Any]) -> Case:
        paths: list[dict[Path, list[str]]] = []
        for name in ("below", "hosts"):
            paths.append({self._path(path): listed for path, listed in case.get(name, {}).items()})
            for path, listed in paths[-1].items():
                self._leads(tool, path, {"string"}, pattern=True)
                self._places({name: listed})
        when = case.get("when", True)
        free = when in (True, {}) and not paths[0] and not paths[1]
        return Case(self._schema(when), paths[0], paths[1], case["permit"], free)

    @staticmethod
    def _path(text: str) -> Path:
        path = path_of(text)
        if path is None:
            raise BadProfile(f"path {text}")
        return path

    @staticmethod
    def _places(rule: dict[str, Any]) -> None:
        for text in rule.get("below", []):
            if folder(text) is None:
                raise BadProfile(f"folder {text}")
        for text in rule.get("hosts", []):
            if not HOST.fullmatch(text.lower().removeprefix("*.")):
                raise BadProfile(f"host {text}")

    def _leads(self, tool: Tool, path: Path, types: set[str], *, pattern: bool = False) -> None:
        """A path that leads to no value of the pinned definition or of `arguments` can never apply."""
        if pattern and "*" in tool.entry["name"]:
            if any(other.order != tool.order and other.entry is tool.entry for other in self.tools):
                return
        pinned = tool.definition or {}
        for name in ("inputSchema", "parameters", "input_schema"):
            if name in pinned and not tool.invalid and not leads(pinned[name], path, types):
                raise BadProfile(f"{path} leads to nothing in the definition of {tool.full}")
        if not leads(tool.entry.get("arguments", True), path, types, closed=False):
            raise BadProfile(f"{path} leads to nothing in the arguments of {tool.full}")

    def _from(self, tool: Tool, rule: dict[str, Any]) -> None:
        for place in rule["from"]:
            if isinstance(place, str):
                if place.startswith("context.") and not any(place[8:] == one["name"] for one in self.context):
                    raise BadProfile("context that nothing declares")
                continue
            self._places(place)
            for name in ("at", "named"):
                if name in place:
                    self._path(place[name])
            if "tool" in place and (place["tool"] == "*" or len(self._named(place["tool"])) != 1):
                raise BadProfile("an origin from no tool, or from several")

    def _named(self, name: str) -> list[Tool]:
        """The tools that a *tool name* stands for."""
        if name == "*":
            return self.tools
        return [tool for tool in self.tools if name in (tool.name, tool.full)]

    # References between members

    def _references(self) -> None:
        document = self.document
        groups: list[str] = []

        def gather(permit: Any) -> None:
            if isinstance(permit, dict) and "approval" in permit:
                groups.extend(permit["approval"]["by"])

        for entry in [*document["tools"], *document.get("delegate", [])]:
            permit = entry.get("permit")
            for one in permit if isinstance(permit, list) else [{"permit": permit}]:
                gather(one["permit"])
            for rule in entry.get("origins", []):
                gather(rule.get("else"))
            for rule in entry.get("scope", []):
                for place in rule.get("from", []):
                    if place != "task" and not any(place[8:] == one["name"] for one in self.context):
                        raise BadProfile("context that nothing declares")
        for flow in self.flows:
            gather(flow["then"])
        named = [name for mode in self.modes.values() for name in mode["tools"]]
        for mode in self.modes.values():
            groups.extend(mode.get("by", []))
        for group in groups:
            if group not in self.approvers:
                raise BadProfile(f"group {group}")
        asked = [rule for entry in document["tools"] for rule in entry.get("origins", [])]
        if not self.approvers and any("approval" in (one.get("then"), one.get("else")) for one in self.flows + asked):
            raise BadProfile("an approval by nobody")
        named += [rule["tool"] for rule in document.get("deny", [])]
        named += [name for each in document.get("delegate", []) for name in each["tools"]]
        for name in named:
            if name != "*" and not self._named(name):
                raise BadProfile(f"tool {name}")
        if len({one["name"] for one in self.context}) < len(self.context):
            raise BadProfile("context twice")
        for one in self.context:
            self._schema(one["schema"])
        task = document.get("task", {}).get("schema", True)
        self._schema(task)
        for mode in self.modes.values():
            for path in mode.get("when", {}):
                if not leads(task, self._path(path), None):
                    raise BadProfile("a mode of a task that is none")
        for each in document.get("delegate", []):
            ends = []
            for path in each.get("pass", []):
                names = [step for step in self._path(path) if isinstance(step, str)]
                ends.append(names[-1])
            if len(set(ends)) < len(ends) or "reason" in ends:
                raise BadProfile("passed twice")
        if "final" in document:
            schema = document["final"]["contract"].get("schema", True)
            self._schema(schema)

    def _conditions(self) -> None:
        """Members that `when` names must be there in one of the tools that it is about."""
        for name, _, rule in self.deny:
            schemas = [tool for tool in self._named(name) if tool.delegate is None]
            self._reachable(rule.get("when", True), schemas)
        for tool in self.tools:
            if isinstance(tool.permit, list):
                same = [other for other in self.tools if other.entry is tool.entry]
                for case in tool.permit:
                    self._reachable(case.get("when", True), same)

    def _reachable(self, when: Any, tools: list[Tool]) -> None:
        for path in members_of(when):
            fits = [tool for tool in tools if self._fits(tool, path)]
            if tools and not fits:
                raise BadProfile(f"{path} leads to nothing")

    @staticmethod
    def _fits(tool: Tool, path: Path) -> bool:
        pinned = {} if tool.invalid else tool.definition or {}
        return all(
            leads(pinned[name], path, None) for name in ("inputSchema", "parameters", "input_schema") if name in pinned
        )

    def _covers(self) -> None:
        for tool in self.tools:
            for cover in tool.entry.get("covers", []):
                found = self._named(cover["tool"])
                if not self._asked(tool) or len(found) != 1 or found[0] is tool or not self._asked(found[0]):
                    raise BadProfile("covers")
                for same in cover["same"]:
                    types = {"string", "number", "boolean", "null"}
                    self._leads(found[0], self._path(same["path"]), types)
                    self._leads(tool, self._path(same.get("as", same["path"])), types)

    def _asked(self, tool: Tool) -> bool:
        """Whether some call of a tool needs an approval."""
        permits = [case["permit"] for case in tool.permit] if isinstance(tool.permit, list) else [tool.permit]
        return (
            any(map(asks, permits))
            or any(rule.get("else", "deny") != "deny" for _, rule in tool.origins)
            or any(flow["then"] != "deny" and _to(flow["to"], tool) for flow in self.flows)
        )

    def _examples(self) -> None:
        from permit import example

        for entry in self.document["tools"]:
            tools = [tool for tool in self.tools if tool.entry is entry and not tool.invalid]
            for wanted in ("allow", "deny"):
                for given in entry.get("examples", {}).get(wanted, []):
                    fine = [example(self, tool, given) for tool in tools]
                    if fine and (not any(fine) if wanted == "allow" else any(fine)):
                        raise BadProfile(f"example {plain(given)}")


def _matches(pattern: str, name: str) -> bool:
    return bool(re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), name, re.DOTALL))


def _to(to: str, tool: Tool) -> bool:
    return tool.entry.get("egress") is True if to == "egress" else tool.effect == to


to_matches = _to


def leads(
    schema: Any, path: Path, types: set[str] | None, root: Any = None, depth: int = 0, *, closed: bool = True
) -> bool:
    """Whether a path can lead to a value of one of the types that a schema allows.

    A definition that declares members has no others (`closed`), unless it says so; `arguments` has all that it does
    not forbid.
    """
    root = schema if root is None else root
    if not isinstance(schema, dict) or depth > 40:
        return schema is not False
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith("#"):
        at = root
        for step in reference[2:].split("/") if reference != "#" else []:
            at = at.get(step.replace("~1", "/").replace("~0", "~"), {}) if isinstance(at, dict) else {}
        if not leads(at, path, types, root, depth + 1, closed=closed):
            return False
    for name in ("anyOf", "oneOf"):
        listed = schema.get(name)
        if (
            isinstance(listed, list)
            and listed
            and not any(leads(one, path, types, root, depth + 1, closed=closed) for one in listed)
        ):
            return False
    for one in schema.get("allOf", ()) if isinstance(schema.get("allOf"), list) else ():
        if not leads(one, path, types, root, depth + 1, closed=closed):
            return False
    allowed = _types(schema)
    if not path:
        return types is None or set.intersection(types, *allowed) != set()
    step, rest = path[0], path[1:]
    if any(("object" if isinstance(step, str) else "array") not in some for some in allowed):
        return False
    if isinstance(step, str):
        members = schema.get("properties")
        if isinstance(members, dict) and step in members:
            return leads(members[step], rest, types, root, depth + 1, closed=closed)
        more = schema.get("additionalProperties")
        if more is not None:
            return leads(more, rest, types, root, depth + 1, closed=closed)
        return not closed or not members or "patternProperties" in schema
    first = schema.get("prefixItems")
    if isinstance(first, list) and isinstance(step, int) and step < len(first):
        return leads(first[step], rest, types, root, depth + 1, closed=closed)
    return leads(schema.get("items", True), rest, types, root, depth + 1, closed=closed)


def _types(schema: Any) -> list[set[str]]:
    """The types that each keyword of a schema leaves."""
    if not isinstance(schema, dict):
        return []
    named = schema.get("type")
    allowed = [{named}] if isinstance(named, str) else [set(named)] if isinstance(named, list) else []
    allowed = [{"number" if one == "integer" else one for one in some} for some in allowed]
    allowed += [{kind(schema["const"])}] if "const" in schema else []
    allowed += [set(map(kind, schema["enum"]))] if isinstance(schema.get("enum"), list) else []
    for one in schema.get("allOf", ()) if isinstance(schema.get("allOf"), list) else ():
        allowed += _types(one)
    return allowed


def members_of(when: Any, at: Path = ()) -> list[Path]:
    """The members that a condition names."""
    found: list[Path] = []
    if isinstance(when, dict):
        for name, inner in when.get("properties", {}).items():
            found.append((*at, name))
            found += members_of(inner, (*at, name))
        found += [(*at, name) for name in when.get("required", [])]
        for name in ("allOf", "anyOf", "oneOf"):
            for inner in when.get(name, []):
                found += members_of(inner, at)
        for name in ("not", "if", "then", "else"):
            found += members_of(when.get(name), at)
        for name in ("items", "contains"):
            found += members_of(when.get(name), (*at, ALL))
    return found


def group_members(profile: Profile, groups: list[str]) -> list[str]:
    """The principals of groups, each once."""
    found: list[str] = []
    for group in groups:
        for one in profile.approvers.get(group, []):
            if one["principal"] not in found:
                found.append(one["principal"])
    return sorted(found)
