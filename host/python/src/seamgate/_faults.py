"""Why no verdict could be given."""

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
    """What this package raises."""


class SeamgateFault(SeamgateError):
    """No verdict could be given. A mistake of the caller, or a limit that was passed; never a rejected output.

    Everything fails closed: no part of the output was accepted. A fault that programs handle in a way of its own is an
    instance of a subclass: `InvalidDocumentFault`, `UnknownAgentFault`, `BusyFault`, or `LimitFault` with its
    `TimeoutFault` and `InputTooLargeFault`. The code chooses the class, wherever the fault was raised.

    Attributes:
        code: The word for this fault, the same in every language.
        message: One sentence for a person. Not for programs: it may change.
        detail: What belongs to it, as in the JSON of a fault: `violations` of a request or contract, the `agents` that
            are registered, the `limit` that was passed (`timeout`'s in milliseconds), the `bytes` of the output.
    """

    def __new__(cls, code: FaultCode, message: str, detail: Mapping[str, Any] | None = None) -> Self:
        """Makes an instance of the class that the code has."""
        made = _KINDS.get(code, cls)
        # A user's own subclass stays what it is.
        return super().__new__(made if cls is SeamgateFault else cls, code, message, detail)  # type: ignore[return-value]

    def __init__(self, code: FaultCode, message: str, detail: Mapping[str, Any] | None = None) -> None:
        super().__init__(code, message, dict(detail or {}))
        self.code: FaultCode = code
        self.message = message
        self.detail: dict[str, Any] = dict(detail or {})

    @property
    def violations(self) -> tuple[Violation, ...]:
        """What is wrong and where, for faults that concern a document of the caller's."""
        from ._types import Violation

        found: list[dict[str, Any]] = self.detail.get("violations", [])
        return tuple(Violation(**{**each, "span": each["span"] and tuple(each["span"])}) for each in found)

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


class InvalidDocumentFault(SeamgateFault):
    """A request, a contract or a profile is invalid (`bad_request`, `bad_contract`, `bad_profile`): a mistake of the
    program, and the same each time. `violations` says what is wrong and where."""


class UnknownAgentFault(SeamgateFault):
    """No contract or profile is registered for this agent (`unknown_agent`)."""

    @property
    def agents(self) -> tuple[str, ...]:
        """The agents that have one, in ascending order."""
        return tuple(self.detail.get("agents", ()))

    def __str__(self) -> str:
        known = ", ".join(map(repr, self.agents[:_MOST_NAMED]))
        more = len(self.agents) - _MOST_NAMED
        if more > 0:
            known = f"{known} and {more} more"
        return f"{super().__str__()}; registered: {known or 'none'}"


class BusyFault(SeamgateFault):
    """All instances were at work for as long as a call may wait, or too many sessions are open (`busy`). The same call
    can succeed later."""


class LimitFault(SeamgateFault):
    """A call passed a limit (`out_of_fuel`, `out_of_memory`, `stack_overflow`, `timeout`, `input_too_large`). The same
    call passes it again, except for `TimeoutFault`."""

    @property
    def limit(self) -> int | None:
        """The limit, in units of fuel, bytes or milliseconds. `None` if the fault does not say it."""
        found: int | None = self.detail.get("limit")
        return found


class TimeoutFault(LimitFault):
    """A call took longer than `Limits.timeout_seconds` (`timeout`). On a less busy machine it can succeed."""


class InputTooLargeFault(LimitFault):
    """An output has more bytes than `Limits.output_bytes` (`input_too_large`). It did not enter the sandbox."""

    @property
    def size(self) -> int | None:
        """The bytes of the output. `None` if the fault does not say it."""
        found: int | None = self.detail.get("bytes")
        return found


# The most agents that a message names.
_MOST_NAMED = 8

# Other codes have no class of their own: `sealed` and `trap`.
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
    """The journal of a run cannot be read, or not be written. Nothing that it had is lost.

    Attributes:
        kind: `conflict`: another writer was there, so open the run again. `busy`: another process holds its lock.
            `exists`: it has a run already. `empty`: it has none. `newer`: a later seamgate wrote it. `other`: its run
            is of another profile, or of another component that decides a step differently. `damaged`: a line or an
            artifact is not as it was written. `failed`: the system does not let it be read or written.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(kind, message)
        self.kind = kind
        self.message = message

    def __str__(self) -> str:
        return self.message


class BackendError(SeamgateError):
    """What was asked for only the native backend has, and this platform has no native wheel."""


class LoadError(SeamgateError):
    """A gate cannot be made: the component is none, or not a validator, or does not answer."""
