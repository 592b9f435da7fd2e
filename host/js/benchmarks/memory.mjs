// Measures the memory of a process over a million calls and over a thousand gates, and the cost of many outputs in a
// loop and in a WorkerGate. Run `node benchmarks/memory.mjs [CALLS]` in target/js/clean.

import { backend, Gate, WorkerGate } from "seamgate";

const calls = Number(process.argv[2] ?? 1_000_000);
const schema = {
  type: "object",
  required: ["items"],
  properties: {
    items: { type: "array", items: { type: "object", required: ["id"], properties: { id: { type: "string" } } } },
  },
};
const contract = { agent: "open", schema };
const output = JSON.stringify({
  items: Array.from({ length: 25 }, (_, at) => ({ id: `OPS-${at}`, title: "What is open" })),
});
const held = () => `${Math.round(process.memoryUsage.rss() / 1e6)} MB`;

const gate = await Gate.load();
gate.register(contract);
console.log(`${backend}, outputs of ${output.length} bytes`);
for (let step = 0; step <= 4; step += 1) {
  console.log(`after ${((calls / 4) * step).toLocaleString("en")} calls: ${held()}`);
  if (step < 4) for (let call = 0; call < calls / 4; call += 1) gate.validate("open", output);
}
for (let made = 1; made <= 1000; made += 1) {
  const one = await Gate.load();
  one.register({ ...contract, agent: `a${made}` });
  one.validate(`a${made}`, output);
  if (made % 250 === 0) console.log(`after ${made} gates: ${held()}`);
}

const outputs = Array.from({ length: 20_000 }, () => ({ agent: "open", output }));
const workers = await WorkerGate.load();
await workers.register(contract);
const loop = () => {
  for (const { agent, output } of outputs) gate.validate(agent, output).report.success;
};
const micro = async (work) => {
  const start = performance.now();
  await work();
  return ((performance.now() - start) * 1000) / outputs.length;
};
for (let turn = 0; turn < 3; turn += 1) {
  const [one, many] = [await micro(loop), await micro(() => workers.validateAll(outputs))];
  console.log(`an output in a loop: ${one.toFixed(1)} µs, in a WorkerGate: ${many.toFixed(1)} µs`);
}
await workers.close();
