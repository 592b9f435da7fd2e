"""The retry loop for streamed answers."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import inspect
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Iterator, Mapping
from contextlib import aclosing, closing, contextmanager
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar, Union, overload

from . import _arguments, _watch
from ._aliases import Evidence, Lists, PartialDocument
from ._asking import AskResult, Attempt, Messages, Prompt
from ._clients import Piece, Told, pieces, pieces_async
from ._gate import Gate
from ._question import Question
from ._session import Completed, DeadEnd, Progress, Session

T = TypeVar("T")
R = TypeVar("R")
D = TypeVar("D", covariant=True)


@dataclass(frozen=True)
class ProgressEvent:
    """Reports a new chunk of an answer.

    Attributes:
        attempt: The number of the attempt, from 1.
        progress: The state of the answer.
    """

    attempt: int
    progress: Progress
    type: Literal["progress"] = "progress"

    @property
    def completeness(self) -> Literal["in_flight", "soft_complete", "hard_complete"]:
        """The completeness of the document so far."""
        return self.progress.completeness

    @property
    def items(self) -> tuple[Completed, ...]:
        """The items that this chunk completed, with their values. They are not judged yet."""
        return self.progress.items

    @property
    def partial(self) -> PartialDocument | None:
        """The document as far as it has come; see `Progress.partial`."""
        return self.progress.partial

    @property
    def dead_end(self) -> DeadEnd | None:
        """If the answer can no longer become valid, the reason."""
        return self.progress.dead_end


@dataclass(frozen=True)
class AttemptEvent:
    """Reports that an answer was judged.

    Attributes:
        attempt: The number of the attempt, from 1.
        outcome: The answer and its verdict.
    """

    attempt: int
    outcome: Attempt
    type: Literal["attempt"] = "attempt"


@dataclass(frozen=True)
class ResultEvent(Generic[D]):
    """Reports the result of the question. It is the last event.

    Attributes:
        result: The result, as `ask` returns it.
    """

    result: AskResult[D]
    type: Literal["result"] = "result"


AskEvent = Union[ProgressEvent, AttemptEvent, ResultEvent[T]]  # noqa: UP007 - a type with a parameter, in Python 3.10
"""An event while answers are streamed. Its class and its `type` say which of the three kinds it is."""

_LEFT = "the stream has no result: it was left before its end"


class AnswerStream(Generic[T]):
    """A question whose answers are streamed; see `ask_stream`.

    Iterate over its events, the last of which holds the result; or call `result()`. The model is not called before you
    do either. Leaving the loop or the `with` block closes the model's stream.
    """

    def __init__(self, events: Generator[AskEvent[T], None, None]) -> None:
        self._events = events
        self._result: AskResult[T] | None = None

    def __repr__(self) -> str:
        return f"<seamgate.AnswerStream: {'no result yet' if self._result is None else self._result}>"

    def __enter__(self) -> AnswerStream[T]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[AskEvent[T]]:
        with closing(self._events):
            for event in self._events:
                if isinstance(event, ResultEvent):
                    self._result = event.result
                yield event

    def close(self) -> None:
        """Ends the question, and closes the model's stream."""
        self._events.close()

    def result(self) -> AskResult[T]:
        """Reads the rest of the stream and returns the result.

        Raises:
            RuntimeError: The stream was closed before its end.
            Exception: As for `ask`.
        """
        for _ in self:
            pass
        if self._result is None:
            raise RuntimeError(_LEFT)
        return self._result


class AsyncAnswerStream(Generic[T]):
    """A question whose answers are streamed; see `ask_stream_async`. Use it like `AnswerStream`, with `async for`,
    `async with` and `await`."""

    def __init__(self, events: AsyncGenerator[AskEvent[T], None]) -> None:
        self._events = events
        self._result: AskResult[T] | None = None

    def __repr__(self) -> str:
        return f"<seamgate.AsyncAnswerStream: {'no result yet' if self._result is None else self._result}>"

    async def __aenter__(self) -> AsyncAnswerStream[T]:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def __aiter__(self) -> AsyncIterator[AskEvent[T]]:
        async with aclosing(self._events):
            async for event in self._events:
                if isinstance(event, ResultEvent):
                    self._result = event.result
                yield event

    async def aclose(self) -> None:
        """Ends the question, and closes the model's stream."""
        await self._events.aclose()

    async def result(self) -> AskResult[T]:
        """Reads the rest of the stream and returns the result.

        Raises:
            RuntimeError: The stream was closed before its end.
            Exception: As for `ask_async`.
        """
        async for _ in self:
            pass
        if self._result is None:
            raise RuntimeError(_LEFT)
        return self._result


@overload
def ask_stream(
    of: type[T],
    call_llm: Callable[[Messages], object],
    prompt: Prompt = ...,
    *,
    stop_early: bool = ...,
    contract: Mapping[str, Any] | None = ...,
    gate: Gate | None = ...,
    lists: Lists | None = ...,
    evidence: Evidence | None = ...,
    type_first: bool = ...,
    timeout_seconds: float | None = ...,
    on_attempt: Callable[[Attempt], object] | None = ...,
) -> AnswerStream[T]: ...
@overload
def ask_stream(
    of: Any,
    call_llm: Callable[[Messages], object],
    prompt: Prompt = ...,
    *,
    stop_early: bool = ...,
    contract: Mapping[str, Any] | None = ...,
    gate: Gate | None = ...,
    lists: Lists | None = ...,
    evidence: Evidence | None = ...,
    type_first: bool = ...,
    timeout_seconds: float | None = ...,
    on_attempt: Callable[[Attempt], object] | None = ...,
) -> AnswerStream[Any]: ...


def ask_stream(
    of: Any,
    call_llm: Callable[[Messages], object],
    prompt: Prompt = "",
    *,
    stop_early: bool = False,
    contract: Mapping[str, Any] | None = None,
    gate: Gate | None = None,
    lists: Lists | None = None,
    evidence: Evidence | None = None,
    type_first: bool = False,
    timeout_seconds: float | None = None,
    on_attempt: Callable[[Attempt], object] | None = None,
) -> AnswerStream[Any]:
    """Ask a model as `ask` does, and report the state of each answer while it is streamed. The result is the same.

    Args:
        of: As for `ask`.
        call_llm: As for `ask`, but it may also return a stream: of text, of bytes, or the unchanged stream of a client
            of OpenAI, Anthropic, Gemini, Ollama, Bedrock, LangChain or LlamaIndex. It may be a generator.
        prompt: As for `ask`.
        stop_early: If True, the stream of an answer that can no longer become valid (`dead_end`) is closed, and the
            model is asked again at once.
        contract: As for `ask`.
        gate: As for `ask`.
        lists: As for `ask`.
        evidence: As for `ask`.
        type_first: As for `ask`.
        timeout_seconds: The time limit for the whole question. It is checked after each chunk.
        on_attempt: As for `ask`.

    Errors are those of `ask`, raised when the stream is read.
    """
    given = (of, call_llm, prompt, contract, gate, lists, evidence, type_first, timeout_seconds, on_attempt)
    return AnswerStream(_asked(given, call_llm, _flag(stop_early)))


def _flag(stop_early: bool) -> bool:
    if not isinstance(stop_early, bool):
        raise _arguments.wrong("stop_early", "True or False", stop_early)
    return stop_early


class _Coming:
    """An answer that is still being streamed."""

    def __init__(self, question: Question, stop_early: bool) -> None:
        self.number = len(question.attempts) + 1
        self.told = Told()
        self.dead_end: DeadEnd | None = None
        self._question, self._stop_early = question, stop_early
        self._session: Session = question.session()

    def take(self, piece: Piece) -> ProgressEvent | None:
        """Adds a chunk. Returns `None` if it has no text."""
        begins, text = self.told.take(piece)
        if text is None:
            return None
        if begins:
            # A tool call replaces the text before it.
            self.close()
            self._session = self._question.session()
        progress = self._session.push(text)
        if self._stop_early:
            self.dead_end = progress.dead_end
        return ProgressEvent(self.number, progress)

    def close(self) -> None:
        """Ends the session. The verdict is computed from the whole answer."""
        self._session.close()


@contextmanager
def _span(question: Question) -> Iterator[tuple[contextvars.Context, Callable[[AskResult[Any]], None]]]:
    """Opens the spans around the question. They are current in the returned context, which the model's client runs in,
    but not for the caller's code between two events."""
    context = contextvars.copy_context()
    span = question.span()
    ended = context.run(span.__enter__)
    try:
        yield context, ended
    except GeneratorExit:
        context.run(span.__exit__, None, None, None)
        raise
    except BaseException:
        if not context.run(span.__exit__, *sys.exc_info()):
            raise
    else:
        context.run(span.__exit__, None, None, None)


def _asked(
    given: tuple[Any, ...], call_llm: Callable[[Messages], object], stop_early: bool
) -> Generator[AskEvent[Any], None, None]:
    question = Question(*given)
    with _span(question) as (context, ended):
        result: AskResult[Any] | None = None
        while result is None:
            reply = context.run(call_llm, question.messages())
            is_late = False
            with closing(_Coming(question, stop_early)) as coming, closing(_in(context, pieces(reply))) as stream:
                for piece in stream:
                    event = coming.take(piece)
                    if event is not None:
                        yield event
                    is_late = question.is_late()
                    if is_late or coming.dead_end is not None:
                        break
            if is_late:
                result = question.late()
                break
            result = context.run(question.take, reply, coming.told.said(), coming.dead_end)
            question.told_at_once(result, "ask_stream_async")
            yield AttemptEvent(coming.number, question.attempts[-1])
        ended(result)
        yield ResultEvent(result)


def _in(context: contextvars.Context, stream: Generator[Piece, None, None]) -> Generator[Piece, None, None]:
    """Reads a stream in a context."""
    try:
        while (piece := context.run(next, stream, None)) is not None:
            yield piece
    finally:
        context.run(stream.close)


@overload
def ask_stream_async(
    of: type[T],
    call_llm: Callable[[Messages], object],
    prompt: Prompt = ...,
    *,
    stop_early: bool = ...,
    contract: Mapping[str, Any] | None = ...,
    gate: Gate | None = ...,
    lists: Lists | None = ...,
    evidence: Evidence | None = ...,
    type_first: bool = ...,
    timeout_seconds: float | None = ...,
    on_attempt: Callable[[Attempt], object] | None = ...,
) -> AsyncAnswerStream[T]: ...
@overload
def ask_stream_async(
    of: Any,
    call_llm: Callable[[Messages], object],
    prompt: Prompt = ...,
    *,
    stop_early: bool = ...,
    contract: Mapping[str, Any] | None = ...,
    gate: Gate | None = ...,
    lists: Lists | None = ...,
    evidence: Evidence | None = ...,
    type_first: bool = ...,
    timeout_seconds: float | None = ...,
    on_attempt: Callable[[Attempt], object] | None = ...,
) -> AsyncAnswerStream[Any]: ...


def ask_stream_async(
    of: Any,
    call_llm: Callable[[Messages], object],
    prompt: Prompt = "",
    *,
    stop_early: bool = False,
    contract: Mapping[str, Any] | None = None,
    gate: Gate | None = None,
    lists: Lists | None = None,
    evidence: Evidence | None = None,
    type_first: bool = False,
    timeout_seconds: float | None = None,
    on_attempt: Callable[[Attempt], object] | None = None,
) -> AsyncAnswerStream[Any]:
    """The same as `ask_stream`, with an asynchronous client. Answers are judged in threads, so the event loop is not
    blocked.

    `call_llm` is an asynchronous generator, or a function (asynchronous or not) that returns the asynchronous stream of
    a client. Otherwise, args and errors are those of `ask_stream`. When the time limit expires, a read that is in
    flight is cancelled.
    """
    given = (of, call_llm, prompt, contract, gate, lists, evidence, type_first, timeout_seconds, on_attempt)
    return AsyncAnswerStream(_asked_async(given, call_llm, _flag(stop_early)))


async def _asked_async(
    given: tuple[Any, ...], call_llm: Callable[[Messages], object], stop_early: bool
) -> AsyncGenerator[AskEvent[Any], None]:
    question = await asyncio.to_thread(Question, *given)
    with _span(question) as (context, ended):
        result: AskResult[Any] | None = None
        while result is None:
            try:
                reply = context.run(call_llm, question.messages())
                if inspect.isawaitable(reply):
                    reply = await _within(question, context, reply)
                with closing(_Coming(question, stop_early)) as coming:
                    async with aclosing(pieces_async(reply)) as stream:
                        while (piece := await _within(question, context, anext(stream, None))) is not None:
                            event = coming.take(piece)
                            if event is not None:
                                yield event
                            if coming.dead_end is not None:
                                break
            except _LateError:
                result = question.late()
                break
            take = functools.partial(question.take, reply, coming.told.said(), coming.dead_end)
            result = await asyncio.get_running_loop().run_in_executor(None, context.copy().run, take)
            waits = question.told(result)
            if inspect.isawaitable(waits):
                await waits
            yield AttemptEvent(coming.number, question.attempts[-1])
        ended(result)
        yield ResultEvent(result)


class _LateError(Exception):
    """The time limit of the question has expired."""


async def _within(question: Question, context: contextvars.Context, waits: Awaitable[R]) -> R:
    """Awaits a step of the model's client, in the context of the question and within its time limit."""
    if _watch.question_spans:
        # A task runs in the context in which it is created.
        waits = context.run(asyncio.ensure_future, _awaited(waits))
    left = question.left()
    if left is None:
        return await waits
    try:
        return await asyncio.wait_for(waits, left)
    except (TimeoutError, asyncio.TimeoutError):
        if question.is_late():
            raise _LateError from None
        # The client's own.
        raise


async def _awaited(waits: Awaitable[R]) -> R:
    return await waits
