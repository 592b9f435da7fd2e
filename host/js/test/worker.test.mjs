import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { Gate, LoadError, SeamgateFault, WorkerGate } from "seamgate";
import { doubling, endless, example, output } from "./shared.mjs";

const anything = { agent: "any", schema: true };

async function withGate(options, work) {
  const gate = await WorkerGate.load(options);
  try {
    return await work(gate);
  } finally {
    await gate.close();
  }
}

test("a gate in workers gives the same reports and faults", () =>
  withGate({ workers: 1 }, async (gate) => {
    const here = await Gate.load();
    assert.deepEqual(await gate.register(example("triage")), here.register(example("triage")));
    const [far, near] = [
      await gate.validate("triage", output("triage.good")),
      here.validate("triage", output("triage.good")),
    ];
    assert.equal(far.report.json, near.report.json);
    assert.equal(far.report.outputJson, near.report.outputJson);
    assert.equal(far.usage.fuel, near.usage.fuel);
    assert.equal(await gate.describe("triage"), here.describe("triage"));
    assert.deepEqual(await gate.lint(anything), here.lint(anything));
    assert.deepEqual(gate.names(), ["triage"]);
    assert.equal(gate.has("triage"), true);
    assert.deepEqual(gate.contract("triage"), here.contract("triage"));
    const request = '{"agent":"triage","output":"1"}';
    const [answer, expected] = [await gate.call(request), here.call(request)];
    assert.equal(answer.json, expected.json);
    assert.equal(answer.usage.fuel, expected.usage.fuel);
    const bytes = new Uint8Array([0x22, 0xff, 0x22]);
    assert.equal((await gate.validate(anything, bytes)).report.json, here.validate(anything, bytes).report.json);
    const half = '"\ud800"';
    assert.equal((await gate.validate(anything, half)).report.json, here.validate(anything, half).report.json);
    await assert.rejects(gate.call('{"output":"\ud800"}'), { code: "bad_request" });
    await assert.rejects(gate.validate("nobody", "1"), { code: "unknown_agent", detail: { agents: ["triage"] } });
    await assert.rejects(gate.validate(doubling, "{}"), { code: "out_of_fuel" });
    await assert.rejects(gate.validate(anything, "x".repeat(8 * 1024 * 1024 + 1)), { code: "input_too_large" });
    await assert.rejects(gate.register('{"agent":"a","schema":{"type":1}}'), { code: "bad_contract" });
    await gate.register(anything);
    await assert.rejects(gate.register({ agent: "any", schema: false }), /already has another contract/);
    assert.equal((await gate.validate("any", "1")).report.success, true);
  }));

test("past the deadline the worker is ended, and the next call gets another", () =>
  withGate({ limits: endless, deadlineMs: 200, workers: 1 }, async (gate) => {
    await gate.register(anything);
    const start = performance.now();
    const late = gate.validate(doubling, "{}");
    const next = gate.validate("any", "1");
    await assert.rejects(late, (fault) => {
      assert.ok(fault instanceof SeamgateFault);
      assert.equal(fault.code, "timeout");
      assert.deepEqual(fault.detail, { limit: 200 });
      return true;
    });
    const took = performance.now() - start;
    assert.ok(took >= 199 && took < 2000, `${took} ms`);
    assert.equal((await next).report.success, true);
  }));

test("a batch is answered in its order, and a fault costs one answer", () =>
  withGate({ limits: endless, deadlineMs: 1000, workers: 3 }, async (gate) => {
    await gate.register(anything);
    const requests = Array.from({ length: 40 }, (_, at) => ({ agent: "any", output: `${at}` }));
    requests[3] = { agent: doubling, output: "{}" };
    requests[5] = { agent: "nobody", output: "1" };
    requests[7] = { agent: "any", output: "1", finish: "done" };
    const answers = await gate.validateAll(requests);
    const told = answers.map((answer) => (answer instanceof SeamgateFault ? answer.code : answer.report.data));
    const expected = requests.map((_, at) => at);
    expected[3] = "timeout";
    expected[5] = "unknown_agent";
    expected[7] = "bad_request";
    assert.deepEqual(told, expected);
    assert.deepEqual(await gate.validateAll([]), []);
  }));

test("more outputs than are under way at once are answered in order", () =>
  withGate({ workers: 1 }, async (gate) => {
    await gate.register(anything);
    for (const count of [127, 128, 129, 700]) {
      const requests = Array.from({ length: count }, (_, at) => ({
        agent: at % 97 === 5 ? "nobody" : "any",
        output: String(at),
      }));
      const told = (await gate.validateAll(requests)).map((answer) => answer.report?.data ?? answer.code);
      assert.deepEqual(
        told,
        requests.map(({ agent }, at) => (agent === "any" ? at : "unknown_agent")),
      );
    }
    // A mistake of the caller ends it, and the gate goes on.
    const wrong = Array.from({ length: 700 }, (_, at) => ({
      agent: "any",
      output: "1",
      ...(at === 300 && { finsh: "" }),
    }));
    await assert.rejects(gate.validateAll(wrong), /^TypeError: `options` has no member `finsh`/);
    assert.equal((await gate.validate("any", "1")).report.data, 1);
  }));

test("calls in batches give what each gives alone, whatever stands beside it", () =>
  withGate({ workers: 2 }, async (gate) => {
    const here = await Gate.load();
    for (const agent of [example("triage"), anything]) {
      here.register(agent);
      await gate.register(agent);
    }
    const schema = { type: "array", items: { type: "integer" } };
    const kinds = [
      { agent: "triage", output: output("triage.good") },
      { agent: "any", output: "[1, 2" },
      { agent: { agent: "own", schema, items: { path: "$[*]" } }, output: '[1,"é"]' },
      { agent: { agent: "own", schema }, output: new TextEncoder().encode("[1]") },
      { agent: JSON.stringify({ agent: "text", schema: true }), output: "\ufeff1" },
      { agent: "any", output: new Uint8Array([0x22, 0xff, 0x22]) },
      { agent: "any", output: '"\ud800"' },
      { agent: "any", output: "", finish: "refusal" },
      { agent: "any", output: "1", finish: "no word" },
      { agent: "any", output: "1", lists: { a: 5 } },
      { agent: { agent: "own", schema: { type: "no type" } }, output: "1" },
      { agent: "nobody", output: "1" },
      { agent: doubling, output: "{}" },
      { agent: "any", output: "x".repeat(300_000) },
    ];
    const alone = kinds.map(({ agent, output, ...options }) => {
      try {
        return here.validate(agent, output, options).report.json;
      } catch (fault) {
        return [fault.code, fault.message];
      }
    });
    let state = 7;
    const requests = Array.from({ length: 300 }, () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      // The one that takes long is rare.
      return state % 40 === 0 ? 12 : state % 12;
    });
    const [batch, ...single] = await Promise.all([
      gate.validateAll(requests.map((kind) => kinds[kind])),
      ...kinds.map(({ agent, output, ...options }) => gate.validate(agent, output, options).catch((fault) => fault)),
    ]);
    const said = (answer) => (answer instanceof SeamgateFault ? [answer.code, answer.message] : answer.report.json);
    assert.deepEqual(
      batch.map(said),
      requests.map((kind) => alone[kind]),
    );
    assert.deepEqual(single.map(said), alone);
  }));

test("a gate that is closed answers nothing any more", async () => {
  const gate = await WorkerGate.load({ limits: endless, workers: 1 });
  const running = gate.validate(doubling, "{}");
  const waiting = gate.validate(anything, "1");
  const closed = { message: "the gate was closed" };
  await Promise.all([assert.rejects(running, closed), assert.rejects(waiting, closed), gate.close()]);
  await assert.rejects(gate.validate(anything, "1"), closed);
});

test("settings out of their bounds and components that cannot run are told when loading", async () => {
  for (const options of [
    { deadlineMs: 0 },
    { deadlineMs: 2 ** 31 },
    { workers: 0 },
    { workers: 1.5 },
    { limits: { fuel: -1 } },
  ]) {
    await assert.rejects(WorkerGate.load(options), TypeError);
  }
  await assert.rejects(WorkerGate.load({ component: {} }), LoadError);
});

test("a program ends while workers wait for work", () => {
  const program = `
    import { WorkerGate } from "seamgate";
    const gate = await WorkerGate.load();
    const { report } = await gate.validate({ agent: "any", schema: true }, "1");
    console.log(report.disposition);
  `;
  const options = { encoding: "utf8", timeout: 20_000, cwd: new URL("..", import.meta.url) };
  const { stdout, stderr, status } = spawnSync(process.execPath, ["--input-type=module", "-e", program], options);
  assert.deepEqual([stdout, stderr, status], ["accepted\n", "", 0]);
});
