"""Sessions, which follow an output while it is streamed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from . import _json
from ._aliases import Evidence, Lists, PartialDocument
from ._answers import _record
from ._arguments import wrong
from ._faults import SeamgateFault
from ._raising import raising, unfit_is_a_fault
from ._records import dataclass
from ._requests import _evidence, _finish_word, _lists
from ._types import Finish, Span
from ._verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from ._engine import Engine
    from ._partial import View


@dataclass(frozen=True)
class Completed:
    """An item whose text has arrived completely. It is not judged yet.

    Attributes:
        candidate: The byte offset at which the candidate with this item begins.
        index: The item's index in that candidate, from 0.
        span: The item's position in the output, in bytes.
        text: The item's text.
        str_span: The item's position in characters. If a chunk was bytes, characters of the decoded text.
    """

    candidate: int
    index: int
    span: Span
    text: str = ""
    str_span: Span = (0, 0)

    @property
    def value(self) -> Any:
        """The item's value. None if the text is not valid JSON, which `repair` may still fix."""
        try:
            return _json.parse(self.text)
        except ValueError:
            return None


@dataclass(frozen=True)
class DeadEnd:
    """The reason why an output can no longer become valid, whatever follows.

    Attributes:
        keyword: The check that the output fails.
        message: One sentence for people.
        at: The byte offset in the output at which the failure was detected.
    """

    keyword: str
    message: str
    at: int


@dataclass(frozen=True)
class Progress:
    """The state of an output that is still being streamed.

    Attributes:
        completeness: `soft_complete` if the text so far is a complete document, although more may follow.
        items: The items that this chunk completed.
        dead_end: If the output can no longer become valid, the reason: stop the producer.
    """

    completeness: Literal["in_flight", "soft_complete", "hard_complete"]
    items: tuple[Completed, ...]
    dead_end: DeadEnd | None = None

    @property
    def partial(self) -> PartialDocument | None:
        """The document up to this chunk, for display. Nothing in it is judged: any member may be missing, and the last
        string may be incomplete. None before the document begins, and if it is neither an object nor an array.

        It is computed on access, at the cost of one verdict on the text so far.
        """
        text: _Text | None = self.__dict__.get("_text")
        return None if text is None else text.partial(self.__dict__["_end"])


class _Text:
    """The output so far, kept as long as a session or its progress needs it."""

    def __init__(self, view_of: Callable[[], View]) -> None:
        self.view_of = view_of
        self._view: View | None = None
        self.output = bytearray()

    def partial(self, end: int) -> PartialDocument | None:
        if self._view is None:
            self._view = self.view_of()
        document: PartialDocument | None = self._view.read(bytes(self.output[:end]))
        return document


class Session:
    """Takes chunks of an output, and returns the verdict at the end; see `Gate.session`.

    A session holds an instance until it is finished, closed, ended by a fault, or garbage-collected. `with` closes it:

        with gate.session("triage") as session:
            for progress in session.read(stream):
                show(progress.partial)
            verdict = session.finish()

    Only one thread at a time may use it.
    """

    def __init__(
        self,
        engine: Engine,
        agent: str,
        lists: Lists | None,
        evidence: Evidence | None,
        watched: Callable[..., Verdict],
        view_of: Callable[[], View],
    ) -> None:
        self._watched = watched
        self._coming = (
            _Native(engine, agent, lists, evidence)
            if hasattr(engine, "native")
            else _Other(engine, agent, lists, evidence)
        )
        self._agent = agent
        self._text = _Text(view_of)
        # A byte offset up to which characters are counted, and their number.
        self._counted = (0, 0)
        # The reason why the producer stopped, if the stream gave one.
        self._finish = Finish.UNKNOWN.value

    def __repr__(self) -> str:
        return f"<seamgate.Session of {self._agent}, {len(self._text.output)} bytes>"

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the session without a verdict, if it has not ended, and free its instance at once."""
        # Earlier progress remains readable.
        self._text = _Text(self._text.view_of)
        self._coming.close()

    def push(self, chunk: str | bytes) -> Progress:
        """Add the next chunk. It may end anywhere, even within a character.

        Raises:
            SeamgateFault: A limit was exceeded, which ends the session.
        """
        if isinstance(chunk, str):
            chunk = chunk.encode("utf-8", "surrogatepass")
        elif not isinstance(chunk, (bytes, bytearray, memoryview)):
            raise wrong("chunk", "str or bytes", chunk)
        chunk = bytes(chunk)
        progress = _record(Progress, _json.parse(self._coming.push(chunk)))
        self._text.output += chunk
        if progress.items:
            progress = replace(progress, items=tuple(map(self._completed, progress.items)))
        progress.__dict__.update(_text=self._text, _end=len(self._text.output))
        return progress

    @property
    def partial(self) -> PartialDocument | None:
        """The document so far; see `Progress.partial`."""
        return self._text.partial(len(self._text.output))

    def read(self, stream: object) -> Iterator[Progress]:
        """Read a whole stream, and yield the progress after each chunk. Then call `finish` for the verdict.

        The stream is closed at its end, or when the iterator is closed because the loop exits early.

        Args:
            stream: An iterable of str or bytes; or the stream of a client that `ask_stream` supports, which also says
                why the producer stopped.

        Raises:
            SeamgateFault: A limit was exceeded, which ends the session.
            TypeError: The stream is of an unknown type.
        """
        from ._clients import pieces

        for piece in pieces(stream):
            yield from self._taken(piece.text, piece.finish)

    async def read_async(self, stream: object) -> AsyncIterator[Progress]:
        """The same as `read`, for an asynchronous stream."""
        from ._clients import pieces_async

        async for piece in pieces_async(stream):
            for progress in self._taken(piece.text, piece.finish):
                yield progress

    def _taken(self, text: str | bytes | None, finish: str | None) -> Iterator[Progress]:
        if finish is not None and self._finish != Finish.REFUSAL.value:
            # Some APIs report `stop` after a refusal.
            self._finish = finish
        if text is not None:
            yield self.push(text)

    def finish(self, finish: Finish | str | None = None) -> Verdict:
        """Returns the verdict, the same as that of `Gate.validate` on the whole output.

        Args:
            finish: Why the producer stopped. Default: the reason in the stream that `read` read.

        Errors are those of `Gate.validate`.
        """
        return self._watched(self._finished, self._finish if finish is None else _finish_word(finish))

    def _finished(self, word: str) -> Verdict:
        return self._coming.finish(word, bytes(self._text.output))

    def _completed(self, item: Completed) -> Completed:
        """Adds the text to an item. Each character of consecutive items is counted once."""
        start, end = item.span
        output = self._text.output
        at, characters = self._counted if self._counted[0] <= start else (0, 0)
        before = characters + len(_decoded(output[at:start]))
        text = _decoded(output[start:end])
        self._counted = (end, before + len(text))
        return replace(item, text=text, str_span=(before, before + len(text)))


class _Native:
    """A session of the native module."""

    def __init__(self, engine: Any, agent: str, lists: Lists | None, evidence: Evidence | None) -> None:
        given = None if lists is None else _lists(lists)
        seen = None if evidence is None else _evidence(evidence)
        self._native: Any = unfit_is_a_fault(engine.native.session, agent, given, seen)

    def push(self, chunk: bytes) -> str:
        text: str = raising(self._native.push, chunk)
        return text

    def finish(self, word: str, output: bytes) -> Verdict:
        verdict: Verdict = unfit_is_a_fault(self._native.finish, word, output)
        return verdict

    def close(self) -> None:
        raising(self._native.close)


class _Other:
    """A session for a backend that has none of its own. After a fault or its end it accepts no more chunks."""

    def __init__(self, *given: Any) -> None:
        from ._following import Following

        self._following: Following | None = Following(*given)

    def _going_on(self) -> Any:
        if self._following is None:
            raise SeamgateFault("bad_request", "the session has ended")
        return self._following

    def push(self, chunk: bytes) -> str:
        following = self._going_on()
        self._following = None
        text: str = following.push(chunk)
        self._following = following
        return text

    def finish(self, word: str, output: bytes) -> Verdict:
        following = self._going_on()
        self._following = None
        verdict: Verdict = following.finish(word, output)
        return verdict

    def close(self) -> None:
        if self._following is not None:
            self._following.close()
        self._following = None


def _decoded(piece: bytearray) -> str:
    return piece.decode("utf-8", "replace")
