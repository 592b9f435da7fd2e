"""Things that people tried in their first hour, with the results that they wanted. Other tests go deeper into each."""

from __future__ import annotations

import asyncio
import copy
import json
import logging
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import attrs
import msgspec
import pytest
from conftest import native_only
from pydantic import BaseModel, Field, TypeAdapter, field_validator

import seamgate
from seamgate import (
    AllowedDecision,
    ApprovalDecision,
    Call,
    DeniedDecision,
    Gate,
    Limits,
    NotAcceptedError,
    Partial,
    Rejected,
    Request,
    ResultParser,
    SeamgateFault,
    ask,
    ask_async,
    ask_stream,
)

LIST: dict[str, Any] = {"agent": "l", "schema": {"items": {"type": "integer"}}, "items": {"path": "$[*]"}}
ANY: dict[str, Any] = {"agent": "any", "schema": True}


class Order(BaseModel):
    sku: str
    count: int = Field(ge=1)

    @field_validator("sku")
    @classmethod
    def in_stock(cls, sku: str) -> str:
        if sku == "C-1":
            raise ValueError("must be in stock")
        if sku == "bug":
            raise KeyError(sku)
        return sku


@pytest.fixture(scope="module")
def gate() -> Gate:
    gate = Gate()
    gate.register(LIST)
    gate.register(ANY)
    return gate


def says(*replies: object) -> Callable[[object], object]:
    left = iter(replies)
    return lambda messages: next(left)


def test_the_ninth_session_opens_and_verdicts_go_on(gate: Gate) -> None:
    sessions = [gate.session("l") for _ in range(9)]
    assert gate.validate("l", "[]")
    for session in sessions:
        session.close()


def test_a_type_as_the_schema_of_a_contract_judges(gate: Gate) -> None:
    @attrs.define
    class Attrs:
        sku: str

    class Struct(msgspec.Struct):
        sku: str

    for number, of in enumerate((Order, TypeAdapter(Order), Attrs, Struct)):
        agent = gate.register({"agent": f"typed-{number}", "schema": of}).agent
        assert not gate.validate(agent, '{"sku": 1}')
        assert not gate.validate(agent, "{}")


def ops(permit: object) -> Any:
    gate = Gate()
    approvers = {"oncall": [{"principal": "anna"}]}
    tool = {"name": "t", "effect": "effectful", "permit": permit, "result": {"schema": True}}
    gate.register_profile({"agent": "ops", "approvers": approvers, "tools": [tool]})
    call: Call = {"key": "1", "tool": "t", "arguments": {"a": 1}}
    return gate.loop("ops", run="r1", principal="joe").permit(call)


def test_a_decision_is_true_if_the_call_may_run() -> None:
    allowed, denied, asked = ops("allow"), ops("deny"), ops({"approval": {"by": ["oncall"]}})
    assert isinstance(allowed, AllowedDecision)
    assert allowed.arguments == '{"a":1}'
    assert isinstance(denied, DeniedDecision)
    assert isinstance(asked, ApprovalDecision)
    assert "tool: t" in asked.ask.view
    assert [bool(each) for each in (allowed, denied, asked)] == [True, False, False]


def test_a_validator_that_fails_in_one_item_costs_that_item() -> None:
    output = '[{"sku": "A-7", "count": 1}, {"sku": "C-1", "count": 1}]'
    policy = {"items": {"path": "$[*]"}, "retry": {"limit": 0}}
    answer = ask(list[Order], says(output), contract=policy)
    assert isinstance(answer, Partial)
    assert answer.data == [Order(sku="A-7", count=1)]
    assert [item.index for item in answer.report.quarantined] == [1]


def test_a_bug_of_a_validator_is_raised() -> None:
    with pytest.raises(KeyError, match="bug"):
        ask(Order, says('{"sku": "bug", "count": 1}'))
    with pytest.raises(KeyError, match="bug"):
        ResultParser().parse_with_schema(Order, '{"sku": "bug", "count": 1}')
    with pytest.raises(KeyError, match="bug"):
        ask_stream(Order, says(iter(['{"sku": "bug", ', '"count": 1}']))).result()


def test_violations_of_an_attempt_are_all() -> None:
    answer = ask(Order, says('{"sku": "A", "count": 0}', '{"sku": "C-1", "count": 1}'))
    assert [[each.keyword for each in attempt.violations] for attempt in answer.attempts] == [
        ["minimum"],
        ["value_error"],
    ]


def test_there_are_a_logger_and_hooks(caplog: pytest.LogCaptureFixture) -> None:
    told: list[object] = []
    with caplog.at_level(logging.DEBUG, logger="seamgate"):
        ask(ANY, says("{}"), gate=Gate(on_verdict=told.append), on_attempt=told.append)
    assert len(told) == 2
    assert any("any: accepted" in record.message for record in caplog.records)


def test_tab_completion_and_notebooks(gate: Gate) -> None:
    verdict = gate.validate("l", '["<b>"]')
    for name in ("output", "error", "items", "quarantined", "feedback", "changes", "notes", "json"):
        assert name in dir(verdict.report) or name == "items", name
    assert {"report", "usage", "violations"} <= set(dir(verdict))
    assert "<b>" not in verdict.report._repr_html_().replace("<b>rejected</b>", "").replace("<b>partial</b>", "")
    assert {"partial", "items", "dead_end"} <= set(dir(gate.session("l").push("[1")))


def test_spans_are_characters_too(gate: Gate) -> None:
    output = 'é ["é", "x", 1]'
    report = gate.validate("l", output[2:]).report
    first = report.violations[0]
    assert first.str_span is not None
    assert output[2:][slice(*first.str_span)] == first.text == '"é"'
    with gate.session("any") as session:
        session.push("é")
    with gate.session("l") as session:
        (item,) = session.push('["é", ').items
        assert (item.value, item.text, item.str_span) == ("é", '"é"', (1, 4))


def test_streams_of_partial_objects_and_items() -> None:
    pieces = ['{"sku": "A', '-7", "count": 2}']
    with ask_stream(Order, lambda messages: iter(pieces)) as stream:
        partial = [event.partial for event in stream if event.type == "progress"]
    assert partial == [{"sku": "A"}, {"sku": "A-7", "count": 2}]


def test_parse_with_schema_takes_a_policy() -> None:
    result = ResultParser().parse_with_schema(list[Order], "[{'sku': 'A', 'count': 1},]", contract={"repair": "syntax"})
    assert result.data == [Order(sku="A", count=1)]


def test_a_conversation_has_a_time() -> None:
    async def hangs(messages: object) -> str:
        await asyncio.sleep(60)
        return ""

    with pytest.raises(TimeoutError):
        asyncio.run(ask_async(Order, hangs, timeout_seconds=0.05))


class Issue(BaseModel):
    severity: Literal["low", "high"]

    @field_validator("severity", mode="before")
    @classmethod
    def lower(cls, severity: Any) -> Any:
        return severity.lower() if isinstance(severity, str) else severity


def test_before_validators_may_run_first() -> None:
    assert ask(Issue, says('{"severity": "HIGH"}'), type_first=True).unwrap().severity == "high"
    assert ask(Issue, says('{"severity": "HIGH"}'), contract={"coerce": "lossless"}).unwrap().severity == "high"


def test_a_tool_call_is_an_answer_and_no_second_call_is_paid() -> None:
    call = {"function": {"name": "order", "arguments": '{"sku": "A-7", "count": 2}'}}
    reply = {"choices": [{"message": {"content": None, "tool_calls": [call]}, "finish_reason": "tool_calls"}]}
    answer = ask(Order, says(reply))
    assert (bool(answer), len(answer.attempts)) == (True, 1)


def test_paths_are_texts_too(gate: Gate, tmp_path: Path) -> None:
    path = tmp_path / "order.contract.json"
    path.write_text(json.dumps({"agent": "order", "schema": True}))
    assert Gate().register(str(path)).agent == "order"


async def sync_in_async() -> None:
    call_llm: Any = says("{}")
    await ask_async(Order, call_llm)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: Gate(limits={"fuel": 10}), TypeError, "limits must be `Limits`"),  # type: ignore[arg-type]
        (lambda: Gate().validate_all([{"contract": "a"}]), TypeError, "must be `Request`"),  # type: ignore[list-item]
        (lambda: ResultParser().parse_with_schema("{}", Order), TypeError, "the schema comes first"),  # type: ignore[call-overload]
        (lambda: ResultParser(3), TypeError, "gate must be a `Gate`"),  # type: ignore[arg-type]
        (lambda: asyncio.run(sync_in_async()), TypeError, "call_llm must be asynchronous: `ask` takes one that is not"),
        (lambda: Gate().lint("any"), SeamgateFault, "'any' is the name of an agent"),
        (lambda: Gate().register(Order), TypeError, "a type may be its schema"),  # type: ignore[arg-type]
        (lambda: pickle.dumps(Gate()), TypeError, "threads share one, and each process makes its own"),
        (lambda: copy.copy(Gate()), TypeError, "cannot be pickled or copied"),
    ],
)
def test_errors_name_the_argument(call: Callable[[], object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_a_parser_takes_a_gate(gate: Gate) -> None:
    assert ResultParser(gate).parse("l", "[1]").unwrap() == [1]
    assert "Gate of" in repr(gate)


def test_results_unwrap(gate: Gate) -> None:
    assert gate.validate("l", "[1]").unwrap() == [1]
    with pytest.raises(NotAcceptedError):
        gate.validate("l", "no JSON").report.unwrap()


def test_a_prompt_has_no_titles_of_pydantic() -> None:
    class Note(BaseModel):
        id: str
        n: int | None = None

    said = ResultParser().describe_schema(Note)
    assert "Id." not in said
    assert "any value" not in said
    assert "integer or null" in said


@native_only
def test_the_package_is_a_command() -> None:
    ran = subprocess.run([sys.executable, "-m", "seamgate", "--version"], capture_output=True, text=True, check=True)
    assert ran.stdout.startswith("seamgate ")


@native_only
def test_the_package_has_the_demo(tmp_path: Path) -> None:
    program = [sys.executable, "-m", "seamgate", "demo"]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    ran = subprocess.run(program, capture_output=True, text=True, check=True, env=environment)
    assert "c3 refund: ok" in ran.stdout


def test_seconds_are_said_in_names(gate: Gate) -> None:
    assert gate.validate("l", "[1]").usage.elapsed_seconds > 0
    assert Limits(timeout_seconds=1.0).timeout_seconds == 1.0


def test_the_docs_of_validate_say_that_validators_do_not_run() -> None:
    gate = Gate()
    gate.register({"agent": "order", "schema": Order})
    output = '{"sku": "C-1", "count": 1}'
    assert gate.validate("order", output)
    assert "do not run" in (Gate.validate.__doc__ or "")
    result = ResultParser(gate).parse("order", output)
    assert not result
    assert [each.message for each in result.violations] == ["Value error, must be in stock"]
    assert isinstance(ask("order", says(output, output), gate=gate), Rejected)


def test_many_threads_and_batches(gate: Gate) -> None:
    results: list[bool] = []
    threads = [threading.Thread(target=lambda: results.append(bool(gate.validate("l", "[1]")))) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 20
    assert [bool(each) for each in gate.validate_all([Request("l", "[1]"), Request("l", "x")])] == [True, False]


def test_every_name_has_a_document() -> None:
    for name in seamgate.__all__:
        of = getattr(seamgate, name)
        if isinstance(of, type) and of.__module__.startswith("seamgate"):
            assert of.__doc__, name
