"""`observe`: what is known of a result. Which text the model reads of it is docs/clean.md, and not implemented."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from profile import Tool, number
from typing import Any

from schema import Schema
from stores import keys_of, labels_at
from values import Malformed, Number, compact, parse, path_of, select

ORDER = ["low", "medium", "high"]


class Unsupported(Exception):
    """Something that this twin does not implement."""


@dataclass
class Observation:
    status: str
    labels: set[str]
    confidence: str
    kinds: list[str] = field(default_factory=list)
    limitations: set[str] = field(default_factory=set)
    complete: bool = True

    def shown(self) -> dict[str, Any]:
        made: dict[str, Any] = {"status": self.status, "kinds": self.kinds, "labels": sorted(self.labels)}
        made |= {"confidence": self.confidence, "complete": self.complete, "limitations": sorted(self.limitations)}
        return made


def _time(value: Any) -> int | None:
    """A time in milliseconds: RFC 3339, or seconds or milliseconds since 1970."""
    if isinstance(value, Number):
        return int(value.value if value.value > 10**11 else value.value * 1000)
    try:
        made = datetime.datetime.fromisoformat(value.replace("Z", "+00:00").replace("z", "+00:00"))
    except (AttributeError, ValueError):
        return None
    return int(made.timestamp() * 1000) if made.tzinfo else None


def _first(value: Any, rules: dict[str, Any], name: str) -> Any:
    found = [item for _, item in select(value, path_of(rules[name]) or ())] if name in rules else []
    return found[0] if found else None


def _own_items(schema: Any, path: tuple[Any, ...]) -> Any:
    """The part of a schema that is about the items."""
    for step in path:
        if not isinstance(schema, dict):
            return None
        schema = schema.get("items") if step is None else schema.get("properties", {}).get(step)
    return schema


def observe(tool: Tool, facts: dict[str, Any], arguments: Any, result: dict[str, Any]) -> Observation:
    rules = tool.entry.get("result", {})
    labels = set(rules.get("labels", ["untrusted"]))
    store = tool.entry.get("store")
    if store:
        labels |= labels_at(facts.get("stores", []), store["name"], keys_of(store, arguments))
    made = Observation("ok", labels, "high")
    most = number(rules.get("max_bytes"), 20_000) or 20_000
    schema = tool.result or tool.output
    if "head" in result:
        made.labels |= {"partial", "truncated"}
        made.limitations |= {"partial", "truncated", "unchecked"}
        made.confidence, made.complete = "medium", False
        return made
    if "returned" in result:
        raise Unsupported("returned")
    read = "text" in result and (tool.result is not None or tool.output is not None or "items" in rules)
    error = result.get("status") == "error"
    value: Any = result.get("result", result.get("text"))
    text = value if isinstance(value, str) else compact(value)
    if read and not error:
        try:
            value = parse(result["text"], 64)
        except Malformed:
            return _invalid(made)
    structured = "result" in result or (read and not error)
    if error:
        made.status, made.complete = "error", False
        made.limitations.add("error")
    elif schema and not _valid(tool, rules, schema, value, made):
        return _invalid(made)
    _describe(made, rules, value if structured else None, facts, structured)
    if not error and not value and value is not False:
        made.labels |= {"empty"} if isinstance(value, (str, list, dict)) else set()
    items = path_of(rules["items"]) if "items" in rules else None
    if not error and items and any(found == [] for _, found in select(value, items[:-1])):
        made.labels.add("empty")
    if len(text.encode()) > most:
        made.labels.add("truncated")
        made.limitations.add("truncated")
    _settle(made)
    if not error:
        when = [(rule["kind"], Schema(rule.get("when", True))) for rule in rules.get("supports", [])]
        made.kinds = [kind for kind, each in when if each.accepts(value)]
    return made


def _invalid(made: Observation) -> Observation:
    made.status, made.confidence, made.complete = "invalid", "low", False
    made.limitations.add("invalid")
    return made


def _valid(tool: Tool, rules: dict[str, Any], schema: Schema, value: Any, made: Observation) -> bool:
    wrong = schema.errors(value)
    if not wrong:
        return True
    path = path_of(rules["items"]) if "items" in rules else None
    if path is None or _own_items(schema.root, path) is None:
        return False
    places = [at for at, _ in select(value, path)]
    bad = {at[: len(path)] for at, _ in wrong if at[: len(path)] in places}
    if any(at[: len(path)] not in places for at, _ in wrong) or len(bad) == len(places):
        return False
    made.labels.add("partial")
    made.limitations |= {"invalid_items", "partial"}
    return True


def _describe(made: Observation, rules: dict[str, Any], value: Any, facts: dict[str, Any], structured: bool) -> None:
    if _first(value, rules, "partial") is True:
        made.labels.add("partial")
        made.limitations.add("partial")
    sampled = _first(value, rules, "sampled")
    if sampled is True or (isinstance(sampled, Number) and sampled.value < 1):
        made.labels.add("sampled")
        made.limitations.add("sampled")
    if "freshness" in rules and structured:
        found = [_time(item) for _, item in select(value, path_of(rules["freshness"]["path"]) or ())]
        if not found or None in found:
            made.limitations.add("undated")
        else:
            at = facts["at"].value if isinstance(facts["at"], Number) else facts["at"]
            if (
                at - min(one for one in found if one is not None)
                > (number(rules["freshness"]["max_lag_s"]) or 0) * 1000
            ):
                made.labels.add("stale")
                made.limitations.add("stale")
    if "confidence" in rules:
        stated = _first(value, rules, "confidence")
        made.confidence = stated if stated in ORDER else "low"


def _settle(made: Observation) -> None:
    most = "high"
    if made.labels & {"sampled", "partial", "truncated"}:
        most = "medium"
    if "stale" in made.labels or made.status != "ok" or "undated" in made.limitations:
        most = "low"
    made.confidence = min(made.confidence, most, key=ORDER.index)
    if made.limitations - {"stale", "format"}:
        made.complete = False
