import type { AskOptions, AskResult, Attempt, Message, Prompt, Stop } from "./asking.js";
import { type Checks, withChecks } from "./checks.js";
import { type Contract, takeSubject } from "./contract.js";
import { SeamgateFault } from "./fault.js";
import { feedback } from "./feedback.js";
import type { Gate, OutputOptions } from "./gate.js";
import { type Said, said } from "./replies.js";
import { type Judged, type LocatedViolation, Report, type Usage } from "./report.js";
import { compiled, takeSchema } from "./schemas.js";
import type { Session } from "./session.js";
import { isStandard, type StandardSchema } from "./standard.js";
import type { DeadEnd } from "./types.js";

/** The contract and the gate that answers are judged by. */
interface Judging {
  readonly gate: Gate;
  readonly agent: string;
  readonly checks: Checks | undefined;
  /** The description of the expected answer, for the model. */
  readonly wanted: string;
}

/** A conversation with one model, and the verdict on all its answers together. */
export class Question<T, M extends object> {
  readonly #judging: Judging;
  readonly #options: AskOptions;
  readonly #retries: number;
  readonly #messages: (M | Message)[];
  /** The reports that the next answer is merged with. */
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

  /** Returns the conversation so far, to be sent. */
  messages(): (M | Message)[] {
    return this.#messages.map((message) => ({ ...message }));
  }

  /** Begins a session for a streamed answer. {@link Question.take} returns its verdict. */
  session<Input>(): Session<Input> {
    const { gate, agent } = this.#judging;
    return gate.session<Input>(agent, this.#given());
  }

  /** The agent that is asked. */
  get agent(): string {
    return this.#judging.agent;
  }

  /** All attempts so far, in order. */
  get attempts(): readonly Attempt[] {
    return this.#attempts;
  }

  /**
   * Judges an answer. Returns undefined if the model must be asked again.
   *
   * @param answer - The answer in the reply, if it was a stream.
   * @param deadEnd - The reason why the stream was closed before its end, if it was.
   */
  async take(reply: unknown, answer: Said = said(reply), deadEnd?: DeadEnd): Promise<AskResult<T, M> | undefined> {
    const { report, usage: judged } = this.#validate(answer);
    this.#reports.push(report);
    this.#length += report.json.length;
    const { merged, usage } = this.#merge(judged);
    const { checks } = this.#judging;
    const whole = checks === undefined ? merged : await withChecks(merged, checks);
    const found = whole.json === merged.json ? [] : without(whole.violations, merged.violations);
    let told = whole.feedback;
    if (found.length > 0) {
      // The next answer is merged with the items that passed the checks. After a rejection, the model is asked for
      // everything again.
      this.#reports = whole.outputJson === null ? [] : [whole];
    } else if (merged.outputJson !== null && report.disposition === "rejected" && told !== report.feedback) {
      told = useless(report, told);
    }
    const stop = this.#stop(whole, report);
    const isLeft = deadEnd !== undefined && report.disposition === "rejected";
    // The stream was closed early, so the gate's violations for the truncated text are not the cause.
    const violations = isLeft ? [ofDeadEnd(deadEnd)] : [...report.violations, ...found];
    if (isLeft) {
      told = feedback(violations);
    }
    const attempt = { reply, report, violations, feedback: stop === undefined ? told : "", usage };
    this.#attempts.push(attempt);
    this.#options.onAttempt?.(attempt);
    if (report.raw.trim() !== "") {
      // Some APIs reject an empty message.
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
    const given = this.#given();
    try {
      return gate.unchecked(agent, text, { ...given, finish });
    } catch (fault) {
      const { violations = [] } = fault instanceof SeamgateFault ? fault.detail : {};
      if (!violations.some(({ pointer }) => pointer === "/finish")) {
        throw fault;
      }
      // APIs introduce new words from time to time.
      return gate.unchecked(agent, text, given);
    }
  }

  #given(): OutputOptions {
    const { lists, evidence } = this.#options;
    return { ...(lists && { lists }), ...(evidence && { evidence }) };
  }

  /** Returns the report on all answers together. */
  #merge(usage: Usage): { merged: Judged; usage: Usage } {
    const { gate, agent } = this.#judging;
    const last = this.#reports.at(-1) as Judged;
    if (this.#reports.slice(0, -1).every(({ outputJson }) => outputJson === null)) {
      return { merged: last, usage };
    }
    const { lists, evidence } = this.#options;
    const members = JSON.stringify({ op: "merge", agent, lists, evidence }).slice(0, -1);
    // The reports are embedded verbatim, because serializing them again would change the digits of numbers.
    const answer = gate.call(`${members},"reports":[${this.#reports.map(({ json }) => json).join()}]}`);
    const before = '{"id":null,"report":';
    if (!answer.json.startsWith(before)) {
      throw SeamgateFault.of(JSON.parse(answer.json).fault);
    }
    const merged = new Report(answer.json.slice(before.length, -1), last.raw) as Judged;
    return { merged, usage: sum([usage, answer.usage]) };
  }

  /** Returns the reason not to ask again, by the same rules as `Gate.run`, or undefined to ask again. */
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
    // The merged answers must not exceed the limit on one output.
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

/** Returns what answers are judged by: a schema, a contract, or the contract of an agent. */
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

/** Converts the reason why a stream was closed early to a violation. */
function ofDeadEnd({ keyword, message }: DeadEnd): LocatedViolation {
  const nowhere = { textSpan: { value: null }, text: { value: null } };
  const violation = {
    path: "$",
    keyword,
    expected: "",
    received: "",
    message,
    pointer: "",
    schema_path: "",
    span: null,
  };
  return Object.defineProperties(violation, nowhere) as unknown as LocatedViolation;
}

/** Returns the violations that are not among `others`. */
function without(all: readonly LocatedViolation[], others: readonly LocatedViolation[]): LocatedViolation[] {
  const known = new Set(others.map((violation) => JSON.stringify(violation)));
  return all.filter((violation) => !known.has(JSON.stringify(violation)));
}

/** Returns the conversation, with a description of the expected answer at its end. */
function asking<M extends object>(prompt: Prompt<M>, wanted: string): (M | Message)[] {
  const messages = typeof prompt === "string" ? [{ role: "user", content: prompt } as const] : [...prompt];
  const last = messages.at(-1) as { role?: unknown; content?: unknown } | undefined;
  if (last?.role !== "user" || typeof last.content !== "string") {
    return [...messages, { role: "user", content: wanted }];
  }
  const content = last.content === "" ? wanted : `${last.content}\n\n${wanted}`;
  return [...messages.slice(0, -1), { ...last, role: "user", content }];
}

/** Returns the feedback if the last answer added nothing to the earlier ones, with the reason. */
function useless(last: Judged, told: string): string {
  const first = last.error?.violations[0];
  return first === undefined
    ? told
    : `The last answer could not be used as it was:\n- at ${first.path}: ${first.message}.\n${told}`;
}

/** Returns the violations without their positions, so that those of different answers can be compared. */
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
