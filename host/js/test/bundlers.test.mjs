// Bundles of the package, made by esbuild, Vite and webpack as README.md says, and run: in Node with each backend, and in a browser. Each
// lies where no package is installed.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import * as esbuild from "esbuild";
import * as vite from "vite";
import webpack from "webpack";
import { files } from "../browser/serve.mjs";
import { judged } from "./bundlers/judged.js";
import { launch } from "./chromium.mjs";

const work = mkdtempSync(path.join(tmpdir(), "seamgate-bundlers-"));
// A project that is deleted before its bundles run, because some bundlers write its paths into them.
const project = path.join(work, "project");
const sources = path.join(project, "src");
const seamgate = path.join(project, "node_modules/seamgate");
const dist = path.join(seamgate, "dist");
let browser;
let skip = false;

before(async () => {
  cpSync(new URL("bundlers", import.meta.url), sources, { recursive: true });
  for (const name of ["seamgate", "@seamgate"]) {
    cpSync(new URL(`../node_modules/${name}`, import.meta.url), path.join(seamgate, "..", name), { recursive: true });
  }
  // No other manifest says what is in these folders.
  writeFileSync(path.join(work, "package.json"), "{}");
  try {
    browser = await launch(path.join(work, "profile"));
  } catch (error) {
    skip = `no browser runs here: ${error.message.split("\n")[0]}`;
  }
});

after(async () => {
  await browser?.close();
  rmSync(work, { recursive: true, force: true });
});

/** An empty folder. */
function folder(name) {
  const made = path.join(work, name);
  mkdirSync(made, { recursive: true });
  return made;
}

/** The files that a bundle needs beside it, below `node_modules`: those of the component, and the addon. */
const COMPONENT = "seamgate/dist/component";
const ADDON = path.join("@seamgate", readdirSync(new URL("../node_modules/@seamgate", import.meta.url))[0]);

/** Put files of the packages beside a bundle, as who uses esbuild does. */
function copyFiles(to, ...folders) {
  for (const from of folders.map((name) => path.join(seamgate, "..", name))) {
    for (const name of readdirSync(from).filter((name) => /\.(wasm|node)$/.test(name))) {
      cpSync(path.join(from, name), path.join(to, name));
    }
  }
}

async function byEsbuild(options) {
  // It says of CommonJS that `import.meta` is empty there, which the package knows.
  const { errors } = await esbuild.build({
    bundle: true,
    logLevel: "error",
    minify: true,
    ...options,
  });
  assert.deepEqual(errors, []);
}

function byVite(outDir, build, rest = {}) {
  const root = sources;
  return vite.build({
    configFile: false,
    logLevel: "error",
    root,
    base: "./",
    build: { outDir, emptyOutDir: true, ...build },
    ...rest,
  });
}

async function byWebpack(out, entry, options) {
  const stats = await new Promise((resolve, reject) => {
    const output = { path: out, filename: "[name].js" };
    // Minified it takes seconds, and is the same.
    const optimization = { minimize: false };
    const performance = { hints: false };
    const common = {
      mode: "production",
      context: sources,
      entry,
      output,
      optimization,
      performance,
    };
    webpack({ ...common, ...options }, (error, stats) => (error ? reject(error) : resolve(stats)));
  });
  assert.deepEqual(stats.toJson({ all: false, errors: true, warnings: true }), {
    errors: [],
    warnings: [],
  });
}

/** Runs a bundle in Node, and returns its output. */
function runs(bundle, backend) {
  const { stdout, stderr, status } = spawnSync(process.execPath, [bundle], {
    cwd: path.parse(bundle).root,
    env: { ...process.env, SEAMGATE_BACKEND: backend },
    encoding: "utf8",
  });
  return status === 0 ? JSON.parse(stdout) : { error: stderr };
}

/** The reports that are right. */
async function expected(backend) {
  const { near } = await judged();
  return { backend, near, far: near };
}

async function runsInNode(bundle) {
  const away = `${project}-away`;
  renameSync(project, away);
  try {
    for (const backend of ["native", "webassembly"]) {
      assert.deepEqual(runs(bundle, backend), await expected(backend), bundle);
    }
  } finally {
    renameSync(away, project);
  }
}

/** Runs a bundle as the script of a page, and returns its output. */
async function runsInBrowser(context, origin) {
  if (skip) return context.skip(skip);
  const page = await browser.newPage();
  try {
    const errors = [];
    page.on("pageerror", (error) => errors.push(error));
    page.on("requestfailed", (request) => errors.push(new Error(`${request.url()} failed`)));
    page.on("console", (message) => message.type() === "error" && errors.push(new Error(message.text())));
    await page.goto(`${origin}/index.html`);
    const judged = await page.waitForFunction(() => window.judged, {
      timeout: 20_000,
    });
    assert.deepEqual(await judged.jsonValue(), await expected("webassembly"));
    assert.deepEqual(errors, []);
  } finally {
    await page.close();
  }
}

async function served(context, folder) {
  const server = createServer(files(folder));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await runsInBrowser(context, `http://127.0.0.1:${server.address().port}`);
  } finally {
    server.close();
  }
}

test("esbuild, for Node: files are copied beside the bundle", async () => {
  for (const [format, extension] of [
    ["esm", ".mjs"],
    ["cjs", ".cjs"],
  ]) {
    const out = folder(`esbuild-${format}`);
    const common = { format, platform: "node", outdir: out };
    await byEsbuild({
      ...common,
      entryPoints: [path.join(sources, "node.js")],
      outExtension: { ".js": extension },
    });
    // The package asks for it by this name.
    await byEsbuild({
      ...common,
      entryPoints: [path.join(dist, "worker-node.js")],
    });
    copyFiles(out, COMPONENT, ADDON);
    await runsInNode(path.join(out, `node${extension}`));
  }
});

test("a bundle without the package's files finds those of the package that is installed, or says what it lacks", async () => {
  const out = folder("installed");
  const bundle = path.join(out, "node.mjs");
  await byEsbuild({
    entryPoints: [path.join(sources, "node.js")],
    format: "esm",
    platform: "node",
    outfile: bundle,
  });
  const lacks = (backend) => runs(bundle, backend).error;
  assert.match(
    lacks("webassembly"),
    /LoadError\]?: validator\.core\w*\.wasm is neither beside \S+node\.mjs nor in an installed/,
  );
  assert.match(lacks("native"), /is not installed, and \S+\.node is not beside the bundle/);
  const installed = path.join(out, "node_modules/seamgate");
  cpSync(dist, path.join(installed, "dist"), { recursive: true });
  const manifest = readFileSync(path.join(seamgate, "package.json"), "utf8");
  writeFileSync(path.join(installed, "package.json"), manifest.replace(/"version": "[^"]+"/, '"version": "99.0.0"'));
  cpSync(path.join(seamgate, "..", ADDON), path.join(out, "node_modules", ADDON), { recursive: true });
  assert.match(lacks("webassembly"), /is neither beside/, "one of another version is not taken");
  writeFileSync(path.join(installed, "package.json"), manifest);
  await runsInNode(bundle);
});

test("esbuild, for browsers: files are copied beside the bundle", async (context) => {
  const out = folder("esbuild-browser");
  const entryPoints = {
    browser: path.join(sources, "browser.js"),
    "worker-browser": path.join(dist, "worker-browser.js"),
  };
  await byEsbuild({ entryPoints, format: "esm", outdir: out });
  copyFiles(out, COMPONENT);
  cpSync(path.join(sources, "index.html"), path.join(out, "index.html"));
  await served(context, out);
});

test("Vite, for Node", async () => {
  const out = folder("vite-node");
  const input = {
    node: path.join(sources, "node.js"),
    "worker-node": path.join(dist, "worker-node.js"),
  };
  await byVite(
    out,
    {
      ssr: true,
      rolldownOptions: { input, output: { entryFileNames: "[name].js" } },
    },
    { ssr: { noExternal: true } },
  );
  copyFiles(out, COMPONENT, ADDON);
  await runsInNode(path.join(out, "node.js"));
});

test("Vite, for browsers", async (context) => {
  const out = folder("vite-browser");
  await byVite(out, {});
  await served(context, out);
});

test("Vite, as it serves while one develops", async (context) => {
  const server = await vite.createServer({
    configFile: false,
    logLevel: "error",
    root: sources,
    cacheDir: folder("vite-cache"),
    server: { host: "127.0.0.1", port: 0, hmr: false, fs: { allow: [work] } },
  });
  try {
    await server.listen();
    await runsInBrowser(context, `http://127.0.0.1:${server.httpServer.address().port}`);
  } finally {
    await server.close();
  }
});

test("webpack, for Node", async () => {
  const out = folder("webpack-node");
  await byWebpack(out, { node: "./node.js" }, { target: "node" });
  copyFiles(out, ADDON);
  await runsInNode(path.join(out, "node.js"));
});

test("webpack, for browsers", async (context) => {
  const out = folder("webpack-browser");
  await byWebpack(out, { browser: "./browser.js" }, { target: "web" });
  cpSync(path.join(sources, "index.html"), path.join(out, "index.html"));
  await served(context, out);
});
