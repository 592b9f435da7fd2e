import type { Component } from "./component.js";
import type { Subject } from "./contract.js";
import type { ProfileInfo } from "./decision.js";
import type { Coming, Engine, Judge, Judged, Operation } from "./engine.js";
import { FileError, JournalError, LoadError, SeamgateFault } from "./fault.js";
import type { Limits } from "./limits.js";
import type { OutputOptions, RunJournal, RunOptions } from "./options.js";
import { Contracts, Profiles } from "./registered.js";
import type { Answer, Usage } from "./report.js";
import { ofBytes, ofString } from "./text.js";
import type { ContractInfo, Warning } from "./types.js";
import { answered, contractInfo, extras, progressOf } from "./wire.js";

/** The addon's result of a call. */
interface Given {
  readonly json: string;
  readonly fuel: number;
  readonly memory: number;
  readonly elapsed: number;
}

/** The addon's result for an output, as a tuple: naming the members would take a fifth of the time of a small call. */
type Reported = readonly [
  json: string,
  fuel: number,
  memory: number,
  elapsed: number,
  /** Negative if the report has no document. */
  outputLength: number,
];

/** An output in the form that the addon takes: text or bytes. */
interface Output {
  readonly agent: string;
  readonly contract: string | undefined;
  readonly text: string | undefined;
  readonly bytes: Uint8Array | undefined;
  readonly extras: string | undefined;
}

/** An output, its contract and its options. */
export interface Judging {
  readonly subject: Omit<Subject, "checks">;
  readonly output: string | Uint8Array;
  readonly options: OutputOptions;
}

interface AddonJudge {
  validate(agent: string, output: string, extras?: string): Reported;
  validateBytes(agent: string, output: Uint8Array, extras?: string): Reported;
  call(request: string): Given;
  surface(agent: string, facts: string, listed?: string): Given;
  permit(agent: string, facts: string, call: string): Given;
  observe(agent: string, facts: string, call: string, result: string): Given;
  advance(agent: string, state: string | undefined, event: string): Given;
  project(agent: string, line: string, audience: string): Given;
}

interface AddonSession {
  push(chunk: Uint8Array): string;
  finish(finish?: string): Given;
  close(): void;
}

interface AddonAttempts {
  next(): { stop?: string; feedback?: string; attempt: number };
  judge(output: Uint8Array, finish?: string): Given;
  failed(message: string): void;
  report(): string | null;
  readonly count: number;
}

interface AddonRun {
  send(event: string): string[];
  keep(text: string): string;
  readonly id: string;
  readonly agent: string;
  readonly step: number;
  readonly state: string;
  readonly snapshot: string;
  readonly records: string[];
  readonly wakeAt: number | null;
}

/** The folder of a journal; or a function that performs the journal's methods, with texts as arguments and results. */
export type AddonJournal = string | ((method: string, texts: readonly string[]) => string[]);

interface AddonGate extends AddonJudge {
  readonly digest: string;
  inspect(): string;
  register(contract: string): string;
  registerProfile(profile: string): string;
  describe(agent: string): string;
  describeProfile(agent: string): string;
  lint(contract: string): string;
  lintProfile(profile: string): string;
  validateWith(contract: string, output: Uint8Array, extras?: string): Given;
  merge(reports: readonly string[], extras?: string): Given;
  instance(): AddonJudge;
  session(agent: string, extras?: string): AddonSession;
  attempts(
    agent: string,
    extras: string | undefined,
    allowPartial: boolean,
    journal?: Required<RunJournal>,
  ): AddonAttempts;
  startRun(journal: AddonJournal, agent: string, started: string): { readonly actions: string[]; run(): AddonRun };
  openRun(journal: AddonJournal): AddonRun;
  restoreRun(journal: AddonJournal, snapshot: string): AddonRun;
  registerLater(contract: string): Promise<string>;
  describeLater(agent: string): Promise<string>;
  lintLater(contract: string): Promise<string>;
  callLater(request: string): Promise<Given>;
  validateAllLater(
    outputs: readonly Output[],
  ): Promise<readonly { readonly judged?: Given; readonly error?: string }[]>;
}

interface AddonLimits {
  readonly fuel?: number;
  readonly deadline?: number | undefined;
}

/** The addon: `host/js/native/src`. */
export interface Addon {
  readonly NativeGate: new (limits: AddonLimits) => AddonGate;
  gateOf(limits: AddonLimits, component: Uint8Array): Promise<AddonGate>;
  bake(contracts: readonly string[], profiles: readonly string[], limits: AddonLimits): Promise<Uint8Array>;
  contracts(path: string): string[];
  profiles(path: string): string[];
  main(args: readonly string[]): number;
  version(): string;
}

/** The name of the baked component in a {@link Component} for the addon. */
const BAKED = "component.wasm";

/** Returns whether a component is for the addon, not for the JavaScript engine. */
export function isNative(component: Component): boolean {
  return BAKED in component;
}

/** The built-in component, for the addon. */
const BUILT_IN: Component = { [BAKED]: new Uint8Array(0) };

/** Returns the component with these bytes, for the addon. */
export function ofComponentBytes(bytes: Uint8Array): Component {
  return { [BAKED]: bytes };
}

/** The Rust library. */
export class NativeEngine implements Engine {
  readonly backend = "native";
  readonly component: Component;
  readonly contracts = new Contracts();
  readonly profiles = new Profiles();
  /** @internal */
  readonly gate: AddonGate;
  readonly #judge: NativeJudge;
  readonly digest: string;
  readonly #limits: Required<Limits>;
  readonly #addon: Addon;
  readonly #deadline: number | undefined;

  private constructor(
    addon: Addon,
    component: Component,
    limits: Required<Limits>,
    deadline: number | undefined,
    gate: AddonGate,
  ) {
    this.component = component;
    this.#limits = limits;
    this.#addon = addon;
    this.#deadline = deadline;
    this.gate = gate;
    this.digest = gate.digest;
    this.#judge = new NativeJudge(gate, this.digest);
  }

  /** Creates an engine with the built-in component. */
  static builtIn(addon: Addon, limits: Required<Limits>, deadline: number | undefined): NativeEngine {
    const gate = told(() => new addon.NativeGate({ ...limits, deadline }));
    return new NativeEngine(addon, BUILT_IN, limits, deadline, gate);
  }

  /** Creates an engine with a component for the addon, which may be compiled in another thread. */
  static async of(
    addon: Addon,
    component: Component,
    limits: Required<Limits>,
    deadline: number | undefined,
  ): Promise<NativeEngine> {
    // Without bytes it is the built-in component.
    const bytes = component[BAKED] as Uint8Array | undefined;
    if (!bytes?.length) return NativeEngine.builtIn(addon, limits, deadline);
    const gate = await later(addon.gateOf({ ...limits, deadline }, bytes));
    const engine = new NativeEngine(addon, component, limits, deadline, gate);
    const { agents, profiles } = JSON.parse(told(() => gate.inspect()));
    for (const info of agents) engine.contracts.keep("", contractInfo(JSON.stringify(info)));
    for (const info of profiles) engine.profiles.keep("", info);
    return engine;
  }

  register(contract: string): ContractInfo {
    const info = contractInfo(told(() => this.gate.register(contract)));
    this.contracts.keep("", info);
    return info;
  }

  compiled(contract: string): ContractInfo {
    return this.register(contract);
  }

  registerProfile(profile: string): ProfileInfo {
    const info: ProfileInfo = JSON.parse(told(() => this.gate.registerProfile(profile)));
    this.profiles.keep("", info);
    return info;
  }

  describe(agent: string): string {
    return told(() => this.gate.describe(agent));
  }

  describeProfile(agent: string): string {
    return told(() => this.gate.describeProfile(agent));
  }

  lint(contract: string): Warning[] {
    return JSON.parse(told(() => this.gate.lint(contract)));
  }

  lintProfile(profile: string): Warning[] {
    return JSON.parse(told(() => this.gate.lintProfile(profile)));
  }

  validate(subject: Subject, output: string | Uint8Array, options: OutputOptions): Judged {
    return this.#judge.validate(subject, output, options, this.gate);
  }

  call(request: string): Answer {
    return this.#judge.call(request);
  }

  decide(operation: Operation, agent: string, documents: Readonly<Record<string, string>>): string {
    return this.#judge.decide(operation, agent, documents);
  }

  merge(reports: readonly string[], options: OutputOptions): Omit<Judged, "raw"> {
    const given = told(() => this.gate.merge(reports, textOf(options)));
    return { json: given.json, usage: used(given, this.digest) };
  }

  session(agent: string, options: OutputOptions): Coming {
    this.contracts.of(agent);
    const session = told(() => this.gate.session(agent, textOf(options)));
    return {
      push: (chunk) => progressOf(told(() => session.push(chunk))),
      finish: (finish) => {
        const given = told(() => session.finish(finish ?? options.finish));
        return { json: given.json, usage: used(given, this.digest) };
      },
      close: () => session.close(),
    };
  }

  instance(): Judge {
    return new NativeJudge(this.gate.instance(), this.digest, this.gate);
  }

  sibling(): Engine {
    // A baked component is sealed and accepts no other contract.
    return NativeEngine.builtIn(this.#addon, this.#limits, this.#deadline);
  }

  again(): Promise<Engine> {
    return NativeEngine.of(this.#addon, this.component, this.#limits, this.#deadline);
  }

  /** @internal */
  attempts(agent: string, options: RunOptions): NativeAttempts {
    const { journal, allowPartial } = options;
    const given = typeof journal === "string" ? { path: journal } : journal;
    const file = given && { resume: false, keepOutputs: false, producer: "", prompt: "", ...given };
    return new NativeAttempts(told(() => this.gate.attempts(agent, textOf(options), allowPartial ?? false, file)));
  }

  /** @internal */
  startRun(journal: AddonJournal, agent: string, started: string): { run: NativeRun; actions: string[] } {
    const begun = told(() => this.gate.startRun(journal, agent, started));
    return { run: new NativeRun(begun.run()), actions: begun.actions };
  }

  /** @internal */
  openRun(journal: AddonJournal): NativeRun {
    return new NativeRun(told(() => this.gate.openRun(journal)));
  }

  /** @internal */
  restoreRun(journal: AddonJournal, snapshot: string): NativeRun {
    return new NativeRun(told(() => this.gate.restoreRun(journal, snapshot)));
  }

  /** @internal Registers a contract in another thread, for a `WorkerGate`. */
  async registerLater(contract: string): Promise<ContractInfo> {
    const info = contractInfo(await later(this.gate.registerLater(contract)));
    this.contracts.keep("", info);
    return info;
  }

  /** @internal */
  describeLater(agent: string): Promise<string> {
    return later(this.gate.describeLater(agent));
  }

  /** @internal */
  async lintLater(contract: string): Promise<Warning[]> {
    return JSON.parse(await later(this.gate.lintLater(contract)));
  }

  /** @internal */
  async callLater(request: string): Promise<Answer> {
    const given = await later(this.gate.callLater(request));
    return { json: given.json, usage: used(given, this.digest) };
  }

  /** @internal Judges several outputs, one after the other, independently of each other. */
  async validateAllLater(all: readonly Judging[]): Promise<(Judged | Error)[]> {
    const outcomes = await later(this.gate.validateAllLater(all.map(outputOf)));
    return Promise.all(outcomes.map((outcome, at) => this.#outcome(outcome, all[at] as Judging)));
  }

  async #outcome({ judged, error }: { judged?: Given; error?: string }, given: Judging): Promise<Judged | Error> {
    const { subject, output, options } = given;
    if (judged !== undefined && !isLone(output)) {
      const raw = typeof output === "string" ? output : ofBytes(output).text;
      return { json: judged.json, raw, usage: used(judged, this.digest) };
    }
    const known = error === undefined ? undefined : ofLater(error);
    if (known instanceof Error && !(known instanceof TypeError)) return known;
    // The component reports invalid options and the position of ill-formed Unicode.
    try {
      const text = typeof output === "string" ? ofString(output) : ofBytes(output);
      const { json, usage } = await this.callLater(wireRequest(subject, text, options));
      return { json: answered(json, "report"), raw: text.text, usage };
    } catch (error) {
      return error as Error;
    }
  }
}

function outputOf({ subject: { agent, contract }, output, options }: Judging): Output {
  const isText = typeof output === "string";
  return {
    agent,
    contract,
    text: isText ? output : undefined,
    bytes: isText ? undefined : output,
    extras: textOf(options),
  };
}

/** Returns whether an output is text with half a surrogate pair, whose position bytes cannot express. */
function isLone(output: string | Uint8Array): boolean {
  return typeof output === "string" && !isWellFormed(output);
}

class NativeJudge implements Judge {
  readonly #judge: AddonJudge;
  readonly #digest: string;
  /** The gate for contracts that are passed with a call. */
  readonly #gate: AddonGate | undefined;

  constructor(judge: AddonJudge, digest: string, gate?: AddonGate) {
    this.#judge = judge;
    this.#digest = digest;
    this.#gate = gate;
  }

  validate(
    subject: Subject,
    output: string | Uint8Array,
    options: OutputOptions,
    gate: AddonGate | undefined = this.#gate,
  ): Judged {
    const { agent, contract } = subject;
    const isText = typeof output === "string";
    const raw = isText ? output : ofBytes(output).text;
    try {
      // Bytes cannot express the position of ill-formed Unicode in a text.
      if (!isText || isWellFormed(output)) {
        const text = textOf(options);
        if (contract !== undefined && gate !== undefined) {
          const bytes = isText ? new TextEncoder().encode(output) : output;
          const given = gate.validateWith(contract, bytes, text);
          return { json: given.json, raw, usage: used(given, this.#digest) };
        }
        const [json, fuel, memory, elapsed, outputLength] = isText
          ? this.#judge.validate(agent, output, text)
          : this.#judge.validateBytes(agent, output, text);
        const usage = { fuel, memory, elapsedMs: elapsed, component: this.#digest };
        return { json, outputLength: outputLength < 0 ? undefined : outputLength, raw, usage };
      }
    } catch (error) {
      const known = asOurs(error);
      // An option is invalid. The component reports which one.
      if (!(known instanceof TypeError)) throw known;
    }
    const given = isText ? ofString(output) : ofBytes(output);
    const { json, usage } = this.call(wireRequest(subject, given, options));
    return { json: answered(json, "report"), raw: given.text, usage };
  }

  call(request: string): Answer {
    const given = told(() => this.#judge.call(request));
    return { json: given.json, usage: used(given, this.#digest) };
  }

  decide(operation: Operation, agent: string, documents: Readonly<Record<string, string>>): string {
    const { facts = "", call = "", result = "", listed, state, event = "", line = "", audience = '""' } = documents;
    const judge = this.#judge;
    const given = told(() => {
      switch (operation) {
        case "surface":
          return judge.surface(agent, facts, listed);
        case "permit":
          return judge.permit(agent, facts, call);
        case "observe":
          return judge.observe(agent, facts, call, result);
        case "advance":
          return judge.advance(agent, state, event);
        case "project":
          return judge.project(agent, line, JSON.parse(audience));
      }
    });
    return given.json;
  }
}

/** @internal The attempts of `Gate.run`. */
export class NativeAttempts {
  readonly #attempts: AddonAttempts;

  constructor(attempts: AddonAttempts) {
    this.#attempts = attempts;
  }

  next(): { stop?: string; feedback?: string; attempt: number } {
    return told(() => this.#attempts.next());
  }

  judge(output: string | Uint8Array, finish: string | undefined): { raw: string } {
    const { text } = typeof output === "string" ? ofString(output) : ofBytes(output);
    told(() => this.#attempts.judge(typeof output === "string" ? new TextEncoder().encode(output) : output, finish));
    return { raw: text };
  }

  failed(message: string): void {
    told(() => this.#attempts.failed(message));
  }

  report(): string {
    return this.#attempts.report() ?? "null";
  }

  count(): number {
    return this.#attempts.count;
  }
}

/** @internal A run of the kernel. */
export class NativeRun {
  readonly #run: AddonRun;

  constructor(run: AddonRun) {
    this.#run = run;
  }

  send(event: string): string[] {
    return told(() => this.#run.send(event));
  }

  keep(text: string): string {
    return told(() => this.#run.keep(text));
  }

  id(): string {
    return told(() => this.#run.id);
  }

  agent(): string {
    return told(() => this.#run.agent);
  }

  step(): number {
    return told(() => this.#run.step);
  }

  state(): string {
    return told(() => this.#run.state);
  }

  snapshot(): string {
    return told(() => this.#run.snapshot);
  }

  records(): string[] {
    return told(() => this.#run.records);
  }

  wakeAt(): number | null {
    return told(() => this.#run.wakeAt);
  }
}

/** Calls the addon, and converts its errors to those of this package. */
export function told<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw asOurs(error);
  }
}

/** The same for a promise, whose error has its kind on the first line. */
export async function later<T>(promise: Promise<T>): Promise<T> {
  try {
    return await promise;
  } catch (error) {
    throw ofLater((error as Error).message, error);
  }
}

function ofLater(told: string, cause: unknown = new Error(told)): unknown {
  const [code = "", ...rest] = told.split("\n");
  return ours(code, rest.join("\n"), cause);
}

function asOurs(error: unknown): unknown {
  const { code, message } = error as { code?: string; message: string };
  return ours(code ?? "", message, error);
}

function ours(code: string, message: string, cause: unknown): unknown {
  switch (code) {
    case "SeamgateFault":
      return SeamgateFault.of(JSON.parse(message));
    case "LoadError":
      return new LoadError(message);
    case "FileError":
      return new FileError(message);
    case "JournalError":
      return new JournalError(message);
    case "TypeError":
      return new TypeError(message);
    default:
      return cause;
  }
}

function used({ fuel, memory, elapsed }: Given, component: string): Usage {
  return { fuel, memory, elapsedMs: elapsed, component };
}

/** Returns the options of an output as JSON text, or undefined if there are none. */
function textOf(options: OutputOptions): string | undefined {
  if (options.finish === undefined && options.lists === undefined && options.evidence === undefined) {
    return undefined;
  }
  return JSON.stringify(extras(options));
}

function wireRequest(
  { agent, contract }: Omit<Subject, "checks">,
  given: { readonly text: string; readonly invalid?: number },
  options: OutputOptions,
): string {
  const subject = contract === undefined ? { agent } : {};
  const rest = JSON.stringify({ ...subject, output: given.text, invalid_utf8: given.invalid, ...extras(options) });
  return contract === undefined ? rest : `{"contract":${contract},${rest.slice(1)}`;
}

function isWellFormed(text: string): boolean {
  return (text as string & { isWellFormed(): boolean }).isWellFormed();
}
