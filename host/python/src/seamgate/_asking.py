"""The outcome of a question to a model: the attempts, and one of four results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar, Union

from ._limits import Usage
from ._report import NotAcceptedError, Report
from ._types import Disposition, Violation

T = TypeVar("T")
D = TypeVar("D", covariant=True)

Messages = list[Any]
"""A conversation in the form that clients of models take: dicts with `role` and `content`."""

Prompt = str | Sequence[Mapping[str, Any]]
"""The question: a text, or a conversation whose last message is from the user."""

Stop = Literal["accepted", "refused", "not_retryable", "repeated", "limit", "timeout"]
"""The reason why a model is not asked again: `accepted`; `refused`: the model declined; `not_retryable`: another
attempt cannot help; `repeated`: two answers in a row had the same violations; `limit`: the contract allows no more
attempts, or another one could exceed the limit on the size of outputs; `timeout`: `timeout_seconds` has passed."""


@dataclass(frozen=True)
class Attempt:
    """One answer of the model and its verdict.

    Attributes:
        reply: The value that `call_llm` returned, with whatever else the client reports, such as the token usage.
        report: The report on this answer alone.
        violations: The violations that the gate or the type's own validators found.
        feedback: The feedback for the model. Empty if the model is not asked again.
        usage: The resources that the verdict used.
    """

    reply: object = field(repr=False)
    report: Report = field(repr=False)
    violations: tuple[Violation, ...]
    feedback: str
    usage: Usage = field(repr=False)


@dataclass(frozen=True)
class _Result:
    """The members that all results share.

    Attributes:
        report: The report on all attempts together. It may accept a document that the type's own validators rejected;
            items that they reject are in quarantine.
        violations: The violations that the gate or the type's own validators found.
        feedback: The feedback for the model. Empty if the answer is accepted.
        stop: The reason why the model was not asked again.
        attempts: All attempts, in order.
        usage: The resources that all verdicts used together.
        messages: The conversation including the last answer, to be continued.
    """

    report: Report = field(repr=False)
    violations: tuple[Violation, ...]
    feedback: str
    stop: Stop
    attempts: tuple[Attempt, ...] = field(repr=False)
    usage: Usage = field(repr=False)
    messages: Messages = field(repr=False)

    def _repr_html_(self) -> str:
        from ._html import result_html

        about = f"{self.report.agent}, stop: {self.stop}, attempts: {len(self.attempts)}"
        return result_html(type(self).__name__, about, getattr(self, "data", None), self.violations)

    def unwrap(self) -> Any:
        """Returns `data` of an accepted answer.

        Raises:
            NotAcceptedError: The answer is not accepted.
        """
        raise NotAcceptedError(self.report, self.violations, self.feedback)


@dataclass(frozen=True)
class Accepted(_Result, Generic[D]):
    """The answer is valid. This result is truthy; all others are falsy.

    Attributes:
        data: The validated document; if a type was given, an instance of it.
    """

    data: D
    success: Literal[True] = True
    disposition: Literal[Disposition.ACCEPTED] = Disposition.ACCEPTED

    def __bool__(self) -> Literal[True]:
        return True

    def unwrap(self) -> D:
        """Returns `data`."""
        return self.data


@dataclass(frozen=True)
class Partial(_Result, Generic[D]):
    """Part of the answer is invalid, or its syntax was repaired: `report` says what is in quarantine and what changed.
    This result is falsy, because a person should check the document before its use.

    Attributes:
        data: The valid part; if a type was given, an instance of it.
    """

    data: D
    success: Literal[False] = False
    disposition: Literal[Disposition.PARTIAL] = Disposition.PARTIAL

    def __bool__(self) -> Literal[False]:
        return False


@dataclass(frozen=True)
class Refused(_Result):
    """The model declined to answer. That is not an error. This result is falsy.

    Attributes:
        refusal: The model's words.
        data: None.
    """

    refusal: str
    data: None = None
    success: Literal[False] = False
    disposition: Literal[Disposition.REFUSED] = Disposition.REFUSED

    def __bool__(self) -> Literal[False]:
        return False


@dataclass(frozen=True)
class Rejected(_Result):
    """No answer is valid. This result is falsy.

    Attributes:
        data: None.
    """

    data: None = None
    success: Literal[False] = False
    disposition: Literal[Disposition.REJECTED] = Disposition.REJECTED

    def __bool__(self) -> Literal[False]:
        return False


AskResult = Union[Accepted[T], Partial[T], Refused, Rejected]  # noqa: UP007 - a type with a parameter, in Python 3.10
"""The result of a question. Its class, `success` and `disposition` say which of the four kinds it is."""
