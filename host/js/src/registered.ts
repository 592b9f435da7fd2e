import type { ProfileInfo } from "./decision.js";
import { SeamgateFault } from "./fault.js";
import { measure } from "./text.js";
import type { ContractInfo } from "./types.js";

/** A contract or a profile, which is registered in an instance before the instance needs it. */
export interface Registered<Info = unknown> {
  /** Identifies it. */
  readonly key: string;
  readonly text: string;
  readonly bytes: number;
  /** The request that registers it in an instance. */
  readonly request: string;
  readonly info: Info;
}

/** The contracts or the profiles of a gate, by agent. */
class Register<Info extends { readonly agent: string }> {
  readonly #what: "contract" | "profile";
  readonly #registered = new Map<string, Registered<Info>>();
  readonly #digest: (info: Info) => string;

  constructor(what: "contract" | "profile", digest: (info: Info) => string) {
    this.#what = what;
    this.#digest = digest;
  }

  /** Adds one. @throws {SeamgateFault} `bad_contract` or `bad_profile` if its agent already has another one. */
  keep(text: string, info: Info): void {
    const what = this.#what;
    const held = this.#registered.get(info.agent);
    if (held !== undefined && this.#digest(held.info) !== this.#digest(info)) {
      const message = `the agent "${info.agent}" already has another ${what}: ${this.#digest(held.info)}`;
      throw new SeamgateFault(`bad_${what}`, message);
    }
    const op = what === "contract" ? "register" : "register_profile";
    const request = `{"op":"${op}","${what}":${text}}`;
    this.#registered.set(info.agent, { key: `${what} ${info.agent}`, text, bytes: measure(text).bytes, request, info });
  }

  has(agent: string): boolean {
    return this.#registered.has(agent);
  }

  /** Returns the agents, in ascending order. */
  names(): string[] {
    return [...this.#registered.keys()].sort();
  }

  /** Returns all of them, sorted by agent. */
  all(): Registered<Info>[] {
    return this.names().map((agent) => this.of(agent));
  }

  /** @throws {SeamgateFault} `unknown_agent`. */
  of(agent: string): Registered<Info> {
    const registered = this.#registered.get(agent);
    if (registered === undefined) {
      const message = `no ${this.#what} is registered for the agent ${JSON.stringify(agent)}`;
      throw new SeamgateFault("unknown_agent", message, { agents: this.names() });
    }
    return registered;
  }
}

/** The contracts of a gate. */
export class Contracts extends Register<ContractInfo> {
  constructor() {
    super("contract", (info) => info.contract);
  }
}

/** The profiles of a gate. */
export class Profiles extends Register<ProfileInfo> {
  constructor() {
    super("profile", (info) => info.profile);
  }
}
