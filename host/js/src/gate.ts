import { type Checks, withChecksNow } from "./checks.js";
import type { Component } from "./component.js";
import {
  asAgent,
  asContract,
  asJson,
  asProfile,
  type Contract,
  type Profile,
  type TypedContract,
  takeContract,
  takeSubject,
} from "./contract.js";
import {
  type Audience,
  type Call,
  type Facts,
  ofText,
  type ProfileInfo,
  type Step,
  type Surface,
  stepOfText,
  type ToolResult,
} from "./decision.js";
import type { Backend, Engine, Judge, Operation } from "./engine.js";
import { SeamgateFault } from "./fault.js";
import { type Outcome, type Produced, run } from "./harness.js";
import { complete, type Limits, smallEnough } from "./limits.js";
import { type Begin, Loop, type LoopOptions } from "./loop.js";
import { asHook, type Names, OUTPUT_OPTIONS, type OutputOptions, only, type RunOptions } from "./options.js";
import { kindOf } from "./plain.js";
import { engine } from "./platform.js";
import { type Answer, type Judged, Report, type Usage, type Verdict } from "./report.js";
import { Session } from "./session.js";
import { lengthOf, measure } from "./text.js";
import type { ContractInfo, Warning } from "./types.js";
import { failed, seen } from "./watch.js";
import type { Decision, Observation } from "./words.js";

export type { OutputOptions, Seen } from "./options.js";

/** How a gate is set up; every setting has a default. */
export interface GateOptions {
  /**
   * The component, compiled. Default: the one in this package, which is read and compiled; where code must not be
   * compiled at run time, `seamgate/workerd` has it as modules that are imported. Bytes are what {@link bake} made; they need the
   * native addon.
   */
  readonly component?: Component | Uint8Array;
  /** What one call may use. */
  readonly limits?: Limits;
  /**
   * The wall clock for each call, in milliseconds. Past it, it ends in the fault `timeout`. Default: 5,000 in the native addon. The
   * engine of JavaScript has none: there, only a `WorkerGate` takes it.
   */
  readonly deadlineMs?: number;
  /** Told of each verdict of the gate, those of `ask` included, for logs and metrics. What it throws is thrown by the call. */
  readonly onVerdict?: ((verdict: Verdict) => void) | undefined;
}

const GATE_OPTIONS: Names<GateOptions> = { component: true, limits: true, deadlineMs: true, onVerdict: true };
const RUN_OPTIONS: Names<RunOptions> = { lists: true, evidence: true, allowPartial: true, journal: true };

/** @throws {TypeError} It is no gate that judges at once. */
export function asGate(gate: Gate, argument = "gate"): Gate {
  if (!(gate instanceof Gate)) {
    throw new TypeError(`\`${argument}\` must be a Gate, made by \`await Gate.load()\`, not ${kindOf(gate)}`);
  }
  return gate;
}

/**
 * Judges outputs, each in a fresh instance of the component.
 *
 * Calls are synchronous: they return when there is a verdict, which their fuel bounds. A {@link WorkerGate} does not
 * block, and has a clock too.
 */
export class Gate {
  /** What one call may use. */
  readonly limits: Readonly<Required<Limits>>;
  readonly #engine: Engine;
  readonly #checks = new Map<string, Checks>();

  readonly #onVerdict: GateOptions["onVerdict"];

  private constructor(engine: Engine, limits: Required<Limits>, onVerdict?: GateOptions["onVerdict"]) {
    if (engine === undefined) {
      throw new TypeError("a Gate is made by `await Gate.load()`");
    }
    this.#engine = engine;
    this.limits = limits;
    this.#onVerdict = onVerdict;
  }

  /**
   * A gate.
   *
   * @throws {LoadError} The component cannot be read, or is none that can be run within limits; or what was asked for needs the
   *   native addon, and there is none.
   * @throws {TypeError} A limit is no integer from 0.
   */
  static async load(options: GateOptions = {}): Promise<Gate> {
    only("options", options, GATE_OPTIONS);
    const limits = complete(options.limits);
    return new Gate(await engine(options, limits), limits, asHook("onVerdict", options.onVerdict));
  }

  /** @internal Another gate like this one, in which nothing is registered. */
  sibling(): Gate {
    return new Gate(this.#engine.sibling(), this.limits, this.#onVerdict);
  }

  /** What runs the sandbox. */
  get backend(): Backend {
    return this.#engine.backend;
  }

  /** What runs in the sandbox: to be shared with other gates and workers. */
  get component(): Component {
    return this.#engine.component;
  }

  /**
   * Check a contract and keep it: outputs of its agent are judged by it from now on. The same contract again changes
   * nothing. It is one whole document, as JSON text or as an object; the schema is inside, not the name of a file.
   *
   * @throws {SeamgateFault} `bad_contract`, also where the agent has another contract already; or a limit was passed.
   * As `schema` it may have a schema of a library: its JSON Schema is registered, and its own checks run on what the gate accepts.
   *
   * @throws {TypeError} It holds something else than JSON: the message says what to pass.
   */
  register(contract: Contract): ContractInfo {
    const { text, checks } = takeContract(contract);
    const info = this.#engine.register(text);
    if (checks !== undefined) this.#checks.set(info.agent, checks);
    return info;
  }

  /** @internal Makes a verdict, and reports it, or the fault in its place, to those who observe. */
  told<T>(make: () => Verdict<T>): Verdict<T> {
    let verdict: Verdict<T>;
    try {
      verdict = make();
    } catch (error) {
      throw failed(error);
    }
    seen(verdict as Verdict);
    this.#onVerdict?.(verdict as Verdict);
    return verdict;
  }

  /** @internal A verdict without the checks that the schema of the agent makes itself. */
  unchecked(agent: string, output: string | Uint8Array, options: OutputOptions): Verdict {
    return this.told(() => {
      smallEnough(this.limits, lengthOf(output));
      const { json, outputLength, raw, usage } = this.#engine.validate(takeSubject(agent), output, options);
      return { report: new Report(json, raw, outputLength) as Judged, usage };
    });
  }

  /** @internal The checks that a schema of a library makes itself. */
  checksOf(agent: string): Checks | undefined {
    return this.#checks.get(agent);
  }

  /** Whether a contract is registered for an agent. */
  has(agent: string): boolean {
    return this.#engine.contracts.has(asAgent(agent));
  }

  /** The agents that have a contract, in ascending order. */
  names(): string[] {
    return this.#engine.contracts.names();
  }

  /**
   * Which contract is registered for an agent.
   *
   * @throws {SeamgateFault} `unknown_agent`.
   */
  contract(agent: string): ContractInfo {
    return this.#engine.contracts.of(asAgent(agent)).info;
  }

  /**
   * Text for an agent's prompt: what its output must be.
   *
   * @throws {SeamgateFault} `unknown_agent`, or a limit was passed.
   */
  describe(agent: string): string {
    return this.#engine.describe(asAgent(agent));
  }

  /**
   * What is likely a mistake in a contract, which need not be registered.
   *
   * @throws {SeamgateFault} `bad_contract`, or a limit was passed.
   * @throws {TypeError} It holds something else than JSON.
   */
  lint(contract: Contract): Warning[] {
    return this.#engine.lint(asContract(contract));
  }

  /**
   * Judge one output in a fresh instance, by the contract of an agent or by one that need not be registered.
   *
   * @param agentOrContract - An agent's name; or a contract, as an object or as JSON text.
   * @param output - What the agent produced, prose and fences included. Bytes that are not UTF-8, and halves of
   *   surrogate pairs in a string, reject it, with the place.
   * @throws {SeamgateFault} There is no verdict: for one, a list is missing that the contract's `allow` names
   *   (`bad_request`). A rejected output is none of these: it is a report.
   * @throws {TypeError} A contract holds something else than JSON; or its schema has asynchronous checks, for which only a
   *   {@link WorkerGate} and `ask` wait.
   */
  validate<T, Input = unknown>(
    contract: TypedContract<T, Input>,
    output: string | Uint8Array,
    options?: OutputOptions,
  ): Verdict<T, Input>;
  validate<T = unknown>(
    agentOrContract: string | Contract,
    output: string | Uint8Array,
    options?: OutputOptions,
  ): Verdict<T>;
  validate<T>(
    agentOrContract: string | Contract,
    output: string | Uint8Array,
    options: OutputOptions = {},
  ): Verdict<T> {
    return judge<T>(this.#engine, this, agentOrContract, output, options);
  }

  /**
   * Put together the reports of several attempts, in their order, and judge the result as a whole. If the feedback asked for some
   * items alone (`wanted`), the items that the producer sent then take their places. All reports are of one agent.
   *
   * @param reports - What {@link Gate.validate} gave.
   * @param options - The lists and the evidence. `finish` is not looked at.
   * @throws {SeamgateFault} `bad_request`: there is no report, one is of another contract, or a list or the evidence is missing.
   */
  merge<T = unknown>(reports: readonly Report[], options: OutputOptions = {}): Verdict<T> {
    only("options", options, OUTPUT_OPTIONS);
    if (!Array.isArray(reports) || reports.some((report) => !(report instanceof Report))) {
      throw new TypeError("`reports` must be a list of reports, as `validate` gives them");
    }
    if (reports.length === 0) {
      throw new SeamgateFault("bad_request", "reports: there must be one at least to merge");
    }
    const texts = reports.map((report) => report.json);
    return this.told(() => {
      const { json, usage } = this.#engine.merge(texts, options);
      const report = new Report<T>(json, reports.at(-1)?.raw ?? "") as Judged<T>;
      return { report: checkedNow(report, this.#checks.get(report.agent)), usage };
    });
  }

  /**
   * Begin an output that is still coming, in an instance of its own.
   *
   * @throws {SeamgateFault} The faults of {@link Gate.validate}.
   */
  session<T = unknown>(agent: string, options: OutputOptions = {}): Session<T> {
    const whole = (output: string, finish: OutputOptions["finish"]) =>
      this.validate<T>(agent, output, finish === undefined ? options : { ...options, finish });
    only("options", options, OUTPUT_OPTIONS);
    const checked = (finish: () => { report: Judged<T>; usage: Usage }) =>
      this.told(() => {
        const { report, usage } = finish();
        return { report: checkedNow(report, this.#checks.get(agent)), usage };
      });
    return new Session<T>(() => this.#engine.session(asAgent(agent), options), whole, checked);
  }

  /**
   * Take the harness step: ask a producer, judge its output, send back what is wrong, and ask again, up to `retry.limit` of the
   * contract. It needs the native addon.
   *
   * @param produce - Asks the producer. It gets what to tell it about its last output: null in the first attempt. What it throws
   *   ends the run, and comes through.
   * @throws {SeamgateFault} There is no verdict.
   * @throws {JournalError} The journal cannot be read or written, or is of another run.
   */
  run<T = unknown>(
    agent: string,
    produce: (feedback: string | null, attempt: number) => Produced | PromiseLike<Produced>,
    options: RunOptions = {},
  ): Promise<Outcome<T>> {
    only("options", options, RUN_OPTIONS);
    if (typeof produce !== "function") {
      throw new TypeError(`\`produce\` must be a function that asks the producer, not ${kindOf(produce)}`);
    }
    if (this.#checks.has(asAgent(agent))) {
      throw new TypeError(
        `\`agent\`: the schema of ${JSON.stringify(agent)} has checks of its own, and gate.run judges by JSON Schema alone: use ask`,
      );
    }
    return run<T>(this.#engine, agent, produce, options);
  }

  /**
   * Answer one request that is JSON text (`schemas/request.schema.json`) in a fresh instance.
   * The request's size counts as the output's does.
   *
   * @throws {SeamgateFault} A limit was passed, or the text holds half a surrogate pair. Other faults are answers.
   */
  call(request: string): Answer {
    return asked(this.#engine, this.limits, request);
  }

  /**
   * Check a profile and keep it: from now on it decides what its agent may do. The same profile again changes nothing.
   *
   * @throws {SeamgateFault} `bad_profile`, also where the agent has another profile already, or where the profile contradicts
   *   its examples; or a limit was passed.
   */
  registerProfile(profile: Profile): ProfileInfo {
    return this.#engine.registerProfile(asProfile(profile));
  }

  /** The profiles that were registered here, by ascending agent. */
  profiles(): ProfileInfo[] {
    return this.#engine.profiles.all().map(({ info }) => info);
  }

  /**
   * Text for an agent's prompt: what it may do.
   *
   * @throws {SeamgateFault} `unknown_agent`, or a limit was passed.
   */
  describeProfile(agent: string): string {
    return this.#engine.describeProfile(asAgent(agent));
  }

  /**
   * What is likely a mistake in a profile, which need not be registered.
   *
   * @throws {SeamgateFault} `bad_profile`, or a limit was passed.
   */
  lintProfile(profile: Profile): Warning[] {
    return this.#engine.lintProfile(asProfile(profile));
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
    return new Decider(this.#engine, this.limits).surface(agent, facts, listed);
  }

  /**
   * Decide whether a call may run, in a fresh instance. Facts and call are objects or JSON text. {@link Gate.loop} keeps the
   * facts. A decision is an object in any case: its `permit` says whether the call may run.
   *
   * @throws {SeamgateFault} `unknown_agent`; `bad_request` where facts or call are invalid, or the facts lack the mode, or a
   *   list that a scope names; or a limit was passed. A denied call is none of these: it is a decision.
   */
  decide(agent: string, facts: Facts | string, call: Call | string): Decision {
    return new Decider(this.#engine, this.limits).decide(agent, facts, call);
  }

  /**
   * Make an observation of what a tool returned, in a fresh instance: what the model may read of it. All are objects or JSON
   * text; the facts have a `nonce`.
   *
   * @throws {SeamgateFault} `unknown_agent`; `bad_request` where a document is invalid, the profile has no such tool, or the
   *   facts have no nonce; or a limit was passed. An invalid result is none of these: it is an observation.
   */
  observe(agent: string, facts: Facts | string, call: Call | string, result: ToolResult | string): Observation {
    return new Decider(this.#engine, this.limits).observe(agent, facts, call, result);
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
    return new Decider(this.#engine, this.limits).advance(agent, state, event);
  }

  /**
   * What one audience sees of a line of a journal, an object with `event`, `record` or `action`. Null where the profile shows
   * nothing.
   *
   * @throws {SeamgateFault} `unknown_agent`; `bad_request` where the line is invalid; or a limit was passed.
   */
  project(agent: string, line: object | string, audience: Audience): Record<string, unknown> | null {
    return new Decider(this.#engine, this.limits).project(agent, line, audience);
  }

  /**
   * Decide about the calls of one run, whose facts are kept here: no decision can miss what one before it changed.
   *
   * @param facts - What is known of the run at its beginning, or {@link Loop.facts} of an earlier loop.
   */
  loop(agent: string, facts: Begin, options: LoopOptions = {}): Loop {
    only("options", options, { now: true });
    if (Object(facts) !== facts) {
      throw new TypeError(`\`facts\` must be an object with \`run\` and \`principal\`, not ${kindOf(facts)}`);
    }
    return new Loop(this, asAgent(agent), facts, options);
  }

  /**
   * An instance to use more than once, for callers who trust their producers alike: what one output did to it, the next
   * one finds. The reports are the same bytes, and contracts are compiled once.
   */
  instance(): Instance {
    return new Instance(this.#engine.instance(), this);
  }

  /** @internal What a contract is; it is not kept. */
  compiled(contract: string): ContractInfo {
    return this.#engine.compiled(contract);
  }

  /** @internal */
  get engine(): Engine {
    return this.#engine;
  }
}

/** What an instance of the kernel is asked. */
class Decider {
  readonly #judge: Judge;
  readonly #limits: Required<Limits>;

  constructor(judge: Judge, limits: Required<Limits>) {
    this.#judge = judge;
    this.#limits = limits;
  }

  /** Say which tools the model may see: see {@link Gate.surface}. */
  surface(agent: string, facts: Facts | string, listed?: object | string): Surface {
    return ofText(this.#made("surface", agent, listed === undefined ? { facts } : { facts, listed }));
  }

  /** Decide whether a call may run: see {@link Gate.decide}. */
  decide(agent: string, facts: Facts | string, call: Call | string): Decision {
    return ofText(this.#made("permit", agent, { facts, call }));
  }

  /** Make an observation of what a tool returned: see {@link Gate.observe}. */
  observe(agent: string, facts: Facts | string, call: Call | string, result: ToolResult | string): Observation {
    return ofText(this.#made("observe", agent, { facts, call, result }));
  }

  /** Apply one event to a run: see {@link Gate.advance}. */
  advance(agent: string, state: string | undefined, event: object | string): Step {
    return stepOfText(this.#made("advance", agent, state === undefined ? { event } : { state, event }));
  }

  /** What one audience sees of a line of a journal: see {@link Gate.project}. */
  project(agent: string, line: object | string, audience: Audience): Record<string, unknown> | null {
    return JSON.parse(this.#made("project", agent, { line, audience: JSON.stringify(audience) })).view;
  }

  /** What the kernel makes by the profile of an agent, as JSON text. */
  #made(operation: Operation, agent: string, documents: Readonly<Record<string, object | string>>): string {
    const texts = Object.entries(documents).map(([what, given]) => [what, asJson(what, given, "bad_request")] as const);
    const bytes = texts.reduce((sum, [, text]) => sum + measure(text).bytes, 0);
    smallEnough(this.#limits, bytes);
    return this.#judge.decide(operation, asAgent(agent), Object.fromEntries(texts), bytes);
  }
}

/** An instance that is used more than once. After a fault that stopped it, the next call begins with a fresh one. */
export class Instance extends Decider {
  readonly #judge: Judge;
  readonly #gate: Gate;

  /** @internal Use {@link Gate.instance}. */
  constructor(judge: Judge, gate: Gate) {
    super(judge, gate.limits);
    this.#judge = judge;
    this.#gate = gate;
  }

  /** Judge one output: see {@link Gate.validate}. */
  validate<T, Input = unknown>(
    contract: TypedContract<T, Input>,
    output: string | Uint8Array,
    options?: OutputOptions,
  ): Verdict<T, Input>;
  validate<T = unknown>(
    agentOrContract: string | Contract,
    output: string | Uint8Array,
    options?: OutputOptions,
  ): Verdict<T>;
  validate<T>(
    agentOrContract: string | Contract,
    output: string | Uint8Array,
    options: OutputOptions = {},
  ): Verdict<T> {
    return judge<T>(this.#judge, this.#gate, agentOrContract, output, options);
  }

  /** Answer one request that is JSON text: see {@link Gate.call}. */
  call(request: string): Answer {
    return asked(this.#judge, this.#gate.limits, request);
  }
}

function judge<T>(
  judge: Judge,
  gate: Gate,
  agentOrContract: string | Contract,
  output: string | Uint8Array,
  options: OutputOptions,
): Verdict<T> {
  const subject = takeSubject(agentOrContract);
  only("options", options, OUTPUT_OPTIONS);
  return gate.told(() => {
    smallEnough(gate.limits, lengthOf(output));
    const { json, outputLength, raw, usage } = judge.validate(subject, output, options);
    const report = new Report<T>(json, raw, outputLength) as Judged<T>;
    return { report: checkedNow(report, subject.checks ?? gate.checksOf(subject.agent)), usage };
  });
}

/** The verdict of a schema's own checks, where there are any. */
function checkedNow<T>(report: Judged<T>, checks: Checks | undefined): Judged<T> {
  return checks === undefined ? report : (withChecksNow(report as Judged, checks) as Judged<T>);
}

function asked(judge: Judge, limits: Required<Limits>, request: string): Answer {
  const { bytes, lone } = measure(request);
  smallEnough(limits, bytes);
  if (lone !== undefined) {
    throw new SeamgateFault("bad_request", `request: half a surrogate pair at byte ${lone}; it must be Unicode text`);
  }
  return judge.call(request);
}
