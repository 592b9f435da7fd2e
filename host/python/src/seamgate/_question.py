"""A conversation with one model, and the verdict on all its answers together."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from . import _arguments, _watch
from ._aliases import Evidence, Lists
from ._asking import Accepted, AskResult, Attempt, Messages, Partial, Prompt, Refused, Rejected, Stop
from ._clients import Said, said
from ._feedback import feedback
from ._gate import Gate, gate_of
from ._judge import judge_of
from ._limits import Usage
from ._own import of_attempt, read
from ._report import Report
from ._requests import _lists, _observations
from ._types import Disposition, Violation, Wanted

if TYPE_CHECKING:
    from ._session import DeadEnd, Session


class Question:
    """A conversation with one model, and the verdict on all its answers together."""

    def __init__(
        self,
        of: Any,
        call_llm: Callable[[Messages], object],
        prompt: Prompt,
        contract: Mapping[str, Any] | None,
        gate: Gate | None,
        lists: Lists | None,
        evidence: Evidence | None,
        type_first: bool,
        timeout_seconds: float | None,
        on_attempt: Callable[[Attempt], object] | None,
    ) -> None:
        _arguments.called("call_llm", call_llm)
        self._on_attempt = None if on_attempt is None else _arguments.called("on_attempt", on_attempt)
        self._seconds = _arguments.seconds("timeout_seconds", timeout_seconds)
        self._end = None if self._seconds is None else time.monotonic() + self._seconds
        self._by = None if gate is None else gate_of(gate)
        self._judge = judge_of(of, contract, self._by, type_first)
        self._gate, self._agent = self._judge.gate, self._judge.agent
        self._retries = self._gate.contract(self._agent).retry_limit
        self._lists = None if lists is None else _lists(lists)
        self._evidence = None if evidence is None else _observations(evidence)
        self._messages = _asking(prompt, self._judge.wanted())
        # The reports that the next answer is merged with.
        self._reports: list[Report] = []
        self._attempts: list[Attempt] = []
        self._wrong: object = None
        self._bytes = 0
        self._last: tuple[Report, Any, tuple[Violation, ...], str] | None = None

    def left(self) -> float | None:
        """Returns the seconds that are left."""
        return None if self._end is None else max(0.0, self._end - time.monotonic())

    def is_late(self) -> bool:
        """Returns whether the time limit has expired."""
        return self.left() == 0

    def late(self) -> AskResult[Any]:
        """Returns the result after a timeout.

        Raises:
            TimeoutError: There was no answer.
        """
        if self._last is None:
            raise TimeoutError(f"there was no answer within {self._seconds:g} s (timeout_seconds)")
        return self._result(*self._last, "timeout")

    def told(self, result: AskResult[Any] | None) -> object:
        """Reports the last attempt to the logger and the hook."""
        stop = None if result is None else result.stop
        last = self._attempts[-1]
        word = last.report.disposition.value
        _watch.log_attempt(self._agent, len(self._attempts), word, last.violations, stop)
        return None if self._on_attempt is None else self._on_attempt(last)

    def told_at_once(self, result: AskResult[Any] | None, asynchronous: str) -> None:
        """Reports the last attempt in a context that cannot await.

        Args:
            result: As for `told`.
            asynchronous: The function that awaits the hook.
        """
        waits = self.told(result)
        if inspect.isawaitable(waits):
            if inspect.iscoroutine(waits):
                waits.close()
            raise TypeError(f"on_attempt is asynchronous: `{asynchronous}` awaits it")

    @contextmanager
    def span(self) -> Iterator[Callable[[AskResult[Any]], None]]:
        """Opens the spans around the whole question."""
        with ExitStack() as stack:
            told = [stack.enter_context(each(self._agent)) for each in _watch.question_spans]

            def ended(result: AskResult[Any]) -> None:
                for each in told:
                    each(result)

            yield ended

    def messages(self) -> Messages:
        """Returns the conversation so far, to be sent."""
        return [dict(message) for message in self._messages]

    def session(self) -> Session:
        """Begins a session for a streamed answer. `take` returns its verdict."""
        return self._judge.gate.session(self._agent, lists=self._lists, evidence=self._evidence)

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """Every attempt so far, in order."""
        return tuple(self._attempts)

    def take(self, reply: object, answer: Said | None = None, dead_end: DeadEnd | None = None) -> AskResult[Any] | None:
        """Judges an answer. Returns None if the model must be asked again.

        Args:
            reply: The value that the model's client returned.
            answer: The answer in the reply, if it was a stream.
            dead_end: The reason why the stream was closed before its end, if it was.
        """
        answer = said(reply) if answer is None else answer
        report, usage = self._validate(answer)
        model, items = self._judge.model, self._judge.items
        attempt = of_attempt(model, report, items)
        report = attempt.report
        self._reports.append(report)
        merged, usage = self._merged(usage)
        data, found = attempt.instance, tuple[Violation, ...]()
        if merged is not report or not attempt.is_read:
            data, merged, found = read(model, merged, items)
        told = merged.feedback
        if found:
            told = feedback([*found, *(each for item in merged.quarantined for each in item.violations)])
            # The model is asked for the whole document again, so the parts that the gate accepted are dropped.
            self._reports.clear()
        elif merged.output_json is not None and report.disposition is Disposition.REJECTED and told != report.feedback:
            told = _useless(report, told)
        stop = self._stop(merged, report, found)
        if stop is None and self.is_late():
            stop = "timeout"
        violations = found or report.violations
        if dead_end is not None and report.disposition is Disposition.REJECTED:
            # The stream was closed early, so the gate's violations for the truncated text are not the cause.
            violations = (_of_dead_end(dead_end),)
            told = feedback(violations)
        self._attempts.append(Attempt(reply, report, violations, "" if stop else told, usage))
        self._last = (merged, data, found, told)
        if report.raw.strip():
            # Some APIs reject an empty message.
            self._messages.append({"role": "assistant", "content": report.raw})
        if stop is None:
            self._messages.append({"role": "user", "content": told})
            return None
        return self._result(merged, data, found, told, stop)

    def _validate(self, answer: Said) -> tuple[Report, Usage]:
        verdict = self._judge.take(self._by, answer.text, answer.finish, self._lists, self._evidence)
        return verdict.report, verdict.usage

    def _merged(self, usage: Usage) -> tuple[Report, Usage]:
        """Returns the report on all answers together."""
        *before, last = self._reports
        self._bytes += len(last.json)
        if all(report.output_json is None for report in before):
            return last, usage
        verdict = self._gate.merge(self._reports, lists=self._lists, evidence=self._evidence)
        return verdict.report, _sum([usage, verdict.usage])

    def _stop(self, merged: Report, last: Report, found: tuple[Violation, ...]) -> Stop | None:
        """Returns the reason not to ask again, by the same rules as `Gate.run`, or None to ask again."""
        wrong = _without_spans(merged, last, found)
        same = wrong == self._wrong
        self._wrong = wrong
        if not found:
            if merged.disposition is Disposition.ACCEPTED:
                return "accepted"
            if merged.disposition is Disposition.REFUSED:
                return "refused"
            if merged.disposition is Disposition.PARTIAL and merged.wanted is Wanted.NOTHING:
                return "not_retryable"
        if last.disposition is Disposition.REFUSED or (last.error is not None and not last.error.retryable):
            return "not_retryable"
        if same:
            return "repeated"
        # The merged answers must not exceed the limit on one output.
        is_long = self._bytes > self._gate.limits.output_bytes // 2
        return "limit" if is_long or len(self._attempts) >= self._retries else None

    def _result(self, merged: Report, data: Any, found: tuple[Violation, ...], told: str, stop: Stop) -> AskResult[Any]:
        violations = found or merged.violations
        usage = _sum([attempt.usage for attempt in self._attempts])
        rest = (merged, violations, told, stop, tuple(self._attempts), usage, self.messages())
        if found or merged.disposition is Disposition.REJECTED:
            return Rejected(*rest)
        if merged.disposition is Disposition.REFUSED:
            return Refused(*rest, refusal=self._attempts[-1].report.raw)
        return (Accepted if merged.disposition is Disposition.ACCEPTED else Partial)(*rest, data=data)


def _asking(prompt: Prompt, wanted: str) -> Messages:
    """Returns the conversation, with a description of the expected answer at its end."""
    messages: Messages = [{"role": "user", "content": prompt}]
    if not isinstance(prompt, str):
        given = _arguments.listed("prompt", Mapping, prompt, "messages, as dicts with `role` and `content`")
        messages = list(map(dict, given))
    last = messages[-1] if messages else {}
    if last.get("role") == "user" and isinstance(last.get("content"), str):
        content = f"{last['content']}\n\n{wanted}" if last["content"] else wanted
        messages[-1] = {**last, "content": content}
    else:
        messages.append({"role": "user", "content": wanted})
    return messages


def _useless(last: Report, told: str) -> str:
    """Returns the feedback if the last answer added nothing to the earlier ones, with the reason."""
    first = None if last.error is None or not last.error.violations else last.error.violations[0]
    if first is None:
        return told
    return f"The last answer could not be used as it was:\n- at {first.path}: {first.message}.\n{told}"


def _without_spans(merged: Report, last: Report, found: tuple[Violation, ...]) -> object:
    """Returns the violations without their positions, so that those of different answers can be compared."""
    quarantined = [violation for item in merged.quarantined for violation in item.violations]
    of_reports = [() if report.error is None else report.error.violations for report in (last, merged)]
    wrong = [replace(violation, span=None) for part in (*of_reports, quarantined, found) for violation in part]
    return wrong, [(item.index, item.reason) for item in merged.quarantined], merged.wanted


def _of_dead_end(dead_end: DeadEnd) -> Violation:
    """Converts the reason why a stream was closed early to a violation."""
    return Violation("$", dead_end.keyword, "", "", dead_end.message, "", "", None)


def _sum(all_used: list[Usage]) -> Usage:
    return replace(
        all_used[-1],
        fuel=sum(used.fuel for used in all_used),
        elapsed_seconds=sum(used.elapsed_seconds for used in all_used),
    )
