// A step that needs texts again: the run of tests/runs/state/need, in handlers whose context is an object of this test. CASE is its folder.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { Gate } from "seamgate";
import { services } from "./runs.mjs";

test("a step that needs texts again loads the journal once, and is made", async () => {
  const read = (...name) => readFileSync(path.join(process.env.CASE, ...name), "utf8");
  const gate = await Gate.load();
  const { agent } = gate.registerProfile(read("..", "profile.json"));
  const [{ object: handlers }] = services(gate, { model: assert.fail, tools: {} });
  const state = new Map();
  let [now, loads, asked] = [1790000000000, 0, undefined];
  const messages = (_target, name) => (given) => {
    if (name === "ask") asked = given.action.key;
    return { invocationId: Promise.resolve("inv") };
  };
  const client = () => new Proxy({}, { get: messages });
  const ctx = {
    key: "r1",
    date: { now: async () => (now += 1000) },
    get: async (key) => JSON.parse(state.get(key) ?? "null"),
    set: (key, value) => state.set(key, JSON.stringify(value)),
    stateKeys: async () => {
      loads += 1;
      return [...state.keys()];
    },
    run: async (_name, made) => made(),
    objectSendClient: client,
    serviceSendClient: client,
  };
  for (const line of read("events.ndjson").trim().split("\n")) {
    const { type, run, nonce, ...event } = JSON.parse(line);
    if (type === "started") await handlers.start(ctx, { ...event, agent });
    // The handler itself reports what it sends.
    else if (type !== "tool_started")
      await handlers[type](ctx, event.key === "$model" ? { ...event, key: asked } : event);
  }
  assert.equal((await ctx.get("finish")).status, "final");
  assert.equal(loads, 1);
});
