// The page of `seamgate serve`, in a browser: what it shows, who decides on it, and what hostile text does there.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { launch } from "./chromium.mjs";

const seamgate = fileURLToPath(new URL("../node_modules/.bin/seamgate", import.meta.url));
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const place = mkdtempSync(path.join(tmpdir(), "seamgate-serve-"));

/** Texts that a model may put into a call: markup, directions, controls, sizes, and words that look like the page's own. */
const HOSTILE = [
  "<img src=x onerror=alert(1)>",
  "<script>alert(1)</script>",
  "</pre><h1>Approved</h1>",
  "<!--",
  "<style>*{display:none}</style>",
  "<iframe src=//evil.example></iframe>",
  "<a href=javascript:alert(1)>Approve</a>",
  "<form action=//evil.example><button>Approve",
  "&lt;b&gt;&amp;&#60;",
  "javascript:alert(1)",
  `{{7*7}}\${7*7}`,
  "\u202eevitcele\u202c",
  "\u2066a\u2069\u200f\u200e",
  "\u0000\u0001\u001b[2J\u001b[31m",
  "a\u0300".repeat(400),
  "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}".repeat(100),
  "x".repeat(20_000),
  "\n".repeat(2000),
  " ".repeat(20_000),
  "\t\r\u0085\u2028\u2029",
  "Nobody decided in time.",
  "\n  by: mallory\n  until: 2099-01-01",
  "tool: s/read\neffect: read",
  '"]}},{"name":"x"',
  "'; DROP TABLE runs; --",
  "\\u003cscript\\u003e",
  "\u00ad\u200b\u2060\ufeff",
  "\u0430pprove \u0440\u0430\u0443",
  "data:text/html,<script>alert(1)</script>",
  "\ud83d\ude00\u{e0041}\u{e0042}",
];

/** A server of tools, which writes down the calls that it got. */
const SERVER = `
const { appendFileSync } = require("node:fs");
const { createInterface } = require("node:readline");
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  const tool = (name) => ({ name, inputSchema: { type: "object" } });
  const results = {
    initialize: () => ({ protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } }),
    "tools/list": () => ({ tools: ["send", "late"].map(tool) }),
    "tools/call": () => {
      appendFileSync("calls", JSON.stringify(params.arguments) + "\\n");
      return { content: [{ type: "text", text: "sent" }] };
    },
  };
  if (id !== undefined && results[method]) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: results[method]() }));
});
`;

let browser;
let skip = false;
let origin;
let token;
let site;
let gate;
let sent = 0;

before(async () => {
  try {
    browser = await launch(path.join(place, "browser"));
  } catch (error) {
    skip = `no browser runs here: ${error.message.split("\n")[0]}`;
    return;
  }
  writeFileSync(path.join(place, "server.cjs"), SERVER);
  writeFileSync(path.join(place, "calls"), "");
});

after(async () => {
  gate?.stdin.end();
  if (gate) await once(gate, "exit");
  site?.kill("SIGTERM");
  // A signal ends it, although Node has handlers of its own.
  if (site) assert.deepEqual(await once(site, "exit"), [143, null]);
  await browser?.close();
  rmSync(place, { recursive: true, force: true });
});

/** Starts the server of the page, over the folder of runs. */
async function serve() {
  site = spawn(seamgate, ["serve", "--runs", ".", "--listen", "127.0.0.1:0"], {
    cwd: place,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const [line] = await once(createInterface({ input: site.stderr }), "line");
  [, origin, token] = /(http:\/\/127\.0\.0\.1:\d+)\/#(\w+)/.exec(line);
}

/** Starts a gate for anna, whose key is of the browser, and writes what its client sends. */
function startGate(key) {
  const tool = (name, ttl) => ({
    name,
    server: "s",
    effect: "effectful",
    permit: { approval: { by: ["owner"], ttl_s: ttl } },
  });
  const profile = {
    agent: "team",
    approvers: { owner: [{ principal: "anna", key }] },
    servers: { s: { methods: [] } },
    tools: [tool("send", 3600), tool("late", 6)],
  };
  writeFileSync(path.join(place, "team.profile.json"), JSON.stringify(profile));
  const server = [process.execPath, "server.cjs"];
  const options = { cwd: place, stdio: ["pipe", "ignore", "ignore"] };
  gate = spawn(seamgate, ["mcp", "-p", "team.profile.json", "--journal", ".", "--", ...server], options);
  const clientInfo = { name: "c", version: "1" };
  say({ id: 0, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo } });
  say({ method: "notifications/initialized" });
}

const say = (message) => gate.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

function call(name, text) {
  sent += 1;
  say({ id: sent, method: "tools/call", params: { name, arguments: { text } } });
}

const calls = () => readFileSync(path.join(place, "calls"), "utf8").split("\n").filter(Boolean);

/** The page. What goes wrong in it goes wrong here, but for the answers of the server that a test names. */
async function open(width = 1366, allowed = []) {
  const page = await browser.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(error));
  page.on("dialog", (dialog) => errors.push(new Error(`a dialog: ${dialog.message()}`)) && dialog.dismiss());
  page.on(
    "request",
    (request) => request.url().startsWith(origin) || errors.push(new Error(`asks for ${request.url()}`)),
  );
  page.on("console", (message) => {
    const text = message.text();
    if (message.type() === "error" && !allowed.some((part) => text.includes(part))) errors.push(new Error(text));
  });
  const isPhone = width < 500;
  await page.setViewport({ width, height: isPhone ? 844 : 900, isMobile: isPhone, hasTouch: isPhone });
  await page.goto(`${origin}/#${token}`);
  await page.waitForFunction(() => /waiting, \d+ runs?$/.test(document.querySelector("#state").textContent));
  return { page, errors };
}

const articles = (page, count) =>
  page.waitForFunction((count) => document.querySelectorAll("article").length === count, { timeout: 60_000 }, count);

/** The article whose view has a text. */
const articleWith = (page, text) =>
  page.evaluateHandle(
    (text) => [...document.querySelectorAll("article")].find((one) => one.textContent.includes(text)),
    text,
  );

async function accessible(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run(document));
  const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  return serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" | ")}`);
}

test("the page makes a key, shows hostile calls as text, and decides with the key alone", {
  skip: false,
  timeout: 180_000,
}, async (t) => {
  if (skip) return t.skip(skip);
  await serve();
  const { page, errors } = await open();
  assert.equal(await page.evaluate(() => location.hash), "", "the token stays in no history");
  await page.type("#principal", "anna");
  await page.click("#new-key");
  await page.waitForFunction(() => document.querySelector("#key").textContent.includes('"key":"'));
  const said = await page.$eval("#key", (key) => key.textContent);
  const { principal, key } = JSON.parse(said.slice(said.indexOf("{")));
  assert.equal(principal, "anna");
  assert.match(key, /^[\w-]{43}$/);
  startGate(key);
  for (const text of HOSTILE) call("send", text);
  await articles(page, HOSTILE.length);

  // Each call has the same elements, whatever its text is.
  const shapes = await page.$$eval("article", (all) => [
    ...new Set(all.map((one) => [...one.querySelectorAll("*")].map(({ nodeName }) => nodeName).join())),
  ]);
  assert.deepEqual(shapes, ["H3,P,PRE,P,P,DIV,BUTTON,BUTTON,P"]);
  const texts = await page.$$eval("article pre", (all) => all.map((view) => view.textContent));
  assert.ok(
    texts.every((text) => !/(?!\n)[\p{Cc}\p{Bidi_Control}]/u.test(text)),
    "what cannot be seen is escaped",
  );
  for (const width of [1366, 390]) {
    await page.setViewport({ width, height: 844 });
    const [room, needed] = await page.evaluate(() => [
      document.documentElement.clientWidth,
      document.documentElement.scrollWidth,
    ]);
    assert.ok(needed <= room, `${needed} px in ${room}`);
    await page.screenshot({ path: path.join(place, `page-${width}.png`) });
    if (process.env.PICTURES) await page.screenshot({ path: path.join(process.env.PICTURES, `serve-${width}.png`) });
    assert.deepEqual(await accessible(page), []);
  }
  await page.setViewport({ width: 1366, height: 900 });

  // By the keyboard alone: the first button that Approve has is reached by Tab, and pressed by Enter.
  await page.focus("h1").catch(() => {});
  for (let presses = 0; presses < 40; presses += 1) {
    await page.keyboard.press("Tab");
    if (await page.evaluate(() => document.activeElement.textContent === "Approve")) break;
  }
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Approve");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.body.textContent.includes("You approved it."), { timeout: 30_000 });
  await articles(page, HOSTILE.length - 1);
  while (calls().length === 0) await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(calls().length, 1);

  // A browser with another key cannot decide.
  const apart = await browser.createBrowserContext();
  const stranger = await apart.newPage();
  await stranger.goto(`${origin}/#${token}`);
  await stranger.waitForSelector("article");
  await stranger.type("#principal", "anna");
  await stranger.click("#new-key");
  await stranger.waitForFunction(() =>
    document.querySelector("article").textContent.includes("another key in the profile"),
  );
  assert.ok(await stranger.$$eval("article button", (all) => all.every((button) => button.disabled)));
  await apart.close();
  assert.deepEqual(errors, []);
  await page.close();
});

test("of two who decide at once, one is told that it came too late", { timeout: 120_000 }, async (t) => {
  if (skip) return t.skip(skip);
  const refused = ["409", "403"];
  const [one, two] = [await open(1366, refused), await open(390, refused)];
  call("send", "decided twice");
  const before = calls().length;
  for (const { page } of [one, two]) {
    await page.waitForFunction(() => document.body.textContent.includes("decided twice"), { timeout: 30_000 });
  }
  const words = await Promise.all(
    [one, two].map(async ({ page }) => {
      const article = await articleWith(page, "decided twice");
      await article.evaluate((one) => one.querySelector("button.yes").click());
      await page.waitForFunction(
        (one) => /You approved|waits any more|did not take|Invalid token/.test(one.textContent),
        { timeout: 30_000 },
        article,
      );
      return article.evaluate((one) => one.textContent);
    }),
  );
  assert.equal(words.filter((text) => text.includes("You approved it.")).length, 1, words.join("\n"));
  while (calls().length === before) await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(calls().filter((line) => line.includes("decided twice")).length, 1);
  for (const { page, errors } of [one, two]) {
    assert.deepEqual(errors, []);
    await page.close();
  }
});

test("a call that expires on the screen cannot be decided any more", { timeout: 120_000 }, async (t) => {
  if (skip) return t.skip(skip);
  const { page, errors } = await open();
  call("late", "expires here");
  await page.waitForFunction(() => document.body.textContent.includes("expires here"), { timeout: 30_000 });
  const article = await articleWith(page, "expires here");
  await page.waitForFunction(
    (one) => !one.isConnected || one.querySelector("button.yes").disabled,
    { timeout: 30_000 },
    article,
  );
  await page.waitForFunction((one) => !one.isConnected, { timeout: 30_000 }, article);
  assert.ok(!calls().some((line) => line.includes("expires here")));
  assert.deepEqual(errors, []);
  await page.close();
});

test("another token is refused, and asked for again", { timeout: 60_000 }, async (t) => {
  if (skip) return t.skip(skip);
  const apart = await browser.createBrowserContext();
  const page = await apart.newPage();
  await page.goto(`${origin}/#${token.replace(/^./, (digit) => (digit === "0" ? "1" : "0"))}`);
  await page.waitForFunction(() => !document.querySelector("#login").hidden);
  await page.type("#token", token);
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => /waiting, \d+ runs?$/.test(document.querySelector("#state").textContent));
  await apart.close();
});
