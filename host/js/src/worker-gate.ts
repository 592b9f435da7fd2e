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

/** How a gate with workers is set up; every setting has a default. */
export interface WorkerOptions extends GateOptions {
  /** Wall clock for each call, in milliseconds, from when a worker has it. Default: 5,000. */
  readonly deadlineMs?: number;
  /**
   * How many workers there can be; each is started when it is needed. With the native addon they are threads of libuv, of which there
   * are four unless `UV_THREADPOOL_SIZE` says otherwise. Default: as many as there are processors.
   */
  readonly workers?: number;
}

/** One output of a batch. */
export interface WorkerRequest extends OutputOptions {
  /** An agent's name; or a contract, as an object or as JSON text. */
  readonly agent: string | Contract;
  readonly output: string | Uint8Array;
}

/** What became of one output of a batch. */
export type WorkerAnswer<T = unknown> = Verdict<T> | SeamgateFault;

/** What a worker of JavaScript is started with. */
export interface Start {
  readonly component: Component;
  readonly limits: Limits;
}

/** What a worker is asked: methods of its gate, one after the other, and the contracts that it does not have yet. */
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

/** What it answers to each call, in their order. The first one, which is null, says that it is ready. */
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

/** The most calls that go to a worker at once, and the most bytes of their outputs together, beside the first. */
const BATCH = 64;
const BATCH_BYTES = 1_048_576;

/** The most batches of a `validateAll` that one worker has or that wait for it. */
const AHEAD = 2;

/** A worker that is not ready after so long, in milliseconds, is ended. */
const START = 30_000;

/**
 * So long after its deadline, in milliseconds, a call is still looked at: what answered it in time may stand in line behind the timer,
 * where the thread was busy.
 */
const GRACE = 20;

type Answered = Exclude<Done, null | { fault: unknown } | { error: unknown }>;

interface Waiting {
  readonly call: Call;
  /** Whose contracts it needs. */
  readonly agents: readonly string[];
  resolve(answered: Answered): void;
  reject(error: Error): void;
}

interface Running {
  readonly port: Port;
  /** Who waits for the gate's first worker. */
  readonly first: { resolve(): void; reject(error: Error): void } | undefined;
  readonly agents: Set<string>;
  isReady: boolean;
  /** What it has to do; it is at the first of them. */
  jobs: Waiting[];
  timer: ReturnType<typeof setTimeout> | undefined;
}

/**
 * A {@link Gate} in workers: nothing blocks, and each call has a deadline by the clock. Past it the worker is ended,
 * the call rejects with the fault `timeout`, and the next one gets another worker. It is the net under the fuel.
 *
 * A program in Node can end while workers wait for work. With the native addon there are threads in place of workers, and the clock is in
 * the sandbox: the call itself ends.
 */
export class WorkerGate {
  readonly #start: Start | undefined;
  /** Answers in place of workers. */
  readonly #native: NativeEngine | undefined;
  readonly #limits: Required<Limits>;
  readonly #deadline: number;
  readonly #most: number;
  readonly #contracts: Contracts;
  /** The checks that schemas of libraries make themselves, on this thread. */
  readonly #checks = new Map<string, Checks>();
  readonly #running = new Set<Running>();
  readonly #queue: Waiting[] = [];
  /** What the addon has under way. */
  readonly #under = new Set<Waiting>();
  /** How many of its threads that takes. */
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
   * A gate in workers.
   *
   * @throws {LoadError} The component cannot be read, or no worker can be started with it.
   * @throws {TypeError} A setting is not in its bounds.
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
    // The first worker tells whether the component can be run.
    await new Promise<void>((resolve, reject) => gate.#begin({ resolve, reject }));
    return gate;
  }

  /** What runs the sandbox. */
  get backend(): Backend {
    return this.#native?.backend ?? "webassembly";
  }

  /** Check a contract and keep it: see {@link Gate.register}. */
  async register(contract: Contract): Promise<ContractInfo> {
    const { text, checks } = takeContract(contract);
    const info = valueIn<ContractInfo>(await this.#ask([], ["register", text]));
    // The addon has kept it.
    if (this.#native === undefined) this.#contracts.keep(text, info);
    if (checks !== undefined) this.#checks.set(info.agent, checks);
    return info;
  }

  /** Whether a contract is registered for an agent. */
  has(agent: string): boolean {
    return this.#contracts.has(asAgent(agent));
  }

  /** The agents that have a contract, in ascending order. */
  names(): string[] {
    return this.#contracts.names();
  }

  /** Which contract is registered for an agent: see {@link Gate.contract}. */
  contract(agent: string): ContractInfo {
    return this.#registered(agent).info;
  }

  /** Text for an agent's prompt: see {@link Gate.describe}. */
  async describe(agent: string): Promise<string> {
    this.#registered(agent);
    return valueIn<string>(await this.#ask([agent], ["describe", agent]));
  }

  /** What is likely a mistake in a contract: see {@link Gate.lint}. */
  async lint(contract: Contract): Promise<Warning[]> {
    return valueIn<Warning[]>(await this.#ask([], ["lint", asContract(contract)]));
  }

  /**
   * Judge one output in a fresh instance: see {@link Gate.validate}.
   *
   * @throws {SeamgateFault} As there; and `timeout`.
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
    // Before it is copied to the worker.
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
   * Judge many outputs, several at the same time. The answers are in the order of the requests; a fault is one of them,
   * and the others go on.
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
            // A mistake of the caller: what has not begun is not begun.
            next = all.length;
            throw error;
          }
          answers[at] = error;
        }
      }
    };
    // As many as keep all workers busy. More of them would only wait, and keep the garbage collector busy.
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

  /** End the workers. Calls that have no answer yet reject, and so do later ones. */
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
      // Not at once: what is asked for in the same turn goes in batches.
      queueMicrotask(() => {
        this.#isGoing = false;
        this.#go();
      });
    });
  }

  /** Hand out what waits, and start a worker where none is free. */
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

  /** What goes to one worker at once: its share of what waits. Verdicts alone are many. */
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
   * Have a thread of the addon do some calls. Each has a clock in the sandbox, which does not run while the threads of libuv are busy with
   * other work.
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

  /** Start the clock of the call that a worker is at. */
  #watch(running: Running): void {
    running.timer = setTimeout(() => {
      running.timer = setTimeout(() => this.#late(running), GRACE);
    }, this.#deadline);
  }

  /** Give a free worker what waits longest. */
  #hand(running: Running): void {
    let batch = this.#batch();
    while (batch.length > 0 && !this.#posted(running, batch)) {
      const left = batch.filter(isCopied);
      // What is wrong is none of them alone.
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

  /** Post a batch, unless something in it cannot be copied. */
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

  /** A call took too long: its worker ends, and the calls behind it go to another one. */
  #late(running: Running): void {
    const [late, ...rest] = this.#end(running);
    late?.reject(this.#timeout());
    this.#queue.unshift(...rest);
    this.#go();
  }

  /** A worker ended by itself: what it had to do has no answer. */
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
    // None of those that come after it would start either.
    const error = new LoadError(`a worker cannot be started: ${why.message}`, { cause: why });
    running.first?.reject(error);
    for (const waiting of this.#queue.splice(0)) {
      waiting.reject(error);
    }
  }

  /** End a worker; what it was doing is given back. */
  #end(running: Running): Waiting[] {
    const { jobs } = running;
    clearTimeout(running.timer);
    running.jobs = [];
    this.#running.delete(running);
    running.port.end();
    return jobs;
  }
}

/** Whether the addon is what runs a component. */
function mayBeNative(component: Component | Uint8Array | undefined): boolean {
  if (component === undefined) {
    return builtIn() !== undefined;
  }
  return component instanceof Uint8Array || isNative(component);
}

/** Whether a call can be copied to a worker. If not, that is a mistake of its caller, who is told. */
function isCopied({ call, reject }: Waiting): boolean {
  try {
    structuredClone(call);
    return true;
  } catch (error) {
    reject(error instanceof Error ? error : new Error(String(error)));
    return false;
  }
}

/** What the addon answers, off this thread: to verdicts together, to anything else alone. */
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
