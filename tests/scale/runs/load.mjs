// Many runs at once: with the file journal, by the command line; and on Restate, while its server and the service are killed again and again.
// `load.mjs SEAMGATE RUNS KILLS [PAGE]`: how many runs, how often each of the two is killed, and the page that gets the result.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Run } from "seamgate";
import { write } from "./folder.mjs";
import { gate as makeGate, model } from "./shop.mjs";

const [seamgate, page] = [process.argv[2], process.argv[5]];
const [RUNS, KILLS] = process.argv.slice(3, 5).map(Number);

/** The number of concurrent runs with the file journal, and on Restate. */
const AT_ONCE = { files: 100, restate: 50 };

/** The time that a person waits before checking whether a call had its effect: longer than a tool takes. */
const LOOK_AFTER = 1500;

const here = path.dirname(fileURLToPath(import.meta.url));
const servers = path.join(here, "shop.servers.json");
const profiles = ["shop", "packer"].map((name) => path.join(here, `${name}.profile.json`));
const gate = await makeGate();

/** A third of the orders are parcels, which a child ships. */
const task = (order) => ({ order, parcel: order % 3 === 0 });
const orders = Array.from({ length: RUNS }, (_, at) => at + 1);

/** Runs the work of each, with this many at once. */
async function all(items, atOnce, work) {
  const left = [...items];
  const one = async () => {
    while (left.length > 0) await work(left.shift());
  };
  await Promise.all(Array.from({ length: atOnce }, one));
}

/** A folder that is new. */
function folder(name) {
  const made = path.join(here, name);
  rmSync(made, { recursive: true, force: true });
  mkdirSync(made, { recursive: true });
  return made;
}

/** Counts of each effect, by tool and order, and by call. */
function effects(file) {
  const [orders, calls] = [new Map(), new Map()];
  const lines = readFileSync(file, "utf8").split("\n").slice(0, -1);
  for (const line of lines) {
    const [tool, order, call] = line.split(" ");
    for (const [counts, key] of [
      [orders, `${tool} ${order}`],
      [calls, call],
    ]) {
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  return { orders, calls };
}

/** Hold the effects to what was wanted: one of each. */
function once(file) {
  const { orders: counts, calls } = effects(file);
  const wanted = orders.flatMap((order) => [`charge ${order}`, ...(task(order).parcel ? [`ship ${order}`] : [])]);
  assert.deepEqual([...counts.keys()].sort(), wanted.sort(), "the effects that happened");
  for (const [counted, what] of [
    [counts, "order"],
    [calls, "call"],
  ]) {
    for (const [key, count] of counted) assert.equal(count, 1, `effects of the ${what} ${key}`);
  }
  return wanted.length;
}

/** A model server in the chat-completions form: the script of the shop. */
async function modelServer() {
  const server = createServer(async (request, response) => {
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    const { messages } = JSON.parse(Buffer.concat(pieces).toString());
    const calls = (all = []) => all.map(({ id, function: { name } }) => ({ call: id, tool: name }));
    const told = messages.map((one) => ({
      role: one.role,
      text: one.content ?? "",
      calls: calls(one.tool_calls),
      call: one.tool_call_id,
    }));
    const answer = model({ prompt: { messages: told } });
    const called = answer.calls?.map(({ tool, arguments: given }, at) => ({
      id: `${told.length}-${at}`,
      type: "function",
      function: { name: tool, arguments: JSON.stringify(given) },
    }));
    const message = { role: "assistant", content: answer.text ?? null, ...(called && { tool_calls: called }) };
    response.end(JSON.stringify({ choices: [{ message, finish_reason: called ? "tool_calls" : "stop" }] }));
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return server;
}

/** All orders with the file journal: a process of the command line for each, which ends where a person is asked, and goes on. */
async function withFiles() {
  const journals = folder("files");
  const file = path.join(here, "files.txt");
  writeFileSync(file, "");
  const server = await modelServer();
  const env = { ...process.env, EFFECTS: file };
  const command = (...given) =>
    new Promise((done) => {
      execFile(seamgate, given, { env, maxBuffer: 1 << 24 }, (error, out, err) =>
        done({ status: error?.code ?? 0, out, err }),
      );
    });
  const documents = new Map();
  const begun = performance.now();
  await all(orders, AT_ONCE.files, async (order) => {
    const run = path.join(journals, `r${order}`);
    const url = `http://127.0.0.1:${server.address().port}/v1`;
    const profile = profiles.flatMap((one) => ["-p", one]);
    const world = ["--servers", servers, "--as", "joe", "--model-url", url, "--model", "script"];
    const first = await command("agent", ...profile, ...world, "--task", JSON.stringify(task(order)), "--journal", run);
    assert.equal(first.status, 6, first.err);
    const approved = await command("approve", run, "--as", "anna", "--yes");
    assert.equal(approved.status, 0, approved.err);
    const last = await command("agent", "--resume", run);
    assert.equal(last.status, 0, last.err);
    documents.set(order, last.out.trim());
  });
  const seconds = (performance.now() - begun) / 1000;
  server.close();
  return { documents, seconds, effects: once(file) };
}

/** Ports of this machine that are free. */
async function ports(count) {
  const held = Array.from({ length: count }, () => createServer());
  await Promise.all(held.map((server) => new Promise((done) => server.listen(0, "127.0.0.1", done))));
  const free = held.map((server) => server.address().port);
  await Promise.all(held.map((server) => new Promise((done) => server.close(done))));
  return free;
}

/** A process that can be killed and started again. */
class Victim {
  constructor(name, program, given, env, healthy) {
    Object.assign(this, { name, program, given, healthy, kills: 0, memory: 0 });
    this.env = { ...process.env, ...env };
    this.log = openSync(path.join(here, `${name}.log`), "w");
  }
  async start() {
    this.process = spawn(this.program, this.given, { cwd: here, env: this.env, stdio: ["ignore", this.log, this.log] });
    this.ended = new Promise((done) => this.process.on("exit", done));
    for (const until = Date.now() + 60_000; Date.now() < until; ) {
      assert.equal(this.process.exitCode, null, `${this.name} ended: see ${here}/${this.name}.log`);
      if (await this.healthy()) return;
      await sleep(50);
    }
    assert.fail(`${this.name} does not start: see ${here}/${this.name}.log`);
  }
  async kill() {
    const memory = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${this.process.pid}/status`, "utf8"));
    this.memory = Math.max(this.memory, Number(memory?.[1] ?? 0));
    this.process.kill("SIGKILL");
    await this.ended;
  }
  async killAndStart() {
    await this.kill();
    this.kills += 1;
    await this.start();
  }
}

/** Ask until there is an answer: what was asked before counts once, by its key. */
async function ask(url, body, key) {
  for (;;) {
    try {
      const headers = {
        "content-type": "application/json",
        accept: "application/json",
        ...(key && { "idempotency-key": key }),
      };
      const response = await fetch(url, { method: "POST", headers, body: body && JSON.stringify(body) });
      const text = await response.text();
      if (response.ok) return text === "" ? undefined : JSON.parse(text);
      assert.ok(response.status >= 500 || response.status === 429, `${url}: ${response.status} ${text}`);
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
    }
    await sleep(100);
  }
}

/** All orders on Restate. Each of the two processes is killed so often meanwhile. */
async function onRestate(kills) {
  const file = path.join(here, "effects.txt");
  writeFileSync(file, "");
  const [ingressPort, adminPort, nodePort, servicePort] = await ports(4);
  const [ingress, admin] = [ingressPort, adminPort].map((port) => `http://127.0.0.1:${port}`);
  const answers = (url) => async () => {
    try {
      return (await fetch(url)).ok;
    } catch {
      return false;
    }
  };
  const kind = { x64: "x64", arm64: "arm64" }[process.arch];
  const program = createRequire(import.meta.url).resolve(
    `@restatedev/restate-server-${process.platform}-${kind}/bin/restate-server`,
  );
  const settings = {
    RESTATE_LISTEN_MODE: "tcp",
    RESTATE_BIND_ADDRESS: `127.0.0.1:${nodePort}`,
    RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingressPort}`,
    RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${adminPort}`,
    RESTATE_DISABLE_TELEMETRY: "true",
    // A service that was killed is back soon.
    RESTATE_DEFAULT_RETRY_POLICY__MAX_INTERVAL: "1s",
  };
  const given = ["--base-dir", folder("server"), "--node-name", "scale"];
  const isUp = async () => (await answers(`${ingress}/restate/health`)()) && answers(`${admin}/health`)();
  const server = new Victim("restate-server", program, given, settings, isUp);
  // Its discovery is HTTP/2 alone: that it says so is enough.
  let listens = false;
  const service = new Victim(
    "service",
    process.execPath,
    ["service.mjs"],
    { PORT: servicePort, EFFECTS: file, RESTATE_LOGGING: "WARN" },
    async () => listens,
  );
  const start = service.start.bind(service);
  service.start = async () => {
    listens = false;
    const [started] = [start()];
    for (const net = await import("node:net"); !listens; await sleep(20)) {
      const socket = net.connect(servicePort, "127.0.0.1");
      listens = await new Promise((done) => socket.once("connect", () => done(true)).once("error", () => done(false)));
      socket.destroy();
    }
    await started;
  };
  await Promise.all([server.start(), service.start()]);
  await ask(`${admin}/deployments`, { uri: `http://127.0.0.1:${servicePort}` });

  const handler = (run, name) => `${ingress}/run/${encodeURIComponent(run)}/${name}`;
  const finished = new Map();
  const counts = { approvals: 0, repeated: 0, forged: 0, told: 0, done: 0, notDone: 0 };
  const seen = new Set();
  const isIgnored = (records) => records.some(({ type }) => type === "ignored");

  /** Answers as a person, once for each question. */
  async function person(run, { type, call, ask: asked, question }) {
    const key = `${run} ${call} ${type}`;
    if (seen.has(key)) return;
    seen.add(key);
    if (type === "ask_approval") {
      const decision = { key: asked.key, digest: asked.digest, decision: "approved", principal: "anna" };
      if (counts.approvals % 10 === 0) {
        counts.forged += 1;
        const forged = await ask(handler(run, "approval"), { ...decision, principal: "mallory" }, `${key} forged`);
        assert.ok(isIgnored(forged), `${key}: mallory approved it`);
      }
      counts.approvals += 1;
      // Sent twice at once: one of them counts.
      const twice = [1, 2].map((at) => ask(handler(run, "approval"), decision, `${key} ${at}`));
      const ignored = (await Promise.all(twice)).filter(isIgnored).length;
      assert.equal(ignored, 1, `${key}: approved twice, and ${ignored} of them ignored`);
      counts.repeated += ignored;
    } else {
      assert.ok(call, `${run} asks: ${question}`);
      counts.told += 1;
      await sleep(LOOK_AFTER);
      const outcome = effects(file).calls.has(`${run}/${call}`) ? "done" : "not_done";
      counts[outcome === "done" ? "done" : "notDone"] += 1;
      await ask(handler(run, "resolution"), { call, outcome, principal: "anna" }, key);
    }
  }

  // Events that result from actions or children never come from outside.
  for (const name of ["tool_result", "model_output", "child_result", "delegated", "tick"]) {
    assert.equal((await fetch(handler("r1", name), { method: "POST", body: "{}" })).status, 400, name);
  }

  let stopped = false;
  const people = new Set();
  const desk = async () => {
    const query =
      "SELECT service_key, key, value_utf8 FROM state WHERE service_name = 'run' AND key IN ('asks', 'finish')";
    while (!stopped) {
      for (const { service_key: run, key, value_utf8: value } of (await ask(`${admin}/query`, { query }))?.rows ?? []) {
        const told = JSON.parse(value);
        if (key === "finish") finished.set(run, told);
        else for (const one of told) people.add(person(run, one));
      }
      await sleep(200);
    }
    await Promise.all(people);
  };
  /** The kills are spread over the runs: none comes when they have all ended. */
  const killer = async () => {
    for (let kill = 0; kill < 2 * kills; kill += 1) {
      const top = () => [...finished.keys()].filter((run) => !run.includes("/")).length;
      while (top() < (RUNS * kill) / (2 * kills + 1)) await sleep(50);
      await sleep(Math.random() * 300);
      await [server, service][kill % 2].killAndStart();
      if (kill % 10 === 9) console.log(`${kill + 1} kills, ${top()} runs have ended`);
    }
  };
  const begun = performance.now();
  const ran = all(orders, AT_ONCE.restate, async (order) => {
    const run = `r${order}`;
    await ask(handler(run, "start/send"), { agent: "shop", principal: "joe", task: task(order) }, `start ${run}`);
    while (!finished.has(run)) await sleep(50);
  });
  const desks = desk();
  await Promise.race([Promise.all([ran, killer()]), desks]);
  const seconds = (performance.now() - begun) / 1000;
  stopped = true;
  await desks;
  return { handler, server, service, finished, counts, seconds, file };
}

/** The journals that the engine has, as folders: each line is made again from its events, and must be the same. */
async function verify({ handler, finished, counts, file }, documents) {
  const folders = folder("exported");
  const total = { lines: 0, events: 0, bytes: 0, approvals: 0, twice: 0 };
  let number = 0;
  for (const [run, finish] of finished) {
    const { lines, artifacts } = await ask(handler(run, "journal"));
    number += 1;
    const one = path.join(folders, String(number));
    write(one, { lines, artifacts });
    const opened = Run.open(gate, one);
    assert.equal(opened.id, run);
    const read = lines.map((line) => JSON.parse(line));
    const sent = read.filter(({ event }) => event?.type === "tool_started").map(({ event }) => event.call);
    assert.equal(new Set(sent).size, sent.length, `${run} sent a call twice`);
    const used = read
      .filter(({ action }) => action?.type === "execute" && action.approval)
      .map(({ action }) => action.call);
    total.twice += used.length - new Set(used).size;
    total.approvals += used.length;
    total.lines += lines.length;
    total.bytes += lines.join("\n").length + 1;
    total.events += read.filter(({ event }) => event).length;
    assert.equal(finish.status, "final", `${run}: ${JSON.stringify(finish.reasons)}`);
    if (!run.includes("/")) {
      const order = Number(run.slice(1));
      assert.equal(JSON.stringify(finish.document), documents.get(order), `the document of ${run}`);
    }
  }
  assert.equal(total.approvals, counts.approvals, "approvals given, and approvals used");
  assert.equal(total.twice, 0, "approvals used twice");
  return { ...total, effects: once(file) };
}

const files = await withFiles();
console.log(`${RUNS} runs with the file journal, ${AT_ONCE.files} at once: ${files.seconds.toFixed(1)} s`);
const restate = await onRestate(KILLS);
console.log(`${RUNS} runs on Restate, ${AT_ONCE.restate} at once: ${restate.seconds.toFixed(1)} s`);
const total = await verify(restate, files.documents);
await Promise.all([restate.server.kill(), restate.service.kill()]);
const { counts, finished, server, service } = restate;
const rows = [
  ["runs with the file journal, 100 at once in one folder", RUNS],
  ["their effects, of as many wanted, none twice", files.effects],
  ["runs on Restate, 50 at once", RUNS],
  ["their children", finished.size - RUNS],
  ["`kill -9` of the server; of the service", `${server.kills}; ${service.kills}`],
  ["events; lines of journals", `${total.events}; ${total.lines}`],
  ["journals opened as folders: every line made again, the same bytes", finished.size],
  ["effects, of as many wanted, none twice", total.effects],
  [
    "calls whose effect was unknown after a kill: told, and looked at; it had happened",
    `${counts.told}; ${counts.done}`,
  ],
  ["approvals given; used; used twice", `${counts.approvals}; ${total.approvals}; ${total.twice}`],
  ["approvals that came a second time, or from somebody else: ignored", counts.repeated + counts.forged],
  ["final documents that are those of the file journal", RUNS],
  ["seconds: file journal; Restate", `${files.seconds.toFixed(0)}; ${restate.seconds.toFixed(0)}`],
  ["most memory, MiB: server; service", [server, service].map(({ memory }) => Math.round(memory / 1024)).join("; ")],
  ["cores", availableParallelism()],
];
const table = ["| | |", "| --- | ---: |", ...rows.map(([what, count]) => `| ${what} | ${count} |`)].join("\n");
console.log(table);
if (page) {
  const [begin, end] = ["<!-- runs -->", "<!-- /runs -->"];
  const text = readFileSync(page, "utf8");
  const [before, rest] = text.split(begin);
  const [, after] = rest.split(end);
  writeFileSync(page, `${before}${begin}\n\n${table}\n\n${end}${after}`);
}
