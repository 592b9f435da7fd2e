// Schemas of libraries wherever a schema is taken, and the checks that they make themselves.

import assert from "node:assert/strict";
import { test } from "node:test";
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import {
  ask,
  backend,
  bake,
  ContractRegistry,
  Gate,
  ResultParser,
  SeamgateFault,
  WorkerGate,
  withJsonSchema,
} from "seamgate";
import * as v from "valibot";
import { z } from "zod";
import * as mini from "zod/mini";

const isEven = (n) => n % 2 === 0;
const miniCount = mini.object({ count: mini.int().check(mini.minimum(1), mini.refine(isEven, "must be even")) });

/** One type by each library: `count`, an integer from 1, and even by a check of its own. */
const libraries = {
  zod: z.object({ count: z.int().min(1).refine(isEven, "must be even") }),
  "zod/mini": withJsonSchema(miniCount, mini.toJSONSchema(miniCount, { io: "input" })),
  valibot: toStandardJsonSchema(
    v.object({ count: v.pipe(v.number(), v.integer(), v.minValue(1), v.check(isEven, "must be even")) }),
  ),
  arktype: type({ count: type("number.integer >= 1").narrow((n, c) => isEven(n) || c.mustBe("even")) }),
};
const [good, odd, zero, none] = ['{"count":2}', '{"count":3}', '{"count":0}', "{}"];

const workers = await WorkerGate.load({ workers: 1 });
test.after(() => workers.close());

/** Everything that judges by a schema. */
const judges = {
  validate: async (contract, output) => (await Gate.load()).validate(contract, output).report,
  "validate, by name": async (contract, output) => {
    const gate = await Gate.load();
    return gate.validate(gate.register(contract).agent, output).report;
  },
  "validate, in a registry": async (contract, output) => {
    const gate = await Gate.load();
    return gate.validate(new ContractRegistry(gate).register(contract).agent, output).report;
  },
  instance: async (contract, output) => (await Gate.load()).instance().validate(contract, output).report,
  session: async (contract, output) => {
    const gate = await Gate.load();
    const session = gate.session(gate.register(contract).agent);
    session.push(output);
    return session.finish().report;
  },
  merge: async (contract, output) => {
    const gate = await Gate.load();
    const { agent } = gate.register(contract);
    const report = gate.unchecked(agent, output, {}).report;
    return gate.merge([report]).report;
  },
  workers: async (contract, output) => (await workers.validate(contract, output)).report,
  "workers, by name": async (contract, output) => {
    const { agent } = await workers.register(contract);
    return (await workers.validate(agent, output)).report;
  },
  "workers, many": async (contract, output) => (await workers.validateAll([{ agent: contract, output }]))[0].report,
  parse: async (contract, output) => {
    const gate = await Gate.load();
    return new ResultParser(gate).parse(gate.register(contract).agent, output);
  },
  parseWithSchema: async ({ schema }, output) => new ResultParser(await Gate.load()).parseWithSchema(schema, output),
  "ask, a schema": ({ schema }, output) => ask(schema, () => output),
  "ask, a contract": (contract, output) => ask(contract, () => output),
  "ask, by name": async (contract, output) => {
    const gate = await Gate.load();
    return ask(gate.register(contract).agent, () => output, "", { gate });
  },
};

for (const [library, schema] of Object.entries(libraries)) {
  test(`${library}: every call that takes a schema holds outputs to it`, async () => {
    for (const [name, judge] of Object.entries(judges)) {
      const contract = { agent: `count-${library.replace("/", "-")}`, schema };
      const verdicts = [];
      for (const output of [good, odd, zero, none]) verdicts.push((await judge(contract, output)).success);
      assert.deepEqual(verdicts, [true, false, false, false], name);
      const rejected = await judge(contract, odd);
      assert.equal(rejected.data, null, name);
      assert.match(rejected.feedback, /\$\.count: .*must be even/, name);
      const [violation] = rejected.violations ?? rejected.violations;
      assert.deepEqual([violation.path, violation.pointer, violation.received], ["$.count", "/count", "3"], name);
    }
  });

  test(`${library}: what keeps or describes a contract has its JSON Schema`, async () => {
    const gate = await Gate.load();
    const contract = { agent: "count", schema };
    gate.register(contract);
    assert.match(gate.describe("count"), /count/);
    assert.ok(Array.isArray(gate.lint(contract)));
    assert.ok(Array.isArray(await workers.lint(contract)));
    if (backend === "native") {
      const baked = await Gate.load({ component: await bake([contract]) });
      assert.deepEqual(
        [good, zero].map((output) => baked.validate("count", output).report.success),
        [true, false],
      );
      await assert.rejects(async () => gate.run("count", () => good), /^TypeError: `agent`: .*use ask$/);
    }
  });
}

test("a schema that does not say what it is in JSON is refused, with what to pass", () => {
  const gate = { agent: "a" };
  for (const [schema, advice] of [
    [miniCount, /of zod, .*withJsonSchema\(schema, z\.toJSONSchema/],
    [v.object({}), /of valibot, .*toStandardJsonSchema\(schema\)/],
  ]) {
    assert.rejects(async () => (await Gate.load()).register({ ...gate, schema }), advice);
    assert.rejects(() => ask(schema, () => "{}"), advice);
  }
  assert.throws(() => withJsonSchema({ type: "object" }, {}), /^TypeError: `schema` of withJsonSchema must be/);
});

test("what JSON Schema has no words for is a bad contract", async () => {
  const gate = await Gate.load();
  for (const schema of [z.date(), z.object({ n: z.bigint() }), z.map(z.string(), z.int())]) {
    const fault = { name: SeamgateFault.name, code: "bad_contract", message: /`schema`, of zod, cannot be written/ };
    assert.throws(() => gate.register({ agent: "a", schema }), fault);
  }
});

test("a JSON Schema made by a library is the JSON that it is, edits included", async () => {
  const gate = await Gate.load();
  const schema = z.toJSONSchema(libraries.zod, { io: "input" });
  schema.properties.count.maximum = 5;
  const verdicts = [good, odd, '{"count":6}'].map(
    (output) => gate.validate({ agent: "a", schema }, output).report.success,
  );
  assert.deepEqual(verdicts, [true, true, false]);
});

const Issue = z.object({ id: z.string(), severity: z.int().refine((n) => n < 5, "must be below five") });
const Triage = z.object({ issues: z.array(Issue) }).transform(({ issues }) => issues.map(({ id }) => id));
const policy = { items: { path: "$.issues[*]", key: "id" }, retry: { limit: 3 } };
const issue = (id, severity) => ({ id, severity });
const text = (...issues) => JSON.stringify({ issues });

test("an item that fails its own check costs that item, as one that fails the JSON Schema does", async () => {
  const gate = await Gate.load();
  const output = text(issue("a", 1), issue("b", "x"), issue("c", 9), issue("d", 2), issue("e", 7));
  for (const judged of [
    gate.validate({ agent: "a", ...policy, schema: Triage }, output).report,
    new ResultParser(gate).parseWithSchema(Triage, output, { contract: policy }).report,
    (await ask(Triage, () => output, "", { contract: { ...policy, retry: { limit: 0 } } })).report,
    (await workers.validate({ agent: "a", ...policy, schema: Triage }, output)).report,
  ]) {
    assert.deepEqual([judged.disposition, judged.data], ["partial", ["a", "d"]]);
    assert.deepEqual(judged.output, { issues: [issue("a", 1), issue("d", 2)] });
    const quarantined = judged.quarantined.map(({ index, path, pointer, reason }) => [index, path, pointer, reason]);
    assert.deepEqual(
      quarantined,
      [1, 2, 4].map((at) => [at, `$.issues[${at}]`, `/issues/${at}`, "schema"]),
    );
    assert.deepEqual(
      judged.quarantined[2].violations.map(({ path, pointer }) => [path, pointer]),
      [["$.issues[4].severity", "/issues/4/severity"]],
    );
    assert.deepEqual([judged.reviewRequired, judged.wanted], [true, "items"]);
    assert.match(judged.feedback, /\$\.issues\[2\]\.severity: must be below five\. Received: "9"\n/);
    assert.match(
      judged.feedback,
      /Send only the 3 items named above again, .* in \$\.issues\. Do not change their member "id"/,
    );
    assert.equal(JSON.stringify(judged), judged.json);
  }
});

test("the bad items alone are asked for again, and take their places", async () => {
  const sent = [];
  const script = [
    text(issue("a", 1), issue("b", 9), issue("c", 9)),
    text(issue("b", 2), issue("c", 8)),
    text(issue("c", 3)),
  ];
  const model = (messages) => {
    sent.push(messages.at(-1).content);
    return script[sent.length - 1];
  };
  const answer = await ask(Triage, model, "", { contract: policy });
  assert.deepEqual([answer.success, answer.data], [true, ["a", "b", "c"]]);
  assert.match(sent[1], /Send only the 2 items/);
  assert.match(sent[2], /\$\.issues\[2\]\.severity: must be below five.*Send only the item named above again/s);
  assert.deepEqual(
    answer.attempts.map(({ violations }) => violations.map(({ path }) => path)),
    [["$.issues[1].severity", "$.issues[2].severity"], ["$.issues[2].severity"], []],
  );
});

test("items stand where the contract says, under any name", async () => {
  const gate = await Gate.load();
  const even = z.int().refine(isEven, "must be even");
  const cases = [
    ["$[*]", z.array(even), [1, 2], [2], "$[0]"],
    ["$.a.b[*]", z.object({ a: z.object({ b: z.array(even) }) }), { a: { b: [2, 3] } }, { a: { b: [2] } }, "$.a.b[1]"],
    ["$['it\\'s'][*]", z.object({ "it's": z.array(even) }), { "it's": [1, 2] }, { "it's": [2] }, "$['it\\'s'][0]"],
    ['$["a\\"b"][*]', z.object({ 'a"b': z.array(even) }), { 'a"b': [1, 2] }, { 'a"b': [2] }, "$['a\"b'][0]"],
    ["$[1][*]", z.tuple([z.string(), z.array(even)]), ["x", [2, 5]], ["x", [2]], "$[1][1]"],
    ["$.é[*]", z.object({ é: z.array(even) }), { é: [2, 5] }, { é: [2] }, "$['é'][1]"],
  ];
  for (const [path, schema, document, kept, place] of cases) {
    const contract = { agent: "a", schema, items: { path } };
    const { report } = gate.validate(contract, JSON.stringify(document));
    assert.deepEqual([report.disposition, report.output, report.data], ["partial", kept, kept], path);
    assert.equal(report.quarantined[0].path, place);
  }
});

test("digits of the items that are kept are kept", async () => {
  const gate = await Gate.load();
  const schema = z.array(z.object({ n: z.number(), ok: z.boolean().refine(Boolean, "must be true") }));
  const contract = { agent: "a", schema, items: { path: "$[*]" } };
  const output = '[{"n":12345678901234567890.10,"ok":true},{"n":1,"ok":false},{"n":1e2,"ok":true}]';
  assert.equal(
    gate.validate(contract, output).report.outputJson,
    '[{"n":12345678901234567890.10,"ok":true},{"n":1e2,"ok":true}]',
  );
});

test("no item that is left, or a check of the whole, rejects", async () => {
  const gate = await Gate.load();
  const contract = { agent: "a", ...policy, schema: Triage };
  const { report } = gate.validate(contract, text(issue("a", 9), issue("b", 8)));
  assert.deepEqual([report.disposition, report.data, report.output], ["rejected", null, null]);
  assert.deepEqual(
    report.violations.map(({ path }) => path),
    ["$.issues[*]", "$.issues[0].severity", "$.issues[1].severity"],
  );
  assert.equal(report.error.error, "output_validation_failed");
  const two = z.object({ issues: z.array(Issue).refine((all) => all.length > 1, "must be two") });
  const whole = gate.validate({ ...contract, schema: two }, text(issue("a", 1), issue("b", 9))).report;
  assert.deepEqual([whole.disposition, whole.error.violations[0].message], ["rejected", "must be two"]);
});

test("a mistake in a check is thrown, and the model is not told of it", async () => {
  const gate = await Gate.load();
  const bug = () => undefined.length;
  for (const schema of [z.int().refine(bug), z.array(z.int().refine(bug)), z.int().transform(bug)]) {
    const output = schema instanceof z.ZodArray ? "[1]" : "1";
    const contract = { agent: "a", schema, ...(schema instanceof z.ZodArray && { items: { path: "$[*]" } }) };
    assert.throws(() => gate.validate(contract, output), /^TypeError: Cannot read properties of undefined/);
    const sent = [];
    const model = (messages) => {
      sent.push(messages);
      return output;
    };
    await assert.rejects(() => ask(schema, model), /^TypeError: Cannot read/);
    assert.equal(sent.length, 1);
  }
});

test("asynchronous checks are waited for, or refused where nothing can wait", async () => {
  const schema = z.int().refine(async (n) => isEven(n), "must be even");
  const contract = { agent: "late", schema };
  const gate = await Gate.load();
  gate.register(contract);
  for (const call of [
    () => gate.validate(contract, "2"),
    () => gate.validate("late", "2"),
    () => gate.instance().validate("late", "2"),
    () => new ResultParser(gate).parseWithSchema(schema, "2"),
  ]) {
    assert.throws(call, /^TypeError: `schema` has asynchronous checks: use ask or a WorkerGate/);
  }
  const verdicts = await Promise.all(["2", "3"].map((output) => workers.validate(contract, output)));
  assert.deepEqual(
    verdicts.map(({ report }) => report.success),
    [true, false],
  );
  assert.equal((await ask("late", () => "2", "", { gate })).success, true);
});

test("preprocess and coerce see what the model wrote, if they are to run first", async () => {
  const Level = z.object({
    level: z.preprocess((word) => String(word).toLowerCase(), z.enum(["high", "low"])),
    count: z.coerce.number().int(),
    tags: z.array(z.string()).default([]),
  });
  const output = '{"level":"HIGH","count":"3"}';
  const made = { level: "high", count: 3, tags: [] };
  const parser = new ResultParser(await Gate.load());
  assert.equal(parser.parseWithSchema(Level, output).success, false);
  assert.deepEqual(parser.parseWithSchema(Level, output, { preprocess: true }).data, made);
  const sent = [];
  const model = (messages) => {
    sent.push(messages);
    return output;
  };
  const answer = await ask(Level, model, "", { preprocess: true });
  assert.deepEqual([answer.data, answer.attempts.length], [made, 1]);
  assert.match(sent[0][0].content, /"high" or "low"|one of.*"high".*"low"/s);
  // A value that the schema then rejects has its violations.
  const wrong = parser.parseWithSchema(Level, '{"level":"none","count":"x"}', { preprocess: true });
  assert.deepEqual(
    wrong.report.violations.map(({ path }) => path),
    ["$.level", "$.count"],
  );
  // The same for items.
  const items = { preprocess: true, contract: { items: { path: "$[*]" } } };
  const part = parser.parseWithSchema(z.array(Level), '[{"level":"LOW","count":"1"},{"level":"?"}]', items);
  assert.deepEqual([part.report.disposition, part.data], ["partial", [{ level: "low", count: 1, tags: [] }]]);
  for (const schema of [true, { type: "object" }]) {
    assert.throws(() => parser.parseWithSchema(schema, "{}", { preprocess: true }), /^TypeError: `preprocess` needs/);
  }
  // The contract's own coercion loses nothing.
  const lossless = { contract: { coerce: "lossless" } };
  const Count = z.object({ count: z.int() });
  assert.deepEqual(parser.parseWithSchema(Count, '{"count":"3"}', lossless).data, { count: 3 });
  assert.deepEqual((await ask(Count, () => '{"count":"3"}', "", lossless)).data, { count: 3 });
});

test("anything else in place of a schema, a contract or a name is refused by the argument's name", async () => {
  const gate = await Gate.load();
  const parser = new ResultParser(gate);
  class Model {}
  const wrong = [null, undefined, 1, 1n, true, [], Symbol("a")];
  const functions = [Model, () => true];
  const takes = {
    contract: {
      register: (value) => gate.register(value),
      lint: (value) => gate.lint(value),
      "registry.register": (value) => new ContractRegistry(gate).register(value),
      "workers.register": (value) => workers.register(value),
      "workers.lint": (value) => workers.lint(value),
      ...(backend === "native" && { bake: (value) => bake([value]) }),
    },
    agentOrContract: {
      validate: (value) => gate.validate(value, "1"),
      instance: (value) => gate.instance().validate(value, "1"),
      workers: (value) => workers.validate(value, "1"),
    },
    of: { ask: (value) => ask(value, () => "1") },
    schema: {
      parseWithSchema: (value) => parser.parseWithSchema(value, "1"),
      describeSchema: (value) => parser.describeSchema(value),
    },
    agent: {
      session: (value) => gate.session(value),
      describe: (value) => gate.describe(value),
      has: (value) => gate.has(value),
      contract: (value) => gate.contract(value),
      describeProfile: (value) => gate.describeProfile(value),
      loop: (value) => gate.loop(value, { run: "r", principal: "p" }),
      parse: (value) => parser.parse(value, "1"),
      "workers.describe": (value) => workers.describe(value),
    },
  };
  for (const [argument, calls] of Object.entries(takes)) {
    for (const [name, call] of Object.entries(calls)) {
      for (const value of argument === "agent"
        ? [...wrong, ...functions, {}, new Model()]
        : argument === "schema"
          ? wrong
          : [...wrong, ...functions]) {
        if (argument === "schema" && value === true) continue;
        const message = new RegExp(`^\`${argument}\` must be `);
        await assert.rejects(async () => call(value), { name: "TypeError", message }, `${name}: ${String(value)}`);
      }
    }
  }
  for (const path of ["order.contract.json", "contracts/order.contract.json"]) {
    assert.throws(() => gate.register(path), /must be JSON: .*; read a file with readContracts$/);
  }
});
