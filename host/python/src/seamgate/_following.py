"""Follows streamed outputs on a backend without sessions. The state between two chunks is a text."""

from __future__ import annotations

import codecs

from . import _json
from ._answers import _answer
from ._requests import _size

# As in the package's `__init__`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._aliases import Evidence, Lists
    from ._engine import Engine
    from ._types import Finish
    from ._verdict import Verdict


class Following:
    """Follows one output in an instance of its own."""

    def __init__(self, engine: Engine, agent: str, lists: Lists | None, evidence: Evidence | None) -> None:
        self._engine, self._agent = engine, agent
        self._lists, self._evidence = lists, evidence
        self._warm = engine.warm()
        # Reports a missing list or missing evidence now, not at the end.
        self._warm.validate(agent, "", None, lists, evidence)
        # A chunk may end within a character.
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._state: str | None = None
        self._bytes = 0

    def push(self, chunk: bytes) -> str:
        """Adds the next bytes. Returns the progress as JSON text."""
        self._bytes = self._engine.small_enough(self._bytes + len(chunk))
        text = self._decoder.decode(chunk)
        request = _json.text({"op": "push", "agent": self._agent, "chunk": text, "state": self._state})
        answer, _ = self._warm.answer(request, _size(request), [self._agent])
        result = self._engine.unless_fault(_answer(answer, "result"))["result"]
        self._state = result["state"]
        return _json.text(result["progress"])

    def finish(self, finish: Finish | str, output: bytes) -> Verdict:
        """Returns the verdict on the whole output."""
        verdict = self._engine.once().validate(self._agent, output, finish, self._lists, self._evidence)
        self.close()
        return verdict

    def close(self) -> None:
        """Frees the instance."""
        self._warm.close()
