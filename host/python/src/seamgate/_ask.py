"""The retry loop as one call: ask a model, judge its answer, tell it what was wrong, ask again."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Literal, TypeVar, Union, overload

from . import _json
from ._aliases import Evidence, Lists
from ._faults import SeamgateFault
from ._feedback import feedback
from ._gate import Gate
from ._limits import Limits, Usage
from ._models import Model
from ._plain import plain
from ._replies import Said, said
from ._report import Report
from ._requests import _contract_text
from ._schemas import compiled, contract_of
from ._types import Disposition, Finish, Violation, Wanted

T = TypeVar("T")
D = TypeVar("D", covariant=True)

Messages = list[Any]
"""A conversation, as the clients of models take it: dicts with `role` and `content`."""

Prompt = str | Sequence[Mapping[str, Any]]
"""What is asked for: a text; or a conversation, which ends with the user."""

Stop = Literal["accepted", "partial", "refused", "not_retryable", "repeated", "limit"]
"""Why a model is asked no more: `accepted`; `refused`, it declined; `not_retryable`, another attempt cannot help;
`repeated`, the same was wrong twice in a row; `limit`, there were as many attempts as the contract allows, or so long
ones that the next would pass the limit on outputs."""


@dataclass(frozen=True)
class Attempt:
    """One answer of the model, and what was made of it.

    Attributes:
        reply: What `call_llm` returned, with what else its client says: for one, how many tokens were used.
        report: The gate's report on this answer alone.
        violations: What the model's own validators found in what the gate accepted.
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
        report: The gate's report on all attempts together. It may accept what the model's own validators then rejected.
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
) -> AskResult[Any]:
    """Ask a model until its answer is valid, or there is a reason to stop.

    Args:
        of: What the answer must be: a Pydantic model, a dataclass, or anything else that Pydantic has a schema for, and
            `data` is an instance of it; or a contract: a dict, JSON text, a `pathlib.Path`, or the name of an agent
            whose contract is registered in `gate`. Types need the extra `seamgate[pydantic]`.
        call_llm: Calls a model. It gets the conversation, a list of dicts with `role` and `content`, and returns the
            response of OpenAI, Anthropic or LangChain as it is; or the text; or a tuple of the text and why the model
            stopped. Its errors pass through.
        prompt: What is asked for. What the answer must be is added to it.
        contract: For a type: what the contract says beside the schema, as `{"retry": {"limit": 3}}`.
        gate: Where agents are registered, and whose limits apply.
        lists: Lists that the contract's `allow` names.
        evidence: What the model saw, where the contract has `evidence`.

    Raises:
        SeamgateFault: There is no verdict: the contract is none (`bad_contract`), or a limit was passed.
        FileError: A file cannot be read.
        ImportError: A type was given, and Pydantic is not installed.
        TypeError: `call_llm` returned nothing that can be read; or a contract holds something that is not JSON, as a
            Pydantic model.
    """
    question = _Question(of, prompt, contract, gate, lists, evidence)
    while True:
        result = question.take(call_llm(question.messages()))
        if result is not None:
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
) -> AskResult[Any]:
    """The same as `ask`, with a client that is awaited. Answers are judged in threads, so that the event loop goes on.

    Args and errors are those of `ask`.
    """
    question = await asyncio.to_thread(_Question, of, prompt, contract, gate, lists, evidence)
    while True:
        result = await asyncio.to_thread(question.take, await call_llm(question.messages()))
        if result is not None:
            return result


class _Question:
    """A conversation with one model, and the verdict on all its answers together."""

    def __init__(
        self,
        of: Any,
        prompt: Prompt,
        contract: Mapping[str, Any] | None,
        gate: Gate | None,
        lists: Lists | None,
        evidence: Evidence | None,
    ) -> None:
        self._model, self._gate, self._agent = _judge(of, contract, gate)
        self._retries = self._gate.contract(self._agent).retry_limit
        self._lists = None if lists is None else {name: list(values) for name, values in lists.items()}
        self._evidence = None if evidence is None else list(evidence)
        self._messages = _asking(prompt, self._gate.describe(self._agent))
        # Those that the next answer is put together with.
        self._reports: list[Report] = []
        self._attempts: list[Attempt] = []
        self._wrong: object = None
        self._bytes = 0

    def messages(self) -> Messages:
        """The conversation so far, to be sent."""
        return [dict(message) for message in self._messages]

    def take(self, reply: object) -> AskResult[Any] | None:
        """Judge an answer. None where the model is to be asked again."""
        answer = said(reply)
        report, usage = self._validate(answer)
        self._reports.append(report)
        merged, usage = self._merged(usage)
        document = merged.output_json
        data = merged.output
        found: tuple[Violation, ...] = ()
        if self._model is not None and document is not None:
            data, found = self._model.read(document)
        told = merged.feedback
        if found:
            told = feedback([*found, *(each for item in merged.quarantined for each in item.violations)])
            # Everything is asked for again: what is valid to the gate is not kept.
            self._reports.clear()
        elif document is not None and report.disposition is Disposition.REJECTED and told != report.feedback:
            told = _useless(report, told)
        stop = self._stop(merged, report, found)
        self._attempts.append(Attempt(reply, report, found, "" if stop else told, usage))
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
        verdict = self._gate.validate(
            self._agent, answer.text, finish=finish, lists=self._lists, evidence=self._evidence
        )
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
        quarantined = tuple(violation for item in merged.quarantined for violation in item.violations)
        violations = found or (() if merged.error is None else merged.error.violations) or quarantined
        usage = _sum([attempt.usage for attempt in self._attempts])
        rest = (merged, violations, told, stop, tuple(self._attempts), usage, self.messages())
        if found or merged.disposition is Disposition.REJECTED:
            return Rejected(*rest)
        if merged.disposition is Disposition.REFUSED:
            return Refused(*rest, refusal=self._attempts[-1].report.raw)
        return (Accepted if merged.disposition is Disposition.ACCEPTED else Partial)(*rest, data=data)


def _judge(of: Any, policy: Mapping[str, Any] | None, gate: Gate | None) -> tuple[Model | None, Gate, str]:
    """What reads documents as instances, and where the contract is registered, under which name."""
    limits = Limits() if gate is None else gate.limits
    if isinstance(of, (str, Mapping, os.PathLike)):
        if policy is not None:
            raise TypeError("`contract` goes with a type: a contract says everything itself")
        if isinstance(of, str) and not of.lstrip().startswith("{"):
            return None, Gate(limits=limits) if gate is None else gate, of
        return None, *_registered(_contract_text(of), limits)
    model = Model(of)
    members = plain("contract", policy or {})
    if "schema" in members or "jtd" in members:
        raise TypeError("`contract` has no schema: the type has one")
    # Pydantic's own patterns look ahead. They are no producer's, and the steps of this engine are limited too.
    members.setdefault("patterns", "backtracking")
    agent = members.get("agent")
    written = _json.text(members)[1:-1] + ","
    contract = contract_of(model.schema, written) if agent is None else f'{{{written}"schema":{model.schema}}}'
    return model, *_registered(contract, limits)


def _registered(contract: str, limits: Limits) -> tuple[Gate, str]:
    made = compiled(contract, limits)
    return made.gate, made.info.agent


def _asking(prompt: Prompt, wanted: str) -> Messages:
    """The conversation, with what the answer must be at its end."""
    messages: Messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else list(map(dict, prompt))
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
        all_used[-1], fuel=sum(used.fuel for used in all_used), elapsed=sum(used.elapsed for used in all_used)
    )
