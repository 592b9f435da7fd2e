"""Amazon Bedrock: `converse` and `converse_stream` of boto3, whose responses are dicts."""

from __future__ import annotations

from collections.abc import Iterator

from ._said import Piece, Said, answer, get, listed, text_of

_EVENTS = ("messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata")


def reply(value: object) -> Said | None:
    """Reads a whole response."""
    message = get(get(value, "output"), "message")
    if message is None or get(value, "stopReason") is None:
        return None
    content = listed(get(message, "content"))
    calls = [get(each, "input") for part in content if (each := get(part, "toolUse")) is not None]
    return answer(text_of(content, "text"), get(value, "stopReason"), calls)


def chunk(value: object) -> Iterator[Piece] | None:
    """Reads an event of a stream."""
    if not isinstance(value, dict):
        return None
    failed = next((name for name in value if name.endswith("Exception")), None)
    if failed is not None:
        raise RuntimeError(f"the model's stream failed: {get(value[failed], 'message') or failed}")
    return _pieces(value) if len(value) == 1 and next(iter(value)) in _EVENTS else None


def _pieces(event: object) -> Iterator[Piece]:
    block = get(event, "contentBlockDelta")
    delta = get(block, "delta")
    text, arguments = get(delta, "text"), get(get(delta, "toolUse"), "input")
    if isinstance(text, str):
        yield Piece(text)
    if isinstance(arguments, str):
        yield Piece(arguments, call=("tool", get(block, "contentBlockIndex")))
    finish = get(get(event, "messageStop"), "stopReason")
    if isinstance(finish, str):
        yield Piece(finish=finish)
