import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { backend, bake, Gate, JournalError, LoadError, Run, readContracts, SeamgateFault } from "seamgate";
import { example, output, root } from "./shared.mjs";

const native = { skip: backend !== "native" && "it is only in the native addon" };
const anything = { agent: "any", schema: true };
const folder = (name) => fileURLToPath(new URL(name, root));

/** Runs work in a temporary folder. */
async function within(work) {
  const made = mkdtempSync(path.join(tmpdir(), "seamgate-"));
  try {
    return await work(made);
  } finally {
    rmSync(made, { recursive: true });
  }
}

test("the backend is the one that was asked for", async () => {
  assert.equal((await Gate.load()).backend, backend);
  assert.equal(backend, process.env.SEAMGATE_BACKEND || backend);
});

test("a session gives the verdict on the whole text, however it is cut", async () => {
  const gate = await Gate.load();
  gate.register(example("triage"));
  gate.register(anything);
  for (const [agent, whole] of [
    ["triage", output("triage.good")],
    ["triage", output("triage.partial-one-broken")],
    ["any", '["ä","\u{1f600}", 1'],
    ["any", '["\ud83d", 1]'],
  ]) {
    const expected = gate.validate(agent, whole, { finish: "stop" }).report;
    for (const size of [1, 7, 1000]) {
      const session = gate.session(agent);
      for (let at = 0; at < whole.length; at += size) session.push(whole.slice(at, at + size));
      const { report } = session.finish("end_turn");
      assert.equal(report.json, expected.json);
      assert.equal(report.raw, expected.raw);
      assert.throws(() => session.push("x"));
    }
    const bytes = Buffer.from(whole);
    const session = gate.session(agent);
    for (const byte of bytes) session.push(Uint8Array.of(byte));
    assert.equal(session.finish("stop").report.json, gate.validate(agent, bytes, { finish: "stop" }).report.json);
  }
  const dead = gate.session("triage").push("```json\n{");
  assert.equal(dead.completeness, "in_flight");
  assert.throws(() => gate.session("nobody"), { code: "unknown_agent" });
});

test("there can be more sessions and instances than slots", async () => {
  const gate = await Gate.load();
  gate.register(anything);
  const sessions = Array.from({ length: 100 }, () => gate.session("any"));
  const instances = Array.from({ length: 100 }, () => gate.instance());
  for (const instance of instances) assert.equal(instance.validate("any", "1").report.success, true);
  for (const session of sessions) session.push("[1");
  for (const session of sessions) session.push(", 2]");
  for (const session of sessions) assert.deepEqual(session.finish().report.data, [1, 2]);
  for (const instance of instances) assert.equal(instance.validate("any", "1").report.success, true);
});

test("attempts are merged", async () => {
  const gate = await Gate.load();
  const schema = { type: "array", items: { type: "integer" } };
  gate.register({ agent: "list", schema, items: { path: "$[*]" } });
  const reports = ['[1, "two", 3]', "[2]"].map((text) => gate.validate("list", text).report);
  assert.deepEqual(gate.merge(reports).report.data, [1, 2, 3]);
  assert.throws(() => gate.merge([]), { code: "bad_request" });
});

test("the harness step asks again with what was wrong, and writes it down", native, () =>
  within(async (made) => {
    const gate = await Gate.load();
    gate.register({ ...example("cited-answer"), retry: { limit: 2 } });
    const told = [];
    const outputs = [output("cited-answer.bad-url"), { output: output("cited-answer.good"), finish: "end_turn" }];
    const produce = async (feedback, attempt) => {
      told.push(feedback);
      return outputs[attempt - 1];
    };
    const journal = path.join(made, "run.ndjson");
    const outcome = await gate.run("cited-answer", produce, { journal });
    assert.equal(outcome.stop, "accepted");
    assert.equal(outcome.attempts, 2);
    assert.deepEqual(outcome.data, outcome.report.data);
    assert.equal(told[0], null);
    assert.match(told[1], /\$\.citations\[0\]\.url/);
    const events = readFileSync(journal, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).event);
    assert.deepEqual(events, ["begin", "start", "attempt", "decision", "start", "attempt", "decision"]);
    // It is over: nobody is asked again.
    const again = await gate.run("cited-answer", assert.fail, { journal: { path: journal, resume: true } });
    assert.equal(again.report.json, outcome.report.json);
    const other = gate.run("cited-answer", produce, { journal: { path: journal, resume: true, prompt: "other" } });
    await assert.rejects(other, JournalError);
    const failing = () => Promise.reject(new RangeError("the model is away"));
    await assert.rejects(gate.run("cited-answer", failing), { name: "RangeError", message: "the model is away" });
    await assert.rejects(gate.run("nobody", produce), { code: "unknown_agent" });
  }),
);

test("contracts are baked, and nothing else is taken", native, async () => {
  const baked = await bake([example("triage"), anything]);
  const gate = await Gate.load({ component: baked });
  assert.deepEqual(gate.names(), ["any", "triage"]);
  const plain = await Gate.load();
  plain.register(example("triage"));
  assert.equal(
    gate.validate("triage", output("triage.good")).report.json,
    plain.validate("triage", output("triage.good")).report.json,
  );
  assert.throws(() => gate.register({ agent: "b", schema: true }), { code: "sealed" });
  await assert.rejects(bake(['{"agent":"a","schema":{"type":1}}']), { code: "bad_contract" });
  await assert.rejects(Gate.load({ component: new Uint8Array([1, 2, 3]) }), LoadError);
});

test("contracts come from files and folders", native, async () => {
  const gate = await Gate.load();
  for (const text of readContracts(folder("schemas/examples"))) gate.register(text);
  assert.ok(gate.names().includes("triage"));
  assert.deepEqual(readContracts(folder("schemas/examples/triage.contract.json")).length, 1);
  assert.throws(() => readContracts(folder("schemas/nothing")), { name: "FileError" });
});

test("a run has a journal that can be opened again", native, () =>
  within(async (made) => {
    const gate = await Gate.load();
    gate.registerProfile({ agent: "a", tools: [{ name: "t", effect: "read", permit: "allow" }] });
    const event = { type: "started", at: 1, run: "r", principal: "p", nonce: "c0ffee00c0ffee00" };
    const { run, actions } = Run.start(gate, made, "a", event);
    assert.deepEqual([actions, run.id, run.agent, run.step], [[], "r", "a", 1]);
    assert.equal(run.send({ type: "call", at: 2, tool: "t", arguments: {} })[0].type, "execute");
    assert.throws(() => run.send({ type: "nothing" }), SeamgateFault);
    const again = Run.open(gate, made);
    assert.deepEqual([again.state, again.step], [run.state, run.step]);
    assert.throws(() => Run.start(gate, made, "a", event), JournalError);
    assert.match(run.keep("text"), /^sha256:/);
  }),
);

test("a journal may be an object", native, async () => {
  const gate = await Gate.load();
  gate.registerProfile({ agent: "a", tools: [{ name: "t", effect: "read", permit: "allow" }] });
  const started = { type: "started", at: 1, run: "r", principal: "p", nonce: "c0ffee00c0ffee00" };
  const call = { type: "call", at: 2, tool: "t", arguments: {} };
  const kept = { lines: [], texts: new Map() };
  /** One writer of what is kept. */
  const writer = () => ({
    known: kept.lines.length,
    count() {
      return this.known;
    },
    lines: (from) => kept.lines.slice(from),
    append(expected, lines) {
      this.meanwhile?.();
      if (kept.lines.length !== expected) return false;
      kept.lines.push(...lines);
      this.known = kept.lines.length;
      return true;
    },
    put: (kind, digest, text) => kept.texts.set(`${kind} ${digest}`, text),
    get: (kind, digest) => kept.texts.get(`${kind} ${digest}`) ?? null,
  });
  const journal = writer();
  const { run } = Run.start(gate, journal, "a", started);
  const { snapshot } = run;
  assert.equal(run.send(call)[0].type, "execute");
  const again = Run.open(gate, writer());
  assert.equal(again.snapshot, run.snapshot);
  // A snapshot is as good, where it is of the last line.
  assert.equal(Run.restore(gate, writer(), run.snapshot).state, run.state);
  assert.throws(() => Run.restore(gate, writer(), snapshot).send(call), JournalError);
  assert.throws(() => Run.restore(gate, writer(), "{}"), {
    name: "JournalError",
    message: /its snapshot is not as it was made/,
  });
  assert.deepEqual([again.state, again.step, again.id], [run.state, run.step, "r"]);
  // The first writer learns of the other one.
  again.send({ ...call, at: 3 });
  assert.throws(() => run.send({ ...call, at: 4 }), JournalError);
  assert.throws(() => Run.start(gate, writer(), "a", started), JournalError);
  // What it throws arrives as it is, and nothing has happened.
  const [third, last] = [writer(), kept.lines.length];
  const other = Run.open(gate, third);
  const full = new RangeError("the disk is full");
  third.meanwhile = () => {
    throw full;
  };
  assert.throws(
    () => other.send({ ...call, at: 5 }),
    (error) => error === full,
  );
  assert.equal(kept.lines.length, last);
  // It cannot call the run that calls it.
  third.meanwhile = () => other.state;
  assert.throws(() => other.send({ ...call, at: 5 }), { name: "TypeError", message: /the run is at work/ });
  third.meanwhile = undefined;
  assert.equal(other.send({ ...call, at: 5 })[0].type, "execute");
});

test("a call has a deadline", native, async () => {
  const limits = { fuel: Number.MAX_SAFE_INTEGER };
  const gate = await Gate.load({ limits, deadlineMs: 100 });
  const doubling = readFileSync(folder("schemas/examples/hostile/doubling.contract.json"), "utf8");
  assert.throws(() => gate.validate(doubling, "{}"), { code: "timeout", detail: { limit: 100 } });
  await assert.rejects(Gate.load({ deadlineMs: 0 }), TypeError);
});

test("what only the addon has says so elsewhere", { skip: backend === "native" }, async () => {
  const gate = await Gate.load();
  gate.register(anything);
  const needs = { name: "LoadError", message: /needs the native addon/ };
  await assert.rejects(
    gate.run("any", () => "1"),
    needs,
  );
  await assert.rejects(bake([anything]), needs);
  await assert.rejects(Gate.load({ deadlineMs: 5 }), needs);
  await assert.rejects(Gate.load({ component: new Uint8Array(8) }), needs);
  assert.throws(() => readContracts("."), needs);
  assert.throws(() => Run.open(gate, "."), needs);
});

test("the command line comes with the package", () =>
  within(async (made) => {
    const bin = fileURLToPath(new URL("../node_modules/.bin/seamgate", import.meta.url));
    writeFileSync(path.join(made, "any.contract.json"), JSON.stringify(anything));
    const run = (input, ...args) => spawnSync(bin, args, { input, encoding: "utf8", cwd: made, timeout: 20_000 });
    const check = ["check", "-c", "any.contract.json"];
    if (backend !== "native") {
      const { status, stderr } = run("1", ...check);
      assert.deepEqual([status, /needs the native addon/.test(stderr)], [2, true]);
      return;
    }
    const accepted = run("1", ...check);
    assert.equal(accepted.status, 0, accepted.stderr);
    assert.equal(JSON.parse(accepted.stdout).disposition, "accepted");
    assert.equal(run("{", ...check).status, 1);
    assert.match(run("", "--version").stdout, /^seamgate \d/);
    const env = { ...process.env, TMPDIR: made };
    const demo = spawnSync(bin, ["demo"], { encoding: "utf8", cwd: made, env, timeout: 60_000 });
    assert.equal(demo.status, 0, demo.stdout + demo.stderr);
    assert.match(demo.stdout, /c3 refund: ok/);
    assert.equal(run("", "chekc").status, 2);
    // A reader that closes the pipe, and a signal, end it without a message.
    const closed = spawnSync("sh", ["-c", `"${bin}" --help | true`], { encoding: "utf8", timeout: 20_000 });
    assert.deepEqual([closed.status, closed.stderr], [0, ""]);
    const script = `"${bin}" check -c any.contract.json < fifo & sleep 1; kill -INT $!; wait $!; echo $?`;
    spawnSync("mkfifo", [path.join(made, "fifo")]);
    const ended = spawnSync("bash", ["-c", `set -m; exec 3<> fifo; ${script}`], {
      encoding: "utf8",
      cwd: made,
      timeout: 20_000,
    });
    assert.equal(ended.stdout.trim(), "130");
  }));
