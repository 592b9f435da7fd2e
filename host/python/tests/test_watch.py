"""Observing verdicts in production: hooks, the logger, OpenTelemetry. None of them reveals the text of an output."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from conftest import native_only
from opentelemetry import trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic import BaseModel

from seamgate import Gate, Request, ResultParser, SeamgateFault, Verdict, ask, ask_async, otel

SECRET = "the-secret-of-the-producer"
NUMBER: dict[str, Any] = {"agent": "n", "schema": {"type": "integer"}}


class Order(BaseModel):
    sku: str


@pytest.fixture
def told() -> list[Verdict | SeamgateFault]:
    return []


@pytest.fixture
def gate(told: list[Verdict | SeamgateFault]) -> Gate:
    gate = Gate(on_verdict=told.append)
    gate.register(NUMBER)
    return gate


def test_a_hook_is_told_of_every_verdict(gate: Gate, told: list[Verdict | SeamgateFault]) -> None:
    made: list[Verdict | SeamgateFault] = [gate.validate("n", "1"), gate.validate(NUMBER, "x")]
    with gate.instance() as instance:
        made.append(instance.validate("n", "2"))
    made += gate.validate_all([Request("n", "3"), Request("nobody", "4")])
    assert told == made
    assert isinstance(made[-1], SeamgateFault)
    with pytest.raises(SeamgateFault) as raised:
        gate.validate("nobody", "1")
    assert told[-1] is raised.value
    told.clear()
    result = ask("n", lambda _: "x", gate=gate)
    assert len(told) == len(result.attempts) == 2
    told.clear()
    assert ask(Order, lambda _: '{"sku":"a"}', gate=gate)
    assert ResultParser(gate).parse("n", "1")
    assert not ResultParser(gate).parse_with_schema(Order, "{}")
    assert [bool(verdict) for verdict in told] == [True, True, False]


@native_only
def test_a_hook_is_told_of_streams_and_runs(gate: Gate, told: list[Verdict | SeamgateFault]) -> None:
    with gate.session("n") as session:
        session.push("1")
        verdict = session.finish()
    assert told == [verdict]
    outcome = gate.run("n", lambda _: "x")
    assert len(told) == 1 + outcome.attempts
    asyncio.run(gate.run_async("n", _later))
    assert told[-1].report.output == 7  # type: ignore[union-attr]


async def _later(_: str | None) -> str:
    return "7"


def test_an_error_of_a_hook_is_the_callers() -> None:
    def fails(_: object) -> None:
        raise LookupError("the hook's own")

    with pytest.raises(LookupError, match="the hook's own"):
        Gate(on_verdict=fails).validate(NUMBER, "1")
    with pytest.raises(TypeError, match="on_verdict must be a function, not str"):
        Gate(on_verdict="x")  # type: ignore[arg-type]


def test_the_logger_says_what_became_of_outputs_and_not_what_they_say(caplog: pytest.LogCaptureFixture) -> None:
    gate = Gate()
    with caplog.at_level(logging.DEBUG, "seamgate"):
        gate.validate(NUMBER, f'"{SECRET}"')
        with pytest.raises(SeamgateFault):
            gate.validate("nobody", SECRET)
    first, second = caplog.records
    assert (first.name, first.levelname, first.getMessage()) == ("seamgate", "DEBUG", "n: rejected (type)")
    assert vars(first)["seamgate"]["disposition"] == "rejected"
    assert vars(first)["seamgate"]["fuel"] > 0
    assert second.getMessage() == "fault: unknown_agent"
    caplog.clear()
    with caplog.at_level(logging.INFO, "seamgate"):
        replies = iter([f'{{"{SECRET}": 1}}', f'{{"sku": "{SECRET}"}}'])
        assert ask(Order, lambda _: next(replies), contract={"agent": "orders"})
        assert ask(Order, lambda _: '{"sku": "a"}', contract={"agent": "orders"})
    assert [record.getMessage() for record in caplog.records] == [
        "orders: attempt 1 is rejected (required), asks again",
        "orders: attempt 2 is accepted, stops: accepted",
    ]
    assert SECRET not in str([vars(record) for record in caplog.records])
    caplog.clear()
    gate.validate(NUMBER, "1")
    assert caplog.records == []


def test_who_does_not_log_imports_no_logger() -> None:
    code = (
        "import sys, seamgate\n"
        "assert seamgate.Gate().validate({'agent': 'a', 'schema': True}, '1')\n"
        "assert seamgate.backend != 'native' or 'logging' not in sys.modules\n"
        "import logging\n"
        "logging.basicConfig(level=logging.DEBUG)\n"
        "seamgate.validate({'agent': 'a', 'schema': True}, '1')\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stderr == "DEBUG:seamgate:a: accepted\n"


class Recorded:
    """Returns the recorded spans and metrics of OpenTelemetry."""

    def __init__(self) -> None:
        self.spans = InMemorySpanExporter()
        self.reader = InMemoryMetricReader()
        self.tracers = TracerProvider()
        self.tracers.add_span_processor(SimpleSpanProcessor(self.spans))
        self.meters = MeterProvider(metric_readers=[self.reader])
        self.end = otel.instrument(tracer_provider=self.tracers, meter_provider=self.meters)

    def points(self, name: str) -> dict[tuple[Any, ...], Any]:
        data: Any = self.reader.get_metrics_data()
        metrics = [each for of in data.resource_metrics for scope in of.scope_metrics for each in scope.metrics]
        found = next(each for each in metrics if each.name == name)
        return {
            tuple(point.attributes.values()): getattr(point, "value", None) or point.count
            for point in found.data.data_points
        }


@pytest.fixture
def recorded() -> Iterator[Recorded]:
    recorded = Recorded()
    yield recorded
    recorded.end()


def test_spans_of_a_question_are_around_those_of_its_model_and_its_verdicts(recorded: Recorded) -> None:
    replies = [f'{{"{SECRET}": 1}}', f'{{"sku": "{SECRET}"}}'] * 2
    tracer = recorded.tracers.get_tracer("client")

    def call_llm(_: object) -> str:
        with tracer.start_as_current_span("chat"):
            return replies.pop()

    async def call_later(messages: object) -> str:
        await asyncio.sleep(0)
        return call_llm(messages)

    assert ask(Order, call_llm, contract={"agent": "orders"})
    replies.pop()
    replies.insert(0, replies[0].replace("sku", "sku"))
    assert asyncio.run(ask_async(Order, call_later, contract={"agent": "orders"})) is not None
    assert trace.get_current_span() is trace.INVALID_SPAN
    spans = recorded.spans.get_finished_spans()
    questions = [span for span in spans if span.name == "seamgate.ask"]
    assert len(questions) == 2
    for span in spans:
        assert SECRET not in span.to_json()
        if span.name != "seamgate.ask":
            assert span.parent is not None
            assert span.parent.span_id in {question.context.span_id for question in questions}
    attributes: Any = questions[0].attributes
    assert dict(attributes) == {
        "gen_ai.agent.name": "orders",
        "seamgate.disposition": "accepted",
        "seamgate.stop": "accepted",
        "seamgate.attempts": 1,
    }
    verdict: Any = next(span for span in spans if span.name == "seamgate.validate")
    assert verdict.attributes["seamgate.disposition"] == "accepted"
    assert verdict.end_time >= verdict.start_time


def test_metrics_count_by_agent_disposition_and_keyword(recorded: Recorded) -> None:
    gate = Gate()
    gate.register(NUMBER)
    for output in ("1", "2", "x", '"x"'):
        gate.validate("n", output)
    with pytest.raises(SeamgateFault):
        gate.validate("nobody", "1")
    ask("n", lambda _: "x", gate=gate)
    assert recorded.points("seamgate.verdicts") == {("n", "accepted"): 2, ("n", "rejected"): 4}
    assert recorded.points("seamgate.violations") == {("n", "extract"): 3, ("n", "type"): 1}
    assert recorded.points("seamgate.faults") == {("unknown_agent",): 1}
    assert recorded.points("seamgate.ask.attempts") == {("n", "rejected", "repeated"): 1}
    assert recorded.points("seamgate.verdict.duration") == {("n", "accepted"): 2, ("n", "rejected"): 4}
    assert recorded.points("seamgate.verdict.fuel") == {("n", "accepted"): 2, ("n", "rejected"): 4}
    recorded.end()
    gate.validate("n", "1")
    assert recorded.points("seamgate.verdicts")[("n", "accepted")] == 2


def test_a_question_that_fails_says_how(recorded: Recorded) -> None:
    def fails(_: object) -> str:
        raise ConnectionError(SECRET)

    with pytest.raises(ConnectionError):
        ask(Order, fails)
    (span,) = recorded.spans.get_finished_spans()
    assert dict(span.attributes or {})["error.type"] == "ConnectionError"
    assert SECRET not in span.to_json()
