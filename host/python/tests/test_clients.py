"""Replies of models' clients, as JSON and as objects. docs/recipes has tests with the types of the packages."""

from __future__ import annotations

import json
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel

from seamgate import ask, ask_stream
from seamgate._clients import Told, pieces, said

TEXT = '{"a":1}'

OPENAI_CALLS = [{"function": {"name": "f", "arguments": TEXT}}]
CONVERSE = {"role": "assistant", "content": [{"text": TEXT}]}
PARTS = [{"text": "Hm.", "thought": True}, {"text": TEXT}]

# Of each client: whole replies, and the same as a stream.
REPLIES: dict[str, tuple[Any, list[Any], str]] = {
    "openai": (
        {"choices": [{"message": {"content": TEXT}, "finish_reason": "stop"}]},
        [
            {"choices": [{"delta": {"role": "assistant", "content": '{"a"'}, "finish_reason": None}]},
            {"choices": [{"delta": {"content": ":1}"}, "finish_reason": None}]},
            {"choices": [{"delta": {}, "finish_reason": "stop"}]},
            {"choices": [], "usage": {}},
        ],
        "stop",
    ),
    "openai, a tool call": (
        {"choices": [{"message": {"content": "Well:", "tool_calls": OPENAI_CALLS}, "finish_reason": "tool_calls"}]},
        [
            {"choices": [{"delta": {"content": "Well:"}}]},
            {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": ""}}]}}]},
            {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": '{"a":'}}]}}]},
            {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": "1}"}}]}}]},
            {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]},
        ],
        "tool_calls",
    ),
    "responses, a tool call": (
        {"status": "completed", "output": [{"type": "function_call", "arguments": TEXT}]},
        [
            {"type": "response.created"},
            {"type": "response.function_call_arguments.delta", "item_id": "i", "delta": TEXT},
            {"type": "response.function_call_arguments.done", "item_id": "i", "arguments": TEXT},
            {"type": "response.completed", "response": {"status": "completed"}},
        ],
        "completed",
    ),
    "anthropic": (
        {
            "role": "assistant",
            "content": [{"type": "thinking"}, {"type": "text", "text": TEXT}],
            "stop_reason": "end_turn",
        },
        [
            {"type": "message_start"},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm."}},
            {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": TEXT}},
            {"type": "text", "text": TEXT, "snapshot": TEXT},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
            {"type": "message_stop"},
        ],
        "end_turn",
    ),
    "gemini": (
        {"candidates": [{"content": {"parts": PARTS}, "finishReason": "STOP"}]},
        [
            {"candidates": [{"content": {"parts": PARTS}}]},
            {"candidates": [{"finish_reason": "STOP"}]},
            {"usageMetadata": {}},
        ],
        "STOP",
    ),
    "gemini, blocked": (
        {"promptFeedback": {"blockReason": "SAFETY"}},
        [{"prompt_feedback": {"block_reason": "SAFETY"}}],
        "SAFETY",
    ),
    "ollama, generate": (
        {"response": TEXT, "done": True, "done_reason": "length"},
        [{"response": TEXT, "done": False}, {"response": "", "done": True, "done_reason": "length"}],
        "length",
    ),
    "bedrock": (
        {"output": {"message": CONVERSE}, "stopReason": "max_tokens", "usage": {}},
        [
            {"messageStart": {"role": "assistant"}},
            {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"reasoningContent": {"text": "Hm."}}}},
            {"contentBlockDelta": {"contentBlockIndex": 1, "delta": {"text": TEXT}}},
            {"contentBlockStop": {"contentBlockIndex": 1}},
            {"messageStop": {"stopReason": "max_tokens"}},
            {"metadata": {}},
        ],
        "max_tokens",
    ),
    "langchain": (
        {"type": "ai", "content": [{"type": "text", "text": TEXT}], "response_metadata": {"finish_reason": "stop"}},
        [
            {"type": "AIMessageChunk", "content": TEXT, "response_metadata": {}},
            {"type": "AIMessageChunk", "content": "", "response_metadata": {"finish_reason": "stop"}},
        ],
        "stop",
    ),
}


def objects(value: Any) -> Any:
    """The same as objects with attributes."""
    return json.loads(json.dumps(value), object_hook=lambda members: SimpleNamespace(**members))


def joined(stream: list[Any]) -> tuple[object, str]:
    told = Told()
    for piece in pieces(iter(stream)):
        told.take(piece)
    return told.said().text, told.said().finish


@pytest.mark.parametrize("name", REPLIES)
def test_replies_and_streams_say_the_same(name: str) -> None:
    reply, stream, finish = REPLIES[name]
    text = "" if "blocked" in name else TEXT
    assert (said(reply).text, said(reply).finish) == (text, finish)
    assert [(piece.text, piece.finish) for piece in pieces(reply)] == [(text, finish)]
    assert joined(stream) == (text, finish)
    if name not in ("bedrock", "langchain"):
        # They have dicts inside.
        assert said(objects(reply)) == said(reply)
        assert joined(objects(stream)) == (text, finish)
    if text:
        assert ask({"agent": "any", "schema": True}, lambda messages: reply).data == {"a": 1}


def test_several_tool_calls_are_several_documents() -> None:
    calls = [{"function": {"arguments": TEXT}}, {"function": {"arguments": '{"a":2}'}}]
    reply = {"choices": [{"message": {"content": None, "tool_calls": calls}, "finish_reason": "tool_calls"}]}
    deltas = [{"index": at, **call} for at, call in enumerate(calls)]
    stream = [{"choices": [{"delta": {"tool_calls": [each]}}]} for each in deltas]
    assert said(reply).text == joined(stream)[0] == f'{TEXT}\n{{"a":2}}'
    contract = {"agent": "l", "schema": {"items": {"type": "object"}}, "items": {"path": "$[*]"}}
    assert ask(contract, lambda messages: reply).report.output == [{"a": 1}, {"a": 2}]


def test_a_tool_call_begins_the_document_again() -> None:
    stream = [
        {"choices": [{"delta": {"content": '{"b": '}}]},
        {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": TEXT}}]}}]},
    ]
    events = list(ask_stream({"agent": "any", "schema": True}, lambda messages: iter(stream)))
    assert [event.partial for event in events if event.type == "progress"] == [{}, {"a": 1}]


def test_errors_of_a_stream_are_raised() -> None:
    for event in (
        {"type": "error", "error": {"message": "overloaded"}},
        {"type": "response.failed", "response": {"error": {"message": "overloaded"}}},
        {"throttlingException": {"message": "overloaded"}},
    ):
        with pytest.raises(RuntimeError, match="the model's stream failed: overloaded"):
            joined([event])


def test_responses_of_llamaindex() -> None:
    response = type("ChatResponse", (SimpleNamespace,), {})
    completion = type("CompletionResponse", (SimpleNamespace,), {})
    rest = {"additional_kwargs": {}, "raw": {"choices": [{"finish_reason": "length"}]}}
    message = SimpleNamespace(role="assistant", content=TEXT)
    for whole in (response(message=message, delta=None, **rest), completion(text=TEXT, delta=None, **rest)):
        assert (said(whole).text, said(whole).finish) == (TEXT, "length")
    assert list(pieces(iter([]))) == []


class Order(BaseModel):
    a: int


def test_a_parser_of_llamaindex(monkeypatch: pytest.MonkeyPatch) -> None:
    class BaseOutputParser:
        pass

    class OutputParserException(Exception):
        pass

    modules: dict[str, dict[str, object]] = {
        "llama_index": {},
        "llama_index.core": {},
        "llama_index.core.types": {"BaseOutputParser": BaseOutputParser},
        "llama_index.core.output_parsers": {},
        "llama_index.core.output_parsers.base": {"OutputParserException": OutputParserException},
    }
    for name, members in modules.items():
        module = ModuleType(name)
        vars(module).update(members)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.delitem(sys.modules, "seamgate.llama_index", raising=False)
    from seamgate.llama_index import ContractOutputParser

    parser = ContractOutputParser(Order)
    assert parser.parse(f"Here:\n```json\n{TEXT}\n```") == Order(a=1)
    assert parser.format("Which?").startswith("Which?\n\nAnswer with one JSON document")
    with pytest.raises(OutputParserException, match=r"at \$\.a: must be integer"):
        parser.parse('{"a": "x"}')
    monkeypatch.delitem(sys.modules, "seamgate.llama_index")
