"""Reads and writes JSON, preserving the source text of values."""

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


# Rejects `NaN` and `Infinity`, which Python accepts and JSON does not.
_VALUES = json.JSONDecoder(parse_constant=_refuse)
# The function in C that `decode` calls. The type stubs lack it.
_scan: Any = _VALUES.scan_once  # type: ignore[attr-defined]
# If only the text is needed, numbers are not converted: Python rejects those with more than 4,300 digits.
_TEXTS = json.JSONDecoder(parse_constant=_refuse, parse_int=str, parse_float=str)


def text(value: object) -> str:
    """Returns a value as JSON text without optional white space.

    A value that JSON cannot represent is an error (NaN), or is escaped so that the component reports it (half a
    surrogate pair).
    """
    return json.dumps(value, allow_nan=False, separators=(",", ":"))


def written(value: object) -> str:
    """Returns a value as JSON text without optional white space, in the fewest bytes. Lone surrogates are escaped."""
    whole = json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return whole if is_text(whole) else text(value)


def is_text(value: str) -> bool:
    """Returns whether a str is well-formed Unicode: it has no lone surrogates."""
    try:
        value.encode()
        return True
    except UnicodeEncodeError:
        return False


def quoted(value: str) -> str:
    """Returns well-formed Unicode text as a JSON string, in the fewest bytes."""
    return json.dumps(value, ensure_ascii=False)


def is_json(source: str) -> bool:
    """Returns whether a text is one JSON value, so that it can be embedded in another JSON text."""
    try:
        _, end = _TEXTS.raw_decode(source, _skip(source, 0))
        return _skip(source, end) == len(source)
    except (ValueError, RecursionError):
        return False


def parse(source: str) -> Any:
    """Parses a JSON text.

    Raises:
        ValueError: It is invalid.
    """
    try:
        # The component writes no white space around a value.
        value, end = _scan(source, 0)
        if end == len(source):
            return value
    except StopIteration:
        pass
    except RecursionError:
        raise ValueError("nests too deep") from None
    return _VALUES.decode(source)


def members(source: str, *, values: bool = True) -> Iterator[tuple[str, Any, str]]:
    """Yields the members of a JSON object in the order of the text: the name, the value, and the value's own text.

    Args:
        source: The JSON text of an object.
        values: If False, numbers in the values are left as text.

    Raises:
        ValueError: It is invalid.
    """
    for name, value, start, end in _members(source, _VALUES if values else _TEXTS):
        yield name, value, source[start:end]


def member_places(source: str) -> Iterator[tuple[str, int, int]]:
    """Yields the members of a JSON object: the name, and the offsets of the value.

    Raises:
        ValueError: It is invalid.
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
    """Yields the items of a JSON list, each as its own text.

    Raises:
        ValueError: It is invalid.
    """
    for start, end in item_places(source):
        yield source[start:end]


def item_places(source: str) -> Iterator[tuple[int, int]]:
    """Yields the offsets of each item of a JSON list.

    Raises:
        ValueError: It is invalid.
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
