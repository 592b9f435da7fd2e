import { builtIn, digest } from "./component/about.js";
import { type Component, Live } from "./component.js";
import type { Subject } from "./contract.js";
import type { ProfileInfo } from "./decision.js";
import type { Coming, Engine, Judge, Judged, Operation } from "./engine.js";
import { SeamgateFault } from "./fault.js";
import { Following } from "./following.js";
import { fuelFor, fuelForContract, type Limits, smallEnough } from "./limits.js";
import type { OutputOptions } from "./options.js";
import { Contracts, Profiles, type Registered } from "./registered.js";
import type { Answer, Usage } from "./report.js";
import { type Given, measure, ofBytes, ofString } from "./text.js";
import type { ContractInfo, Warning } from "./types.js";
import { answered, contractInfo, extras } from "./wire.js";

/** The operations for which an instance needs only a profile. */
const DECISIONS: readonly unknown[] = ["surface", "permit", "observe", "advance", "project"];

/** The most instances that an engine keeps for later outputs. Each uses twice its memory, about 6 MB. */
const RENEWED = 8;

/** The component in the JavaScript engine. */
export class WebAssemblyEngine implements Engine {
  readonly backend = "webassembly";
  readonly component: Component;
  readonly digest: string | undefined;
  readonly limits: Required<Limits>;
  readonly contracts = new Contracts();
  readonly profiles = new Profiles();
  /** Instances with only these contracts and profiles registered, by their keys. */
  readonly #renewed = new Map<string, Live>();

  /** `isBuiltIn` says that the component is the one in this package. */
  constructor(component: Component, limits: Required<Limits>, isBuiltIn: boolean) {
    // Creating an instance checks that the component is a validator and counts fuel.
    new Live(component);
    this.component = component;
    this.digest = isBuiltIn ? builtIn : undefined;
    this.limits = limits;
  }

  register(contract: string): ContractInfo {
    const info = this.compiled(contract);
    this.contracts.keep(contract, info);
    return info;
  }

  compiled(contract: string): ContractInfo {
    return contractInfo(new Instance(this).about("register", "contract", contract));
  }

  registerProfile(profile: string): ProfileInfo {
    const info: ProfileInfo = JSON.parse(new Instance(this).about("register_profile", "profile", profile));
    this.profiles.keep(profile, info);
    return info;
  }

  describe(agent: string): string {
    return this.#describe("describe", agent, this.contracts.of(agent));
  }

  describeProfile(agent: string): string {
    return this.#describe("describe_profile", agent, this.profiles.of(agent));
  }

  #describe(op: string, agent: string, needed: Registered): string {
    return JSON.parse(new Instance(this).ask([needed], 0, JSON.stringify({ op, agent }), "result").json);
  }

  lint(contract: string): Warning[] {
    return JSON.parse(new Instance(this).about("lint", "contract", contract));
  }

  lintProfile(profile: string): Warning[] {
    return JSON.parse(new Instance(this).about("lint_profile", "profile", profile));
  }

  validate(subject: Subject, output: string | Uint8Array, options: OutputOptions): Judged {
    return new Instance(this, true).validate(subject, output, options);
  }

  call(request: string): Answer {
    return new Instance(this, true).call(request);
  }

  decide(operation: Operation, agent: string, documents: Readonly<Record<string, string>>, bytes: number): string {
    return new Instance(this, true).decide(operation, agent, documents, bytes);
  }

  merge(reports: readonly string[], options: OutputOptions): Omit<Judged, "raw"> {
    const agents = reports.map((report) => JSON.parse(report).agent);
    const agent = String(agents[0] ?? "");
    const needed = this.contracts.has(agent) ? [this.contracts.of(agent)] : [];
    const { lists, evidence } = extras(options);
    const rest = JSON.stringify({ op: "merge", agent, lists, evidence }).slice(0, -1);
    const request = `${rest},"reports":[${reports.join(",")}]}`;
    return new Instance(this, true).ask(needed, measure(request).bytes, request, "report");
  }

  session(agent: string, options: OutputOptions): Coming {
    return new Following(this, this.limits, agent, options);
  }

  instance(): Judge {
    return new Instance(this);
  }

  sibling(): Engine {
    return new WebAssemblyEngine(this.component, this.limits, this.digest !== undefined);
  }

  async again(): Promise<Engine> {
    return this.sibling();
  }

  /** Returns a fresh instance, in which these contracts and profiles may already be registered. */
  fresh(keys: string): Live {
    const renewed = this.#renewed.get(keys);
    // Only one call may use it at a time.
    this.#renewed.delete(keys);
    return renewed ?? new Live(this.component);
  }

  /** Keeps an instance for a later output, if it can be restored to its state before the last one. */
  renew(keys: string, live: Live): void {
    if (live.renew()) {
      this.#renewed.set(keys, live);
      const [oldest] = this.#renewed.keys();
      if (this.#renewed.size > RENEWED && oldest !== undefined) {
        this.#renewed.delete(oldest);
      }
    }
  }

  /**
   * Returns the contracts and profiles that an instance needs to answer a request. A verdict needs the contract of the
   * agent that the request names, and a decision needs the profile. Any other request may need all of them.
   */
  neededFor(op: unknown, agent: string): readonly Registered[] {
    if (op === undefined) {
      return this.contracts.has(agent) ? [this.contracts.of(agent)] : [];
    }
    if (DECISIONS.includes(op)) {
      return this.profiles.has(agent) ? [this.profiles.of(agent)] : [];
    }
    return String(op).includes("profile") ? this.profiles.all() : this.contracts.all();
  }
}

/** An instance. After a fault stops it, the next call starts a fresh one. */
class Instance implements Judge {
  readonly #engine: WebAssemblyEngine;
  /** True if it is for one call only. */
  readonly #once: boolean;
  #live: Live | undefined;

  constructor(engine: WebAssemblyEngine, once = false) {
    this.#engine = engine;
    this.#once = once;
  }

  validate(subject: Subject, output: string | Uint8Array, options: OutputOptions): Judged {
    const given = this.#given(output);
    const { agent, contract } = subject;
    const { finish, lists, evidence } = extras(options);
    const further = evidence === undefined ? 0 : measure(JSON.stringify(evidence)).bytes;
    smallEnough(this.#engine.limits, given.bytes + further);
    const rest = JSON.stringify({
      agent: contract === undefined ? agent : undefined,
      output: given.text,
      finish,
      lists,
      evidence,
      invalid_utf8: given.invalid,
    });
    const request = contract === undefined ? rest : `{"contract":${contract},${rest.slice(1)}`;
    const needed = contract === undefined ? [this.#engine.contracts.of(agent)] : [];
    const bytes = given.bytes + further + (contract === undefined ? 0 : measure(contract).bytes);
    const { json, usage } = this.ask(needed, bytes, request, "report");
    return { json, raw: given.text, usage };
  }

  call(request: string): Answer {
    const { bytes } = measure(request);
    const { value, usage } = this.#within(this.#neededFor(request), bytes, (live) => live.call(request));
    return { json: value, usage };
  }

  decide(op: Operation, agent: string, documents: Readonly<Record<string, string>>, bytes: number): string {
    const members = Object.entries(documents).map(([what, text]) => `,"${what}":${text}`);
    const request = `{"op":"${op}","agent":${JSON.stringify(agent)}${members.join("")}}`;
    return this.ask([this.#engine.profiles.of(agent)], bytes, request, "result").json;
  }

  about(op: string, what: "contract" | "profile", document: string): string {
    const request = `{"op":"${op}","${what}":${document}}`;
    const { bytes } = measure(document);
    const { value } = this.#within(
      [],
      bytes,
      (live) => live.call(request),
      fuelForContract(this.#engine.limits, bytes),
    );
    return answered(value, "result");
  }

  #given(output: string | Uint8Array): Given {
    const given = typeof output === "string" ? ofString(output) : ofBytes(output);
    smallEnough(this.#engine.limits, given.bytes);
    return given;
  }

  /** Returns the contracts and profiles that a request may need. */
  #neededFor(request: string): readonly Registered[] {
    try {
      const { op, agent } = JSON.parse(request);
      return this.#engine.neededFor(op, agent);
    } catch {
      // The component reports what is wrong with the request.
      return [];
    }
  }

  ask(
    needed: readonly Registered[],
    bytes: number,
    request: string,
    member: "report" | "result",
  ): { json: string; usage: Usage } {
    const { value, usage } = this.#within(needed, bytes, (live) => live.call(request));
    return { json: answered(value, member), usage };
  }

  /**
   * Calls an instance in which these contracts and profiles are registered. Each is compiled within its own budget, and
   * the rest of that budget is not available to the call.
   */
  #within<T>(
    needed: readonly Registered[],
    bytes: number,
    work: (live: Live) => T,
    budget?: bigint,
  ): { value: T; usage: Usage } {
    const engine = this.#engine;
    const keys = needed.map(({ key }) => key).join();
    const live = this.#live ?? (this.#once ? engine.fresh(keys) : new Live(engine.component));
    this.#live = undefined;
    const lacking = needed.filter(({ key }) => !live.given.has(key));
    // In a fresh instance they may already be registered. Their fuel is charged anyway, so that usage is deterministic.
    const all = (this.#once ? needed : lacking).reduce((sum, registered) => sum + registered.bytes, bytes);
    const limit = budget ?? fuelFor(engine.limits, all);
    let compiled = live.spent;
    let within = limit;
    let usedBy: "compiling" | "the verdict" = "the verdict";
    const start = performance.now();
    let value: T;
    try {
      for (const { key, bytes, request } of lacking) {
        within = fuelForContract(engine.limits, bytes);
        usedBy = "compiling";
        live.fuel = within;
        answered(live.call(request), "result");
        compiled += within - live.fuel;
        live.given.add(key);
      }
      if (this.#once) {
        live.keep(compiled);
      }
      within = limit;
      usedBy = budget === undefined ? "the verdict" : "compiling";
      live.fuel = within;
      value = work(live);
    } catch (error) {
      // After it was stopped, its memory may be inconsistent, so the instance is dropped.
      throw error instanceof SeamgateFault ? error : live.fault(error, within, usedBy);
    }
    const elapsedMs = performance.now() - start;
    const usage = { fuel: Number(compiled + limit - live.fuel), memory: live.memory, elapsedMs, component: digest };
    if (this.#once) {
      engine.renew(keys, live);
    } else {
      this.#live = live;
    }
    return { value, usage };
  }
}
