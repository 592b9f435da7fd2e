// The page that verifies receipts, in a browser: what it shows of an honest file, of forged ones, and of hostile texts.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { verifyReceipt } from "seamgate";
import { files } from "../browser/serve.mjs";
import { launch } from "./chromium.mjs";
import { chained, contents, KEY, receipt, recorded } from "./receipts.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const profile = mkdtempSync(path.join(tmpdir(), "seamgate-receipt-page-"));
const server = createServer(files(fileURLToPath(new URL("../page", import.meta.url))));
const runs = recorded();
const runOf = (name) => runs.find((run) => run.name === name);
let browser;
let skip = runs.length === 0 && "runs are recorded by the addon, which is not here";
let origin;

before(async () => {
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${server.address().port}`;
  try {
    browser = await launch(profile);
  } catch (error) {
    skip = `no browser runs here: ${error.message.split("\n")[0]}`;
  }
});

after(async () => {
  await browser?.close();
  server.close();
  rmSync(profile, { recursive: true, force: true });
});

/** The page. What goes wrong in it goes wrong here. Once it is loaded, it may ask for its own files alone. */
async function open({ width = 1280, isDark = false } = {}) {
  const page = await browser.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(error));
  page.on("dialog", (dialog) => errors.push(new Error(`a dialog: ${dialog.message()}`)) && dialog.dismiss());
  page.on("console", (message) => message.type() === "error" && errors.push(new Error(message.text())));
  page.on("request", (request) => {
    const isOwn = request.url().startsWith(`${origin}/`) && request.method() === "GET";
    if (!isOwn && !request.url().startsWith("data:")) errors.push(new Error(`the page asks for ${request.url()}`));
  });
  const isPhone = width < 500;
  await page.setViewport({ width, height: 900, isMobile: isPhone, hasTouch: isPhone });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: isDark ? "dark" : "light" }]);
  await page.goto(`${origin}/receipt.html`);
  await page.waitForSelector("body[data-ready]", { timeout: 20_000 });
  return { page, errors };
}

/** Drops a file on the page, and waits for the verdict. */
async function drop(page, bytes, name = "run.receipt") {
  await page.evaluate(
    (text, name) => {
      const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
      const dropped = new DataTransfer();
      dropped.items.add(new File([bytes], name));
      document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: dropped, bubbles: true, cancelable: true }));
    },
    Buffer.from(bytes).toString("base64"),
    name,
  );
  await page.waitForFunction(() => !/verifying|no receipt/.test(document.querySelector("#disposition").textContent), {
    timeout: 60_000,
  });
  return text(page, "#disposition");
}

const text = (page, selector) => page.$eval(selector, (element) => element.textContent);
const rows = (page, section) =>
  page.$$eval(`#${section} tbody tr`, (all) => all.map((row) => [...row.cells].map((cell) => cell.textContent)));

/** Returns the same receipt with other lines of steps and all digests recomputed. */
function forged(run, change) {
  const steps = contents(run);
  change(steps);
  return receipt(run, { change: (parts) => ({ ...parts, lines: chained(steps) }) });
}

async function accessible(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run(document));
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" | ")}`);
}

test("a dropped receipt is verified, and its steps are listed", async (context) => {
  if (skip) return context.skip(skip);
  for (const [width, isDark] of [
    [1280, false],
    [390, true],
  ]) {
    const { page, errors } = await open({ width, isDark });
    assert.deepEqual(await accessible(page), []);
    const run = runOf("named approvals");
    assert.equal(await drop(page, receipt(run)), "verified");
    const summary = await text(page, "#summary");
    assert.match(summary, /^4 steps; 1 call allowed, 1 denied, 1 asked about; not ended$/);
    const checks = await rows(page, "checks");
    assert.deepEqual([...new Set(checks.map(([word]) => word))], ["ok"]);
    assert.deepEqual(
      checks.map(([, check]) => check),
      ["encoding", "signature", "key", "lines", "profile", "component", "steps", "approvals"],
    );
    assert.deepEqual(
      (await rows(page, "run-steps")).map(([word, step, event, decisions]) => [word, step, event, decisions]),
      [
        ["ok", "1", "started ", ""],
        ["ok", "2", "call pay", "ask pay permit"],
        ["ok", "3", "approval c1", "allow pay"],
        ["ok", "4", "call drop", "deny drop permit"],
      ],
    );
    assert.match(await text(page, "#about-run"), new RegExp(KEY));
    assert.deepEqual(await accessible(page), []);
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width);
    // The key is asked for.
    await page.type("#keys", "A".repeat(43));
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.querySelector("#disposition").textContent === "not verified");
    assert.match(await text(page, "#summary"), /^key: the key .* signed it, and none that was given$/);
    assert.deepEqual(errors, []);
    await page.close();
  }
});

test("the report in a page is that of Node", async (context) => {
  if (skip) return context.skip(skip);
  const { page, errors } = await open();
  const given = [
    ...runs.slice(0, 4).map((run) => receipt(run)),
    receipt(runOf("signed approvals"), { withheld: [3] }),
    forged(runOf("numbers"), (steps) => {
      steps[2][0] = steps[2][0].replace("9007199254740993", "9007199254740992");
    }),
    Buffer.from("no receipt"),
  ];
  for (const file of given) {
    const report = await page.evaluate(async (encoded) => {
      const { verifyReceipt } = await import("/seamgate/dist/browser.js");
      const bytes = Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0));
      return JSON.stringify(await verifyReceipt(bytes, { keys: "any" }));
    }, file.toString("base64"));
    assert.equal(report, JSON.stringify(await verifyReceipt(file, { keys: "any" })));
  }
  assert.deepEqual(errors, []);
});

test("a forged step and a withheld one are marked", async (context) => {
  if (skip) return context.skip(skip);
  const { page, errors } = await open();
  const run = runOf("named approvals");
  const allowed = forged(run, (steps) => {
    const at = steps.findIndex((lines) => lines.some((line) => line.includes('"permit":"deny"')));
    steps[at] = steps[at].map((line) => line.replace('"permit":"deny"', '"permit":"allow"'));
  });
  assert.equal(await drop(page, allowed), "not verified");
  assert.match(await text(page, "#summary"), /^steps: step 4, the receipt has .*from the events follows/);
  assert.deepEqual(
    (await rows(page, "run-steps")).map(([word]) => word),
    ["ok", "ok", "ok", "failed"],
  );
  assert.equal(await drop(page, receipt(run, { withheld: [2] })), "verified in part");
  const shown = await rows(page, "run-steps");
  assert.deepEqual(
    shown.map(([word, , event]) => [word, event.split(" ")[0]]),
    [
      ["ok", "started"],
      ["withheld", "withheld"],
      ["unchecked", "approval"],
      ["unchecked", "call"],
    ],
  );
  const changed = Buffer.from(receipt(run));
  changed[changed.length - 1] ^= 1;
  assert.equal(await drop(page, changed), "not verified");
  assert.match(await text(page, "#summary"), /^signature: /);
  assert.deepEqual(await rows(page, "run-steps"), shown);
  assert.ok(await page.$eval("#run-steps", (section) => section.hidden));
  for (const bytes of ["", "{}", "\ud83d\ude00".repeat(1000)]) {
    assert.equal(await drop(page, Buffer.from(bytes)), "not verified");
  }
  assert.deepEqual(errors, []);
});

test("hostile texts stay texts, bounded and visible", async (context) => {
  if (skip) return context.skip(skip);
  const { page, errors } = await open();
  const hostile = "<img src=x onerror=alert(1)><script>alert(1)</script>\u202e\u2066\u200b\u0000\u001b[2J";
  const texts = [hostile, "x".repeat(100_000), "a\u0300".repeat(20_000), "\u{e0041}\ufeff\u2028"];
  for (const words of texts) {
    // The holder of the key writes what they like after the steps that follow from the events.
    const json = JSON.stringify(words);
    const more = Array.from({ length: 600 }, () => [
      `"event":{"type":${json},"tool":${json}}`,
      ...Array.from(
        { length: 3 },
        () => `"record":{"type":"decision","permit":${json},"tool":${json},"reasons":[{"code":${json}}]}`,
      ),
      '"state":{}',
    ]);
    const run = runOf("named approvals");
    const steps = [...contents(run), ...(words.length > 1000 ? more.slice(0, 20) : more)];
    const lines = chained(steps);
    const file = receipt(run, { change: (parts) => ({ ...parts, issuer: words, lines }) });
    assert.equal(await drop(page, file, `${words.slice(0, 60).replaceAll("\0", "")}.receipt`), "not verified");
    const body = await page.evaluate(() => document.body.innerText);
    assert.doesNotMatch(body, /[\p{Cf}\p{Zl}]/u);
    assert.equal(await page.$("#receipt img, #receipt script"), null);
    const count = (await rows(page, "run-steps")).length;
    assert.ok(count <= 512, `${count} rows`);
    if (words.length < 1000) {
      assert.match(await text(page, "#steps-cut"), /^The first 512 of 604 steps are shown\.$/);
    }
    assert.ok(body.length < 2_000_000, `${body.length} characters`);
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 1280);
  }
  assert.match(await page.evaluate(() => document.body.innerText), /\\u\{e0041\}\\u\{feff\}/);
  assert.deepEqual(errors, []);
});

test("without a network, a page that has loaded still verifies", async (context) => {
  if (skip) return context.skip(skip);
  const { page, errors } = await open();
  assert.equal(await drop(page, receipt(runOf("numbers"))), "verified");
  await page.setOfflineMode(true);
  assert.equal(await drop(page, receipt(runOf("large values"))), "verified");
  assert.deepEqual(errors, []);
});
