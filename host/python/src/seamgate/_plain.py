"""Checks that documents given as Python objects are JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ._type_kinds import MOST_NAME, is_adapter, is_struct, is_type, named, shown


def plain(what: str, document: object) -> Any:
    """Returns the same document as dicts and lists, containing only values that JSON text preserves.

    Args:
        what: The kind of document, for the message.
        document: The document.

    Raises:
        TypeError: It holds a value that is not JSON. The message says what, where, and what to pass instead.
        ValueError: It is nested too deeply.
    """
    try:
        return _copied(document, "$", what, set())
    except RecursionError:
        raise ValueError(f"{what}: $ nests too deep") from None


def advice(value: object) -> str:
    """Returns advice on what to pass instead of a type if JSON is required."""
    name = "the adapter" if is_adapter(value) else shown(getattr(value, "__name__", str(value)))
    if is_adapter(value):
        of_it = "`adapter.json_schema()`"
    elif hasattr(value, "model_json_schema"):
        of_it = f"`{name}.model_json_schema()`"
    elif is_struct(value):
        of_it = f"`msgspec.json.schema({name})`"
    else:
        of_it = f"`pydantic.TypeAdapter({name}).json_schema()`"
    return f"pass {of_it}; or {name} itself as the whole `schema` of a contract, or to `ask` or `parse_with_schema`"


def _copied(value: object, path: str, what: str, around: set[int]) -> Any:
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        raise _refused(what, path, str(value))
    if not isinstance(value, (Mapping, list, tuple)) or isinstance(value, type):
        if is_type(value):
            raise TypeError(f"{what}: {path} is {named(value)}, not JSON: {advice(value)}")
        raise _refused(what, path, f"an instance of {shown(type(value).__name__)}")
    if id(value) in around:
        raise _refused(what, path, "a reference to an object around it")
    around.add(id(value))
    copy: Any
    if isinstance(value, Mapping):
        copy = {}
        for name, member in value.items():
            if not isinstance(name, str):
                raise TypeError(f"{what}: {path} has a member named {shown(repr(name))}, which must be a str")
            copy[name] = _copied(member, path + _step(name), what, around)
    else:
        copy = [_copied(item, f"{path}[{at}]", what, around) for at, item in enumerate(value)]
    around.discard(id(value))
    return copy


def _refused(what: str, path: str, found: str) -> TypeError:
    return TypeError(f"{what}: {path} is {found}; it must be JSON, as `json.loads` gives it")


def _step(name: str) -> str:
    return f".{name}" if name.isidentifier() and name.isascii() and len(name) <= MOST_NAME else f"['{shown(name)}']"
