"""What may stand in place of a schema. What is not JSON is refused: it never becomes a schema without constraints."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import types
from collections.abc import Callable
from typing import Any, TypedDict

import pytest
from conftest import native_only
from pydantic import BaseModel, TypeAdapter

import seamgate
from seamgate import ContractRegistry, Gate, Request, ResultParser, ask, bake


class Order(BaseModel):
    sku: str
    count: int


@dataclasses.dataclass
class Line:
    sku: str


class Row(TypedDict):
    sku: str


class Plain:
    type = "object"


class Kind(enum.Enum):
    OBJECT = "object"


ADAPTER = TypeAdapter(list[Order])
MODEL = r"the Pydantic model Order, not JSON: pass `Order\.model_json_schema\(\)`; or give Order itself to `ask`"

# What is in place of a schema, where in it something is not JSON, and what is said of it.
KINDS: dict[str, tuple[Any, str, str]] = {
    "a model": (Order, "$", MODEL),
    "a model in a property": ({"properties": {"order": Order}}, "$.properties.order", MODEL),
    "a model in a list": ({"anyOf": [True, Order]}, "$.anyOf[1]", MODEL),
    "an instance of a model": (Order(sku="a", count=1), "$", "an instance of Order"),
    "an adapter": (ADAPTER, "$", r"a Pydantic TypeAdapter, not JSON: pass `adapter\.json_schema\(\)`"),
    "a dataclass": (Line, "$", r"the dataclass Line, not JSON: pass `pydantic\.TypeAdapter\(Line\)\.json_schema"),
    "an instance of a dataclass": (Line("a"), "$", "an instance of Line"),
    "a typed dict": (Row, "$", "the type Row"),
    "a class": (Plain, "$", "the type Plain"),
    "an instance": (Plain(), "$", "an instance of Plain"),
    "a type of Python": ({"type": str}, "$.type", "the type str"),
    "a generic type": (list[Order], "$", "the type list"),
    "a union": (int | None, "$", "the type int"),
    "a member of an enum": ({"type": Kind.OBJECT}, "$.type", "an instance of Kind"),
    "a function": (len, "$", "an instance of builtin_function_or_method"),
    "a set": ({"enum": {1}}, "$.enum", "an instance of set"),
    "bytes": ({"const": b"a"}, "$.const", "an instance of bytes"),
    "a date": ({"const": datetime.date(2026, 1, 1)}, "$.const", "an instance of date"),
    "a decimal": ({"maximum": decimal.Decimal(1)}, "$.maximum", "an instance of Decimal"),
    "not a number": ({"maximum": float("nan")}, "$.maximum", "nan"),
    "without an end": ({"maximum": float("inf")}, "$.maximum", "inf"),
    "a name that is no text": ({"properties": {1: {}}}, "$.properties", "a member named 1"),
    "a name that cannot be seen": ({"\x1b[31m": {1}}, "$['\\x1b[31m']", "an instance of set"),
}


def _registered(contract: Any) -> object:
    return Gate().register(contract)


CONTRACTS: dict[str, Callable[[Any], object]] = {
    "register": _registered,
    "lint": lambda contract: Gate().lint(contract),
    "validate": lambda contract: Gate().validate(contract, "{}"),
    "seamgate.validate": lambda contract: seamgate.validate(contract, "{}"),
    "validate_all": lambda contract: Gate().validate_all([Request(contract, "{}")]),
    "instance": lambda contract: Gate().instance().validate(contract, "{}"),
    "registry": lambda contract: ContractRegistry().register(contract),
    "ask": lambda contract: ask(contract, lambda _: "{}"),
    "ask, beside": lambda contract: ask(Order, lambda _: "{}", contract={"resources": contract}),
}


def _refused(call: Callable[[Any], object], given: object, place: str, what: str) -> None:
    with pytest.raises(TypeError, match=what) as raised:
        call(given)
    message = str(raised.value)
    assert f" {place} " in message, message
    assert len(message) < 300
    assert message.isprintable()


@pytest.mark.parametrize("entry", CONTRACTS)
def test_a_schema_that_is_not_json_is_refused(entry: str) -> None:
    call = CONTRACTS[entry]
    where = "$.resources" if entry == "ask, beside" else "$"
    for value, place, what in KINDS.values():
        for member in ("schema", "jtd"):
            _refused(call, {"agent": "a", member: value}, f"{where}.{member}{place[1:]}", what)


@native_only
def test_none_is_baked_either() -> None:
    for value, place, what in KINDS.values():
        _refused(lambda contract: bake([contract]), {"agent": "a", "schema": value}, f"$.schema{place[1:]}", what)


def test_none_is_in_a_profile() -> None:
    for value, place, what in KINDS.values():
        tool = {"name": "t", "effect": "read", "permit": "allow", "definition": {"name": "t", "inputSchema": value}}
        for call in (Gate().register_profile, Gate().lint_profile):
            within = f"$.tools[0].definition.inputSchema{place[1:]}"
            _refused(call, {"agent": "a", "tools": [tool]}, within, what)


def test_none_is_in_a_schema_alone() -> None:
    parser = ResultParser()
    for value, place, what in KINDS.values():
        if isinstance(value, dict):
            _refused(lambda schema: parser.parse_with_schema("{}", schema), value, place, what)
            _refused(parser.describe_schema, value, place, what)


def test_a_type_in_place_of_a_contract_says_what_to_call() -> None:
    for entry, call in CONTRACTS.items():
        if not entry.startswith("ask"):
            for of in (Order, ADAPTER, Line, list[Order]):
                with pytest.raises(
                    TypeError, match=r"^a contract must be JSON text, .* itself to `ask` or `parse_with"
                ):
                    call(of)


def test_types_are_held_to_where_they_are_taken() -> None:
    parser = ResultParser()
    for of in (Order, TypeAdapter(Order)):
        assert parser.parse_with_schema('{"sku": "a", "count": 1}', of).data == Order(sku="a", count=1)
        assert not parser.parse_with_schema('{"sku": 1}', of)
        assert not ask(of, lambda _: "{}")
    gate = Gate()
    gate.register({"agent": "order", "schema": Order.model_json_schema()})
    assert gate.validate("order", '{"sku": "a", "count": 1}').report.success
    assert not gate.validate("order", '{"sku": 1}').report.success


def test_a_cycle_and_a_nesting_without_end_are_refused() -> None:
    cycle: dict[str, Any] = {"agent": "a"}
    cycle["schema"] = {"properties": {"cycle": cycle}}
    _refused(Gate().register, cycle, "$.schema.properties.cycle", "an object around it")
    deep: Any = True
    for _ in range(100_000):
        deep = {"not": deep}
    with pytest.raises(ValueError, match="nests too deep"):
        Gate().register({"agent": "a", "schema": deep})


def test_what_is_json_is_taken_whatever_holds_it() -> None:
    same = {"type": "object"}
    schemas: list[Any] = [
        types.MappingProxyType({"type": "object", "required": ("a",)}),
        {"properties": {"a": same, "b": same}, "required": ["a"]},
        {"enum": [{"a": 1}]},
    ]
    gate, parser = Gate(), ResultParser()
    for schema in schemas:
        good, bad = '{"a": {}}' if "properties" in schema else '{"a": 1}', "{}"
        assert gate.validate({"agent": "a", "schema": schema}, good).report.success
        assert not gate.validate({"agent": "a", "schema": schema}, bad).report.success
        assert parser.parse_with_schema(good, schema)
        assert not parser.parse_with_schema(bad, schema)
