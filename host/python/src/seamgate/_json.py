"""JSON text, where what was written counts and not only what it means."""

from __future__ import annotations

import json
import re

# As in the package's `__init__`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, NoReturn

_SPACE = re.compile(r"[ \t\n\r]*")


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


# `NaN` and `Infinity` are Python's, not JSON's.
_VALUES = json.JSONDecoder(parse_constant=_refuse)
# Written in C, and what `decode` calls. Types do not have it.
_scan: Any = _VALUES.scan_once  # type: ignore[attr-defined]
# Where only the text is wanted, numbers are not made: Python refuses those of more than 4,300 digits.
_TEXTS = json.JSONDecoder(parse_constant=_refuse, parse_int=str, parse_float=str)


def text(value: object) -> str:
    """A value as JSON text without optional white space.

    What is no JSON (NaN, half a surrogate pair) is an error here, or escaped so that the component says what is wrong.
    """
    return json.dumps(value, allow_nan=False, separators=(",", ":"))


def written(value: object) -> str:
    """A value as JSON text without optional white space, in the fewest bytes. What is no text is escaped."""
    whole = json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return whole if is_text(whole) else text(value)


def is_text(value: str) -> bool:
    """Whether a str is Unicode text: no half of a surrogate pair."""
    try:
        value.encode()
        return True
    except UnicodeEncodeError:
        return False


def quoted(value: str) -> str:
    """A text that is well-formed Unicode as a JSON string, in the fewest bytes."""
    return json.dumps(value, ensure_ascii=False)


def is_json(source: str) -> bool:
    """Whether a text is one value of JSON, so that it may stand inside another JSON text."""
    try:
        _, end = _TEXTS.raw_decode(source, _skip(source, 0))
        return _skip(source, end) == len(source)
    except (ValueError, RecursionError):
        return False


def parse(source: str) -> Any:
    """The value of a JSON text.

    Raises:
        ValueError: It is none.
    """
    try:
        # What the component writes has no white space around it.
        value, end = _scan(source, 0)
        if end == len(source):
            return value
    except StopIteration:
        pass
    except RecursionError:
        raise ValueError("nests too deep") from None
    return _VALUES.decode(source)


def members(source: str, *, values: bool = True) -> Iterator[tuple[str, Any, str]]:
    """The members of a JSON object in the order of the text: name, value, and the value's own text.

    Args:
        source: The JSON text of an object.
        values: Whether the values are wanted; where not, numbers in them are left as texts.

    Raises:
        ValueError: It is none.
    """
    for name, value, start, end in _members(source, _VALUES if values else _TEXTS):
        yield name, value, source[start:end]


def member_places(source: str) -> Iterator[tuple[str, int, int]]:
    """Yields the members of a JSON object: the name, and the offsets of the value.

    Raises:
        ValueError: It is none.
    """
    for name, _, start, end in _members(source, _TEXTS):
        yield name, start, end


def _members(source: str, decoder: json.JSONDecoder) -> Iterator[tuple[str, Any, int, int]]:
    try:
        at = _skip(source, 0)
        at = _skip(source, _expect(source, at, "{"))
        more = source[at : at + 1] != "}"
        while more:
            name, at = decoder.raw_decode(source, at)
            if not isinstance(name, str):
                raise ValueError(f"expected a name before character {at}")
            at = _skip(source, _expect(source, _skip(source, at), ":"))
            value, end = decoder.raw_decode(source, at)
            yield name, value, at, end
            at = _skip(source, end)
            more = source[at : at + 1] == ","
            at = _skip(source, at + 1) if more else at
        if _skip(source, _expect(source, at, "}")) != len(source):
            raise ValueError("text after the object")
    except RecursionError:
        raise ValueError("nests too deep") from None


def items(source: str) -> Iterator[str]:
    """The items of a JSON list, each as its own text.

    Raises:
        ValueError: It is none.
    """
    for start, end in item_places(source):
        yield source[start:end]


def item_places(source: str) -> Iterator[tuple[int, int]]:
    """Yields the offsets of each item of a JSON list.

    Raises:
        ValueError: It is none.
    """
    try:
        at = _skip(source, _expect(source, _skip(source, 0), "["))
        more = source[at : at + 1] != "]"
        while more:
            _, end = _TEXTS.raw_decode(source, at)
            yield at, end
            at = _skip(source, end)
            more = source[at : at + 1] == ","
            at = _skip(source, at + 1) if more else at
        if _skip(source, _expect(source, at, "]")) != len(source):
            raise ValueError("text after the list")
    except RecursionError:
        raise ValueError("nests too deep") from None


def _skip(source: str, at: int) -> int:
    space = _SPACE.match(source, at)
    return space.end() if space else at


def _expect(source: str, at: int, mark: str) -> int:
    if source[at : at + 1] != mark:
        raise ValueError(f"expected {mark!r} at character {at}")
    return at + 1
