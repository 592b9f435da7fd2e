"""Positions in an output: in bytes, as in reports, and in characters, as in a `str`."""

from __future__ import annotations

from bisect import bisect_right

# As in the package's `__init__`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

# The distance in bytes between two indexed offsets.
_BLOCK = 4096


class Source:
    """The text of an output, indexed by byte offsets.

    Args:
        output: The output as it was given.
    """

    def __init__(self, output: str | bytes) -> None:
        self._output = output
        self._bytes: bytes | None = None
        # The offset at which each block begins, in bytes and in characters.
        self._starts: list[int] = []
        self._characters: list[int] = []

    def _indexed(self) -> bytes:
        if self._bytes is None:
            output = self._output
            data = output.encode("utf-8", "surrogatepass") if isinstance(output, str) else output
            at, characters = 0, 0
            while at < len(data) or not self._starts:
                self._starts.append(at)
                self._characters.append(characters)
                end = min(at + _BLOCK, len(data))
                # A block must not begin within a character.
                while end < len(data) and data[end] & 0xC0 == 0x80:
                    end += 1
                characters += len(self._decoded(data[at:end]))
                at = end
            self._bytes = data
        return self._bytes

    def _decoded(self, piece: bytes) -> str:
        return piece.decode("utf-8", "surrogatepass" if isinstance(self._output, str) else "replace")

    def piece(self, start: int, end: int) -> str | None:
        """Returns the text between two byte offsets, or `None` if they are out of range."""
        data = self._indexed()
        return self._decoded(data[start:end]) if start <= end <= len(data) else None

    def characters(self, offset: int) -> int:
        """Returns the number of characters before a byte offset."""
        data = self._indexed()
        block = bisect_right(self._starts, offset) - 1
        return self._characters[block] + len(self._decoded(data[self._starts[block] : offset]))


class Located:
    """An object with a position in an output."""

    @property
    def text(self) -> str | None:
        """The part of the output that `span` covers. None if there is no span or no output. A report that was read from
        JSON has no output.
        """
        source, span = self._place()
        return None if source is None or span is None else source.piece(*span)

    @property
    def str_span(self) -> tuple[int, int] | None:
        """`span` in characters: if the output was given as a `str`, `output[slice(*str_span)]` is `text`."""
        source, span = self._place()
        if source is None or span is None or source.piece(*span) is None:
            return None
        return source.characters(span[0]), source.characters(span[1])

    def _place(self) -> tuple[Source | None, tuple[int, int] | None]:
        return self.__dict__.get("_source"), getattr(self, "span", None)


def locate(source: Source, things: Iterable[Located]) -> None:
    """Attaches the output to objects that have a position in it."""
    for thing in things:
        thing.__dict__["_source"] = source
