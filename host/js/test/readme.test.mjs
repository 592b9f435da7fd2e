import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { backend } from "seamgate";
import { read } from "./shared.mjs";

const pages = {
  README: [readFileSync(new URL("../README.md", import.meta.url), "utf8"), 4],
  "docs/ask.md": [read("docs/ask.md"), 1],
};

test("pages have programs, and each of them prints what it says", () => {
  for (const [name, [page, least]] of Object.entries(pages)) {
    const programs = [...page.matchAll(/^```js\n(.*?)^```\n\n```text\n(.*?)^```/gms)];
    assert.equal(programs.length, page.match(/```js\n/g).length);
    assert.ok(programs.length >= least, name);
    check(programs);
  }
});

function check(programs) {
  for (const [, program, printed] of programs) {
    // The addon alone bakes.
    if (backend !== "native" && program.includes("bake")) continue;
    const options = { encoding: "utf8", cwd: new URL("..", import.meta.url) };
    const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", program], options);
    assert.deepEqual([stdout, stderr], [printed, ""], program);
  }
}
