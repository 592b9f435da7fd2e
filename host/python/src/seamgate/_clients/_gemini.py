"""Google's Gemini: `google-genai`, and the JSON of its interface."""

from __future__ import annotations

from collections.abc import Iterator

from ._said import Piece, Said, answer, get, listed, text_of, word, written


def reply(value: object) -> Said | None:
    """Reads a whole response."""
    candidates, feedback = get(value, "candidates"), _either(value, "prompt_feedback", "promptFeedback")
    blocked = _either(feedback, "block_reason", "blockReason")
    if blocked is not None and not candidates:
        return Said("", word(blocked))
    for candidate in listed(candidates)[:1]:
        calls = [get(call, "args") or {} for call in _calls(candidate)]
        return answer(text_of(_parts(candidate), "text"), _finish(candidate), calls)
    return None


def chunk(value: object) -> Iterator[Piece] | None:
    """Reads a piece of a stream, which is a response with the next parts."""
    if not isinstance(get(value, "candidates"), (list, tuple)):
        # The last piece may have only the count of tokens.
        is_empty = _either(value, "usage_metadata", "usageMetadata") is not None
        known = reply(value)
        return iter([Piece(finish=known.finish)]) if known else iter([]) if is_empty else None
    return _pieces(value)


def _pieces(value: object) -> Iterator[Piece]:
    for candidate in listed(get(value, "candidates"))[:1]:
        text = text_of(_parts(candidate), "text")
        if text:
            yield Piece(text)
        for call in _calls(candidate):
            # Each comes whole.
            yield Piece(written(get(call, "args") or {}), call=object())
        finish = _finish(candidate)
        if finish is not None:
            yield Piece(finish=word(finish))


def _parts(candidate: object) -> tuple[object, ...]:
    # Thoughts are not the answer.
    return tuple(part for part in listed(get(get(candidate, "content"), "parts")) if not get(part, "thought"))


def _calls(candidate: object) -> list[object]:
    found = [_either(part, "function_call", "functionCall") for part in _parts(candidate)]
    return [call for call in found if call is not None]


def _finish(candidate: object) -> object:
    return _either(candidate, "finish_reason", "finishReason")


def _either(value: object, name: str, in_json: str) -> object:
    found: object = get(value, name)
    return get(value, in_json) if found is None else found
