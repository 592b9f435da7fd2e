import type { Call, Facts, Surface, ToolResult } from "./decision.js";
import type { AllowedDecision, Ask, Decision, Observation } from "./words.js";

/** The facts at the start of a run. If there is no `nonce`, a random one is generated. */
export type Begin = Omit<Facts, "at"> & { readonly at?: number };

/** Decides about calls, given the facts. A gate does. */
export interface Decides {
  surface(agent: string, facts: Facts, listed?: object): Surface;
  decide(agent: string, facts: Facts, call: Call): Decision;
  observe(agent: string, facts: Facts, call: Call, result: ToolResult): Observation;
}

/** Options of a loop. */
export interface LoopOptions {
  /** A function that returns the time in milliseconds since 1970. Default: `Date.now`. */
  readonly now?: () => number;
}

/**
 * Decides about the calls of one run, and keeps its facts: see `Gate.loop`.
 *
 * Each decision takes all previous ones into account: the budgets that are used, the labels of the data that the model
 * has read, and the questions and approvals.
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

  /**
   * The current facts. To resume the loop later, store them and call `gate.loop(agent, facts)`. The nonce in them is a
   * secret.
   */
  get facts(): Facts {
    return structuredClone(this.#facts);
  }

  /**
   * Decide which tools the model may see. From now on, calls of other tools are denied.
   *
   * @throws {SeamgateFault} As `Gate.surface`.
   */
  surface(listed?: object): Surface {
    return this.#kept(this.#gate.surface(this.agent, this.#current(), listed));
  }

  /**
   * Permit a call, or not: `const permitted = loop.permit(call); if (permitted) …`. Send the `arguments` of the
   * returned decision, and nothing else. {@link Loop.decide} also says why a call may not run.
   *
   * @returns The decision if it allows the call; undefined if it denies the call or requires approval.
   * @throws {SeamgateFault} As `Gate.decide`.
   */
  permit(call: Call): AllowedDecision | undefined {
    const decision = this.decide(call);
    return decision.permit === "allow" ? decision : undefined;
  }

  /**
   * Decide whether a call may run. The decision is always an object, and therefore truthy: check its `permit`, which
   * also discriminates the three types. If it is `allow`, send the `arguments` of the decision, and nothing else.
   *
   * @throws {SeamgateFault} As `Gate.decide`.
   */
  decide(call: Call): Decision {
    return this.#kept(this.#gate.decide(this.agent, this.#current(), call));
  }

  /**
   * Turn the result of a call into an observation. Show the model its `message`, and nothing else of the result.
   *
   * @throws {SeamgateFault} As `Gate.observe`.
   */
  observe(call: Call, result: ToolResult): Observation {
    return this.#kept(this.#gate.observe(this.agent, this.#current(), call, result));
  }

  /**
   * Record that a person approves a call. Then decide about the same call again, which checks the approval.
   *
   * @param asked - The decision that needs approval, or its `ask`.
   * @param principal - The person who approves. The host knows who that is, and never takes it from text of the model.
   * @throws {TypeError} The decision asks for nothing.
   */
  approve(asked: Decision | Ask, principal: string): void {
    this.#decided(asked, principal, "approved");
  }

  /** Record that a person rejects a call: see {@link Loop.approve}. Then the same call is denied. */
  reject(asked: Decision | Ask, principal: string): void {
    this.#decided(asked, principal, "rejected");
  }

  /**
   * Charge the model's usage to the profile's budget: input and output tokens, and milliseconds, without the time that
   * a person took. Calls of tools are charged automatically.
   */
  spend({ tokens = 0, ms = 0 }: { readonly tokens?: number; readonly ms?: number }): void {
    const used = this.#facts.used ?? {};
    this.update({ used: { ...used, tokens: (used.tokens ?? 0) + tokens, ms: (used.ms ?? 0) + ms } });
  }

  /**
   * Record the words of a person, which can prove the profile's `origins`. Only the last 64 KiB are kept.
   *
   * @param text - The person's words, unchanged. Never text of the model or of a tool.
   */
  said(text: string): void {
    this.update({ said: [...(this.#facts.said ?? []), text].slice(-64) });
  }

  /** Replace facts, such as the mode, the surface or a value of the context. */
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

  /** Returns the facts with the current time. Time never goes back. */
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
