// The package in a browser.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Gate } from "seamgate";
import { placeOf } from "../browser/place.js";
import { files } from "../browser/serve.mjs";
import { locate } from "../browser/text.js";
import { launch } from "./chromium.mjs";
import { doubling, requests } from "./shared.mjs";

const here = fileURLToPath(new URL("..", import.meta.url));
const page = files(path.join(here, "page"));

/** Serves the page that `cargo xtask page` writes, and the requests. */
const server = createServer((request, response) => {
  if (request.url === "/requests") {
    response.end(requests().join("\n"));
    return;
  }
  page(request, response);
});

const profile = mkdtempSync(path.join(tmpdir(), "seamgate-browser-"));
let browser;
let skip = false;
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

/** The page, once it has shown its first verdict. What goes wrong in the page goes wrong here. */
async function open({ width = 1280, fragment = "", isDark = false } = {}) {
  const page = await browser.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(error));
  page.on("request", (request) => {
    if (!request.url().startsWith(origin) && !request.url().startsWith("data:")) {
      errors.push(new Error(`the page asks for ${request.url()}`));
    }
  });
  page.on("requestfailed", (request) => errors.push(new Error(`${request.url()} failed`)));
  page.on("console", (message) => message.type() === "error" && errors.push(new Error(message.text())));
  const isPhone = width < 500;
  await page.setViewport({
    width,
    height: isPhone ? 844 : 1000,
    isMobile: isPhone,
    hasTouch: isPhone,
  });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: isDark ? "dark" : "light" }]);
  await page.goto(`${origin}/${fragment}`);
  await page.waitForSelector("body[data-ready]", { timeout: 20_000 }).catch((error) => errors.push(error));
  assert.deepEqual(errors, []);
  return { page, errors };
}

/** Type a text in place of what is in a field. */
function type(page, field, text) {
  return page.$eval(
    `#${field}-field`,
    (field, text) => {
      field.value = text;
      field.dispatchEvent(new Event("input"));
    },
    text,
  );
}

/** Wait for a verdict: its word, and what the summary says. */
function verdict(page, disposition, summary = "") {
  return page.waitForFunction(
    (disposition, summary) =>
      document.querySelector("#disposition").textContent === disposition &&
      document.querySelector("#summary").textContent.includes(summary),
    { timeout: 20_000 },
    disposition,
    summary,
  );
}

function text(page, selector) {
  return page.$eval(selector, (element) => element.textContent);
}

/** The pieces of a text that are marked, each with its classes and its place in the text. */
function marked(page, editor) {
  return page.$eval(`#${editor} .marks`, (sheet) => {
    let at = 0;
    const found = [];
    for (const node of sheet.childNodes) {
      if (node.nodeName === "MARK") {
        found.push({
          at,
          text: node.textContent,
          levels: node.className.split(" "),
        });
      }
      at += node.textContent.length;
    }
    return found;
  });
}

function chosen(page, selector) {
  return page.$$eval(`${selector} [role=tab]`, (tabs) => {
    const chosen = tabs.filter((tab) => tab.ariaSelected === "true");
    const reached = tabs.filter((tab) => tab.tabIndex === 0);
    return [chosen.map((tab) => tab.textContent), reached.length];
  });
}

const counts = JSON.stringify({
  agent: "counts",
  schema: {
    type: "object",
    properties: {
      count: { type: "integer", minimum: 1 },
      name: { type: "string" },
    },
  },
});

test("places in a contract, by pointer", () => {
  const contract =
    '{ "a/~b" : [ {}, [1 ,-2.5e3], "\\"]{" ] ,\n\t"schema":{"x":null,"\\u0078":true}, "schema" : "last" }';
  const places = [
    ["", contract],
    ["/a~1~0b", '[ {}, [1 ,-2.5e3], "\\"]{" ]', '"a/~b"'],
    ["/a~1~0b/0", "{}"],
    ["/a~1~0b/1/1", "-2.5e3"],
    ["/a~1~0b/2", '"\\"]{"'],
    // Of members with one name, the last; and as far as a pointer leads.
    ["/schema", '"last"', '"schema"'],
    ["/schema/nowhere", '"last"', '"schema"'],
  ];
  for (const [pointer, value, name] of places) {
    const place = placeOf(contract, pointer);
    assert.equal(contract.slice(...place.value), value, pointer);
    assert.equal(place.name && contract.slice(...place.name), name, pointer);
  }
});

test("places in an output, by byte", () => {
  const output = "aé\n€😀b\ud800c\n";
  const before = (at) => Buffer.byteLength(output.slice(0, at));
  // Not within a pair.
  const places = [0, 1, 2, 3, 4, 6, 7, 8, 9, 10];
  const { places: found, bytes } = locate(output, places.map(before));
  assert.equal(bytes, Buffer.byteLength(output));
  for (const at of places) {
    const lines = output.slice(0, at).split("\n");
    const last = lines[lines.length - 1];
    assert.deepEqual(found.get(before(at)), {
      at,
      line: lines.length,
      begin: at - last.length,
      column: [...last].length + 1,
    });
  }
});

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
    // Rules that one pass over the text cannot decide.
    const schema = { contains: { type: "integer" } };
    await code(() => gate.validate({ ...any, schema, caps }, `[${"1,".repeat(3_000_000)}1]`));
    const open = '{"anyOf":['.repeat(30);
    const close = ',{"minItems":1000}]}'.repeat(30);
    const level = `{"anyOf":[{"type":"integer"},{"type":"array","items":${open}{"$ref":"#/$defs/n"}${close}}]}`;
    const deep = `{"agent":"a","caps":{"depth":128},"schema":{"$ref":"#/$defs/n","$defs":{"n":${level}}}}`;
    await code(() => gate.validate(deep, `${"[".repeat(128)}1${"]".repeat(128)}`));
    await code(() => gate.validate(any, '"\ud800"'));
    await code(() => gate.validate(any, "1"));
    const workers = await WorkerGate.load({
      limits: { fuel: Number.MAX_SAFE_INTEGER },
      deadlineMs: 300,
      workers: 1,
    });
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

test("the page shows a verdict, and nothing of the producer's runs", async (context) => {
  if (skip) return context.skip(skip);
  const { page, errors } = await open();
  assert.match(await text(page, "#verdict"), /partial\s+3 items in quarantine, look before use/);
  assert.match(
    await text(page, "#findings"),
    /warning\[schema\]: \$\.recommendations\[4\] is in quarantine: \$\..*severity/,
  );
  // A script in a text, in a name, in a contract, and what turns the direction of writing.
  const hostile = "<img src=x onerror=document.title=1><script>document.title=1</script>";
  await type(page, "output", `{"${hostile}": "\u202e${hostile}"}`);
  await verdict(page, "rejected");
  assert.match(await text(page, "#findings"), /<img src=x.*\\u\{202e\}/s);
  await type(page, "contract", `{"agent": "a", "schema": {"const": 1}, "${hostile}": "${hostile}"}`);
  await verdict(page, "fault");
  assert.match(await text(page, "#findings"), /<img src=x/);
  await page.click("#output-field");
  assert.equal(await page.title(), "seamgate in the browser");
  assert.equal(await page.$("main img, main script"), null);
  assert.deepEqual(errors, []);
});

test("each example is a tab, by keyboard too", async (context) => {
  if (skip) return context.skip(skip);
  const { page, errors } = await open();
  const verdicts = {
    "Some items bad": "partial",
    Accepted: "accepted",
    "Cut off": "partial",
    "No valid item": "rejected",
    "Not a URL": "rejected",
    Refused: "refused",
    "Prose around JSON": "rejected",
    "Endless schema": "fault",
  };
  const titles = await page.$$eval("#examples [role=tab]", (tabs) => tabs.map((tab) => tab.textContent));
  assert.deepEqual(titles, Object.keys(verdicts));
  await page.focus("#examples [role=tab]");
  for (const [title, expected] of Object.entries(verdicts)) {
    await verdict(page, expected);
    assert.deepEqual(await chosen(page, "#examples"), [[title], 1]);
    assert.equal(await page.evaluate(() => document.activeElement.textContent), title);
    await page.keyboard.press("ArrowRight");
  }
  assert.deepEqual(await chosen(page, "#examples"), [[titles[0]], 1]);
  assert.deepEqual(errors, []);
});

test("results are tabs: document, feedback, prompt and report", async (context) => {
  if (skip) return context.skip(skip);
  const { page, errors } = await open();
  const shown = {};
  for (const name of ["document", "feedback", "prompt", "report"]) {
    await page.click(`#views-${name}`);
    shown[name] = await text(page, "#content");
    assert.equal(await page.$eval("#view", (view) => view.getAttribute("aria-labelledby")), `views-${name}`);
  }
  const gate = await Gate.load();
  const { agent } = gate.register(await page.$eval("#contract-field", (field) => field.value));
  const { report } = gate.validate(agent, await page.$eval("#output-field", (field) => field.value));
  assert.deepEqual(JSON.parse(shown.document), report.output);
  assert.equal(shown.feedback, report.feedback);
  assert.equal(shown.prompt, gate.describe(agent));
  assert.deepEqual(JSON.parse(shown.report), JSON.parse(report.json));
  await page.click("#views-feedback");
  await page.click("#examples-1");
  await verdict(page, "accepted");
  assert.equal(await text(page, "#about"), "There is nothing to send back.");
  assert.equal(await page.$eval("#copy", (button) => button.disabled), true);
  assert.deepEqual(errors, []);
});

test("what is wrong is underlined where it stands, and says itself", async (context) => {
  if (skip) return context.skip(skip);
  const { page, errors } = await open();
  // Field and sheet are laid out alike: each line is where its marks are.
  const heights = await page.$eval("#output .sheet", (sheet) => [...sheet.children].map((layer) => layer.scrollHeight));
  assert.equal(heights[0], heights[1]);
  assert.ok(heights[0] > 800, `the text has a height of ${heights[0]}`);
  await type(page, "contract", counts);
  // Characters of one to four bytes before it.
  const output = 'é€😀\n```json\n{"count": 0,\n "name": 5}\n```\n';
  await type(page, "output", output);
  await verdict(page, "rejected", "2 violations");
  const marks = await marked(page, "output");
  assert.deepEqual(marks, [
    { at: output.indexOf("0,"), text: "0", levels: ["error"] },
    { at: output.indexOf("5}"), text: "5", levels: ["error"] },
  ]);
  const tip = () => page.$eval("#output .tip", (tip) => (tip.hidden ? null : tip.textContent));
  assert.equal(await tip(), null);
  // By pointer.
  const at = await page.$eval("#output mark", (mark) => mark.getBoundingClientRect().toJSON());
  await page.mouse.move(at.x + at.width / 2, at.y + at.height / 2);
  assert.match(await tip(), /error\[minimum\] \$\.count must be >= 1/);
  await page.keyboard.press("Escape");
  assert.equal(await tip(), null);
  await page.mouse.move(0, 0);
  // By the caret, told to those who hear the page.
  await page.focus("#output-field");
  await page.$eval("#output-field", (field, at) => field.setSelectionRange(at, at), output.indexOf("5}"));
  await page.waitForFunction(() => !document.querySelector("#output .tip").hidden);
  assert.match(await tip(), /error\[type\] \$\.name/);
  assert.match(await text(page, "#output .told"), /error\[type\] \$\.name/);
  // By the buttons, and from the list.
  await page.focus("#output [aria-label='Next problem']");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => /minimum/.test(document.querySelector("#output .told").textContent));
  assert.equal(await text(page, "#output .count"), "1 of 2");
  await page.click("#findings .finding:nth-child(2) .place");
  await page.waitForFunction(() => /error\[type\]/.test(document.querySelector("#output .told").textContent));
  assert.equal(await page.$eval("#output-field", (field) => field.selectionStart), output.indexOf("5}"));
  // While it is typed, what stands elsewhere keeps its mark.
  await type(page, "output", output.replace("é", "ée"));
  assert.deepEqual(
    (await marked(page, "output")).map(({ at }) => at),
    marks.map(({ at }) => at + 1),
  );
  assert.deepEqual(errors, []);
});

test("an item in quarantine is marked whole, and what is wrong in it too", async (context) => {
  if (skip) return context.skip(skip);
  const { page, errors } = await open();
  const pieces = await marked(page, "output");
  const urgent = pieces.find(({ text }) => text === '"urgent"');
  assert.deepEqual(urgent.levels.toSorted(), ["item", "warning"]);
  const before = pieces[pieces.indexOf(urgent) - 1];
  assert.deepEqual(before.levels, ["item"]);
  assert.match(before.text, /^\{\s+"id": "IOS-88"/);
  assert.deepEqual(errors, []);
});

test("mistakes in a contract are shown in it", async (context) => {
  if (skip) return context.skip(skip);
  const { page, errors } = await open();
  const mistakes = [
    ['{"agent": "a",\n "schema": {},\n "extrct": {}}', '"extrct"', "extrct"],
    ['{"agent": "a",\n "schema": {"properties": {"x/~y": {"type": "strin"}}}}', '"strin"', "enum"],
    ['{"agent": "a",\n "schema": {"items": [1], "minimum": 2}}', "[1]", "items"],
    ['{"agent": "a",\n "schema": {"$ref": "#/$defs/no"}}', '"#/$defs/no"', "\\$ref"],
    ['{"agent": "a", "agent": "b",\n "schema": {}}', '"agent"', "duplicate_member"],
    ['{"agent": "a",\n "schema": {"type" "string"}}', '"', "json.*expected ':'"],
    ['{"agent": "a",\n "schema": {}', "}", "json.*expected ',' or '}'"],
  ];
  for (const [contract, piece, told] of mistakes) {
    await type(page, "contract", contract);
    await page.waitForFunction(
      (told) => new RegExp(told).test(document.querySelector("#findings h2")?.textContent),
      { timeout: 20_000 },
      told,
    );
    await verdict(page, "fault", "bad_contract");
    assert.equal((await marked(page, "contract"))[0]?.text, piece, contract);
    assert.deepEqual(await marked(page, "output"), []);
  }
  await page.click("#findings .place");
  await page.waitForFunction(() => !document.querySelector("#contract .tip").hidden);
  await page.click("#views-prompt");
  assert.equal(await text(page, "#about"), "There is no contract to describe.");
  await type(page, "contract", counts);
  await verdict(page, "rejected");
  assert.match(await text(page, "#content"), /count/);
  // Likely mistakes in a valid contract are marked as well.
  await type(page, "contract", counts.replace('"minimum"', '"minimun"'));
  await page.waitForFunction(() =>
    [...document.querySelectorAll("#contract mark")].some((mark) => mark.textContent === '"minimun"'),
  );
  assert.deepEqual(errors, []);
});

test("a link holds output and contract, and a broken one says so", async (context) => {
  if (skip) return context.skip(skip);
  const first = await open();
  const output = 'é😀 "\ud800" <b>#&?</b> {"count": 0}';
  await type(first.page, "contract", counts);
  await type(first.page, "output", output);
  await first.page.click("#link");
  await first.page.waitForFunction(() => location.hash !== "");
  assert.match(await text(first.page, "#notice"), /The link is in the address bar/);
  const fragment = await first.page.evaluate(() => location.hash);
  assert.match(fragment, /^#v1\.[\w-]+$/);

  const { page, errors } = await open({ fragment });
  const held = () => page.$$eval("textarea", (fields) => fields.map((field) => field.value));
  assert.deepEqual(await held(), [output, counts]);
  assert.deepEqual(await chosen(page, "#examples"), [["From the link"], 1]);
  await page.click("#examples-1");
  await verdict(page, "accepted");
  await page.click("#examples-linked");
  await page.waitForFunction((text) => document.querySelector("#output-field").value === text, {}, output);

  // What is wrong with these is said, and the first example is there.
  const bomb = await page.evaluate(async () => {
    const long = new Blob([`["${"a".repeat(8_000_000)}",""]`])
      .stream()
      .pipeThrough(new CompressionStream("deflate-raw"));
    const bytes = new Uint8Array(await new Response(long).arrayBuffer());
    const text = [...bytes].map((byte) => String.fromCharCode(byte)).join("");
    return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  });
  const other = await page.evaluate(async () => {
    const held = new Blob(['{"output":"x"}']).stream().pipeThrough(new CompressionStream("deflate-raw"));
    return btoa(String.fromCharCode(...new Uint8Array(await new Response(held).arrayBuffer()))).replace(/=+$/, "");
  });
  const broken = {
    [`#v1.${bomb}`]: /holds more than 1048576 bytes/,
    [`#v1.${other.replaceAll("+", "-").replaceAll("/", "_")}`]: /something else than an output and a contract/,
    [fragment.slice(0, -8)]: /a part of it is missing or changed/,
    "#v1.%3Cimg%20src=x%3E": /a part of it is missing or changed/,
    "#<img src=x>": /must begin with v1\./,
    [`#v1.${"A".repeat(40_000)}`]: /40003 characters/,
  };
  for (const [fragment, told] of Object.entries(broken)) {
    const { page, errors } = await open({ fragment });
    assert.match(await text(page, "#notice"), told);
    assert.deepEqual(await chosen(page, "#examples"), [["Some items bad"], 1]);
    assert.equal(await page.$("img"), null);
    assert.deepEqual(errors, []);
    await page.close();
  }
  // What no link can hold.
  let seed = 1;
  const next = () => {
    seed = (seed * 48271) % 2147483647;
    return 33 + (seed % 9000);
  };
  const random = String.fromCharCode(...Array.from({ length: 30_000 }, next));
  await type(page, "output", random);
  await page.click("#link");
  await page.waitForFunction(() => /There is no link/.test(document.querySelector("#notice").textContent));
  assert.deepEqual(errors, []);
});

test("the slider replays the output as a stream", async (context) => {
  if (skip) return context.skip(skip);
  const { page, errors } = await open();
  const all = await page.$eval("#output-field", (field) => field.value);
  const slide = (value) =>
    page.$eval(
      "#position",
      (slider, value) => {
        slider.value = value;
        slider.dispatchEvent(new Event("input"));
      },
      value,
    );
  await slide(100);
  await page.waitForFunction(() => /items complete/.test(document.querySelector("#progress").textContent));
  assert.match(await text(page, "#progress"), /^1,042 of 2,084 bytes came: in flight, 3 items complete\.$/);
  assert.match(await text(page, "#verdict"), /If it stopped here:\s+partial/);
  const shown = await page.$eval("#output-field", (field) => [field.value, field.readOnly]);
  assert.deepEqual(shown, [all.slice(0, 1042), true]);
  const done = (await marked(page, "output")).filter(({ levels }) => levels.includes("done"));
  assert.equal(done.length, 3);
  assert.match(done[0].text, /^\{\s+"id": "WEB-4312".*\}$/s);
  // By keyboard.
  await page.focus("#position");
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => /^1,052 of/.test(document.querySelector("#progress").textContent));
  assert.match(await page.$eval("#position", (slider) => slider.ariaValueText), /^1,052 of 2,084 characters$/);
  await page.keyboard.press("End");
  await page.waitForFunction(() => document.querySelector("#stopped").hidden);
  assert.deepEqual(await page.$eval("#output-field", (field) => [field.value, field.readOnly]), [all, false]);
  // What can no longer become right is said before the end.
  await type(
    page,
    "contract",
    '{"agent": "a", "schema": {}, "caps": {"array_items": 2}, "extract": {"select": "first"}}',
  );
  await type(page, "output", "```json\n[1, 2, 3, 4, 5]\n```\n");
  await verdict(page, "rejected");
  await slide(18);
  await page.waitForFunction(() => /dead end at byte/.test(document.querySelector("#progress").textContent));
  // Played to the end.
  await page.click("#play");
  await page.waitForFunction(() => document.querySelector("#play").textContent === "Pause");
  await page.waitForFunction(
    () => document.querySelector("#play").textContent === "Replay" && document.querySelector("#stopped").hidden,
    { timeout: 20_000 },
  );
  assert.deepEqual(errors, []);
});

test("an output of 5 MB is judged whole, and shown in part", async (context) => {
  if (skip) return context.skip(skip);
  const { page, errors } = await open();
  await type(page, "contract", '{"agent": "a", "schema": {"items": {"type": "string"}}, "caps": {"bytes": 8388608}}');
  await verdict(page, "rejected");
  const long = await page.$eval("#output-field", (field) => {
    const text = `[${`"${"word ".repeat(100)}",\n`.repeat(9999)}5]`;
    const pasted = new DataTransfer();
    pasted.setData("text/plain", text);
    field.select();
    const start = performance.now();
    field.dispatchEvent(new ClipboardEvent("paste", { clipboardData: pasted, cancelable: true }));
    return performance.now() - start;
  });
  await page.waitForFunction(() => /\$\[9999\]/.test(document.querySelector("#findings").textContent));
  context.diagnostic(`pasted in ${long.toFixed(0)} ms`);
  assert.ok(long < 1000, `the page stood still for ${long} ms`);
  assert.match(await text(page, "#output .cut"), /^Characters 1 to 100,000 of 5,039,499 are shown/);
  assert.deepEqual(await page.$eval("#output-field", (field) => [field.value.length, field.readOnly]), [100_000, true]);
  await page.click("#findings .place");
  await page.waitForFunction(() => !document.querySelector("#output .tip").hidden);
  assert.equal((await marked(page, "output"))[0].text, "5");
  await page.click("#output .clear");
  await verdict(page, "rejected");
  assert.equal(await page.$eval("#output-field", (field) => field.value + field.readOnly), "false");
  assert.deepEqual(errors, []);
});

test("on a phone the verdict comes first, and nothing is too wide", async (context) => {
  if (skip) return context.skip(skip);
  for (const isDark of [false, true]) {
    const { page, errors } = await open({ width: 390, isDark });
    const tops = await page.$$eval("#verdict, #output, #result, #contract", (parts) =>
      parts.map((part) => [part.id, part.getBoundingClientRect().top]),
    );
    const ordered = tops.toSorted((a, b) => a[1] - b[1]).map(([id]) => id);
    assert.deepEqual(ordered, ["verdict", "output", "result", "contract"]);
    await type(page, "output", `{"${"x".repeat(5000)}": "${"😀".repeat(2000)}"}`);
    await verdict(page, "rejected");
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.equal(width, 390);
    assert.deepEqual(errors, []);
    await page.close();
  }
});

test("texts have the contrast that WCAG asks for, in the light and in the dark", async (context) => {
  if (skip) return context.skip(skip);
  for (const isDark of [false, true]) {
    const { page } = await open({ isDark });
    const low = await page.evaluate(() => {
      const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
      const luminance = (colours) => {
        canvas.clearRect(0, 0, 1, 1);
        for (const colour of colours) {
          canvas.fillStyle = colour;
          canvas.fillRect(0, 0, 1, 1);
        }
        const linear = [...canvas.getImageData(0, 0, 1, 1).data].map((value) => {
          const part = value / 255;
          return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
      };
      const low = [];
      for (const element of document.querySelectorAll("body *")) {
        const hasText = [...element.childNodes].some((node) => node.nodeName === "#text" && node.data.trim() !== "");
        if (!hasText || element.closest(".marks, script, :disabled") || element.getClientRects().length === 0) {
          continue;
        }
        const grounds = [];
        for (let around = element; around !== null; around = around.parentElement) {
          grounds.unshift(getComputedStyle(around).backgroundColor);
        }
        const [a, b] = [luminance(grounds), luminance([...grounds, getComputedStyle(element).color])];
        const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (contrast < 4.5) {
          low.push(
            `${element.tagName}.${element.className} ${element.textContent.slice(0, 30)}: ${contrast.toFixed(2)}`,
          );
        }
      }
      return low;
    });
    assert.deepEqual(low, []);
    await page.close();
  }
});
