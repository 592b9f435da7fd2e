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

/** Options of a gate. */
export interface GateOptions {
  /**
   * The compiled component. Default: the component in this package, which is read and compiled. On platforms that do
   * not allow compiling at run time, `seamgate/workerd` has it as modules to import. The bytes of a component from
   * {@link bake} require the native addon.
   */
  readonly component?: Component | Uint8Array;
  /** The limits of one call. */
  readonly limits?: Limits;
  /**
   * The wall-clock time of each call, in milliseconds. A call that exceeds it ends with the fault `timeout`. Default:
   * 5,000 with the native addon. The JavaScript engine has no such limit: there, only a `WorkerGate` supports it.
   */
  readonly deadlineMs?: number;
  /**
   * Called with each verdict of the gate, including those of `ask`, for logs and metrics. The call throws any error it
   * throws.
   */
  readonly onVerdict?: ((verdict: Verdict) => void) | undefined;
}

const GATE_OPTIONS: Names<GateOptions> = { component: true, limits: true, deadlineMs: true, onVerdict: true };
const RUN_OPTIONS: Names<RunOptions> = { lists: true, evidence: true, allowPartial: true, journal: true };

/** @throws {TypeError} It is not a synchronous gate. */
export function asGate(gate: Gate, argument = "gate"): Gate {
  if (!(gate instanceof Gate)) {
    throw new TypeError(`\`${argument}\` must be a Gate, made by \`await Gate.load()\`, not ${kindOf(gate)}`);
  }
  return gate;
}

/**
 * Judges outputs, each in a fresh instance of the component.
 *
 * Calls are synchronous: they block until there is a verdict. Fuel bounds the time. A {@link WorkerGate} does not
 * block, and has a wall-clock limit as well.
 */
export class Gate {
  /** The limits of one call. */
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
   * Creates a gate.
   *
   * @throws {LoadError} The component cannot be read, or cannot be run within limits; or an option requires the native
   *   addon, and there is none.
   * @throws {TypeError} A limit is not an integer of at least 0.
   */
  static async load(options: GateOptions = {}): Promise<Gate> {
    only("options", options, GATE_OPTIONS);
    const limits = complete(options.limits);
    return new Gate(await engine(options, limits), limits, asHook("onVerdict", options.onVerdict));
  }

  /** @internal Returns another gate like this one, in which nothing is registered. */
  sibling(): Gate {
    return new Gate(this.#engine.sibling(), this.limits, this.#onVerdict);
  }

  /** The engine that runs the sandbox. */
  get backend(): Backend {
    return this.#engine.backend;
  }

  /** The component that runs in the sandbox. It can be shared with other gates and workers. */
  get component(): Component {
    return this.#engine.component;
  }

  /**
   * Check a contract and register it: from now on, outputs of its agent are judged by it. Registering the same contract
   * again has no effect. A contract is one self-contained document, as JSON text or as an object, with the schema
   * inside and not in a file.
   *
   * Its `schema` may be a library's schema. Then its JSON Schema is registered, and its own checks run on the documents
   * that the gate accepts.
   *
   * @throws {SeamgateFault} `bad_contract` if the contract is invalid or the agent already has another one; or a limit
   *   was exceeded.
   * @throws {TypeError} It holds a value that is not JSON. The message says what to pass instead.
   */
  register(contract: Contract): ContractInfo {
    const { text, checks } = takeContract(contract);
    const info = this.#engine.register(text);
    if (checks !== undefined) this.#checks.set(info.agent, checks);
    return info;
  }

  /** @internal Computes a verdict, and reports it, or the fault that replaces it, to observers. */
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

  /** @internal Returns a verdict without the own checks of the agent's schema. */
  unchecked(agent: string, output: string | Uint8Array, options: OutputOptions): Verdict {
    return this.told(() => {
      smallEnough(this.limits, lengthOf(output));
      const { json, outputLength, raw, usage } = this.#engine.validate(takeSubject(agent), output, options);
      return { report: new Report(json, raw, outputLength) as Judged, usage };
    });
  }

  /** @internal Returns the own checks of the agent's schema. */
  checksOf(agent: string): Checks | undefined {
    return this.#checks.get(agent);
  }

  /** Returns whether a contract is registered for an agent. */
  has(agent: string): boolean {
    return this.#engine.contracts.has(asAgent(agent));
  }

  /** Returns the agents that have a contract, in ascending order. */
  names(): string[] {
    return this.#engine.contracts.names();
  }

  /**
   * Returns the contract that is registered for an agent.
   *
   * @throws {SeamgateFault} `unknown_agent`.
   */
  contract(agent: string): ContractInfo {
    return this.#engine.contracts.of(asAgent(agent)).info;
  }

  /**
   * Returns text for an agent's prompt that says what its output must be.
   *
   * @throws {SeamgateFault} `unknown_agent`, or a limit was exceeded.
   */
  describe(agent: string): string {
    return this.#engine.describe(asAgent(agent));
  }

  /**
   * Returns warnings about likely mistakes in a contract. The contract need not be registered.
   *
   * @throws {SeamgateFault} `bad_contract`, or a limit was exceeded.
   * @throws {TypeError} It holds a value that is not JSON.
   */
  lint(contract: Contract): Warning[] {
    return this.#engine.lint(asContract(contract));
  }

  /**
   * Judge one output in a fresh instance, by the contract of an agent or by a contract that is passed with the call.
   *
   * @param agentOrContract - An agent's name; or a contract, as an object or as JSON text.
   * @param output - The agent's output, prose and fences included. If it is not well-formed (bytes that are not UTF-8,
   *   or half a surrogate pair in a string), it is rejected, and the report names the position.
   * @throws {SeamgateFault} No verdict is possible, for example because a list is missing that the contract's `allow`
   *   names (`bad_request`). A rejected output does not throw: its verdict is a report.
   * @throws {TypeError} A contract holds a value that is not JSON; or its schema has asynchronous checks, which only a
   *   {@link WorkerGate} and `ask` support.
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
   * Merge the reports of several attempts, in order, and judge the result as a whole. If the feedback asked only for
   * some items again (`wanted`), the new items replace the old ones. All reports must belong to one agent.
   *
   * @param reports - Reports of {@link Gate.validate}.
   * @param options - The lists and the evidence. `finish` is ignored.
   * @throws {SeamgateFault} `bad_request` if there is no report, a report belongs to another contract, or a list or the
   *   evidence is missing.
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
   * Begin a session, which follows an output while it is streamed, in an instance of its own.
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
   * Ask a producer until its output is accepted, or there is a reason to stop. After a rejected output, the producer
   * receives feedback and is asked again, up to the contract's `retry.limit`. Requires the native addon.
   *
   * @param produce - A function that asks the producer. It receives the feedback on the last output, or null in the
   *   first attempt. An error that it throws ends the run and propagates.
   * @throws {SeamgateFault} No verdict is possible.
   * @throws {JournalError} The journal cannot be read or written, or belongs to another run.
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
   * The limit on the size of outputs applies to the request.
   *
   * @throws {SeamgateFault} A limit was exceeded, or the text has half a surrogate pair. Other faults are returned as
   *   answers.
   */
  call(request: string): Answer {
    return asked(this.#engine, this.limits, request);
  }

  /**
   * Check a profile and register it: from now on it decides what its agent may do. Registering the same profile again
   * has no effect.
   *
   * @throws {SeamgateFault} `bad_profile` if the profile is invalid or contradicts its examples, or the agent already
   *   has another one; or a limit was exceeded.
   */
  registerProfile(profile: Profile): ProfileInfo {
    return this.#engine.registerProfile(asProfile(profile));
  }

  /** Returns the profiles that are registered here, sorted by agent. */
  profiles(): ProfileInfo[] {
    return this.#engine.profiles.all().map(({ info }) => info);
  }

  /**
   * Returns text for an agent's prompt that says what the agent may do.
   *
   * @throws {SeamgateFault} `unknown_agent`, or a limit was exceeded.
   */
  describeProfile(agent: string): string {
    return this.#engine.describeProfile(asAgent(agent));
  }

  /**
   * Returns warnings about likely mistakes in a profile. The profile need not be registered.
   *
   * @throws {SeamgateFault} `bad_profile`, or a limit was exceeded.
   */
  lintProfile(profile: Profile): Warning[] {
    return this.#engine.lintProfile(asProfile(profile));
  }

  /**
   * Decide which tools the model may see, in a fresh instance.
   *
   * @param listed - The tools that the servers list now, in the form of a lock file (`schemas/lock.schema.json`). A
   *   tool that is missing, or whose definition changed, is hidden. Default: the profile's own definitions.
   * @throws {SeamgateFault} `unknown_agent`; `bad_request` if a document is invalid or the facts lack the mode; or a
   *   limit was exceeded.
   */
  surface(agent: string, facts: Facts | string, listed?: object | string): Surface {
    return new Decider(this.#engine, this.limits).surface(agent, facts, listed);
  }

  /**
   * Decide whether a call may run, in a fresh instance. Facts and call are objects or JSON text. {@link Gate.loop}
   * keeps the facts for you. The decision is always an object, and therefore truthy: check its `permit`.
   *
   * @throws {SeamgateFault} `unknown_agent`; `bad_request` if the facts or the call are invalid, or the facts lack the
   *   mode or a list that a scope names; or a limit was exceeded. A denied call does not throw: it is a decision.
   */
  decide(agent: string, facts: Facts | string, call: Call | string): Decision {
    return new Decider(this.#engine, this.limits).decide(agent, facts, call);
  }

  /**
   * Turn a tool's result into an observation, which holds what the model may read, in a fresh instance. All arguments
   * are objects or JSON text. The facts must have a `nonce`.
   *
   * @throws {SeamgateFault} `unknown_agent`; `bad_request` if a document is invalid, the profile has no such tool, or
   *   the facts have no nonce; or a limit was exceeded. An invalid result does not throw: it is an observation.
   */
  observe(agent: string, facts: Facts | string, call: Call | string, result: ToolResult | string): Observation {
    return new Decider(this.#engine, this.limits).observe(agent, facts, call, result);
  }

  /**
   * Apply one event to a run, in a fresh instance. The kernel makes every decision of the run; the host performs the
   * actions.
   *
   * @param state - {@link Step.state} of the previous step, unchanged. Undefined for the first event, which is
   *   `started`.
   * @param event - The event (`schemas/event.schema.json`), as an object or as JSON text.
   * @throws {SeamgateFault} `unknown_agent`; `bad_request` if the event is invalid, or the state belongs to another
   *   profile or version; or a limit was exceeded. The state is unchanged. An event that does not fit the run does not
   *   throw: the step says why it was ignored.
   */
  advance(agent: string, state: string | undefined, event: object | string): Step {
    return new Decider(this.#engine, this.limits).advance(agent, state, event);
  }

  /**
   * Returns what one audience sees of a line of a journal, which is an object with `event`, `record` or `action`.
   * Returns null if the profile shows it nothing.
   *
   * @throws {SeamgateFault} `unknown_agent`; `bad_request` if the line is invalid; or a limit was exceeded.
   */
  project(agent: string, line: object | string, audience: Audience): Record<string, unknown> | null {
    return new Decider(this.#engine, this.limits).project(agent, line, audience);
  }

  /**
   * Returns a {@link Loop}, which decides about the calls of one run and keeps its facts, so that each decision takes
   * the previous ones into account.
   *
   * @param facts - The facts at the start of the run, or {@link Loop.facts} of an earlier loop.
   */
  loop(agent: string, facts: Begin, options: LoopOptions = {}): Loop {
    only("options", options, { now: true });
    if (Object(facts) !== facts) {
      throw new TypeError(`\`facts\` must be an object with \`run\` and \`principal\`, not ${kindOf(facts)}`);
    }
    return new Loop(this, asAgent(agent), facts, options);
  }

  /**
   * Returns an instance that can be used more than once. It is for callers who trust all their producers equally,
   * because one output can affect the state that the next one finds. The reports are the same bytes, and contracts are
   * compiled only once.
   */
  instance(): Instance {
    return new Instance(this.#engine.instance(), this);
  }

  /** @internal Checks a contract without registering it. */
  compiled(contract: string): ContractInfo {
    return this.#engine.compiled(contract);
  }

  /** @internal */
  get engine(): Engine {
    return this.#engine;
  }
}

/** The operations of the kernel. */
class Decider {
  readonly #judge: Judge;
  readonly #limits: Required<Limits>;

  constructor(judge: Judge, limits: Required<Limits>) {
    this.#judge = judge;
    this.#limits = limits;
  }

  /** Decide which tools the model may see: see {@link Gate.surface}. */
  surface(agent: string, facts: Facts | string, listed?: object | string): Surface {
    return ofText(this.#made("surface", agent, listed === undefined ? { facts } : { facts, listed }));
  }

  /** Decide whether a call may run: see {@link Gate.decide}. */
  decide(agent: string, facts: Facts | string, call: Call | string): Decision {
    return ofText(this.#made("permit", agent, { facts, call }));
  }

  /** Turn a tool's result into an observation: see {@link Gate.observe}. */
  observe(agent: string, facts: Facts | string, call: Call | string, result: ToolResult | string): Observation {
    return ofText(this.#made("observe", agent, { facts, call, result }));
  }

  /** Apply one event to a run: see {@link Gate.advance}. */
  advance(agent: string, state: string | undefined, event: object | string): Step {
    return stepOfText(this.#made("advance", agent, state === undefined ? { event } : { state, event }));
  }

  /** Returns what one audience sees of a line of a journal: see {@link Gate.project}. */
  project(agent: string, line: object | string, audience: Audience): Record<string, unknown> | null {
    return JSON.parse(this.#made("project", agent, { line, audience: JSON.stringify(audience) })).view;
  }

  /** Runs an operation by the profile of an agent. Returns JSON text. */
  #made(operation: Operation, agent: string, documents: Readonly<Record<string, object | string>>): string {
    const texts = Object.entries(documents).map(([what, given]) => [what, asJson(what, given, "bad_request")] as const);
    const bytes = texts.reduce((sum, [, text]) => sum + measure(text).bytes, 0);
    smallEnough(this.#limits, bytes);
    return this.#judge.decide(operation, asAgent(agent), Object.fromEntries(texts), bytes);
  }
}

/** An instance that can be used more than once. After a fault stops it, the next call starts a fresh one. */
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

/** Applies a schema's own checks, if there are any. */
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
