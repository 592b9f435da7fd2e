"""Reads the text and the finish reason from a client's objects."""

from __future__ import annotations

import enum
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .._aliases import Output
from .._types import Finish

REFUSAL = Finish.REFUSAL.value


@dataclass(frozen=True)
class Said:
    """The answer of a model, and the reason why the model stopped."""

    text: Output
    finish: str


@dataclass(frozen=True)
class Piece:
    """A piece of a stream.

    Attributes:
        text: The next text. `None` if the piece has none.
        finish: Why the model stopped, if the piece says so.
        call: Identifies the tool call whose arguments `text` belongs to, among the calls of the answer.
    """

    text: str | bytes | None = None
    finish: str | None = None
    call: object = None


def get(value: object, name: str) -> Any:
    """Returns a member of a response, which is an object or, as JSON, a dict."""
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def listed(value: object) -> tuple[Any, ...]:
    """Returns a list as a tuple, and an empty one for anything else."""
    return tuple(value) if isinstance(value, (list, tuple)) else ()


def text_of(parts: Iterable[Any], name: str) -> str:
    """Joins one member of all parts, ignoring those in which it is not text."""
    texts = [get(part, name) for part in parts]
    return "".join(text for text in texts if isinstance(text, str))


def word(finish: object) -> str:
    """Returns a finish reason as a word."""
    value = finish.value if isinstance(finish, enum.Enum) else finish
    return value if isinstance(value, str) else Finish.UNKNOWN.value


def answer(text: object, finish: object, calls: Iterable[object] = ()) -> Said:
    """Returns the answer in a response: the arguments of its tool calls if it has any, and its text otherwise."""
    arguments = [written(each) for each in calls]
    if arguments:
        return Said("\n".join(arguments), word(finish))
    return Said(text if isinstance(text, (str, bytes)) else "", word(finish))


def written(arguments: object) -> str:
    """Returns the arguments of a tool call as JSON text. Some clients parse it."""
    if isinstance(arguments, str):
        return arguments
    return json.dumps(dict(arguments) if isinstance(arguments, Mapping) else arguments, ensure_ascii=False)
