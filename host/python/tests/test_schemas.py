"""Values that may be passed as a schema. A value that is not JSON is rejected: it never becomes an empty schema."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import json
import types
import typing
from collections.abc import Callable
from typing import Annotated, Any, Literal, NamedTuple, NewType, TypedDict

import attrs
import jsonschema
import msgspec
import pytest
from conftest import native_only
from pydantic import BaseModel, Field, TypeAdapter
from typing_extensions import Required

import seamgate
from seamgate import ContractRegistry, Gate, Request, ResultParser, ask, bake
from seamgate._models import Model


class Order(BaseModel):
    sku: str
    count: int


@dataclasses.dataclass
class Line:
    sku: str


class Row(TypedDict):
    sku: str


class Pair(NamedTuple):
    sku: str
    number: int


class Plain:
    kind = "object"


class Kind(enum.Enum):
    OBJECT = "object"


class Struct(msgspec.Struct):
    sku: str


@attrs.define
class Attrs:
    sku: str
    rows: list[Inner] = attrs.field(factory=list)


@attrs.define
class Inner:
    count: int = attrs.field(validator=attrs.validators.ge(1))
    of: Attrs | None = None


class Tree(TypedDict, total=False):
    sku: Required[str]
    kids: list[Tree]


ADAPTER = TypeAdapter(list[Order])
MODEL = (
    r"the Pydantic model Order, not JSON: pass `Order\.model_json_schema\(\)`; or Order itself as the whole `schema`"
)

# What is in place of a schema, where in it something is not JSON, and what is said of it.
KINDS: dict[str, tuple[Any, str, str]] = {
    "a model in a property": ({"properties": {"order": Order}}, "$.properties.order", MODEL),
    "a model in a list": ({"anyOf": [True, Order]}, "$.anyOf[1]", MODEL),
    "an instance of a model": (Order(sku="a", count=1), "$", "an instance of Order"),
    "an adapter in a list": ([ADAPTER], "$[0]", r"a Pydantic TypeAdapter, not JSON: pass `adapter\.json_schema\(\)`"),
    "a struct in a list": ([Struct], "$[0]", r"the msgspec Struct Struct, not JSON: pass `msgspec\.json\.schema\(Str"),
    "a class of attrs in a list": ([Attrs], "$[0]", r"the attrs class Attrs, not JSON: pass `pydantic\.TypeAdapter\("),
    "a dataclass in a list": ([Line], "$[0]", r"the dataclass Line, not JSON: pass `pydantic\.TypeAdapter\(Line\)\.j"),
    "an instance of a dataclass": (Line("a"), "$", "an instance of Line"),
    "an instance": (Plain(), "$", "an instance of Plain"),
    "a type of Python": ({"type": str}, "$.type", "the type str"),
    "a member of an enum": ({"type": Kind.OBJECT}, "$.type", "an instance of Kind"),
    "a function": (len, "$", "an instance of builtin_function_or_method"),
    "a module": (types, "$", "an instance of module"),
    "a set": ({"enum": {1}}, "$.enum", "an instance of set"),
    "bytes": ({"const": b"a"}, "$.const", "an instance of bytes"),
    "a date": ({"const": datetime.date(2026, 1, 1)}, "$.const", "an instance of date"),
    "a decimal": ({"maximum": decimal.Decimal(1)}, "$.maximum", "an instance of Decimal"),
    "not a number": ({"maximum": float("nan")}, "$.maximum", "nan"),
    "without an end": ({"maximum": float("inf")}, "$.maximum", "inf"),
    "a name that is no text": ({"properties": {1: {}}}, "$.properties", "a member named 1"),
    "a name that cannot be seen": ({"\x1b[31m": {1}}, "$['\\x1b[31m']", "an instance of set"),
}

# Types that have no JSON Schema, and what is said of them.
SCHEMALESS: dict[str, tuple[Any, str]] = {
    "object": (object, "is the type object, which every document is: pass `typing.Any`"),
    "a class": (Plain, "the type Plain, which has no JSON Schema: Unable to generate"),
    "a list of a class": (list[Plain], r"the type list\[.*Plain\], which has no JSON Schema: Unable to generate"),
    "a function's type": (Callable[[int], int], "which has no JSON Schema: "),
    "a struct of what has none": (msgspec.defstruct("Of", [("of", Plain)]), "the msgspec Struct Of, which has no"),
}

# Types that stand for a schema; a document of each, and one that it does not take.
TYPES: dict[str, tuple[Any, str, Any, str]] = {
    "a model": (Order, '{"sku":"a","count":1}', Order(sku="a", count=1), '{"sku":1}'),
    "an adapter": (ADAPTER, '[{"sku":"a","count":1}]', [Order(sku="a", count=1)], '[{"sku":1}]'),
    "a list": (list[Order], '[{"sku":"a","count":1}]', [Order(sku="a", count=1)], "[1]"),
    "a dataclass": (Line, '{"sku":"a"}', Line("a"), "{}"),
    "a TypedDict": (Row, '{"sku":"a"}', {"sku": "a"}, "{}"),
    "a TypedDict in itself": (Tree, '{"sku":"a","kids":[{"sku":"b"}]}', {"sku": "a", "kids": [{"sku": "b"}]}, "{}"),
    "a list of TypedDicts": (list[Row], '[{"sku":"a"}]', [{"sku": "a"}], "[{}]"),
    "a Struct": (Struct, '{"sku":"a"}', Struct("a"), "{}"),
    "a dict of Structs": (dict[str, Struct], '{"a":{"sku":"a"}}', {"a": Struct("a")}, '{"a":{}}'),
    "a class of attrs": (
        Attrs,
        '{"sku":"a","rows":[{"count":1,"of":{"sku":"b"}}]}',
        Attrs("a", [Inner(1, Attrs("b"))]),
        '{"sku":"a","rows":[{"of":null}]}',
    ),
    "classes of attrs": (list[Attrs] | None, '[{"sku":"a"}]', [Attrs("a")], "[{}]"),
    "a union": (int | None, "1", 1, '"1"'),
    "a literal": (Literal["a", "b"], '"a"', "a", '"c"'),
    "an enum": (Kind, '"object"', Kind.OBJECT, '"other"'),
    "an annotated type": (Annotated[int, Field(ge=3)], "3", 3, "2"),
    "a new type": (NewType("Sku", str), '"a"', "a", "1"),
    "a NamedTuple": (Pair, '["a",1]', Pair("a", 1), '["a"]'),
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
            _refused(lambda schema: parser.parse_with_schema(schema, "{}"), value, place, what)
            _refused(parser.describe_schema, value, place, what)


@pytest.mark.parametrize("entry", CONTRACTS)
@pytest.mark.parametrize("kind", SCHEMALESS)
def test_a_type_without_a_schema_is_refused(entry: str, kind: str) -> None:
    of, why = SCHEMALESS[kind]
    if entry == "ask, beside":
        _refused(lambda given: ask(given, lambda _: "{}"), of, "is", why)
    else:
        _refused(CONTRACTS[entry], {"agent": "a", "schema": of}, "$.schema", why)


@pytest.mark.parametrize(
    "given", [None, 3, 1.5, [Order], Order(sku="a", count=1), Plain(), len, types, lambda text: text]
)
def test_what_is_neither_a_type_nor_a_schema_is_refused(given: Any) -> None:
    parser = ResultParser()
    calls: list[tuple[Callable[[Any], object], str]] = [
        (lambda of: ask(of, lambda _: "{}"), "of"),
        (lambda of: parser.parse_with_schema(of, "{}"), "schema"),
        (parser.describe_schema, "schema"),
    ]
    for call, what in calls:
        with pytest.raises(TypeError, match=f"^{what} must be a type .* or a JSON Schema as a dict, not "):
            call(given)


def test_a_type_in_place_of_a_contract_says_what_to_pass() -> None:
    for entry, call in CONTRACTS.items():
        if not entry.startswith("ask"):
            for of in (Order, ADAPTER, Line, list[Order], Struct):
                with pytest.raises(TypeError, match=r'^contract must be JSON text, .*"schema": TYPE\}$'):
                    call(of)


@pytest.mark.parametrize("kind", TYPES)
def test_a_type_stands_for_a_schema_wherever_one_is_taken(kind: str) -> None:
    of, good, data, bad = TYPES[kind]
    contract = {"agent": "a", "schema": of}
    gate = Gate()
    gate.register(contract)
    assert gate.validate("a", good), gate.validate("a", good).report
    assert not gate.validate("a", bad)
    assert gate.validate(contract, good)
    assert not gate.validate(contract, bad)
    assert not seamgate.validate(contract, bad)
    assert [bool(verdict) for verdict in gate.validate_all([Request(contract, good), Request(contract, bad)])] == [
        True,
        False,
    ]
    gate.lint(contract)
    parser = ResultParser(gate)
    for result in (parser.parse_with_schema(of, good), parser.parse("a", good)):
        assert result.success
        assert result.data == data
    assert not parser.parse_with_schema(of, bad)
    assert not parser.parse("a", bad)
    assert not ask(of, lambda _: bad)
    for of_ in (of, contract):
        assert ask(of_, lambda _: good).unwrap() == data
    assert ask("a", lambda _: good, gate=gate).unwrap() == data


@native_only
@pytest.mark.parametrize("kind", ["a model", "a Struct", "a class of attrs"])
def test_a_type_is_baked(kind: str) -> None:
    of, good, _, bad = TYPES[kind]
    gate = Gate(component=bake([{"agent": "a", "schema": of}]))
    assert gate.validate("a", good)
    assert not gate.validate("a", bad)


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
        assert parser.parse_with_schema(schema, good)
        assert not parser.parse_with_schema(schema, bad)


class Noted(BaseModel):
    """A type with what Pydantic makes titles and unions of."""

    id: str
    when: datetime.date
    some: int | None
    above: Annotated[int, Field(ge=1)] | None = None
    digits: decimal.Decimal
    words: Literal["a", "b"] | None = None
    one: Literal["a"] | None = None
    kind: Kind | None = None
    inner: Order | None = None
    inners: list[Order] | None = None
    either: int | str = 1
    same: Annotated[int, Field(ge=1)] | Annotated[int, Field(le=-1)] = 1
    nothing: Literal[None, "a"] | None = None
    anything: Any | None = None
    of: dict[str, int | None] = {}
    titled: str = Field(default="", title="The title", description="What it is.")


def test_a_model_is_described_without_titles_that_repeat_names_and_values_that_may_be_null_in_a_word() -> None:
    told = ResultParser().describe_schema(Noted)
    for repeated in ("Id.", "When.", "Some.", "Above.", "Digits.", "Either.", "Sku.", "Count."):
        assert repeated not in told
    lines = [line.strip() for line in told.split("\n")]
    for line in (
        '- "id": string.',
        '- "when": string, format date.',
        '- "some": integer or null.',
        '- "above" (optional): integer or null, at least 1.',
        '- "digits": number or string.',
        '- "words" (optional): one of "a", "b", null.',
        '- "either" (optional): integer or string.',
        '- "inners" (optional): array or null.',
        '- "titled" (optional): string. What it is.',
    ):
        assert line in lines, told
    assert all(len(line) < 160 for line in lines)


def test_what_is_said_in_a_word_means_the_same() -> None:
    values = [
        None,
        True,
        0,
        1,
        -1,
        5,
        1.5,
        "",
        "a",
        "b",
        "c",
        "object",
        "1.5",
        [],
        [1],
        [None],
        {},
        {"a": 1},
        {"a": None},
    ]
    orders: list[Any] = [{"sku": "a", "count": 1}, [{"sku": "a", "count": 1}], [{"sku": 1}]]
    values += orders
    types_ = [hint for hint in typing.get_type_hints(Noted, include_extras=True).values() if hint is not datetime.date]
    types_ += [int | None, list[int | None], int | str | None, float | bool, Literal[1, None], Order | int | None]
    for of in types_:
        schema = json.loads(Model(of, "of").schema)
        own = jsonschema.Draft202012Validator(TypeAdapter(of).json_schema())
        ours = jsonschema.Draft202012Validator(schema)
        for value in values:
            assert own.is_valid(value) == ours.is_valid(value), (of, value, schema)
            # And so does the gate.
            assert bool(ResultParser().parse_with_schema(schema, json.dumps(value))) == ours.is_valid(value), (
                of,
                value,
            )
