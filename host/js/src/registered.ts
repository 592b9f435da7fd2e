import type { ProfileInfo } from "./decision.js";
import { SeamgateFault } from "./fault.js";
import { measure } from "./text.js";
import type { ContractInfo } from "./types.js";

/** A contract or a profile that instances are given before they answer by it. */
export interface Registered<Info = unknown> {
  /** Which one it is. */
  readonly key: string;
  readonly text: string;
  readonly bytes: number;
  /** What gives it to an instance. */
  readonly request: string;
  readonly info: Info;
}

/** The contracts or the profiles of a gate, by their agents. */
class Register<Info extends { readonly agent: string }> {
  readonly #what: "contract" | "profile";
  readonly #registered = new Map<string, Registered<Info>>();
  readonly #digest: (info: Info) => string;

  constructor(what: "contract" | "profile", digest: (info: Info) => string) {
    this.#what = what;
    this.#digest = digest;
  }

  /** Keep one. @throws {SeamgateFault} `bad_contract` or `bad_profile`: its agent has another one already. */
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

  /** The agents, in ascending order. */
  names(): string[] {
    return [...this.#registered.keys()].sort();
  }

  /** All, by ascending agent. */
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
