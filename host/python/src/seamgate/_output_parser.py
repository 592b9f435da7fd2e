"""The shared part of the output parsers for frameworks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._clients import Said, said
from ._gate import Gate, gate_of
from ._judge import judge_of
from ._parser import ParseResult, parsed


class OutputParser:
    """Judges answers by a type or a contract.

    Args:
        of: As for `ask`.
        contract: As for `ask`.
        gate: As for `ask`.
        type_first: As for `ask`.
    """

    def __init__(self, of: Any, contract: Mapping[str, Any] | None, gate: Gate | None, type_first: bool) -> None:
        self._by = None if gate is None else gate_of(gate)
        self._judge = judge_of(of, contract, self._by, type_first)

    def parse(self, reply: object) -> ParseResult[Any]:
        """Judges an answer: a text, or the message of a client."""
        answer: Said = said(reply)
        return parsed(self._judge, self._judge.take(self._by, answer.text, answer.finish, None, None).report)

    def wanted(self) -> str:
        """Returns text for a prompt that says what the answer must be."""
        return self._judge.wanted()
