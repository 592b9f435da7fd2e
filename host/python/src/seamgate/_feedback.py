"""What the producer is told where a model's own validators reject what the schema accepts: in the words of the gate."""

from __future__ import annotations

import json
from collections.abc import Iterable

from ._models import FAILED
from ._types import Violation

# As the gate's own: so many bytes in all, of a place, of a message, and of what was received.
_MOST = 2048
_MOST_PLACE = 160
_MOST_MESSAGE = 300
_MOST_RECEIVED = 80

_HEAD = "The output does not match what was asked for.\n"
_TAIL = "Send the whole corrected output again."
_MORE = len("- and 9999 more.\n")


def feedback(violations: Iterable[Violation]) -> str:
    """What was wrong and where, the producer's own text quoted as data: at most 2,048 bytes."""
    room = _MOST - len(_HEAD) - len(_TAIL) - _MORE
    lines: list[str] = []
    left_out = 0
    for violation in violations:
        line = _line(violation)
        if left_out or len(line.encode()) > room:
            left_out += 1
        else:
            lines.append(line)
            room -= len(line.encode())
    more = f"- and {left_out} more.\n" if left_out else ""
    return f"{_HEAD}{''.join(lines)}{more}{_TAIL}"


def _line(violation: Violation) -> str:
    # How a program failed is not for its producer.
    failed = violation.keyword == FAILED
    message = "could not be used" if failed else _cut(_visible(violation.message).rstrip("."), _MOST_MESSAGE)
    line = f"- at {_cut(_visible(violation.path), _MOST_PLACE)}: {message}."
    if violation.received and not failed:
        line += f" Received: {_visible(json.dumps(_cut(violation.received, _MOST_RECEIVED), ensure_ascii=False))}"
    return line + "\n"


def _visible(text: str) -> str:
    """A text in one line. What cannot be seen is escaped."""
    return "".join(each if each.isprintable() else _escaped(each) for each in text)


def _escaped(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def _cut(text: str, most: int) -> str:
    """A text in at most so many bytes; the cut is shown."""
    if len(text.encode()) <= most:
        return text
    return text.encode()[: most - len("…".encode())].decode(errors="ignore") + "…"
