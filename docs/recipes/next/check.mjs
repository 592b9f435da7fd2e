// Builds the application, starts it, and asks both routes.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { createRequire } from "node:module";

const next = createRequire(import.meta.url).resolve("next/dist/bin/next");
const env = { ...process.env, NEXT_TELEMETRY_DISABLED: "1" };
const built = spawnSync(process.execPath, [next, "build"], { env, stdio: "inherit" });
assert.equal(built.status, 0);
const server = spawn(process.execPath, [next, "start", "--port", "0"], { env });
try {
  const origin = await new Promise((resolve, reject) => {
    let said = "";
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
} finally {
  server.kill();
}
