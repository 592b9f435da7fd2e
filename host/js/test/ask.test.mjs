import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { ask, Gate, ResultParser, SeamgateFault } from "seamgate";
import { z } from "zod";
import { feedback } from "../node_modules/seamgate/dist/feedback.js";
import { example, output, read, root } from "./shared.mjs";

/** Reads the cases that all languages share. */
function cases(folder) {
  return readdirSync(new URL(`tests/ask/${folder}`, root)).map((name) => [
    name,
    JSON.parse(read(`tests/ask/${folder}/${name}`)),
  ]);
}

/** In the place of a model: what it says, one after the other. It keeps what it was sent. */
function script(...replies) {
  const sent = [];
  const call = (messages) => {
    sent.push(messages);
    const reply = replies[sent.length - 1];
    if (reply instanceof Error) {
      throw reply;
    }
    return reply;
  };
  return Object.assign(call, { sent });
}

for (const [name, { contract, prompt, replies, result: expected }] of cases("cases")) {
  test(`the case ${name}`, async () => {
    const model = script(...replies);
    const result = await ask(contract, async (messages) => model(messages), prompt);
    assert.equal(model.sent.length, replies.length);
    for (const sent of model.sent) {
      assert.deepEqual(sent, result.messages.slice(0, sent.length));
    }
    const { disposition, success, stop, data, refusal, messages } = result;
    const made = {
      disposition,
      success,
      stop,
      data,
      report: result.report.outputJson,
      violations: result.violations.map(({ path }) => path),
      feedback: result.feedback,
      attempts: result.attempts.map((attempt) => [attempt.report.disposition, attempt.feedback]),
      messages,
      ...(refusal !== undefined && { refusal }),
    };
    assert.deepEqual(made, expected);
  });
}

for (const [name, { violations, feedback: expected }] of cases("feedback")) {
  test(`the feedback ${name}`, () => assert.equal(feedback(violations), expected));
}

const Order = z
  .object({ sku: z.string(), count: z.number().int().min(1) })
  .refine(({ sku }) => sku === "A-7", { path: ["sku"], error: ({ input }) => `${input.sku} is not in stock` })
  .transform(({ sku, count }) => ({ sku, boxes: count }));

test("a schema's own checks are told, and its transforms apply", async () => {
  const model = script('{"sku":"A-7","count":0}', '{"sku":"B\\u202e","count":1}', '{"sku":"A-7","count":2}');
  const result = await ask(Order, model, "Which order?", { contract: { retry: { limit: 2 } } });
  assert.equal(result.success, true);
  assert.deepEqual(result.data, { sku: "A-7", boxes: 2 });
  assert.match(model.sent[1].at(-1).content, /must be >= 1/);
  assert.equal(
    model.sent[2].at(-1).content,
    'The output does not match what was asked for.\n- at $.sku: B\\u202e is not in stock. Received: "\\"B\\\\u202e\\""\n' +
      "Send the whole corrected output again.",
  );
  assert.deepEqual(
    result.attempts.map(({ report, violations }) => [report.success, violations.map(({ path }) => path)]),
    [
      [false, ["$.count"]],
      [true, ["$.sku"]],
      [true, []],
    ],
  );
});

test("a schema that rejects to the end rejects", async () => {
  const result = await ask(Order, script('{"sku":"B","count":1}', '{"sku":"C","count":1}'));
  assert.deepEqual([result.success, result.disposition, result.data, result.stop], [false, "rejected", null, "limit"]);
  assert.equal(result.report.success, false);
  assert.match(result.feedback, /C is not in stock/);
});

test("checks may be asynchronous", async () => {
  const late = z.number().refine(async (n) => n === 2, { error: "must be two" });
  const model = script("1", "2");
  const result = await ask(late, model);
  assert.equal(result.data, 2);
  assert.match(model.sent[1].at(-1).content, /- at \$: must be two\. Received: "1"/);
});

test("what is partial is read, too; what the schema rejects is asked for again as a whole", async () => {
  const list = z.object({ orders: z.array(z.object({ n: z.int() })).refine((all) => all.length < 3, "at most two") });
  const contract = { items: { path: "$.orders[*]" } };
  const part = await ask(list, script('{"orders":[{"n":1},{"n":"x"}]}', '{"orders":[{"n":"y"}]}'), "", { contract });
  assert.deepEqual([part.disposition, part.success, part.data], ["partial", false, { orders: [{ n: 1 }] }]);
  const model = script('{"orders":[{"n":1},{"n":2},{"n":3},{"n":"x"}]}', '{"orders":[{"n":4}]}');
  const whole = await ask(list, model, "", { contract });
  assert.deepEqual(whole.data, { orders: [{ n: 4 }] });
  const told = model.sent[1].at(-1).content;
  assert.match(told, /at most two.*\$\.orders\[3\]\.n.*Send the whole corrected output again\.$/s);
});

test("contracts, agents, lists", async () => {
  const good = output("triage.good");
  assert.equal((await ask(example("triage"), script(good))).success, true);
  assert.equal((await ask(JSON.stringify(example("triage")), script(good))).success, true);
  const gate = await Gate.load();
  gate.register(example("triage"));
  assert.equal((await ask("triage", script(good), "", { gate })).success, true);
  await assert.rejects(ask("nobody", script(good)), { code: "unknown_agent" });
  const contract = {
    agent: "a",
    schema: { type: "array", items: { type: "object", required: ["id", "who"] } },
    items: { path: "$[*]", key: "id" },
    allow: [{ path: "$[*].who", list: "names" }],
  };
  const model = script('[{"id":"1","who":"ann"},{"id":"2","who":"joe"}]', '[{"id":"2","who":"bob"}]');
  const evidence = [{ id: "o1", text: "text" }];
  const result = await ask(contract, model, "", { lists: { names: ["ann", "bob"] }, evidence });
  assert.deepEqual(result.data, [
    { id: "1", who: "ann" },
    { id: "2", who: "bob" },
  ]);
});

test("errors of the client pass through", async () => {
  const error = new Error("no network");
  await assert.rejects(ask(Order, script(error)), error);
  await assert.rejects(ask(Order, script("no JSON", error)), error);
});

test("replies that are no model's", async () => {
  for (const reply of [null, undefined, 1, {}, { choices: [] }, { text: 1 }]) {
    await assert.rejects(ask(Order, script(reply)), /^TypeError: callLlm must return the model's text, /);
  }
  const whole = '{"sku":"A-7","count":1}';
  const replies = [new TextEncoder().encode(whole), { text: whole, finish: "end_turn" }, { text: whole }];
  for (const reply of [...replies, { text: whole, finishReason: "stop", usage: {} }]) {
    assert.equal((await ask(Order, script(reply))).success, true);
  }
  assert.equal((await ask(Order, script({ text: whole.slice(0, 9), finishReason: "length" }))).stop, "not_retryable");
});

test("mistakes of the caller", async () => {
  await assert.rejects(ask({ agent: "a", schema: true }, script(), "", { contract: {} }), /goes with a schema/);
  await assert.rejects(ask(Order, script(), "", { contract: { schema: {} } }), /must have no `schema`/);
  await assert.rejects(ask(Order, script(), "", { contract: { retries: 3 } }), { code: "bad_contract" });
  const named = await ask(Order, script("1", "2"), "", { contract: { agent: "orders" } });
  assert.equal(named.report.agent, "orders");
});

test("what is kept is bounded", async () => {
  const gate = await Gate.load({ limits: { outputBytes: 4000 } });
  const replies = Array.from({ length: 100 }, (_, n) => `${"[".repeat(n % 2)}${"x".repeat(400)}`);
  const contract = { agent: "a", schema: { type: "integer" }, retry: { limit: 100 } };
  const result = await ask(contract, script(...replies), "", { gate });
  assert.equal(result.stop, "limit");
  assert.ok(result.attempts.length < 5);
  await assert.rejects(ask(Order, script("x".repeat(4001)), "", { gate }), SeamgateFault);
});

test("schemas are compiled once, out of sight", async (context) => {
  const gate = await Gate.load();
  const register = context.mock.method(Gate.prototype, "register");
  const parser = new ResultParser(gate);
  for (let n = 0; n < 3; n++) {
    await ask(Order, script("1", "2"), "", { gate });
    parser.parseWithSchema(Order, "1");
    parser.parseWithSchema({ type: "integer" }, "1");
  }
  assert.equal(register.mock.callCount(), 2);
  assert.deepEqual(gate.names(), []);
});
