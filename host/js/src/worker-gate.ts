import { type Checks, withChecks } from "./checks.js";
import type { Component } from "./component.js";
import {
  asAgent,
  asContract,
  type Contract,
  type Subject,
  type TypedContract,
  takeContract,
  takeSubject,
} from "./contract.js";
import type { Backend, Engine } from "./engine.js";
import { LoadError, SeamgateFault } from "./fault.js";
import type { GateOptions } from "./gate.js";
import { complete, type Limits, smallEnough } from "./limits.js";
import { isNative, type Judging, NativeEngine } from "./native.js";
import { asHook, type Names, OUTPUT_OPTIONS, type OutputOptions, only } from "./options.js";
import { kindOf } from "./plain.js";
import { builtIn, checkDeadline, engine, type Port, platform } from "./platform.js";
import { Contracts } from "./registered.js";
import { type Answer, type Judged, Report, type Usage, type Verdict } from "./report.js";
import { lengthOf, measure } from "./text.js";
import type { ContractInfo, Warning } from "./types.js";
import { failed, seen } from "./watch.js";

/** Options of a gate with workers. */
export interface WorkerOptions extends GateOptions {
  /** The wall-clock time of each call, in milliseconds, from the time when a worker receives it. Default: 5,000. */
  readonly deadlineMs?: number;
  /**
   * The most workers. Each is started when it is needed. With the native addon they are threads of libuv, of which
   * there are four unless `UV_THREADPOOL_SIZE` is set. Default: the number of processors.
   */
  readonly workers?: number;
}

/** One output of a batch. */
export interface WorkerRequest extends OutputOptions {
  /** An agent's name; or a contract, as an object or as JSON text. */
  readonly agent: string | Contract;
  readonly output: string | Uint8Array;
}

/** The answer for one output of a batch. */
export type WorkerAnswer<T = unknown> = Verdict<T> | SeamgateFault;

/** The start data of a JavaScript worker. */
export interface Start {
  readonly component: Component;
  readonly limits: Limits;
}

/** A job for a worker: calls of its gate's methods, in order, and the contracts that it does not have yet. */
export interface Job {
  readonly contracts: readonly string[];
  readonly calls: readonly Call[];
}

/** A method of a gate, and its arguments. */
export type Call =
  | readonly ["register" | "lint", contract: string]
  | readonly ["describe", agent: string]
  | readonly ["call", request: string]
  | readonly ["validate", subject: Omit<Subject, "checks">, output: string | Uint8Array, options: OutputOptions];

/** A worker's answer to each call, in order. The first one is null, and says that the worker is ready. */
export type Done =
  | null
  | { readonly value: unknown }
  | { readonly verdict: { readonly json: string; readonly raw: string; readonly usage: Usage } }
  | { readonly fault: ReturnType<SeamgateFault["toJSON"]> }
  | { readonly error: string };

const WORKER_OPTIONS: Names<WorkerOptions> = {
  component: true,
  limits: true,
  deadlineMs: true,
  workers: true,
  onVerdict: true,
};

/** The most calls that are sent to a worker at once, and the most bytes of their outputs, not counting the first. */
const BATCH = 64;
const BATCH_BYTES = 1_048_576;

/** The most batches of a `validateAll` that one worker has or that are queued for it. */
const AHEAD = 2;

/** A worker that is not ready after this many milliseconds is terminated. */
const START = 30_000;

/**
 * The milliseconds after its deadline for which a call still waits: an answer that arrived in time may be queued behind
 * the timer if the thread was busy.
 */
const GRACE = 20;

type Answered = Exclude<Done, null | { fault: unknown } | { error: unknown }>;

interface Waiting {
  readonly call: Call;
  /** The agents whose contracts it needs. */
  readonly agents: readonly string[];
  resolve(answered: Answered): void;
  reject(error: Error): void;
}

interface Running {
  readonly port: Port;
  /** The promise that waits for the gate's first worker. */
  readonly first: { resolve(): void; reject(error: Error): void } | undefined;
  readonly agents: Set<string>;
  isReady: boolean;
  /** The calls that are assigned to it. It works on the first one. */
  jobs: Waiting[];
  timer: ReturnType<typeof setTimeout> | undefined;
}

/**
 * A {@link Gate} in workers. Nothing blocks, and each call has a wall-clock deadline. A worker that exceeds it is
 * terminated, the call rejects with the fault `timeout`, and the next call gets another worker. The deadline is the
 * safety net for cases that fuel does not cover.
 *
 * Idle workers do not keep a Node program running. With the native addon, threads are used instead of workers, and the
 * sandbox itself enforces the deadline.
 */
export class WorkerGate {
  readonly #start: Start | undefined;
  /** The native engine, which is used instead of workers. */
  readonly #native: NativeEngine | undefined;
  readonly #limits: Required<Limits>;
  readonly #deadline: number;
  readonly #most: number;
  readonly #contracts: Contracts;
  /** The own checks of library schemas, which run in this thread. */
  readonly #checks = new Map<string, Checks>();
  readonly #running = new Set<Running>();
  readonly #queue: Waiting[] = [];
  /** The calls that are in flight in the addon. */
  readonly #under = new Set<Waiting>();
  /** The number of the addon's threads that are busy. */
  #busy = 0;
  #isGoing = false;
  #closed = false;

  readonly #onVerdict: GateOptions["onVerdict"];

  private constructor(
    below: Engine | Start,
    limits: Required<Limits>,
    deadline: number,
    most: number,
    onVerdict: GateOptions["onVerdict"],
  ) {
    this.#onVerdict = onVerdict;
    this.#native = below instanceof NativeEngine ? below : undefined;
    this.#start = this.#native === undefined ? { component: below.component, limits } : undefined;
    this.#contracts = this.#native?.contracts ?? new Contracts();
    this.#limits = limits;
    this.#deadline = deadline;
    this.#most = most;
  }

  /**
   * Creates a gate in workers.
   *
   * @throws {LoadError} The component cannot be read, or no worker can be started with it.
   * @throws {TypeError} An option is out of range.
   */
  static async load(options: WorkerOptions = {}): Promise<WorkerGate> {
    only("options", options, WORKER_OPTIONS);
    const limits = complete(options.limits);
    const deadline = options.deadlineMs ?? 5000;
    checkDeadline(deadline);
    const onVerdict = asHook("onVerdict", options.onVerdict);
    const most = options.workers ?? platform().processors();
    if (!(Number.isSafeInteger(most) && most > 0)) {
      throw new TypeError(`\`workers\` must be an integer from 1, not ${String(most)}`);
    }
    if (mayBeNative(options.component)) {
      const { component } = options;
      return new WorkerGate(
        await engine({ ...(component && { component }), deadlineMs: deadline }, limits),
        limits,
        deadline,
        most,
        onVerdict,
      );
    }
    const component = (options.component as Component | undefined) ?? (await platform().component());
    const gate = new WorkerGate({ component, limits }, limits, deadline, most, onVerdict);
    // The first worker shows whether the component can be run.
    await new Promise<void>((resolve, reject) => gate.#begin({ resolve, reject }));
    return gate;
  }

  /** The engine that runs the sandbox. */
  get backend(): Backend {
    return this.#native?.backend ?? "webassembly";
  }

  /** Check a contract and register it: see {@link Gate.register}. */
  async register(contract: Contract): Promise<ContractInfo> {
    const { text, checks } = takeContract(contract);
    const info = valueIn<ContractInfo>(await this.#ask([], ["register", text]));
    // The addon has already registered it.
    if (this.#native === undefined) this.#contracts.keep(text, info);
    if (checks !== undefined) this.#checks.set(info.agent, checks);
    return info;
  }

  /** Returns whether a contract is registered for an agent. */
  has(agent: string): boolean {
    return this.#contracts.has(asAgent(agent));
  }

  /** Returns the agents that have a contract, in ascending order. */
  names(): string[] {
    return this.#contracts.names();
  }

  /** Returns the contract that is registered for an agent: see {@link Gate.contract}. */
  contract(agent: string): ContractInfo {
    return this.#registered(agent).info;
  }

  /** Returns text for an agent's prompt: see {@link Gate.describe}. */
  async describe(agent: string): Promise<string> {
    this.#registered(agent);
    return valueIn<string>(await this.#ask([agent], ["describe", agent]));
  }

  /** Returns warnings about likely mistakes in a contract: see {@link Gate.lint}. */
  async lint(contract: Contract): Promise<Warning[]> {
    return valueIn<Warning[]>(await this.#ask([], ["lint", asContract(contract)]));
  }

  /**
   * Judge one output in a fresh instance: see {@link Gate.validate}.
   *
   * @throws {SeamgateFault} The faults of {@link Gate.validate}; and `timeout`.
   */
  validate<T, Input = unknown>(
    contract: TypedContract<T, Input>,
    output: string | Uint8Array,
    options?: OutputOptions,
  ): Promise<Verdict<T, Input>>;
  validate<T = unknown>(
    agentOrContract: string | Contract,
    output: string | Uint8Array,
    options?: OutputOptions,
  ): Promise<Verdict<T>>;
  async validate<T>(
    agentOrContract: string | Contract,
    output: string | Uint8Array,
    options: OutputOptions = {},
  ): Promise<Verdict<T>> {
    const { agent, contract, checks } = takeSubject(agentOrContract);
    only("options", options, OUTPUT_OPTIONS);
    let verdict: Verdict<T>;
    try {
      verdict = await this.#verdict<T>({ agent, contract, checks }, output, options);
    } catch (error) {
      throw failed(error);
    }
    seen(verdict as Verdict);
    this.#onVerdict?.(verdict as Verdict);
    return verdict;
  }

  async #verdict<T>(
    { agent, contract, checks }: Subject,
    output: string | Uint8Array,
    options: OutputOptions,
  ): Promise<Verdict<T>> {
    // Checked before the output is copied to the worker.
    smallEnough(this.#limits, lengthOf(output));
    if (contract === undefined) {
      this.#registered(agent);
    }
    const { finish, lists, evidence } = options;
    const done = await this.#ask(contract === undefined ? [agent] : [], [
      "validate",
      { agent, contract },
      output,
      { finish, lists, evidence } as OutputOptions,
    ]);
    if (!("verdict" in done)) {
      throw new SeamgateFault("trap", "the component failed: the worker answered something else than was asked");
    }
    const { json, raw, usage } = done.verdict;
    const report = new Report<T>(json, raw) as Judged<T>;
    const own = checks ?? this.#checks.get(agent);
    const judged = own === undefined ? report : ((await withChecks(report as Judged, own)) as Judged<T>);
    return { report: judged, usage };
  }

  /**
   * Judge many outputs in parallel. The answers are in the order of the requests. A fault is an answer like any other,
   * and does not stop the rest.
   */
  async validateAll<T = unknown>(requests: Iterable<WorkerRequest>): Promise<WorkerAnswer<T>[]> {
    if (typeof (requests as Iterable<WorkerRequest> | undefined)?.[Symbol.iterator] !== "function") {
      throw new TypeError(`\`requests\` must be a list, or another iterable, not ${kindOf(requests)}`);
    }
    const all = Array.from(requests);
    const wrong = all.findIndex((request) => Object(request) !== request);
    if (wrong >= 0) {
      throw new TypeError(`\`requests[${wrong}]\` must be an object, not ${kindOf(all[wrong])}`);
    }
    const answers = new Array<WorkerAnswer<T>>(all.length);
    let next = 0;
    const lane = async () => {
      while (next < all.length) {
        const at = next++;
        const { agent, output, ...options } = all[at] as WorkerRequest;
        try {
          answers[at] = await this.validate<T>(agent, output, options);
        } catch (error) {
          if (!(error instanceof SeamgateFault)) {
            // A mistake by the caller, so no further call is started.
            next = all.length;
            throw error;
          }
          answers[at] = error;
        }
      }
    };
    // Enough to keep all workers busy. More would only wait, and burden the garbage collector.
    await Promise.all(Array.from({ length: Math.min(all.length, AHEAD * BATCH * this.#most) }, lane));
    return answers;
  }

  /** Answer one request that is JSON text: see {@link Gate.call}. */
  async call(request: string): Promise<Answer> {
    const { bytes, lone } = measure(request);
    smallEnough(this.#limits, bytes);
    if (lone !== undefined) {
      throw new SeamgateFault("bad_request", `request: half a surrogate pair at byte ${lone}; it must be Unicode text`);
    }
    return valueIn<Answer>(await this.#ask(this.names(), ["call", request]));
  }

  /** Terminate the workers. Pending calls and later calls reject. */
  async close(): Promise<void> {
    this.#closed = true;
    const closed = new Error("the gate was closed");
    for (const running of [...this.#running]) {
      this.#queue.push(...this.#end(running));
    }
    for (const waiting of [...this.#queue.splice(0), ...this.#under]) {
      waiting.reject(closed);
    }
  }

  /** The same as {@link WorkerGate.close}: `await using gate = await WorkerGate.load()`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #registered(agent: string): { info: ContractInfo } {
    return this.#contracts.of(asAgent(agent));
  }

  #ask(agents: readonly string[], call: Call): Promise<Answered> {
    return new Promise((resolve, reject) => {
      if (this.#closed) {
        reject(new Error("the gate was closed"));
        return;
      }
      this.#queue.push({ call, agents, resolve, reject });
      if (this.#isGoing) return;
      this.#isGoing = true;
      // Deferred, so that calls in the same turn of the event loop are sent in batches.
      queueMicrotask(() => {
        this.#isGoing = false;
        this.#go();
      });
    });
  }

  /** Assigns queued calls, and starts a worker if none is free. */
  #go(): void {
    if (this.#native !== undefined) {
      while (this.#busy < this.#most && this.#queue.length > 0) {
        this.#have(this.#native, this.#batch());
      }
      return;
    }
    for (const running of this.#running) {
      if (running.isReady && running.jobs.length === 0) {
        this.#hand(running);
      }
    }
    const starting = [...this.#running].filter((running) => !running.isReady).length;
    const lacking = Math.min(this.#queue.length - starting, this.#most - this.#running.size);
    for (let more = 0; more < lacking; more++) {
      this.#begin();
    }
  }

  /** Returns the next batch for one worker: its share of the queue. Only verdicts are batched. */
  #batch(): Waiting[] {
    const most = Math.min(BATCH, Math.ceil(this.#queue.length / this.#most));
    let [count, bytes] = [0, 0];
    for (const { call } of this.#queue) {
      const isVerdict = call[0] === "validate";
      if (isVerdict) bytes += call[2].length;
      if (count > 0 && (!isVerdict || count >= most || bytes > BATCH_BYTES)) break;
      count += 1;
      if (!isVerdict) break;
    }
    return this.#queue.splice(0, count);
  }

  /**
   * Runs a batch in a thread of the addon. Each call has a deadline in the sandbox, whose clock does not run while the
   * threads of libuv are busy with other work.
   */
  #have(native: NativeEngine, batch: Waiting[]): void {
    this.#busy += 1;
    for (const waiting of batch) this.#under.add(waiting);
    const done = () => {
      clearTimeout(timer);
      if (!batch.some((waiting) => this.#under.delete(waiting))) return;
      for (const waiting of batch) this.#under.delete(waiting);
      this.#busy -= 1;
      this.#go();
    };
    const rejected = (error: unknown) => {
      for (const { reject } of batch) reject(error as Error);
    };
    const late = () => {
      rejected(this.#timeout());
      done();
    };
    const timer = setTimeout(late, (batch.length + 1) * this.#deadline + GRACE);
    answers(native, batch)
      .then((all) => {
        for (const [at, answered] of all.entries()) {
          const { resolve, reject } = batch[at] as Waiting;
          if (answered instanceof Error) reject(answered);
          else resolve(answered);
        }
      }, rejected)
      .finally(done);
  }

  #timeout(): SeamgateFault {
    const limit = this.#deadline;
    return new SeamgateFault("timeout", `the verdict took longer than ${limit} ms`, { limit });
  }

  #begin(first?: Running["first"]): void {
    const port = platform().worker(this.#start);
    const running: Running = { port, first, agents: new Set(), isReady: false, jobs: [], timer: undefined };
    this.#running.add(running);
    running.timer = setTimeout(() => this.#ended(running, new Error(`it was not ready after ${START} ms`)), START);
    port.listen(
      (data) => this.#heard(running, data as Done),
      (why) => this.#ended(running, why),
    );
  }

  #heard(running: Running, done: Done): void {
    if (!this.#running.has(running)) {
      return;
    }
    clearTimeout(running.timer);
    if (done === null) {
      running.isReady = true;
      running.first?.resolve();
    } else {
      const job = running.jobs.shift();
      if ("fault" in done) {
        job?.reject(SeamgateFault.of(done.fault));
      } else if ("error" in done) {
        job?.reject(new Error(done.error));
      } else {
        job?.resolve(done);
      }
      if (running.jobs.length > 0) {
        this.#watch(running);
        return;
      }
    }
    this.#hand(running);
  }

  /** Starts the timer of the call that a worker is working on. */
  #watch(running: Running): void {
    running.timer = setTimeout(() => {
      running.timer = setTimeout(() => this.#late(running), GRACE);
    }, this.#deadline);
  }

  /** Assigns the oldest queued calls to a free worker. */
  #hand(running: Running): void {
    let batch = this.#batch();
    while (batch.length > 0 && !this.#posted(running, batch)) {
      const left = batch.filter(isCopied);
      // No single call is at fault.
      batch = left.length < batch.length ? left : [];
    }
    running.jobs = batch;
    running.port.hold(batch.length > 0);
    if (batch.length > 0) {
      this.#watch(running);
    } else if (this.#queue.length > 0) {
      this.#hand(running);
    }
  }

  /** Posts a batch, unless a value in it cannot be copied. */
  #posted(running: Running, batch: readonly Waiting[]): boolean {
    const needed = new Set(batch.flatMap(({ agents }) => agents));
    const lacking = [...needed].filter((agent) => this.#contracts.has(agent) && !running.agents.has(agent));
    const contracts = lacking.map((agent) => this.#contracts.of(agent).text);
    try {
      running.port.post({ contracts, calls: batch.map(({ call }) => call) } satisfies Job);
    } catch {
      return false;
    }
    for (const agent of lacking) {
      running.agents.add(agent);
    }
    return true;
  }

  /** Handles a call that took too long: terminates its worker, and queues the other calls again. */
  #late(running: Running): void {
    const [late, ...rest] = this.#end(running);
    late?.reject(this.#timeout());
    this.#queue.unshift(...rest);
    this.#go();
  }

  /** Handles a worker that ended by itself: its calls have no answer. */
  #ended(running: Running, why: Error): void {
    if (!this.#running.has(running)) {
      return;
    }
    const [job, ...rest] = this.#end(running);
    this.#queue.unshift(...rest);
    if (running.isReady) {
      const fault = new SeamgateFault(
        "trap",
        `the component failed: its worker ended: ${why.message}`,
        {},
        { cause: why },
      );
      job?.reject(fault);
      this.#go();
      return;
    }
    // Later workers would not start either.
    const error = new LoadError(`a worker cannot be started: ${why.message}`, { cause: why });
    running.first?.reject(error);
    for (const waiting of this.#queue.splice(0)) {
      waiting.reject(error);
    }
  }

  /** Terminates a worker. Returns its pending calls. */
  #end(running: Running): Waiting[] {
    const { jobs } = running;
    clearTimeout(running.timer);
    running.jobs = [];
    this.#running.delete(running);
    running.port.end();
    return jobs;
  }
}

/** Returns whether the addon runs a component. */
function mayBeNative(component: Component | Uint8Array | undefined): boolean {
  if (component === undefined) {
    return builtIn() !== undefined;
  }
  return component instanceof Uint8Array || isNative(component);
}

/**
 * Returns whether a call can be copied to a worker. If not, rejects the call, because that is a mistake by its caller.
 */
function isCopied({ call, reject }: Waiting): boolean {
  try {
    structuredClone(call);
    return true;
  } catch (error) {
    reject(error instanceof Error ? error : new Error(String(error)));
    return false;
  }
}

/** Returns the addon's answers, computed in another thread. Verdicts are batched, other calls run alone. */
async function answers(native: NativeEngine, batch: readonly Waiting[]): Promise<(Answered | Error)[]> {
  const all: Judging[] = [];
  for (const { call } of batch) {
    if (call[0] === "validate") all.push({ subject: call[1], output: call[2], options: call[3] });
  }
  if (all.length < batch.length) {
    return Promise.all(batch.map(({ call }) => answer(native, call)));
  }
  const verdicts = await native.validateAllLater(all);
  return verdicts.map((verdict) => (verdict instanceof Error ? verdict : { verdict }));
}

async function answer(native: NativeEngine, call: Call): Promise<Answered> {
  switch (call[0]) {
    case "validate":
      throw new TypeError("verdicts are asked for together");
    case "register":
      return { value: await native.registerLater(call[1]) };
    case "lint":
      return { value: await native.lintLater(call[1]) };
    case "describe":
      return { value: await native.describeLater(call[1]) };
    case "call":
      return { value: await native.callLater(call[1]) };
  }
}

function valueIn<T>(done: Answered): T {
  if (!("value" in done)) {
    throw new SeamgateFault("trap", "the component failed: the worker answered something else than was asked");
  }
  return done.value as T;
}
