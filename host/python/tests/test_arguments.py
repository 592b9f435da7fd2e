"""Every wrong argument is an error that names it, as the caller knows it, and says what would be right."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import native_only
from pydantic import BaseModel

import seamgate
from seamgate import (
    ContractRegistry,
    Gate,
    Limits,
    LoadError,
    Request,
    ResultParser,
    RunJournal,
    SeamgateFault,
    Seen,
    ask,
    ask_async,
    bake,
    read_contract,
    read_profile,
)

ANY: dict[str, Any] = {"agent": "a", "schema": True}
PROFILE: dict[str, Any] = {"agent": "a", "tools": [{"name": "t", "effect": "read", "permit": "allow"}]}


class Model(BaseModel):
    sku: str


# The functions take anything here: that is what is tested.
gate: Any = Gate()
gate.register(ANY)
gate.register_profile(PROFILE)
parser: Any = ResultParser()
asked: Any = ask
awaited: Any = ask_async
loop: Any = gate.loop("a", run="r1", principal="anna")
made: Any = Gate


def reply(_: object) -> str:
    return "1"


WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "limits as a dict": (lambda: made(limits={"fuel": 10}), "limits must be `Limits`.* not dict"),
    "a component that is a number": (lambda: made(component=3), "component must be the bytes or the path"),
    "a cache that is a text": (lambda: made(cache="yes"), "cache must be True or False, not str"),
    "requests as dicts": (lambda: gate.validate_all([{}]), r"requests\[0\] must be `Request`, not dict"),
    "no requests": (lambda: gate.validate_all(3), "requests must be a list of `Request`, not int"),
    "each as a dict": (lambda: list(gate.validate_each([{}])), r"requests\[0\] must be `Request`, not dict"),
    "each of no requests": (lambda: gate.validate_each(3), "requests must be an iterable of `Request`, not int"),
    "each of a text": (lambda: gate.validate_each("x"), "requests must be an iterable of `Request`, not str"),
    "each with an output": (
        lambda: list(gate.validate_each([Request("a", 3)])),  # type: ignore[arg-type]
        "output must be str or bytes, not int",
    ),
    "ahead as a text": (lambda: gate.validate_each([], ahead="x"), "ahead must be a whole number, not str"),
    "a type to parse": (
        lambda: ResultParser(gate).parse(Model, "1"),  # type: ignore[arg-type]
        "call `parse_with_schema`, not the Pydantic model Model",
    ),
    "threads as a text": (lambda: gate.validate_all([], threads="x"), "threads must be a whole number, not str"),
    "lists as a list": (lambda: gate.validate("a", "1", lists=[1]), "lists must be a dict .*, not list"),
    "a list as a number": (
        lambda: gate.validate("a", "1", lists={"l": 3}),
        r"lists\['l'\] must be a list of str, not int",
    ),
    "a list as a text": (
        lambda: asked(Model, reply, lists={"l": "abc"}),
        r"lists\['l'\] must be a list of str, not str",
    ),
    "a list of numbers": (lambda: asked(ANY, reply, lists={"l": [3]}), r"lists\['l'\]\[0\] must be str, not int"),
    "a list named by a number": (
        lambda: gate.validate("a", "1", lists={3: []}),
        "a name in lists must be a str, not int",
    ),
    "lists of ask": (lambda: asked(Model, reply, lists=[1]), "lists must be a dict"),
    "evidence as a number": (lambda: gate.validate("a", "1", evidence=3), "evidence must be a list of"),
    "evidence as a text": (lambda: gate.validate("a", "1", evidence="x"), "evidence must be a list of"),
    "evidence as one dict": (lambda: asked(Model, reply, evidence={"id": "1"}), "evidence must be a list of"),
    "evidence as texts": (lambda: gate.validate("a", "1", evidence=["x"]), r"evidence\[0\] must be `Seen`, .* not str"),
    "kinds as a text": (
        lambda: gate.validate("a", "1", evidence=[Seen("o", "text", kinds="k")]),
        r"evidence\[0\].kinds must be a list of str",
    ),
    "a finish as a number": (
        lambda: gate.validate("a", "1", finish=3),
        "finish must be `Finish`, a str or None, not int",
    ),
    "no output": (lambda: gate.validate("a", None), "output must be str or bytes, not None"),
    "an output as a dict": (lambda: gate.validate("a", {}), "output must be str or bytes, not dict"),
    "an output as a number": (lambda: seamgate.validate(ANY, 3), "output must be str"),  # type: ignore[arg-type]
    "a contract as a number": (lambda: gate.validate(3, "1"), "contract must be JSON text, a dict or a path"),
    "a contract as a model": (
        lambda: gate.register(Model),
        "contract must be .* the Pydantic model Model: a type may be",
    ),
    "a profile as a model": (lambda: gate.register_profile(Model), "profile must be .* the Pydantic model Model"),
    "a report as a text": (lambda: gate.merge(["x"]), r"reports\[0\] must be `Report`, not str"),
    "reports as a number": (lambda: gate.merge(3), "reports must be a list of `Report`, not int"),
    "an agent as a number": (lambda: gate.contract(3), "agent must be the name of an agent, a str, not int"),
    "an agent as a contract": (lambda: gate.describe(ANY), "agent must be the name of an agent, a str, not dict"),
    "has": (lambda: gate.has(3), "agent must be"),
    "a loop's agent": (lambda: gate.loop(3), "agent must be"),
    "a clock": (lambda: gate.loop("a", clock=3), "clock must be a function, not int"),
    "an unknown fact": (
        lambda: gate.loop("a", principle="x"),
        "'principle' is no member of .*did you mean 'principal'",
    ),
    "an unknown fact later": (lambda: loop.update(zzzz=1), "'zzzz' is no member of the facts: run, principal"),
    "a call as a number": (lambda: loop.permit(3), "call must be JSON text or a dict, not int"),
    "tokens as a text": (lambda: loop.spend(tokens="1"), "tokens must be a whole number, not str"),
    "said as a number": (lambda: loop.said(3), "text must be a str, not int"),
    "what is approved": (lambda: loop.approve(3, "anna"), "asked must be an `ApprovalDecision` or its `ask`, not int"),
    "facts as a number": (lambda: gate.permit("a", 3, {}), "facts must be JSON text or a dict, not int"),
    "an agent of permit": (lambda: gate.permit(3, {}, {}), "agent must be"),
    "a result as a number": (lambda: gate.observe("a", {}, {}, 3), "result must be JSON text or a dict"),
    "a state as a number": (lambda: gate.advance("a", 3, {}), "state must be `Step.state` or None, not int"),
    "an audience as a number": (lambda: gate.project("a", {}, 3), "audience must be `model`, `ui`"),
    "what is listed": (lambda: gate.surface("a", {}, 3), "listed must be JSON text or a dict"),
    "a request as a dict": (lambda: gate.call({}), "request_json must be JSON text, not dict"),
    "a registry as a number": (lambda: ContractRegistry(3), "gate must be a `Gate`, not int"),  # type: ignore[arg-type]
    "a parser of a number": (lambda: ResultParser(3), "gate must be a `Gate`, not int"),  # type: ignore[arg-type]
    "a schema behind an output": (
        lambda: parser.parse_with_schema("{}", Model),
        "output must be .*; the schema comes first",
    ),
    "a dict behind an output": (
        lambda: parser.parse_with_schema("{}", {}),
        "output must be .*; the schema comes first",
    ),
    "a schema that is prose": (
        lambda: parser.parse_with_schema("prose", "1"),
        "schema is a str, and must be a JSON Schema",
    ),
    "a policy as a list": (lambda: parser.parse_with_schema(Model, "1", contract=[1]), "contract must be a dict"),
    "a policy as a type": (lambda: asked(Model, reply, contract=Model), "contract must be a dict"),
    "no function": (lambda: asked(Model, "x"), "call_llm must be a function, not str"),
    "a prompt as a number": (lambda: asked(Model, reply, 3), "prompt must be a list of messages"),
    "a prompt of texts": (lambda: asked(Model, reply, ["hello"]), r"prompt\[0\] must be messages, as dicts"),
    "a gate as a number": (lambda: asked(Model, reply, gate=3), "gate must be a `Gate`, not int"),
    "a time as a text": (
        lambda: asked(Model, reply, timeout_seconds="3"),
        "timeout_seconds must be a number of seconds",
    ),
    "a hook as a text": (lambda: asked(Model, reply, on_attempt="x"), "on_attempt must be a function, not str"),
    "a function that is not awaited": (
        lambda: asyncio.run(awaited(Model, reply)),
        "call_llm must be asynchronous: `ask`",
    ),
    "a path as a number": (lambda: read_contract(3), "path must be the path of a file, not int"),  # type: ignore[arg-type]
    "a profile's path": (lambda: read_profile(3), "path must be the path of a file, not int"),  # type: ignore[arg-type]
    "a misspelled option": (lambda: gate.validate("a", "1", finsh="stop"), "unexpected keyword argument 'finsh'"),
    "a misspelled option of ask": (lambda: asked(Model, reply, evidnce=[]), "unexpected keyword argument 'evidnce'"),
    "a misspelled limit": (lambda: Limits(timeout=3), "unexpected keyword argument 'timeout'"),  # type: ignore[call-arg]
    "a Gate in a pickle": (lambda: gate.__reduce__(), "a Gate cannot be pickled or copied: "),
}

WRONG_NATIVE: dict[str, tuple[Callable[[], object], str]] = {
    "a session of a number": (lambda: gate.session(3), "agent must be the name of an agent, a str, not int"),
    "a session of a contract": (lambda: gate.session(ANY), "agent must be the name of an agent, a str, not dict"),
    "a chunk as a number": (lambda: gate.session("a").push(3), "chunk must be str or bytes, not int"),
    "a finish of a session": (lambda: gate.session("a").finish(3), "finish must be `Finish`, a str or None, not int"),
    "a producer as a number": (lambda: gate.run("a", 3), "produce must be a function, not int"),
    "what a producer returns": (lambda: gate.run("a", lambda _: 3), "output must be str or bytes, not int"),
    "a run of a number": (lambda: gate.run(3, reply), "agent must be"),
    "a journal of run": (lambda: gate.run("a", reply, journal=3), "journal must be `RunJournal` or the path of a file"),
    "a journal of start": (lambda: gate.start(3, "a", {}), "journal must be the path of a folder, or an object with"),
    "a journal of open": (lambda: gate.open(None), "journal must be the path of a folder"),
    "a snapshot": (lambda: gate.restore("x", 3), "snapshot must be `Run.snapshot`, not int"),
    "one contract to bake": (lambda: bake(ANY), "contracts must be a list of contracts: put the one into a list"),
    "one path to bake": (lambda: bake("a.json"), "contracts must be a list of contracts"),
    "a type to bake": (lambda: bake(Model), "contracts must be a list of contracts, not the Pydantic"),  # type: ignore[arg-type]
    "limits of bake": (lambda: bake([], limits=3), "limits must be `Limits`"),  # type: ignore[arg-type]
    "profiles to bake": (lambda: bake([], profiles=3), "profiles must be a list of profiles, not int"),  # type: ignore[arg-type]
}

# Whose names tell of the inside.
RAW = ("object has no attribute", "object is not", "not an instance of", "can't be used", "not callable", "native")


def _refused(call: Callable[[], object], what: str) -> None:
    with pytest.raises(TypeError, match=what) as raised:
        call()
    message = str(raised.value)
    assert not any(raw in message for raw in RAW), message
    assert len(message) < 400


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_argument_is_named(name: str) -> None:
    _refused(*WRONG[name])


@native_only
@pytest.mark.parametrize("name", WRONG_NATIVE)
def test_a_wrong_argument_of_the_native_backend_is_named(name: str) -> None:
    _refused(*WRONG_NATIVE[name])


def test_values_that_are_out_of_bounds() -> None:
    with pytest.raises(ValueError, match="threads must be at least 1, not -1"):
        gate.validate_all([], threads=-1)
    with pytest.raises(ValueError, match="ahead must be at least 1, not 0"):
        gate.validate_each([], ahead=0)
    for seconds in (0, -1.5, float("nan")):
        with pytest.raises(ValueError, match="timeout_seconds must be more than 0"):
            ask(Model, reply, timeout_seconds=seconds)
    with pytest.raises(LoadError, match="nowhere: No such file or directory"):
        Gate(component="nowhere")
    with pytest.raises(SeamgateFault, match="finish must be stop"):
        gate.validate("a", "1", finish="nope")


def test_a_name_in_place_of_a_contract_is_said_to_be_one() -> None:
    for call in (gate.register, gate.lint):
        with pytest.raises(SeamgateFault, match="contract: 'order' is the name of an agent; a contract is JSON text"):
            call("order")


@native_only
def test_a_component_that_is_not_there_is_the_same_error_everywhere() -> None:
    with pytest.raises(LoadError, match="nowhere: No such file or directory"):
        bake([], component=Path("nowhere"))


def test_what_is_alike_is_taken_everywhere() -> None:
    assert gate.validate("a", "1", finish=None)
    assert ResultParser(gate).parse("a", "1")
    assert ResultParser(ContractRegistry(gate)).parse("a", "1")
    assert ask("a", reply, gate=gate)
    assert gate.merge([gate.validate("a", "1")]).report.success
    assert gate.validate_all(iter([Request("a", "1", finish=None)]))[0]
    assert RunJournal("x").path == "x"
