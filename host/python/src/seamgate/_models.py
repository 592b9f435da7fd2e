"""Types as schemas, and documents as their instances, by Pydantic."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import _json
from ._faults import SeamgateFault
from ._types import Violation

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

# As in the report.
_MOST_VIOLATIONS = 100
_MOST_RECEIVED = 256
_MOST_MESSAGE = 512

# The keyword of a violation where a validator failed, and did not say what is wrong.
FAILED = "validator"


class Model:
    """A type that Pydantic has a schema for."""

    def __init__(self, of: Any) -> None:
        try:
            self._adapter, self.schema = _cached(of)
        except TypeError:
            # Not hashable; or no type, which is said again.
            self._adapter, self.schema = _made(of)

    def read(self, document: str) -> tuple[Any, tuple[Violation, ...]]:
        """An instance of a document that the schema accepts; or what its own validators find wrong."""
        from pydantic import ValidationError

        try:
            return self._adapter.validate_json(document), ()
        except ValidationError as error:
            value = _json.parse(document)
            found = error.errors(include_url=False, include_context=False)
            return None, tuple(
                _violation(value, each["loc"], each["type"], each["msg"]) for each in found[:_MOST_VIOLATIONS]
            )
        except Exception as error:
            # A validator that fails in another way accepts nothing either.
            message = f"the model failed: {type(error).__name__}: {error}"
            return None, (_violation(_json.parse(document), (), FAILED, message),)


@functools.lru_cache(maxsize=256)
def _cached(of: Any) -> tuple[TypeAdapter[Any], str]:
    return _made(of)


def _made(of: Any) -> tuple[TypeAdapter[Any], str]:
    try:
        from pydantic import PydanticUserError, TypeAdapter
    except ImportError:
        name = getattr(of, "__name__", repr(of))
        raise ImportError(
            f"{name} is a type: that needs Pydantic, `pip install seamgate[pydantic]`; a JSON Schema as a dict does not"
        ) from None
    try:
        adapter: TypeAdapter[Any] = of if isinstance(of, TypeAdapter) else TypeAdapter(of)
        return adapter, _json.text(adapter.json_schema(mode="validation"))
    except PydanticUserError as error:
        raise SeamgateFault("bad_contract", f"{of!r} has no JSON Schema: {error.message}") from None


def _violation(value: Any, place: Sequence[int | str], keyword: str, message: str) -> Violation:
    """What Pydantic found, in the words of a report."""
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
            # Pydantic also names what is not in the document: a type of a union, a function.
            continue
        path += _step(part)
        pointer += "/" + str(part).replace("~", "~0").replace("/", "~1")
    message = _cut(message, _MOST_MESSAGE)
    received = "" if keyword == "missing" else _cut(json.dumps(value, ensure_ascii=False), _MOST_RECEIVED)
    return Violation(path, keyword, message, received, message, pointer, "", None)


def _step(part: int | str) -> str:
    if isinstance(part, int):
        return f"[{part}]"
    if _NAME.fullmatch(part):
        return f".{part}"
    return "['" + _cut(part.replace("\\", "\\\\").replace("'", "\\'"), _MOST_RECEIVED) + "']"


def _cut(text: str, most: int) -> str:
    """A text in at most so many bytes; what cannot be seen is escaped."""
    text = "".join(character if character.isprintable() else ascii(character)[1:-1] for character in text[:most])
    return text.encode(errors="replace")[:most].decode(errors="ignore")
