import type { Contract } from "./contract.js";
import { asGate, type Gate } from "./gate.js";
import type { ContractInfo } from "./types.js";

/** The contracts of a gate, by agent. */
export class ContractRegistry {
  readonly #gate: Gate;

  constructor(gate: Gate) {
    this.#gate = asGate(gate);
  }

  /** Check a contract and register it: see {@link Gate.register}. */
  register(contract: Contract): ContractInfo {
    return this.#gate.register(contract);
  }

  /**
   * Returns the contract that is registered for an agent.
   *
   * @throws {SeamgateFault} `unknown_agent`.
   */
  get(agent: string): ContractInfo {
    return this.#gate.contract(agent);
  }

  /** Returns whether a contract is registered for an agent. */
  has(agent: string): boolean {
    return this.#gate.has(agent);
  }

  /** Returns the agents that have a contract, in ascending order. */
  list(): string[] {
    return this.#gate.names();
  }
}
