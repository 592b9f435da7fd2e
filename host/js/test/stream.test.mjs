// Answers that are still coming: partial documents, items with their values, the streams of clients, and `askStream`.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { ask, askStream, Gate, SeamgateFault, WorkerGate } from "seamgate";
import { z } from "zod";
import { read, root } from "./shared.mjs";

const gate = await Gate.load();
gate.register({ agent: "any", schema: true });
gate.register({ agent: "items", schema: { type: "array", items: { type: "object" } }, items: { path: "$[*]" } });

/** Numbers that are the same each time. */
function random(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const WORDS = [
  "",
  "a",
  "é",
  "😀",
  "\\",
  '"',
  "\n",
  "\u0000",
  "{",
  "]",
  "```json",
  "\u2028",
  "a\\u00e9",
  "x".repeat(40),
  "__proto__",
];

function value(below, depth) {
  switch (below(depth > 4 ? 5 : 8)) {
    case 0:
      return below(1000) / 8;
    case 1:
      return [true, false, null][below(3)];
    case 2:
    case 3:
    case 4:
      return WORDS[below(WORDS.length)] + WORDS[below(WORDS.length)];
    case 5:
      return Array.from({ length: below(4) }, () => value(below, depth + 1));
    default:
      return Object.fromEntries(
        Array.from({ length: below(4) }, (_, at) => [WORDS[below(WORDS.length)] + at, value(below, depth + 1)]),
      );
  }
}

/** A text in pieces, which may end within a character. */
function cut(text, below) {
  const pieces = [];
  for (let at = 0; at < text.length; ) {
    const length = 1 + below(7);
    pieces.push(text.slice(at, at + length));
    at += length;
  }
  return pieces;
}

/** Returns whether one value is the beginning of another. */
function isBeginning(part, whole) {
  if (typeof part === "string") return typeof whole === "string" && whole.startsWith(part);
  if (Array.isArray(part)) return part.length <= whole.length && part.every((item, at) => isBeginning(item, whole[at]));
  if (typeof part === "object" && part !== null) {
    const names = Object.keys(part);
    return names.every((name) => Object.hasOwn(whole, name) && isBeginning(part[name], whole[name]));
  }
  return part === whole;
}

test("a partial document is the beginning of the document, however it is cut", () => {
  const around = [
    (json) => json,
    (json) => `\ufeff \n${json}\n`,
    (json) => `Here it is:\n\`\`\`json\n${json}\n\`\`\`\nThat is all.`,
    (json) => `<think>It may be \`{"a":1}\`, or:\n\`\`\`json\n{"b": 2}\n\`\`\`\n</think>\n${json}`,
    (json) => `~~~JSON\r\n  ${json}\r\n~~~`,
  ];
  for (let seed = 1; seed <= 300; seed += 1) {
    const below = random(seed);
    const document = seed % 2 === 0 ? [value(below, 0)] : { a: value(below, 0), b: value(below, 0) };
    const json = JSON.stringify(document, undefined, seed % 3);
    const text = around[seed % around.length](json);
    const session = gate.session("any");
    for (const piece of seed % 5 === 0
      ? [...new TextEncoder().encode(text)].map((byte) => new Uint8Array([byte]))
      : cut(text, below)) {
      session.push(piece);
      const { partial } = session;
      assert.ok(partial === undefined || isBeginning(partial, document), `${seed}: ${JSON.stringify(partial)} ${json}`);
    }
    assert.deepEqual(session.partial, document, `${seed}: ${text}`);
    const { report } = session.finish("stop");
    assert.equal(report.json, gate.validate("any", text, { finish: "stop" }).report.json);
    assert.deepEqual(report.data, document);
  }
});

test("what is no JSON has no partial document, or one as far as it was", () => {
  for (const [text, expected] of [
    ["", undefined],
    ["no JSON", undefined],
    ["17", undefined],
    ["{'a': 1}", {}],
    ['{"a": 1, b: 2}', { a: 1 }],
    ['{"a": tru', {}],
    ['{"a": 12', {}],
    ['{"a": "b\\', { a: "b" }],
    ['{"a": "b\\u00e', { a: "b" }],
    ['{"a": "\\ud83d', { a: "" }],
    ['{"a": {"b": [1, [2, "x', { a: { b: [1, [2, "x"]] } }],
    ['{"__proto__": {"x": 1}}', JSON.parse('{"__proto__": {"x": 1}}')],
    ["[".repeat(10_000), "deep"],
    ['```json\n{"a":1}\n```\nNo, better:\n```json\n{"b":', {}],
  ]) {
    const session = gate.session("any");
    session.push(text);
    if (expected === "deep") assert.ok(Array.isArray(session.partial));
    else assert.deepEqual(session.partial, expected, text);
    session.close();
  }
  assert.equal({}.x, undefined);
});

test("items come with their values, at their places", () => {
  const text = '😀 So:\n```json\n[{"é":"😀"},  {"n":1}, {"a":[1,2]}]\n```';
  for (const size of [1, 2, 5, 100]) {
    const session = gate.session("items");
    const items = [];
    for (let at = 0; at < text.length; at += size) items.push(...session.push(text.slice(at, at + size)).items);
    assert.deepEqual(
      items.map(({ value }) => value),
      [{ é: "😀" }, { n: 1 }, { a: [1, 2] }],
    );
    for (const { text: own, textSpan } of items) assert.equal(text.slice(...textSpan), own);
    assert.deepEqual(Object.keys(items[0]).sort(), ["candidate", "index", "span"]);
    session.close();
  }
});

async function* later(items) {
  for (const item of items) {
    await undefined;
    yield item;
  }
}

const answer = '{"count":2}';
const [first, second] = [answer.slice(0, 5), answer.slice(5)];
const chat = (delta, finish_reason = null) => ({ choices: [{ index: 0, delta, finish_reason }] });

/** Streams of clients, with the reason why the model stopped. */
const streams = {
  text: () => [later([first, second]), "unknown"],
  "a list of texts": () => [[first, second], "unknown"],
  bytes: () => [later([first, second].map((text) => new TextEncoder().encode(text))), "unknown"],
  "a stream of the platform": () => [ReadableStream.from([first, second]), "unknown"],
  "a reader alone": () => {
    const stream = ReadableStream.from([first, second]);
    return [{ getReader: () => stream.getReader() }, "unknown"];
  },
  "OpenAI, chat completions": () => [
    later([
      chat({ role: "assistant", content: "" }),
      chat({ content: first }),
      chat({ content: second }),
      chat({}, "stop"),
      { choices: [], usage: {} },
    ]),
    "stop",
  ],
  "OpenAI, responses": () => [
    later([
      { type: "response.created", response: {} },
      { type: "response.output_text.delta", delta: first },
      { type: "response.output_text.delta", delta: second },
      { type: "response.completed", response: { status: "completed" } },
    ]),
    "completed",
  ],
  "Anthropic, messages": () => [
    later([
      { type: "message_start", message: {} },
      { type: "content_block_delta", delta: { type: "text_delta", text: first } },
      { type: "content_block_delta", delta: { type: "text_delta", text: second } },
      { type: "message_delta", delta: { stop_reason: "end_turn" } },
      { type: "message_stop" },
    ]),
    "end_turn",
  ],
  "AI SDK, streamText": () => [
    { textStream: later([first, second]), finishReason: Promise.resolve("stop"), usage: {} },
    "stop",
  ],
  "AI SDK, fullStream": () => [
    later([
      { type: "start" },
      { type: "text-delta", id: "1", text: first },
      { type: "text-delta", id: "1", text: second },
      { type: "finish", finishReason: "stop" },
    ]),
    "stop",
  ],
  "a whole text": () => [answer, "unknown"],
  "a whole response": () => [{ choices: [{ message: { content: answer }, finish_reason: "stop" }] }, "stop"],
};

const Count = z.object({ count: z.int().refine((n) => n % 2 === 0, "must be even") });

for (const [name, make] of Object.entries(streams)) {
  test(`a stream is read: ${name}`, async () => {
    const [stream, finish] = make();
    const events = [];
    for await (const event of askStream(Count, () => stream)) events.push(event);
    const { result } = events.at(-1);
    assert.deepEqual([result.success, result.data], [true, { count: 2 }]);
    assert.deepEqual(events.map(({ type }) => type).slice(-2), ["attempt", "result"]);
    assert.equal(result.attempts[0].reply, stream);
    const whole = gate.validate({ agent: "a", schema: Count }, answer, { finish }).report;
    assert.deepEqual(result.report.output, whole.output);
    // A session takes the same.
    const [again] = make();
    const session = gate.session("any");
    const partials = [];
    for await (const { partial, completeness } of session.read(again))
      partials.push([structuredClone(partial), completeness]);
    assert.deepEqual(partials.at(-1)[0], { count: 2 });
    assert.equal(session.finish().report.json, gate.validate("any", answer, { finish }).report.json);
  });
}

const elsewhere = {
  "in prose": [{ embedded: "single" }, "I found: ", "\n\nThat is all."],
  "in a block with another marker": [{ markers: ["result"] }, "```json\n{}\n```\n```result\n", "\n```\n"],
  "behind another kind of reasoning": [{ ignore: [{ begin: "<|plan|>", end: "<|done|>" }] }, "<|plan|>é {<|done|>", ""],
  "behind text of more than one byte a character": [{ embedded: "single" }, "Ä 😀 — ", ""],
};
for (const [name, [extract, before, after]] of Object.entries(elsewhere)) {
  test(`the document that grows is the one that the gate follows: ${name}`, () => {
    const agent = name.replaceAll(" ", "-");
    gate.register({ agent, schema: true, extract, items: { path: "$.rows[*]", schema: true } });
    const document = { rows: [{ n: 1 }, { n: 2 }], note: "é" };
    for (let seed = 1; seed < 20; seed += 1) {
      const session = gate.session(agent);
      const seen = [];
      for (const piece of cut(before + JSON.stringify(document) + after, random(seed))) {
        const { items } = session.push(piece);
        seen.push(...items.map(({ value }) => value));
        if (seen.length > 0) assert.ok(isBeginning(session.partial, document), JSON.stringify(session.partial));
      }
      assert.deepEqual([seen, session.partial], [document.rows, document]);
      assert.deepEqual(session.finish("stop").report.output, document);
    }
  });
}

test("a refusal and an error of the stream, and what is no stream", async () => {
  const refused = await askStream(Count, () =>
    later([chat({ refusal: "I " }), chat({ refusal: "won't." }), chat({}, "stop")]),
  ).result();
  assert.deepEqual([refused.disposition, refused.refusal], ["refused", "I won't."]);
  const error = { type: "overloaded_error" };
  await assert.rejects(
    askStream(Count, () => later([{ type: "error", error }])).result(),
    (thrown) => thrown === error,
  );
  const broken = new Error("no network");
  const breaks = (async function* () {
    yield "{";
    throw broken;
  })();
  await assert.rejects(askStream(Count, () => breaks).result(), broken);
  for (const reply of [null, undefined, 1, {}, later([1]), later([null]), later([{}])]) {
    await assert.rejects(askStream(Count, () => reply).result(), TypeError);
  }
  await assert.rejects(askStream(Count, "hi").result(), /^TypeError: `callLlm` must be/);
  await assert.rejects(
    askStream(Count, () => "", "", { stopearly: true }).result(),
    /^TypeError: `options` has no member `stopearly`/,
  );
});

for (const name of readdirSync(new URL("tests/ask/cases", root))) {
  test(`the result is the same as without a stream: ${name}`, async () => {
    const { contract, prompt, replies } = JSON.parse(read(`tests/ask/cases/${name}`));
    const texts = replies.filter((reply) => typeof reply === "string");
    if (texts.length !== replies.length) return;
    const script = () => {
      let at = -1;
      return () => {
        at += 1;
        return texts[at];
      };
    };
    const whole = await ask(contract, script(), prompt);
    const next = script();
    const streamed = await askStream(contract, () => later(cut(next(), random(7))), prompt).result();
    const bare = ({ usage: _, attempts, ...rest }) => [
      JSON.stringify(rest),
      attempts.map(({ report, violations, feedback }) => JSON.stringify([report, violations, feedback])),
    ];
    assert.deepEqual(bare(streamed), bare(whole));
  });
}

test("partial documents and items are seen as they come, attempt by attempt", async () => {
  const List = z.object({ items: z.array(z.object({ id: z.string(), n: z.int() })) });
  const contract = { items: { path: "$.items[*]", key: "id" } };
  const texts = ['{"items":[{"id":"a","n":1},{"id":"b","n":"x"}]}', '{"items":[{"id":"b","n":2}]}'];
  const seen = [];
  const stream = askStream(List, (_, { attempt }) => later(cut(texts[attempt - 1], random(3))), "", { contract });
  for await (const event of stream) {
    if (event.type === "progress") {
      for (const { value } of event.items) seen.push([event.attempt, value]);
      assert.ok(event.partial === undefined || isBeginning(event.partial, JSON.parse(texts[event.attempt - 1])));
    }
  }
  assert.deepEqual(seen, [
    [1, { id: "a", n: 1 }],
    [1, { id: "b", n: "x" }],
    [2, { id: "b", n: 2 }],
  ]);
  assert.deepEqual((await stream.result()).data, JSON.parse('{"items":[{"id":"a","n":1},{"id":"b","n":2}]}'));
});

test("who leaves the loop aborts the request, and so does the time", async () => {
  const signals = [];
  const endless = (_, { signal }) => {
    signals.push(signal);
    return (async function* () {
      for (;;) {
        await new Promise((resolve) => setTimeout(resolve, 1));
        yield "[";
      }
    })();
  };
  const stream = askStream(Count, endless);
  for await (const { type } of stream) {
    assert.equal(type, "progress");
    break;
  }
  assert.equal(signals[0].aborted, true);
  await assert.rejects(stream.result(), /^TypeError: the stream has no result: it was left before its end/);
  const late = { name: SeamgateFault.name, code: "timeout", detail: { limit: 20 } };
  await assert.rejects(askStream(Count, endless, "", { timeoutMs: 20 }).result(), late);
  const stuck = () => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) });
  await assert.rejects(askStream(Count, stuck, "", { timeoutMs: 20 }).result(), late);
  const reason = new Error("left");
  await assert.rejects(askStream(Count, endless, "", { signal: AbortSignal.abort(reason) }).result(), reason);
  assert.equal(signals.at(-1).aborted, true);
  const done = [];
  const good = (_, { signal }) => {
    done.push(signal);
    return later([answer]);
  };
  assert.equal((await askStream(Count, good).result()).success, true);
  assert.equal(done[0].aborted, false);
});

test("an answer that can no longer become right is left early, if that is wanted", async () => {
  const extract = { markers: [] };
  const contract = { agent: "small", schema: true, extract, caps: { depth: 2 }, retry: { limit: 1 } };
  const long = `[[["${"x".repeat(500)}"]]]`;
  const read = [0, 0];
  const model =
    (which) =>
    (_, { attempt }) =>
      attempt === 2
        ? "{}"
        : (async function* () {
            for (const character of long) {
              read[which] += 1;
              yield character;
            }
          })();
  const whole = await askStream(contract, model(0)).result();
  const early = await askStream(contract, model(1), "", { stopEarly: true }).result();
  assert.deepEqual([whole.success, early.success, early.attempts.length], [true, true, 2]);
  assert.equal(read[0], long.length);
  assert.ok(read[1] < 60, `${read[1]}`);
  const [violation] = early.attempts[0].violations;
  assert.deepEqual([violation.keyword, whole.attempts[0].violations[0].keyword], ["caps.depth", "caps.depth"]);
  assert.match(early.attempts[0].feedback, /- at \$: it is nested deeper than 2 levels\.\nSend the whole/);
});

test("hooks are told of each attempt and of each verdict", async () => {
  const verdicts = [];
  const told = await Gate.load({
    onVerdict: ({ report, usage }) => verdicts.push([report.disposition, usage.fuel > 0]),
  });
  const attempts = [];
  const onAttempt = ({ violations }) => attempts.push(violations.map(({ keyword }) => keyword));
  const script = ["no JSON", '{"count":3}', answer];
  const contract = { retry: { limit: 2 } };
  const options = { gate: told, contract, onAttempt };
  await ask(Count, (_, { attempt }) => script[attempt - 1], "", options);
  await askStream(Count, (_, { attempt }) => later([script[attempt - 1]]), "", options).result();
  const once = [["extract"], ["custom"], []];
  assert.deepEqual(attempts, [...once, ...once]);
  assert.deepEqual(
    verdicts.map(([disposition]) => disposition),
    Array(2).fill(["rejected", "accepted", "accepted"]).flat(),
  );
  verdicts.length = 0;
  told.register({ agent: "any", schema: { type: "object" } });
  told.validate("any", "{}");
  told.instance().validate("any", "[]");
  const session = told.session("any");
  session.push("{}");
  session.finish();
  told.merge([gate.validate({ agent: "any", schema: { type: "object" } }, "{}").report]);
  assert.deepEqual(verdicts, [
    ["accepted", true],
    ["rejected", true],
    ["accepted", true],
    ["accepted", true],
  ]);
  const workers = await WorkerGate.load({ workers: 1, onVerdict: ({ report }) => verdicts.push(report.disposition) });
  await workers.validateAll([1, 2].map((n) => ({ agent: { agent: "any", schema: true }, output: `${n}` })));
  await workers.close();
  assert.deepEqual(verdicts.slice(4), ["accepted", "accepted"]);
  for (const options of [{ onVerdict: 1 }]) {
    await assert.rejects(Gate.load(options), /^TypeError: `onVerdict` must be a function/);
    await assert.rejects(WorkerGate.load(options), /^TypeError: `onVerdict` must be a function/);
  }
  await assert.rejects(
    ask(Count, () => "", "", { onAttempt: 1 }),
    /^TypeError: `onAttempt` must be a function/,
  );
  const stop = new Error("stop");
  const throws = () => {
    throw stop;
  };
  await assert.rejects(
    ask(Count, () => answer, "", { onAttempt: throws }),
    stop,
  );
});
