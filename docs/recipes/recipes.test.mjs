// Tests the recipe in JavaScript: which calls are denied, asked about and executed, and what the model reads.

import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "./ai_sdk_loop.mjs";

test("Vercel AI SDK", async () => {
  const done = await run("anna");
  // Nothing that needs a person ran before one decided, and after that it ran once.
  assert.deepEqual(done.before, ["search_logs"]);
  assert.deepEqual(done.executed, ["search_logs", "restart_service"]);
  assert.equal(done.views.length, 1);
  assert.match(done.views[0], /\ntool: restart_service\neffect: effectful\n(why: [^\n]*\n)+for: joe\n/);
  assert.match(done.views[0], /arguments: \{"service":"cart"\}/);
  const [logs, denied, restarted] = done.told;
  assert.match(logs, /11 hidden characters, escaped/);
  assert.match(logs, /like an instruction/);
  assert.match(logs, /Labels: untrusted/);
  assert.doesNotMatch(done.told.join(), /\p{Cf}/u);
  assert.match(denied, /^Call denied: "delete_logs" is not available in the mode "diagnose"\./);
  assert.match(restarted, /\{"restarted":"cart"\}/);
});

test("approved by who may not", async () => {
  const done = await run("mallory");
  assert.deepEqual(done.executed, ["search_logs"]);
  assert.equal(done.told.at(-1), '"restart_service" needs approval');
});
