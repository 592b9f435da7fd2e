"""Verdicts, and answers to requests that are JSON text."""

from __future__ import annotations

from ._limits import Usage
from ._records import dataclass, members
from ._report import Report

# As in the package's `__init__`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._types import Violation


@dataclass(frozen=True)
class Answer:
    """The answer to a request that is JSON text, and its resource usage.

    Attributes:
        json: One line of JSON text: `{"id":…,"report":{…}}`, `{"id":…,"result":…}` or `{"id":…,"fault":{…}}`.
        usage: The resource usage.
    """

    json: str
    usage: Usage


@dataclass(frozen=True)
class Verdict:
    """The verdict on one output, and its resource usage. It is truthy if the output is accepted.

    Attributes:
        report: The report.
        usage: The resource usage. It is separate from the report because reports are the same everywhere, and times are
            not.
    """

    report: Report
    usage: Usage

    def __bool__(self) -> bool:
        return self.report.success

    @property
    def success(self) -> bool:
        """True if the output is accepted; the same as `report.success`."""
        return self.report.success

    @property
    def data(self) -> Any:
        """The validated document; the same as `report.data`."""
        return self.report.data

    @property
    def violations(self) -> tuple[Violation, ...]:
        """The violations of the report."""
        return self.report.violations

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *members(Verdict)})

    def _repr_html_(self) -> str:
        return self.report._repr_html_()

    def unwrap(self) -> Any:
        """Returns the validated document of an accepted output; see `Report.unwrap`."""
        return self.report.unwrap()

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in members(Verdict)}


class Used:
    """The member `usage` of a verdict that the native module holds, computed on first access."""

    def __get__(self, verdict: Verdict | None, owner: type[Verdict]) -> Any:
        if verdict is None:
            return self
        held = verdict.__dict__
        handle = held["report"].__dict__.get("_handle") if "report" in held else None
        if handle is None:
            raise AttributeError(f"{owner.__name__!r} object has no attribute 'usage'")
        fuel, memory, elapsed, component = handle.usage()
        usage = held["usage"] = Usage(fuel, elapsed, component, memory)
        return usage
