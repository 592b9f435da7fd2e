// The gate, as this page asks it.

import { WorkerGate } from "./seamgate/dist/browser.js";

/** The time limit of a call, in milliseconds. */
const DEADLINE = 2000;

/** A contract that judges the text of contracts as outputs, to find the position of invalid JSON. */
const TEXT = { agent: "contract", schema: true, extract: { markers: [], raw_json: true } };

/** Judges outputs by one contract, in a worker. */
export class Judge {
  #gate;
  #agent;

  constructor(gate, agent) {
    this.#gate = gate;
    this.#agent = agent;
  }

  /** @throws {SeamgateFault} The contract is invalid, or a limit was exceeded. */
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

  /** Returns the likely mistakes in a contract, without matters of style. */
  async lint(contract) {
    try {
      const warnings = await this.#gate.lint(contract);
      return warnings.filter(({ level }) => level !== "hint");
    } catch (error) {
      // Outputs can be judged by it all the same.
      return [{ path: "$", pointer: "", code: error.code ?? error.name, message: error.message }];
    }
  }

  /** Returns the progress after this much of the output. */
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

/** Returns why a text is not JSON, as violations with spans. Empty if it is JSON. */
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
