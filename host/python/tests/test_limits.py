"""Each limit ends in its fault, and the next call works."""

from __future__ import annotations

import time

import components
import pytest
from components import component
from conftest import ENDLESS, EXAMPLES, fault, native_only, wasmtime_only

from seamgate import FaultCode, Gate, Limits, LoadError, SeamgateFault

ANY = '{"agent":"any","schema":true}'


def hostile(body: str = "", answer: str = "", limits: Limits | None = None) -> Gate:
    return Gate(component=component(body, answer), limits=limits, cache=False)


def test_defaults_are_those_of_the_specification() -> None:
    limits = Limits()
    assert limits.fuel_for(0) == 100_000_000
    assert limits.fuel_for(10) == 100_005_000
    assert Limits(fuel=7).fuel_for(10) == 7
    assert (limits.memory, limits.timeout_seconds, limits.output_bytes, limits.stack) == (2**26, 5.0, 2**23, 2**19)


@pytest.mark.parametrize(
    ("limit", "value"),
    [
        ("fuel", 0),
        ("fuel", 2**64),
        ("memory", 0),
        ("timeout_seconds", 0),
        ("timeout_seconds", float("nan")),
        ("timeout_seconds", float("inf")),
        ("output_bytes", -1),
        ("stack", 2**30),
    ],
)
def test_a_limit_that_cannot_be_kept_is_an_error(limit: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"{limit} must be .* not "):
        Limits(**{limit: value})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=f"{limit} must be a .*number.*, not str"):
        Limits(**{limit: "1"})  # type: ignore[arg-type]


def test_fuel() -> None:
    gate = Gate(limits=Limits(fuel=20_000))
    raised = fault("out_of_fuel", lambda: gate.validate(ANY, "1"))
    assert raised.message == "the verdict took more than 20000 units of fuel"
    assert raised.detail == {"limit": 20_000}
    gate = Gate(limits=Limits(contract_fuel=20_000))
    raised = fault("out_of_fuel", lambda: gate.register(ANY))
    assert raised.message == "compiling took more than 20000 units of fuel"


def test_fuel_is_the_same_each_time(gate: Gate) -> None:
    usages = {gate.validate("triage", "[1, 2]").usage.fuel for _ in range(5)}
    assert len(usages) == 1
    used = usages.pop()
    enough, too_little = Gate(limits=Limits(fuel=used)), Gate(limits=Limits(fuel=used // 2))
    for other in (enough, too_little):
        other.register(EXAMPLES / "triage.contract.json")
    assert enough.validate("triage", "[1, 2]").usage.fuel == used
    fault("out_of_fuel", lambda: too_little.validate("triage", "[1, 2]"))


def test_an_output_over_the_limit_does_not_enter_the_sandbox() -> None:
    gate = Gate(limits=Limits(output_bytes=4))
    too_large: list[str | bytes] = ["12345", b"12345", "é é", "\ud800\ud800"]
    for output in too_large:
        raised = fault("input_too_large", lambda output=output: gate.validate(ANY, output))  # type: ignore[misc]
        assert raised.detail["limit"] == 4
        assert raised.message == f"the output has {raised.detail['bytes']} bytes; the limit is 4"
    fault("input_too_large", lambda: gate.call("12345"))
    fault("input_too_large", lambda: gate.call("ééé"))


@pytest.mark.parametrize("size", [3 * 2**20, 2**22])
def test_memory(size: int) -> None:
    gate = Gate(limits=Limits(memory=size))
    flood = "[" + "1," * 2**19 + "1]"
    # A rule that needs all items at once. Without such a rule, items are not kept.
    schema = '{"contains":{"type":"integer"}}'
    contract = f'{{"agent":"a","schema":{schema},"caps":{{"bytes":67108864,"array_items":10000000}}}}'
    raised = fault("out_of_memory", lambda: gate.validate(contract, flood))
    assert raised.message == f"the verdict took more than {size} bytes of memory"
    assert raised.detail == {"limit": size}
    assert Gate().validate(contract, flood).report.success


@wasmtime_only
def test_what_traps_with_any_memory_is_a_trap() -> None:
    assert fault("trap", lambda: hostile(components.TRAP).call("1")).message.startswith(
        "the component failed: wasm trap"
    )
    fault("out_of_memory", lambda: hostile(components.HOARDER).call("1"))


@wasmtime_only
def test_stack() -> None:
    raised = fault("stack_overflow", lambda: hostile(components.RECURSION).call("1"))
    assert raised.message == "the verdict took more than 524288 bytes of stack"
    assert raised.detail == {"limit": 524_288}


@native_only
def test_the_stack_of_the_native_backend_has_one_size() -> None:
    with pytest.raises(LoadError, match="the stack of the native backend has 524288 bytes"):
        Gate(limits=Limits(stack=2**20))


def test_the_clock() -> None:
    gate = Gate(limits=Limits(timeout_seconds=0.3, fuel=2**62))
    start = time.monotonic()
    raised = fault("timeout", lambda: gate.validate(ENDLESS, "{}"))
    assert 0.3 <= time.monotonic() - start < 3
    assert raised.message == "the verdict took longer than 300 ms"
    assert raised.detail == {"limit": 300}
    # By default it is the fuel that ends it.
    fault("out_of_fuel", lambda: Gate().validate(ENDLESS, "{}"))


@wasmtime_only
@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("", "invalid answer"),
        ("accepted", "invalid answer"),
        ('{"id":null}', "invalid answer"),
        ('{"id":null,"report":{}}\n{}', "invalid answer"),
        ('{"id":null,"verdict":{}}', "invalid answer"),
        ('{"id":null,"fault":"none"}', "invalid answer"),
        ('{"id":null,"report":{}}', "invalid report"),
        ('{"id":null,"report":{"disposition":"accepted"}}', "invalid report"),
        ('{"id":null,"result":true}', "invalid answer"),
    ],
)
def test_an_answer_that_is_none_is_a_trap(answer: str, message: str) -> None:
    gate = hostile(answer=answer)
    assert message in fault("trap", lambda: gate.validate("a", "1")).message
    if message == "invalid answer" and "result" not in answer and "fault" not in answer:
        fault("trap", lambda: gate.call("1"))


@wasmtime_only
def test_functions_of_other_types_are_a_trap() -> None:
    gate = hostile(answer="text")
    assert gate.names() == ["a"]
    for call in (lambda: gate.register(ANY), lambda: gate.lint(ANY)):
        fault("trap", call)


@wasmtime_only
def test_a_component_that_does_not_start_is_not_loaded() -> None:
    with pytest.raises(LoadError, match='imports "log"; a validator imports nothing'):
        Gate(component=_wat('(component (import "log" (func)))'), cache=False)
    with pytest.raises(LoadError, match=r"does not export the world seamgate:validator/validator@0\.1\.0"):
        Gate(component=_wat("(component)"), cache=False)
    names = component().replace(b'"result":["a"]', b'"resul_":["a"]')
    with pytest.raises(LoadError, match="does not answer: the component failed"):
        Gate(component=names, cache=False)
    large = b'(memory (export "memory") 1)'.replace(b"1", b"2000")
    text = components._TEXT.replace('(memory (export "memory") 1)', large.decode())
    text = text.replace("{body}", "").replace("{answer}", "").replace("{length}", "0")
    with pytest.raises(LoadError, match="more than 67108864 bytes of memory"):
        Gate(component=_wat(text), cache=False)


def _wat(text: str) -> bytes:
    from wasmtime import wat2wasm

    return bytes(wat2wasm(text))


@wasmtime_only
@pytest.mark.parametrize(
    ("body", "code"),
    [(components.TRAP, "trap"), (components.RECURSION, "stack_overflow"), (components.ENDLESS, "out_of_fuel")],
)
def test_a_warm_instance_goes_on_after_a_fault(body: str, code: FaultCode) -> None:
    # It does harm where the output has one letter more.
    harm = f"(if (i32.eq (local.get 1) (i32.const 27)) (then {body}))"
    gate = hostile(harm, '{"id":null,"fault":{"fault":"sealed","message":"","detail":{}}}')
    with gate.instance() as instance:
        for _ in range(2):
            with pytest.raises(SeamgateFault) as raised:
                instance.validate("a", "1")
            assert raised.value.code == "sealed"
            with pytest.raises(SeamgateFault) as raised:
                instance.validate("a", "12")
            assert raised.value.code == code


def test_a_warm_instance_that_has_too_little_memory_left_is_made_anew() -> None:
    gate = Gate(limits=Limits(memory=12 * 2**20))
    # A rule that needs all items at once. Without such a rule, items are not kept.
    schema = '{"contains":{"type":"integer"}}'
    contract = f'{{"agent":"a","schema":{schema},"caps":{{"bytes":67108864,"array_items":10000000}}}}'
    gate.register(contract)
    flood = "[" + "1," * 2**16 + "1]"
    with gate.instance() as instance:
        for _ in range(30):
            assert instance.validate("a", flood).report.success
        fault("out_of_memory", lambda: instance.validate("a", "[" + "1," * 2**20 + "1]"))
        assert instance.validate("a", flood).report.success
