"""JSON as the kernel reads it: numbers keep their digits, a member that stands twice is an error, depth is bounded."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from decimal import Context, Decimal, InvalidOperation
from typing import Any

WIDE = Context(prec=100_000, Emax=10**15, Emin=-(10**15))
"""No number of a call may be rounded: two that differ in their last digit are two numbers."""


class Number:
    """A number with its exact value and the text that it was written as."""

    __slots__ = ("raw", "value")

    def __init__(self, raw: str) -> None:
        self.raw = raw
        self.value = Decimal(raw, WIDE)

    def whole(self) -> bool:
        _sign, digits, exponent = self.value.as_tuple()
        return exponent >= 0 or not any(digits[exponent:]) if isinstance(exponent, int) else False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Number) and self.value == other.value

    def __hash__(self) -> int:
        return hash(canonical(self))

    def __repr__(self) -> str:
        return self.raw


class Malformed(ValueError):
    """A text that is not the JSON that the kernel takes. `keyword` names what is wrong."""

    def __init__(self, keyword: str) -> None:
        super().__init__(keyword)
        self.keyword = keyword


def parse(text: str, depth: int = 64) -> Any:
    """Parse a JSON text.

    Raises:
        Malformed: It is not JSON, or ambiguous, or nested too deeply.
    """

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) != len(pairs):
            raise Malformed("duplicate_member")
        return made

    def constant(_: str) -> Any:
        raise Malformed("json")

    def number(raw: str) -> Number:
        try:
            return Number(raw)
        except (InvalidOperation, ArithmeticError):
            raise Malformed("number_range") from None

    try:
        value = json.loads(
            text, object_pairs_hook=members, parse_int=number, parse_float=number, parse_constant=constant
        )
    except Malformed:
        raise
    except RecursionError:
        raise Malformed("caps.depth") from None
    except ValueError:
        raise Malformed("json") from None
    _check(value, depth)
    return value


def _check(value: Any, depth: int) -> None:
    if isinstance(value, str):
        if re.search("[\ud800-\udfff]", value):
            raise Malformed("lone_surrogate")
    elif isinstance(value, (dict, list)):
        if depth == 0:
            raise Malformed("caps.depth")
        for name in value if isinstance(value, dict) else ():
            _check(name, 1)
        for item in value.values() if isinstance(value, dict) else value:
            _check(item, depth - 1)


def plain(value: Any) -> Any:
    """The value as the module `json` has it."""
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return json.loads(value.raw) if isinstance(value, Number) else value


def kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, Number):
        return "number"
    return {str: "string", list: "array", dict: "object"}[type(value)]


def equal(left: Any, right: Any) -> bool:
    """Equality of JSON Schema: numbers by value, objects whatever their order."""
    if kind(left) != kind(right):
        return False
    if isinstance(left, list):
        return len(left) == len(right) and all(map(equal, left, right))
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(equal(item, right[name]) for name, item in left.items())
    return bool(left == right)


def compact(value: Any, *, sort: bool = False) -> str:
    """The text of a value without optional white space and with the fewest escapes. Numbers stay as written."""
    if isinstance(value, Number):
        return value.raw
    if isinstance(value, dict):
        items = sorted(value.items()) if sort else value.items()
        return "{" + ",".join(f"{quoted(name)}:{compact(item, sort=sort)}" for name, item in items) + "}"
    if isinstance(value, list):
        return "[" + ",".join(compact(item, sort=sort) for item in value) + "]"
    return quoted(value) if isinstance(value, str) else json.dumps(value)


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def canonical(value: Any) -> str:
    """A text that equal values share."""
    if isinstance(value, Number):
        sign, digits, exponent = value.value.as_tuple()
        text = "".join(map(str, digits)).lstrip("0")
        short = text.rstrip("0")
        return f"{'-' if sign and short else ''}{short or 0}e{exponent + len(text) - len(short) if short else 0}"
    if isinstance(value, dict):
        return "{" + ",".join(f"{quoted(name)}:{canonical(item)}" for name, item in sorted(value.items())) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    return json.dumps(value)


Path = tuple[Any, ...]
"""Steps from the root: a name, an index, or `ALL` for `[*]`."""
ALL = None


def path_of(text: str) -> Path | None:
    """Parse a path (RFC 9535) of names, indices and `[*]`. None if it is anything else."""
    if not text.startswith("$"):
        return None
    steps: list[Any] = []
    step = re.compile(
        r"""\.([A-Za-z_\u0080-\U0010ffff][A-Za-z0-9_\u0080-\U0010ffff]*)|\[(\*)\]|\.(\*)|\[(0|[1-9][0-9]{0,8})\]"""
        r"""|\[('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\]""",
    )
    at = 1
    while at < len(text):
        found = step.match(text, at)
        if not found or found[3]:
            return None
        at = found.end()
        if found[1] is not None:
            steps.append(found[1])
        elif found[2]:
            steps.append(ALL)
        elif found[4] is not None:
            steps.append(int(found[4]))
        else:
            inner = found[5][1:-1]
            if found[5][0] == "'":
                inner = inner.replace("\\'", "'").replace('"', '\\"')
            try:
                steps.append(json.loads(f'"{inner}"'))
            except ValueError:
                return None
    return tuple(steps)


def pointer(steps: Path) -> str:
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)


def select(value: Any, path: Path, at: Path = ()) -> Iterator[tuple[Path, Any]]:
    """The values to which a path leads, each with its place."""
    if not path:
        yield at, value
        return
    step, rest = path[0], path[1:]
    if step is ALL:
        for index, item in enumerate(value if isinstance(value, list) else ()):
            yield from select(item, rest, (*at, index))
    elif isinstance(step, int):
        if isinstance(value, list) and step < len(value):
            yield from select(value[step], rest, (*at, step))
    elif isinstance(value, dict) and step in value:
        yield from select(value[step], rest, (*at, step))


def strings(value: Any, at: Path = ()) -> Iterator[tuple[Path, Any]]:
    """All values without members or items, each with its place."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from strings(item, (*at, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from strings(item, (*at, index))
    else:
        yield at, value
