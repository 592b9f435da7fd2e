"""What a model answered: text, or the response of a client that is well known."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ._aliases import Output
from ._types import Finish


@dataclass(frozen=True)
class Said:
    """What a model said, and why it stopped."""

    text: Output
    finish: str


def said(reply: object) -> Said:
    """Read what a function that calls a model returned.

    Raises:
        TypeError: It is nothing that is known.
    """
    if isinstance(reply, (str, bytes, bytearray, memoryview)):
        return Said(reply, Finish.UNKNOWN.value)
    if isinstance(reply, tuple) and len(reply) == 2:
        text, finish = reply
        if (text is None or isinstance(text, (str, bytes))) and (finish is None or isinstance(finish, str)):
            return _said(text, finish)
    for read in (_chat, _response, _message, _langchain):
        known = read(reply)
        if known is not None:
            return known
    if inspect.isawaitable(reply):
        if inspect.iscoroutine(reply):
            reply.close()
        raise TypeError("call_llm is asynchronous: await ask_async, in the place of ask")
    raise TypeError(
        "call_llm must return the model's text, (text, finish reason), or the response of OpenAI, Anthropic or "
        f"LangChain, not {type(reply).__name__}"
    )


def _said(text: Any, finish: Any) -> Said:
    """A producer that says nothing says an empty text."""
    word = finish.value if isinstance(finish, Finish) else finish
    return Said("" if text is None else text, word if isinstance(word, str) else Finish.UNKNOWN.value)


def _chat(reply: object) -> Said | None:
    """Chat completions, of OpenAI and all who speak as it does."""
    choices = _get(reply, "choices")
    if not isinstance(choices, (list, tuple)) or not choices:
        return None
    message = _get(choices[0], "message")
    refusal, text = _get(message, "refusal"), _get(message, "content")
    if isinstance(refusal, str) and refusal:
        return Said(refusal, Finish.REFUSAL.value)
    if text is not None and not isinstance(text, str):
        return None
    return _said(text, _get(choices[0], "finish_reason"))


def _response(reply: object) -> Said | None:
    """OpenAI's Responses."""
    output = _get(reply, "output")
    if not isinstance(output, (list, tuple)) or not isinstance(_get(reply, "status"), str):
        return None
    parts = [part for item in output if _get(item, "type") == "message" for part in _get(item, "content") or ()]
    refusals = [part for part in parts if _get(part, "type") == "refusal"]
    if refusals:
        return Said(_text_of(refusals, "refusal"), Finish.REFUSAL.value)
    texts = [part for part in parts if _get(part, "type") == "output_text"]
    reason = _get(_get(reply, "incomplete_details"), "reason")
    return _said(_text_of(texts, "text"), reason or _get(reply, "status"))


def _message(reply: object) -> Said | None:
    """Anthropic's Messages."""
    content = _get(reply, "content")
    if not isinstance(content, (list, tuple)) or _get(reply, "role") != "assistant":
        return None
    texts = [part for part in content if _get(part, "type") == "text"]
    return _said(_text_of(texts, "text"), _get(reply, "stop_reason"))


def _langchain(reply: object) -> Said | None:
    """LangChain's messages."""
    told = _get(reply, "response_metadata")
    if not isinstance(told, Mapping) or _get(reply, "type") not in ("ai", "AIMessageChunk"):
        return None
    refusal = _get(_get(reply, "additional_kwargs"), "refusal")
    if isinstance(refusal, str) and refusal:
        return Said(refusal, Finish.REFUSAL.value)
    content = _get(reply, "content")
    if not isinstance(content, str):
        parts = content if isinstance(content, (list, tuple)) else ()
        content = _text_of([part for part in parts if _get(part, "type") == "text"], "text")
    return _said(content, told.get("finish_reason") or told.get("stop_reason") or told.get("done_reason"))


def _text_of(parts: list[Any], name: str) -> str:
    texts = [_get(part, name) for part in parts]
    return "".join(text for text in texts if isinstance(text, str))


def _get(value: object, name: str) -> Any:
    """A member of a response, which is an object or, as JSON, a dict."""
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
