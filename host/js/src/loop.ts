import type { Call, Facts, Surface, ToolResult } from "./decision.js";
import type { AllowedDecision, Ask, Decision, Observation } from "./words.js";

/** What is known of a run at its beginning. Where there is no `nonce`, a random one is made. */
export type Begin = Omit<Facts, "at"> & { readonly at?: number };

/** Decides about calls by facts: a gate, for one. */
export interface Decides {
  surface(agent: string, facts: Facts, listed?: object): Surface;
  decide(agent: string, facts: Facts, call: Call): Decision;
  observe(agent: string, facts: Facts, call: Call, result: ToolResult): Observation;
}

/** How a loop is set up. */
export interface LoopOptions {
  /** The time in milliseconds since 1970. Default: `Date.now`. */
  readonly now?: () => number;
}

/**
 * Decides about the calls of one run, and keeps its facts: see `Gate.loop`.
 *
 * Each decision sees what all before it changed: the budgets that are used, the labels of what the model has read, what
 * was asked and approved.
 */
export class Loop {
  readonly #gate: Decides;
  readonly #now: () => number;
  #facts: Facts;
  /** The agent whose profile applies. */
  readonly agent: string;

  /** @internal Use `Gate.loop`. */
  constructor(gate: Decides, agent: string, facts: Begin, options: LoopOptions) {
    this.#gate = gate;
    this.#now = options.now ?? Date.now;
    this.#facts = { nonce: nonce(), at: 0, ...structuredClone(facts) };
    this.agent = agent;
  }

  /** The facts as they are now, to be kept: `gate.loop(agent, facts)` goes on with them. The nonce is a secret. */
  get facts(): Facts {
    return structuredClone(this.#facts);
  }

  /**
   * Say which tools the model may see. From now on calls of others are denied.
   *
   * @throws {SeamgateFault} As `Gate.surface`.
   */
  surface(listed?: object): Surface {
    return this.#kept(this.#gate.surface(this.agent, this.#current(), listed));
  }

  /**
   * Permit a call, or not: `const permitted = loop.permit(call); if (permitted) …`. Send `arguments` of what is returned, and nothing
   * else. {@link Loop.decide} also says why a call may not run.
   *
   * @returns The decision where it allows the call; undefined where it denies it, or asks for approval.
   * @throws {SeamgateFault} As `Gate.decide`.
   */
  permit(call: Call): AllowedDecision | undefined {
    const decision = this.decide(call);
    return decision.permit === "allow" ? decision : undefined;
  }

  /**
   * Decide whether a call may run. A decision is an object in any case: its `permit` says whether the call may run, and tells its three
   * types apart. Where it is `allow`, send `arguments` of the decision, and nothing else.
   *
   * @throws {SeamgateFault} As `Gate.decide`.
   */
  decide(call: Call): Decision {
    return this.#kept(this.#gate.decide(this.agent, this.#current(), call));
  }

  /**
   * Make an observation of what a call returned. Show the model its `message`, and nothing else of the result.
   *
   * @throws {SeamgateFault} As `Gate.observe`.
   */
  observe(call: Call, result: ToolResult): Observation {
    return this.#kept(this.#gate.observe(this.agent, this.#current(), call, result));
  }

  /**
   * A person approves what was asked. Then decide about the same call again: that says whether the approval holds.
   *
   * @param asked - The decision that needs approval, or its `ask`.
   * @param principal - Who approves. The host knows that, and never takes it from a text of the model.
   * @throws {TypeError} The decision asks for nothing.
   */
  approve(asked: Decision | Ask, principal: string): void {
    this.#decided(asked, principal, "approved");
  }

  /** A person rejects what was asked: see {@link Loop.approve}. Then the same call is denied. */
  reject(asked: Decision | Ask, principal: string): void {
    this.#decided(asked, principal, "rejected");
  }

  /**
   * Count what the model took against the profile's budget: tokens, in and out, and milliseconds without the time that a
   * person took. Calls of tools count themselves.
   */
  spend({ tokens = 0, ms = 0 }: { readonly tokens?: number; readonly ms?: number }): void {
    const used = this.#facts.used ?? {};
    this.update({ used: { ...used, tokens: (used.tokens ?? 0) + tokens, ms: (used.ms ?? 0) + ms } });
  }

  /**
   * Tell the loop what a person said: `origins` of the profile are proven by it. The last 64 KiB count.
   *
   * @param text - The person's words, unchanged. Never a text of the model, or one that a tool returned.
   */
  said(text: string): void {
    this.update({ said: [...(this.#facts.said ?? []), text].slice(-64) });
  }

  /** Put other facts in the place of the old ones: the mode, the surface, a value of the context. */
  update(facts: Partial<Facts>): void {
    this.#facts = { ...this.#facts, ...structuredClone(facts) };
  }

  #decided(asked: Decision | Ask, principal: string, decision: "approved" | "rejected"): void {
    const ask = !("permit" in asked) ? asked : asked.permit === "approval" ? asked.ask : undefined;
    if (ask === undefined) {
      throw new TypeError("the decision asks for nothing: only one with `permit` = approval does");
    }
    const { at, approvals = [] } = this.#current();
    this.update({ approvals: [...approvals, { key: ask.key, digest: ask.digest, decision, principal, at }] });
  }

  /** The facts, at this time. Time does not go back. */
  #current(): Facts {
    this.update({ at: Math.max(Math.floor(this.#now()), this.#facts.at) });
    return this.#facts;
  }

  #kept<T extends Decision | Observation | Surface>(made: T): T {
    this.update(made.facts as Partial<Facts>);
    return made;
  }
}

function nonce(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
