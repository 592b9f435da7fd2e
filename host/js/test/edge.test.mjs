// The package as edge runtimes take it, bundled with their conditions, and run where there is nothing of Node: in a context of its own,
// whose core modules come from another realm, as Next.js gives them.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import vm from "node:vm";
import * as esbuild from "esbuild";
import { Gate } from "seamgate";

const here = fileURLToPath(new URL(".", import.meta.url));
const contract = { agent: "order", schema: { type: "object", required: ["sku"] } };
const OUTPUTS = ['{"sku":"A"}', "{}", "Sorry."];

const SOURCE = `
  import { ask, askStream, backend, Gate } from "seamgate";
  export async function judged(contract, outputs) {
    const gate = await Gate.load();
    const session = gate.register(contract) && gate.session(contract.agent);
    for (const piece of outputs[0]) session.push(piece);
    const streamed = await askStream(contract, () => [...outputs[0]]).result();
    const asked = await ask(contract, () => outputs[0], "an order", { timeoutMs: 5000 });
    const reports = outputs.map((output) => gate.validate(contract, output).report.json);
    return JSON.stringify([backend, reports, session.finish().report.json, asked.report.json, streamed.report.json]);
  }`;

/** The globals of a context that is neither Node nor a browser. */
const GIVEN = [
  "AbortController",
  "AbortSignal",
  "DOMException",
  "TextDecoder",
  "TextEncoder",
  "URL",
  "clearTimeout",
  "performance",
  "queueMicrotask",
  "setTimeout",
  "structuredClone",
];

for (const condition of ["edge-light", "workerd"]) {
  test(`the bundle with the condition ${condition} needs nothing of Node, and gives the same bytes`, async () => {
    const modules = [];
    const outside = [];
    const plugin = {
      name: "modules",
      setup(build) {
        build.onResolve({ filter: /./ }, ({ path: name }) => {
          if (isBuiltin(name)) outside.push(name);
        });
        build.onResolve({ filter: /\.wasm(\?module)?$/ }, ({ path: name, resolveDir }) => ({
          path: path.join(resolveDir, name.replace("?module", "")),
          namespace: "module",
        }));
        build.onLoad({ filter: /./, namespace: "module" }, ({ path: file }) => {
          modules.push(new WebAssembly.Module(readFileSync(file)));
          return { contents: `export default modules[${modules.length - 1}];` };
        });
      },
    };
    const { outputFiles } = await esbuild.build({
      stdin: { contents: SOURCE, resolveDir: here },
      bundle: true,
      format: "iife",
      globalName: "made",
      platform: "neutral",
      conditions: [condition],
      plugins: [plugin],
      write: false,
      logLevel: "error",
    });
    assert.deepEqual([outside, modules.length > 0], [[], true]);
    const given = Object.fromEntries(GIVEN.map((name) => [name, globalThis[name]]));
    const context = vm.createContext({ ...given, modules });
    vm.runInContext(outputFiles[0].text, context);
    const told = JSON.parse(await vm.runInContext("made", context).judged(contract, OUTPUTS));
    const gate = await Gate.load();
    const reports = OUTPUTS.map((output) => gate.validate(contract, output).report.json);
    assert.deepEqual(told.slice(0, 3), ["webassembly", reports, reports[0]]);
    assert.deepEqual([told[3], told[4]], [reports[0], reports[0]]);
  });
}
