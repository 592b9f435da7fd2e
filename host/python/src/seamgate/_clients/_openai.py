"""OpenAI: chat completions, which many others speak, and Responses."""

from __future__ import annotations

from collections.abc import Iterator

from ._said import REFUSAL, Piece, Said, answer, get, listed, text_of

_STREAM_ENDS = ("response.completed", "response.incomplete")


def reply(value: object) -> Said | None:
    """Reads a whole response."""
    return _chat(value) or _response(value)


def _chat(value: object) -> Said | None:
    choices = listed(get(value, "choices"))
    if not choices:
        return None
    message = get(choices[0], "message")
    refusal, text = get(message, "refusal"), get(message, "content")
    if isinstance(refusal, str) and refusal:
        return Said(refusal, REFUSAL)
    calls = [get(get(call, "function") or get(call, "custom"), "arguments") for call in _calls(message)]
    if text is not None and not isinstance(text, str):
        return None
    return None if message is None else answer(text, get(choices[0], "finish_reason"), calls)


def _calls(message: object) -> tuple[object, ...]:
    return tuple(call for call in listed(get(message, "tool_calls")) if get(call, "function") is not None)


def _response(value: object) -> Said | None:
    output = get(value, "output")
    if not isinstance(output, (list, tuple)) or not isinstance(get(value, "status"), str):
        return None
    parts = [part for item in output if get(item, "type") == "message" for part in listed(get(item, "content"))]
    refusals = [part for part in parts if get(part, "type") == "refusal"]
    if refusals:
        return Said(text_of(refusals, "refusal"), REFUSAL)
    texts = text_of([part for part in parts if get(part, "type") == "output_text"], "text")
    calls = [get(item, "arguments") for item in output if get(item, "type") == "function_call"]
    reason = get(get(value, "incomplete_details"), "reason")
    return answer(texts, reason or get(value, "status"), calls)


def chunk(value: object) -> Iterator[Piece] | None:
    """Reads an event of a stream."""
    kind = get(value, "type")
    if kind == "chunk" and get(value, "chunk") is not None:
        # The helper `client.chat.completions.stream` says each chunk beside its own events.
        value = get(value, "chunk")
    choices = get(value, "choices")
    if isinstance(choices, (list, tuple)):
        return _chunk_of_chat(choices)
    return _event(value, kind) if isinstance(kind, str) and kind.startswith("response.") else None


def _chunk_of_chat(choices: list[object] | tuple[object, ...]) -> Iterator[Piece]:
    # The last chunk, with the count of tokens, has none.
    for choice in choices[:1]:
        delta = get(choice, "delta")
        refusal, text = get(delta, "refusal"), get(delta, "content")
        if isinstance(refusal, str) and refusal:
            yield Piece(refusal, REFUSAL)
        if isinstance(text, str) and text:
            yield Piece(text)
        for call in _calls(delta):
            arguments = get(get(call, "function"), "arguments")
            if isinstance(arguments, str):
                yield Piece(arguments, call=("tool", get(call, "index")))
        finish = get(choice, "finish_reason")
        if isinstance(finish, str):
            yield Piece(finish=finish)


def _event(event: object, kind: str) -> Iterator[Piece]:
    delta, response = get(event, "delta"), get(event, "response")
    if kind == "response.output_text.delta":
        yield Piece(delta)
    elif kind == "response.refusal.delta":
        yield Piece(delta, REFUSAL)
    elif kind == "response.function_call_arguments.delta":
        yield Piece(delta, call=("tool", get(event, "item_id")))
    elif kind in _STREAM_ENDS:
        yield Piece(finish=get(get(response, "incomplete_details"), "reason") or get(response, "status"))
    elif kind == "response.failed":
        message = get(get(response, "error"), "message")
        raise RuntimeError(f"the model's stream failed: {message}")
