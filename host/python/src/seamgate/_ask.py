"""The retry loop as one call: asks a model, judges its answer, sends feedback, and asks again."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar, overload

from ._aliases import Evidence, Lists
from ._asking import AskResult, Attempt, Messages, Prompt
from ._gate import Gate
from ._question import Question

T = TypeVar("T")


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
        of: The type or the contract of the answer. A type can be a Pydantic model, a `TypeAdapter`, a dataclass, a
            `TypedDict`, an attrs class, or anything else that Pydantic has a schema for (with the extra
            `seamgate[pydantic]`), or a msgspec `Struct`; `data` is then an instance of it. A contract is a dict, JSON
            text, the path of a file, or the name of an agent whose contract is registered in `gate`.
        call_llm: A function that calls a model. It receives the conversation, a list of dicts with `role` and
            `content`. It returns the unchanged response of OpenAI, Anthropic or LangChain; or the text; or a tuple of
            the text and the reason why the model stopped. Its exceptions propagate.
        prompt: The question. A description of the expected answer is added to it.
        contract: For a type, further members of the contract, such as `{"retry": {"limit": 3}}` or
            `{"coerce": "lossless"}`.
        gate: The gate in which agents are registered, and whose limits apply.
        lists: The lists that the contract's `allow` names.
        evidence: The results that the model saw, if the contract has `evidence`.
        type_first: If True, the type itself judges the document that the gate found, instead of its JSON Schema. Its
            before-validators then see what the model wrote, before any schema rejects it.
        timeout_seconds: The time limit for the whole question. No attempt begins after it, but a call to the model that
            is in flight runs to its end.
        on_attempt: Called with each attempt after it is judged. `ask_async` awaits it if it is asynchronous.

    Raises:
        SeamgateFault: No verdict is possible: the contract is invalid (`bad_contract`), or a limit was exceeded.
        FileError: A file cannot be read.
        ImportError: A type was given, but Pydantic is not installed.
        TypeError: An argument has the wrong type; a type has no JSON Schema; or `call_llm` returned a value of an
            unknown type.
        Exception: A validator of the type raised an exception other than `ValueError` or `AssertionError`, which is a
            bug in the validator and says nothing about the answer.
    """
    question = Question(of, call_llm, prompt, contract, gate, lists, evidence, type_first, timeout_seconds, on_attempt)
    with question.span() as ended:
        while True:
            result = question.take(call_llm(question.messages()))
            question.told_at_once(result, "ask_async")
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
    """The same as `ask`, with an asynchronous client. Answers are judged in threads, so the event loop is not blocked.

    Args and errors are those of `ask`. When the time limit expires, a call to the model that is in flight is cancelled.

    Raises:
        TimeoutError: The time limit expired before there was an answer.
    """
    question = await asyncio.to_thread(
        Question, of, call_llm, prompt, contract, gate, lists, evidence, type_first, timeout_seconds, on_attempt
    )
    with question.span() as ended:
        while True:
            result = await _attempted(question, call_llm(question.messages()))
            if result is not None:
                ended(result)
                return result


async def _attempted(question: Question, reply: object) -> AskResult[Any] | None:
    """Makes one attempt. Returns `None` if the model must be asked again."""
    if not inspect.isawaitable(reply):
        raise TypeError("call_llm must be asynchronous: `ask` takes one that is not")
    try:
        answer = await asyncio.wait_for(reply, question.left())
    except (TimeoutError, asyncio.TimeoutError):
        if not question.is_late():
            # The client's own timeout.
            raise
        return question.late()
    result = await asyncio.to_thread(question.take, answer)
    waits = question.told(result)
    if inspect.isawaitable(waits):
        await waits
    return result
