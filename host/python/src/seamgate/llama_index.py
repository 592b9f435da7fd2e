"""The gate as an output parser of LlamaIndex. It needs the package `llama-index-core`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llama_index.core.output_parsers.base import OutputParserException
from llama_index.core.types import BaseOutputParser

from ._gate import Gate
from ._output_parser import OutputParser


class ContractOutputParser(BaseOutputParser):
    """Parses the answer of a model as an instance of a type, or as the document of a contract.

    Args:
        of: As for `seamgate.ask`.
        contract: As for `seamgate.ask`.
        gate: As for `seamgate.ask`.
        type_first: As for `seamgate.ask`.
    """

    def __init__(
        self,
        of: Any,
        *,
        contract: Mapping[str, Any] | None = None,
        gate: Gate | None = None,
        type_first: bool = False,
    ) -> None:
        self._parser = OutputParser(of, contract, gate, type_first)

    def parse(self, output: str) -> Any:
        """Parses a text.

        Raises:
            OutputParserException: The text is not accepted. The exception has the feedback for the model.
        """
        result = self._parser.parse(output)
        if not result:
            raise OutputParserException(result.feedback)
        return result.data

    def format(self, query: str) -> str:
        """Adds a description of the expected answer to a prompt."""
        return f"{query}\n\n{self._parser.wanted()}"
