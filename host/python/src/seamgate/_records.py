"""Records: classes that behave like dataclasses, but import `dataclasses` only if more than their members is needed.

Importing `dataclasses` and creating thirty classes with it takes longer than creating a gate.
"""

from __future__ import annotations

# As in the package's `__init__`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import dataclass as dataclass
    from dataclasses import field as field
    from typing import Any

_MISSING: Any = object()


class Member:
    """One member of a record."""

    __slots__ = ("compare", "default", "repr")

    def __init__(self, default: Any, repr: bool, compare: bool) -> None:
        self.default = default
        self.repr = repr
        self.compare = compare

    @property
    def is_required(self) -> bool:
        """True if it has no default."""
        return self.default is _MISSING


def members(cls: type) -> dict[str, Member]:
    """Returns the members of a record, in order. Empty for any other class."""
    found: dict[str, Member] = getattr(cls, "_members", {})
    return found


def hints(cls: type) -> dict[str, Any]:
    """Returns the types of the members of a record, with None for `Any`."""
    import sys

    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        if "_members" in base.__dict__:
            names = {**vars(sys.modules[base.__module__]), "Any": None}
            # `eval` is safe here: the annotations belong to this package.
            found.update({name: eval(of, names) for name, of in base.__annotations__.items()})  # noqa: S307
    return found


if not TYPE_CHECKING:

    def field(*, default: Any = _MISSING, repr: bool = True, compare: bool = True) -> Any:
        """Declares a member with options."""
        return Member(default, repr, compare)

    def dataclass(*, frozen: bool) -> Callable[[type], type]:
        """Turns a class into a record. All records are frozen."""
        return _made


def _made(cls: Any) -> Any:
    known = {name: member for base in reversed(cls.__mro__[1:]) for name, member in members(base).items()}
    for name in cls.__annotations__:
        given = cls.__dict__.get(name, _MISSING)
        member = known[name] = given if isinstance(given, Member) else Member(given, True, True)
        if member.default is not _MISSING:
            setattr(cls, name, member.default)
        elif given is not _MISSING:
            delattr(cls, name)
    cls._members = known
    # A method that the class defines itself is kept.
    for name, method in _METHODS.items():
        if name not in cls.__dict__:
            setattr(cls, name, method)
    if "__match_args__" not in cls.__dict__:
        setattr(cls, "__match_args__", tuple(known))  # noqa: B010
    return cls


def _init(self: Any, /, *given: Any, **named: Any) -> None:
    known = self._members
    if given or named.keys() != known.keys():
        named = _filled(type(self), known, given, named)
    self.__dict__.update(named)
    after = getattr(self, "__post_init__", None)
    if after is not None:
        after()


def _filled(cls: type, known: dict[str, Member], given: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
    """Returns all members of a record, given the positional and named arguments of its constructor."""
    if len(given) > len(known):
        raise TypeError(f"{cls.__name__}() takes {len(known)} arguments, not {len(given)}")
    filled = dict(zip(known, given))  # noqa: B905
    for name, value in named.items():
        if name not in known:
            raise TypeError(f"{cls.__name__}() got an unexpected keyword argument {name!r}")
        if name in filled:
            raise TypeError(f"{cls.__name__}() got multiple values for argument {name!r}")
        filled[name] = value
    for name, member in known.items():
        if name not in filled:
            if member.is_required:
                raise TypeError(f"{cls.__name__}() lacks the argument {name!r}")
            filled[name] = member.default
    return filled


def _compared(record: Any) -> tuple[Any, ...]:
    return tuple(getattr(record, name) for name, member in record._members.items() if member.compare)


def _eq(self: Any, other: Any) -> bool:
    return _compared(self) == _compared(other) if other.__class__ is self.__class__ else NotImplemented


def _hash(self: Any) -> int:
    return hash(_compared(self))


def _repr(self: Any) -> str:
    shown = (f"{name}={getattr(self, name)!r}" for name, member in self._members.items() if member.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _set(self: Any, name: str, value: object) -> None:
    _frozen(f"cannot assign to field {name!r}")


def _delete(self: Any, name: str) -> None:
    _frozen(f"cannot delete field {name!r}")


def _frozen(message: str) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(message)


def _replaced(self: Any, /, **changes: Any) -> Any:
    from dataclasses import replace

    return replace(self, **changes)


class _AsDataclass:
    """An attribute that `dataclasses` or `inspect` reads from a record, computed on first access."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: Any) -> Any:
        import dataclasses
        import inspect

        # Uses the class that defines the members, because a subclass may be of any kind.
        cls = next(base for base in owner.__mro__ if "_members" in base.__dict__)
        namespace: dict[str, Any] = {"__annotations__": {}, "__module__": cls.__module__}
        for base in reversed(cls.__mro__):
            if "_members" in base.__dict__:
                namespace["__annotations__"].update(base.__annotations__)
        for name, member in cls._members.items():
            default = {} if member.is_required else {"default": member.default}
            namespace[name] = dataclasses.field(**default, repr=member.repr, compare=member.compare)
        made: Any = dataclasses.dataclass(frozen=True)(type(cls.__name__, (), namespace))
        cls.__dataclass_fields__ = made.__dataclass_fields__
        cls.__dataclass_params__ = made.__dataclass_params__
        cls.__signature__ = inspect.signature(made)
        return getattr(cls, self._name)


_METHODS: dict[str, Any] = {
    "__init__": _init,
    "__eq__": _eq,
    "__hash__": _hash,
    "__repr__": _repr,
    "__setattr__": _set,
    "__delattr__": _delete,
    "__replace__": _replaced,
    **{name: _AsDataclass(name) for name in ("__dataclass_fields__", "__dataclass_params__", "__signature__")},
}
