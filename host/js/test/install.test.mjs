// The packages as npm and pnpm install them from a registry: with the addon of this machine, or without it.

import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { read, root } from "./shared.mjs";

const work = mkdtempSync(path.join(tmpdir(), "seamgate-install-"));
const packed = fileURLToPath(new URL("target/package/", root));
const platforms = JSON.parse(read("host/js/platforms.json"));
const pnpm = path.join(path.dirname(createRequire(import.meta.url).resolve("pnpm")), "bin/pnpm.cjs");
const packages = new Map();
let registry;
let origin;

const version = JSON.parse(
  readFileSync(new URL("../node_modules/seamgate/package.json", import.meta.url), "utf8"),
).version;

/** Serves the packed packages as a registry does. */
function answer({ url }, response) {
  const [, name, isTarball] = /^\/(.+?)(\.tgz)?$/.exec(decodeURIComponent(url)) ?? [];
  const found = packages.get(name);
  if (found === undefined) {
    response.writeHead(404).end("{}");
  } else if (isTarball) {
    response.end(found.bytes);
  } else {
    const integrity = `sha512-${createHash("sha512").update(found.bytes).digest("base64")}`;
    const manifest = { ...found.manifest, dist: { tarball: `${origin}/${name}.tgz`, integrity } };
    const time = { [version]: "2020-01-01T00:00:00.000Z" };
    response.end(
      JSON.stringify({
        name,
        "dist-tags": { latest: version },
        versions: { [version]: manifest },
        time,
        modified: time[version],
      }),
    );
  }
}

before(async () => {
  for (const name of ["seamgate", ...platforms.map(({ name }) => `seamgate-${name}`)]) {
    const file = path.join(packed, `${name}-${version}.tgz`);
    if (!existsSync(file)) continue;
    const manifest = JSON.parse(execFileSync("tar", ["-xzOf", file, "package/package.json"], { encoding: "utf8" }));
    packages.set(manifest.name, { manifest, bytes: readFileSync(file) });
  }
  registry = createServer(answer);
  await new Promise((listening) => registry.listen(0, "127.0.0.1", listening));
  origin = `http://127.0.0.1:${registry.address().port}`;
});

after(() => {
  registry?.closeAllConnections();
  registry?.close();
  rmSync(work, { recursive: true, force: true });
});

/** Runs a program, which must end well, without what npm says to the programs that it starts. */
async function run(cwd, ...command) {
  const kept = Object.entries(process.env).filter(([name]) => !/^npm_|^SEAMGATE_|^NODE_/i.test(name));
  const env = { ...Object.fromEntries(kept), npm_config_registry: origin, CI: "1" };
  const child = spawn(command[0], command.slice(1), { cwd, env });
  const texts = [child.stdout, child.stderr].map((stream) => stream.setEncoding("utf8").toArray());
  const [status] = await once(child, "close");
  const [stdout, stderr] = (await Promise.all(texts)).map((pieces) => pieces.join(""));
  assert.equal(status, 0, `${command.join(" ")}: ${stdout}${stderr}`);
  return { stdout, stderr };
}

/** An empty project in which seamgate is installed. */
async function project(name, ...install) {
  const folder = path.join(work, name);
  mkdirSync(folder);
  writeFileSync(path.join(folder, "package.json"), '{ "private": true, "type": "module" }');
  await run(folder, ...install);
  writeFileSync(
    path.join(folder, "judge.mjs"),
    `import { backend, Gate } from "seamgate";
     const gate = await Gate.load();
     await Gate.load();
     const { report } = gate.validate({ agent: "a", schema: { type: "object" } }, "{}");
     console.log(backend, gate.backend, report.disposition);`,
  );
  return folder;
}

const npm = (cache) => ["npm", "install", "seamgate", "--no-audit", "--no-fund", "--cache", path.join(work, cache)];
const byPnpm = (store) => [process.execPath, pnpm, "add", "seamgate", "--store-dir", path.join(work, store)];

for (const [name, install] of [
  ["npm", npm("cache")],
  ["pnpm", byPnpm("store")],
]) {
  test(`${name} installs the addon of this machine, and it judges`, async () => {
    const folder = await project(name, ...install);
    const { stdout, stderr } = await run(folder, process.execPath, "judge.mjs");
    assert.deepEqual([stdout, stderr], ["native native accepted\n", ""]);
    const bin = await run(folder, path.join(folder, "node_modules/.bin/seamgate"), "--version");
    assert.equal(bin.stdout, `seamgate ${version}\n`);
  });
}

const without = {
  "npm, without optional packages": [...npm("cache"), "--omit=optional"],
  "npm, for another system": [...npm("cache"), "--os=darwin", "--cpu=arm64"],
  "npm, for another C library": [...npm("cache"), "--libc=musl"],
  "pnpm, without optional packages": [...byPnpm("store"), "--no-optional"],
};
for (const [name, install] of Object.entries(without)) {
  test(`${name}: WebAssembly judges, and one warning says so`, async () => {
    const folder = await project(name.replace(/\W+/g, "-"), ...install);
    const { stdout, stderr } = await run(folder, process.execPath, "judge.mjs");
    assert.equal(stdout, "webassembly webassembly accepted\n");
    assert.equal(stderr.match(/SEAMGATE_WEBASSEMBLY/g)?.length, 1, stderr);
    assert.match(stderr, /seamgate runs on WebAssembly, which is slower: @seamgate\/\S+ \d\S+ is not installed/);
    // Who chose it knows it.
    const chosen = spawnSync(process.execPath, ["judge.mjs"], {
      cwd: folder,
      encoding: "utf8",
      env: { ...process.env, SEAMGATE_BACKEND: "webassembly" },
    });
    assert.deepEqual([chosen.stdout, chosen.stderr], [stdout, ""]);
    const forced = { ...process.env, SEAMGATE_BACKEND: "native" };
    const { stderr: refused, status } = spawnSync(process.execPath, ["judge.mjs"], {
      cwd: folder,
      encoding: "utf8",
      env: forced,
    });
    assert.deepEqual([status, /LoadError.*is not installed/.test(refused)], [1, true], refused);
  });
}

test("an addon that cannot be loaded, or is of another version, is named in the warning", async () => {
  const folder = await project("broken", ...npm("cache"));
  const about = path.join(folder, "node_modules/seamgate/dist/component/about.js");
  const text = readFileSync(about, "utf8");
  writeFileSync(about, text.replace(`"${version}"`, '"99.0.0"'));
  const other = await run(folder, process.execPath, "judge.mjs");
  assert.match(other.stderr, /cannot be loaded: \S+\.node is of seamgate \d\S+, and this is 99\.0\.0/);
  writeFileSync(about, text);
  const scope = path.join(folder, "node_modules/@seamgate");
  const [platform] = readdirSync(scope);
  writeFileSync(path.join(scope, platform, `${platform}.node`), "no library");
  const { stdout, stderr } = await run(folder, process.execPath, "judge.mjs");
  assert.equal(stdout, "webassembly webassembly accepted\n");
  assert.match(stderr, /cannot be loaded: .*\.node: (file too short|invalid ELF header)/);
});

test("what is for one machine is in its own package alone", () => {
  const { manifest } = packages.get("seamgate");
  assert.deepEqual(
    manifest.optionalDependencies,
    Object.fromEntries(platforms.map(({ name }) => [`@seamgate/${name}`, version])),
  );
  for (const [name, { manifest }] of packages) {
    const file = path.join(packed, `${name.replace("@seamgate/", "seamgate-")}-${version}.tgz`);
    const files = execFileSync("tar", ["-tzf", file], { encoding: "utf8" }).trimEnd().split("\n");
    const native = files.filter((file) => file.endsWith(".node"));
    const platform = platforms.find((platform) => name === `@seamgate/${platform.name}`);
    assert.deepEqual(native, platform ? [`package/${platform.name}.node`] : []);
    assert.ok(files.includes("package/THIRD-PARTY-NOTICES.txt") && files.includes("package/LICENSE-MIT"), name);
    if (platform) {
      const libc = platform.libc && [platform.libc];
      assert.deepEqual([manifest.os, manifest.cpu, manifest.libc], [[platform.os], [platform.cpu], libc]);
    }
  }
});
