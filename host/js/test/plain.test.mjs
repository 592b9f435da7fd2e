import assert from "node:assert/strict";
import { test } from "node:test";
import vm from "node:vm";
import { ask, backend, bake, ContractRegistry, Gate, ResultParser, SeamgateFault, WorkerGate } from "seamgate";
import { z } from "zod";

const Order = z.object({ sku: z.string(), count: z.number().min(1) });

/** As Valibot makes them: a plain object with functions. */
const valibot = {
  kind: "schema",
  type: "object",
  entries: {},
  get "~standard"() {
    return { version: 1, vendor: "valibot", validate: () => ({ value: 1 }) };
  },
  "~run": () => ({}),
};

/** As ArkType makes them: a function. */
const arktype = Object.assign(() => {}, {
  "~standard": { version: 1, vendor: "arktype", validate: () => ({ value: 1 }) },
});

/** As Zod made them before Standard Schema. */
class ZodObject {
  _def = { typeName: "ZodObject" };
  safeParse() {}
}

class Model {
  type = "object";
}

const other = { "~standard": { version: 1, vendor: "\u202eother", validate: () => ({ value: 1 }) }, type: "object" };

/** Schemas that are not JSON, with where they are not, and what they are there. */
const kinds = {
  "of Zod": [Order, "$", /a Zod schema; .*z\.toJSONSchema/],
  "of Zod, in a property": [{ type: "object", properties: { a: z.string() } }, "$.properties.a", /a Zod schema/],
  "of Zod, in a list": [{ anyOf: [true, z.string()] }, "$.anyOf[1]", /a Zod schema/],
  "of an older Zod": [new ZodObject(), "$", /a Zod schema/],
  "of Valibot": [valibot, "$", /a Valibot schema; .*toJsonSchema\(schema\)/],
  "of ArkType": [arktype, "$", /an ArkType schema; .*schema\.toJsonSchema\(\)/],
  "of another library": [other, "$", /a schema of \\u202eother; .*jsonSchema\.input/],
  "an instance": [new Model(), "$", /an instance of Model/],
  "a class": [Model, "$", /a function/],
  "a function": [() => true, "$", /a function/],
  "a function in it": [{ type: "string", check: () => true }, "$.check", /a function/],
  "a Map": [new Map([["type", "object"]]), "$", /an instance of Map/],
  "a Set": [{ enum: new Set([1]) }, "$.enum", /an instance of Set/],
  "a Date": [{ const: new Date(0) }, "$.const", /an instance of Date/],
  "a RegExp": [{ pattern: /a/ }, "$.pattern", /an instance of RegExp/],
  "a String": [{ type: new String("object") }, "$.type", /an instance of String/],
  "a bigint": [{ maximum: 1n }, "$.maximum", /a bigint/],
  "a symbol": [{ type: Symbol("object") }, "$.type", /a symbol/],
  "not a number": [{ maximum: Number.NaN }, "$.maximum", /NaN/],
  "without an end": [{ maximum: Number.POSITIVE_INFINITY }, "$.maximum", /Infinity/],
  nothing: [undefined, "$", /undefined/],
  "nothing in it": [{ type: undefined }, "$.type", /undefined/],
  "nothing in a list": [{ enum: [1, undefined] }, "$.enum[1]", /undefined/],
  // biome-ignore lint/suspicious/noSparseArray: this is what is tested.
  "a list with a hole": [{ enum: [1, , 2] }, "$.enum[1]", /undefined/],
  "a getter of an instance": [Object.create({ type: "object" }), "$", /an object that is not plain/],
};

const gate = await Gate.load();
const workers = await WorkerGate.load({ workers: 1 });
const parser = new ResultParser(gate);
const tool = { name: "t", effect: "read", permit: "allow" };

/** Everything that takes a schema: with the place of the schema in what it is given. */
const inContracts = {
  register: (contract) => gate.register(contract),
  lint: (contract) => gate.lint(contract),
  validate: (contract) => gate.validate(contract, "{}"),
  "instance.validate": (contract) => gate.instance().validate(contract, "{}"),
  "registry.register": (contract) => new ContractRegistry(gate).register(contract),
  ask: (contract) => ask(contract, () => "{}"),
  "workers.register": (contract) => workers.register(contract),
  "workers.lint": (contract) => workers.lint(contract),
  "workers.validate": (contract) => workers.validate(contract, "{}"),
  ...(backend === "native" && { bake: (contract) => bake([contract]) }),
};
const alone = {
  parseWithSchema: (schema) => parser.parseWithSchema(schema, "{}"),
  describeSchema: (schema) => parser.describeSchema(schema),
};

async function refused(call, place, what, name) {
  const isRefused = (error) => {
    assert.ok(error instanceof TypeError, `${name}: ${error}`);
    assert.ok(error.message.includes(` ${place} is `), `${name}: ${error.message}`);
    assert.match(error.message, what, name);
    assert.ok(error.message.length < 400, error.message);
    return true;
  };
  await assert.rejects(async () => call(), isRefused);
}

for (const [kind, [schema, place, what]] of Object.entries(kinds)) {
  test(`a schema that is not JSON is refused: ${kind}`, async () => {
    // As `schema`, a schema of a library is taken: schemas.test.mjs.
    const isLibrary = ["of Zod", "of Valibot", "of ArkType", "of another library"].includes(kind);
    for (const [name, call] of Object.entries(inContracts)) {
      if (!isLibrary) await refused(() => call({ agent: "a", schema }), `$.schema${place.slice(1)}`, what, name);
      await refused(() => call({ agent: "a", jtd: schema }), `$.jtd${place.slice(1)}`, what, name);
      const resources = { "https://a.example/b": schema };
      const within = `$.resources['https://a.example/b']${place.slice(1)}`;
      await refused(() => call({ agent: "a", schema: true, resources }), within, what, name);
    }
    const policy = { contract: { agent: "a", resources: { r: schema } } };
    await refused(() => ask(Order, () => "{}", "", policy), `$.resources.r${place.slice(1)}`, what, "ask, beside");
    for (const call of [(profile) => gate.registerProfile(profile), (profile) => gate.lintProfile(profile)]) {
      const profile = { agent: "a", tools: [{ ...tool, definition: { name: "t", inputSchema: schema } }] };
      const within = `$.tools[0].definition.inputSchema${place.slice(1)}`;
      await refused(() => call(profile), within, what, "profile");
    }
    if (!isLibrary && kind !== "nothing") {
      for (const [name, call] of Object.entries(alone)) await refused(() => call(schema), place, what, name);
    }
  });
}

test("a schema of a library in place of a contract is refused", async () => {
  for (const [name, call] of Object.entries(inContracts)) {
    if (name !== "ask") await refused(() => call(Order), "$", /a Zod schema/, name);
  }
  // These take it, and hold outputs to it.
  assert.equal(parser.parseWithSchema(Order, '{"sku":"a","count":1}').success, true);
  assert.equal(parser.parseWithSchema(Order, '{"sku":"a","count":-5}').success, false);
  assert.equal((await ask(Order, () => '{"sku":1}')).success, false);
  for (const schema of [valibot, arktype, other]) {
    assert.throws(() => parser.parseWithSchema(schema, "{}"), /does not say what it is in JSON/);
    for (const [name, call] of Object.entries(inContracts)) {
      const given = name === "ask" ? schema : { agent: "a", schema };
      await assert.rejects(
        async () => call(given),
        /^TypeError: `schema`, of .*, does not say what it is in JSON\. Pass /,
      );
    }
  }
});

test("a cycle and a nesting without end are faults", () => {
  const cycle = { agent: "a" };
  cycle.schema = { properties: { cycle } };
  const deep = { agent: "a", schema: true };
  for (let at = 0; at < 100_000; at += 1) deep.schema = { not: deep.schema };
  for (const [contract, message] of [
    [cycle, /\$\.schema\.properties\.cycle must be JSON/],
    [deep, /nests too deep/],
  ]) {
    assert.throws(() => gate.register(contract), { name: SeamgateFault.name, code: "bad_contract", message });
  }
});

test("what is JSON is taken, whoever made it", async () => {
  const properties = JSON.parse('{"__proto__":{"type":"integer"},"toJSON":{"type":"string"}}');
  const same = { type: "object" };
  const schemas = [
    [z.toJSONSchema(Order, { io: "input" }), '{"sku":"a","count":1}', '{"sku":1}'],
    [vm.runInNewContext('({ type: "object", required: ["a"] })'), '{"a":1}', "{}"],
    [Object.assign(Object.create(null), { type: "object" }), "{}", "[]"],
    [Object.freeze({ type: "object" }), "{}", "[]"],
    // As TypeBox makes them.
    [{ [Symbol.for("TypeBox.Kind")]: "Object", type: "object" }, "{}", "[]"],
    [{ properties }, '{"__proto__":1,"toJSON":"a"}', '{"__proto__":"a"}'],
    [{ properties }, '{"toJSON":"a"}', '{"toJSON":1}'],
    [{ properties: { a: same, b: same } }, '{"a":{},"b":{}}', '{"b":1}'],
    [true, "1", "x"],
  ];
  for (const [schema, good, bad] of schemas) {
    const contract = { agent: "a", schema, retry: undefined };
    for (const judge of [
      (output) => gate.validate(contract, output).report.success,
      (output) => parser.parseWithSchema(schema, output).success,
    ]) {
      assert.deepEqual([judge(good), judge(bad)], [true, false], JSON.stringify(schema));
    }
    const asked = await workers.validate(contract, bad);
    assert.equal(asked.report.success, false);
  }
});

test("sessions that nobody ends hold up nothing, and end when they are closed", async () => {
  const gate = await Gate.load(backend === "native" ? { deadlineMs: 2_000 } : {});
  gate.register({ agent: "any", schema: { type: "array" } });
  const count = backend === "native" ? 1_000 : 50;
  const sessions = Array.from({ length: count }, () => gate.session("any"));
  for (const session of sessions) session.push("[1");
  for (let at = 0; at < 1_000; at += 1) assert.equal(gate.validate("any", "[]").report.success, true);
  for (const session of sessions.slice(1)) session.close();
  for (const session of sessions.slice(1)) assert.throws(() => session.push("]"), TypeError);
  sessions[1].close();
  assert.deepEqual(sessions[0].push("]") && sessions[0].finish().report.data, [1]);
  const session = gate.session("any");
  session[Symbol.dispose]();
  assert.throws(() => session.finish(), TypeError);
});

test("too many sessions are a fault at once", {
  skip: backend !== "native" && "it holds no instance of Wasmtime",
}, () => {
  gate.register({ agent: "any", schema: { type: "array" } });
  const sessions = [];
  const fill = () => {
    for (;;) sessions.push(gate.session("any"));
  };
  assert.throws(fill, { name: SeamgateFault.name, code: "busy" });
  assert.ok(sessions.length >= 4_000 && sessions.length <= 4_096);
  for (const session of sessions) session.close();
  gate.session("any").close();
});

test.after(() => workers.close());
