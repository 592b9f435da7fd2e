"""Ollama: `chat` and `generate`."""

from __future__ import annotations

from collections.abc import Iterator

from ._said import Piece, Said, answer, get, listed, written


def reply(value: object) -> Said | None:
    """Reads a whole response."""
    if not isinstance(get(value, "done"), bool):
        return None
    message = get(value, "message")
    if message is None:
        return answer(get(value, "response"), get(value, "done_reason"))
    return answer(get(message, "content"), get(value, "done_reason"), _arguments(message))


def chunk(value: object) -> Iterator[Piece] | None:
    """Reads a piece of a stream, which is a response with the next text."""
    return _pieces(value) if isinstance(get(value, "done"), bool) else None


def _pieces(value: object) -> Iterator[Piece]:
    message = get(value, "message")
    text = get(value, "response") if message is None else get(message, "content")
    if isinstance(text, str) and text:
        yield Piece(text)
    for arguments in _arguments(message):
        # Each comes whole.
        yield Piece(written(arguments), call=object())
    finish = get(value, "done_reason")
    if isinstance(finish, str):
        yield Piece(finish=finish)


def _arguments(message: object) -> list[object]:
    return [get(get(call, "function"), "arguments") for call in listed(get(message, "tool_calls"))]
