// No call waits without a clock: workers that never answer, die or fail to start, and all that can be open beside verdicts.

import assert from "node:assert/strict";
import { test } from "node:test";
import { backend, Gate, LoadError, SeamgateFault, WorkerGate } from "seamgate";
import { platform, use } from "../node_modules/seamgate/dist/platform.js";

const anything = { agent: "any", schema: { type: "array" } };
const real = platform();

/** Has gates with workers use these in place of real ones, and no addon. */
function withWorkers(context, behave) {
  const ports = [];
  const addon = () => new LoadError("there is none in this test");
  use({
    ...real,
    addon,
    component: async () => ({}),
    processors: () => 2,
    worker() {
      const port = { posted: [], ended: false, number: ports.length };
      ports.push(port);
      return {
        post(job) {
          port.posted.push(job);
          queueMicrotask(() => behave.job?.(port, job));
        },
        listen(message, ended) {
          Object.assign(port, { message, dies: (why) => ended(new Error(why)) });
          queueMicrotask(() => (behave.start ?? ((port) => port.message(null)))(port));
        },
        hold() {},
        end() {
          port.ended = true;
        },
      };
    },
  });
  context.after(() => use(real));
  return ports;
}

/** Microtasks, and what they begin. */
const settled = async () => {
  for (let at = 0; at < 20; at += 1) await undefined;
};

test("a worker that never starts fails the gate in time", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const [ports, loading] = [withWorkers(context, { start() {} }), WorkerGate.load()];
  const failed = assert.rejects(loading, { name: "LoadError", message: /was not ready after 30000 ms/ });
  await settled();
  context.mock.timers.tick(30_000);
  await failed;
  assert.equal(ports[0].ended, true);
});

test("a worker that goes silent costs one call, and so does one that dies", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const verdict = { verdict: { json: '{"disposition":"rejected"}', raw: "", usage: {} } };
  const job = (port, { calls }) => {
    for (const [, { contract }] of calls) {
      if (contract.includes("silent")) return;
      if (contract.includes("dies")) {
        port.dies("out of memory");
        return;
      }
      port.message(verdict);
    }
  };
  const ports = withWorkers(context, { job });
  const gate = await WorkerGate.load({ workers: 1, deadlineMs: 100 });
  const call = (agent) => gate.validate({ agent, schema: true }, "1");
  const calls = ["silent", "next", "dies", "last"].map(call);
  const [silent, next, dies, last] = calls;
  const failed = Promise.all([
    assert.rejects(silent, { name: SeamgateFault.name, code: "timeout", detail: { limit: 100 } }),
    assert.rejects(dies, { name: SeamgateFault.name, code: "trap", message: /its worker ended: out of memory/ }),
  ]);
  await settled();
  context.mock.timers.tick(100);
  context.mock.timers.tick(20);
  assert.equal((await next).report.disposition, "rejected");
  assert.equal((await last).report.disposition, "rejected");
  await failed;
  assert.deepEqual(
    ports.map(({ ended }) => ended),
    [true, true, false],
  );
  // What an ended worker says late is nobody's.
  ports[0].message(verdict);
  ports[0].dies("late");
  assert.equal((await call("more")).report.disposition, "rejected");
  await gate.close();
});

test("workers that can no longer be started fail all that wait", async (context) => {
  const start = (port) => (port.number === 0 ? port.message(null) : port.dies("no more threads"));
  withWorkers(context, { start, job: (port) => port.dies("out of memory") });
  const gate = await WorkerGate.load({ workers: 1 });
  const calls = [1, 2, 3].map((output) => gate.validate(anything, String(output)));
  await assert.rejects(calls[0], { code: "trap" });
  for (const call of calls.slice(1)) await assert.rejects(call, { name: "LoadError", message: /no more threads/ });
  await gate.close();
});

test("to close a gate ends what waits, whatever state its workers are in", async (context) => {
  const ports = withWorkers(context, { start: (port) => port.number === 0 && port.message(null) });
  const gate = await WorkerGate.load({ workers: 2 });
  const calls = [1, 2, 3].map((output) => gate.validate(anything, String(output)));
  await settled();
  const closed = { message: "the gate was closed" };
  const rejected = Promise.all(calls.map((call) => assert.rejects(call, closed)));
  await gate[Symbol.asyncDispose]();
  await rejected;
  assert.deepEqual(
    ports.map(({ ended }) => ended),
    [true, true],
  );
  await gate.close();
});

test("a thousand of everything that can be open hold up no verdict", async () => {
  const gate = await Gate.load();
  gate.register(anything);
  const start = performance.now();
  const count = 1_000;
  const sessions = Array.from({ length: count }, () => gate.session("any"));
  for (const session of sessions) session.push("[1");
  const instances = Array.from({ length: backend === "native" ? count : 20 }, () => gate.instance());
  for (const instance of instances) assert.equal(instance.validate("any", "[]").report.success, true);
  const never = () => new Promise(() => {});
  const runs = backend === "native" ? Array.from({ length: count }, () => gate.run("any", never)) : [];
  await settled();
  const workers = await WorkerGate.load({ workers: 2 });
  await workers.register(anything);
  const batch = workers.validateAll(Array.from({ length: 500 }, () => ({ agent: "any", output: "[]" })));
  for (let at = 0; at < 10_000; at += 1) assert.equal(gate.validate("any", "[]").report.success, true);
  assert.ok((await batch).every(({ report }) => report.success));
  for (const session of sessions) session.push("]");
  for (const session of sessions.slice(0, 500)) assert.deepEqual(session.finish().report.data, [1]);
  for (const session of sessions) session[Symbol.dispose]();
  assert.equal(runs.length, backend === "native" ? count : 0);
  await workers.close();
  const took = performance.now() - start;
  assert.ok(took < 60_000, `${took} ms`);
});
