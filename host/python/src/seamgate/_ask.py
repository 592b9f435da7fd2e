"""The retry loop as one call: ask a model, judge its answer, tell it what was wrong, ask again."""

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
    """The same as `ask`, with a client that is awaited. Answers are judged in threads, so that the event loop goes on.

    Args and errors are those of `ask`. A call of the model that is under way when the time is over is cancelled.

    Raises:
        TimeoutError: The time was over before there was an answer.
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
