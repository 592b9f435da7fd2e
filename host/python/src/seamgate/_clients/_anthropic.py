"""Anthropic's Messages."""

from __future__ import annotations

from collections.abc import Iterator

from ._said import Piece, Said, answer, get, text_of

# Other events of its streams, which say nothing of the answer. `text` and `input_json` of the helper
# `client.messages.stream` repeat a delta.
_OTHERS = (
    "message_start",
    "message_stop",
    "content_block_start",
    "content_block_stop",
    "ping",
    "text",
    "input_json",
    "thinking",
    "signature",
    "citation",
    "compaction",
)


def reply(value: object) -> Said | None:
    """Reads a whole response."""
    content = get(value, "content")
    if not isinstance(content, (list, tuple)) or get(value, "role") != "assistant":
        return None
    texts = text_of([part for part in content if get(part, "type") == "text"], "text")
    calls = [get(part, "input") for part in content if get(part, "type") == "tool_use"]
    return answer(texts, get(value, "stop_reason"), calls)


def chunk(value: object) -> Iterator[Piece] | None:
    """Reads an event of a stream."""
    kind, delta = get(value, "type"), get(value, "delta")
    if kind == "content_block_delta":
        return _delta(delta, get(value, "index"))
    if kind == "message_delta":
        finish = get(delta, "stop_reason")
        return iter([Piece(finish=finish)] if isinstance(finish, str) else [])
    if kind == "error":
        raise RuntimeError(f"the model's stream failed: {get(get(value, 'error'), 'message')}")
    return iter([]) if kind in _OTHERS else None


def _delta(delta: object, index: object) -> Iterator[Piece]:
    text, arguments = get(delta, "text"), get(delta, "partial_json")
    if isinstance(text, str):
        yield Piece(text)
    if isinstance(arguments, str):
        yield Piece(arguments, call=("tool", index))
