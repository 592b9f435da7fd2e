"""Converts types to JSON Schemas, and documents to instances of the types."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from . import _json
from ._type_kinds import is_struct, is_type, leaves, named
from ._types import Violation

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

# The same limit as in a report.
_MOST_VIOLATIONS = 100
_MOST_RECEIVED = 256
_MOST_MESSAGE = 512

# The most bytes of a library's reason why a type has no schema.
_MOST_REASON = 120

# The place in an error of msgspec, where `[...]` means the value of a member without its name.
_PLACE = re.compile(r"(?s)(.*) - at `(?:key in )?\$(.*)`")
_PART = re.compile(r"\.([^.\[]+)|\[(\d+)\]")

# A function that reads a document, and returns the instance or the violations.
Read = Callable[[str], tuple[Any, tuple[Violation, ...]]]


class Model:
    """A type that has a JSON Schema. It converts documents to instances, which runs its own validators.

    Args:
        of: The type.
        what: The name of the argument, for messages.

    Raises:
        TypeError: It is not a type, or the type has no JSON Schema.
        ImportError: The type requires Pydantic, which is not installed.
    """

    def __init__(self, of: Any, what: str) -> None:
        if not is_type(of):
            raise TypeError(
                f"{what} must be a type (a Pydantic model, a TypeAdapter, a dataclass, a TypedDict, a msgspec Struct, "
                f"an attrs class …) or a JSON Schema as a dict, not {named(of)}"
            )
        if of is object:
            raise TypeError(
                f"{what} is the type object, which every document is: pass `typing.Any` where that is meant"
            )
        try:
            hash(of)
        except TypeError:
            make: Callable[[Any], tuple[str, Read]] = _made
        else:
            make = _cached
        try:
            self.schema, self.read = make(of)
        except _NoSchemaError as error:
            raise TypeError(f"{what} is {named(of)}, which has no JSON Schema: {error}") from error.__cause__


class _NoSchemaError(Exception):
    pass


def _sentence(text: str) -> str:
    """Returns the first sentence of a library's message, in one line."""
    return _cut(text.partition("\n")[0].partition(". ")[0].strip(), _MOST_REASON)


@functools.lru_cache(maxsize=256)
def _cached(of: Any) -> tuple[str, Read]:
    return _made(of)


def _made(of: Any) -> tuple[str, Read]:
    return _of_msgspec(of) if any(map(is_struct, leaves(of))) else _of_pydantic(of)


def _of_pydantic(of: Any) -> tuple[str, Read]:
    try:
        from pydantic import PydanticUndefinedAnnotation, PydanticUserError, ValidationError
    except ImportError:
        name = getattr(of, "__name__", repr(of))
        raise ImportError(
            f"{name} is a type: that needs Pydantic, `pip install seamgate[pydantic]`; a JSON Schema as a dict does not"
        ) from None
    from ._pydantic_schema import Schema, adapter_of

    try:
        adapter = adapter_of(of)
        schema = _json.text(adapter.json_schema(mode="validation", schema_generator=Schema))
    except (PydanticUserError, PydanticUndefinedAnnotation) as error:
        raise _NoSchemaError(_sentence(error.message)) from error

    def read(document: str) -> tuple[Any, tuple[Violation, ...]]:
        try:
            return adapter.validate_json(document), ()
        except ValidationError as error:
            found = error.errors(include_url=False, include_context=False)
        value = _json.parse(document)
        return None, tuple(
            _violation(value, each["loc"], each["type"], each["msg"]) for each in found[:_MOST_VIOLATIONS]
        )

    return schema, read


def _of_msgspec(of: Any) -> tuple[str, Read]:
    import msgspec

    try:
        schema = _json.text(msgspec.json.schema(of))
        decoder = msgspec.json.Decoder(of)
    except (TypeError, msgspec.MsgspecError) as error:
        raise _NoSchemaError(_sentence(str(error))) from error

    def read(document: str) -> tuple[Any, tuple[Violation, ...]]:
        try:
            return decoder.decode(document), ()
        except msgspec.ValidationError as error:
            if isinstance(error.__cause__, TypeError):
                # A bug in a `__post_init__`, which msgspec reports as an invalid document.
                raise error.__cause__ from None
            said = str(error)
        found = _PLACE.fullmatch(said)
        message, place = found.groups() if found else (said, "")
        parts: list[int | str] = []
        at = 0
        while part := _PART.match(place, at):
            parts.append(part[1] if part[1] is not None else int(part[2]))
            at = part.end()
        return None, (_violation(_json.parse(document), parts, "msgspec", message),)

    return schema, read


def _violation(value: Any, place: Sequence[int | str], keyword: str, message: str) -> Violation:
    """Converts an error of a type to a violation."""
    path, pointer = "$", ""
    for at, part in enumerate(place):
        if isinstance(value, dict) and str(part) in value:
            part = str(part)
            value = value[part]
        elif isinstance(value, list) and isinstance(part, int) and part < len(value):
            value = value[part]
        elif keyword == "missing" and at + 1 == len(place):
            value = None
        else:
            # Pydantic also names parts that are not in the document: a member type of a union, a function.
            continue
        path += step(part)
        pointer += "/" + str(part).replace("~", "~0").replace("/", "~1")
    message = _cut(message, _MOST_MESSAGE)
    received = "" if keyword == "missing" else _cut(json.dumps(value, ensure_ascii=False), _MOST_RECEIVED)
    return Violation(path, keyword, message, received, message, pointer, "", None)


def step(part: int | str) -> str:
    """Formats one step of a path."""
    if isinstance(part, int):
        return f"[{part}]"
    if _NAME.fullmatch(part):
        return f".{part}"
    return "['" + _cut(part.replace("\\", "\\\\").replace("'", "\\'"), _MOST_RECEIVED) + "']"


def _cut(text: str, most: int) -> str:
    """Truncates a text to at most this many bytes, and escapes invisible characters."""
    text = "".join(character if character.isprintable() else ascii(character)[1:-1] for character in text[:most])
    return text.encode(errors="replace")[:most].decode(errors="ignore")
