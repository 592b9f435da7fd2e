import { SeamgateFault } from "./fault.js";
import { Gate } from "./gate.js";
import type { Call, Done, Job, Start } from "./worker-gate.js";

/** Runs a worker, which has a gate and answers one job after the other. */
export async function serve(start: Start, post: (done: Done) => void): Promise<(job: Job) => void> {
  const gate = await Gate.load(start);
  post(null);
  return ({ contracts, calls }) => {
    let lacking = contracts;
    for (const call of calls) {
      post(answer(gate, lacking, call));
      lacking = [];
    }
  };
}

function answer(gate: Gate, contracts: readonly string[], call: Call): Done {
  try {
    for (const contract of contracts) {
      gate.register(contract);
    }
    switch (call[0]) {
      case "validate": {
        const { report, usage } = gate.validate(call[1].contract ?? call[1].agent, call[2], call[3]);
        return { verdict: { json: report.json, raw: report.raw, usage } };
      }
      case "register":
        // The main gate decides whether to register it, because other workers may have another contract of its agent.
        return { value: gate.compiled(call[1]) };
      case "lint":
        return { value: gate.lint(call[1]) };
      case "describe":
        return { value: gate.describe(call[1]) };
      case "call":
        return { value: gate.call(call[1]) };
    }
  } catch (error) {
    return error instanceof SeamgateFault ? { fault: error.toJSON() } : { error: String(error) };
  }
}
