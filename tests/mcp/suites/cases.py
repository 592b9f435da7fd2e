"""The part that both suites share: cases of calls, and the worlds in which calls act."""

from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True)
class Call:
    """A call of a tool."""

    tool: str
    arguments: dict


@dataclass(frozen=True)
class Turn:
    """The user's words, and the calls that do what they ask."""

    said: str
    calls: list[Call]


class World(Protocol):
    """The state of one case, on which calls act."""

    def call(self, call: Call) -> tuple[object, bool]:
        """Return the result of a call, and whether it failed."""
        ...

    def state(self) -> object:
        """Return what tells whether a task was solved."""
        ...


@dataclass(frozen=True)
class Case:
    """A user's task, and what an injection wants, if any. `poisoned` is the number of the call whose result has it."""

    group: str
    name: str
    turns: list[Turn] = field(hash=False)
    injected: list[Call] = field(default_factory=list, hash=False)
    poisoned: int = 0
