// Measures baked components: baking, the first gate, and a first gate without a cache. Run `node benchmarks/baked.mjs`
// in target/js/clean. It uses separate caches.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { bake, Gate } from "seamgate";

const [file] = process.argv.slice(2);
if (file === undefined) {
  const work = mkdtempSync(path.join(tmpdir(), "seamgate-baked-"));
  for (const cache of ["first", "first", "second"]) {
    const env = { ...process.env, XDG_CACHE_HOME: path.join(work, cache) };
    spawnSync(process.execPath, [process.argv[1], path.join(work, "gate.wasm")], { env, stdio: "inherit" });
  }
  rmSync(work, { recursive: true });
} else {
  let longest = 0;
  let last = performance.now();
  setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 5).unref();
  const timed = async (name, work) => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    [longest, last] = [0, performance.now()];
    const start = performance.now();
    const made = await work();
    const took = performance.now() - start;
    await new Promise((resolve) => setTimeout(resolve, 20));
    console.log(`${name}: ${took.toFixed(0)} ms, the event loop stood for ${longest.toFixed(0)} ms`);
    return made;
  };
  let component;
  try {
    component = readFileSync(file);
  } catch {
    const contract = { agent: "any", schema: { type: "object" } };
    component = await timed("bake", () => bake([contract]));
    writeFileSync(file, component);
  }
  await timed("the first gate", () => Gate.load({ component: Uint8Array.from(component) }));
}
