"""What a question to a model comes to: attempts, and one of four results."""

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
"""A conversation, as the clients of models take it: dicts with `role` and `content`."""

Prompt = str | Sequence[Mapping[str, Any]]
"""What is asked for: a text; or a conversation, which ends with the user."""

Stop = Literal["accepted", "refused", "not_retryable", "repeated", "limit", "timeout"]
"""Why a model is asked no more: `accepted`; `refused`, it declined; `not_retryable`, another attempt cannot help;
`repeated`, the same was wrong twice in a row; `limit`, there were as many attempts as the contract allows, or so long
ones that the next would pass the limit on outputs; `timeout`, the time of `timeout_seconds` was over."""


@dataclass(frozen=True)
class Attempt:
    """One answer of the model, and what was made of it.

    Attributes:
        reply: What `call_llm` returned, with what else its client says: for one, how many tokens were used.
        report: The report on this answer alone.
        violations: What is wrong with it: what the gate says, and what the type's own validators do.
        feedback: What the model was told; empty where it is asked no more.
        usage: What it took to judge it.
    """

    reply: object = field(repr=False)
    report: Report = field(repr=False)
    violations: tuple[Violation, ...]
    feedback: str
    usage: Usage = field(repr=False)


@dataclass(frozen=True)
class _Result:
    """What all results have.

    Attributes:
        report: The report on all attempts together. It may accept what the type's own validators then rejected; items
            that they reject are in quarantine.
        violations: What is wrong: as the gate says, or as the model's own validators do.
        feedback: What to tell the model. Empty where it is accepted.
        stop: Why it was asked no more.
        attempts: Every attempt, in order.
        usage: What it took to judge them, in all.
        messages: The conversation, with the last answer, to go on with.
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
            NotAcceptedError: It is not accepted.
        """
        raise NotAcceptedError(self.report, self.violations, self.feedback)


@dataclass(frozen=True)
class Accepted(_Result, Generic[D]):
    """The answer is valid. It is true, and all other results are false.

    Attributes:
        data: The validated document, an instance of the type where one was given.
    """

    data: D
    success: Literal[True] = True
    disposition: Literal[Disposition.ACCEPTED] = Disposition.ACCEPTED

    def __bool__(self) -> Literal[True]:
        return True

    def unwrap(self) -> D:
        """Returns the validated document, or its instance."""
        return self.data


@dataclass(frozen=True)
class Partial(_Result, Generic[D]):
    """Not all of the answer is valid, or its syntax was repaired: `report` says what is in quarantine and what changed.
    It is false: somebody should look before its use.

    Attributes:
        data: What is valid, an instance of the type where one was given.
    """

    data: D
    success: Literal[False] = False
    disposition: Literal[Disposition.PARTIAL] = Disposition.PARTIAL

    def __bool__(self) -> Literal[False]:
        return False


@dataclass(frozen=True)
class Refused(_Result):
    """The model declined. That is no failure, and it is false.

    Attributes:
        refusal: Its words.
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
    """No answer is valid. It is false.

    Attributes:
        data: None.
    """

    data: None = None
    success: Literal[False] = False
    disposition: Literal[Disposition.REJECTED] = Disposition.REJECTED

    def __bool__(self) -> Literal[False]:
        return False


AskResult = Union[Accepted[T], Partial[T], Refused, Rejected]  # noqa: UP007 - a type with a parameter, in Python 3.10
"""What became of a question. `success`, `disposition` and its class say which of four it is."""
