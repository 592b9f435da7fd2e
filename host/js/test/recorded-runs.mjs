// Records runs with the addon, for the tests of receipts: `node recorded-runs.mjs FILE`. The cases of tests/runs, and runs with what a
// receipt must not change: numbers with many digits, large values, signed approvals.

import { generateKeyPairSync, sign } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { Gate, Run } from "seamgate";
import { root } from "./shared.mjs";

const START = { type: "started", at: 1_790_000_000_000, run: "r1", principal: "ben", nonce: "c0ffee00c0ffee00" };
const folders = (url) =>
  readdirSync(url, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => new URL(`${entry.name}/`, url));

/** A journal in memory. */
class Memory {
  texts = [];
  artifacts = {};
  count() {
    return this.texts.length;
  }
  lines(from) {
    return this.texts.slice(from);
  }
  append(_expected, lines) {
    this.texts.push(...lines);
    return true;
  }
  put(kind, digest, text) {
    if (kind === "artifact") this.artifacts[digest] = text;
  }
  get(kind, digest) {
    return kind === "artifact" ? (this.artifacts[digest] ?? null) : null;
  }
}

/** Plays events, which are texts or functions of the actions before, as far as they are taken. Undefined if the first one is not. */
async function record(name, profile, events) {
  const gate = await Gate.load();
  const journal = new Memory();
  const states = [];
  let run;
  try {
    const { agent } = gate.registerProfile(profile);
    let actions;
    for (const event of events) {
      const text = typeof event === "function" ? event(actions) : event;
      if (run === undefined) ({ run, actions } = Run.start(gate, journal, agent, text));
      else actions = run.send(text);
      states.push(run.state);
    }
  } catch (error) {
    if (error.name !== "SeamgateFault" && error.name !== "JournalError") throw error;
  }
  return run && { name, profile, states, lines: journal.texts, artifacts: journal.artifacts };
}

/** The cases whose profile and whole events stand in their folders as they are. */
function* cases() {
  const EVENT = '{"event":';
  for (const group of folders(new URL("tests/runs/", root))) {
    for (const folder of folders(group)) {
      const own = new URL("profile.json", folder);
      const profile = existsSync(own) ? own : new URL("profile.json", group);
      const file = new URL("journal.ndjson", folder);
      if (existsSync(new URL("patch.json", folder)) || !existsSync(file) || !existsSync(profile)) continue;
      const journal = readFileSync(file, "utf8");
      const document = readFileSync(profile, "utf8");
      // Long lines are cut there, and nobody signed for people with keys.
      if (journal.includes('"token":') || journal.includes("bytes, sha256:")) continue;
      const events = journal.split("\n").filter((line) => line.startsWith(EVENT));
      const name = decodeURI(folder.pathname.split("/").slice(-3, -1).join("/"));
      yield [name, document, events.map((line) => line.slice(EVENT.length, -1))];
    }
  }
}

const TOOLS = [
  { name: "look", effect: "read", permit: "allow" },
  { name: "pay", effect: "effectful", permit: { approval: { by: ["people"] } } },
  { name: "drop", effect: "effectful", permit: "deny" },
];
const profile = (anna) => JSON.stringify({ agent: "payer", tools: TOOLS, approvers: { people: [anna] } });

/** A call whose result is JSON text. */
const called = (at, call, args, result) => [
  `{"type":"call","at":${at},"tool":"look","arguments":${args}}`,
  `{"type":"tool_started","at":${at},"call":"${call}"}`,
  `{"type":"tool_result","at":${at},"call":"${call}",${result}}`,
];

function approved(at, key) {
  return (actions) => {
    const { key: call, digest } = actions[0].ask;
    const claims = { run: "r1", key: call, digest, decision: "approved", principal: "anna", exp: at / 1000 + 600 };
    const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const signed = `${part({ alg: "EdDSA" })}.${part(claims)}`;
    const token = key && { token: `${signed}.${sign(null, Buffer.from(signed), key).toString("base64url")}` };
    const { run: _, exp: __, ...decided } = claims;
    return JSON.stringify({ type: "approval", at, ...decided, ...token });
  };
}

function* own() {
  const at = START.at + 1000;
  const started = JSON.stringify(START);
  const call = (tool, args = {}) => JSON.stringify({ type: "call", at, tool, arguments: args });
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const { x } = publicKey.export({ format: "jwk" });
  const large = JSON.stringify("é".repeat(10_000));
  yield [
    "numbers",
    profile({ principal: "anna" }),
    [
      started,
      ...called(at, "c1", '{"n":9007199254740993,"x":1.0,"e":1e2}', '"result":{"n":9007199254740993,"x":1.0}'),
      ...called(at, "c2", '{"n":9007199254740992,"x":1}', '"result":[1234567890123456789]'),
    ],
  ];
  yield [
    "large values",
    profile({ principal: "anna" }),
    [
      started,
      ...called(at, "c1", "{}", `"result":{"n":1.0,"text":${large}}`),
      ...called(at, "c2", "{}", `"returned":{"content":[{"type":"text","text":${large}}]}`),
      ...called(at, "c3", "{}", `"text":${large}`),
      ...called(at, "c4", "{}", `"result":{"artifact":"sha256:0"}`),
      ...called(at, "c5", "{}", `"text":${JSON.stringify('<img src=x onerror=alert(1)> \u202e\u200b "\\ \u{1f600}')}`),
    ],
  ];
  yield [
    "signed approvals",
    profile({ principal: "anna", key: x }),
    [started, call("drop"), call("pay", { order: "secret-order" }), approved(at, privateKey), call("pay")],
  ];
  yield ["named approvals", profile({ principal: "anna" }), [started, call("pay"), approved(at), call("drop")]];
}

const runs = [];
for (const one of [...own(), ...cases()]) {
  const run = await record(...one);
  if (run !== undefined) runs.push(run);
}
writeFileSync(process.argv[2], JSON.stringify(runs));
