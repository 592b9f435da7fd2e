import { SeamgateFault } from "./fault.js";
import { measure } from "./text.js";
import type { ContractInfo } from "./types.js";

/** A contract that instances are given before they judge by it. */
export interface Registered {
  readonly text: string;
  readonly bytes: number;
  readonly info: ContractInfo;
}

/** The contracts of a gate, by their agents. */
export class Contracts {
  readonly #registered = new Map<string, Registered>();

  /** Keep one. @throws {SeamgateFault} `bad_contract`: its agent has another one already. */
  keep(text: string, info: ContractInfo): void {
    const held = this.#registered.get(info.agent);
    if (held !== undefined && held.info.contract !== info.contract) {
      const message = `the agent "${info.agent}" already has another contract: ${held.info.contract}`;
      throw new SeamgateFault("bad_contract", message);
    }
    this.#registered.set(info.agent, { text, bytes: measure(text).bytes, info });
  }

  has(agent: string): boolean {
    return this.#registered.has(agent);
  }

  /** The agents, in ascending order. */
  names(): string[] {
    return [...this.#registered.keys()].sort();
  }

  /** @throws {SeamgateFault} `unknown_agent`. */
  of(agent: string): Registered {
    const registered = this.#registered.get(agent);
    if (registered === undefined) {
      throw new SeamgateFault("unknown_agent", `no contract is registered for the agent ${JSON.stringify(agent)}`, {
        agents: this.names(),
      });
    }
    return registered;
  }
}
