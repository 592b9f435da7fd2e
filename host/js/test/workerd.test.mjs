// The example of a Worker in workerd, the runtime of Cloudflare Workers, as its own program.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Gate } from "seamgate";

const here = fileURLToPath(new URL("..", import.meta.url));
const dist = path.join(here, "node_modules/seamgate/dist");
const folder = mkdtempSync(path.join(tmpdir(), "seamgate-workerd-"));
let runtime;
let skip = false;
let origin;

/** Does the work of a bundler: lists all modules by name, with WebAssembly modules marked as such. */
function configuration() {
  const embedded = (name, kind, file) => `(name = "${name}", ${kind} = embed "${path.relative(folder, file)}")`;
  const files = readdirSync(dist, { recursive: true }).map(String).sort();
  const modules = files
    .filter((file) => /\.(js|wasm)$/.test(file) && !/^(node|browser|worker-(node|browser))\.js$/.test(file))
    .map((file) => {
      const name = file === "workerd.js" ? "seamgate/workerd" : `seamgate/${file}`;
      return embedded(name, file.endsWith(".wasm") ? "wasm" : "esModule", path.join(dist, file));
    });
  const main = embedded("worker.js", "esModule", path.join(here, "examples/worker/worker.js"));
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [
    ${[main, ...modules].join(",\n    ")}
  ],
  compatibilityDate = "2026-01-01",
);
`;
}

before(async () => {
  let program;
  try {
    const { default: workerd } = await import("workerd");
    program = workerd.default;
  } catch (error) {
    // There is no workerd for this machine.
    skip = `workerd does not run here: ${error.message.split("\n")[0]}`;
    return;
  }
  const config = path.join(folder, "config.capnp");
  writeFileSync(config, configuration());
  runtime = spawn(program, ["serve", config, "--control-fd=3"], { stdio: ["ignore", "inherit", "inherit", "pipe"] });
  const port = await new Promise((resolve, reject) => {
    runtime.once("error", reject);
    runtime.once("exit", (code) => reject(new Error(`workerd exited with ${code}`)));
    runtime.stdio[3].on("data", (line) => resolve(JSON.parse(line).port));
  });
  origin = `http://127.0.0.1:${port}`;
});

after(() => {
  runtime?.kill();
  rmSync(folder, { recursive: true, force: true });
});

test("a Worker gives the same bytes as Node, and faults that say what", async (context) => {
  if (skip) return context.skip(skip);
  const contract = {
    agent: "greeter",
    schema: { type: "object", required: ["greeting"], properties: { greeting: { type: "string", maxLength: 40 } } },
  };
  const gate = await Gate.load();
  const post = (agent, body) => fetch(`${origin}/${agent}`, { method: "POST", body });
  for (const output of ['{"greeting":"Good morning"}', "none", new Uint8Array([0x22, 0xff, 0x22])]) {
    const response = await post("greeter", output);
    assert.equal(response.status, 200);
    assert.equal(await response.text(), gate.validate(contract, output).report.json);
  }
  const unknown = await post("nobody", "1");
  assert.equal(unknown.status, 404);
  assert.deepEqual((await unknown.json()).detail, { agents: ["greeter"] });
  assert.equal((await post("greeter", "x".repeat(1024 * 1024 + 1))).status, 413);
  assert.equal((await fetch(origin)).status, 405);
});
