// Receipts: the same report as the command line's, and no forgery that verifies.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { backend, Gate, verifyReceipt } from "seamgate";
import { chained, changed, contents, KEY, receipt, recorded, sha256 } from "./receipts.mjs";

const seamgate = fileURLToPath(new URL("../node_modules/.bin/seamgate", import.meta.url));
const place = mkdtempSync(path.join(tmpdir(), "seamgate-receipt-"));
after(() => rmSync(place, { recursive: true }));

const runs = recorded();
const runOf = (name) => runs.find((run) => run.name === name);
const needs = { skip: runs.length === 0 && "runs are recorded by the addon, which is not here" };
const gate = await Gate.load();
const verified = (file, options = {}) => verifyReceipt(file, { keys: [KEY], gate, ...options });
const failure = ({ checks }) => checks.find(({ ok }) => !ok);

/** Runs the command line, which is in the addon. */
function run(...args) {
  const env = { ...process.env, SEAMGATE_BACKEND: "native" };
  return spawnSync(seamgate, args, { encoding: "utf8", maxBuffer: 2 ** 26, env });
}

/** Writes a file, and returns its name. */
function written(name, bytes) {
  const file = path.join(place, name);
  writeFileSync(file, bytes);
  return file;
}

/** Returns the command line's output about a receipt. */
function printed(file, ...args) {
  const name = written("one.receipt", file);
  const { stdout, stderr } = run("receipt", "verify", name, `--key=${KEY}`, "--json", ...args);
  assert.equal(stderr, "");
  return stdout.trimEnd();
}

async function sameAsPrinted(file, what, witness) {
  const report = await verified(file, { witness });
  const keys = witness?.keys === "any" ? ["any"] : (witness?.keys ?? []);
  const options = keys.map((key) => `--witness-key=${key}`);
  if (witness !== undefined) options.push(`--witness=${written("one.witness", witness.file)}`);
  assert.equal(JSON.stringify(report), printed(file, ...options), what);
  return report;
}

/** Returns a receipt of the same run with other lines and all digests recomputed. */
function forged(run, change) {
  const steps = contents(run);
  change(steps);
  return receipt(run, { change: (parts) => ({ ...parts, lines: chained(steps) }) });
}

/** Replaces the first occurrence of a text in the lines of steps. */
function replaced(steps, from, to) {
  for (const lines of steps.slice(1)) {
    const at = lines.findIndex((line) => line.replace(from, to) !== line);
    if (at !== -1) {
      lines[at] = lines[at].replace(from, to);
      return;
    }
  }
  assert.fail(`no line has ${from}`);
}

const random = (() => {
  let seed = 7;
  return (below) => {
    seed = (seed * 48271) % 2147483647;
    return seed % below;
  };
})();

test("every recorded run verifies", needs, async () => {
  let steps = 0;
  for (const run of runs) {
    const report = await verified(receipt(run));
    assert.ok(report.ok && report.whole, `${run.name}: ${JSON.stringify(failure(report))}`);
    assert.equal(report.counts.derived, report.counts.steps);
    steps += report.counts.steps;
  }
  assert.ok(runs.length > 50 && steps > 300, `${runs.length} runs, ${steps} steps`);
});

test("a run verifies that its component and others made", needs, async () => {
  const long = runs.filter((run) => contents(run).length > 3);
  for (const [at, run] of long.entries()) {
    if (at % 4 !== 0) continue;
    const last = contents(run).length - 1;
    const steps = [[2], [last], [...new Set([1, 2, last])]][(at / 4) % 3];
    const { ok, whole, checks, component } = await verified(receipt(changed(run, ...steps)));
    assert.ok(ok && whole, `${run.name}: ${JSON.stringify(checks.at(-1))}`);
    const { detail } = checks.find(({ check }) => check === "component");
    assert.ok(detail.startsWith(`${component}; before step ${steps[0]}: sha256:`), detail);
  }
  const many = changed(runOf("numbers"), 1, 2, 3, 4, 5, 6);
  const report = await sameAsPrinted(receipt(many), "six changes");
  assert.match(report.checks.find(({ check }) => check === "component").detail, /; and 2 changes more$/);
  await sameAsPrinted(receipt(many, { withheld: [3] }), "six changes, withheld");
});

/** Receipts of a run that changed its component, by somebody who holds the key, in which all digests follow. */
function* forgedChanges() {
  const run = changed(runOf("numbers"), 2, 4);
  const { component } = JSON.parse(runOf("numbers").lines[0]).run;
  const change = (name, edit) => [name, forged(run, edit)];
  const edited = (from, to) => (steps) => replaced(steps, from, to);
  yield change("a change is missing", (steps) => steps[2].shift());
  yield change("the last change is missing", (steps) => steps[4].shift());
  yield change("a change comes twice", (steps) => steps[4].unshift(steps[4][0]));
  yield change("a change inside a step", (steps) => steps[4].splice(1, 0, steps[4].shift()));
  yield change("a change at the end", (steps) =>
    steps.push([`"component":{"from":"${component}","to":"${sha256("more")}"}`]),
  );
  yield change("a change to the same component", (steps) =>
    steps[6].unshift(`"component":{"from":"${component}","to":"${component}"}`),
  );
  yield change(
    "a change from another component",
    edited('"component":{"from":"sha256:', '"component":{"from":"sha256:0'),
  );
  yield change("a change with a member more", edited('"component":{"from"', '"component":{"more":1,"from"'));
  yield change("a change with a member twice", edited(/("component":\{)("from":"[^"]*")/, "$1$2,$2"));
  yield change(
    "a change that is a list",
    edited(/"component":\{"from":("[^"]*"),"to":("[^"]*").*\}/, '"component":[$1,$2]'),
  );
  yield change("a change without its end", edited(/"to":"[^"]*",/, ""));
  yield change("a version that is a number", edited('"version":"0.0.2"', '"version":7'));
  yield change("a version that is null", edited('"version":"0.0.2"', '"version":null'));
  yield change("no version", edited(',"version":"0.0.2"', ""));
  yield change("a version that the states do not name", edited('"version":"0.0.2"', '"version":"0.0.3"'));
  yield change("its own version is another", (steps) => {
    steps[4][0] = steps[4][0].replace(/"version":"[^"]*"/, '"version":"9.9"');
  });
  yield change("its own version is missing", (steps) => {
    steps[4][0] = steps[4][0].replace(/,"version":"[^"]*"/, "");
  });
  yield change("a state of an earlier component", (steps) => {
    const end = steps[1].length - 1;
    steps[1][end] = steps[1][end].replace(/"digest":"sha256:./, '"digest":"sha256:x');
  });
  const first = forged(runOf("numbers"), (steps) => {
    steps[0][0] = steps[0][0].replace(/"version":"[^"]*"/, '"version":"9.9"');
  });
  yield ["the first line names another version", first];
  const number = forged(runOf("numbers"), (steps) => {
    steps[0][0] = steps[0][0].replace(/"version":"[^"]*"/, '"version":9');
  });
  yield ["the first line names a version that is a number", number];
}

test("no forged change of the component verifies, and reports are those of the command line", needs, async () => {
  for (const [name, file] of forgedChanges()) {
    const report = await sameAsPrinted(file, name);
    assert.ok(!report.ok, name);
    assert.ok(report.checks.at(-1).step !== undefined, `${name}: ${JSON.stringify(report.checks.at(-1))}`);
  }
});

test("reports are those of the command line", needs, async () => {
  const own = runs.slice(0, 4);
  for (const run of [...own, ...runs.slice(4).filter((_, at) => at % 20 === 0)]) {
    const { ok } = await sameAsPrinted(receipt(run), run.name);
    assert.ok(ok, run.name);
    await sameAsPrinted(receipt(run, { withheld: [2] }), `${run.name}, withheld`);
  }
  for (const [name, file] of forgeries()) {
    const { ok } = await sameAsPrinted(file, name);
    assert.ok(!ok, name);
  }
  for (let changes = 0; changes < 20; changes += 1) {
    await sameAsPrinted(flipped(receipt(own[changes % own.length])), "a bit is changed");
  }
});

test("no change of a byte verifies", needs, async () => {
  const files = runs.slice(0, 4).map((run) => receipt(run));
  for (let changes = 0; changes < 200; changes += 1) {
    const file = flipped(files[changes % files.length]);
    assert.ok(!(await verified(file)).ok, `change ${changes}`);
  }
  const [file] = files;
  for (let length = 0; length < file.length; length += 97) assert.ok(!(await verified(file.subarray(0, length))).ok);
  for (const more of ["\0", "\u00d2", "{}"]) {
    assert.equal(failure(await verified(Buffer.concat([file, Buffer.from(more)]))).check, "encoding");
  }
});

function flipped(file) {
  const changed = Buffer.from(file);
  changed[random(changed.length)] ^= 1 << random(8);
  return changed;
}

/** Receipts by somebody who holds the key, in which all digests follow. */
function* forgeries() {
  const change = (name, ...replacements) =>
    forged(runOf(name), (steps) => {
      for (const [from, to] of replacements) replaced(steps, from, to);
    });
  yield ["a denied call was allowed", change("named approvals", ['"permit":"deny"', '"permit":"allow"'])];
  yield [
    "a call that needed approval was allowed",
    change("named approvals", ['"permit":"approval"', '"permit":"allow"']),
  ];
  yield ["a label is dropped", change("numbers", ['"labels":["untrusted"]', '"labels":[]'])];
  yield ["an integer is one less", change("numbers", ["9007199254740993", "9007199254740992"])];
  yield ["1.0 is 1", change("numbers", ['"x":1.0', '"x":1'])];
  yield ["a digit of a result is another", change("numbers", ["1234567890123456789", "1234567890123456788"])];
  yield ["white space in an event", change("numbers", ['"event":{"type":"call",', '"event":{"type":"call", '])];
  yield ["an event with no type", change("numbers", ['"event":{"type":"call"', '"event":{"typ":"call"'])];
  yield ["an event that is a list", change("numbers", ['"event":{"type":"call"', '"event":[],"state":{"type":"call"'])];
  yield ["a member twice", change("numbers", ['"tool":"look"', '"tool":"look","tool":"look"'])];
  yield ["half a surrogate pair", change("numbers", ['"n":9007199254740993', '"n":"\\ud83d"'])];
  yield ["a line that is no JSON", change("numbers", ['"record":{', '"record":{{'])];
  yield ["a member beside the event", change("numbers", ['"event":{"type":"call"', '"more":1,"event":{"type":"call"'])];
  yield ["the name of the approver is another", change("named approvals", ['"principal":"anna"', '"principal":"eve"'])];
  yield ["an artifact that is missing", change("large values", ['"artifact":"sha256:', '"artifact":"sha256:0'])];
  yield [
    "a token without its signature",
    change("signed approvals", [/"token":"([^"]*)\.[^".]*"/, '"token":"$1.AAAA"']),
  ];
  yield ["no token", change("signed approvals", [/,"token":"[^"]*"/, ""])];
  yield ["a time that is a fraction", change("signed approvals", [/("type":"approval","at":\d+)/, "$1.0"])];
  for (const name of ["numbers", "large values", "signed approvals", "named approvals"]) {
    yield [`a step of ${name} is removed`, forged(runOf(name), (steps) => steps.splice(2, 1))];
    yield [`a step of ${name} comes twice`, forged(runOf(name), (steps) => steps.splice(2, 0, steps[2]))];
    yield [`the steps of ${name} without their records`, forged(runOf(name), (steps) => steps[2].splice(1, 1))];
  }
  const parts = (name, change) => receipt(runOf(name), { change });
  const first =
    (from, to) =>
    ({ lines: [line, ...rest], ...others }) => ({
      ...others,
      lines: chained(contents({ lines: [line.replace(from, to), ...rest] })),
    });
  yield ["a later format of journals", parts("numbers", first('"journal":2', '"journal":3'))];
  yield ["a run that is a list", parts("numbers", first(/"run":\{"journal".*?\}/, '"run":["r1","payer","",""]'))];
  yield ["no format of journals", parts("numbers", first('"journal":2', '"journal":null'))];
  yield ["a profile that is no JSON", parts("numbers", (all) => ({ ...all, profiles: ["{"] }))];
  yield ["a profile that is none", parts("numbers", (all) => ({ ...all, profiles: ["{}"] }))];
  yield ["another profile", parts("numbers", (all) => ({ ...all, profiles: [runOf("signed approvals").profile] }))];
  yield [
    "two profiles of one agent",
    parts("numbers", (all) => ({ ...all, profiles: [...all.profiles, ...otherProfile()] })),
  ];
  yield ["an artifact too many", parts("numbers", (all) => ({ ...all, artifacts: ["more"] }))];
  yield [
    "artifacts in another order",
    parts("large values", (all) => ({ ...all, artifacts: all.artifacts.toReversed() })),
  ];
  yield ["no lines", parts("numbers", (all) => ({ ...all, statement: statementOf(all, '"lines":0'), lines: [] }))];
  yield ["another subject", parts("numbers", (all) => ({ ...all, subject: "r2" }))];
  yield [
    "more lines than there are",
    parts("numbers", (all) => ({ ...all, statement: statementOf(all, '"lines":18446744073709551615') })),
  ];
  yield [
    "lines that are no number",
    parts("numbers", (all) => ({ ...all, statement: statementOf(all, '"lines":1e1') })),
  ];
  yield ["another format", parts("numbers", (all) => ({ ...all, statement: '{"receipt":2,"run":"r1"}' }))];
  yield ["a statement with white space", parts("numbers", (all) => ({ ...all, statement: `${statementOf(all)} ` }))];
  yield [
    "a long issuer, and no statement",
    parts("numbers", (all) => ({ ...all, issuer: "\u{1f600}é".repeat(900), statement: '{"receipt":1,}' })),
  ];
}

function otherProfile() {
  return [runOf("signed approvals").profile];
}

function statementOf(parts, lines = '"lines":1') {
  const { run, agent, profile, component } = JSON.parse(runOf("numbers").lines[0]).run;
  const start = JSON.stringify({ receipt: 1, run, agent, profile, component }).slice(0, -1);
  return `${start},${lines},"head":"sha256:0","profiles":${JSON.stringify(parts.profiles.map(() => "sha256:0"))}}`;
}

test("no forgery by the holder of the key verifies, and a changed step is named", needs, async () => {
  for (const [name, file] of forgeries()) {
    const report = await verified(file);
    assert.ok(!report.ok, name);
  }
  const [[, allowed]] = forgeries();
  const { check, step, line, detail } = failure(await verified(allowed));
  const denied = contents(runOf("named approvals")).findIndex((lines) => lines.some((one) => one.includes('"deny"')));
  assert.deepEqual([check, step], ["steps", denied]);
  assert.match(detail, /the receipt has .*"permit":"allow".*, and from the events follows .*"permit":"deny"/);
  assert.ok(line > 0);
});

test("a withheld step is named, and what follows is not derived", needs, async () => {
  for (const run of runs.filter((run) => contents(run).length > 3)) {
    const file = receipt(run, { withheld: [2] });
    const report = await verified(file);
    assert.ok(report.ok && !report.whole, `${run.name}: ${JSON.stringify(failure(report))}`);
    assert.equal(report.counts.derived, 1);
    assert.deepEqual(
      report.withheld.map(({ step }) => step),
      contents(run)
        .slice(2)
        .map((_, at) => at + 2),
    );
  }
  const hidden = receipt(runOf("signed approvals"), { withheld: [3, 4] });
  assert.ok(!hidden.includes("secret-order"));
});

test("signatures of approvers are counted", needs, async () => {
  const counts = async (name) => (await verified(receipt(runOf(name)))).counts;
  const { signed_approvals, named_approvals, denied } = await counts("signed approvals");
  assert.deepEqual([signed_approvals, named_approvals, denied], [1, 0, 1]);
  assert.equal((await counts("named approvals")).named_approvals, 1);
});

test("statements of witnesses are those of the command line", needs, async () => {
  const [pem, log] = [path.join(place, "witness.pem"), path.join(place, "log.txt")];
  const key = run("approve", "--new-key", pem).stdout.trim();
  const statement = (file) => {
    const name = path.join(place, `${random(2 ** 30)}.witness`);
    const about = written("entry.receipt", file);
    const { status, stderr } = run("receipt", "witness", about, "--log", log, "-o", name, "--key-file", pem);
    assert.equal(status, 0, stderr);
    return readFileSync(name);
  };
  const files = runs.slice(0, 7).map((run) => receipt(run));
  // The sizes 1 to 7, and each entry of the last.
  const first = files.map((file) => [file, statement(file)]);
  for (const [file, witness] of [...first, ...files.map((file) => [file, statement(file)])]) {
    const { ok, checks } = await sameAsPrinted(file, "a witness", { file: witness, keys: [key] });
    assert.ok(ok && checks.at(-1).check === "witness", JSON.stringify(checks.at(-1)));
  }
  const [[file, witness], [, other]] = first;
  const wrong = [
    ["another file's", { file: other, keys: [key] }],
    ["another key", { file: witness, keys: [KEY] }],
    ["a receipt", { file, keys: "any" }],
    ["nothing", { file: new Uint8Array(0), keys: "any" }],
    ["more", { file: Buffer.concat([witness, Buffer.from("x")]), keys: "any" }],
  ];
  for (const [what, one] of wrong) assert.ok(!(await sameAsPrinted(file, what, one)).ok, what);
  for (let changes = 0; changes < 10; changes += 1) {
    await sameAsPrinted(file, "a bit is changed", { file: flipped(witness), keys: "any" });
  }
  // Each byte, with one of its bits.
  for (let at = 0; at < witness.length * 8; at += 9) {
    const changed = Buffer.from(witness);
    changed[at >> 3] ^= 1 << (at & 7);
    assert.equal(failure(await verified(file, { witness: { file: changed, keys: [key] } })).check, "witness");
  }
  for (const witness of [7, {}, { file: "text", keys: "any" }, { file: other, keys: "one" }]) {
    await assert.rejects(verified(file, { witness }), TypeError);
  }
});

test("keys and profile are held to what is expected", needs, async () => {
  const run = runOf("numbers");
  const file = receipt(run);
  const other = "A".repeat(43);
  assert.equal(failure(await verified(file, { keys: [other] })).check, "key");
  assert.ok((await verified(file, { keys: "any" })).ok);
  const blob = Buffer.concat([Buffer.from("\0\0\0\x0bssh-ed25519\0\0\0 "), Buffer.from(KEY, "base64url")]);
  assert.ok((await verified(file, { keys: [other, `ssh-ed25519 ${blob.toString("base64")} anna@host`] })).ok);
  assert.equal(failure(await verified(file, { profile: "{}" })).check, "profile");
  assert.ok((await verified(file, { profile: `${run.profile}\n` })).ok);
  for (const keys of [undefined, "one", ["any"], ["AAAA"], [7]]) {
    await assert.rejects(verifyReceipt(file, { keys }), TypeError);
  }
  await assert.rejects(verifyReceipt("text", { keys: "any" }), TypeError);
});

test("nothing is registered in the gate that is given, and its component is the one that decides", needs, async () => {
  const own = await Gate.load();
  assert.ok((await verified(receipt(runOf("numbers")), { gate: own })).ok);
  assert.deepEqual(own.profiles(), []);
  if (backend === "webassembly") {
    // Modules of unknown origin.
    const modules = { ...gate.component };
    const report = await verified(receipt(runOf("numbers")), { gate: await Gate.load({ component: modules }) });
    assert.deepEqual([failure(report).check, failure(report).detail.includes("unknown")], ["component", true]);
    assert.ok((await verified(receipt(runOf("numbers")), { gate: await Gate.load({ component: gate.component }) })).ok);
  }
});

test("a verification can be ended", needs, async () => {
  const file = receipt(runOf("numbers"));
  await assert.rejects(verified(file, { signal: AbortSignal.abort(new Error("enough")) }), /enough/);
  assert.ok((await verified(file, { signal: new AbortController().signal })).ok);
});
