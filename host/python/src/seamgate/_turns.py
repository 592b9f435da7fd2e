"""A lock with a time limit on each wait."""

from __future__ import annotations

import threading

from ._faults import SeamgateFault


class Turns:
    """Admits one thread at a time, as the native module does for sessions and instances.

    Args:
        name: The name of the guarded object, for messages.
        most_seconds: How long a thread waits for its turn.
    """

    def __init__(self, name: str, most_seconds: float) -> None:
        self._name = name
        self._most = most_seconds
        self._lock = threading.Lock()
        self._user: int | None = None

    def __enter__(self) -> None:
        me = threading.get_ident()
        if self._user == me:
            # The caller is a callback or a signal handler in the same thread.
            raise RuntimeError(f"the {self._name} is at work: it cannot be called from inside")
        if not self._lock.acquire(timeout=self._most):
            message = f"another thread has used the {self._name} for {self._most:g} s: give each thread its own"
            raise SeamgateFault("busy", message)
        self._user = me

    def __exit__(self, *_: object) -> None:
        self._user = None
        self._lock.release()
