"""LlamaIndex: responses of `chat` and `complete`, and of their streams."""

from __future__ import annotations

from collections.abc import Iterator

from ._said import Piece, Said, answer, get


def reply(value: object) -> Said | None:
    """Reads a whole response."""
    if not _is_known(value):
        return None
    message = get(value, "message")
    text = get(value, "text") if message is None else get(message, "content")
    return answer(text, _finish(value))


def chunk(value: object) -> Iterator[Piece] | None:
    """Reads a piece of a stream, which also has the whole text so far."""
    return _pieces(value) if _is_known(value) and hasattr(value, "delta") else None


def _pieces(value: object) -> Iterator[Piece]:
    text = get(value, "delta")
    if isinstance(text, str) and text:
        yield Piece(text)
    finish = _finish(value)
    if isinstance(finish, str):
        yield Piece(finish=finish)


def _is_known(value: object) -> bool:
    return type(value).__name__ in ("ChatResponse", "CompletionResponse") and hasattr(value, "additional_kwargs")


def _finish(value: object) -> object:
    raw = get(value, "raw")
    choices = get(raw, "choices")
    if isinstance(choices, (list, tuple)) and choices:
        return get(choices[0], "finish_reason")
    return get(raw, "stop_reason") or get(raw, "done_reason")
