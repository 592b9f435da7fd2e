// What calls cost, in microseconds: the least of many, and the middle. `cargo xtask js bench` runs it. Ajv and Zod stand beside them in the
// same process, on the same document: they are given the JSON alone, and say valid or not. Other programs run on the machine, so that
// what is compared takes turns.

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import Ajv from "ajv/dist/2020.js";
import { backend, bake, Gate } from "seamgate";
import { z } from "zod";

const schema = z.strictObject({
  title: z.string().min(1).max(200),
  items: z.array(
    z.strictObject({
      id: z.string().regex(/^[A-Z]+-[0-9]+$/),
      count: z.int().min(0),
      state: z.enum(["open", "closed", "waiting"]),
      tags: z.array(z.string().max(40)),
    }),
  ),
});

/** A document of about so many bytes. */
function document(bytes) {
  const item = (at) => ({ id: `OPS-${at}`, count: at * 7, state: "waiting", tags: ["first", "second"] });
  const size = JSON.stringify(item(1000)).length + 1;
  const items = Array.from({ length: Math.max(1, Math.round((bytes - 40) / size)) }, (_, at) => item(at));
  return JSON.stringify({ title: "What is open today", items });
}

/** The least and the middle of what each takes, in turns. */
function measured(calls, milliseconds = 1500) {
  const times = calls.map(() => []);
  for (const call of calls) for (let run = 0; run < 30; run++) call();
  const end = performance.now() + milliseconds * calls.length;
  while (performance.now() < end) {
    calls.forEach((call, at) => {
      for (let run = 0; run < 10; run++) {
        const start = process.hrtime.bigint();
        call();
        times[at].push(Number(process.hrtime.bigint() - start) / 1000);
      }
    });
  }
  return times.map((taken) => {
    taken.sort((one, other) => one - other);
    return [taken[0], taken[Math.floor(taken.length / 2)]];
  });
}

const { version } = JSON.parse(readFileSync(new URL("../node_modules/seamgate/package.json", import.meta.url), "utf8"));
if (!process.env.SEAMGATE_BACKEND) {
  console.log(`seamgate ${version}, Node ${process.version}, ${process.platform} ${process.arch}\n`);
  console.log("| what, in µs: least (middle) | 500 B | 5 KB | 500 KB |\n| --- | ---: | ---: | ---: |");
}
const contract = { agent: "open", schema: z.toJSONSchema(schema), caps: { array_items: 100_000, bytes: 2_000_000 } };
const gate = await Gate.load();
gate.register(contract);
const warm = gate.instance();
const rows = new Map();
const add = (name, times) => rows.set(name, [...(rows.get(name) ?? []), times]);
const validator = new Ajv({ strict: false, validateFormats: false, allErrors: true }).compile(contract.schema);
const baked = backend === "native" ? await Gate.load({ component: await bake([contract]) }) : undefined;
const bakedWarm = baked?.instance();
for (const bytes of [500, 5000, 500_000]) {
  const text = document(bytes);
  const calls = {
    [`${backend}, fresh`]: () => gate.validate("open", text),
    [`${backend}, warm`]: () => warm.validate("open", text),
    [`${backend}, warm, with its document read`]: () => warm.validate("open", text).report.data,
    ...(baked && { "native, baked, fresh": () => baked.validate("open", text) }),
    ...(baked && { "native, baked, warm": () => bakedWarm.validate("open", text) }),
    ...(baked && { "`JSON.parse`": () => JSON.parse(text) }),
    ...(baked && { "Ajv, compiled, after `JSON.parse`": () => validator(JSON.parse(text)) }),
    ...(baked && { "Zod, after `JSON.parse`": () => schema.parse(JSON.parse(text)) }),
  };
  if (!warm.validate("open", text).report.success) throw new Error("the document is not accepted");
  measured(Object.values(calls)).forEach((times, at) => {
    add(Object.keys(calls)[at], times);
  });
}
const shown = ([least, middle]) => `${least.toFixed(least < 100 ? 1 : 0)} (${middle.toFixed(middle < 100 ? 1 : 0)})`;
for (const [name, cells] of rows) console.log(`| ${name} | ${cells.map(shown).join(" | ")} |`);

if (!process.env.SEAMGATE_BACKEND) {
  const again = (one, ...args) =>
    spawnSync(process.execPath, args, { env: { ...process.env, SEAMGATE_BACKEND: one }, encoding: "utf8" });
  process.stdout.write(again("webassembly", import.meta.filename ?? process.argv[1]).stdout);
  const program = `const start = performance.now(); const { Gate } = await import("seamgate"); const imported = performance.now();
    const gate = await Gate.load(); gate.register({ agent: "any", schema: true }); gate.validate("any", "1");
    console.log(JSON.stringify([imported - start, performance.now() - imported]));`;
  for (const one of ["native", "webassembly"]) {
    const runs = Array.from({ length: 7 }, () => JSON.parse(again(one, "--input-type=module", "-e", program).stdout));
    const least = [0, 1].map((at) => Math.min(...runs.map((run) => run[at])).toFixed(1));
    console.log(`\n${one}: import ${least[0]} ms, the first gate, contract and verdict ${least[1]} ms`);
  }
}
