"""A reply that is whole."""

from __future__ import annotations

import inspect
from collections.abc import Callable

from .._types import Finish
from . import _anthropic, _bedrock, _gemini, _langchain, _llamaindex, _ollama, _openai
from ._said import Said, answer

CLIENTS = (_openai, _anthropic, _langchain, _llamaindex, _gemini, _ollama, _bedrock)

KNOWN = "OpenAI, Anthropic, Gemini, Ollama, Bedrock, LangChain or LlamaIndex"

_REPLIES: tuple[Callable[[object], Said | None], ...] = tuple(client.reply for client in CLIENTS)


def said(reply: object) -> Said:
    """Read what a function that calls a model returned.

    Raises:
        TypeError: It is nothing that is known.
    """
    known = said_or_none(reply)
    if known is not None:
        return known
    if inspect.isawaitable(reply):
        if inspect.iscoroutine(reply):
            reply.close()
        raise TypeError("call_llm is asynchronous: await ask_async, in the place of ask")
    if hasattr(reply, "__next__") or hasattr(reply, "__aiter__"):
        raise TypeError("call_llm returned a stream: pass it to ask_stream or ask_stream_async")
    raise TypeError(
        f"call_llm must return the model's text, (text, finish reason), or the response of {KNOWN}, not "
        f"{type(reply).__name__}"
    )


def said_or_none(reply: object) -> Said | None:
    """Reads a whole reply. Returns `None` if it is nothing that is known, such as a stream."""
    if isinstance(reply, (str, bytes, bytearray, memoryview)):
        return Said(reply, Finish.UNKNOWN.value)
    if isinstance(reply, tuple) and len(reply) == 2:
        text, finish = reply
        if (text is None or isinstance(text, (str, bytes))) and (finish is None or isinstance(finish, str)):
            return answer(text, finish)
    return next((known for read in _REPLIES if (known := read(reply)) is not None), None)
