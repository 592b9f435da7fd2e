"""Reports, and reading the types of a report from JSON."""

from __future__ import annotations

import enum
import functools
import sys
import types

from . import _json
from ._arguments import wrong
from ._faults import SeamgateError
from ._located import Located, Source, locate
from ._records import dataclass, field, hints, members
from ._types import Disposition, ReportDocument, Span

# As in the package's `__init__`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeVar

    from ._types import Violation

    T = TypeVar("T")
    Converter = Callable[[Any, str], Any]


@dataclass(frozen=True)
class Report(ReportDocument):
    """The verdict on one output. It is data, never an exception. It is truthy if the output is accepted, like
    `success`.

    Integers in `output` are exact, and other numbers are floats. `output_json` has the digits as written.

    Attributes:
        json: The report as JSON text, the same bytes as in every other runtime.
        output_json: `output` as JSON text, with the digits of numbers as written. None if `output` is None.
        raw: The output that was judged, as text, with U+FFFD for bytes that are not UTF-8.
    """

    json: str = field(repr=False, compare=False)
    output_json: str | None = field(repr=False, compare=False)
    raw: str = field(repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _LAZY}

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *_LAZY})

    def _repr_html_(self) -> str:
        from ._html import result_html

        return result_html(self.disposition.value, self.agent, self.output, self.violations)

    @classmethod
    def from_json(cls, text: str, raw: str = "") -> Report:
        """Read a report from JSON text.

        Args:
            text: The JSON text, as in `json`.
            raw: The output that was judged, for `raw`.

        Raises:
            ValueError: The text is not a report.
        """
        if not isinstance(text, str):
            raise wrong("text", "the JSON text of a report", text)
        return cls._read(text, raw)

    @classmethod
    def _read(cls, text: str, output: str | bytes) -> Report:
        """Reads a report on an output that is given in its original form."""
        given: dict[str, Any] = {}
        texts: dict[str, str] = {}
        for name, value, source in _json.members(text):
            given[name], texts[name] = value, source
        if list(given) != _MEMBERS:
            raise ValueError(f"a report has the members {', '.join(_MEMBERS)}, in this order")
        read = {name: _from()[name](value, name) for name, value in given.items()}
        emits = read["disposition"] in (Disposition.ACCEPTED, Disposition.PARTIAL)
        if not emits and read["output"] is not None:
            raise ValueError("`output` is there where nothing is emitted")
        if (read["error"] is not None) != (read["disposition"] is Disposition.REJECTED):
            raise ValueError("`error` is there where nothing is rejected, or not where something is")
        if output:
            locate(Source(output), _located(read))
        report = cls(**read, json=text, output_json=texts["output"] if emits else None, raw=_raw(output))
        report.__dict__["_output"] = output
        return report

    def _amended(self, text: str) -> Report:
        """Reads another report on the same output."""
        return Report._read(text, _given(self))

    @property
    def success(self) -> bool:
        """True if the output is accepted. False for a partial output, which a person should check before its use."""
        return self.disposition is _ACCEPTED

    def __bool__(self) -> bool:
        return self.success

    @property
    def data(self) -> Any:
        """The validated document, the same as `output`. A partial output has one as well."""
        return self.output

    @property
    def violations(self) -> tuple[Violation, ...]:
        """The violations that rejected the output or put items in quarantine. Empty if it is accepted."""
        if self.error is not None and self.error.violations:
            return self.error.violations
        return tuple(violation for item in self.quarantined for violation in item.violations)

    def unwrap(self) -> Any:
        """Returns the validated document of an accepted output.

        Raises:
            NotAcceptedError: The output is not accepted. The error holds this report.
        """
        if self.success:
            return self.output
        raise NotAcceptedError(self, self.violations, self.feedback)


class NotAcceptedError(SeamgateError):
    """`unwrap` was called on an output that is not accepted.

    Attributes:
        report: The report on it.
        violations: The violations in the report, or those that the type's own validators found.
        feedback: The feedback for the producer.
    """

    def __init__(self, report: Report, violations: tuple[Violation, ...], feedback: str) -> None:
        super().__init__(report, violations, feedback)
        self.report = report
        self.violations = violations
        self.feedback = feedback

    def __str__(self) -> str:
        word = "rejected" if self.report.success else self.report.disposition.value
        return f"the output is {word}" + (f": {self.violations[0]}" if self.violations else "")


def record(cls: type[T], value: object, where: str) -> T:
    """Converts a JSON object to a record of this package.

    Raises:
        ValueError: The object does not match the record.
    """
    converted: T = _converter(cls)(value, where)
    return converted


def _converter(hint: Any) -> Converter:
    """Returns a function that converts a JSON value to this type, or raises ValueError."""
    known = _CONVERTERS.get(hint)
    if known is None:
        known = _CONVERTERS[hint] = _make(hint)
    return known


# None means any type.
_CONVERTERS: dict[Any, Converter] = {None: lambda value, where: value}


def _make(hint: Any) -> Converter:
    origin: Any = getattr(hint, "__origin__", None)
    arguments: tuple[Any, ...] = getattr(hint, "__args__", ())
    # If a type comes from `typing`, its module has imported it.
    typing = sys.modules.get("typing")
    if typing is not None and origin is typing.Literal:
        return lambda value, where: _one_of(arguments, value, where)
    if origin is dict:
        inner = _converter(arguments[1])
        return lambda value, where: {name: inner(of, name) for name, of in _of(dict, value, where).items()}
    if isinstance(hint, types.UnionType) or (typing is not None and origin is typing.Union):
        inner = _converter(arguments[0])
        return lambda value, where: None if value is None else inner(value, where)
    if hint == Span:
        return _span
    if origin is tuple:
        each = _converter(arguments[0])
        return lambda value, where: tuple(each(item, where) for item in _of(list, value, where))
    known = members(hint)
    if known:
        fields = {name: _converter(of) for name, of in hints(hint).items()}
        required = {name for name, member in known.items() if member.is_required}
        return lambda value, where: _object(hint, fields, required, value, where)
    if issubclass(hint, enum.Enum):
        return lambda value, where: hint(value)
    return lambda value, where: _of(hint, value, where)


def _of(kind: type[T], value: object, where: str) -> T:
    # `True` is an integer in Python, but not in JSON.
    if type(value) is not kind:
        raise ValueError(f"`{where}` must be of type {kind.__name__}, not {type(value).__name__}")
    return value


def _span(value: Any, where: str) -> Span:
    start, end = _of(list, value, where)
    return _of(int, start, where), _of(int, end, where)


def _one_of(words: tuple[Any, ...], value: object, where: str) -> object:
    if value not in words:
        raise ValueError(f"`{where}` must be one of {', '.join(words)}")
    return value


def _object(cls: Any, fields: dict[str, Converter], required: set[str], value: Any, where: str) -> Any:
    if not required <= _of(dict, value, where).keys() <= fields.keys():
        raise ValueError(f"`{where}` must have the members {', '.join(fields)}")
    return cls(**{name: fields[name](of, name) for name, of in value.items()})


@functools.cache
def _from() -> dict[str, Converter]:
    """Returns the converter of each member of a report. Not computed at import, because it takes milliseconds."""
    return {name: _converter(hint) for name, hint in hints(ReportDocument).items()}


_MEMBERS = list(members(ReportDocument))
_LAZY = frozenset([*_MEMBERS, "json", "output_json", "raw"])
_ACCEPTED = Disposition.ACCEPTED


class _Lazy:
    """A member of a report that the native module holds, computed on first access."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, report: Report | None, owner: type[Report]) -> Any:
        if report is None:
            return self
        name, held = self._name, report.__dict__
        handle = held.get("_handle")
        if handle is None:
            raise AttributeError(f"{owner.__name__!r} object has no attribute {name!r}")
        if name == "output_json":
            value = handle.output
        elif name == "feedback":
            value = handle.feedback
        elif name == "raw":
            value = _raw(handle.given)
        elif name == "json":
            value = handle.json()
        else:
            whole = Report._read(report.json, handle.given).__dict__
            held.update({member: whole[member] for member in whole if member not in held and member != "raw"})
            return held[name]
        held[name] = value
        return value


def held_natively(output: object) -> None:
    """Makes reports compute their members on first access.

    Args:
        output: The descriptor of the member `output`.
    """
    setattr(Report, "output", output)  # noqa: B010
    # The disposition is set from the beginning.
    for name in _LAZY - {"output", "disposition"}:
        setattr(Report, name, _Lazy(name))


def _given(report: Report) -> str | bytes:
    """Returns the judged output in its original form."""
    held = report.__dict__
    handle = held.get("_handle")
    given: str | bytes = held.get("_output", report.raw) if handle is None else handle.given
    return given


def _located(read: dict[str, Any]) -> Iterator[Located]:
    """Yields all parts of a report that have a position in the output."""
    if read["error"] is not None:
        yield from read["error"].violations
    for item in read["quarantined"]:
        yield item
        yield from item.violations
    for name in ("items", "changes", "candidates"):
        yield from read[name]


def _raw(output: str | bytes) -> str:
    if isinstance(output, str):
        try:
            output.encode()
            return output
        except UnicodeEncodeError:
            output = output.encode("utf-8", "surrogatepass")
    return output.decode(errors="replace")
