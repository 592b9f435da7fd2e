import { digest } from "./component/files.js";
import { type Component, Live } from "./component.js";
import { asContract, asJson, asProfile, type Contract, isContract, ofDocument, type Profile } from "./contract.js";
import {
  type Audience,
  type Call,
  type Decision,
  type Facts,
  type Observation,
  ofText,
  type ProfileInfo,
  type Step,
  type Surface,
  stepOfText,
  type ToolResult,
} from "./decision.js";
import { SeamgateFault } from "./fault.js";
import { complete, fuelFor, fuelForContract, type Limits, smallEnough } from "./limits.js";
import { type Begin, Loop, type LoopOptions } from "./loop.js";
import { platform } from "./platform.js";
import { Contracts, Profiles, type Registered } from "./registered.js";
import { type Answer, type Judged, Report, type Usage, type Verdict } from "./report.js";
import { type Given, measure, ofBytes, ofString } from "./text.js";
import type { Confidence, ContractInfo, Finish, Warning } from "./types.js";

/** The operations for which an instance needs a profile, and nothing else. */
const DECISIONS: readonly unknown[] = ["surface", "permit", "observe", "advance", "project"];

/** How a gate is set up; every setting has a default. */
export interface GateOptions {
  /**
   * The component, compiled. Default: the one in this package, which is read and compiled; where code must not be
   * compiled at run time, `seamgate/workerd` has it as modules that are imported.
   */
  readonly component?: Component;
  /** What one call may use. */
  readonly limits?: Limits;
}

/** What an agent saw of one result, for claims to cite; an {@link Observation} is one. What is left out allows least. */
export interface Seen {
  /** What claims cite it by: 1 to 256 bytes, and no other has it. */
  readonly id: string;
  /** What the agent saw of it, character for character: at most 1 MiB. */
  readonly text: string;
  /** The kinds of evidence that it is. */
  readonly kinds?: readonly string[];
  /** What is known of it: `stale`, `sampled`, `partial`, `truncated` and `empty` have a meaning. */
  readonly labels?: readonly string[];
  /** The most that its source allows a claim to state. Default: `low`. */
  readonly confidence?: Confidence;
  /** Whether all of the result was seen, so that what is not in it is not there. Default: false. */
  readonly complete?: boolean;
  /** Codes of what limits it. Each claim that cites it must repeat them. */
  readonly limitations?: readonly string[];
}

/** What comes with an output. */
export interface OutputOptions {
  /**
   * Why the producer stopped, in our words or as its API said (`end_turn`, `MAX_TOKENS`, `tool-calls` …;
   * `schemas/request.schema.json` has them all). Any other word is the fault `bad_request`. Default: `unknown`.
   */
  readonly finish?: Finish | (string & Record<never, never>);
  /** The lists that the contract's `allow` names: all but those of optional rules. Default: none. */
  readonly lists?: Readonly<Record<string, readonly string[]>>;
  /**
   * What the agent saw: at most 1,000 observations of 4 MiB in all. Where the contract has `evidence`, none is the fault
   * `bad_request`, and an empty list is not. Default: none.
   */
  readonly evidence?: readonly Seen[];
}

/** So many instances a gate keeps for the next outputs; each takes two times its memory, some 6 MB. */
const RENEWED = 8;

/**
 * Judges outputs, each in a fresh instance of the component.
 *
 * Calls are synchronous: they return when there is a verdict, which their fuel bounds. A {@link WorkerGate} does not
 * block, and has a clock too.
 */
export class Gate {
  /** What runs in the sandbox, compiled: to be shared with other gates and workers. */
  readonly component: Component;
  /** What one call may use. */
  readonly limits: Readonly<Required<Limits>>;
  readonly #contracts = new Contracts();
  readonly #profiles = new Profiles();
  /** Instances with nothing in them but these contracts and profiles, by their keys. */
  readonly #renewed = new Map<string, Live>();

  private constructor(component: Component, limits: Required<Limits>) {
    this.component = component;
    this.limits = limits;
  }

  /**
   * A gate. The component is compiled, which takes some tens of milliseconds, once for all gates.
   *
   * @throws {LoadError} The component cannot be read, or is none that counts its fuel.
   * @throws {TypeError} A limit is no integer from 0.
   */
  static async load(options: GateOptions = {}): Promise<Gate> {
    const limits = complete(options.limits);
    return Gate.#of(options.component ?? (await platform().component()), limits);
  }

  /** @internal Another gate like this one, in which nothing is registered. */
  sibling(): Gate {
    return Gate.#of(this.component, this.limits);
  }

  static #of(component: Component, limits: Required<Limits>): Gate {
    // That it is a validator, and counts, is seen in an instance.
    new Live(component);
    return new Gate(component, limits);
  }

  /**
   * Check a contract and keep it: outputs of its agent are judged by it from now on. The same contract again changes
   * nothing. It is one whole document, as JSON text or as an object; the schema is inside, not the name of a file.
   *
   * @throws {SeamgateFault} `bad_contract`, also where the agent has another contract already; or a limit was passed.
   */
  register(contract: Contract): ContractInfo {
    const text = asContract(contract);
    const info = this.instance().register(text);
    this.#contracts.keep(text, info);
    return info;
  }

  /** Whether a contract is registered for an agent. */
  has(agent: string): boolean {
    return this.#contracts.has(agent);
  }

  /** The agents that have a contract, in ascending order. */
  names(): string[] {
    return this.#contracts.names();
  }

  /**
   * Which contract is registered for an agent.
   *
   * @throws {SeamgateFault} `unknown_agent`.
   */
  contract(agent: string): ContractInfo {
    return this.registered(agent).info;
  }

  /**
   * Text for an agent's prompt: what its output must be.
   *
   * @throws {SeamgateFault} `unknown_agent`, or a limit was passed.
   */
  describe(agent: string): string {
    this.registered(agent);
    return this.instance().describe(agent);
  }

  /**
   * What is likely a mistake in a contract, which need not be registered.
   *
   * @throws {SeamgateFault} `bad_contract`, or a limit was passed.
   */
  lint(contract: Contract): Warning[] {
    return this.instance().lint(asContract(contract));
  }

  /**
   * Judge one output in a fresh instance, by the contract of an agent or by one that need not be registered.
   *
   * @param agentOrContract - An agent's name; or a contract, as an object or as JSON text.
   * @param output - What the agent produced, prose and fences included. Bytes that are not UTF-8, and halves of
   *   surrogate pairs in a string, reject it, with the place.
   * @throws {SeamgateFault} There is no verdict: for one, a list is missing that the contract's `allow` names
   *   (`bad_request`). A rejected output is none of these: it is a report.
   */
  validate<T = unknown>(
    agentOrContract: string | Contract,
    output: string | Uint8Array,
    options: OutputOptions = {},
  ): Verdict<T> {
    return new Instance(this, true).validate<T>(agentOrContract, output, options);
  }

  /**
   * Answer one request that is JSON text (`schemas/request.schema.json`) in a fresh instance.
   * The request's size counts as the output's does.
   *
   * @throws {SeamgateFault} A limit was passed, or the text holds half a surrogate pair. Other faults are answers.
   */
  call(request: string): Answer {
    return new Instance(this, true).call(request);
  }

  /**
   * Check a profile and keep it: from now on it decides what its agent may do. The same profile again changes nothing.
   *
   * @throws {SeamgateFault} `bad_profile`, also where the agent has another profile already, or where the profile contradicts
   *   its examples; or a limit was passed.
   */
  registerProfile(profile: Profile): ProfileInfo {
    const text = asProfile(profile);
    const info = this.instance().registerProfile(text);
    this.#profiles.keep(text, info);
    return info;
  }

  /** The profiles that were registered here, by ascending agent. */
  profiles(): ProfileInfo[] {
    return this.#profiles.all().map(({ info }) => info);
  }

  /**
   * Text for an agent's prompt: what it may do.
   *
   * @throws {SeamgateFault} `unknown_agent`, or a limit was passed.
   */
  describeProfile(agent: string): string {
    return this.instance().describeProfile(agent);
  }

  /**
   * What is likely a mistake in a profile, which need not be registered.
   *
   * @throws {SeamgateFault} `bad_profile`, or a limit was passed.
   */
  lintProfile(profile: Profile): Warning[] {
    return this.instance().lintProfile(asProfile(profile));
  }

  /**
   * Say which tools the model may see, in a fresh instance.
   *
   * @param listed - What servers list now, as a lock file has it (`schemas/lock.schema.json`): a tool that is not there, or
   *   whose definition changed, is hidden. Default: the profile's own definitions are looked at.
   * @throws {SeamgateFault} `unknown_agent`; `bad_request` where a document is invalid, or the facts lack the mode; or a limit
   *   was passed.
   */
  surface(agent: string, facts: Facts | string, listed?: object | string): Surface {
    return new Instance(this, true).surface(agent, facts, listed);
  }

  /**
   * Decide whether a call may run, in a fresh instance. Facts and call are objects or JSON text. {@link Gate.loop} keeps the
   * facts.
   *
   * @throws {SeamgateFault} `unknown_agent`; `bad_request` where facts or call are invalid, or the facts lack the mode, or a
   *   list that a scope names; or a limit was passed. A denied call is none of these: it is a decision.
   */
  permit(agent: string, facts: Facts | string, call: Call | string): Decision {
    return new Instance(this, true).permit(agent, facts, call);
  }

  /**
   * Make an observation of what a tool returned, in a fresh instance: what the model may read of it. All are objects or JSON
   * text; the facts have a `nonce`.
   *
   * @throws {SeamgateFault} `unknown_agent`; `bad_request` where a document is invalid, the profile has no such tool, or the
   *   facts have no nonce; or a limit was passed. An invalid result is none of these: it is an observation.
   */
  observe(agent: string, facts: Facts | string, call: Call | string, result: ToolResult | string): Observation {
    return new Instance(this, true).observe(agent, facts, call, result);
  }

  /**
   * Apply one event to a run, in a fresh instance. Every decision of the run is made here; the host causes the effects.
   *
   * @param state - {@link Step.state} of the step before, unchanged. None for the first event, which is `started`.
   * @param event - What happened (`schemas/event.schema.json`), as an object or as JSON text.
   * @throws {SeamgateFault} `unknown_agent`; `bad_request` where the event is invalid, or the state belongs to another
   *   profile or version; or a limit was passed. The state stays as it was. An event that does not fit the run is none of
   *   these: the step says why it was ignored.
   */
  advance(agent: string, state: string | undefined, event: object | string): Step {
    return new Instance(this, true).advance(agent, state, event);
  }

  /**
   * What one audience sees of a line of a journal, an object with `event`, `record` or `action`. Null where the profile shows
   * nothing.
   *
   * @throws {SeamgateFault} `unknown_agent`; `bad_request` where the line is invalid; or a limit was passed.
   */
  project(agent: string, line: object | string, audience: Audience): Record<string, unknown> | null {
    return new Instance(this, true).project(agent, line, audience);
  }

  /**
   * Decide about the calls of one run, whose facts are kept here: no decision can miss what one before it changed.
   *
   * @param facts - What is known of the run at its beginning, or {@link Loop.facts} of an earlier loop.
   */
  loop(agent: string, facts: Begin, options: LoopOptions = {}): Loop {
    return new Loop(this, agent, facts, options);
  }

  /**
   * An instance to use more than once, for callers who trust their producers alike: what one output did to it, the next
   * one finds. The reports are the same bytes, and contracts are compiled once.
   */
  instance(): Instance {
    return new Instance(this);
  }

  /** @internal A fresh instance, which may have these contracts and profiles already. */
  fresh(keys: string): Live {
    const renewed = this.#renewed.get(keys);
    // One call has it at a time.
    this.#renewed.delete(keys);
    return renewed ?? new Live(this.component);
  }

  /** @internal Keep an instance for the next output, if nothing of the one before is left in it. */
  renew(keys: string, live: Live): void {
    if (live.renew()) {
      this.#renewed.set(keys, live);
      const [oldest] = this.#renewed.keys();
      if (this.#renewed.size > RENEWED && oldest !== undefined) {
        this.#renewed.delete(oldest);
      }
    }
  }

  /** @internal */
  registered(agent: string): Registered<ContractInfo> {
    return this.#contracts.of(agent);
  }

  /** @internal */
  profile(agent: string): Registered<ProfileInfo> {
    return this.#profiles.of(agent);
  }

  /**
   * @internal What an instance needs to answer a request. A verdict needs the contract of the agent that it names, and a
   * decision the profile; anything else may need all.
   */
  neededFor(op: unknown, agent: string): readonly Registered[] {
    if (op === undefined) {
      return this.#contracts.has(agent) ? [this.#contracts.of(agent)] : [];
    }
    if (DECISIONS.includes(op)) {
      return this.#profiles.has(agent) ? [this.#profiles.of(agent)] : [];
    }
    return String(op).includes("profile") ? this.#profiles.all() : this.#contracts.all();
  }
}

/** An instance that is used more than once. After a fault that stopped it, the next call begins with a fresh one. */
export class Instance {
  readonly #gate: Gate;
  /** Whether it is for one call only. */
  readonly #once: boolean;
  #live: Live | undefined;

  /** @internal Use {@link Gate.instance}. */
  constructor(gate: Gate, once = false) {
    this.#gate = gate;
    this.#once = once;
  }

  /** Judge one output: see {@link Gate.validate}. */
  validate<T = unknown>(
    agentOrContract: string | Contract,
    output: string | Uint8Array,
    options: OutputOptions = {},
  ): Verdict<T> {
    const given = this.#given(output);
    const contract = isContract(agentOrContract) ? asContract(agentOrContract) : undefined;
    const subject = contract === undefined ? { agent: agentOrContract } : {};
    const { finish, lists } = options;
    const evidence = options.evidence?.map(seen);
    const further = evidence === undefined ? 0 : measure(JSON.stringify(evidence)).bytes;
    smallEnough(this.#gate.limits, given.bytes + further);
    // Members that are undefined are left out.
    const rest = JSON.stringify({
      ...subject,
      output: given.text,
      finish,
      lists,
      evidence,
      invalid_utf8: given.invalid,
    });
    const request = contract === undefined ? rest : `{"contract":${contract},${rest.slice(1)}`;
    const needed = contract === undefined ? [this.#gate.registered(agentOrContract as string)] : [];
    const bytes = given.bytes + further + (contract === undefined ? 0 : measure(contract).bytes);
    const { json, usage } = this.#ask(needed, bytes, request, "report");
    return { report: new Report<T>(json, given.text) as Judged<T>, usage };
  }

  /** Answer one request that is JSON text: see {@link Gate.call}. */
  call(request: string): Answer {
    const { bytes, lone } = measure(request);
    smallEnough(this.#gate.limits, bytes);
    if (lone !== undefined) {
      throw new SeamgateFault("bad_request", `request: half a surrogate pair at byte ${lone}; it must be Unicode text`);
    }
    const { value, usage } = this.#within(this.#neededFor(request), bytes, (live) => live.call(request));
    return { json: value, usage };
  }

  /** Say which tools the model may see: see {@link Gate.surface}. */
  surface(agent: string, facts: Facts | string, listed?: object | string): Surface {
    return this.#decide("surface", agent, listed === undefined ? { facts } : { facts, listed });
  }

  /** Decide whether a call may run: see {@link Gate.permit}. */
  permit(agent: string, facts: Facts | string, call: Call | string): Decision {
    return this.#decide("permit", agent, { facts, call });
  }

  /** Make an observation of what a tool returned: see {@link Gate.observe}. */
  observe(agent: string, facts: Facts | string, call: Call | string, result: ToolResult | string): Observation {
    return this.#decide("observe", agent, { facts, call, result });
  }

  /** Apply one event to a run: see {@link Gate.advance}. */
  advance(agent: string, state: string | undefined, event: object | string): Step {
    return stepOfText(this.#made("advance", agent, state === undefined ? { event } : { state, event }));
  }

  /** What one audience sees of a line of a journal: see {@link Gate.project}. */
  project(agent: string, line: object | string, audience: Audience): Record<string, unknown> | null {
    return JSON.parse(this.#made("project", agent, { line, audience: JSON.stringify(audience) })).view;
  }

  /** @internal */
  register(contract: string): ContractInfo {
    return JSON.parse(this.#about("register", "contract", contract));
  }

  /** @internal */
  lint(contract: string): Warning[] {
    return JSON.parse(this.#about("lint", "contract", contract));
  }

  /** @internal */
  describe(agent: string): string {
    const needed = [this.#gate.registered(agent)];
    return JSON.parse(this.#ask(needed, 0, JSON.stringify({ op: "describe", agent }), "result").json);
  }

  /** @internal */
  registerProfile(profile: string): ProfileInfo {
    return JSON.parse(this.#about("register_profile", "profile", profile));
  }

  /** @internal */
  lintProfile(profile: string): Warning[] {
    return JSON.parse(this.#about("lint_profile", "profile", profile));
  }

  /** @internal */
  describeProfile(agent: string): string {
    const needed = [this.#gate.profile(agent)];
    return JSON.parse(this.#ask(needed, 0, JSON.stringify({ op: "describe_profile", agent }), "result").json);
  }

  #decide<T>(op: string, agent: string, documents: Readonly<Record<string, object | string>>): T {
    return ofText(this.#made(op, agent, documents));
  }

  /** What the kernel makes by the profile of an agent, as JSON text. */
  #made(op: string, agent: string, documents: Readonly<Record<string, object | string>>): string {
    const texts = Object.entries(documents).map(([what, given]) => [what, asJson(what, given, "bad_request")] as const);
    const bytes = texts.reduce((sum, [, text]) => sum + measure(text).bytes, 0);
    smallEnough(this.#gate.limits, bytes);
    const members = texts.map(([what, text]) => `,"${what}":${text}`).join("");
    const request = `{"op":"${op}","agent":${JSON.stringify(agent)}${members}}`;
    return this.#ask([this.#gate.profile(agent)], bytes, request, "result").json;
  }

  #about(op: string, what: "contract" | "profile", document: string): string {
    const request = `{"op":"${op}","${what}":${document}}`;
    const { bytes } = measure(document);
    const { value } = this.#within([], bytes, (live) => live.call(request), fuelForContract(this.#gate.limits, bytes));
    return answered(value, "result");
  }

  /** Bounded before it is looked at. */
  #given(output: string | Uint8Array): Given {
    if (typeof output !== "string" && !(output instanceof Uint8Array)) {
      throw new TypeError(
        `an output must be a string or a Uint8Array, not ${output === null ? "null" : typeof output}`,
      );
    }
    // No text is shorter in UTF-8 than in UTF-16's units.
    smallEnough(this.#gate.limits, output.length);
    const given = typeof output === "string" ? ofString(output) : ofBytes(output);
    smallEnough(this.#gate.limits, given.bytes);
    return given;
  }

  /** The contracts and profiles that a request may ask for. */
  #neededFor(request: string): readonly Registered[] {
    try {
      const { op, agent } = JSON.parse(request);
      return this.#gate.neededFor(op, agent);
    } catch {
      // It says itself what is wrong with it.
      return [];
    }
  }

  #ask(
    needed: readonly Registered[],
    bytes: number,
    request: string,
    member: "report" | "result",
  ): { json: string; usage: Usage } {
    const { value, usage } = this.#within(needed, bytes, (live) => live.call(request));
    return { json: answered(value, member), usage };
  }

  /**
   * Call an instance that has these contracts and profiles. Each is compiled within a budget of its own: what is left of that
   * is not the call's.
   */
  #within<T>(
    needed: readonly Registered[],
    bytes: number,
    work: (live: Live) => T,
    budget?: bigint,
  ): { value: T; usage: Usage } {
    const gate = this.#gate;
    const keys = needed.map(({ key }) => key).join();
    const live = this.#live ?? (this.#once ? gate.fresh(keys) : new Live(gate.component));
    this.#live = undefined;
    const lacking = needed.filter(({ key }) => !live.given.has(key));
    // A fresh instance may have what it needs already. It takes as much as if it had not: the same each time.
    const all = (this.#once ? needed : lacking).reduce((sum, registered) => sum + registered.bytes, bytes);
    const limit = budget ?? fuelFor(gate.limits, all);
    let compiled = live.spent;
    let within = limit;
    const start = performance.now();
    let value: T;
    try {
      for (const { key, bytes, request } of lacking) {
        within = fuelForContract(gate.limits, bytes);
        live.fuel = within;
        answered(live.call(request), "result");
        compiled += within - live.fuel;
        live.given.add(key);
      }
      if (this.#once) {
        live.keep(compiled);
      }
      within = limit;
      live.fuel = within;
      value = work(live);
    } catch (error) {
      // Where it was stopped, its memory is in no state to go on with: it is dropped.
      throw error instanceof SeamgateFault ? error : live.fault(error, within);
    }
    const elapsed = performance.now() - start;
    const usage = { fuel: Number(compiled + limit - live.fuel), memory: live.memory, elapsed, component: digest };
    if (this.#once) {
      gate.renew(keys, live);
    } else {
      this.#live = live;
    }
    return { value, usage };
  }
}

/** Of an observation, what claims are held to. */
function seen({ id, text, kinds, labels, confidence, complete, limitations }: Seen): Record<string, unknown> {
  return { id, text, kinds, labels, confidence, complete, limitations };
}

/** What an answer to a request without an `id` holds. */
function answered(answer: string, member: "report" | "result"): string {
  const before = `{"id":null,"${member}":`;
  if (answer.startsWith(before)) {
    return answer.slice(before.length, -1);
  }
  const { fault } = JSON.parse(answer);
  throw ofDocument(SeamgateFault.of(fault));
}
