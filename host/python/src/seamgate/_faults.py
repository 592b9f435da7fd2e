"""Exceptions of this package."""

from __future__ import annotations

# As in the package's `__init__`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from typing_extensions import Self

    from ._fault_code import FaultCode
    from ._types import Violation


class SeamgateError(Exception):
    """The base class of all exceptions that this package raises."""


class SeamgateFault(SeamgateError):
    """No verdict was possible, because of a mistake by the caller or an exceeded limit. Never a rejected output.

    Faults fail closed: no part of the output was accepted. Faults that programs may want to handle separately are
    instances of a subclass: `InvalidDocumentFault`, `UnknownAgentFault`, `BusyFault`, or `LimitFault` with its
    subclasses `TimeoutFault` and `InputTooLargeFault`. The code alone determines the class.

    Attributes:
        code: The code of the fault, the same in every language.
        message: One sentence for people. Programs must not parse it: it may change.
        detail: Further members, as in the JSON of a fault: `violations` of a request or contract, the registered
            `agents`, the `limit` that was exceeded (milliseconds for `timeout`), the `bytes` of the output.
    """

    def __new__(cls, code: FaultCode, message: str, detail: Mapping[str, Any] | None = None) -> Self:
        """Creates an instance of the class for the code."""
        made = _KINDS.get(code, cls)
        # A user's own subclass is kept.
        return super().__new__(made if cls is SeamgateFault else cls, code, message, detail)  # type: ignore[return-value]

    def __init__(self, code: FaultCode, message: str, detail: Mapping[str, Any] | None = None) -> None:
        super().__init__(code, message, dict(detail or {}))
        self.code: FaultCode = code
        self.message = message
        self.detail: dict[str, Any] = dict(detail or {})

    @property
    def violations(self) -> tuple[Violation, ...]:
        """The violations in the caller's document, for faults about a document."""
        from ._types import Violation

        found: list[dict[str, Any]] = self.detail.get("violations", [])
        return tuple(Violation(**{**each, "span": each["span"] and tuple(each["span"])}) for each in found)

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


class InvalidDocumentFault(SeamgateFault):
    """A request, a contract or a profile is invalid (`bad_request`, `bad_contract`, `bad_profile`). This is a bug in
    the program: the same call always fails. `violations` says what is wrong and where."""


class UnknownAgentFault(SeamgateFault):
    """No contract or profile is registered for this agent (`unknown_agent`)."""

    @property
    def agents(self) -> tuple[str, ...]:
        """The agents that have a contract or a profile, in ascending order."""
        return tuple(self.detail.get("agents", ()))

    def __str__(self) -> str:
        known = ", ".join(map(repr, self.agents[:_MOST_NAMED]))
        more = len(self.agents) - _MOST_NAMED
        if more > 0:
            known = f"{known} and {more} more"
        return f"{super().__str__()}; registered: {known or 'none'}"


class BusyFault(SeamgateFault):
    """No instance became free within the time that a call may wait, or too many sessions are open (`busy`). The same
    call can succeed later."""


class LimitFault(SeamgateFault):
    """A call exceeded a limit (`out_of_fuel`, `out_of_memory`, `stack_overflow`, `timeout`, `input_too_large`). The
    same call would exceed it again, except for `TimeoutFault`."""

    @property
    def limit(self) -> int | None:
        """The limit, in units of fuel, bytes or milliseconds. `None` if it is unknown."""
        found: int | None = self.detail.get("limit")
        return found


class TimeoutFault(LimitFault):
    """A call took longer than `Limits.timeout_seconds` (`timeout`). On a less busy machine it can succeed."""


class InputTooLargeFault(LimitFault):
    """An output has more bytes than `Limits.output_bytes` (`input_too_large`). It did not enter the sandbox."""

    @property
    def size(self) -> int | None:
        """The size of the output in bytes. `None` if it is unknown."""
        found: int | None = self.detail.get("bytes")
        return found


# The most agents that a message names.
_MOST_NAMED = 8

# The codes `sealed` and `trap` have no subclass.
_KINDS: dict[str, type[SeamgateFault]] = {
    "bad_request": InvalidDocumentFault,
    "bad_contract": InvalidDocumentFault,
    "bad_profile": InvalidDocumentFault,
    "unknown_agent": UnknownAgentFault,
    "busy": BusyFault,
    "out_of_fuel": LimitFault,
    "out_of_memory": LimitFault,
    "stack_overflow": LimitFault,
    "timeout": TimeoutFault,
    "input_too_large": InputTooLargeFault,
}


class FileError(SeamgateError):
    """A contract or a profile cannot be read from disk."""


class JournalError(SeamgateError):
    """The journal of a run cannot be read or written. No recorded line is lost.

    Attributes:
        kind: `conflict`: another writer has added lines, so open the run again. `busy`: another process holds its lock.
            `exists`: it already has a run. `empty`: it has no run. `newer`: a later version of seamgate wrote it.
            `other`: its run belongs to another profile, or to another component that decides a step differently.
            `damaged`: a line or an artifact was changed. `failed`: the system refused to read or write it.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(kind, message)
        self.kind = kind
        self.message = message

    def __str__(self) -> str:
        return self.message


class BackendError(SeamgateError):
    """The function requires the native backend, but this platform has no native wheel."""


class LoadError(SeamgateError):
    """A gate cannot be created: the component is invalid, is not a validator, or does not answer."""
