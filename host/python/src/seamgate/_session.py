"""An output that is still coming."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from . import _json
from ._aliases import Evidence, Lists
from ._answers import _record
from ._arguments import wrong
from ._raising import raising, unfit_is_a_fault
from ._records import dataclass
from ._requests import _evidence, _finish_word, _lists
from ._types import Finish, Span
from ._verdict import Verdict, of_native

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._native_engine import NativeEngine


@dataclass(frozen=True)
class Completed:
    """An item whose text has come whole. Nothing is judged yet.

    Attributes:
        candidate: Where the candidate begins that it is in, in bytes.
        index: Its place among the items of that candidate, from 0.
        span: Its place in the output, in bytes.
        text: Its text.
        str_span: Its place in characters, if all chunks were `str`, or in the text that their bytes are.
    """

    candidate: int
    index: int
    span: Span
    text: str = ""
    str_span: Span = (0, 0)


@dataclass(frozen=True)
class DeadEnd:
    """Why an output can no longer become right, whatever comes.

    Attributes:
        keyword: The check that it fails.
        message: One sentence for a person.
        at: Where in the output that came to light, in bytes.
    """

    keyword: str
    message: str
    at: int


@dataclass(frozen=True)
class Progress:
    """What is known of an output that is still coming.

    Attributes:
        completeness: `soft_complete` where what has come is a whole document, and more may come.
        items: The items that this chunk completed.
        dead_end: Why it can no longer become right, where it cannot: stop the producer.
    """

    completeness: Literal["in_flight", "soft_complete", "hard_complete"]
    items: tuple[Completed, ...]
    dead_end: DeadEnd | None = None


class Session:
    """Chunks in, the verdict at the end: see `Gate.session`.

    It holds an instance until it is finished, closed, ended by a fault, or collected. `with` closes it:

        with gate.session("triage") as session:
            for chunk in stream:
                session.push(chunk)
            verdict = session.finish("stop")

    One thread at a time may use it.
    """

    def __init__(
        self,
        engine: NativeEngine,
        agent: str,
        lists: Lists | None,
        evidence: Evidence | None,
        watched: Callable[..., Verdict],
    ) -> None:
        self._watched = watched
        given = None if lists is None else _lists(lists)
        seen = None if evidence is None else _evidence(evidence)
        self._native: Any = unfit_is_a_fault(engine.native.session, agent, given, seen)
        self._agent = agent
        self._output = bytearray()
        # A place up to which the characters are counted, and how many there are before it.
        self._counted = (0, 0)

    def __repr__(self) -> str:
        return f"<seamgate.Session of {self._agent}, {len(self._output)} bytes>"

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End it without a verdict, if it has not ended: what it holds is free at once."""
        self._output.clear()
        raising(self._native.close)

    def push(self, chunk: str | bytes) -> Progress:
        """Add the next piece, cut anywhere.

        Raises:
            SeamgateFault: A limit was passed, which ends the session.
        """
        if isinstance(chunk, str):
            chunk = chunk.encode("utf-8", "surrogatepass")
        elif not isinstance(chunk, (bytes, bytearray, memoryview)):
            raise wrong("chunk", "str or bytes", chunk)
        chunk = bytes(chunk)
        progress = _record(Progress, _json.parse(raising(self._native.push, chunk)))
        self._output += chunk
        if not progress.items:
            return progress
        return replace(progress, items=tuple(map(self._completed, progress.items)))

    def finish(self, finish: Finish | str | None = Finish.UNKNOWN) -> Verdict:
        """The verdict, the same as that of `Gate.validate` on the whole output.

        Args and errors are those of `Gate.validate`.
        """
        return self._watched(self._finished, _finish_word(finish))

    def _finished(self, word: str) -> Verdict:
        return of_native(unfit_is_a_fault(self._native.finish, word), bytes(self._output))

    def _completed(self, item: Completed) -> Completed:
        """Adds the text to an item. Each character of consecutive items is counted once."""
        start, end = item.span
        at, characters = self._counted if self._counted[0] <= start else (0, 0)
        before = characters + len(_text(self._output[at:start]))
        text = _text(self._output[start:end])
        self._counted = (end, before + len(text))
        return replace(item, text=text, str_span=(before, before + len(text)))


def _text(piece: bytearray) -> str:
    return piece.decode("utf-8", "replace")
