"""Types as schemas, and documents as their instances, by Pydantic."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ._faults import SeamgateFault
from ._types import Violation

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

# As in the report.
_MOST_VIOLATIONS = 100
_MOST_RECEIVED = 256
_MOST_MESSAGE = 512


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
            found = error.errors(include_url=False, include_context=False)
            return None, tuple(
                _violation(each["loc"], each["type"], each["msg"], each["input"]) for each in found[:_MOST_VIOLATIONS]
            )
        except Exception as error:
            # A validator that fails in another way accepts nothing either.
            return None, (_violation((), "validator", f"the model failed: {type(error).__name__}: {error}", ""),)


@functools.lru_cache(maxsize=256)
def _cached(of: Any) -> tuple[TypeAdapter[Any], dict[str, Any]]:
    return _made(of)


def _made(of: Any) -> tuple[TypeAdapter[Any], dict[str, Any]]:
    try:
        from pydantic import PydanticUserError, TypeAdapter
    except ImportError:
        name = getattr(of, "__name__", repr(of))
        raise ImportError(
            f"{name} is a type: that needs Pydantic, `pip install seamgate[pydantic]`; a JSON Schema as a dict does not"
        ) from None
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(of)
        return adapter, adapter.json_schema(mode="validation")
    except PydanticUserError as error:
        raise SeamgateFault("bad_contract", f"{of!r} has no JSON Schema: {error.message}") from None


def _violation(place: Sequence[int | str], keyword: str, message: str, received: object) -> Violation:
    path = "$" + "".join(_step(part) for part in place)
    pointer = "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in place)
    message = _cut(message, _MOST_MESSAGE)
    return Violation(path, keyword, message, _cut(repr(received), _MOST_RECEIVED), message, pointer, "", None)


def _step(part: int | str) -> str:
    if isinstance(part, int):
        return f"[{part}]"
    return f".{part}" if _NAME.fullmatch(part) else "['" + part.replace("\\", "\\\\").replace("'", "\\'") + "']"


def _cut(text: str, most: int) -> str:
    """A text in at most so many bytes; what cannot be seen is escaped."""
    text = "".join(character if character.isprintable() else ascii(character)[1:-1] for character in text[:most])
    return text.encode(errors="replace")[:most].decode(errors="ignore")
