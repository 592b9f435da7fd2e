"""A pytest plugin with the fixture `assert_contract`, for tests of agents' outputs.

    def test_order(assert_contract):
        order = assert_contract(agent("Order for Ms Lee."), Order)
        assert order.count == 2

pytest finds it if seamgate is installed.
"""

from __future__ import annotations

import pytest

# As in the package's `__init__`. Every test run imports this module, and few ask for the fixture.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, TypeVar, overload

    from ._gate import Gate
    from ._parser import ParseResult

    T = TypeVar("T")

# The most violations in a failure's message, and the most characters of a text.
_MOST_SHOWN = 20
_MOST_TEXT = 200


class AssertContract:
    """Asserts that outputs pass a contract: the type of the fixture `assert_contract`."""

    if TYPE_CHECKING:

        @overload
        def __call__(
            self,
            output: object,
            of: type[T],
            *,
            contract: Mapping[str, Any] | None = ...,
            gate: Gate | None = ...,
            type_first: bool = ...,
        ) -> T: ...
        @overload
        def __call__(
            self,
            output: object,
            of: Any,
            *,
            contract: Mapping[str, Any] | None = ...,
            gate: Gate | None = ...,
            type_first: bool = ...,
        ) -> Any: ...

    def __call__(
        self,
        output: object,
        of: Any,
        *,
        contract: Mapping[str, Any] | None = None,
        gate: Gate | None = None,
        type_first: bool = False,
    ) -> Any:
        """Fails unless an output is accepted. A partial output fails as well.

        Args:
            output: The agent's output: a text, or the response of a client that `ask` supports.
            of: The expected type or contract, as for `ask`.
            contract: For a type, further members of the contract.
            gate: The gate in which agents are registered.
            type_first: As for `ask`.

        Returns:
            The document; if a type was given, an instance of it.
        """
        __tracebackhide__ = True
        from ._output_parser import OutputParser

        result = OutputParser(of, contract, gate, type_first).parse(output)
        if not result:
            from ._type_kinds import is_type

            contract_name = (
                getattr(of, "__name__", repr(of)) if is_type(of) else f"the contract of {result.report.agent!r}"
            )
            pytest.fail(explained(result, contract_name))
        return result.data


@pytest.fixture(scope="session")
def assert_contract() -> AssertContract:
    """Asserts that an output passes a contract, and returns its document."""
    return AssertContract()


def explained(result: ParseResult[Any], what: str) -> str:
    """Explains why an output does not pass: lists each violation with the value at its path.

    Args:
        result: The result of parsing the output.
        what: The contract or the type that it must pass.
    """
    report = result.report
    word = "rejected" if result.violations and report.success else report.disposition.value
    lines = [f"the output does not pass {what}: {word}"]
    for each in result.violations[:_MOST_SHOWN]:
        lines.append(f"  {each.path}: {each.message}")
        found = each.text if each.text is not None else each.received
        if each.str_span is not None:
            line = result.raw.count("\n", 0, each.str_span[0]) + 1
            lines.append(f"    line {line}: {_shown(found)}")
        elif found:
            lines.append(f"    received: {_shown(found)}")
        if each.expected and each.expected != each.message:
            lines.append(f"    expected: {_shown(each.expected)}")
    if len(result.violations) > _MOST_SHOWN:
        lines.append(f"  and {len(result.violations) - _MOST_SHOWN} more")
    if not result.violations:
        lines.extend(f"  {note}" for note in _whys(report))
        lines.append(f"    the output: {_shown(result.raw)}")
    return "\n".join(lines)


def _whys(report: Any) -> list[str]:
    changed = [f"changed: {change.kind.value} at {change.path}" for change in report.changes[:_MOST_SHOWN]]
    return [*changed, *report.notes[:_MOST_SHOWN]]


def _shown(text: str) -> str:
    cut = text if len(text) <= _MOST_TEXT else text[:_MOST_TEXT] + "…"
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in cut)
