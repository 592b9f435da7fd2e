"""Checks of arguments. Each error names the argument as the caller knows it."""

from __future__ import annotations

from ._limits import Limits

# As in the package's `__init__`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, TypeVar

    T = TypeVar("T")


def wrong(what: str, expected: str, given: object) -> TypeError:
    """Returns the error for an argument of the wrong kind."""
    from ._type_kinds import named

    return TypeError(f"{what} must be {expected}, not {named(given)}")


def agent(given: object, what: str = "agent") -> str:
    """Returns the name of an agent, or raises `TypeError`."""
    if isinstance(given, str):
        return given
    raise wrong(what, "the name of an agent, a str", given)


def limits(given: Limits | None) -> Limits:
    """Returns the given limits, or the defaults."""
    if given is None:
        return Limits()
    if isinstance(given, Limits):
        return given
    raise wrong("limits", "`Limits`, as `Limits(fuel=…)`", given)


def called(what: str, given: Callable[..., T]) -> Callable[..., T]:
    """Returns a function, or raises `TypeError` if it is not callable."""
    if callable(given):
        return given
    raise wrong(what, "a function", given)


def listed(what: str, of: type[T] | tuple[type[T], ...], given: Iterable[Any], named: str) -> list[T]:
    """Returns a list of objects of one kind."""
    from ._type_kinds import is_type

    if is_type(given) or not hasattr(given, "__iter__"):
        raise wrong(what, f"a list of {named}", given)
    found = list(given)
    for at, each in enumerate(found):
        if not isinstance(each, of):
            raise wrong(f"{what}[{at}]", named, each)
    return found


def iterator(what: str, given: Iterable[T], named: str) -> Iterator[T]:
    """Returns an iterator over objects that are checked later."""
    from ._type_kinds import is_type

    if is_type(given) or isinstance(given, (str, bytes)) or not hasattr(given, "__iter__"):
        raise wrong(what, f"an iterable of {named}", given)
    return iter(given)


def count(what: str, given: int | None) -> int | None:
    """Returns a number of at least 1, or `None` if none is given."""
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int):
        raise wrong(what, "a whole number", given)
    if given < 1:
        raise ValueError(f"{what} must be at least 1, not {given}")
    return given


def seconds(what: str, given: float | None) -> float | None:
    """Returns a number of seconds, or `None` if none is given."""
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, (int, float)):
        raise wrong(what, "a number of seconds", given)
    if not given > 0:
        raise ValueError(f"{what} must be more than 0, not {given}")
    return float(given)
