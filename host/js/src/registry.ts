import type { Contract } from "./contract.js";
import type { Gate } from "./gate.js";
import type { ContractInfo } from "./report.js";

/** The contracts of a gate, by their agents. */
export class ContractRegistry {
  readonly #gate: Gate;

  constructor(gate: Gate) {
    this.#gate = gate;
  }

  /** Check a contract and keep it: see {@link Gate.register}. */
  register(contract: Contract): ContractInfo {
    return this.#gate.register(contract);
  }

  /** Which contract is registered for an agent, or undefined. */
  get(agent: string): ContractInfo | undefined {
    return this.#gate.has(agent) ? this.#gate.contract(agent) : undefined;
  }

  /** Whether a contract is registered for an agent. */
  has(agent: string): boolean {
    return this.#gate.has(agent);
  }

  /** All of them, by ascending agent. */
  list(): ContractInfo[] {
    return this.#gate.names().map((agent) => this.#gate.contract(agent));
  }
}
