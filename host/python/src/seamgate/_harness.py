"""The retry loop: asks a producer, judges its output, sends feedback, and asks again up to a limit."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ._aliases import Evidence, Lists, Output
from ._arguments import agent as _agent
from ._arguments import wrong
from ._faults import JournalError
from ._raising import unfit_is_a_fault
from ._report import NotAcceptedError, Report
from ._requests import _bytes_of, _evidence, _finish_word, _lists
from ._types import Finish, Violation
from ._verdict import Verdict

if TYPE_CHECKING:
    from ._native_engine import NativeEngine


@dataclass(frozen=True)
class Produced:
    """The output of a producer, and the reason why the producer stopped."""

    output: Output
    finish: Finish | str | None = Finish.UNKNOWN


@dataclass(frozen=True)
class RunJournal:
    """A file that records the attempts of a run, as `seamgate run --journal` does (`schemas/journal.schema.json`).

    Attributes:
        path: The file. A line is appended and synced for each attempt and each decision.
        resume: If True, the last run of the file is resumed, if there is one, without repeating its attempts.
        keep_outputs: If True, each output is kept in a file beside the journal.
        producer: Identifies the producer, for example by the name of the model. A run resumes only with the same
            producer.
        prompt: The prompt. Only its digest is stored. A run resumes only with the same prompt.
    """

    path: str | os.PathLike[str]
    resume: bool = False
    keep_outputs: bool = False
    producer: str = ""
    prompt: str = ""


@dataclass(frozen=True)
class Outcome:
    """How a run ended.

    Attributes:
        report: The verdict on all attempts together.
        attempts: The number of attempts.
        stop: Why the run ended: `accepted`; `partial`, which the caller allows; `refused`; `not_retryable`: another
            attempt cannot help; `repeated`: two attempts had the same violations; `limit`: the contract's `retry.limit`
            is reached.
    """

    report: Report
    attempts: int
    stop: Literal["accepted", "partial", "refused", "not_retryable", "repeated", "limit"]

    @property
    def success(self) -> bool:
        """True if the document may be used: it is accepted, or partial and the caller allows that."""
        return self.stop in ("accepted", "partial")

    @property
    def violations(self) -> tuple[Violation, ...]:
        """The violations of the report."""
        return self.report.violations

    @property
    def data(self) -> Any:
        """The validated document. None if it must not be used."""
        return self.report.output if self.success else None

    def __bool__(self) -> bool:
        return self.success

    def unwrap(self) -> Any:
        """Returns the validated document.

        Raises:
            NotAcceptedError: The document must not be used.
        """
        if self.success:
            return self.report.output
        raise NotAcceptedError(self.report, self.report.violations, self.report.feedback)


Produce = Callable[[str | None], "Produced | str | bytes"]
"""A function that asks the producer. It receives the feedback on the last output, and None at first."""

ProduceLater = Callable[[str | None], Awaitable["Produced | str | bytes"]]
"""The same, for asynchronous producers."""


class Attempts:
    """The attempts of one run, and its journal."""

    def __init__(
        self,
        engine: NativeEngine,
        agent: str,
        lists: Lists | None,
        evidence: Evidence | None,
        allow_partial: bool,
        journal: RunJournal | str | os.PathLike[str] | None,
        watched: Callable[..., Verdict],
    ) -> None:
        self._watched = watched
        given = None if lists is None else _lists(lists)
        seen = None if evidence is None else _evidence(evidence)
        if journal is not None and not isinstance(journal, (RunJournal, str, os.PathLike)):
            raise wrong("journal", "`RunJournal` or the path of a file", journal)
        kept = journal if journal is None or isinstance(journal, RunJournal) else RunJournal(journal)
        where = kept and (os.fspath(kept.path), kept.resume, kept.keep_outputs, kept.producer, kept.prompt)
        self._native: Any = _raising(engine.native.attempts, _agent(agent), given, seen, allow_partial, where)

    def next(self) -> tuple[str | None, str | None]:
        """Returns the reason to stop, if any, and the feedback for the producer. Records the decision in the
        journal."""
        stop: tuple[str | None, str | None] = _raising(self._native.next)
        return stop

    def judge(self, produced: Produced | str | bytes) -> Verdict:
        """Judge the next output."""
        if not isinstance(produced, Produced):
            produced = Produced(produced)
        return self._watched(self._judged, _bytes_of(produced.output), _finish_word(produced.finish))

    def _judged(self, output: str | bytes, finish: str) -> Verdict:
        verdict: Verdict = _raising(self._native.judge, output, finish)
        return verdict

    def failed(self, error: BaseException) -> None:
        """Record that the producer raised an exception."""
        _raising(self._native.failed, f"{type(error).__name__}: {error}".encode(errors="replace").decode())

    def report(self) -> Report:
        """Returns the verdict on all attempts together."""
        return Report.from_json(self._native.report())

    def outcome(self, stop: Any) -> Outcome:
        """Returns how the run ended."""
        return Outcome(self.report(), self._native.count, stop)


def run(attempts: Attempts, produce: Produce) -> Outcome:
    """Ask until there is a reason to stop."""
    while True:
        stop, feedback = attempts.next()
        if stop is not None:
            return attempts.outcome(stop)
        try:
            produced = produce(feedback)
        except BaseException as error:
            attempts.failed(error)
            raise
        attempts.judge(produced)


async def run_async(attempts: Attempts, produce: ProduceLater) -> Outcome:
    """The same, but other tasks continue while the producer works and while its output is judged."""
    import asyncio

    while True:
        stop, feedback = attempts.next()
        if stop is not None:
            return attempts.outcome(stop)
        try:
            produced = await produce(feedback)
        except BaseException as error:
            attempts.failed(error)
            raise
        await asyncio.to_thread(attempts.judge, produced)


def _raising(call: Any, *arguments: Any) -> Any:
    """Call the native module, and convert its journal errors to `JournalError`."""
    from . import _native

    try:
        return unfit_is_a_fault(call, *arguments)
    except _native.JournalFault as error:
        raise JournalError(*error.args) from None
