"""Answers that are streamed, and outputs that are still coming."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, fault
from pydantic import BaseModel, Field

from seamgate import (
    AnswerStream,
    AskResult,
    AttemptEvent,
    Gate,
    Messages,
    Progress,
    ProgressEvent,
    ResultEvent,
    SeamgateFault,
    _watch,
    ask,
    ask_stream,
    ask_stream_async,
)

CASES = sorted((ROOT / "tests/ask/cases").glob("*.json"))
OUTPUTS = sorted((ROOT / "tests/agreement").rglob("output.txt"))


class Order(BaseModel):
    sku: str
    count: int = Field(ge=1)


class Model:
    """A model whose replies are streamed in pieces of random sizes. It counts the streams that are open."""

    def __init__(self, replies: list[Any], seed: int) -> None:
        self.replies, self.random = iter(replies), random.Random(seed)
        self.open = self.read = 0

    def __call__(self, messages: Messages) -> Iterator[object]:
        reply = next(self.replies)
        self.open += 1
        try:
            for chunk in self.chunks(reply):
                self.read += 1
                yield chunk
        finally:
            self.open -= 1

    async def later(self, messages: Messages) -> AsyncIterator[object]:
        reply = next(self.replies)
        self.open += 1
        try:
            for chunk in self.chunks(reply):
                await asyncio.sleep(0)
                self.read += 1
                yield chunk
        finally:
            self.open -= 1

    def chunks(self, reply: Any) -> Iterator[object]:
        if isinstance(reply, dict):
            # A chat completion, as chunks.
            ((message, finish),) = [(each["message"], each["finish_reason"]) for each in reply["choices"]]
            for name in ("content", "refusal"):
                for piece in self.cut(message.get(name) or ""):
                    yield {"choices": [{"delta": {name: piece}, "finish_reason": None}]}
            yield {"choices": [{"delta": {}, "finish_reason": finish}]}
            yield {"choices": [], "usage": {}}
        else:
            yield from self.cut(reply)

    def cut(self, text: str) -> Iterator[str]:
        at = 0
        while at < len(text):
            size = self.random.randint(1, 9)
            yield text[at : at + size]
            at += size


def is_streamable(reply: object) -> bool:
    return isinstance(reply, str) or (isinstance(reply, dict) and bool(reply.get("choices")))


def comparable(result: AskResult[Any]) -> object:
    attempts = [(each.report.json, each.feedback, each.violations) for each in result.attempts]
    return (result.stop, result.data, result.report.json, result.violations, attempts, result.messages)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_results_are_those_of_ask(path: Path) -> None:
    case = json.loads(path.read_text())
    if not all(map(is_streamable, case["replies"])):
        pytest.skip("a reply that has no stream")
    replies = iter(case["replies"])
    wanted = comparable(ask(case["contract"], lambda messages: next(replies), case["prompt"]))
    for seed in range(3):
        model = Model(case["replies"], seed)
        events = list(ask_stream(case["contract"], model, case["prompt"]))
        assert isinstance(events[-1], ResultEvent)
        assert comparable(events[-1].result) == wanted
        assert [event.outcome for event in events if isinstance(event, AttemptEvent)] == list(
            events[-1].result.attempts
        )
        assert model.open == 0
        result = asyncio.run(ask_stream_async(case["contract"], Model(case["replies"], seed).later).result())
        assert result.report.json == events[-1].result.report.json


def test_events_have_items_and_partial_documents() -> None:
    contract = {"agent": "l", "schema": {"items": {"type": "object"}}, "items": {"path": "$[*]"}}
    pieces = ['Sure:\n```json\n[{"a": "é', '😀"}, {"b', '": 2}]\n```']
    events = list(ask_stream(contract, lambda messages: iter(pieces)))
    progress = [event for event in events if isinstance(event, ProgressEvent)]
    assert [event.partial for event in progress] == [[{"a": "é"}], [{"a": "é😀"}, {}], [{"a": "é😀"}, {"b": 2}]]
    assert [[item.value for item in event.items] for event in progress] == [[], [{"a": "é😀"}], [{"b": 2}]]
    assert [event.completeness for event in progress] == ["in_flight", "in_flight", "soft_complete"]
    assert {event.attempt for event in progress} == {1}
    stream = ask_stream(contract, lambda messages: iter(pieces))
    assert repr(stream) == "<seamgate.AnswerStream: no result yet>"
    stream.result()
    assert repr(stream).startswith("<seamgate.AnswerStream: Accepted(")
    assert "completeness='in_flight'" in repr(progress[0])


def subset(part: Any, whole: Any) -> bool:
    """Returns whether one document may be an incomplete version of another."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(name in whole and subset(part[name], whole[name]) for name in part)
    if isinstance(part, list):
        return isinstance(whole, list) and len(part) <= len(whole) and all(map(subset, part, whole))
    if isinstance(part, str):
        return isinstance(whole, str) and whole.startswith(part)
    return bool(part == whole)


def value(rng: random.Random, depth: int) -> Any:
    kind = rng.randint(0, 7 if depth < 3 else 4)
    if kind <= 1:
        return "".join(rng.choice('aé😀"\\/\n\t\u0001{[,:') for _ in range(rng.randint(0, 6)))
    if kind <= 4:
        return rng.choice([0, -12.5, 1e30, 12345678901234567890, True, False, None])
    if kind <= 6:
        return {json.dumps(value(rng, 9)) if rng.random() < 0.2 else f"m{n}": value(rng, depth + 1) for n in range(3)}
    return [value(rng, depth + 1) for _ in range(rng.randint(0, 4))]


def test_partial_documents_are_parts_of_the_document(gate: Gate) -> None:
    gate.register({"agent": "any", "schema": True})
    for seed in range(40):
        rng = random.Random(seed)
        document = {str(name): value(rng, 0) for name in range(3)}
        text = json.dumps(document, ensure_ascii=rng.random() < 0.5, indent=rng.choice([None, 1]))
        before, after = rng.choice([("", ""), ("Here:\n```json\n", "\n```\nDone."), ("<think>[1]?</think>\n", "")])
        output = before + text + after
        with gate.session("any") as session:
            last: Any = {}
            for progress in session.read(Model([], seed).cut(output)):
                part = progress.partial
                if part is not None:
                    assert subset(part, document), (output, part)
                    assert subset(last, part), (last, part)
                    last = part
            assert session.partial == document
            assert session.finish().report.output == document


def test_partial_documents_stand_where_the_verdict_finds_them(gate: Gate) -> None:
    reading = {"agent": "tagged", "schema": True, "extract": {"within": "answer"}}
    gate.register(reading)
    output = 'I try {"a": 1} first. <answer>{"b": "x'
    with gate.session("tagged") as session:
        assert [progress.partial for progress in session.read([output])] == [{"b": "x"}]
    with gate.session("any") as session:
        assert session.push('```json\n{"a": 1}\n```\nNo:\n```json\n{"b"').partial == {}
        assert session.push(": tr").partial == {}
        assert session.push("ue}").partial == {"b": True}
        late = session.push("\n```")
        session.close()
        assert late.partial == {"b": True}
        assert session.partial is None
        fault("bad_request", lambda: session.push("1"))
    for text in ("42", '"a', "no JSON", "", "<think>{", '{"a": 1, \x00 "b": "c'):
        with gate.session("any") as session:
            assert session.push(text).partial is None, text


def test_a_session_knows_why_its_stream_stopped(gate: Gate) -> None:
    gate.register({"agent": "list", "schema": {"type": "array"}})

    def stream(finish: str) -> Iterator[object]:
        yield {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "[1, 2"}}
        yield {"type": "message_delta", "delta": {"stop_reason": finish}}

    for finish, retryable in (("max_tokens", False), ("end_turn", True)):
        with gate.session("list") as session:
            assert [progress.completeness for progress in session.read(stream(finish))] == ["in_flight"]
            error = session.finish().report.error
        assert error is not None
        assert error.retryable is retryable

    async def later() -> list[Progress]:
        async def chunks() -> AsyncIterator[str]:
            yield "[1"
            yield "]"

        with gate.session("list") as session:
            return [progress async for progress in session.read_async(chunks())]

    assert [progress.partial for progress in asyncio.run(later())] == [[], [1]]


def test_an_answer_that_cannot_become_right_is_left_and_asked_for_again() -> None:
    contract = {"agent": "o", "schema": {"type": "object"}, "caps": {"depth": 2}}

    class Deep(Model):
        def cut(self, text: str) -> Iterator[str]:
            yield from [text] if text == "{}" else ['```json\n{"a": [', "[", *["1,"] * 1000]

    for stop_early, read in ((True, 2 + 1), (False, 1002 + 1)):
        model = Deep(["deep", "{}"], 1)
        result = ask_stream(contract, model, stop_early=stop_early).result()
        assert result.success
        assert (model.read, model.open) == (read, 0)
        first = result.attempts[0]
        if stop_early:
            assert [each.keyword for each in first.violations] == ["caps.depth"]
            assert "- at $: it is nested deeper than 2 levels.\nSend the whole" in first.feedback
        later = Deep(["deep", "{}"], 1)
        assert asyncio.run(ask_stream_async(contract, later.later, stop_early=stop_early).result()).success
        assert (later.read, later.open) == (read, 0)


def test_what_recovery_keeps_is_not_left() -> None:
    contract = {"agent": "o", "schema": {"type": "object"}, "repair": "syntax"}
    for broken in ("{'a': 1, 'b': 2,}", '{"a": 1 // one\n}', "{a: True}", '{"a": 1'):
        for output in (broken, f"```json\n{broken}"):
            result = ask_stream({**contract, "retry": {"limit": 0}}, Model([output], 3), stop_early=True).result()
            assert result.report.output is not None, output
            assert result.report.raw == output


def left_early(stream: AnswerStream[Order]) -> None:
    for event in stream:
        if isinstance(event, ProgressEvent):
            break


def test_the_stream_is_closed_when_the_caller_leaves() -> None:
    answer = json.dumps({"sku": "A" * 500, "count": 2})
    model = Model([answer], 1)
    with ask_stream(Order, model) as stream:
        left_early(stream)
    assert (model.open, model.read) == (0, 1)
    with pytest.raises(RuntimeError, match="left before its end"):
        stream.result()
    not_read = Model([answer], 1)
    with ask_stream(Order, not_read):
        pass
    assert not_read.read == 0

    async def later() -> None:
        model = Model([answer], 1)
        async with ask_stream_async(Order, model.later) as stream:
            async for _ in stream:
                break
        assert (model.open, model.read) == (0, 1)
        task = asyncio.create_task(ask_stream_async(Order, model_waits).result())
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert closed == [True]

    closed: list[bool] = []

    async def model_waits(messages: Messages) -> AsyncIterator[str]:
        try:
            yield "{"
            await asyncio.sleep(60)
        finally:
            closed.append(True)

    asyncio.run(later())


def test_a_client_that_hangs_is_left_when_the_time_is_over() -> None:
    async def hangs(messages: Messages) -> AsyncIterator[str]:
        if len(messages) > 1:
            await asyncio.sleep(60)
        yield '{"sku": 1}'

    result = asyncio.run(ask_stream_async(Order, hangs, timeout_seconds=0.3).result())
    assert (result.stop, len(result.attempts)) == ("timeout", 1)

    async def says_nothing(messages: Messages) -> AsyncIterator[str]:
        await asyncio.sleep(60)
        yield ""

    with pytest.raises(TimeoutError, match=r"no answer within 0\.1 s"):
        asyncio.run(ask_stream_async(Order, says_nothing, timeout_seconds=0.1).result())

    def drips(messages: Messages) -> Iterator[str]:
        import time

        while True:
            time.sleep(0.02)
            yield " "

    with pytest.raises(TimeoutError, match="no answer"):
        ask_stream(Order, drips, timeout_seconds=0.1).result()


class Interrupted(Exception):
    pass


def test_errors_of_the_client_pass_and_close_its_stream() -> None:
    def breaks(messages: Messages) -> Iterator[str]:
        yield "{"
        raise Interrupted

    with pytest.raises(Interrupted):
        ask_stream(Order, breaks).result()

    async def breaks_later(messages: Messages) -> AsyncIterator[str]:
        yield "{"
        raise Interrupted

    with pytest.raises(Interrupted):
        asyncio.run(ask_stream_async(Order, breaks_later).result())


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (lambda: 3, "a stream of str or bytes, .* not int"),
        (lambda: {"unknown": 1}, "not dict"),
        (lambda: Order(sku="a", count=1), "not Order"),
        (lambda: iter([3]), "a chunk of the stream must be str, bytes, or an event of OpenAI, .* not int"),
        (lambda: iter([{"unknown": 1}]), "a chunk of the stream must be .* not dict"),
    ],
)
def test_unknown_streams_are_refused(reply: Callable[[], object], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        ask_stream(Order, lambda messages: reply()).result()


def test_arguments_are_checked() -> None:
    with pytest.raises(TypeError, match="stop_early must be True or False, not str"):
        ask_stream(Order, lambda messages: "", stop_early="yes")  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="call_llm must be a function"):
        ask_stream(Order, 3).result()  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="use ask_stream_async"):
        ask_stream(Order, Model(["{}"], 1).later).result()
    with pytest.raises(TypeError, match="use ask_stream"):
        asyncio.run(ask_stream_async(Order, Model(["{}"], 1)).result())
    with pytest.raises(TypeError, match="pass it to ask_stream"):
        ask(Order, Model(["{}"], 1))


def test_hooks_are_called_as_by_ask() -> None:
    told: list[str] = []
    model = Model(["none", '{"sku": "A", "count": 1}'], 1)
    assert ask_stream(Order, model, on_attempt=lambda attempt: told.append(attempt.report.disposition.value)).result()
    assert told == ["rejected", "accepted"]

    async def waits(attempt: object) -> None:
        await asyncio.sleep(0)
        told.append("awaited")

    model = Model(['{"sku": "A", "count": 1}'] * 2, 1)
    assert asyncio.run(ask_stream_async(Order, model.later, on_attempt=waits).result())
    assert told[-1] == "awaited"
    with pytest.raises(TypeError, match="`ask_stream_async` awaits it"):
        ask_stream(Order, model, on_attempt=waits).result()


def test_spans_are_current_for_the_client_alone() -> None:
    import contextvars
    from contextlib import contextmanager

    current: contextvars.ContextVar[str] = contextvars.ContextVar("current", default="")
    seen: list[str] = []

    @contextmanager
    def span(agent: str) -> Iterator[Callable[[Any], object]]:
        token = current.set("question")
        try:
            yield lambda result: seen.append(f"ended {result.stop}")
        finally:
            current.reset(token)
            seen.append("closed")

    def client(messages: Messages) -> Iterator[str]:
        seen.append(f"client {current.get()}")
        yield '{"sku": "A", '
        seen.append(f"client {current.get()}")
        yield '"count": 1}'

    async def later(messages: Messages) -> AsyncIterator[str]:
        for piece in client(messages):
            yield piece

    gate = Gate(on_verdict=lambda verdict: seen.append(f"verdict {current.get()}"))

    async def asked() -> None:
        async for _ in ask_stream_async(Order, later, gate=gate):
            assert current.get() == ""

    wanted = ["client question", "client question", "verdict question", "ended accepted", "closed"]
    _watch.question_spans.append(span)
    try:
        for _ in ask_stream(Order, client, gate=gate):
            assert current.get() == ""
        assert seen == wanted
        seen.clear()
        asyncio.run(asked())
        assert seen == wanted
        seen.clear()
        with ask_stream(Order, client) as stream:
            next(iter(stream))
        assert seen == ["client question", "closed"]
    finally:
        _watch.question_spans.remove(span)


def test_a_limit_that_is_passed_ends_the_session() -> None:
    from seamgate import Limits

    small = Gate(limits=Limits(output_bytes=100))
    small.register({"agent": "l", "schema": True})
    with pytest.raises(SeamgateFault) as raised:
        ask_stream("l", lambda messages: iter(["x" * 60] * 3), gate=small).result()
    assert raised.value.code == "input_too_large"
