"""Replies that are streamed."""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Mapping
from contextlib import AsyncExitStack, ExitStack
from typing import Any

from .._types import Finish
from ._reading import CLIENTS, KNOWN, said_or_none
from ._said import REFUSAL, Piece, Said

_CHUNKS: tuple[Callable[[object], Iterable[Piece] | None], ...] = tuple(client.chunk for client in CLIENTS)


def pieces(reply: object) -> Generator[Piece, None, None]:
    """Reads the stream that a client returned, or a whole reply as one piece. Closes the stream when the generator ends
    or is closed.

    Raises:
        TypeError: The reply is of an unknown type.
    """
    whole = said_or_none(reply)
    if whole is not None:
        yield _whole(whole)
        return
    with ExitStack() as stack:
        stream: Any = _stream_of(reply)
        if not hasattr(stream, "__iter__") and hasattr(stream, "__enter__"):
            # A helper such as `client.messages.stream(…)`.
            stream = stack.enter_context(stream)
        if hasattr(stream, "__aiter__") or inspect.isawaitable(stream):
            if inspect.iscoroutine(stream):
                stream.close()
            raise TypeError("call_llm is asynchronous: use ask_stream_async, in the place of ask_stream")
        if not hasattr(stream, "__iter__") or hasattr(type(stream), "model_fields") or isinstance(stream, Mapping):
            raise _unknown(stream)
        stack.callback(_close, stream)
        for chunk in stream:
            yield from _of_chunk(chunk)


async def pieces_async(reply: object) -> AsyncGenerator[Piece, None]:
    """The same as `pieces`, for an asynchronous client."""
    whole = said_or_none(reply)
    if whole is not None:
        yield _whole(whole)
        return
    async with AsyncExitStack() as stack:
        stream: Any = _stream_of(reply)
        if not hasattr(stream, "__aiter__") and hasattr(stream, "__aenter__"):
            stream = await stack.enter_async_context(stream)
        if hasattr(stream, "__aiter__"):
            stack.push_async_callback(_aclose, stream)
            async for chunk in stream:
                for piece in _of_chunk(chunk):
                    yield piece
        elif isinstance(stream, (list, tuple)):
            for chunk in stream:
                for piece in _of_chunk(chunk):
                    yield piece
        elif hasattr(stream, "__next__"):
            raise TypeError("call_llm returned a stream that is not asynchronous: use ask_stream")
        else:
            raise _unknown(stream)


class Told:
    """The answer in a stream so far.

    Arguments of tool calls replace text that came before them, as in a whole reply.
    """

    def __init__(self) -> None:
        self._pieces: list[str | bytes] = []
        self._finish = Finish.UNKNOWN.value
        self._call: object = None

    def take(self, piece: Piece) -> tuple[bool, str | bytes | None]:
        """Adds a piece. Returns whether the piece restarts the answer, and its text."""
        if piece.finish is not None and self._finish != REFUSAL:
            # Some APIs report `stop` after a refusal.
            self._finish = piece.finish
        text, begins = piece.text, False
        if text is None or (piece.call is None and self._call is not None):
            return False, None
        if piece.call != self._call:
            if self._call is None:
                begins = bool(self._pieces)
                self._pieces.clear()
            elif self._pieces:
                text = b"\n" + text if isinstance(text, bytes) else "\n" + text
            self._call = piece.call
        self._pieces.append(text)
        return begins, text

    def said(self) -> Said:
        """Returns the whole answer."""
        if all(isinstance(piece, str) for piece in self._pieces):
            return Said("".join(self._pieces), self._finish)  # type: ignore[arg-type]
        encoded = [p.encode("utf-8", "surrogatepass") if isinstance(p, str) else p for p in self._pieces]
        return Said(b"".join(encoded), self._finish)


def _stream_of(reply: Any) -> Any:
    """Returns the stream inside a response of Bedrock's `converse_stream`, and any other reply unchanged."""
    return reply["stream"] if isinstance(reply, Mapping) and "stream" in reply else reply


def _whole(said: Said) -> Piece:
    text = said.text
    return Piece(text if isinstance(text, (str, bytes)) else bytes(text), said.finish)


def _of_chunk(chunk: object) -> Iterable[Piece]:
    if isinstance(chunk, str):
        return (Piece(chunk),)
    if isinstance(chunk, (bytes, bytearray, memoryview)):
        return (Piece(bytes(chunk)),)
    for read in _CHUNKS:
        known = read(chunk)
        if known is not None:
            return known
    if isinstance(_type_of(chunk), str):
        # An event without a piece of the answer.
        return ()
    raise TypeError(f"a chunk of the stream must be str, bytes, or an event of {KNOWN}, not {type(chunk).__name__}")


def _type_of(chunk: object) -> object:
    return chunk.get("type") if isinstance(chunk, dict) else getattr(chunk, "type", None)


def _unknown(stream: object) -> TypeError:
    return TypeError(
        "call_llm must return a stream of str or bytes, the stream or the response of "
        f"{KNOWN}, or a text, not {type(stream).__name__}"
    )


def _close(stream: Any) -> None:
    close = getattr(stream, "close", None)
    if callable(close):
        close()


async def _aclose(stream: Any) -> None:
    close = getattr(stream, "aclose", None) or getattr(stream, "close", None)
    if callable(close):
        waits = close()
        if inspect.isawaitable(waits):
            await waits
