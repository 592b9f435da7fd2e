"""Recognizes Python types that have a schema, and names other values in errors."""

from __future__ import annotations

import dataclasses
import typing
from typing import Any

# The most characters of a name in a message.
MOST_NAME = 64


def is_type(value: object) -> bool:
    """Returns whether a value is a type: a class, a generic type, or an adapter."""
    return (
        isinstance(value, type)
        or typing.get_origin(value) is not None
        or value is Any
        or hasattr(value, "__supertype__")
        or type(value).__name__ == "TypeAliasType"
        or is_adapter(value)
    )


def is_adapter(value: object) -> bool:
    """Returns whether a value is a `TypeAdapter` of Pydantic."""
    return _library(type(value)) == "pydantic" and type(value).__name__ == "TypeAdapter"


def is_struct(value: object) -> bool:
    """Returns whether a value is a class of msgspec."""
    return isinstance(value, type) and any(_library(base) == "msgspec" for base in value.__mro__)


def is_attrs(value: object) -> bool:
    """Returns whether a value is a class of attrs."""
    return isinstance(value, type) and "__attrs_attrs__" in vars(value)


def named(value: object) -> str:
    """Names a value for a message."""
    if is_adapter(value):
        return "a Pydantic TypeAdapter"
    if isinstance(value, type) and not hasattr(value, "__origin__"):
        kind = "type"
        if hasattr(value, "model_json_schema"):
            kind = "Pydantic model"
        elif is_struct(value):
            kind = "msgspec Struct"
        elif is_attrs(value):
            kind = "attrs class"
        elif dataclasses.is_dataclass(value):
            kind = "dataclass"
        return f"the {kind} {shown(value.__name__)}"
    if is_type(value):
        return f"the type {shown(str(value))}"
    if value is None or isinstance(value, (str, bytes, bool, int, float, list, dict, tuple)):
        return "None" if value is None else type(value).__name__
    return f"an instance of {shown(type(value).__name__)}"


def leaves(of: object) -> typing.Iterator[object]:
    """Yields a type, or the parts of a generic one."""
    arguments = typing.get_args(of)
    if not arguments or typing.get_origin(of) is typing.Literal:
        yield of
    for argument in arguments:
        yield from leaves(argument)


def shown(name: str) -> str:
    """Truncates a name, and escapes invisible characters."""
    cut = name if len(name) <= MOST_NAME else name[:MOST_NAME] + "…"
    return "".join(character if character.isprintable() else ascii(character)[1:-1] for character in cut)


def _library(of: type) -> str:
    return of.__module__.partition(".")[0]
