"""The registry, and outputs as the types that strict code wants."""

from __future__ import annotations

import builtins
import datetime
import decimal
import enum
import sys
import uuid
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pytest
from conftest import EXAMPLES, OUTPUTS, fault
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator, model_validator
from typing_extensions import TypedDict

from seamgate import ContractRegistry, Gate, ResultParser, _judge, _models


class Severity(enum.Enum):
    LOW = "low"
    HIGH = "high"


class Finding(BaseModel):
    model_config = ConfigDict(extra="forbid")
    title: str
    severity: Severity
    line: int = Field(ge=1)

    @field_validator("title")
    @classmethod
    def short(cls, value: str) -> str:
        if len(value) > 20:
            raise ValueError("must have at most 20 letters")
        return value


class Review(BaseModel):
    findings: list[Finding]
    first: int
    last: int

    @model_validator(mode="after")
    def ordered(self) -> Review:
        if self.first > self.last:
            raise ValueError("first is after last")
        return self


@dataclass
class Point:
    x: int
    y: float


class Named(TypedDict):
    name: str


@pytest.fixture(scope="module")
def parser() -> ResultParser:
    return ResultParser()


def test_the_registry() -> None:
    registry = ContractRegistry()
    assert registry.list() == []
    assert not registry.has("triage")
    info = registry.register(EXAMPLES / "triage.contract.json")
    assert registry.get("triage") == info
    assert registry.has("triage")
    assert registry.list() == ["triage"]
    fault("unknown_agent", lambda: registry.get("nobody"))


def test_outputs_of_agents(gate: Gate) -> None:
    parser = ResultParser(ContractRegistry(gate))
    good = (OUTPUTS / "triage.good.txt").read_text()
    result = parser.parse("triage", good)
    assert result.success
    assert result.data == result.report.output
    assert result.raw == good
    assert result.violations == ()
    bad = parser.parse("triage", "no JSON")
    assert not bad.success
    assert bad.data is None
    assert [violation.keyword for violation in bad.violations] == ["extract"]
    part = parser.parse("triage", (OUTPUTS / "triage.partial-one-broken.txt").read_text())
    assert not part.success
    assert part.data is not None
    assert part.report.review_required
    fault("unknown_agent", lambda: parser.parse("nobody", "1"))


def test_a_dict_is_a_schema(parser: ResultParser) -> None:
    schema = {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}}
    result = parser.parse_with_schema(schema, 'Sure:\n```json\n{"a": 4}\n```\n')
    assert result.success
    assert result.data == {"a": 4}
    bad = parser.parse_with_schema(schema, '{"a": "4"}')
    assert not bad.success
    assert [violation.path for violation in bad.violations] == ["$.a"]
    assert parser.parse_with_schema(True, "1").success
    assert not parser.parse_with_schema(False, "1").success
    fault("bad_contract", lambda: parser.parse_with_schema({"type": "strin"}, "1"))


def test_a_model_is_a_schema_and_data_is_its_instance(parser: ResultParser) -> None:
    output = '{"findings":[{"title":"a","severity":"high","line":3}],"first":1,"last":2}'
    result = parser.parse_with_schema(Review, output)
    assert result.success
    assert isinstance(result.data, Review)
    assert result.data.findings[0].severity is Severity.HIGH


def test_what_the_schema_rejects_is_rejected_with_places(parser: ResultParser) -> None:
    output = '{"findings":[{"title":"a","severity":"medium","line":0,"more":1}],"first":"1","last":2}'
    result = parser.parse_with_schema(Review, output)
    assert not result.success
    assert result.data is None
    assert {violation.path for violation in result.violations} == {
        "$.findings[0].severity",
        "$.findings[0].line",
        "$.findings[0].more",
        "$.first",
    }
    assert all(violation.span for violation in result.violations)


def test_what_the_models_own_validators_reject_is_a_rejection(parser: ResultParser) -> None:
    title = "a title of more letters"
    output = f'{{"findings":[{{"title":"{title}","severity":"high","line":3}}],"first":1,"last":2}}'
    result = parser.parse_with_schema(Review, output)
    assert not result.success
    assert result.data is None
    assert result.report.success
    (violation,) = result.violations
    assert violation.path == "$.findings[0].title"
    assert violation.pointer == "/findings/0/title"
    assert violation.message == "Value error, must have at most 20 letters"
    assert title in violation.received
    whole = parser.parse_with_schema(Review, '{"findings":[],"first":3,"last":2}')
    assert [violation.path for violation in whole.violations] == ["$"]


def _fails(_: int) -> int:
    raise ZeroDivisionError("the validator's own mistake")


def _long(_: str) -> str:
    raise ValueError("\x1b[31m\u202e" + "x" * 5000)


def test_a_mistake_of_a_validator_is_raised(parser: ResultParser) -> None:
    with pytest.raises(ZeroDivisionError, match="the validator's own mistake") as raised:
        parser.parse_with_schema(Annotated[int, AfterValidator(_fails)], "1")
    assert raised.traceback[-1].name == "_fails"


def test_what_a_validator_says_is_cut_and_hides_nothing(parser: ResultParser) -> None:
    result = parser.parse_with_schema(Annotated[str, AfterValidator(_long)], '"\\u202e' + "y" * 5000 + '"')
    violation = result.violations[0]
    assert len(violation.message) <= 512
    assert len(violation.received) <= 256
    assert (violation.message + violation.received).isprintable()


@pytest.mark.parametrize(
    ("of", "output", "data"),
    [
        (Point, '{"x":1,"y":2}', Point(1, 2.0)),
        (Named, '{"name":"n"}', {"name": "n"}),
        (list[int], "[1,2]", [1, 2]),
        (dict[str, Point], '{"p":{"x":1,"y":2.5}}', {"p": Point(1, 2.5)}),
        (Literal["a", "b"], '"a"', "a"),
        (int | None, "null", None),
        (int, str(2**63), 2**63),
        (datetime.date, '"2026-11-22"', datetime.date(2026, 11, 22)),
        (uuid.UUID, '"12345678-1234-5678-1234-567812345678"', uuid.UUID("12345678-1234-5678-1234-567812345678")),
        # Its digits, where a float would lose them.
        (decimal.Decimal, '"0.10000000000000000000000001"', decimal.Decimal("0.10000000000000000000000001")),
        (Annotated[int, Field(ge=3)], "3", 3),
    ],
)
def test_any_type_that_pydantic_knows(parser: ResultParser, of: Any, output: str, data: object) -> None:
    result = parser.parse_with_schema(of, output)
    assert result.success, result
    assert result.data == data
    assert not parser.parse_with_schema(of, "[[]]").success


def test_schemas_are_described(parser: ResultParser) -> None:
    assert '"x": integer' in parser.describe_schema(Point)
    assert "integer" in parser.describe_schema({"type": "integer"})


def test_what_a_model_rejects_has_feedback(parser: ResultParser) -> None:
    result = parser.parse_with_schema(Review, '{"findings":[],"first":3,"last":2}')
    assert not result.success
    assert "- at $: Value error, first is after last." in result.feedback


def test_without_pydantic_types_are_an_error_and_dicts_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **names: Any) -> Any:
        if name.split(".")[0] == "pydantic":
            raise ImportError(name)
        return real(name, *rest, **names)

    monkeypatch.setattr(builtins, "__import__", without)
    for name in [name for name in sys.modules if name.split(".")[0] == "pydantic"]:
        monkeypatch.delitem(sys.modules, name)
    _models._cached.cache_clear()
    _judge._of_type_once.cache_clear()
    parser = ResultParser()
    assert parser.parse_with_schema({"type": "integer"}, "1").success
    with pytest.raises(ImportError, match=r"Point is a type: that needs Pydantic, `pip install seamgate\[pydantic\]`"):
        parser.parse_with_schema(Point, "1")
