"""Runs of the kernel. Every event and its consequences are in a journal before the host acts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from . import _json
from ._arguments import agent as _agent
from ._arguments import wrong
from ._faults import JournalError
from ._raising import fault_of
from ._requests import _text_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._native_engine import NativeEngine
    from ._words import Action, RunEvent, RunRecord, StartedEvent

T = TypeVar("T")

Blob = Literal["artifact", "checkpoint"]
"""The kinds of text that a journal stores beside its lines: whole results and prompts, and states to resume from."""


class Journal(Protocol):
    """Stores the lines of one run, for example in a database. The path of a folder can be used instead of a
    `Journal`."""

    def count(self) -> int:
        """Returns the number of lines, as far as this process knows."""

    def lines(self, start: int) -> Iterable[str]:
        """Returns the lines from number `start` on. The first line has the number 0."""

    def append(self, expected: int, lines: list[str]) -> bool:
        """Appends these lines if the journal has as many lines as expected, and makes them durable before returning.
        Returns False, and appends nothing, if it has another number of lines."""

    def put(self, blob: Blob, digest: str, text: str) -> None:
        """Stores a text under its digest. Storing it again is not an error."""

    def get(self, blob: Blob, digest: str) -> str | None:
        """Returns the text with a digest."""


class Run:
    """A run of the kernel, advanced event by event; see `Gate.start`, `Gate.open` and `Gate.restore`."""

    def __init__(self, native: Any) -> None:
        self._native = native

    def __repr__(self) -> str:
        return f"<seamgate.Run {self.id} of {self.agent}, step {self.step}>"

    def send(self, event: str | RunEvent | Mapping[str, Any]) -> tuple[Action, ...]:
        """Apply an event. Its consequences are in the journal when this returns.

        Args:
            event: The event (`schemas/event.schema.json`).

        Returns:
            The actions that the host must take.

        Raises:
            SeamgateFault: The kernel rejects the event. The run is unchanged.
            JournalError: The journal cannot be written, or another writer has added lines. The run is unchanged.
        """
        return actions(raised(self._native.send, _text_of("event", event)))

    def keep(self, text: str) -> str:
        """Store a text that an event names by its digest. Returns the digest."""
        if not isinstance(text, str):
            raise wrong("text", "a str", text)
        return str(raised(self._native.keep, text))

    @property
    def records(self) -> tuple[RunRecord, ...]:
        """The decisions of the last step."""
        return tuple(_json.parse(record) for record in self._native.records())

    @property
    def wake_at(self) -> int | None:
        """The time of the next timeout, in milliseconds since 1970. Send a `tick` then."""
        at: int | None = self._native.wake_at
        return at

    @property
    def state(self) -> str:
        """The state, as JSON text."""
        return str(self._native.state)

    @property
    def snapshot(self) -> str:
        """The snapshot for `Gate.restore`, as text to store beside the lines."""
        return str(self._native.snapshot)

    @property
    def step(self) -> int:
        """The number of events that the run has had."""
        return int(self._native.step)

    @property
    def id(self) -> str:
        """The run's id."""
        return str(self._native.id)

    @property
    def agent(self) -> str:
        """The agent whose profile applies."""
        return str(self._native.agent)


def start(
    engine: NativeEngine,
    journal: Journal | str | os.PathLike[str],
    agent: str,
    started: str | StartedEvent | Mapping[str, Any],
) -> tuple[Run, tuple[Action, ...]]:
    """Start a run in a journal without lines."""
    native, first = raised(engine.native.start, _kept(journal), _agent(agent), _text_of("event", started))
    return Run(native), actions(first)


def go_on(engine: NativeEngine, journal: Journal | str | os.PathLike[str]) -> Run:
    """Resume a run from its journal."""
    return Run(raised(engine.native.open, _kept(journal)))


def restore(engine: NativeEngine, journal: Journal | str | os.PathLike[str], snapshot: str) -> Run:
    """Resume a run from its snapshot."""
    if not isinstance(snapshot, str):
        raise wrong("snapshot", "`Run.snapshot`", snapshot)
    return Run(raised(engine.native.restore, _kept(journal), snapshot))


def _kept(journal: Journal | str | os.PathLike[str]) -> Journal | str | os.PathLike[str]:
    """Returns a journal, or raises `TypeError` if the value is not one."""
    if isinstance(journal, (str, os.PathLike)):
        return journal
    missing = [
        name for name in ("count", "lines", "append", "put", "get") if not callable(getattr(journal, name, None))
    ]
    if missing:
        raise wrong("journal", f"the path of a folder, or an object with the method {missing[0]!r}", journal)
    return journal


def actions(texts: list[str]) -> tuple[Action, ...]:
    """Reads actions from their JSON texts."""
    return tuple(_json.parse(text) for text in texts)


def raised(call: Callable[..., T], *arguments: Any) -> T:
    """Call the native module.

    Raises:
        SeamgateFault: It ended in a fault.
        JournalError: The journal failed.
    """
    from . import _native

    try:
        return call(*arguments)
    except _native.Fault as error:
        raise fault_of(error.args[0]) from None
    except _native.JournalFault as error:
        raise JournalError(*error.args) from None
