"""LangChain's messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ._said import REFUSAL, Piece, Said, answer, get, listed, text_of


def reply(value: object) -> Said | None:
    """Reads a whole message."""
    told = get(value, "response_metadata")
    if not isinstance(told, Mapping) or get(value, "type") not in ("ai", "AIMessageChunk"):
        return None
    refusal = get(get(value, "additional_kwargs"), "refusal")
    if isinstance(refusal, str) and refusal:
        return Said(refusal, REFUSAL)
    calls = [get(call, "args") for call in listed(get(value, "tool_calls"))]
    return answer(_text(value), _finish(told), calls)


def chunk(value: object) -> Iterator[Piece] | None:
    """Reads a piece of a stream."""
    told = get(value, "response_metadata")
    if not isinstance(told, Mapping) or get(value, "type") not in ("ai", "AIMessageChunk"):
        return None
    return _pieces(value, told)


def _pieces(value: object, told: Mapping[str, object]) -> Iterator[Piece]:
    text = _text(value)
    if text:
        yield Piece(text)
    for call in listed(get(value, "tool_call_chunks")):
        arguments = get(call, "args")
        if isinstance(arguments, str):
            yield Piece(arguments, call=("tool", get(call, "index")))
    finish = _finish(told)
    if isinstance(finish, str):
        yield Piece(finish=finish)


def _text(value: object) -> str:
    content = get(value, "content")
    if isinstance(content, str):
        return content
    parts = listed(content)
    return text_of([part for part in parts if get(part, "type") == "text"], "text")


def _finish(told: Mapping[str, object]) -> object:
    return told.get("finish_reason") or told.get("stop_reason") or told.get("done_reason")
