// Spans and metrics of OpenTelemetry: the names and attributes of the package for Python, read with OpenTelemetry's own SDK.

import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { cpSync, rmSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { context, ROOT_CONTEXT } from "@opentelemetry/api";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { ask, askStream, Gate, WorkerGate } from "seamgate";
import { instrument } from "seamgate/otel";
import { read } from "./shared.mjs";

// The context manager that `@opentelemetry/sdk-node` registers: the active span follows asynchronous calls.
const storage = new AsyncLocalStorage();
context.setGlobalContextManager({
  active: () => storage.getStore() ?? ROOT_CONTEXT,
  with: (within, call, self, ...args) => storage.run(within, () => call.apply(self, args)),
  bind: (_, target) => target,
  enable() {
    return this;
  },
  disable() {
    return this;
  },
});

const contract = {
  agent: "order",
  schema: { type: "object", required: ["sku"], properties: { sku: { type: "string" } } },
};

/** What is recorded during some work: spans, and metrics by name. */
async function recorded(work) {
  const spans = new InMemorySpanExporter();
  const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter });
  const meterProvider = new MeterProvider({ readers: [reader] });
  const end = instrument({ tracerProvider, meterProvider });
  try {
    await work(tracerProvider.getTracer("test"));
  } finally {
    end();
  }
  await reader.forceFlush();
  const finished = spans.getFinishedSpans();
  const metrics = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics));
  await meterProvider.shutdown();
  return { spans: finished, metrics: Object.fromEntries(metrics.map((metric) => [metric.descriptor.name, metric])) };
}

const points = (metric) =>
  metric.dataPoints.map(({ attributes, value }) => [attributes, typeof value === "number" ? value : value.count]);

test("copies of the package in one process are observed alike", async () => {
  // As a bundler that makes a bundle of each route.
  const folder = fileURLToPath(new URL("../node_modules/seamgate-copy", import.meta.url));
  cpSync(fileURLToPath(new URL("../node_modules/seamgate", import.meta.url)), folder, { recursive: true });
  try {
    const copy = await import(new URL("../node_modules/seamgate-copy/dist/node.js", import.meta.url));
    assert.notEqual(copy.Gate, Gate);
    const { spans } = await recorded(async () => {
      (await copy.Gate.load()).validate(contract, '{"sku":"A"}');
      await copy.ask(contract, () => '{"sku":"A"}', "Order.");
    });
    assert.deepEqual(
      spans.map(({ name }) => name),
      ["seamgate.validate", "seamgate.validate", "seamgate.ask"],
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("each verdict and each fault is recorded, whoever made it", async () => {
  const { spans, metrics } = await recorded(async () => {
    const gate = await Gate.load();
    gate.register(contract);
    gate.validate("order", '{"sku":"A"}');
    gate.instance().validate("order", "{}");
    const session = gate.session("order");
    session.push('{"sku":"B"}');
    session.finish();
    gate.merge([gate.validate("order", '{"sku":"C"}').report]);
    assert.throws(() => gate.validate("nobody", "{}"), { code: "unknown_agent" });
    const workers = await WorkerGate.load({ workers: 1 });
    await workers.validateAll([{ agent: contract, output: "{}" }]);
    await assert.rejects(workers.validate("nobody", "{}"), { code: "unknown_agent" });
    await workers.close();
  });
  assert.deepEqual(
    spans.map(({ name }) => name),
    Array(8).fill("seamgate.validate"),
  );
  const [accepted, rejected] = spans;
  assert.deepEqual(Object.keys(accepted.attributes).sort(), [
    "gen_ai.agent.name",
    "seamgate.disposition",
    "seamgate.fuel",
    "seamgate.keywords",
  ]);
  assert.deepEqual(rejected.attributes["seamgate.keywords"], ["required"]);
  assert.equal(spans[5].status.code, 2);
  assert.deepEqual(spans[5].attributes, { "error.type": "unknown_agent" });
  const of = (disposition) => ({ "gen_ai.agent.name": "order", "seamgate.disposition": disposition });
  const verdicts = [
    [of("accepted"), 4],
    [of("rejected"), 2],
  ];
  for (const name of ["seamgate.verdicts", "seamgate.verdict.duration", "seamgate.verdict.fuel"]) {
    assert.deepEqual(points(metrics[name]), verdicts, name);
  }
  assert.deepEqual(points(metrics["seamgate.violations"]), [
    [{ "gen_ai.agent.name": "order", "seamgate.keyword": "required" }, 2],
  ]);
  assert.deepEqual(points(metrics["seamgate.faults"]), [[{ "error.type": "unknown_agent" }, 2]]);
  assert.equal(metrics["seamgate.verdict.duration"].descriptor.unit, "s");
});

for (const [name, asks] of Object.entries({
  ask: (of, call) => ask(of, call, "an order"),
  askStream: (of, call) => askStream(of, call, "an order").result(),
})) {
  test(`a question is a span, with the calls of its model inside: ${name}`, async () => {
    const replies = ["{}", '{"sku":"secret"}'];
    const { spans, metrics } = await recorded(async (tracer) => {
      const result = await asks(contract, async () => {
        const span = tracer.startSpan("model");
        await null;
        span.end();
        return replies.shift();
      });
      assert.equal(result.success, true);
      await assert.rejects(
        asks(contract, () => {
          throw new RangeError("secret");
        }),
        RangeError,
      );
    });
    const [question, failed] = spans.filter(({ name }) => name === "seamgate.ask");
    assert.deepEqual(question.attributes, {
      "gen_ai.agent.name": "order",
      "seamgate.disposition": "accepted",
      "seamgate.stop": "accepted",
      "seamgate.attempts": 2,
    });
    const children = spans.filter(
      ({ parentSpanContext }) => parentSpanContext?.spanId === question.spanContext().spanId,
    );
    assert.deepEqual(
      children.map(({ name }) => name),
      ["model", "seamgate.validate", "model", "seamgate.validate"],
    );
    assert.deepEqual([failed.attributes["error.type"], failed.status.code], ["RangeError", 2]);
    const { "gen_ai.agent.name": agent, ...rest } = points(metrics["seamgate.ask.attempts"])[0][0];
    assert.deepEqual([agent, rest], ["order", { "seamgate.disposition": "accepted", "seamgate.stop": "accepted" }]);
    const told = JSON.stringify(spans.map(({ attributes, status, events }) => [attributes, status, events]));
    assert.ok(!told.includes("secret"), told);
  });
}

test("a stream that is left has a span, too, and nothing is recorded after the end", async () => {
  const { spans } = await recorded(async () => {
    for await (const _ of askStream(contract, () => ["{", "}"])) break;
  });
  assert.deepEqual(
    spans.map(({ name, status }) => [name, status.code]),
    [["seamgate.ask", 0]],
  );
  const { spans: none } = await recorded(() => {});
  const gate = await Gate.load();
  gate.validate(contract, "{}");
  assert.deepEqual(none, []);
});

test("the names are those of the package for Python", () => {
  const names = (text) =>
    [...new Set(text.match(/"(?:seamgate\.[a-z.]+|gen_ai\.[a-z.]+|error\.type|\{[a-z]+\})"/g))].sort();
  const python = names(read("host/python/src/seamgate/otel.py"));
  assert.ok(python.length > 10);
  assert.deepEqual(names(read("host/js/src/otel.ts")), python);
});
