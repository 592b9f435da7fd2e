import assert from "node:assert/strict";
import { test } from "node:test";
import { ContractRegistry, Gate, ResultParser, SeamgateFault } from "seamgate";
import { z } from "zod";
import { example, output } from "./shared.mjs";

const gate = await Gate.load();
const parser = new ResultParser(gate);

test("a registry has the contracts of its gate", async () => {
  const own = await Gate.load();
  const registry = new ContractRegistry(own);
  assert.throws(() => registry.get("triage"), { code: "unknown_agent" });
  const info = registry.register(example("triage"));
  registry.register({ agent: "any", schema: true });
  assert.deepEqual(registry.get("triage"), info);
  assert.equal(registry.has("triage"), true);
  assert.equal(registry.has("nobody"), false);
  assert.deepEqual(registry.list(), ["any", "triage"]);
  assert.equal(new ResultParser(own).parse("triage", output("triage.good")).success, true);
});

test("a parser reads by an agent's contract", () => {
  gate.register(example("cited-answer"));
  const good = parser.parse("cited-answer", output("cited-answer.good"));
  assert.equal(good.success, true);
  assert.deepEqual(good.data, good.report.output);
  assert.equal(good.json, good.report.json);
  const bad = parser.parse("cited-answer", output("cited-answer.bad-url"));
  assert.equal(bad.success, false);
  assert.equal(bad.violations.length, 2);
  assert.throws(() => parser.parse("nobody", "1"), SeamgateFault);
});

test("a parser reads by a JSON Schema", () => {
  const schema = { type: "object", properties: { n: { type: "integer" } } };
  assert.deepEqual(parser.parseWithSchema(schema, 'So:\n```json\n{"n":1}\n```').data, { n: 1 });
  assert.equal(parser.parseWithSchema(schema, '{"n":"1"}').violations[0].path, "$.n");
  assert.equal(parser.parseWithSchema(schema, "none").extractionError.startsWith("$ "), true);
  assert.equal(parser.parseWithSchema(true, "1").success, true);
  assert.equal(parser.parseWithSchema(false, "1").success, false);
  // It may be changed: nothing is remembered of it.
  schema.properties.n.type = "string";
  assert.equal(parser.parseWithSchema(schema, '{"n":"1"}').success, true);
  assert.throws(() => parser.parseWithSchema({ type: "strin" }, "1"), { code: "bad_contract" });
});

test("what a schema's own check says is cut, and shows what cannot be seen", () => {
  const schema = z.string().refine(() => false, { error: ({ input }) => `must not be ${input}` });
  const [{ message }] = parser.parseWithSchema(schema, JSON.stringify(`\u202e${"x".repeat(600)}`)).violations;
  assert.ok(message.startsWith("must not be \\u202exxx"), message);
  assert.ok(message.endsWith("x… (101 characters more)"), message);
});

test("a schema of Zod is judged in the sandbox, then transforms and refinements apply", () => {
  const schema = z
    .object({
      due: z.iso.date().transform((day) => new Date(day)),
      mail: z.email(),
      count: z.number().int().default(3),
    })
    .refine((task) => !task.mail.startsWith("nobody@"), { message: "must be somebody", path: ["mail"] });
  const good = parser.parseWithSchema(schema, '{"due":"2026-03-12","mail":"a@example.com"}');
  assert.equal(good.success, true);
  assert.deepEqual(good.data, { due: new Date("2026-03-12"), mail: "a@example.com", count: 3 });
  assert.deepEqual(good.report.output, { due: "2026-03-12", mail: "a@example.com" });
  const bad = parser.parseWithSchema(schema, '{"due":"soon","mail":"a@example.com"}');
  assert.equal(bad.success, false);
  assert.equal(bad.violations[0].path, "$.due");
  assert.deepEqual(bad.violations[0].span, [7, 13]);
  const refused = parser.parseWithSchema(schema, '{"due":"2026-03-12","mail":"nobody@example.com"}');
  assert.equal(refused.success, false);
  assert.equal(refused.data, null);
  assert.deepEqual([refused.report.success, refused.report.disposition], [false, "rejected"]);
  assert.match(refused.feedback, /\n- at \$\.mail: must be somebody\. Received: "\\"nobody@example\.com\\""\n/);
  assert.deepEqual(refused.violations, [
    {
      path: "$.mail",
      keyword: "custom",
      expected: "",
      received: '"nobody@example.com"',
      message: "must be somebody",
      pointer: "/mail",
      schema_path: "",
      span: null,
    },
  ]);
});

test("what a schema's own check says is bounded and shows what cannot be seen", () => {
  const many = z.array(z.any()).superRefine((_, context) => {
    for (let at = 0; at < 1000; at++) {
      context.addIssue({ code: "custom", message: "no", path: [at, "a\u202eb'c/~"] });
    }
  });
  const { violations } = parser.parseWithSchema(many, "[]");
  assert.equal(violations.length, 100);
  assert.equal(violations[7].path, "$[7]['a\\u202eb\\'c/~']");
  assert.equal(violations[7].pointer, "/7/a\u202eb'c~1~0");
  assert.equal(violations[7].received, "");
});

test("schemas are described", () => {
  assert.match(parser.describeSchema(z.object({ n: z.int() })), /"n": integer/);
  assert.match(parser.describeSchema({ type: "integer" }), /integer/);
});

test("schemas that cannot be used say so", () => {
  const own = { "~standard": { version: 1, vendor: "own", validate: (value) => ({ value }) } };
  assert.throws(
    () => parser.parseWithSchema(own, "1"),
    /TypeError: `schema`, of own, does not say what it is in JSON\. Pass withJsonSchema/,
  );
  const late = z.number().refine(async () => true);
  assert.throws(() => parser.parseWithSchema(late, "1"), TypeError);
  assert.throws(() => parser.parseWithSchema(z.date(), "1"), /Date/);
});
