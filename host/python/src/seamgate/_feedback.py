"""Writes feedback in the gate's words if a type's own validators reject a document that the schema accepts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from ._types import Violation

# The limits of the gate's own feedback, in bytes: in all, for a path, for a message, and for the received value.
_MOST = 2048
_MOST_PLACE = 160
_MOST_MESSAGE = 300
_MOST_RECEIVED = 80
_MOST_ARRAY = 256
_MOST_KEY = 64

_HEAD = "The output does not match what was asked for.\n"
_TAIL = "Send the whole corrected output again."
_ITEMS = "Not all items of the output could be used.\n"
_MORE = len("- and 9999 more.\n")


def feedback(violations: Iterable[Violation]) -> str:
    """Returns what was wrong and where, in at most 2,048 bytes. The producer's own text is quoted as data."""
    return rejected({name: getattr(violation, name) for name in _TOLD} for violation in violations)


_TOLD = ("path", "message", "received")


def rejected(violations: Iterable[Mapping[str, Any]]) -> str:
    """Returns the same text for violations in their JSON form."""
    room = _MOST - len(_HEAD) - len(_TAIL) - _MORE
    lines, left_out = _fitting([_line(violation) for violation in violations], room)
    return f"{_HEAD}{''.join(lines)}{_more(left_out)}{_TAIL}"


def of_items(items: list[dict[str, Any]], path: str, key: str | None) -> str:
    """Asks for the quarantined items alone, and says what is wrong with each."""
    most = len(_wanting(len(items), path, key).encode())
    # The first line of every item comes before the second line of any.
    firsts = ["".join(map(_line, item["violations"][:1])) or _bare(item) for item in items]
    told, left_out = _fitting(firsts, _MOST - len(_ITEMS) - most - _MORE)
    rest = [_line(violation) for item in items[: len(told)] for violation in item["violations"][1:]]
    room = _MOST - len(_ITEMS) - most - _MORE - sum(len(line.encode()) for line in told)
    more, passed_over = _fitting(rest, room)
    return f"{_ITEMS}{''.join([*told, *more])}{_more(left_out + passed_over)}{_wanting(len(told), path, key)}"


def _wanting(count: int, path: str, key: str | None) -> str:
    array = _cut(_visible(path), _MOST_ARRAY)
    which, them, of = "the item named above again, corrected", "it", "its"
    if count != 1:
        which = f"the {count} items named above again, corrected, in the order of their numbers"
        them, of = "them", "their"
    kept = "" if key is None else f" Do not change {of} member {_quoted(key, _MOST_KEY)}, unless that is what is wrong."
    return f"Send only {which}: the same document, with nothing but {them} in {array}.{kept} The other items are kept."


def _fitting(lines: list[str], room: int) -> tuple[list[str], int]:
    """Returns the first lines that fit, and the number of lines left out."""
    for at, line in enumerate(lines):
        room -= len(line.encode())
        if room < 0:
            return lines[:at], len(lines) - at
    return lines, 0


def _more(left_out: int) -> str:
    return f"- and {left_out} more.\n" if left_out else ""


def _bare(item: Mapping[str, Any]) -> str:
    return f"- at {_cut(_visible(item['path']), _MOST_PLACE)}: must match the schema.\n"


def _line(violation: Mapping[str, Any]) -> str:
    message = _cut(_visible(violation["message"]).rstrip("."), _MOST_MESSAGE)
    line = f"- at {_cut(_visible(violation['path']), _MOST_PLACE)}: {message}."
    if violation["received"]:
        line += f" Received: {_quoted(violation['received'], _MOST_RECEIVED)}"
    return line + "\n"


def _quoted(text: str, most: int) -> str:
    return _visible(json.dumps(_cut(text, most), ensure_ascii=False))


def _visible(text: str) -> str:
    """Returns a text in one line, with invisible characters escaped."""
    return "".join(each if each.isprintable() else _escaped(each) for each in text)


def _escaped(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def _cut(text: str, most: int) -> str:
    """Truncates a text to at most this many bytes, and marks the truncation."""
    if len(text.encode()) <= most:
        return text
    return text.encode()[: most - len("…".encode())].decode(errors="ignore") + "…"
