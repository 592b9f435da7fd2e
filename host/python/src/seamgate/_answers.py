"""Converts a component's answers to records of this package. A custom component may answer anything."""

from __future__ import annotations

from . import _json
from ._faults import SeamgateFault
from ._records import members
from ._report import record

# As in the package's `__init__`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    from ._words import Decision

    T = TypeVar("T")


def _record(cls: type[T], value: object) -> T:
    try:
        return record(cls, value, cls.__name__)
    except ValueError as error:
        raise SeamgateFault("trap", f"the component failed: what it answered is no {cls.__name__}: {error}") from error


def _parsed(text: object) -> Any:
    try:
        if not isinstance(text, str):
            raise ValueError("no text")
        return _json.parse(text)
    except ValueError as error:
        raise SeamgateFault("trap", f"the component failed: invalid answer: {error}") from None


def _decision(text: object) -> Decision:
    """Reads a decision from the JSON text that `permit` returned."""
    from ._words import AllowedDecision, ApprovalDecision, DeniedDecision

    value = _parsed(text)
    permit = value.get("permit") if isinstance(value, dict) else None
    if permit == "allow":
        return _record(AllowedDecision, {**value, "json": text})
    if permit == "approval":
        return _record(ApprovalDecision, {**value, "json": text})
    # Any other answer is read as a denial.
    return _record(DeniedDecision, {**value, "json": text} if isinstance(value, dict) else value)


def _read(cls: type[T], text: object) -> T:
    """Reads a record from the JSON text that a function of the kernel returned."""
    value = _parsed(text)
    return _record(cls, {**value, "json": text} if "json" in members(cls) and isinstance(value, dict) else value)


def _answer(answer: Any, *kinds: str) -> dict[str, Any]:
    """Reads an answer of `wire`: a fault or a result as values, a report as text."""
    try:
        if not isinstance(answer, str) or "\n" in answer:
            raise ValueError("more than a line")
        if answer.startswith('{"id":null,"report":{') and answer.endswith("}"):
            return {"report": answer[len('{"id":null,"report":') : -1]}
        given = {name: (value, source) for name, value, source in _json.members(answer)}
        ((name, (value, source)),) = ((name, of) for name, of in given.items() if name != "id")
        if name not in (*kinds, "fault") or "id" not in given:
            raise ValueError("no such member")
        if name == "fault":
            return {"fault": {key: value[key] for key in ("fault", "message", "detail")}}
        return {name: source if name == "report" else value}
    except (ValueError, KeyError, TypeError):
        message = "the component failed: invalid answer: expected one line of JSON"
        raise SeamgateFault("trap", message) from None
