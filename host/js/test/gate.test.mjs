import assert from "node:assert/strict";
import { test } from "node:test";
import { backend, Gate, LoadError, SeamgateFault } from "seamgate";
import { doubling, endless, example, output, read } from "./shared.mjs";

/** For tests that look into the engine of JavaScript. */
const webassembly = { skip: backend === "native" && "the sandbox is Wasmtime's here" };

const anything = { agent: "any", schema: true };

/** The fault that a call must end in. */
function fault(call) {
  try {
    call();
  } catch (error) {
    assert.ok(error instanceof SeamgateFault, `${error}`);
    return error;
  }
  return assert.fail("no fault");
}

test("an output is accepted, and the document is there", async () => {
  const gate = await Gate.load();
  const info = gate.register(example("triage"));
  assert.equal(info.agent, "triage");
  assert.equal(info.retryLimit, 2);
  const { report, usage } = gate.validate("triage", output("triage.good"), { finish: "stop" });
  assert.equal(report.disposition, "accepted");
  assert.equal(report.success, true);
  assert.equal(report.contract, info.contract);
  assert.deepEqual(report.data, report.output);
  assert.deepEqual(JSON.parse(report.outputJson), report.output);
  assert.deepEqual(JSON.parse(report.json), JSON.parse(JSON.stringify(report)));
  assert.equal(report.raw, output("triage.good"));
  assert.deepEqual(report.violations, []);
  assert.equal(report.extractionError, null);
  assert.ok(usage.fuel > 10_000 && usage.fuel < 100_000_000, `${usage.fuel}`);
  assert.ok(usage.memory > 0 && usage.memory <= 64 * 1024 * 1024, `${usage.memory}`);
  assert.ok(usage.elapsedMs > 0);
  assert.match(usage.component, /^sha256:[0-9a-f]{64}$/);
});

test("a rejection is data: with every reason and its place", async () => {
  const gate = await Gate.load();
  gate.register(example("cited-answer"));
  const { report } = gate.validate("cited-answer", output("cited-answer.bad-url"));
  assert.equal(report.success, false);
  assert.equal(report.data, null);
  assert.equal(report.outputJson, null);
  assert.deepEqual(
    report.violations.map(({ path, keyword }) => [path, keyword]),
    [
      ["$.citations[0].url", "format"],
      ["$.citations[0].url", "pattern"],
    ],
  );
  const prose = gate.validate("cited-answer", output("cited-answer.bad-prose")).report;
  assert.match(prose.extractionError, /^\$ /);
  assert.deepEqual(
    prose.violations.map(({ keyword }) => keyword),
    ["extract"],
  );
});

test("partial and refused are told apart from accepted", async () => {
  const gate = await Gate.load();
  gate.register(example("triage"));
  gate.register(example("cited-answer"));
  const partial = gate.validate("triage", output("triage.partial-one-broken")).report;
  assert.equal(partial.disposition, "partial");
  assert.equal(partial.success, false);
  assert.equal(partial.data.recommendations.length, 7);
  assert.equal(partial.quarantined.length, 3);
  assert.equal(gate.validate("cited-answer", output("cited-answer.refused")).report.disposition, "refused");
});

test("all digits of a number are in outputJson", async () => {
  const gate = await Gate.load();
  const { report } = gate.validate(anything, '{"output":1,"n": [12345678901234567890, 1.50, "}\\",{"]}');
  assert.equal(report.outputJson, '{"output":1,"n":[12345678901234567890,1.50,"}\\",{"]}');
  assert.equal(gate.validate(anything, "null").report.outputJson, "null");
});

test("the same request takes the same bytes and the same fuel, in any instance", async () => {
  const gate = await Gate.load();
  gate.register(example("triage"));
  const fresh = [1, 2].map(() => gate.validate("triage", output("triage.bad-severity")));
  assert.equal(fresh[0].report.json, fresh[1].report.json);
  assert.equal(fresh[0].usage.fuel, fresh[1].usage.fuel);
  const warm = gate.instance();
  const [first, second, third] = [1, 2, 3].map(() => warm.validate("triage", output("triage.bad-severity")));
  assert.equal(first.report.json, fresh[0].report.json);
  assert.equal(third.report.json, fresh[0].report.json);
  assert.equal(first.usage.fuel, fresh[0].usage.fuel);
  // In WebAssembly, the contract is compiled in the first call.
  const most = backend === "native" ? first.usage.fuel * 1.01 : first.usage.fuel / 2;
  assert.ok(second.usage.fuel < most, `${second.usage.fuel} of ${first.usage.fuel}`);
});

test("an instance goes on after a fault, with a fresh one where it was stopped", async () => {
  const gate = await Gate.load();
  gate.register(example("triage"));
  const warm = gate.instance();
  const before = warm.validate("triage", output("triage.good")).report.json;
  assert.equal(fault(() => warm.validate("nobody", "1")).code, "unknown_agent");
  assert.equal(fault(() => warm.validate(doubling, "{}")).code, "out_of_fuel");
  assert.equal(warm.validate("triage", output("triage.good")).report.json, before);
});

test("a fault of fuel says whether compiling or the verdict used it", async () => {
  const tight = await Gate.load({ limits: { contractFuel: 20_000, contractFuelPerByte: 0 } });
  assert.equal(fault(() => tight.register(anything)).message, "compiling took more than 20000 units of fuel");
  const small = await Gate.load({ limits: { fuel: 500, fuelPerByte: 0 } });
  small.register(anything);
  assert.equal(fault(() => small.validate("any", "1")).message, "the verdict took more than 500 units of fuel");
});

test("contracts are kept by their agents", async () => {
  const gate = await Gate.load();
  const triage = gate.register(JSON.stringify(example("triage")));
  gate.register(anything);
  assert.deepEqual(gate.register(example("triage")), triage);
  assert.deepEqual(gate.names(), ["any", "triage"]);
  assert.equal(gate.has("triage"), true);
  assert.equal(gate.has("toString"), false);
  assert.deepEqual(gate.contract("triage"), triage);
  assert.match(gate.describe("triage"), /recommendations/);
  assert.deepEqual(
    gate.lint(anything).map(({ code }) => code),
    ["no_id", "no_description"],
  );
  const other = fault(() => gate.register({ agent: "any", schema: false }));
  assert.equal(other.code, "bad_contract");
  assert.match(other.message, /already has another contract/);
  assert.equal(gate.validate("any", "1").report.success, true);
});

test("lists come with the request", async () => {
  const gate = await Gate.load();
  const rule = { path: "$.team", list: "teams" };
  const contract = { agent: "any", schema: true, allow: [rule] };
  assert.deepEqual(gate.register(contract).lists, ["teams"]);
  for (const subject of [contract, "any"]) {
    const judge = (lists) => gate.validate(subject, '{"team":"red"}', { lists }).report;
    assert.equal(judge({ teams: ["red"], others: [] }).success, true);
    assert.equal(judge({ teams: ["blue"] }).violations[0].keyword, "allow");
    for (const lists of [undefined, {}, { others: ["red"] }]) {
      const lacking = fault(() => judge(lists));
      assert.equal(lacking.code, "bad_request");
      assert.match(lacking.message, /must have the list "teams", which 'allow' in the contract asks for at \$\.team\./);
    }
  }
  const optional = { ...contract, allow: [{ ...rule, optional: true }] };
  assert.equal(gate.validate(optional, '{"team":"red"}').report.notes.length, 1);
  assert.equal(gate.validate(optional, '{"team":"red"}', { lists: { teams: [] } }).report.success, false);
});

test("evidence comes with the request", async () => {
  const gate = await Gate.load();
  const contract = { agent: "any", schema: true, evidence: { claims: "$.claims[*]" } };
  const cite = { id: "log", quote: "matches: 128" };
  const output = JSON.stringify({ claims: [{ text: "128 errors", evidence: [cite], confidence: "high" }] });
  const judge = (evidence) => gate.validate(contract, output, { evidence }).report;
  const seen = { id: "log", text: "matches: 128" };
  assert.equal(judge([{ ...seen, confidence: "high" }]).success, true);
  assert.equal(judge([seen]).violations[0].keyword, "evidence.confidence");
  assert.ok(judge([]).violations.some(({ keyword }) => keyword === "evidence.id"));
  assert.match(fault(() => judge(undefined)).message, /\$\.evidence must be there/);
});

test("why a producer stopped is told in the words of its API", async () => {
  const gate = await Gate.load();
  const judge = (finish) => gate.validate(anything, '{"a":', { finish }).report.json;
  const words = {
    stop: ["STOP", "end_turn", "COMPLETE"],
    length: ["max_tokens", "MAX_TOKENS", "model_length"],
    refusal: ["Refusal"],
    content_filter: ["SAFETY", "content-filter", "guardrail_intervened"],
    tool_call: ["tool_calls", "tool_use", "tool-calls"],
    unknown: ["other", "error", undefined],
  };
  for (const [ours, theirs] of Object.entries(words)) {
    for (const word of theirs) {
      assert.equal(judge(word), judge(ours), word);
    }
  }
  assert.match(fault(() => judge("tired")).message, /pass unknown/);
});

test("what is no contract is a fault that names the member", async () => {
  const gate = await Gate.load();
  const wrong = [
    ['{"agent":"a","schema":', "$ "],
    ['{"agent":"a","schema":true},"op":"names"', "$ "],
    ['{"agent":"a","schema":{"type":"strin"}}', "$.schema.type "],
    ['{"agent":"a","schema":{"type":"string","type":"object"}}', "$.schema.type "],
    ['{"agent":"a","schema":{"title":"\\ud800"}}', "$.schema.title "],
    ['{"agent":"a","schema":true,"colour":1}', "$.colour "],
  ];
  for (const [contract, place] of wrong) {
    for (const call of [() => gate.register(contract), () => gate.lint(contract), () => gate.validate(contract, "1")]) {
      const { code, message, detail } = fault(call);
      assert.equal(code, "bad_contract", contract);
      assert.ok(message.startsWith(`contract: ${place}`), message);
      assert.equal(`${detail.violations?.[0].path ?? "$"} `, place);
    }
  }
  const cycle = { agent: "a" };
  cycle.schema = cycle;
  assert.equal(fault(() => gate.register(cycle)).code, "bad_contract");
});

test("each fault has its code, and the next call works", async () => {
  const gate = await Gate.load();
  gate.register(anything);
  const caps = { bytes: 8 * 1024 * 1024, array_items: 10_000_000 };
  const faults = {
    unknown_agent: () => gate.validate("nobody", "1"),
    bad_request: () => gate.validate("any", "1", { finish: "done" }),
    input_too_large: () => gate.validate("any", "x".repeat(8 * 1024 * 1024 + 1)),
    out_of_fuel: () => gate.validate(doubling, "{}"),
    // Rules that one pass over the text cannot decide.
    out_of_memory: () =>
      gate.validate({ ...anything, schema: { contains: { type: "integer" } }, caps }, `[${"1,".repeat(3_000_000)}1]`),
    stack_overflow: () => {
      const open = '{"anyOf":['.repeat(30);
      const close = ',{"minItems":1000}]}'.repeat(30);
      const level = `{"anyOf":[{"type":"integer"},{"type":"array","items":${open}{"$ref":"#/$defs/n"}${close}}]}`;
      const schema = `{"$ref":"#/$defs/n","$defs":{"n":${level}}}`;
      const contract = `{"agent":"a","caps":{"depth":128},"schema":${schema}}`;
      gate.validate(contract, `${"[".repeat(128)}1${"]".repeat(128)}`);
    },
  };
  const details = {};
  for (const [code, call] of Object.entries(faults)) {
    const thrown = fault(call);
    assert.equal(thrown.code, code, thrown.message);
    assert.equal(thrown.toJSON().fault, code);
    details[code] = thrown.detail;
    assert.equal(gate.validate("any", "1").report.success, true);
  }
  assert.deepEqual(details.unknown_agent.agents, ["any"]);
  assert.equal(details.bad_request.violations[0].path, "$.finish");
  assert.deepEqual(details.input_too_large, { bytes: 8 * 1024 * 1024 + 1, limit: 8 * 1024 * 1024 });
  assert.equal(details.out_of_fuel.limit, 100_000_000 + 500 * (Buffer.byteLength(doubling) + 2));
  assert.equal(details.out_of_memory.limit, 64 * 1024 * 1024);
});

test("a fresh instance has nothing of the outputs before, and takes the same fuel", webassembly, async () => {
  const { Instance } = WebAssembly;
  const memories = [];
  WebAssembly.Instance = class extends Instance {
    constructor(module, imports) {
      super(module, imports);
      if (this.exports.fuel !== undefined) {
        memories.push(this.exports.memory);
      }
    }
  };
  try {
    const gate = await Gate.load();
    gate.register(anything);
    const secret = "Correct-Horse-Battery-Staple";
    const holding = () => memories.filter((memory) => Buffer.from(memory.buffer).includes(secret)).length;
    const fuel = new Set();
    for (let at = 0; at < 20; at += 1) {
      const { report, usage } = gate.validate("any", JSON.stringify([secret, `${secret}!`.repeat(at % 2)]));
      assert.ok(report.json.includes(secret));
      if (at % 2 === 0) {
        fuel.add(usage.fuel);
      }
      assert.equal(holding(), 0);
    }
    assert.equal(fuel.size, 1);
    // One that registered, one that was looked at, one that judged all of them.
    assert.ok(memories.length <= 3, `${memories.length} instances`);
    // One that has grown cannot be made what it was: another one is made.
    const made = memories.length;
    gate.validate("any", JSON.stringify("x".repeat(60_000)).repeat(80));
    gate.validate("any", "1");
    assert.ok(memories.length > made);
    // The other way around: what is used again does have it.
    gate.instance().validate("any", JSON.stringify(secret));
    assert.ok(holding() > 0);
  } finally {
    WebAssembly.Instance = Instance;
  }
});

test("what is no text is no output", async () => {
  const gate = await Gate.load();
  for (const [output, name] of [
    [5, "a number"],
    [null, "null"],
    [undefined, "undefined"],
    [{ length: 1 }, "an object"],
  ]) {
    const message = `\`output\` must be a string or a Uint8Array, not ${name}`;
    assert.throws(() => gate.validate(anything, output), { name: "TypeError", message });
  }
});

test("a sealed registry is a fault of the answer", async () => {
  const gate = await Gate.load();
  const instance = gate.instance();
  assert.equal(instance.call('{"op":"seal"}').json, '{"id":null,"result":null}');
  const answer = JSON.parse(instance.call('{"op":"register","contract":{"agent":"a","schema":true}}').json);
  assert.equal(answer.fault.fault, "sealed");
  gate.register(anything);
  if (backend === "native") {
    // An instance that lacks a contract begins again with it.
    assert.equal(instance.validate("any", "1").report.success, true);
    return;
  }
  assert.equal(fault(() => instance.validate("any", "1")).code, "sealed");
});

test("limits hold", async () => {
  const measured = (await Gate.load()).validate(anything, '"ä"').usage.fuel;
  const bound = { fuelPerByte: 0, outputBytes: 4 };
  const enough = await Gate.load({ limits: { ...bound, fuel: measured } });
  assert.equal(enough.validate(anything, '"ä"').usage.fuel, measured);
  assert.equal(fault(() => enough.validate(anything, '"äö"')).detail.bytes, 6);
  assert.equal(fault(() => enough.validate(anything, new Uint8Array(5))).detail.bytes, 5);
  assert.equal(fault(() => enough.call("     ")).code, "input_too_large");
  // It is looked at where functions begin and loops turn.
  const less = await Gate.load({ limits: { ...bound, fuel: measured - 1000 } });
  assert.equal(fault(() => less.validate(anything, '"ä"')).code, "out_of_fuel");
  for (const limits of [{ fuel: -1 }, { fuel: 1.5 }, { fuel: Number.POSITIVE_INFINITY }, { fuel: "1" }, { time: 1 }]) {
    await assert.rejects(Gate.load({ limits }), TypeError);
  }
  const most = await Gate.load({ limits: { ...endless, fuelPerByte: Number.MAX_SAFE_INTEGER } });
  assert.equal(most.validate(anything, '"ä"').usage.fuel, measured);
});

test("bytes that are not UTF-8 reject the output, with the place", async () => {
  const gate = await Gate.load();
  const judge = (...bytes) => gate.validate(anything, new Uint8Array(bytes)).report;
  assert.equal(judge(0x22, 0xc3, 0xa4, 0x22).data, "ä");
  // A character that stands for what is malformed, written by the producer itself, is a character.
  assert.equal(judge(0x22, 0xef, 0xbf, 0xbd, 0x22).data, "\ufffd");
  const wrong = judge(0x22, 0xef, 0xbf, 0xbd, 0xc3, 0x22);
  assert.equal(wrong.disposition, "rejected");
  assert.equal(wrong.error.violations[0].keyword, "utf8");
  assert.equal(wrong.error.violations[0].span[0], 4);
  assert.equal(wrong.raw, '"\ufffd\ufffd"');
  // A byte order mark is not left out: spans would be wrong.
  assert.equal(judge(0xef, 0xbb, 0xbf, 0x31).raw, "\ufeff1");
});

test("half a surrogate pair in a string rejects the output, with the place", async () => {
  const gate = await Gate.load();
  for (const [text, at] of [
    ['"ä\ud83d"', 3],
    ['"\udc00"', 1],
    ['"\ud83d\ud83d\ude00"', 1],
    ["1\ud800", 1],
  ]) {
    const { report } = gate.validate(anything, text);
    assert.equal(report.disposition, "rejected", text);
    assert.equal(report.error.violations[0].keyword, "utf8");
    assert.equal(report.error.violations[0].span[0], at);
    assert.ok(report.raw.includes("\ufffd"));
  }
  assert.equal(gate.validate(anything, '"\ud83d\ude00"').report.data, "\u{1f600}");
  // In JSON it can be written in letters, too: then the document is wrong, not the text.
  assert.equal(gate.validate(anything, '"\\ud83d"').report.error.violations[0].keyword, "lone_surrogate");
  assert.equal(fault(() => gate.call('{"output":"\ud800"}')).code, "bad_request");
  assert.equal(fault(() => gate.validate(anything, "1", { lists: { a: ["\ud800"] } })).code, "bad_request");
});

test("requests as text are answered as text, with the gate's contracts", async () => {
  const gate = await Gate.load();
  assert.match(
    gate.call('{"id":[1.50],"agent":"any","output":"1"}').json,
    /^\{"id":\[1\.50\],"fault":\{"fault":"unknown_agent"/,
  );
  gate.register(anything);
  assert.match(
    gate.call('{"id":[1.50],"agent":"any","output":"1"}').json,
    /^\{"id":\[1\.50\],"report":\{"disposition":"accepted"/,
  );
  assert.equal(gate.call('{"op":"names"}').json, '{"id":null,"result":["any"]}');
  for (const text of ["", "null", "[]", "{", '{"agent":1,"output":2}']) {
    assert.equal(JSON.parse(gate.call(text).json).fault.fault, "bad_request");
  }
});

test("what comes from a producer means nothing to objects", async () => {
  const gate = await Gate.load();
  const text = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}';
  const { report } = gate.validate(anything, text);
  assert.equal(report.outputJson, text);
  assert.equal({}.polluted, undefined);
  assert.equal(Object.getPrototypeOf(report.data), Object.prototype);
});

test("a component that does not count its fuel is not loaded", webassembly, async () => {
  const { component } = await Gate.load();
  const shared = await Gate.load({ component });
  assert.equal(shared.validate(anything, "1").report.success, true);
  const [main] = Object.keys(component);
  const { [main]: _, ...lacking } = component;
  await assert.rejects(Gate.load({ component: lacking }), (error) => {
    assert.ok(error instanceof LoadError);
    assert.match(error.message, /lacks its core module/);
    return true;
  });
  const uncounted = await WebAssembly.compile(withoutExport(readFileOfPackage(main), "fuel"));
  await assert.rejects(Gate.load({ component: { ...component, [main]: uncounted } }), (error) => {
    assert.ok(error instanceof LoadError);
    assert.match(error.message, /does not count its fuel/);
    return true;
  });
});

/** A core module of the package. */
function readFileOfPackage(name) {
  return Buffer.from(read(`target/js/clean/node_modules/seamgate/dist/component/${name}`, null));
}

/** The same module, in which an export has another name of the same length. */
function withoutExport(module, name) {
  const entry = Buffer.concat([Buffer.from([name.length]), Buffer.from(name), Buffer.from([3])]);
  const at = module.indexOf(entry);
  assert.ok(at > 0, `${name} is exported as a global`);
  module[at + 1] = "F".charCodeAt(0);
  return module;
}
