// Builds the application, starts it, and asks all routes.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";

const next = createRequire(import.meta.url).resolve("next/dist/bin/next");
const env = { ...process.env, NEXT_TELEMETRY_DISABLED: "1" };
const built = spawnSync(process.execPath, [next, "build"], { env, stdio: "inherit" });
assert.equal(built.status, 0);
const server = spawn(process.execPath, [next, "start", "--port", "0"], { env });
let said = "";
try {
  const origin = await new Promise((resolve, reject) => {
    server.stdout.setEncoding("utf8").on("data", (text) => {
      said += text;
      const found = /http:\/\/localhost:\d+/.exec(said);
      if (found && said.includes("Ready")) resolve(found[0]);
    });
    server.once("exit", () => reject(new Error(said)));
  });
  for (const [route, backend] of [
    ["node", process.platform === "linux" && process.arch === "x64" ? "native" : "webassembly"],
    ["edge", "webassembly"],
  ]) {
    const post = (body) => fetch(`${origin}/api/${route}`, { method: "POST", body });
    const good = await post('Here it is:\n```json\n{"sku": "A-7", "count": 2}\n```');
    const { feedback: _, ...told } = await good.json();
    assert.deepEqual(told, { backend, disposition: "accepted", data: { sku: "A-7", count: 2 } });
    const bad = await post('{"count": "two"}');
    assert.equal(bad.status, 422);
    assert.match((await bad.json()).feedback, /\$\.count/);
    console.log(`${route}: ${backend}`);
  }
  // The route that asks a model: the order as it comes, of both attempts, and then as the schema types it.
  const streamed = await fetch(`${origin}/api/ask`, { method: "POST", body: "Two of A-7." });
  const lines = (await streamed.text()).trimEnd().split("\n").map((line) => JSON.parse(line));
  assert.deepEqual(lines.at(-1), { pieces: 2, of: "A-7" });
  const partial = lines.slice(0, -1).map((line) => line.partial.count);
  assert.deepEqual(partial, [undefined, 0, undefined, undefined, 2]);
  // The spans are in those of Next.js, although routes and instrumentation.ts have bundles of their own.
  for (const name of ["seamgate.validate", "seamgate.ask", "POST /api/ask"]) {
    while (!said.includes(`name: '${name}'`)) await once(server.stdout, "data");
  }
  console.log("ask: streamed, retried, traced");
} finally {
  server.kill();
}
