// The program in every bundle: like a user's program, it judges an output in this thread and in a worker.

import { backend, Gate, WorkerGate } from "seamgate";

const contract = {
  agent: "greeter",
  schema: { type: "object", required: ["greeting"], properties: { greeting: { type: "string", maxLength: 40 } } },
};
const output = 'Here you are:\n```json\n{"greeting": 4}\n```';

/** The reports of a gate, and of one in a worker. */
export async function judged() {
  const gate = await Gate.load();
  const inWorker = await WorkerGate.load({ workers: 1 });
  try {
    const near = gate.validate(contract, output).report.json;
    const far = (await inWorker.validate(contract, output)).report.json;
    return { backend, near, far };
  } finally {
    await inWorker.close();
  }
}
