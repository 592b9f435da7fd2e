import { type Checks, withChecks } from "./checks.js";
import { Clock, type ClockOptions } from "./clock.js";
import { type Contract, type TypedContract, takeSubject } from "./contract.js";
import { SeamgateFault } from "./fault.js";
import { asGate, Gate, type Seen } from "./gate.js";
import { type Names, only } from "./options.js";
import { kindOf } from "./plain.js";
import { type Reply, type Said, said } from "./replies.js";
import { type Judged, type LocatedViolation, Report, type Usage } from "./report.js";
import { compiled, SCHEMA_OPTIONS, type SchemaOptions, takeSchema } from "./schemas.js";
import { isStandard, type StandardSchema } from "./standard.js";

export type { Reply } from "./replies.js";

/** One message of a conversation, as the clients of models take it. */
export interface Message {
  readonly role: "user" | "assistant";
  readonly content: string;
}

/** What is asked for: a text; or a conversation, which ends with the user. */
export type Prompt<M = never> = string | readonly M[];

/**
 * Why a model is asked no more: `accepted`; `refused`, it declined; `not_retryable`, another attempt cannot help;
 * `repeated`, the same was wrong twice in a row; `limit`, there were as many attempts as the contract allows, or so long
 * ones that the next would pass the limit on outputs.
 */
export type Stop = "accepted" | "refused" | "not_retryable" | "repeated" | "limit";

/** What comes with a question. */
export interface AskOptions extends SchemaOptions, ClockOptions {
  /** Where agents are registered, and whose limits apply. Default: one that all calls share. */
  readonly gate?: Gate;
  /** Lists that the contract's `allow` names. */
  readonly lists?: Readonly<Record<string, readonly string[]>>;
  /** What the model saw, where the contract has `evidence`. */
  readonly evidence?: readonly Seen[];
}

const ASK_OPTIONS: Names<AskOptions> = {
  ...SCHEMA_OPTIONS,
  gate: true,
  lists: true,
  evidence: true,
  signal: true,
  timeoutMs: true,
};

/** One answer of the model, and what was made of it. */
export interface Attempt {
  /** What `callLlm` returned, with what else its client says: for one, how many tokens were used. */
  readonly reply: unknown;
  /** The gate's report on this answer alone, without the schema's own checks. */
  readonly report: Judged;
  /** What is wrong with this answer, as the gate says, and what the schema's own checks found with it. */
  readonly violations: readonly LocatedViolation[];
  /** What the model was told; empty where it is asked no more. */
  readonly feedback: string;
  /** What it took to judge it. */
  readonly usage: Usage;
}

interface Result<M> {
  /** What is wrong: as the gate says, and as the schema's own checks do. */
  readonly violations: readonly LocatedViolation[];
  /** What to tell the model. Empty where it is accepted. */
  readonly feedback: string;
  /** Why it was asked no more. */
  readonly stop: Stop;
  /** Every attempt, in order. */
  readonly attempts: readonly Attempt[];
  /** What it took to judge them, in all. */
  readonly usage: Usage;
  /** The conversation, with the last answer, to go on with. */
  readonly messages: readonly (M | Message)[];
}

/**
 * What became of a question; `success` and `disposition` say which of four it is. A partial answer is no success: `data` is
 * there, and `report` says what is in quarantine and what changed. That the model declined is no failure.
 */
export type AskResult<T, M = never> = Result<M> & {
  /** The report on all attempts together, with the verdict of the schema's own checks. */
  readonly report: Judged<T>;
} & (
    | { readonly success: true; readonly disposition: "accepted"; readonly data: T }
    | { readonly success: false; readonly disposition: "partial"; readonly data: T }
    | { readonly success: false; readonly disposition: "rejected"; readonly data: null }
    | {
        readonly success: false;
        readonly disposition: "refused";
        readonly data: null;
        /** The model's words. */
        readonly refusal: string;
      }
  );

/** What a function that calls a model gets beside the conversation. */
export interface CallContext {
  /** Aborted when `signal` of the options is, or `timeoutMs` is over: hand it on to the client. */
  readonly signal: AbortSignal;
  /** Which attempt this is, from 1. */
  readonly attempt: number;
}

/** Calls a model with a conversation. */
type CallLlm<M> = (messages: (M | Message)[], context: CallContext) => Reply | PromiseLike<Reply>;

let shared: Promise<Gate> | undefined;

/**
 * Ask a model until its answer is valid, or there is a reason to stop.
 *
 * @param of - What the answer must be: a schema of Zod or another library, whose value `data` then is; or a contract, as an
 *   object or as JSON text; or the name of an agent whose contract is registered in `options.gate`.
 * @param callLlm - Calls a model. It gets the conversation, and returns the response of OpenAI, Anthropic or the AI SDK as it
 *   is; or the text; or `{ text, finish }`, with why the model stopped. Its errors pass through.
 * @param prompt - What is asked for. What the answer must be is added to it.
 * @throws {SeamgateFault} There is no verdict: the contract is invalid (`bad_contract`), a limit was passed, or `timeoutMs` is over
 *   (`timeout`). If `signal` is aborted, its reason is thrown.
 * @throws {TypeError} `callLlm` returned nothing that can be read; or the schema does not say what it is in JSON; or a contract holds
 *   something else than JSON, as a schema of a library.
 */
export async function ask<T, M extends object = never>(
  of: StandardSchema<T>,
  callLlm: CallLlm<M>,
  prompt?: Prompt<M>,
  options?: AskOptions,
): Promise<AskResult<T, M>>;
export async function ask<T, M extends object = never>(
  of: TypedContract<T>,
  callLlm: CallLlm<M>,
  prompt?: Prompt<M>,
  options?: AskOptions,
): Promise<AskResult<T, M>>;
export async function ask<T = unknown, M extends object = never>(
  of: Contract,
  callLlm: CallLlm<M>,
  prompt?: Prompt<M>,
  options?: AskOptions,
): Promise<AskResult<T, M>>;
export async function ask<T, M extends object>(
  of: StandardSchema<T> | Contract,
  callLlm: CallLlm<M>,
  prompt: Prompt<M> = "",
  options: AskOptions = {},
): Promise<AskResult<T, M>> {
  only("options", options, ASK_OPTIONS);
  if (typeof callLlm !== "function") {
    throw new TypeError(`\`callLlm\` must be a function that calls the model, not ${kindOf(callLlm)}`);
  }
  if (typeof prompt !== "string" && !Array.isArray(prompt)) {
    throw new TypeError(`\`prompt\` must be a text or a list of messages, not ${kindOf(prompt)}`);
  }
  const beside = options.gate === undefined ? await common() : asGate(options.gate);
  const clock = new Clock("ask", options);
  try {
    const question = new Question<T, M>(of, prompt, options, beside);
    for (let attempt = 1; ; attempt += 1) {
      const context = { signal: clock.signal, attempt };
      const reply = await clock.during(() => callLlm(question.messages(), context));
      const result = await clock.during(() => question.take(reply));
      if (result !== undefined) {
        return result;
      }
    }
  } finally {
    clock.end();
  }
}

/** The gate of calls that name none. One that could not be loaded is tried again. */
function common(): Promise<Gate> {
  shared ??= Gate.load().catch((error: unknown) => {
    shared = undefined;
    throw error;
  });
  return shared;
}

/** What answers are judged by. */
interface Judging {
  readonly gate: Gate;
  readonly agent: string;
  readonly checks: Checks | undefined;
  /** What the model is told that the answer must be. */
  readonly wanted: string;
}

/** A conversation with one model, and the verdict on all its answers together. */
class Question<T, M extends object> {
  readonly #judging: Judging;
  readonly #options: AskOptions;
  readonly #retries: number;
  readonly #messages: (M | Message)[];
  /** Those that the next answer is put together with. */
  #reports: Judged[] = [];
  readonly #attempts: Attempt[] = [];
  #wrong: string | undefined;
  #length = 0;

  constructor(of: StandardSchema<T> | Contract, prompt: Prompt<M>, options: AskOptions, beside: Gate) {
    this.#judging = judging(of, options, beside);
    this.#options = options;
    this.#retries = this.#judging.gate.contract(this.#judging.agent).retryLimit;
    this.#messages = asking(prompt, this.#judging.wanted);
  }

  /** The conversation so far, to be sent. */
  messages(): (M | Message)[] {
    return this.#messages.map((message) => ({ ...message }));
  }

  /** Judge an answer. Undefined where the model is to be asked again. */
  async take(reply: unknown): Promise<AskResult<T, M> | undefined> {
    const { report, usage: judged } = this.#validate(said(reply));
    this.#reports.push(report);
    this.#length += report.json.length;
    const { merged, usage } = this.#merge(judged);
    const { checks } = this.#judging;
    const whole = checks === undefined ? merged : await withChecks(merged, checks);
    const found = whole.json === merged.json ? [] : without(whole.violations, merged.violations);
    let told = whole.feedback;
    if (found.length > 0) {
      // The next answer is put together with what the checks left. After a rejection everything is asked for again.
      this.#reports = whole.outputJson === null ? [] : [whole];
    } else if (merged.outputJson !== null && report.disposition === "rejected" && told !== report.feedback) {
      told = useless(report, told);
    }
    const stop = this.#stop(whole, report);
    const violations = [...report.violations, ...found];
    this.#attempts.push({ reply, report, violations, feedback: stop === undefined ? told : "", usage });
    if (report.raw.trim() !== "") {
      // Some interfaces refuse an empty message.
      this.#messages.push({ role: "assistant", content: report.raw });
    }
    if (stop === undefined) {
      this.#messages.push({ role: "user", content: told });
      return undefined;
    }
    return this.#result(whole as Judged<T>, told, stop);
  }

  #validate({ text, finish }: Said): { report: Judged; usage: Usage } {
    const { gate, agent } = this.#judging;
    const { lists, evidence } = this.#options;
    const given = { ...(lists && { lists }), ...(evidence && { evidence }) };
    try {
      return gate.unchecked(agent, text, { ...given, finish });
    } catch (fault) {
      const { violations = [] } = fault instanceof SeamgateFault ? fault.detail : {};
      if (!violations.some(({ pointer }) => pointer === "/finish")) {
        throw fault;
      }
      // Interfaces have new words, now and then.
      return gate.unchecked(agent, text, given);
    }
  }

  /** The report on all answers together. */
  #merge(usage: Usage): { merged: Judged; usage: Usage } {
    const { gate, agent } = this.#judging;
    const last = this.#reports.at(-1) as Judged;
    if (this.#reports.slice(0, -1).every(({ outputJson }) => outputJson === null)) {
      return { merged: last, usage };
    }
    const { lists, evidence } = this.#options;
    const members = JSON.stringify({ op: "merge", agent, lists, evidence }).slice(0, -1);
    // The reports stand in it as they are: what is written again has other digits.
    const answer = gate.call(`${members},"reports":[${this.#reports.map(({ json }) => json).join()}]}`);
    const before = '{"id":null,"report":';
    if (!answer.json.startsWith(before)) {
      throw SeamgateFault.of(JSON.parse(answer.json).fault);
    }
    const merged = new Report(answer.json.slice(before.length, -1), last.raw) as Judged;
    return { merged, usage: sum([usage, answer.usage]) };
  }

  /** Why not to ask again, as the harness step of the library does. Undefined where it is to be asked again. */
  #stop(whole: Judged, last: Judged): Stop | undefined {
    const wrong = withoutSpans(whole, last);
    const same = wrong === this.#wrong;
    this.#wrong = wrong;
    if (whole.disposition === "accepted" || whole.disposition === "refused") {
      return whole.disposition;
    }
    const isDone = whole.disposition === "partial" && whole.wanted === "nothing";
    if (isDone || last.disposition === "refused" || last.error?.retryable === false) {
      return "not_retryable";
    }
    if (same) {
      return "repeated";
    }
    // What is put together of all answers must be within the limit of one.
    const isLong = this.#length > this.#judging.gate.limits.outputBytes / 2;
    return isLong || this.#attempts.length >= this.#retries ? "limit" : undefined;
  }

  #result(report: Judged<T>, told: string, stop: Stop): AskResult<T, M> {
    const rest = {
      report,
      violations: report.violations,
      feedback: told,
      stop,
      attempts: this.#attempts,
      usage: sum(this.#attempts.map(({ usage }) => usage)),
      messages: this.messages(),
    };
    switch (report.disposition) {
      case "accepted":
        return { ...rest, success: true, disposition: "accepted", data: report.data };
      case "partial":
        return { ...rest, success: false, disposition: "partial", data: report.data };
      case "refused": {
        const refusal = this.#attempts.at(-1)?.report.raw ?? "";
        return { ...rest, success: false, disposition: "refused", data: null, refusal };
      }
      default:
        return { ...rest, success: false, disposition: "rejected", data: null };
    }
  }
}

/** What answers are judged by: a schema, a contract, or that of an agent. */
function judging(of: unknown, options: AskOptions, beside: Gate): Judging {
  if (isStandard(of)) {
    const { text, described, checks } = takeSchema(of, options);
    const { gate, info } = compiled(text, beside);
    const words = text === described ? { gate, info } : compiled(described, beside);
    return { gate, agent: info.agent, checks, wanted: words.gate.describe(words.info.agent) };
  }
  for (const name of ["contract", "preprocess"] as const) {
    if (options[name] !== undefined) {
      throw new TypeError(`\`${name}\` goes with a schema of a library: a contract says everything itself`);
    }
  }
  const { agent, contract, checks } = takeSubject(of, "of");
  if (contract === undefined) {
    return { gate: beside, agent, checks: beside.checksOf(agent), wanted: beside.describe(agent) };
  }
  const { gate, info } = compiled(contract, beside);
  return { gate, agent: info.agent, checks, wanted: gate.describe(info.agent) };
}

/** The violations that are not among others. */
function without(all: readonly LocatedViolation[], others: readonly LocatedViolation[]): LocatedViolation[] {
  const known = new Set(others.map((violation) => JSON.stringify(violation)));
  return all.filter((violation) => !known.has(JSON.stringify(violation)));
}

/** The conversation, with what the answer must be at its end. */
function asking<M extends object>(prompt: Prompt<M>, wanted: string): (M | Message)[] {
  const messages = typeof prompt === "string" ? [{ role: "user", content: prompt } as const] : [...prompt];
  const last = messages.at(-1) as { role?: unknown; content?: unknown } | undefined;
  if (last?.role !== "user" || typeof last.content !== "string") {
    return [...messages, { role: "user", content: wanted }];
  }
  const content = last.content === "" ? wanted : `${last.content}\n\n${wanted}`;
  return [...messages.slice(0, -1), { ...last, role: "user", content }];
}

/** The feedback, where the last answer added nothing to those before: it also says why. */
function useless(last: Judged, told: string): string {
  const first = last.error?.violations[0];
  return first === undefined
    ? told
    : `The last answer could not be used as it was:\n- at ${first.path}: ${first.message}.\n${told}`;
}

/** What is wrong, as far as it is the same in another text. */
function withoutSpans(whole: Judged, last: Judged): string {
  const wrong = [last, whole].flatMap(({ violations }) =>
    violations.map((violation) => ({ ...violation, span: null })),
  );
  return JSON.stringify([wrong, whole.quarantined.map(({ index, reason }) => [index, reason]), whole.wanted]);
}

function sum(all: readonly Usage[]): Usage {
  return {
    fuel: all.reduce((total, { fuel }) => total + fuel, 0),
    memory: Math.max(...all.map(({ memory }) => memory)),
    elapsedMs: all.reduce((total, { elapsedMs }) => total + elapsedMs, 0),
    component: all[0]?.component ?? "",
  };
}
