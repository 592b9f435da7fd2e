"""Why no verdict could be given."""

from __future__ import annotations

# As in the package's `__init__`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ._fault_code import FaultCode
    from ._types import Violation


class SeamgateError(Exception):
    """What this package raises."""


class SeamgateFault(SeamgateError):
    """No verdict could be given. A mistake of the caller, or a limit that was passed; never a rejected output.

    Everything fails closed: no part of the output was accepted.

    Attributes:
        code: The word for this fault, the same in every language.
        message: One sentence for a person. Not for programs: it may change.
        detail: What belongs to it, as in the JSON of a fault: `violations` of a request or contract, the `agents` that
            are registered, the `limit` that was passed (`timeout`'s in milliseconds), the `bytes` of the output.
    """

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


class FileError(SeamgateError):
    """A contract or a profile cannot be read from disk."""


class JournalError(SeamgateError):
    """The journal of a run cannot be read, or not be written. Nothing that it had is lost.

    Attributes:
        kind: `conflict`: another writer was there, so open the run again. `busy`: another process holds its lock.
            `exists`: it has a run already. `empty`: it has none. `newer`: a later seamgate wrote it. `other`: its run
            is of another profile or component. `damaged`: a line or an artifact is not as it was written. `failed`: the
            system does not let it be read or written.
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
