// Things that newcomers tried and that once failed, with the wanted results. Their types are in types.ts, their
// installs in install.test.mjs, and their bundles in bundlers.test.mjs.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { ask, askStream, backend, bake, Gate, ResultParser, SeamgateFault, WorkerGate } from "seamgate";
import * as v from "valibot";
import { z } from "zod";
import * as mini from "zod/mini";

const gate = await Gate.load();
const Order = z.object({ sku: z.string(), count: z.number().min(1) });
const Items = z.object({ items: z.array(z.object({ id: z.string(), n: z.int().refine((n) => n % 2 === 0) })) });
const items = { items: { path: "$.items[*]", key: "id" } };
const accepted = (of, output, options) => ask(of, () => output, "", options);

const wanted = {
  "a library's schema is held to, wherever a contract goes": async () => {
    const contract = { agent: "order", schema: Order };
    gate.register(contract);
    for (const wrong of ["{}", '{"sku":"A","count":-5}', "[]"]) {
      assert.equal(gate.validate("order", wrong).report.success, false);
      assert.equal(gate.validate(contract, wrong).report.success, false);
      assert.equal((await accepted(contract, wrong)).success, false);
      if (backend === "native") {
        const baked = await Gate.load({ component: await bake([contract]) });
        assert.equal(baked.validate("order", wrong).report.success, false);
      }
    }
    assert.equal(gate.validate("order", '{"sku":"A","count":1}').report.success, true);
  },
  "a schema without a JSON Schema is refused, with what to pass": async () => {
    for (const schema of [
      v.object({}),
      mini.object({}),
      class Model {},
      new Map(),
      z.date(),
      z.object({ at: z.date() }),
    ]) {
      const named = /JSON/;
      await assert.rejects(accepted(schema, "{}"), named);
      assert.throws(() => gate.register({ agent: "none", schema }), named);
      assert.throws(() => new ResultParser(gate).parseWithSchema(schema, "{}"), named);
    }
  },
  "a denied call is not true": () => {
    gate.registerProfile({ agent: "ops", tools: [{ name: "search", effect: "read", permit: "allow" }] });
    const loop = gate.loop("ops", { run: "r", principal: "joe" });
    assert.equal(loop.permit({ key: "1", tool: "delete", arguments: {} }), undefined);
    assert.equal(loop.permit({ key: "2", tool: "search", arguments: {} })?.permit, "allow");
  },
  "one bad item costs one item, also by a check of its own": async () => {
    const output = '{"items":[{"id":"a","n":2},{"id":"b","n":3}]}';
    const result = await accepted(Items, output, { contract: { ...items, retry: { limit: 1 } } });
    assert.deepEqual([result.disposition, result.data.items.length], ["partial", 1]);
    const parsed = new ResultParser(gate).parseWithSchema(Items, output, { contract: items });
    assert.deepEqual([parsed.report.disposition, parsed.data.items], ["partial", [{ id: "a", n: 2 }]]);
  },
  "a bug in a check is thrown, and not told to the model": async () => {
    const bug = new RangeError("bug");
    const Buggy = z.object({}).refine(() => {
      throw bug;
    });
    await assert.rejects(accepted(Buggy, "{}"), bug);
  },
  "attempts have all violations": async () => {
    const result = await accepted(Order, '{"sku":"A","count":0}');
    assert.deepEqual(
      result.attempts.map(({ violations }) => violations.map(({ keyword }) => keyword)),
      Array(result.attempts.length).fill(["minimum"]),
    );
  },
  "places count as strings of JavaScript do": () => {
    const output = '{"é":"😀","count":"x"}';
    const schema = { type: "object", properties: { count: { type: "integer" } } };
    const [violation] = gate.validate({ agent: "a", schema }, output).report.violations;
    assert.deepEqual([output.slice(...violation.textSpan), violation.text], ['"x"', '"x"']);
  },
  "items come with their values while the answer is coming": async () => {
    const seen = [];
    const output = '{"items":[{"id":"é","n":2},{"id":"b","n":4}]}';
    for await (const event of askStream(Items, () => [...output], "", { contract: items })) {
      if (event.type === "progress") seen.push(...event.items.map(({ value, text }) => [value, JSON.parse(text)]));
    }
    const both = JSON.parse(output).items.map((item) => [item, item]);
    assert.deepEqual(seen, both);
  },
  "parseWithSchema takes the policy of a contract, and why the model stopped": () => {
    const parser = new ResultParser(gate);
    const cut = parser.parseWithSchema(Order, '{"sku":"A"', { finish: "length" });
    assert.equal(cut.success, false);
    const inProse = parser.parseWithSchema(Order, 'It is {"sku":"A","count":1}.', {
      contract: { extract: { embedded: "single" } },
    });
    assert.deepEqual(inProse.data, { sku: "A", count: 1 });
  },
  "a call that is aborted or late ends": async () => {
    const never = () => new Promise(() => {});
    await assert.rejects(ask(Order, never, "", { timeoutMs: 10 }), { code: "timeout" });
    const reason = new Error("gone");
    await assert.rejects(ask(Order, never, "", { signal: AbortSignal.abort(reason) }), reason);
  },
  "preprocess sees what the model wrote, if that is asked for": async () => {
    const Level = z.object({ level: z.preprocess((word) => String(word).toLowerCase(), z.enum(["high"])) });
    assert.equal((await accepted(Level, '{"level":"HIGH"}', { preprocess: true })).success, true);
  },
  "a tool call without text is an answer, and costs no second call": async () => {
    const message = { content: null, tool_calls: [{ function: { arguments: '{"sku":"A","count":1}' } }] };
    const result = await accepted(Order, { choices: [{ message, finish_reason: "tool_calls" }] });
    assert.deepEqual([result.success, result.attempts.length], [true, 1]);
  },
  "more sessions can be open than there are threads, beside verdicts": async () => {
    gate.register({ agent: "list", schema: { type: "array" } });
    const sessions = Array.from({ length: 1000 }, () => gate.session("list"));
    for (let at = 0; at < 10_000; at += 1) assert.equal(gate.validate("list", "[]").report.success, true);
    for (const session of sessions) session.close();
    const session = gate.session("list");
    session.finish();
    assert.throws(() => session.finish(), /^TypeError: the session is over/);
    session[Symbol.dispose]();
  },
  "registering in many threads ends, and keeps all": async () => {
    const workers = await WorkerGate.load({ workers: 4 });
    const names = Array.from({ length: 60 }, (_, at) => `agent-${String(at).padStart(2, "0")}`);
    await Promise.all(names.map((agent) => workers.register({ agent, schema: { type: "integer", maximum: 9 } })));
    const answers = await workers.validateAll(names.map((agent, at) => ({ agent, output: String(at % 20) })));
    assert.deepEqual(workers.names(), names);
    assert.deepEqual(
      answers.map(({ report }) => report.success),
      names.map((_, at) => at % 20 <= 9),
    );
    const twice = [1, 2].map((maximum) => workers.register({ agent: "same", schema: { maximum } }));
    const done = await Promise.allSettled(twice);
    assert.deepEqual(done.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
    await workers.close();
  },
  "what is wrong is named as the caller knows it": async () => {
    const refused = [
      [() => new Gate(), /a Gate is made by `await Gate\.load\(\)`/],
      [() => new ResultParser(), /`(gate|registry)` must be/],
      [() => ask(class A {}, () => ""), /`of`/],
      [() => ask(Order, "text"), /`callLlm` must be a function/],
      [() => gate.validate("order", 5), /`output` must be/],
      [() => gate.validate("order", "{}", { finsh: "stop" }), /has no member `finsh`/],
      [() => ask(Order, () => "", "", { finsh: "stop" }), /has no member `finsh`/],
      [() => Gate.load({ limits: { fule: 1 } }), /`fule`/],
    ];
    for (const [call, message] of refused) await assert.rejects(async () => call(), message);
  },
  "one spelling: camelCase in the package's own types, milliseconds in names": () => {
    const { report, usage } = gate.validate({ agent: "a", schema: true }, "1");
    const snake = [
      ...Object.keys(report),
      ...Object.keys(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(report))),
    ];
    assert.deepEqual(
      snake.filter((name) => name.includes("_")),
      [],
    );
    assert.ok("elapsedMs" in usage && !("elapsed" in usage));
    assert.equal(JSON.parse(JSON.stringify(new SeamgateFault("busy", "full"))).message, "full");
  },
  "the package can be required": () => {
    const program = 'const { Gate } = require("seamgate"); Gate.load().then((gate) => console.log(gate.backend));';
    const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=commonjs", "-e", program], {
      cwd: import.meta.dirname,
      encoding: "utf8",
    });
    assert.equal(stdout.trim(), backend, stderr);
  },
};

for (const [name, holds] of Object.entries(wanted)) test(name, holds);
