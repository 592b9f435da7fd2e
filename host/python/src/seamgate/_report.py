"""The words of `schemas/report.schema.json` as Python types."""

from __future__ import annotations

import dataclasses
import enum
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from . import _json

T = TypeVar("T")

Span = tuple[int, int]
"""Byte offsets into the output as UTF-8, the end exclusive."""


class Disposition(str, enum.Enum):
    """What became of an output."""

    ACCEPTED = "accepted"
    """The document is valid: `Report.output` is it."""
    PARTIAL = "partial"
    """Some items are in quarantine, or the text had to be repaired: look before use."""
    REJECTED = "rejected"
    """Nothing is emitted: `Report.error` says why."""
    REFUSED = "refused"
    """The producer declined to answer. A first-class outcome, not a failure."""


class Finish(str, enum.Enum):
    """Why the producer stopped, as its API said.

    Where one is taken, so is the API's own word as a str: `end_turn`, `MAX_TOKENS`, `tool_calls` …
    (`schemas/request.schema.json` has them all).
    """

    STOP = "stop"
    LENGTH = "length"
    REFUSAL = "refusal"
    CONTENT_FILTER = "content_filter"
    TOOL_CALL = "tool_call"
    UNKNOWN = "unknown"


class ErrorKind(str, enum.Enum):
    """Which of the three stages rejected the output."""

    OUTPUT_VALIDATION_FAILED = "output_validation_failed"
    EXTRACTION_FAILED = "extraction_failed"
    MALFORMED_JSON = "malformed_json"


class QuarantineReason(str, enum.Enum):
    """Why an item is in quarantine: the first check that it failed, in this order."""

    MALFORMED = "malformed"
    SCHEMA = "schema"
    GUARDRAIL = "guardrail"
    ALLOW_LIST = "allow_list"
    OVER_LIMIT = "over_limit"


class Source(str, enum.Enum):
    """How a candidate was found."""

    BLOCK = "block"
    RAW = "raw"
    EMBEDDED = "embedded"


@dataclass(frozen=True)
class Violation:
    """One thing that is wrong.

    Attributes:
        path: Where in the document, as a JSONPath: `$.citations[0].url`.
        keyword: The keyword of the schema, or the check of the gate, that is not met.
        expected: What would be right, short.
        received: What was there instead, cut to 256 bytes.
        message: One sentence for a person.
        pointer: The same place as a JSON Pointer.
        schema_path: The keyword's place in the schema; empty where no keyword is concerned.
        span: The piece of the output concerned, where there is one.
    """

    path: str
    keyword: str
    expected: str
    received: str
    message: str
    pointer: str
    schema_path: str
    span: Span | None

    def __str__(self) -> str:
        return f"{self.path} {self.message}"


@dataclass(frozen=True)
class OutputError:
    """Why an output is rejected.

    Attributes:
        error: Which stage rejected it.
        schema_id: The schema's `$id`, where it has one.
        agent_id: Whose output it is.
        violations: At most 100, in document order.
        raw_output: The output, cut to 4,096 bytes; the cut says how much is left out.
        retryable: Whether another attempt by the same producer can help.
    """

    error: ErrorKind
    schema_id: str | None
    agent_id: str
    violations: tuple[Violation, ...]
    raw_output: str
    retryable: bool


@dataclass(frozen=True)
class Item:
    """One item that is valid, of a document that is not.

    Attributes:
        index: Its place among the items as the producer wrote them, from 0.
        path: Where it stood.
        span: The piece of the output.
        value: The item.
    """

    index: int
    path: str
    span: Span | None
    value: Any


@dataclass(frozen=True)
class Quarantined:
    """One item that was kept out of `Report.output`.

    Attributes:
        index: Its place among the items as the producer wrote them, from 0.
        path: Where it stood.
        reason: The first check that it failed.
        span: The piece of the output.
        snippet: Its text, cut to 256 bytes.
        violations: What is wrong by that check, at most 10.
    """

    index: int
    path: str
    reason: QuarantineReason
    span: Span | None
    snippet: str
    violations: tuple[Violation, ...]


@dataclass(frozen=True)
class Change:
    """One change that was made to the text before it was validated.

    Attributes:
        kind: What was done: `closed`, `comma_added`, `item_removed` … (`wit/types.wit` has them all).
        path: The innermost value concerned.
        span: The piece of the output.
        before: What stood there, cut to 256 bytes.
        after: What stands there instead, whole.
    """

    kind: str
    path: str
    span: Span | None
    before: str
    after: str


@dataclass(frozen=True)
class Candidate:
    """A piece of the output that could be the JSON asked for.

    Attributes:
        source: How it was found.
        marker: The contract's marker that the block bears; None for other sources.
        span: The piece of the output.
        chosen: Whether this one was judged.
    """

    source: Source
    marker: str | None
    span: Span
    chosen: bool


@dataclass(frozen=True)
class Report:
    """The verdict on one output. Data, never an exception.

    Attributes:
        disposition: What became of the output.
        agent: Whose output it is.
        schema_id: The schema's `$id`, where it has one.
        contract: The digest of the contract, `sha256:` and 64 hexadecimal digits.
        output: The validated document; None unless something was accepted. Integers are exact, other numbers are
            floats: `output_json` has the digits that were written.
        error: None unless violations rejected the output.
        items: The items that are valid, where the output is rejected.
        quarantined: The items that are kept out of `output`, at most 1,000.
        changes: What was changed in the text before it was validated.
        candidates: The candidates found, chosen or not, at most 65.
        notes: What else a caller should know: limits that were reached, checks that were inert.
        review_required: Whether a person should look before the output is used: it is partial.
        feedback: At most 2,048 bytes to send back to the producer. Empty where accepted.
        json: The report as JSON text, the same bytes as in every other runtime.
        output_json: `output` as JSON text, numbers with the digits they were written with; None where `output` is.
        raw: The output that was judged, as text: U+FFFD stands where its bytes were not UTF-8.
    """

    disposition: Disposition
    agent: str
    schema_id: str | None
    contract: str
    output: Any
    error: OutputError | None
    items: tuple[Item, ...]
    quarantined: tuple[Quarantined, ...]
    changes: tuple[Change, ...]
    candidates: tuple[Candidate, ...]
    notes: tuple[str, ...]
    review_required: bool
    feedback: str
    json: str = field(repr=False, compare=False)
    output_json: str | None = field(repr=False, compare=False)
    raw: str = field(repr=False, compare=False)

    @classmethod
    def from_json(cls, text: str, raw: str = "") -> Report:
        """Read a report that is JSON text.

        Args:
            text: As `json` has it.
            raw: The output that it is about, for `raw`.

        Raises:
            ValueError: It is no report.
        """
        given: dict[str, Any] = {}
        texts: dict[str, str] = {}
        for name, value, source in _json.members(text):
            given[name], texts[name] = value, source
        if list(given) != _MEMBERS:
            raise ValueError(f"a report has the members {', '.join(_MEMBERS)}, in this order")
        read = {name: _FROM[name](value, name) for name, value in given.items()}
        emits = read["disposition"] in (Disposition.ACCEPTED, Disposition.PARTIAL)
        if not emits and read["output"] is not None:
            raise ValueError("`output` is there where nothing is emitted")
        if (read["error"] is not None) != (read["disposition"] is Disposition.REJECTED):
            raise ValueError("`error` is there where nothing is rejected, or not where something is")
        return cls(**read, json=text, output_json=texts["output"] if emits else None, raw=raw)

    @property
    def success(self) -> bool:
        """Whether the output is accepted as it stands. A partial one is not: somebody should look before its use."""
        return self.disposition is Disposition.ACCEPTED

    @property
    def data(self) -> Any:
        """The validated document, the same as `output`. It is there where the output is partial, too."""
        return self.output

    @property
    def validation_errors(self) -> tuple[Violation, ...]:
        """What is wrong with a document that was found and read; empty where none was."""
        if self.error is None or self.error.error is not ErrorKind.OUTPUT_VALIDATION_FAILED:
            return ()
        return self.error.violations

    @property
    def extraction_error(self) -> str | None:
        """Why no document could be read, in a sentence: there is no candidate, or it is not JSON."""
        if self.error is None or self.error.error is ErrorKind.OUTPUT_VALIDATION_FAILED:
            return None
        return str(self.error.violations[0]) if self.error.violations else self.error.error.value


@dataclass(frozen=True)
class ContractInfo:
    """A registered contract.

    Attributes:
        agent: Whose outputs it judges.
        version: Its version.
        schema_id: The schema's `$id`, where it has one.
        contract: Its digest, as in `Report.contract`.
        retry_limit: How often the producer may be asked again.
        lists: The lists that its `allow` names, in ascending order.
    """

    agent: str
    version: str
    schema_id: str | None
    contract: str
    retry_limit: int
    lists: tuple[str, ...]


@dataclass(frozen=True)
class LintWarning:
    """Something in a contract that works and is likely a mistake.

    Attributes:
        path: Where in the contract, as a JSONPath.
        code: Which kind: a word that a program can compare.
        message: What to do about it.
        pointer: The same place as a JSON Pointer.
    """

    path: str
    code: str
    message: str
    pointer: str


def record(cls: type[T], value: object, where: str) -> T:
    """A record of ours from the object that it is in JSON.

    Raises:
        ValueError: It is none.
    """
    converted: T = _converter(cls)(value, where)
    return converted


Converter = Callable[[Any, str], Any]


def _converter(hint: Any) -> Converter:
    """What makes a value of this type from the one that it is in JSON, or raises ValueError."""
    known = _CONVERTERS.get(hint)
    if known is None:
        known = _CONVERTERS[hint] = _make(hint)
    return known


_CONVERTERS: dict[Any, Converter] = {Any: lambda value, where: value}


def _make(hint: Any) -> Converter:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        inner = _converter(arguments[0])
        return lambda value, where: None if value is None else inner(value, where)
    if hint == Span:
        return _span
    if origin is tuple:
        each = _converter(arguments[0])
        return lambda value, where: tuple(each(item, where) for item in _of(list, value, where))
    if dataclasses.is_dataclass(hint):
        hints = typing.get_type_hints(hint)
        fields = {name: _converter(of) for name, of in hints.items()}
        return lambda value, where: _object(hint, fields, value, where)
    if issubclass(hint, enum.Enum):
        return lambda value, where: hint(value)
    return lambda value, where: _of(hint, value, where)


def _of(kind: type[T], value: object, where: str) -> T:
    # `True` is an integer to Python, and none in JSON.
    if type(value) is not kind:
        raise ValueError(f"`{where}` must be of type {kind.__name__}, not {type(value).__name__}")
    return value


def _span(value: Any, where: str) -> Span:
    start, end = _of(list, value, where)
    return _of(int, start, where), _of(int, end, where)


def _object(cls: Any, fields: dict[str, Converter], value: Any, where: str) -> Any:
    if _of(dict, value, where).keys() != fields.keys():
        raise ValueError(f"`{where}` must have the members {', '.join(fields)}")
    return cls(**{name: convert(value[name], name) for name, convert in fields.items()})


_BESIDE = ("json", "output_json", "raw")
_FROM = {name: _converter(hint) for name, hint in typing.get_type_hints(Report).items() if name not in _BESIDE}
_MEMBERS = list(_FROM)
