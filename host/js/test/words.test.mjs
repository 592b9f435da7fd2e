// The names of the package, and its errors for callers who use other names.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ask,
  backend,
  bake,
  ContractRegistry,
  Gate,
  NotAcceptedError,
  ResultParser,
  SeamgateFault,
  WorkerGate,
} from "seamgate";
import { z } from "zod";

const gate = await Gate.load();
const workers = await WorkerGate.load({ workers: 1 });
test.after(() => workers.close());
const list = { agent: "list", schema: { type: "array", items: { type: "integer" } }, items: { path: "$[*]" } };
gate.register(list);
gate.registerProfile({ agent: "ops", tools: [] });

test("unwrap gives the document of an accepted output, and of nothing else", () => {
  assert.deepEqual(gate.validate(list, "[1]").report.unwrap(), [1]);
  const not = (output, disposition, message) =>
    assert.throws(
      () => gate.validate(list, output).report.unwrap(),
      (error) => {
        assert.ok(error instanceof NotAcceptedError && error instanceof Error);
        assert.deepEqual([error.name, error.report.disposition], ["NotAcceptedError", disposition]);
        assert.match(error.message, message);
        return true;
      },
    );
  not('[1,"x"]', "partial", /^the output of "list" is partial: \$\[1\] must be integer/);
  not("{}", "rejected", /^the output of "list" is rejected: \$ must be array/);
  assert.throws(() => gate.validate(list, "No.", { finish: "refusal" }).report.unwrap(), /"list" is refused$/);
});

test("violations have their piece of the output, in units of JavaScript's strings", () => {
  const schema = { type: "array", items: { maxLength: 1 }, maxItems: 9 };
  for (const before of ["", "é", "😀", "\ufeff", "日本\n", "a\u0301"]) {
    const items = ["é!", "x", "😀😀", "\u0000\u0001", "日本"];
    const output = `${before}\`\`\`json\n${JSON.stringify(items)}\n\`\`\``;
    for (const given of [output, new TextEncoder().encode(output)]) {
      const { report } = gate.validate({ agent: "a", schema }, given);
      const wrong = report.violations.map(({ text }) => JSON.parse(text));
      assert.deepEqual(
        wrong,
        items.filter((item) => [...item].length > 1),
      );
      for (const { span, textSpan, text } of report.violations) {
        assert.equal(output.slice(...textSpan), text);
        assert.deepEqual(report.textSpan(span), textSpan);
        assert.equal(
          new TextDecoder("utf-8", { ignoreBOM: true }).decode(new TextEncoder().encode(output).slice(...span)),
          text,
        );
      }
    }
  }
  // They are beside the report's JSON.
  const { report } = gate.validate(list, '["é", "é"]');
  assert.equal(JSON.stringify(report), report.json);
  assert.deepEqual(Object.keys(report.violations[0]), Object.keys(report.error.violations[0]));
  assert.equal(gate.validate(list, "{").report.violations.length > 0, true);
  const cut = gate.validate(list, new Uint8Array([0x5b, 0x22, 0xff, 0x22, 0x5d])).report;
  assert.equal(cut.violations[0].keyword, "utf8");
  assert.equal(typeof cut.violations[0].text, "string");
});

test("violations are those of the document, then those of its items", async () => {
  const paths = (result) => result.violations.map(({ path }) => path);
  for (const [output, expected] of [
    ["[1]", []],
    ['["x",1,"y"]', ["$[0]", "$[2]"]],
    ['["x"]', ["$[*]", "$[0]"]],
    ["{}", ["$"]],
    ["no JSON", ["$"]],
  ]) {
    const { report } = gate.validate(list, output);
    assert.deepEqual(paths(report), expected, output);
    assert.deepEqual(paths(new ResultParser(gate).parse("list", output)), expected, output);
    const answer = await ask({ ...list, retry: { limit: 0 } }, () => output);
    assert.deepEqual([paths(answer), paths(answer.attempts[0])], [expected, expected], output);
  }
});

test("own types are in camelCase, and documents are as every host has them", () => {
  const info = gate.contract("list");
  const session = gate.session("list");
  const { report } = gate.validate(list, "[1]");
  for (const own of [info, session.push("["), gate.validate(list, "[1]").usage]) {
    assert.deepEqual(
      Object.keys(own).filter((name) => /_/.test(name)),
      [],
    );
  }
  session.close();
  assert.deepEqual([info.retryLimit, info.schemaId], [1, null]);
  assert.deepEqual([report.schemaId, report.reviewRequired], [null, false]);
  assert.deepEqual([report.toJSON().schema_id, report.toJSON().review_required], [null, false]);
});

/** Every call that takes options, with good ones. */
const takes = {
  "Gate.load": (options) => Gate.load({ limits: {}, ...options }),
  "WorkerGate.load": (options) => WorkerGate.load({ workers: 1, ...options }),
  validate: (options) => gate.validate(list, "[1]", { finish: "stop", ...options }),
  instance: (options) => gate.instance().validate(list, "[1]", { lists: {}, ...options }),
  merge: (options) => gate.merge([gate.validate("list", "[1]").report], options),
  session: (options) => gate.session("list", options),
  parse: (options) => new ResultParser(gate).parse("list", "[1]", options),
  parseWithSchema: (options) => new ResultParser(gate).parseWithSchema(true, "[1]", { contract: {}, ...options }),
  describeSchema: (options) => new ResultParser(gate).describeSchema(true, options),
  ask: (options) => ask(list, () => "[1]", "", options),
  loop: (options) => gate.loop("ops", { run: "r", principal: "p" }, options),
  workers: (options) => workers.validate(list, "[1]", options),
  "workers, many": (options) => workers.validateAll([{ agent: list, output: "[1]", ...options }]),
  ...(backend === "native" && {
    bake: (options) => bake([], { ...options, profiles: [null] }),
    run: (options) => gate.run("list", () => "[1]", options),
  }),
};

test("an option that is none is refused, with those that there are", async () => {
  for (const [name, call] of Object.entries(takes)) {
    for (const option of ["finsh", "timeout", "deadline", "toString", "__proto", "constructor"]) {
      const message = new RegExp(`^\`options\` has no member \`${option}\`: its members are \\w`);
      await assert.rejects(async () => call({ [option]: 1 }), { name: "TypeError", message }, `${name} ${option}`);
    }
    if (!/load|bake|many/.test(name)) {
      const made = await call({});
      made?.close?.();
    }
    for (const options of [null, 5, "x"]) {
      if (["validate", "instance", "parseWithSchema", "bake", "workers, many"].includes(name) || /load/.test(name))
        continue;
      await assert.rejects(
        async () => call(options),
        { name: "TypeError", message: /^`options` must be an object, not / },
        name,
      );
    }
  }
  for (const limits of [{ fule: 1 }, { deadline: 1 }]) {
    await assert.rejects(
      Gate.load({ limits }),
      /^TypeError: `limits` has no member `(fule|deadline)`: its members are fuel, /,
    );
  }
});

test("what is wrong with an argument is said by its name", async () => {
  const parser = new ResultParser(gate);
  const cases = [
    [() => new Gate(), /^TypeError: a Gate is made by `await Gate\.load\(\)`/],
    [() => new ResultParser(), /^TypeError: `gate` must be a Gate, .* not undefined/],
    [
      () => new ResultParser(new ContractRegistry(gate)),
      /^TypeError: `gate` must be a Gate, .* not an instance of ContractRegistry/,
    ],
    [() => new ResultParser(workers), /^TypeError: `gate` must be a Gate, .* not an instance of WorkerGate/],
    [() => new ContractRegistry(null), /^TypeError: `gate` must be a Gate/],
    [() => ask(list, () => "", "", { gate: workers }), /^TypeError: `gate` must be a Gate/],
    [
      () => ask(class A {}, () => ""),
      /^TypeError: `of` must be a schema that .*, the name of an agent, or a contract, .* not a function/,
    ],
    [() => ask(list), /^TypeError: `callLlm` must be a function that calls the model, not undefined/],
    [() => ask(list, "hi"), /^TypeError: `callLlm` must be a function/],
    [() => ask(list, () => "", 5), /^TypeError: `prompt` must be a text or a list of messages, not a number/],
    [() => ask(list, () => "", "", { signal: {} }), /^TypeError: `signal` must be an AbortSignal, not an object/],
    [() => ask(list, () => "", "", { timeoutMs: "1s" }), /^TypeError: `timeoutMs` must be milliseconds/],
    [() => ask(list, () => "", "", { timeoutMs: 0 }), /^TypeError: `timeoutMs` must be milliseconds/],
    [() => gate.validate(list, ["[1]"]), /^TypeError: `output` must be a string or a Uint8Array, not an array/],
    [() => gate.session("list").push(5), /^TypeError: `chunk` must be a string or a Uint8Array, not a number/],
    [() => gate.merge({}), /^TypeError: `reports` must be a list of reports/],
    [() => gate.merge([gate.validate(list, "[1]")]), /^TypeError: `reports` must be a list of reports/],
    [() => gate.loop("ops"), /^TypeError: `facts` must be an object with `run` and `principal`, not undefined/],
    // The order of the arguments before this one.
    [
      () => parser.parseWithSchema("[1]", z.array(z.int())),
      /^TypeError: `schema` must be a JSON Schema, .* not a string/,
    ],
    [() => Gate.load({ deadlineMs: "1" }), /^TypeError: `deadlineMs` must be milliseconds/],
    [() => WorkerGate.load({ workers: 0 }), /^TypeError: `workers` must be an integer from 1/],
    [() => workers.validateAll([{ output: "1" }]), /^TypeError: `agentOrContract` must be the name/],
    [() => workers.validateAll([null]), /^TypeError: `requests\[0\]` must be an object, not null/],
    [() => workers.validateAll(5), /^TypeError: `requests` must be a list/],
  ];
  if (backend === "native") {
    cases.push([() => bake({}), /^TypeError: `contracts` must be a list of contracts, not an object/]);
    cases.push([() => gate.run("list", "hi"), /^TypeError: `produce` must be a function/]);
  }
  for (const [call, message] of cases) await assert.rejects(async () => call(), message);
});

/** In the place of a client: it answers when its signal is aborted, and keeps the reason. */
function hangs() {
  const reasons = [];
  const call = (_, { signal }) =>
    new Promise((_, reject) => {
      signal.addEventListener("abort", () => {
        reasons.push(signal.reason);
        reject(new Error("aborted"));
      });
    });
  return Object.assign(call, { reasons });
}

test("ask ends when its signal is aborted, and when its time is over", async () => {
  const model = hangs();
  const controller = new AbortController();
  const reason = new Error("the user left");
  setTimeout(() => controller.abort(reason), 5);
  await assert.rejects(ask(list, model, "", { signal: controller.signal }), reason);
  const late = {
    name: SeamgateFault.name,
    code: "timeout",
    detail: { limit: 5 },
    message: /^ask took longer than 5 ms/,
  };
  await assert.rejects(ask(list, model, "", { timeoutMs: 5 }), late);
  // A client that does not look at its signal.
  await assert.rejects(
    ask(list, () => new Promise(() => {}), "", { timeoutMs: 5 }),
    late,
  );
  const never = z.int().refine(() => new Promise(() => {}));
  await assert.rejects(
    ask(never, () => "1", "", { timeoutMs: 5 }),
    late,
  );
  assert.deepEqual([model.reasons[0], model.reasons[1].code], [reason, "timeout"]);
  // One that is aborted before is not even asked.
  let asked = 0;
  const count = () => {
    asked += 1;
    return "[1]";
  };
  await assert.rejects(ask(list, count, "", { signal: AbortSignal.abort(reason) }), reason);
  assert.equal(asked, 0);
  const { signal } = controller;
  assert.equal((await ask(list, count, "", { signal: new AbortController().signal, timeoutMs: 60_000 })).success, true);
  assert.equal(signal.aborted, true);
  // Each attempt is numbered.
  const attempts = [];
  await ask({ ...list, retry: { limit: 2 } }, (_, { attempt }) =>
    attempts.push(attempt) > 2 ? "[1]" : `${"[".repeat(attempt)}`,
  );
  assert.deepEqual(attempts, [1, 2, 3]);
});
