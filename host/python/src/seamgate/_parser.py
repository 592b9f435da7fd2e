"""Contracts by agent, and outputs as the types that strict code wants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Literal, TypeVar, Union, overload

from . import _json
from ._aliases import Contract, Evidence, Lists, Output
from ._feedback import feedback
from ._gate import Gate
from ._models import Model
from ._plain import plain
from ._report import Report
from ._schemas import Compiled, compiled, contract_of
from ._types import ContractInfo, Finish, Violation

T = TypeVar("T")
D = TypeVar("D", covariant=True)


@dataclass(frozen=True)
class Parsed(Generic[D]):
    """An output that is accepted, by the gate and by the model where one was given. It is true.

    Attributes:
        success: Whether it is accepted.
        data: The validated document, an instance of the model where one was given.
        raw: The output as text.
        validation_errors: None.
        extraction_error: None.
        report: The gate's report.
    """

    data: D
    raw: str = field(repr=False)
    report: Report = field(repr=False)
    success: Literal[True] = True
    validation_errors: tuple[()] = ()
    extraction_error: None = None

    def __bool__(self) -> Literal[True]:
        return True


@dataclass(frozen=True)
class NotParsed(Generic[D]):
    """An output that is not accepted. It is false. A partial one is not accepted: `data` is there, and `report` says
    what to look at before its use.

    Attributes:
        success: Whether it is accepted.
        data: The validated document of a partial output, an instance of the model where one was given; else None.
        raw: The output as text.
        validation_errors: What is wrong with a document that was found and read.
        extraction_error: Why no document could be read, in a sentence.
        report: The gate's report. It may accept what the model's own validators then rejected.
        feedback: What to tell the agent, also of what the model's own validators rejected.
    """

    data: D | None
    raw: str = field(repr=False)
    report: Report = field(repr=False)
    validation_errors: tuple[Violation, ...]
    extraction_error: str | None
    feedback: str = field(repr=False)
    success: Literal[False] = False

    def __bool__(self) -> Literal[False]:
        return False


ParseResult = Union[Parsed[T], NotParsed[T]]  # noqa: UP007 - a type with a parameter, in Python 3.10
"""What became of an output that was to be parsed. `success` says which of the two it is, and so the type of `data`."""


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
        """Judge an output by a schema, without a contract of one's own. A schema is compiled once.

        Args:
            output: What the agent produced.
            schema: A JSON Schema (a dict, or a bool); or a type: a Pydantic model, a dataclass, or anything else that
                Pydantic has a schema for; or a `TypeAdapter`. Then `data` is of that type, and what its own validators
                reject is told in `validation_errors`. Types need the extra `seamgate[pydantic]`.
            finish: Why the producer stopped.

        Raises:
            SeamgateFault: `bad_contract` where the schema cannot be used; or a limit was passed.
            ImportError: The schema is a type, and Pydantic is not installed.
            TypeError: The schema is a dict with something in it that is not JSON.
        """
        made, model = self._compiled(schema)
        report = made.gate.validate(made.info.agent, output, finish=finish).report
        if model is None or report.output_json is None:
            return _result(report)
        instance, violations = model.read(report.output_json)
        if not violations:
            return replace(_result(report), data=instance)
        return NotParsed(None, report.raw, report, violations, None, feedback(violations))

    def describe_schema(self, schema: Any) -> str:
        """Text for an agent's prompt: what its output must be for `parse_with_schema`.

        Args and errors are those of `parse_with_schema`.
        """
        made, _ = self._compiled(schema)
        return made.gate.describe(made.info.agent)

    def _compiled(self, schema: Any) -> tuple[Compiled, Model | None]:
        limits = self.registry.gate.limits
        if isinstance(schema, (Mapping, bool)):
            return compiled(contract_of(_json.text(plain("schema", schema))), limits), None
        model = Model(schema)
        # Pydantic's own patterns look ahead. They are no producer's, and the steps of this engine are limited too.
        return compiled(contract_of(model.schema, '"patterns":"backtracking",'), limits), model


def _result(report: Report) -> ParseResult[Any]:
    if report.success:
        return Parsed(report.data, report.raw, report)
    errors, error = report.validation_errors, report.extraction_error
    return NotParsed(report.data, report.raw, report, errors, error, report.feedback)
