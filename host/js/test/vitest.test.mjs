import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { toPassContract } from "seamgate/vitest";
import { z } from "zod";

test("Vitest knows the matcher, and shows what is wrong", () => {
  const vitest = path.join(path.dirname(createRequire(import.meta.url).resolve("vitest/package.json")), "vitest.mjs");
  const root = fileURLToPath(new URL("vitest", import.meta.url));
  const run = [vitest, "run", "--root", root, "--no-color", "--reporter", "verbose"];
  const { NODE_OPTIONS: _, NODE_TEST_CONTEXT: __, ...env } = process.env;
  const { stdout, stderr, status } = spawnSync(process.execPath, run, { encoding: "utf8", env, timeout: 60_000 });
  assert.match(stdout, /✓ .*an output passes a contract, or does not/, stderr);
  assert.match(
    stdout + stderr,
    /the output does not pass the contract of "order": rejected\s+\$\.count must be integer, not string\s+"x"/,
  );
  assert.equal(status, 1);
});

test("the matcher says what it has seen", () => {
  const contract = { agent: "n", schema: { type: "array", items: { type: "integer" } }, items: { path: "$[*]" } };
  const good = toPassContract("[1]", contract);
  assert.deepEqual(
    [good.pass, good.message()],
    [true, 'expected the output not to pass the contract of "n", and it was accepted'],
  );
  const partial = toPassContract('[1,"é"]', contract);
  assert.equal(partial.pass, false);
  assert.equal(
    partial.message(),
    'the output does not pass the contract of "n": partial\n  $[1] must be integer, not string\n    "é"',
  );
  const schema = z.int().refine((n) => n % 2 === 0, "must be even");
  assert.equal(
    toPassContract("2", schema).message(),
    "expected the output not to pass the schema, and it was accepted",
  );
  assert.equal(
    toPassContract("3", schema).message(),
    "the output does not pass the schema: rejected\n  $ must be even",
  );
  assert.throws(
    () => toPassContract({ count: 1 }, contract),
    /^TypeError: `output` must be a string or a Uint8Array, not an object/,
  );
});
