"""Writes a decoder's result in a notation that preserves details that JSON would lose.

Lists and objects begin with `a` and `o`. Integers and floats are `i` and `f`, with their digits. Strings, `true`,
`false` and `null` stay as they are.
"""

from typing import Any


def noted(value: Any) -> Any:
    match value:
        case None | bool() | str():
            return value
        case int():
            return ["i", hex(value)]
        case float():
            return ["f", repr(value)]
        case list() | tuple():
            return ["a", *map(noted, value)]
        case dict():
            return ["o", *(part for name, item in value.items() for part in (name, noted(item)))]
    raise TypeError(f"no value of JSON: {type(value)}")
