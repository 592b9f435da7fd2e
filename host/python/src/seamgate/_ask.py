"""The retry loop as one call: ask a model, judge its answer, tell it what was wrong, ask again."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Literal, TypeVar, Union, overload

from . import _arguments, _watch
from ._aliases import Evidence, Lists
from ._faults import SeamgateFault
from ._feedback import feedback
from ._gate import Gate, gate_of
from ._judge import Judge, is_contract, of_contract, of_schema
from ._limits import Limits, Usage
from ._own import of_attempt, read
from ._replies import Said, said
from ._report import NotAcceptedError, Report
from ._requests import _lists, _observations
from ._types import Disposition, Finish, Violation, Wanted

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


@overload
def ask(
    of: type[T],
    call_llm: Callable[[Messages], object],
    prompt: Prompt = ...,
    *,
    contract: Mapping[str, Any] | None = ...,
    gate: Gate | None = ...,
    lists: Lists | None = ...,
    evidence: Evidence | None = ...,
    type_first: bool = ...,
    timeout_seconds: float | None = ...,
    on_attempt: Callable[[Attempt], object] | None = ...,
) -> AskResult[T]: ...
@overload
def ask(
    of: Any,
    call_llm: Callable[[Messages], object],
    prompt: Prompt = ...,
    *,
    contract: Mapping[str, Any] | None = ...,
    gate: Gate | None = ...,
    lists: Lists | None = ...,
    evidence: Evidence | None = ...,
    type_first: bool = ...,
    timeout_seconds: float | None = ...,
    on_attempt: Callable[[Attempt], object] | None = ...,
) -> AskResult[Any]: ...


def ask(
    of: Any,
    call_llm: Callable[[Messages], object],
    prompt: Prompt = "",
    *,
    contract: Mapping[str, Any] | None = None,
    gate: Gate | None = None,
    lists: Lists | None = None,
    evidence: Evidence | None = None,
    type_first: bool = False,
    timeout_seconds: float | None = None,
    on_attempt: Callable[[Attempt], object] | None = None,
) -> AskResult[Any]:
    """Ask a model until its answer is valid, or there is a reason to stop.

    Args:
        of: What the answer must be: a type, and `data` is an instance of it: a Pydantic model, a `TypeAdapter`, a
            dataclass, a `TypedDict`, a class of attrs, or anything else that Pydantic has a schema for (with the extra
            `seamgate[pydantic]`), or a msgspec `Struct`; or a contract: a dict, JSON text, the path of a file, or the
            name of an agent whose contract is registered in `gate`.
        call_llm: Calls a model. It gets the conversation, a list of dicts with `role` and `content`, and returns the
            response of OpenAI, Anthropic or LangChain as it is; or the text; or a tuple of the text and why the model
            stopped. Its errors pass through.
        prompt: What is asked for. What the answer must be is added to it.
        contract: For a type: what the contract says beside the schema, as `{"retry": {"limit": 3}}` or
            `{"coerce": "lossless"}`.
        gate: Where agents are registered, and whose limits apply.
        lists: Lists that the contract's `allow` names.
        evidence: What the model saw, where the contract has `evidence`.
        type_first: Whether the type judges the document that the gate found, in place of its JSON Schema: then its
            before-validators see what the model wrote, and what they change is not rejected first.
        timeout_seconds: The time for all of it. No attempt begins after it; a call of the model that is under way goes
            on to its end.
        on_attempt: Called with each attempt, once it is judged. `ask_async` awaits it where it is asynchronous.

    Raises:
        SeamgateFault: There is no verdict: the contract is none (`bad_contract`), or a limit was passed.
        FileError: A file cannot be read.
        ImportError: A type was given, and Pydantic is not installed.
        TypeError: An argument is of the wrong kind; a type has no JSON Schema; or `call_llm` returned nothing that can
            be read.
        Exception: A validator of the type raised something else than `ValueError` or `AssertionError`: that is a
            mistake of the validator, and says nothing about the answer.
    """
    question = _Question(of, call_llm, prompt, contract, gate, lists, evidence, type_first, timeout_seconds, on_attempt)
    with question.span() as ended:
        while True:
            result = question.take(call_llm(question.messages()))
            waits = question.told(result)
            if inspect.isawaitable(waits):
                if inspect.iscoroutine(waits):
                    waits.close()
                raise TypeError("on_attempt is asynchronous: `ask_async` awaits it")
            if result is not None:
                ended(result)
                return result


@overload
async def ask_async(
    of: type[T],
    call_llm: Callable[[Messages], Awaitable[object]],
    prompt: Prompt = ...,
    *,
    contract: Mapping[str, Any] | None = ...,
    gate: Gate | None = ...,
    lists: Lists | None = ...,
    evidence: Evidence | None = ...,
    type_first: bool = ...,
    timeout_seconds: float | None = ...,
    on_attempt: Callable[[Attempt], object] | None = ...,
) -> AskResult[T]: ...
@overload
async def ask_async(
    of: Any,
    call_llm: Callable[[Messages], Awaitable[object]],
    prompt: Prompt = ...,
    *,
    contract: Mapping[str, Any] | None = ...,
    gate: Gate | None = ...,
    lists: Lists | None = ...,
    evidence: Evidence | None = ...,
    type_first: bool = ...,
    timeout_seconds: float | None = ...,
    on_attempt: Callable[[Attempt], object] | None = ...,
) -> AskResult[Any]: ...


async def ask_async(
    of: Any,
    call_llm: Callable[[Messages], Awaitable[object]],
    prompt: Prompt = "",
    *,
    contract: Mapping[str, Any] | None = None,
    gate: Gate | None = None,
    lists: Lists | None = None,
    evidence: Evidence | None = None,
    type_first: bool = False,
    timeout_seconds: float | None = None,
    on_attempt: Callable[[Attempt], object] | None = None,
) -> AskResult[Any]:
    """The same as `ask`, with a client that is awaited. Answers are judged in threads, so that the event loop goes on.

    Args and errors are those of `ask`. A call of the model that is under way when the time is over is cancelled.

    Raises:
        TimeoutError: The time was over before there was an answer.
    """
    question = await asyncio.to_thread(
        _Question, of, call_llm, prompt, contract, gate, lists, evidence, type_first, timeout_seconds, on_attempt
    )
    with question.span() as ended:
        while True:
            result = await _attempted(question, call_llm(question.messages()))
            if result is not None:
                ended(result)
                return result


async def _attempted(question: _Question, reply: object) -> AskResult[Any] | None:
    """Makes one attempt. Returns `None` if the model is to be asked again."""
    if not inspect.isawaitable(reply):
        raise TypeError("call_llm must be asynchronous: `ask` takes one that is not")
    try:
        answer = await asyncio.wait_for(reply, question.left())
    except (TimeoutError, asyncio.TimeoutError):
        if not question.is_late():
            # The client's own.
            raise
        return question.late()
    result = await asyncio.to_thread(question.take, answer)
    waits = question.told(result)
    if inspect.isawaitable(waits):
        await waits
    return result


class _Question:
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
        self._judge = _judged_by(of, contract, self._by, type_first)
        self._gate, self._agent = self._judge.gate, self._judge.agent
        self._retries = self._gate.contract(self._agent).retry_limit
        self._lists = None if lists is None else _lists(lists)
        self._evidence = None if evidence is None else _observations(evidence)
        self._messages = _asking(prompt, self._judge.wanted())
        # Those that the next answer is put together with.
        self._reports: list[Report] = []
        self._attempts: list[Attempt] = []
        self._wrong: object = None
        self._bytes = 0
        self._last: tuple[Report, Any, tuple[Violation, ...], str] | None = None

    def left(self) -> float | None:
        """Returns the seconds that are left."""
        return None if self._end is None else max(0.0, self._end - time.monotonic())

    def is_late(self) -> bool:
        """Returns whether the time is over."""
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
        """The conversation so far, to be sent."""
        return [dict(message) for message in self._messages]

    def take(self, reply: object) -> AskResult[Any] | None:
        """Judge an answer. None where the model is to be asked again."""
        answer = said(reply)
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
            # Everything is asked for again: what is valid to the gate is not kept.
            self._reports.clear()
        elif merged.output_json is not None and report.disposition is Disposition.REJECTED and told != report.feedback:
            told = _useless(report, told)
        stop = self._stop(merged, report, found)
        if stop is None and self.is_late():
            stop = "timeout"
        self._attempts.append(Attempt(reply, report, found or report.violations, "" if stop else told, usage))
        self._last = (merged, data, found, told)
        if report.raw.strip():
            # Some interfaces refuse an empty message.
            self._messages.append({"role": "assistant", "content": report.raw})
        if stop is None:
            self._messages.append({"role": "user", "content": told})
            return None
        return self._result(merged, data, found, told, stop)

    def _validate(self, answer: Said) -> tuple[Report, Usage]:
        try:
            return self._judged(answer, answer.finish)
        except SeamgateFault as fault:
            of_finish = [each for each in fault.detail.get("violations", []) if each["pointer"] == "/finish"]
            if not of_finish:
                raise
        # Interfaces have new words, now and then.
        return self._judged(answer, Finish.UNKNOWN.value)

    def _judged(self, answer: Said, finish: str) -> tuple[Report, Usage]:
        verdict = self._judge.validate(self._by, answer.text, finish, self._lists, self._evidence)
        return verdict.report, verdict.usage

    def _merged(self, usage: Usage) -> tuple[Report, Usage]:
        """The report on all answers together."""
        *before, last = self._reports
        self._bytes += len(last.json)
        if all(report.output_json is None for report in before):
            return last, usage
        verdict = self._gate.merge(self._reports, lists=self._lists, evidence=self._evidence)
        return verdict.report, _sum([usage, verdict.usage])

    def _stop(self, merged: Report, last: Report, found: tuple[Violation, ...]) -> Stop | None:
        """Why not to ask again, as the harness step of the library does. None where it is to be asked again."""
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
        # What is put together of all answers must be within the limit of one.
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


def _judged_by(of: Any, policy: Mapping[str, Any] | None, gate: Gate | None, type_first: bool) -> Judge:
    if not is_contract(of):
        return of_schema(of, policy, Limits() if gate is None else gate.limits, type_first, "of")
    if policy is not None:
        raise TypeError("`contract` goes with a type: a contract says everything itself")
    if type_first:
        raise TypeError("`type_first` goes with a type")
    return of_contract(of, gate)


def _asking(prompt: Prompt, wanted: str) -> Messages:
    """The conversation, with what the answer must be at its end."""
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
    """The feedback, where the last answer added nothing to those before: it also says why."""
    first = None if last.error is None or not last.error.violations else last.error.violations[0]
    if first is None:
        return told
    return f"The last answer could not be used as it was:\n- at {first.path}: {first.message}.\n{told}"


def _without_spans(merged: Report, last: Report, found: tuple[Violation, ...]) -> object:
    """What is wrong, as far as it is the same in another text."""
    quarantined = [violation for item in merged.quarantined for violation in item.violations]
    of_reports = [() if report.error is None else report.error.violations for report in (last, merged)]
    wrong = [replace(violation, span=None) for part in (*of_reports, quarantined, found) for violation in part]
    return wrong, [(item.index, item.reason) for item in merged.quarantined], merged.wanted


def _sum(all_used: list[Usage]) -> Usage:
    return replace(
        all_used[-1],
        fuel=sum(used.fuel for used in all_used),
        elapsed_seconds=sum(used.elapsed_seconds for used in all_used),
    )
