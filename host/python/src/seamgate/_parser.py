"""Contracts by agent, and outputs as the types that strict code wants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, overload

from . import _json, _models
from ._gate import Contract, Evidence, Gate, Lists, Output
from ._report import Report
from ._types import ContractInfo, Finish, Violation

T = TypeVar("T")
D = TypeVar("D", covariant=True)

_AGENT = "parse-with-schema"


@dataclass(frozen=True)
class ParseResult(Generic[D]):
    """What became of an output that was to be parsed.

    Attributes:
        success: Whether the output is accepted, by the gate and by the model where one was given. A partial output is
            not: `data` is there, and `report` says what to look at before its use.
        data: The validated document, an instance of the model where one was given; None where there is none.
        raw: The output as text.
        validation_errors: What is wrong with a document that was found and read.
        extraction_error: Why no document could be read, in a sentence.
        report: The gate's report. It may accept what the model's own validators then rejected.
    """

    success: bool
    data: D | None
    raw: str = field(repr=False)
    validation_errors: tuple[Violation, ...]
    extraction_error: str | None
    report: Report = field(repr=False)


class ContractRegistry:
    """The contracts of agents, each compiled to see that it is one.

    Args:
        gate: Where they are registered. Default: a gate of its own.
    """

    def __init__(self, gate: Gate | None = None) -> None:
        self.gate = gate or Gate()

    def register(self, contract: Contract) -> ContractInfo:
        """Check a contract and keep it; see `Gate.register`."""
        return self.gate.register(contract)

    def get(self, agent: str) -> ContractInfo:
        """Which contract applies to an agent's outputs.

        Raises:
            SeamgateFault: `unknown_agent`.
        """
        return self.gate.contract(agent)

    def has(self, agent: str) -> bool:
        """Whether a contract applies to an agent's outputs."""
        return self.gate.has(agent)

    def list(self) -> list[str]:
        """The agents that have a contract, in ascending order."""
        return self.gate.names()


class ResultParser:
    """Outputs in, documents or reasons out.

    Args:
        registry: The contracts. Default: an empty one, for `parse_with_schema`.
    """

    def __init__(self, registry: ContractRegistry | None = None) -> None:
        self.registry = registry or ContractRegistry()

    def parse(
        self,
        agent: str,
        output: Output,
        *,
        finish: Finish | str = Finish.UNKNOWN,
        lists: Lists | None = None,
        evidence: Evidence | None = None,
    ) -> ParseResult[Any]:
        """Judge an output by its agent's contract.

        Args and errors are those of `Gate.validate`.
        """
        gate = self.registry.gate
        return _result(gate.validate(agent, output, finish=finish, lists=lists, evidence=evidence).report)

    @overload
    def parse_with_schema(
        self, output: Output, schema: Mapping[str, Any] | bool, *, finish: Finish | str = ...
    ) -> ParseResult[Any]: ...
    @overload
    def parse_with_schema(self, output: Output, schema: type[T], *, finish: Finish | str = ...) -> ParseResult[T]: ...
    @overload
    def parse_with_schema(self, output: Output, schema: Any, *, finish: Finish | str = ...) -> ParseResult[Any]: ...

    def parse_with_schema(
        self, output: Output, schema: Any, *, finish: Finish | str = Finish.UNKNOWN
    ) -> ParseResult[Any]:
        """Judge an output by a schema, without a contract of one's own.

        Args:
            output: What the agent produced.
            schema: A JSON Schema (a dict, or a bool); or a type: a Pydantic model, a dataclass, or anything else that
                Pydantic has a schema for. Then `data` is of that type, and what its own validators reject is told in
                `validation_errors`. Types need the extra `seamgate[pydantic]`.
            finish: Why the producer stopped.

        Raises:
            SeamgateFault: `bad_contract` where the schema cannot be used; or a limit was passed.
            ImportError: The schema is a type, and Pydantic is not installed.
        """
        gate = self.registry.gate
        if isinstance(schema, (Mapping, bool)):
            schema = dict(schema) if isinstance(schema, Mapping) else schema
            return _result(gate.validate({"agent": _AGENT, "schema": schema}, output, finish=finish).report)
        model = _models.Model(schema)
        # Pydantic's own patterns look ahead. They are no producer's, and the steps of this engine are limited too.
        contract = {"agent": _AGENT, "schema": model.schema, "patterns": "backtracking"}
        report = gate.validate(_json.text(contract), output, finish=finish).report
        result = _result(report)
        if report.output_json is None:
            return result
        instance, violations = model.read(report.output_json)
        return ParseResult(
            success=result.success and not violations,
            data=instance,
            raw=result.raw,
            validation_errors=violations,
            extraction_error=None,
            report=report,
        )


def _result(report: Report) -> ParseResult[Any]:
    return ParseResult(
        success=report.success,
        data=report.data,
        raw=report.raw,
        validation_errors=report.validation_errors,
        extraction_error=report.extraction_error,
        report=report,
    )
