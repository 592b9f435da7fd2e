"""The gate as an output parser of LangChain. It needs the package `langchain-core`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, TypeVar, overload

from langchain_core.exceptions import OutputParserException
from langchain_core.output_parsers import BaseOutputParser
from langchain_core.outputs import Generation
from pydantic import PrivateAttr

from ._gate import Gate
from ._output_parser import OutputParser

T = TypeVar("T")


class ContractOutputParser(BaseOutputParser[T], Generic[T]):
    """Parses the answer of a model as an instance of a type, or as the document of a contract.

    Use it at the end of a chain: `prompt | model | ContractOutputParser(Order)`. It takes the model's finish reason
    into account, and parses the arguments of tool calls.

    Args:
        of: As for `seamgate.ask`.
        contract: As for `seamgate.ask`.
        gate: As for `seamgate.ask`.
        type_first: As for `seamgate.ask`.
    """

    _parser: OutputParser = PrivateAttr()

    @overload
    def __init__(
        self: ContractOutputParser[T],
        of: type[T],
        *,
        contract: Mapping[str, Any] | None = ...,
        gate: Gate | None = ...,
        type_first: bool = ...,
    ) -> None: ...
    @overload
    def __init__(
        self: ContractOutputParser[Any],
        of: Any,
        *,
        contract: Mapping[str, Any] | None = ...,
        gate: Gate | None = ...,
        type_first: bool = ...,
    ) -> None: ...

    def __init__(
        self,
        of: Any,
        *,
        contract: Mapping[str, Any] | None = None,
        gate: Gate | None = None,
        type_first: bool = False,
    ) -> None:
        super().__init__()
        self._parser = OutputParser(of, contract, gate, type_first)

    def parse(self, text: str) -> T:
        """Parses a text.

        Raises:
            OutputParserException: The text is not accepted. The exception has the feedback for the model.
        """
        return self._parsed(text, text)

    def parse_result(self, result: list[Generation], *, partial: bool = False) -> T:
        """Parses the message of a model."""
        first = result[0]
        return self._parsed(getattr(first, "message", first.text), first.text)

    def get_format_instructions(self) -> str:
        """Returns text for a prompt that says what the answer must be."""
        return self._parser.wanted()

    @property
    def _type(self) -> str:
        return "seamgate"

    def _parsed(self, reply: object, text: str) -> T:
        result = self._parser.parse(reply)
        if not result:
            # LangChain's agents send the observation to the model.
            raise OutputParserException(result.feedback, result.feedback, text, send_to_llm=True)
        data: T = result.data
        return data
