import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const folder = new URL("../node_modules/seamgate/", import.meta.url);

test("the types are right for who uses them, strictly", () => {
  const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");
  for (const lib of ["ES2022,DOM", "ES2022"]) {
    const options = [
      "--noEmit",
      "--strict",
      "--exactOptionalPropertyTypes",
      "--module",
      "NodeNext",
      "--target",
      "ES2022",
    ];
    // With the types of browsers alone, and with Node's alone.
    const types =
      lib === "ES2022" ? ["--types", "node"] : ["--typeRoots", fileURLToPath(new URL("none", import.meta.url))];
    const file = fileURLToPath(new URL("types.ts", import.meta.url));
    const { stdout, status } = spawnSync(process.execPath, [tsc, ...options, "--lib", lib, ...types, file], {
      encoding: "utf8",
    });
    assert.equal(stdout, "");
    assert.equal(status, 0);
  }
});

test("Vitest's types have the matcher", () => {
  const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");
  const options = ["--noEmit", "--strict", "--skipLibCheck", "--module", "NodeNext", "--target", "ES2022"];
  const file = fileURLToPath(new URL("vitest/types.ts", import.meta.url));
  const { stdout } = spawnSync(process.execPath, [tsc, ...options, "--types", "node", file], { encoding: "utf8" });
  assert.equal(stdout, "");
});

test("the package needs nothing but itself, and holds no path of a machine", () => {
  const manifest = JSON.parse(readFileSync(new URL("package.json", folder), "utf8"));
  assert.equal(manifest.dependencies, undefined);
  assert.equal(manifest.devDependencies, undefined);
  assert.match(manifest.version, /^\d+\.\d+\.\d+$/);
  const here = fileURLToPath(new URL("../../../..", import.meta.url));
  const crates = path.join(process.env.CARGO_HOME ?? path.join(homedir(), ".cargo"), "registry");
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  assert.ok(files.length > 20);
  for (const entry of files) {
    const bytes = readFileSync(`${entry.parentPath ?? entry.path}/${entry.name}`);
    for (const place of [here, crates]) {
      assert.equal(bytes.indexOf(place), -1, `${entry.name} has ${place}`);
    }
    if (entry.name.endsWith(".js")) {
      const imports = [...bytes.toString().matchAll(/^\s*(?:import|export) [^;]*? from "([^"]+)"/gm)].map(
        ([, from]) => from,
      );
      assert.deepEqual(
        imports.filter((from) => !/^(\.\/|node:|worker_threads$)/.test(from)),
        // An entry of its own, for who has OpenTelemetry.
        entry.name === "otel.js" ? ["@opentelemetry/api"] : [],
        entry.name,
      );
    }
  }
});
