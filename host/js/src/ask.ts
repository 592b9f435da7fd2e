import { Clock, type ClockOptions } from "./clock.js";
import type { Contract, TypedContract } from "./contract.js";
import { asGate, Gate, type Seen } from "./gate.js";
import { asHook, type Names, only } from "./options.js";
import type { CompletedItem, DeepPartial } from "./partial.js";
import { kindOf } from "./plain.js";
import { Question } from "./question.js";
import type { Reply, Said } from "./replies.js";
import type { Judged, LocatedViolation, Usage } from "./report.js";
import { SCHEMA_OPTIONS, type SchemaOptions } from "./schemas.js";
import type { StandardSchema } from "./standard.js";
import { pieces, type ReplyStream } from "./streams.js";
import type { Completeness, DeadEnd } from "./types.js";

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
  /** Told of each attempt once it is judged, for logs and metrics. What it throws ends the call. */
  readonly onAttempt?: ((attempt: Attempt) => void) | undefined;
}

/** What comes with a question whose answers are streamed. */
export interface AskStreamOptions extends AskOptions {
  /**
   * Stop reading an answer that can no longer become right, whatever comes (`deadEnd`), and abort its request: the model is asked again
   * at once. Default: false.
   */
  readonly stopEarly?: boolean | undefined;
}

const ASK_OPTIONS: Names<AskOptions> = {
  ...SCHEMA_OPTIONS,
  gate: true,
  lists: true,
  evidence: true,
  signal: true,
  timeoutMs: true,
  onAttempt: true,
};
const STREAM_OPTIONS: Names<AskStreamOptions> = { ...ASK_OPTIONS, stopEarly: true };

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
  const beside = await begun(callLlm, prompt, options, ASK_OPTIONS);
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

/** Checks what a question comes with, and gives the gate beside which it is judged. */
async function begun<Options extends AskOptions>(
  callLlm: unknown,
  prompt: unknown,
  options: Options,
  names: Names<Options>,
): Promise<Gate> {
  only("options", options, names);
  if (typeof callLlm !== "function") {
    throw new TypeError(`\`callLlm\` must be a function that calls the model, not ${kindOf(callLlm)}`);
  }
  if (typeof prompt !== "string" && !Array.isArray(prompt)) {
    throw new TypeError(`\`prompt\` must be a text or a list of messages, not ${kindOf(prompt)}`);
  }
  asHook("onAttempt", options.onAttempt);
  return options.gate === undefined ? await common() : asGate(options.gate);
}

/** What happens while an answer is streamed. */
export type AskEvent<T, Input = T, M = never> =
  | {
      readonly type: "progress";
      /** Which attempt this is, from 1. */
      readonly attempt: number;
      /** How far the document has come. */
      readonly completeness: Completeness;
      /** Those that this piece completed, with their values. They are not judged. */
      readonly items: readonly CompletedItem[];
      /** The document as far as it has come: see {@link Session.partial}. */
      readonly partial: DeepPartial<Input> | undefined;
      /** Why the answer can no longer become right, where it cannot. */
      readonly deadEnd: DeadEnd | null;
    }
  | { readonly type: "attempt"; readonly attempt: number; readonly outcome: Attempt }
  | { readonly type: "result"; readonly result: AskResult<T, M> };

/** Calls a model, and gives its answer as it comes. */
type StreamLlm<M> = (
  messages: (M | Message)[],
  context: CallContext,
) => ReplyStream | Reply | PromiseLike<ReplyStream | Reply>;

/**
 * A question whose answers are streamed. Iterate over its events, the last of which has the result; or wait for `result()`. Nothing is
 * asked before somebody does one of these. To leave the loop early aborts the request.
 */
export class AnswerStream<T, Input = T, M = never> implements AsyncIterable<AskEvent<T, Input, M>> {
  readonly #events: AsyncGenerator<AskEvent<T, Input, M>, void, undefined>;
  #result: AskResult<T, M> | undefined;

  /** @internal Use `askStream`. */
  constructor(events: AsyncGenerator<AskEvent<T, Input, M>, void, undefined>) {
    this.#events = events;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<AskEvent<T, Input, M>, void, undefined> {
    for await (const event of this.#events) {
      if (event.type === "result") this.#result = event.result;
      yield event;
    }
  }

  /**
   * What became of the question. Reads what is left of the stream.
   *
   * @throws As `ask`; and a `TypeError` where the loop over the events was left early.
   */
  async result(): Promise<AskResult<T, M>> {
    for await (const _ of this) {
      // What happens meanwhile is for nobody.
    }
    if (this.#result === undefined) {
      throw new TypeError("the stream has no result: it was left before its end");
    }
    return this.#result;
  }
}

/**
 * Ask a model as {@link ask} does, and say what is known of each answer while it comes. The result is the same as without a stream.
 *
 * @param callLlm - As for {@link ask}; and what it returns may be a stream of text or bytes, of OpenAI, Anthropic or the AI SDK.
 */
export function askStream<T, Input, M extends object = never>(
  of: StandardSchema<T, Input> | TypedContract<T, Input>,
  callLlm: StreamLlm<M>,
  prompt?: Prompt<M>,
  options?: AskStreamOptions,
): AnswerStream<T, Input, M>;
export function askStream<T = unknown, M extends object = never>(
  of: Contract,
  callLlm: StreamLlm<M>,
  prompt?: Prompt<M>,
  options?: AskStreamOptions,
): AnswerStream<T, T, M>;
export function askStream<T, Input, M extends object>(
  of: StandardSchema<T> | Contract,
  callLlm: StreamLlm<M>,
  prompt: Prompt<M> = "",
  options: AskStreamOptions = {},
): AnswerStream<T, Input, M> {
  return new AnswerStream(asked<T, Input, M>(of, callLlm, prompt, options));
}

async function* asked<T, Input, M extends object>(
  of: StandardSchema<T> | Contract,
  callLlm: StreamLlm<M>,
  prompt: Prompt<M>,
  options: AskStreamOptions,
): AsyncGenerator<AskEvent<T, Input, M>, void, undefined> {
  const beside = await begun(callLlm, prompt, options, STREAM_OPTIONS);
  const clock = new Clock("askStream", options);
  try {
    const question = new Question<T, M>(of, prompt, options, beside);
    for (let attempt = 1; ; attempt += 1) {
      const answer = new Streamed();
      const call = new Clock("a call", { signal: clock.signal });
      const context = { signal: call.signal, attempt };
      const reply = await clock.during(() => callLlm(question.messages(), context));
      const session = question.session<Input>();
      const stream = pieces(reply);
      let isDone = false;
      let left: DeadEnd | undefined;
      try {
        while (!isDone) {
          const { done = false, value: piece } = await clock.during(() => stream.next());
          isDone = done;
          if (piece === undefined) break;
          answer.take(piece);
          if (piece.text === undefined) continue;
          const { completeness, items, deadEnd } = session.push(piece.text);
          const event = { type: "progress", attempt, completeness, items, deadEnd } as const;
          yield Object.defineProperty(event, "partial", {
            enumerable: true,
            get: () => session.partial,
          }) as typeof event & {
            partial: DeepPartial<Input> | undefined;
          };
          if (options.stopEarly && deadEnd !== null) {
            left = deadEnd;
            break;
          }
        }
      } finally {
        session.close();
        call.end();
        if (!isDone) {
          call.abort();
          // A client that is stuck is not waited for.
          stream.return().catch(() => {});
        }
      }
      const result = await clock.during(() => question.take(reply, answer.said(), left));
      yield { type: "attempt", attempt, outcome: question.attempts.at(-1) as Attempt };
      if (result !== undefined) {
        yield { type: "result", result };
        return;
      }
    }
  } finally {
    clock.end();
  }
}

/** What a stream has said, to be judged as it came. */
class Streamed {
  readonly #pieces: (string | Uint8Array)[] = [];
  #finish = "unknown";

  take({ text, finish }: { readonly text?: string | Uint8Array; readonly finish?: string }): void {
    if (text !== undefined) this.#pieces.push(text);
    if (finish !== undefined) this.#finish = finish;
  }

  said(): Said {
    const finish = this.#finish;
    if (this.#pieces.every((piece) => typeof piece === "string")) {
      return { text: this.#pieces.join(""), finish };
    }
    const encoder = new TextEncoder();
    const all = this.#pieces.map((piece) => (typeof piece === "string" ? encoder.encode(piece) : piece));
    const text = new Uint8Array(all.reduce((length, { byteLength }) => length + byteLength, 0));
    let at = 0;
    for (const piece of all) {
      text.set(piece, at);
      at += piece.byteLength;
    }
    return { text, finish };
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
