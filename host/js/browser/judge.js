// The gate, as this page asks it.

import { WorkerGate } from "./seamgate/dist/browser.js";

/** How long a call may take, in milliseconds. */
const DEADLINE = 2000;

/** A contract's text is judged as an output: so it is said where it is no JSON. */
const TEXT = { agent: "contract", schema: true, extract: { markers: [], raw_json: true } };

/** Judges outputs by one contract, in a worker. */
export class Judge {
  #gate;
  #agent;

  constructor(gate, agent) {
    this.#gate = gate;
    this.#agent = agent;
  }

  /** @throws {SeamgateFault} The contract is none, or a limit was passed. */
  static async of(contract) {
    const gate = await WorkerGate.load({ workers: 1, deadlineMs: DEADLINE });
    try {
      return new Judge(gate, (await gate.register(contract)).agent);
    } catch (error) {
      await gate.close();
      throw error;
    }
  }

  validate(output, options) {
    return this.#gate.validate(this.#agent, output, options);
  }

  /** Text for the agent's prompt. */
  describe() {
    return this.#gate.describe(this.#agent);
  }

  /** What is likely a mistake in a contract, without what is a matter of style. */
  async lint(contract) {
    try {
      const warnings = await this.#gate.lint(contract);
      return warnings.filter(({ level }) => level !== "hint");
    } catch (error) {
      // Outputs can be judged by it all the same.
      return [{ path: "$", pointer: "", code: error.code ?? error.name, message: error.message }];
    }
  }

  /** What is known while only this much of the output has come. */
  async progress(chunk) {
    const { json } = await this.#gate.call(JSON.stringify({ op: "push", agent: this.#agent, chunk }));
    const { result, fault } = JSON.parse(json);
    if (fault !== undefined) {
      throw new Error(fault.message);
    }
    return result.progress;
  }

  close() {
    return this.#gate.close();
  }
}

/** Why a text is no JSON, as violations with spans; none where it is. */
export async function syntax(text) {
  try {
    JSON.parse(text);
    return [];
  } catch {
    const gate = await WorkerGate.load({ workers: 1, deadlineMs: DEADLINE });
    try {
      const { report } = await gate.validate(TEXT, text);
      return report.error?.violations ?? [];
    } finally {
      await gate.close();
    }
  }
}
