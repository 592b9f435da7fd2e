"""A registry of contracts by agent, and a parser of outputs into types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, NoReturn, TypeVar, Union, overload

from . import _arguments
from ._aliases import Contract, Evidence, Lists, Output
from ._feedback import feedback
from ._gate import Gate, gate_of
from ._html import result_html
from ._judge import Judge, of_schema, registered
from ._own import read
from ._report import NotAcceptedError, Report
from ._type_kinds import is_type, named
from ._types import ContractInfo, Finish, Violation

# The most judges that a parser keeps.
_MOST_JUDGES = 256

T = TypeVar("T")
D = TypeVar("D", covariant=True)


@dataclass(frozen=True)
class Parsed(Generic[D]):
    """An accepted output. If a type was given, its own validators accepted it as well. It is truthy.

    Attributes:
        success: True.
        data: The validated document; if a type was given, an instance of it.
        raw: The output as text.
        violations: Empty.
        report: The report.
    """

    data: D
    raw: str = field(repr=False)
    report: Report = field(repr=False)
    success: Literal[True] = True
    violations: tuple[()] = ()

    def __bool__(self) -> Literal[True]:
        return True

    def _repr_html_(self) -> str:
        return result_html("Parsed", self.report.agent, self.data, ())

    def unwrap(self) -> D:
        """Returns `data`."""
        return self.data


@dataclass(frozen=True)
class NotParsed(Generic[D]):
    """An output that is not accepted. It is falsy. This includes partial outputs, which have `data`: `report` says what
    to check before its use.

    Attributes:
        success: False.
        data: The validated document of a partial output; if a type was given, an instance of it. Otherwise None.
        raw: The output as text.
        violations: The violations that the gate or the type's own validators found.
        report: The report. It may accept a document that the type's own validators rejected; items that they reject are
            in quarantine. `report.error` says which stage rejected the output.
        feedback: The feedback for the agent. It covers the findings of the type's own validators.
    """

    data: D | None
    raw: str = field(repr=False)
    report: Report = field(repr=False)
    violations: tuple[Violation, ...]
    feedback: str = field(repr=False)
    success: Literal[False] = False

    def __bool__(self) -> Literal[False]:
        return False

    def _repr_html_(self) -> str:
        return result_html("NotParsed", self.report.agent, self.data, self.violations)

    def unwrap(self) -> NoReturn:
        """Raises `NotAcceptedError`.

        Raises:
            NotAcceptedError: Always.
        """
        raise NotAcceptedError(self.report, self.violations, self.feedback)


ParseResult = Union[Parsed[T], NotParsed[T]]  # noqa: UP007 - a type with a parameter, in Python 3.10
"""The result of parsing an output. `success` says which of the two it is, and determines the type of `data`."""


class ContractRegistry:
    """The contracts of agents. Each is checked by compiling it.

    Args:
        gate: The gate in which they are registered. Default: a new gate.
    """

    def __init__(self, gate: Gate | None = None) -> None:
        self.gate = Gate() if gate is None else gate_of(gate)

    def __repr__(self) -> str:
        return f"ContractRegistry({self.gate!r})"

    def register(self, contract: Contract) -> ContractInfo:
        """Check a contract and register it; see `Gate.register`."""
        return self.gate.register(contract)

    def get(self, agent: str) -> ContractInfo:
        """Returns the contract that applies to an agent's outputs.

        Raises:
            SeamgateFault: `unknown_agent`.
        """
        return self.gate.contract(agent)

    def has(self, agent: str) -> bool:
        """Returns whether the agent has a contract."""
        return self.gate.has(agent)

    def list(self) -> list[str]:
        """Returns the agents that have a contract, in ascending order."""
        return self.gate.names()


class ResultParser:
    """Parses outputs into validated documents, or returns the reasons for their rejection.

    Args:
        registry: The contracts, as a registry or a gate. Default: an empty registry, which is enough for
            `parse_with_schema`.
    """

    def __init__(self, registry: ContractRegistry | Gate | None = None) -> None:
        self.registry = registry if isinstance(registry, ContractRegistry) else ContractRegistry(registry)
        self._judges: dict[tuple[type, bool], Judge] = {}

    def __repr__(self) -> str:
        return f"ResultParser({self.registry!r})"

    def parse(
        self,
        agent: str,
        output: Output,
        *,
        finish: Finish | str | None = Finish.UNKNOWN,
        lists: Lists | None = None,
        evidence: Evidence | None = None,
    ) -> ParseResult[Any]:
        """Judge an output by its agent's contract. If the contract was registered with a type as its schema, `data` is
        an instance of the type, and its own validators run.

        Args and errors are those of `Gate.validate`.
        """
        if not isinstance(agent, str):
            expected = "the name of an agent, a str; for a type, call `parse_with_schema`"
            raise _arguments.wrong("agent", expected, agent)
        judge = registered(agent, self.registry.gate)
        return parsed(judge, judge.validate(self.registry.gate, output, finish, lists, evidence).report)

    @overload
    def parse_with_schema(
        self,
        schema: type[T],
        output: Output,
        *,
        contract: Mapping[str, Any] | None = ...,
        finish: Finish | str | None = ...,
        lists: Lists | None = ...,
        evidence: Evidence | None = ...,
        type_first: bool = ...,
    ) -> ParseResult[T]: ...
    @overload
    def parse_with_schema(
        self,
        schema: Any,
        output: Output,
        *,
        contract: Mapping[str, Any] | None = ...,
        finish: Finish | str | None = ...,
        lists: Lists | None = ...,
        evidence: Evidence | None = ...,
        type_first: bool = ...,
    ) -> ParseResult[Any]: ...

    def parse_with_schema(
        self,
        schema: Any,
        output: Output,
        *,
        contract: Mapping[str, Any] | None = None,
        finish: Finish | str | None = Finish.UNKNOWN,
        lists: Lists | None = None,
        evidence: Evidence | None = None,
        type_first: bool = False,
    ) -> ParseResult[Any]:
        """Judge an output by a schema, without a contract. Each schema is compiled once.

        Args:
            schema: A JSON Schema (a dict, a bool, or JSON text); or a type that `ask` accepts, in which case `data` is
                an instance of it, and `violations` has the findings of its own validators.
            output: The agent's output.
            contract: Further members of the contract, such as `{"items": {"path": "$.findings[*]"}}`.
            finish: Why the producer stopped.
            lists: The lists that the contract's `allow` names.
            evidence: The results that the agent saw, if the contract has `evidence`.
            type_first: As for `ask`.

        Raises:
            SeamgateFault: `bad_contract` if the schema cannot be used; or a limit was exceeded.
            ImportError: The schema is a type, but Pydantic is not installed.
            TypeError: The schema is neither a JSON Schema nor a type that has one.
            Exception: A validator of the type raised an exception other than `ValueError` or `AssertionError`.
        """
        if not isinstance(output, (str, bytes, bytearray, memoryview)):
            first = "; the schema comes first" if is_type(output) or isinstance(output, (Mapping, bool)) else ""
            raise TypeError(f"output must be str or bytes, not {named(output)}{first}")
        judge = None
        if isinstance(schema, type) and contract is None:
            # The fast path for most calls, without hashing limits and policies.
            judge = self._judges.get((schema, type_first))
        if judge is None:
            judge = of_schema(schema, contract, self.registry.gate.limits, type_first, "schema")
            if isinstance(schema, type) and contract is None:
                if len(self._judges) >= _MOST_JUDGES:
                    self._judges.clear()
                self._judges[schema, type_first] = judge
        return parsed(judge, judge.validate(self.registry.gate, output, finish, lists, evidence).report)

    def describe_schema(self, schema: Any, *, contract: Mapping[str, Any] | None = None) -> str:
        """Returns text for an agent's prompt that says what its output must be for `parse_with_schema`.

        Args and errors are those of `parse_with_schema`.
        """
        return of_schema(schema, contract, self.registry.gate.limits, False, "schema").wanted()


def parsed(judge: Judge, report: Report) -> ParseResult[Any]:
    """Reads the document of a report as an instance of the judge's type."""
    found: tuple[Violation, ...] = ()
    if judge.model is None or report.output_json is None:
        data: Any = report.output
    else:
        data, report, found = read(judge.model, report, judge.items)
    if report.success and not found:
        made: Parsed[Any] = _new(Parsed)
        # The fast path for most outputs. Calling the constructor of a frozen dataclass takes longer.
        made.__dict__.update(data=data, raw=report.raw, report=report, success=True, violations=())
        return made
    return NotParsed(
        data, report.raw, report, found or report.violations, feedback(found) if found else report.feedback
    )


_new = object.__new__
