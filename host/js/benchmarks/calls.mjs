// What calls cost, in milliseconds: the middle of many, and the ninth of ten. `cargo xtask js bench` runs it. Ajv
// stands beside them in the same process, on the same document: it is given the JSON alone, and says valid or not.

import { readFileSync } from "node:fs";
import Ajv from "ajv/dist/2020.js";
import { Gate, WorkerGate } from "seamgate";
import { example, output } from "../test/shared.mjs";

const RUNS = 300;

/** The middle and the ninth tenth of what a call takes, once the engine knows it. */
async function measured(call) {
  const times = [];
  for (let run = 0; run < RUNS + RUNS / 3; run++) {
    const start = performance.now();
    await call();
    times.push(performance.now() - start);
  }
  const last = times.slice(-RUNS).sort((a, b) => a - b);
  return [last[RUNS / 2], last[Math.floor(RUNS * 0.9)]];
}

async function once(work) {
  const start = performance.now();
  const value = await work();
  return [value, performance.now() - start];
}

const [gate, load] = await once(() => Gate.load());
const [, again] = await once(() => Gate.load());
const { version } = JSON.parse(readFileSync(new URL("../node_modules/seamgate/package.json", import.meta.url), "utf8"));
console.log(`seamgate ${version}, Node ${process.version}, ${process.platform} ${process.arch}`);
console.log(`load ${load.toFixed(0)} ms, a second gate ${again.toFixed(1)} ms\n`);

const columns = [
  "contract, output",
  "bytes",
  "fresh",
  "warm",
  "in a worker",
  "Ajv, compiled",
  "Ajv, compiling",
  "warm / Ajv",
  "fresh / Ajv compiling",
];
console.log(`| ${columns.join(" | ")} |
|${columns.map((_, at) => (at === 0 ? " --- |" : " ---: |")).join("")}`);
const shown = ([middle, ninth]) => `${middle.toFixed(3)} (${ninth.toFixed(3)})`;
for (const [name, file] of [
  ["cited-answer", "cited-answer.good"],
  ["cited-answer", "cited-answer.bad-url"],
  ["tool-result", "tool-result.good"],
  ["triage", "triage.good"],
]) {
  const contract = example(name);
  const text = output(file);
  if (!gate.has(name)) gate.register(contract);
  const fresh = await measured(() => gate.validate(name, text));
  const instance = gate.instance();
  const warm = await measured(() => instance.validate(name, text));
  const workers = await WorkerGate.load({ workers: 1 });
  await workers.register(contract);
  const far = await measured(() => workers.validate(name, text));
  await workers.close();
  const json = /```json\n(.*?)\n```/s.exec(text)?.[1] ?? text;
  // Formats are annotations to it without another package: it has less to do.
  const compile = () => new Ajv({ strict: false, validateFormats: false, allErrors: true }).compile(contract.schema);
  const validate = compile();
  const ajv = await measured(() => validate(JSON.parse(json)));
  const compiling = await measured(() => compile()(JSON.parse(json)));
  const ratios = [warm[0] / ajv[0], fresh[0] / compiling[0]].map((ratio) => ratio.toFixed(ratio < 10 ? 2 : 0));
  const cells = [
    `${name}, ${file}`,
    Buffer.byteLength(text),
    ...[fresh, warm, far, ajv, compiling].map(shown),
    ...ratios,
  ];
  console.log(`| ${cells.join(" | ")} |`);
}
