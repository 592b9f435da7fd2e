// The package in a browser: headless, of this machine or from the packages that are pinned.

import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Gate } from "seamgate";
import { doubling, requests } from "./shared.mjs";

const here = fileURLToPath(new URL("..", import.meta.url));
const folders = [
  ["/seamgate/", path.join(here, "node_modules/seamgate/")],
  ["/", path.join(here, "browser/")],
];
const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm" };

/** What the page may ask for: the demo, the package as it was packed, and the requests. */
const server = createServer((request, response) => {
  const url = new URL(request.url, "http://localhost");
  if (url.pathname === "/requests") {
    response.end(requests().join("\n"));
    return;
  }
  const [prefix, folder] = folders.find(([prefix]) => url.pathname.startsWith(prefix));
  const file = path.join(folder, path.normalize(`/${url.pathname.slice(prefix.length) || "index.html"}`));
  if (!existsSync(file)) {
    response.writeHead(404).end();
    return;
  }
  response.setHeader("content-type", types[path.extname(file)] ?? "application/octet-stream");
  response.end(readFileSync(file));
});

const profile = mkdtempSync(path.join(tmpdir(), "seamgate-browser-"));
let browser;
let skip = false;
let origin;

before(async () => {
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${server.address().port}`;
  try {
    browser = await launch();
  } catch (error) {
    skip = `no browser runs here: ${error.message.split("\n")[0]}`;
  }
});

after(async () => {
  await browser?.close();
  server.close();
  rmSync(profile, { recursive: true, force: true });
});

async function launch() {
  const { default: chromium } = await import("@sparticuz/chromium");
  const { launch } = await import("puppeteer-core");
  return launch({
    executablePath: await chromium.executablePath(),
    headless: "shell",
    userDataDir: profile,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--font-render-hinting=none",
    ],
  });
}

/** The demo, once it has shown its first verdict. What goes wrong in the page goes wrong here. */
async function open() {
  const page = await browser.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(error));
  page.on("requestfailed", (request) => errors.push(new Error(`${request.url()} failed`)));
  page.on("console", (message) => message.type() === "error" && errors.push(new Error(message.text())));
  await page.setViewport({ width: 1440, height: 1000 });
  await page.goto(origin);
  await page.waitForSelector("body[data-ready]", { timeout: 20_000 }).catch((error) => errors.push(error));
  assert.deepEqual(errors, []);
  return { page, errors };
}

test("a page gives the same bytes as Node", async (context) => {
  if (skip) return context.skip(skip);
  const { page, errors } = await open();
  const start = performance.now();
  const answers = await page.evaluate(async () => {
    const { Gate } = await import("/seamgate/dist/browser.js");
    const gate = await Gate.load();
    const lines = (await (await fetch("/requests")).text()).split("\n");
    return lines.map((line) => gate.call(line).json);
  });
  const took = performance.now() - start;
  const gate = await Gate.load();
  const expected = requests().map((request) => gate.call(request).json);
  assert.equal(answers.length, expected.length);
  for (const [at, answer] of expected.entries()) {
    assert.equal(answers[at], answer);
  }
  assert.deepEqual(errors, []);
  context.diagnostic(`${answers.length} requests in ${await browser.version()}: ${took.toFixed(0)} ms`);
});

test("faults in a page, and its deadline", async (context) => {
  if (skip) return context.skip(skip);
  const { page, errors } = await open();
  const told = await page.evaluate(async (doubling) => {
    const { Gate, WorkerGate } = await import("/seamgate/dist/browser.js");
    const told = [];
    const code = async (call) => {
      try {
        told.push((await call()).report.disposition);
      } catch (fault) {
        told.push(fault.code);
      }
    };
    const any = { agent: "any", schema: true };
    const gate = await Gate.load();
    await code(() => gate.validate(doubling, "{}"));
    const caps = { bytes: 8 * 1024 * 1024, array_items: 10_000_000 };
    await code(() => gate.validate({ ...any, caps }, `[${"1,".repeat(3_000_000)}1]`));
    const open = '{"anyOf":['.repeat(30);
    const close = ',{"type":"null"}]}'.repeat(30);
    const level = `{"anyOf":[{"type":"integer"},{"type":"array","items":${open}{"$ref":"#/$defs/n"}${close}}]}`;
    const deep = `{"agent":"a","caps":{"depth":128},"schema":{"$ref":"#/$defs/n","$defs":{"n":${level}}}}`;
    await code(() => gate.validate(deep, `${"[".repeat(128)}1${"]".repeat(128)}`));
    await code(() => gate.validate(any, '"\ud800"'));
    await code(() => gate.validate(any, "1"));
    const workers = await WorkerGate.load({ limits: { fuel: Number.MAX_SAFE_INTEGER }, deadline: 300, workers: 1 });
    const late = code(() => workers.validate(doubling, "{}"));
    await Promise.all([late, code(() => workers.validate(any, "1"))]);
    await workers.close();
    return told;
  }, doubling);
  assert.deepEqual(told, [
    "out_of_fuel",
    "out_of_memory",
    "stack_overflow",
    "rejected",
    "accepted",
    "timeout",
    "accepted",
  ]);
  assert.deepEqual(errors, []);
});

test("the demo shows a verdict, and nothing of the producer's runs", async (context) => {
  if (skip) return context.skip(skip);
  const { page, errors } = await open();
  const shown = () => page.$eval(".verdict", (verdict) => verdict.textContent);
  const first = await shown();
  assert.match(first, /partial/);
  assert.match(first, /2 items in quarantine/);
  assert.match(
    first,
    /warning\[schema\]: \$\.recommendations\[1\] is in quarantine: \$\.recommendations\[1\]\.severity/,
  );
  assert.match(first, /changed\[comma_removed\]/);
  await page.screenshot({ path: fileURLToPath(new URL("../../browser.png", import.meta.url)) });
  const type = (text) =>
    page.$eval(
      "#output",
      (field, text) => {
        field.value = text;
        field.dispatchEvent(new Event("input"));
      },
      text,
    );
  await type('{"<img src=x onerror=document.title=1>": "\u202e"}');
  await page.waitForFunction(() => document.querySelector("#disposition").textContent === "rejected");
  assert.match(await shown(), /<img src=x/);
  assert.equal(await page.title(), "seamgate in the browser");
  assert.equal(await page.$(".verdict img"), null);
  assert.deepEqual(errors, []);
});
