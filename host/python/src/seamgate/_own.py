"""Runs the validators of a type. An item that they reject goes into quarantine, like one that the schema rejects."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable
from typing import Any

from . import _json
from ._feedback import of_items, rejected
from ._models import Model
from ._report import Report
from ._types import Violation

# The limits of a report: violations of one item, violations of all items, and bytes of an item's text.
_MOST_OF_ITEM = 10
_MOST_ITEMS = 1000
_MOST_SNIPPET = 256

_STEP = re.compile(r"\.([A-Za-z_][A-Za-z0-9_]*)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\[(\"(?:[^\"\\]|\\.)*\")\]")
_ESCAPED = re.compile(r"\\(u[0-9A-Fa-f]{4}|.)")


@dataclasses.dataclass(frozen=True)
class Items:
    """The items of a contract.

    Attributes:
        path: The path in the contract, without the final `[*]`.
        steps: The names and indices in that path.
        key: The member that identifies an item.
        most: The most items that are kept.
    """

    path: str
    steps: tuple[str | int, ...]
    key: str | None
    most: int | None

    @classmethod
    def of(cls, contract: str) -> Items | None:
        """Reads the items of a contract that is JSON text. Returns `None` if it has none, or if only the gate can read
        their path."""
        try:
            given = {name: value for name, value, _ in _json.members(contract)}.get("items")
        except ValueError:
            return None
        if not isinstance(given, dict):
            return None
        path = given.get("path")
        if not isinstance(path, str) or not path.startswith("$") or not path.endswith("[*]"):
            return None
        steps, at, end = list[str | int](), 1, len(path) - len("[*]")
        while at < end:
            step = _STEP.match(path, at, end)
            if step is None:
                return None
            steps.append(_step(step))
            at = step.end()
        return cls(path[:end], tuple(steps), given.get("key"), given.get("max"))

    @property
    def pointer(self) -> str:
        """The JSON Pointer of the list."""
        return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in self.steps)

    def span(self, document: str) -> tuple[int, int] | None:
        """Returns the offsets of the list in a document without white space."""
        start, source = 0, document
        for step in self.steps:
            found = _member(source, step)
            if found is None:
                return None
            at, source = found
            start += at
        return (start, start + len(source)) if source.startswith("[") else None


def read(model: Model | None, report: Report, items: Items | None) -> tuple[Any, Report, tuple[Violation, ...]]:
    """Reads the document of a report as an instance of a type.

    Returns:
        The instance, or the document if there is no type, or None if the document is rejected; the report, in which
        items that the type's own validators reject are in quarantine; and the violations that reject the document.
    """
    found: tuple[Violation, ...] = ()
    while model is not None and report.output_json is not None:
        data, found = model.read(report.output_json)
        if not found:
            return data, report, ()
        amended = None if items is None else _without(report, items, found)
        if amended is None:
            return None, report, found
        report = amended
    return report.output, report, ()


@dataclasses.dataclass(frozen=True)
class Read:
    """The report on one attempt, and its document as an instance if it could be read."""

    report: Report
    instance: Any = None
    is_read: bool = False


def of_attempt(model: Model | None, report: Report, items: Items | None) -> Read:
    """Reads one attempt, which may hold only a few items. Violations outside of items are found after the merge."""
    while model is not None and items is not None and report.output_json is not None:
        instance, found = model.read(report.output_json)
        if not found:
            return Read(report, instance, True)
        amended = _without(report, items, found)
        if amended is None:
            break
        report = amended
    return Read(report)


def _without(report: Report, items: Items, found: tuple[Violation, ...]) -> Report | None:
    """Returns a report without the wrong items, or `None` if no item is wrong."""
    document = report.output_json or ""
    place = items.span(document)
    if place is None:
        return None
    sources = list(_json.items(document[slice(*place)]))
    wrong: dict[int, list[Violation]] = {}
    for violation in found:
        at = _index(violation.pointer, items.pointer)
        if at is not None and at < len(sources):
            wrong.setdefault(at, []).append(violation)
    if not wrong or len(report.quarantined) + len(wrong) > _MOST_ITEMS:
        return None
    # The remaining items have the indices that are not in quarantine.
    taken = {each.index for each in report.quarantined}
    numbers = [number for number in range(len(sources) + len(taken)) if number not in taken]
    quarantined = {each["index"]: each for each in _json.parse(report.json)["quarantined"]}
    for at, violations in wrong.items():
        quarantined[numbers[at]] = _quarantined(items, at, numbers[at], sources[at], violations)
    kept = [source for at, source in enumerate(sources) if at not in wrong]
    members = {name: source for name, _, source in _json.members(report.json)}
    listed = [quarantined[number] for number in sorted(quarantined)]
    members["quarantined"] = _json.written(listed)
    if kept:
        wanted = items.most is None or len(kept) < items.most
        members["disposition"] = '"partial"'
        members["output"] = f"{document[: place[0]]}[{','.join(kept)}]{document[place[1] :]}"
        members["review_required"] = "true"
        told = of_items(listed, items.path, items.key) if wanted else ""
        members["wanted"] = '"items"' if wanted else '"nothing"'
    else:
        error = _none_left(report, items, len(sources))
        members["disposition"] = '"rejected"'
        members["output"] = "null"
        members["error"] = _json.written(error)
        members["review_required"] = "false"
        told = rejected([*error["violations"], *(each for item in listed for each in item["violations"])])
        members["wanted"] = '"whole"'
    members["feedback"] = _json.written(told)
    text = "{" + ",".join(f'"{name}":{source}' for name, source in members.items()) + "}"
    return report._amended(text)


def _quarantined(items: Items, at: int, number: int, source: str, violations: list[Violation]) -> dict[str, Any]:
    def moved(place: str, before: str, after: str) -> str:
        return after + place[len(before) :] if place.startswith(before) else place

    path, pointer = f"{items.path}[{number}]", f"{items.pointer}/{number}"
    listed = [
        {
            **dataclasses.asdict(violation),
            "path": moved(violation.path, f"{_shortest(items)}[{at}]", path),
            "pointer": moved(violation.pointer, f"{items.pointer}/{at}", pointer),
        }
        for violation in violations[:_MOST_OF_ITEM]
    ]
    snippet = source.encode()[:_MOST_SNIPPET].decode(errors="ignore")
    return {
        "index": number,
        "path": path,
        "pointer": pointer,
        "reason": "schema",
        "span": None,
        "snippet": snippet,
        "violations": listed,
    }


def _none_left(report: Report, items: Items, count: int) -> dict[str, Any]:
    which = "the only one is" if count == 1 else f"all {count} are"
    violation = {
        "path": f"{items.path}[*]",
        "keyword": "items",
        "expected": "an item that is valid",
        "received": "1 item" if count == 1 else f"{count} items",
        "message": f"must lead to an item that is valid: {which} in quarantine",
        "pointer": "",
        "schema_path": "",
        "span": None,
    }
    return {
        "error": "output_validation_failed",
        "schema_id": report.schema_id,
        "agent_id": report.agent,
        "violations": [violation],
        "raw_output": report.raw.encode()[:4096].decode(errors="ignore"),
        "retryable": True,
    }


def _shortest(items: Items) -> str:
    """Returns the path of the list in the notation of a type's violations."""
    from ._models import step

    return "$" + "".join(map(step, items.steps))


def _index(pointer: str, list_pointer: str) -> int | None:
    """Returns the index of the item that contains a JSON Pointer."""
    if not pointer.startswith(list_pointer + "/"):
        return None
    number = pointer[len(list_pointer) + 1 :].partition("/")[0]
    return int(number) if number.isdigit() else None


def _member(source: str, step: str | int) -> tuple[int, str] | None:
    """Returns the offset and the text of a member or an item."""
    places: Iterable[tuple[str | int, int, int]] = ()
    if isinstance(step, str) and source.startswith("{"):
        places = _json.member_places(source)
    elif isinstance(step, int) and source.startswith("["):
        places = ((number, *place) for number, place in enumerate(_json.item_places(source)))
    return next(((start, source[start:end]) for name, start, end in places if name == step), None)


def _step(found: re.Match[str]) -> str | int:
    name, number, single, double = found.groups()
    if name is not None:
        return name
    if number is not None:
        return int(number)
    if double is not None:
        return str(_json.parse(double))
    return _ESCAPED.sub(lambda each: _escape(each[1]), single)


def _escape(escaped: str) -> str:
    if len(escaped) == 1 and escaped in "'/\\":
        return escaped
    return str(_json.parse(f'"\\{escaped}"'))
