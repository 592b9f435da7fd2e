"""Contracts by agent, and outputs as the types that strict code wants."""

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
    """An output that is accepted, by the gate and by the model where one was given. It is true.

    Attributes:
        success: Whether it is accepted.
        data: The validated document, an instance of the type where one was given.
        raw: The output as text.
        violations: None.
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
        """Returns the validated document, or its instance."""
        return self.data


@dataclass(frozen=True)
class NotParsed(Generic[D]):
    """An output that is not accepted. It is false. A partial one is not accepted: `data` is there, and `report` says
    what to look at before its use.

    Attributes:
        success: Whether it is accepted.
        data: The validated document of a partial output, an instance of the type where one was given; else None.
        raw: The output as text.
        violations: What is wrong: as the gate says, or as the type's own validators do.
        report: The report. It may accept what the type's own validators then rejected; items that they reject are in
            quarantine. `report.error` says which stage rejected the output.
        feedback: What to tell the agent, also of what the type's own validators rejected.
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
        """Raises an error, because nothing is accepted.

        Raises:
            NotAcceptedError: Always.
        """
        raise NotAcceptedError(self.report, self.violations, self.feedback)


ParseResult = Union[Parsed[T], NotParsed[T]]  # noqa: UP007 - a type with a parameter, in Python 3.10
"""What became of an output that was to be parsed. `success` says which of the two it is, and so the type of `data`."""


class ContractRegistry:
    """The contracts of agents, each compiled to see that it is one.

    Args:
        gate: Where they are registered. Default: a gate of its own.
    """

    def __init__(self, gate: Gate | None = None) -> None:
        self.gate = Gate() if gate is None else gate_of(gate)

    def __repr__(self) -> str:
        return f"ContractRegistry({self.gate!r})"

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
        registry: The contracts, as a registry or as the gate that has them. Default: an empty one, for
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
        """Judge an output by its agent's contract. Where a type was registered as its schema, `data` is an instance of
        it, and its own validators run.

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
        """Judge an output by a schema, without a contract of one's own. A schema is compiled once.

        Args:
            schema: A JSON Schema (a dict, a bool, or JSON text); or a type, as `ask` takes it. Then `data` is an
                instance of it, and what its own validators reject is in `violations`.
            output: What the agent produced.
            contract: What the contract says beside the schema, as `{"items": {"path": "$.findings[*]"}}`.
            finish: Why the producer stopped.
            lists: Lists that the contract's `allow` names.
            evidence: What the agent saw, where the contract has `evidence`.
            type_first: As for `ask`.

        Raises:
            SeamgateFault: `bad_contract` where the schema cannot be used; or a limit was passed.
            ImportError: The schema is a type, and Pydantic is not installed.
            TypeError: The schema is neither a JSON Schema nor a type that has one.
            Exception: A validator of the type raised something else than `ValueError` or `AssertionError`.
        """
        if not isinstance(output, (str, bytes, bytearray, memoryview)):
            first = "; the schema comes first" if is_type(output) or isinstance(output, (Mapping, bool)) else ""
            raise TypeError(f"output must be str or bytes, not {named(output)}{first}")
        judge = None
        if isinstance(schema, type) and contract is None:
            # Most calls: no hashing of limits and policies.
            judge = self._judges.get((schema, type_first))
        if judge is None:
            judge = of_schema(schema, contract, self.registry.gate.limits, type_first, "schema")
            if isinstance(schema, type) and contract is None:
                if len(self._judges) >= _MOST_JUDGES:
                    self._judges.clear()
                self._judges[schema, type_first] = judge
        return parsed(judge, judge.validate(self.registry.gate, output, finish, lists, evidence).report)

    def describe_schema(self, schema: Any, *, contract: Mapping[str, Any] | None = None) -> str:
        """Text for an agent's prompt: what its output must be for `parse_with_schema`.

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
        # Most outputs. A frozen dataclass takes longer to make.
        made.__dict__.update(data=data, raw=report.raw, report=report, success=True, violations=())
        return made
    return NotParsed(
        data, report.raw, report, found or report.violations, feedback(found) if found else report.feedback
    )


_new = object.__new__
