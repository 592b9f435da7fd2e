"""Documents that are given as Python objects, and what is in them that is not JSON."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

# The most characters that are shown of a name.
_MOST_NAME = 64


def plain(what: str, document: object) -> Any:
    """The same document as dicts and lists, with nothing in it that JSON text would lose or change.

    Args:
        what: What the document is, for the message.
        document: The document.

    Raises:
        TypeError: It holds something else than JSON: the message says what, where, and what to pass.
        ValueError: It nests too deep.
    """
    try:
        return _copied(document, "$", what, set())
    except RecursionError:
        raise ValueError(f"{what}: $ nests too deep") from None


def of_type(value: object) -> str | None:
    """What a value is where it says what another value must be: a model, a type, a schema of a library."""
    library = type(value).__module__.partition(".")[0]
    if isinstance(value, type):
        if hasattr(value, "model_json_schema"):
            return f"the Pydantic model {_shown(value.__name__)}"
        if dataclasses.is_dataclass(value):
            return f"the dataclass {_shown(value.__name__)}"
        return f"the type {_shown(value.__name__)}"
    if hasattr(value, "__origin__") or library == "typing" or type(value).__name__ == "UnionType":
        return f"the type {_shown(str(value))}"
    if library == "pydantic" and type(value).__name__ == "TypeAdapter":
        return "a Pydantic TypeAdapter"
    return None


def advice(value: object, named: str) -> str:
    """What to pass in place of a value that :func:`of_type` has named."""
    if named.startswith("the Pydantic model "):
        name = named.removeprefix("the Pydantic model ")
        of_it = f"`{name}.model_json_schema()`"
    elif named == "a Pydantic TypeAdapter":
        name, of_it = "the adapter", "`adapter.json_schema()`"
    else:
        name = named.rpartition(" ")[2]
        of_it = f"`pydantic.TypeAdapter({name}).json_schema()`"
    return f"pass {of_it}; or give {name} itself to `ask` or `parse_with_schema`, which run its own validators, too"


def _copied(value: object, path: str, what: str, around: set[int]) -> Any:
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        raise _refused(what, path, str(value))
    if not isinstance(value, (Mapping, list, tuple)) or isinstance(value, type):
        named = of_type(value)
        if named is None:
            raise _refused(what, path, f"an instance of {_shown(type(value).__name__)}")
        raise TypeError(f"{what}: {path} is {named}, not JSON: {advice(value, named)}")
    if id(value) in around:
        raise _refused(what, path, "a reference to an object around it")
    around.add(id(value))
    copy: Any
    if isinstance(value, Mapping):
        copy = {}
        for name, member in value.items():
            if not isinstance(name, str):
                raise TypeError(f"{what}: {path} has a member named {_shown(repr(name))}, which must be a str")
            copy[name] = _copied(member, path + _step(name), what, around)
    else:
        copy = [_copied(item, f"{path}[{at}]", what, around) for at, item in enumerate(value)]
    around.discard(id(value))
    return copy


def _refused(what: str, path: str, found: str) -> TypeError:
    return TypeError(f"{what}: {path} is {found}; it must be JSON, as `json.loads` gives it")


def _step(name: str) -> str:
    return f".{name}" if name.isidentifier() and name.isascii() and len(name) <= _MOST_NAME else f"['{_shown(name)}']"


def _shown(name: str) -> str:
    cut = name if len(name) <= _MOST_NAME else name[:_MOST_NAME] + "…"
    return "".join(character if character.isprintable() else ascii(character)[1:-1] for character in cut)
