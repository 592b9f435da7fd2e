import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { backend, Gate, SeamgateFault } from "seamgate";
import { read, root } from "./shared.mjs";

const folders = (path) =>
  readdirSync(new URL(path, root), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => `${path}/${entry.name}`);

const optional = (path) => {
  try {
    return read(path);
  } catch {
    return undefined;
  }
};

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

// RFC 7396, the members in ascending order.
const merged = (whole, patch) => {
  if (!isObject(patch)) {
    return patch;
  }
  const members = isObject(whole) ? { ...whole } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) {
      delete members[name];
    } else {
      members[name] = merged(members[name], value);
    }
  }
  return members;
};

const sorted = (value) => {
  if (Array.isArray(value)) {
    return value.map(sorted);
  }
  return isObject(value)
    ? Object.fromEntries(
        Object.keys(value)
          .sort()
          .map((name) => [name, sorted(value[name])]),
      )
    : value;
};

const profileOf = (group, folder) => {
  const profile = optional(`${folder}/profile.json`) ?? read(`${group}/profile.json`);
  const patch = optional(`${folder}/patch.json`);
  return patch === undefined ? profile : JSON.stringify(sorted(merged(JSON.parse(profile), JSON.parse(patch))));
};

const sha256 = (text) => `sha256:${createHash("sha256").update(text).digest("hex")}`;
const withoutPrompt = ({ prompt, ...action }) => action;

// `cargo xtask runtimes` asks the fallback each of these steps, too.
const elsewhere = { skip: backend === "native" ? false : "`cargo xtask runtimes` asks this backend all of it" };

test("every run leads to the same states", elsewhere, async () => {
  let steps = 0;
  for (const group of folders("tests/runs")) {
    for (const folder of folders(group)) {
      const journal = optional(`${folder}/journal.ndjson`);
      // Long lines are cut there, and a changed state is not an event.
      const isChanged = (line) => line.trim() !== "" && JSON.parse(line).state !== undefined;
      const isWhole = journal !== undefined && !journal.includes("bytes, sha256:");
      if (!isWhole || read(`${folder}/events.ndjson`).split("\n").some(isChanged)) {
        continue;
      }
      const gate = await Gate.load();
      const { agent } = gate.registerProfile(profileOf(group, folder));
      const instance = gate.instance();
      let step;
      let made = [];
      for (const text of journal.trimEnd().split("\n")) {
        const line = JSON.parse(text);
        if (line.event !== undefined) {
          // As it is written: numbers keep their digits.
          step = instance.advance(agent, step?.state, text.slice('{"event":'.length, -1));
          made = [...step.records, ...step.actions.map(withoutPrompt)];
          steps += 1;
        } else if (line.state !== undefined) {
          assert.deepEqual(made, [], folder);
          assert.equal(sha256(step.state), line.state.digest, folder);
          assert.equal(step.wakeAt ?? null, line.state.wake_at, folder);
        } else if (line.record !== undefined || line.action !== undefined) {
          assert.deepEqual(made.shift(), withoutPrompt(line.record ?? line.action), folder);
        }
      }
    }
  }
  assert(steps > 20);
});

test("a step needs the state of the step before", async () => {
  const gate = await Gate.load();
  gate.registerProfile({ agent: "a", tools: [{ name: "t", effect: "read", permit: "allow" }] });
  const started = { type: "started", at: 1, run: "r", principal: "p", nonce: "c0ffee00c0ffee00" };
  const step = gate.advance("a", undefined, started);
  assert.equal(step.step, 1);
  const tick = { type: "tick", at: 2 };
  for (const state of [undefined, "{}", step.state.replace('"format":1', '"format":2')]) {
    assert.throws(
      () => gate.advance("a", state, tick),
      (error) => error instanceof SeamgateFault && error.code === "bad_request",
    );
  }
  const call = { type: "call", at: 2, tool: "t", arguments: {} };
  assert.deepEqual(
    gate.advance("a", step.state, call).actions.map(({ type }) => type),
    ["execute"],
  );
});

test("an audience without a view sees nothing", async () => {
  const gate = await Gate.load();
  gate.registerProfile({ agent: "a", tools: [], projections: { audit: {} } });
  const line = { event: { type: "tick", at: 2 } };
  assert.deepEqual(gate.project("a", line, "audit"), { type: "tick", at: 2 });
  assert.equal(gate.project("a", line, "user"), null);
});
