"""OpenTelemetry spans and metrics of verdicts and questions. Requires the extra `seamgate[otel]`.

    from seamgate import otel

    otel.instrument()

Only agents, dispositions and keywords are recorded: no outputs, no prompts and no messages of violations.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

try:
    from opentelemetry import metrics, trace
    from opentelemetry.trace import Status, StatusCode
except ImportError as error:
    raise ImportError("seamgate.otel needs OpenTelemetry: `pip install seamgate[otel]`") from error

from . import __version__, _watch
from ._faults import SeamgateFault
from ._verdict import Verdict

__all__ = ["instrument"]

# Names from OpenTelemetry's semantic conventions.
_AGENT = "gen_ai.agent.name"
_ERROR = "error.type"

_DISPOSITION = "seamgate.disposition"
_KEYWORD = "seamgate.keyword"
_STOP = "seamgate.stop"


def instrument(
    *,
    tracer_provider: trace.TracerProvider | None = None,
    meter_provider: metrics.MeterProvider | None = None,
) -> Callable[[], None]:
    """Records every verdict of every gate, and every question of `ask`, from now on.

    Spans are `seamgate.validate` and, around a whole question with the calls of its model, `seamgate.ask`. Metrics are
    `seamgate.verdicts`, `seamgate.violations`, `seamgate.faults`, `seamgate.ask.attempts`, `seamgate.verdict.duration`
    and `seamgate.verdict.fuel`.

    Args:
        tracer_provider: Where spans go. Default: the global one.
        meter_provider: Where metrics go. Default: the global one.

    Returns:
        A function that stops recording.
    """
    recorder = _Recorder(
        trace.get_tracer("seamgate", __version__, tracer_provider),
        metrics.get_meter("seamgate", __version__, meter_provider),
    )
    _watch.verdict_hooks.append(recorder.verdict)
    _watch.question_spans.append(recorder.question)

    def end() -> None:
        if recorder.verdict in _watch.verdict_hooks:
            _watch.verdict_hooks.remove(recorder.verdict)
            _watch.question_spans.remove(recorder.question)

    return end


class _Recorder:
    def __init__(self, tracer: trace.Tracer, meter: metrics.Meter) -> None:
        self._tracer = tracer
        self._verdicts = meter.create_counter("seamgate.verdicts", "{verdict}", "Verdicts by agent and disposition.")
        self._violations = meter.create_counter(
            "seamgate.violations", "{violation}", "Violations by agent and keyword."
        )
        self._faults = meter.create_counter("seamgate.faults", "{fault}", "Calls without a verdict, by fault.")
        self._attempts = meter.create_histogram("seamgate.ask.attempts", "{attempt}", "Attempts of a question.")
        self._duration = meter.create_histogram("seamgate.verdict.duration", "s", "Time in the sandbox.")
        self._fuel = meter.create_histogram("seamgate.verdict.fuel", "{fuel}", "Fuel of a verdict.")

    def verdict(self, made: Verdict | SeamgateFault) -> None:
        """Records a verdict, or the fault in place of one."""
        end = time.time_ns()
        if isinstance(made, SeamgateFault):
            self._faults.add(1, {_ERROR: made.code})
            span = self._tracer.start_span("seamgate.validate", attributes={_ERROR: made.code}, start_time=end)
            span.set_status(Status(StatusCode.ERROR))
            span.end(end)
            return
        report, usage = made.report, made.usage
        about = {_AGENT: report.agent, _DISPOSITION: report.disposition.value}
        self._verdicts.add(1, about)
        self._duration.record(usage.elapsed_seconds, about)
        self._fuel.record(usage.fuel, about)
        keywords = [violation.keyword for violation in report.violations]
        for keyword in keywords:
            self._violations.add(1, {_AGENT: report.agent, _KEYWORD: keyword})
        attributes: dict[str, Any] = {**about, "seamgate.fuel": usage.fuel, "seamgate.keywords": sorted(set(keywords))}
        start = end - round(usage.elapsed_seconds * 1e9)
        self._tracer.start_span("seamgate.validate", attributes=attributes, start_time=start).end(end)

    @contextmanager
    def question(self, agent: str) -> Iterator[Callable[[Any], object]]:
        """Records a question. The spans of the model's client are its children."""
        # The message of an exception may quote an output.
        with self._tracer.start_as_current_span(
            "seamgate.ask", attributes={_AGENT: agent}, record_exception=False, set_status_on_exception=False
        ) as span:

            def ended(result: Any) -> None:
                attributes = {_DISPOSITION: result.disposition.value, _STOP: result.stop}
                span.set_attributes({**attributes, "seamgate.attempts": len(result.attempts)})
                self._attempts.record(len(result.attempts), {_AGENT: agent, **attributes})

            try:
                yield ended
            except BaseException as error:
                span.set_attribute(_ERROR, type(error).__qualname__)
                span.set_status(Status(StatusCode.ERROR))
                raise
