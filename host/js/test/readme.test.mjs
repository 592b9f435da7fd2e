import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { backend } from "seamgate";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const programs = [...readme.matchAll(/^```js\n(.*?)^```\n\n```text\n(.*?)^```/gms)];

test("README has programs, and each of them prints what it says", () => {
  assert.equal(programs.length, readme.match(/```js\n/g).length);
  assert.ok(programs.length >= 4);
  for (const [, program, printed] of programs) {
    // The addon alone bakes.
    if (backend !== "native" && program.includes("bake")) continue;
    const options = { encoding: "utf8", cwd: new URL("..", import.meta.url) };
    const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", program], options);
    assert.deepEqual([stdout, stderr], [printed, ""], program);
  }
});
