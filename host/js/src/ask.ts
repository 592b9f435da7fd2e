import type { AskOptions, AskResult, AskStreamOptions, Attempt, CallContext, Message, Prompt } from "./asking.js";
import { Clock } from "./clock.js";
import type { Contract, TypedContract } from "./contract.js";
import { asGate, Gate } from "./gate.js";
import { asHook, type Names, only } from "./options.js";
import type { CompletedItem, DeepPartial } from "./partial.js";
import { kindOf } from "./plain.js";
import { Question } from "./question.js";
import type { Reply, Said } from "./replies.js";
import { SCHEMA_OPTIONS } from "./schemas.js";
import type { StandardSchema } from "./standard.js";
import { pieces, type ReplyStream } from "./streams.js";
import type { Completeness, DeadEnd } from "./types.js";
import { type Asking, asking } from "./watch.js";

export type { Reply } from "./replies.js";

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
  let watched: Asking | undefined;
  try {
    const question = new Question<T, M>(of, prompt, options, beside);
    const observed = asking(question.agent);
    watched = observed;
    for (let attempt = 1; ; attempt += 1) {
      const context = { signal: clock.signal, attempt };
      const reply = await clock.during(() => observed.during(() => callLlm(question.messages(), context)));
      const result = await clock.during(() => observed.during(() => question.take(reply)));
      if (result !== undefined) {
        observed.end({ result });
        return result;
      }
    }
  } catch (error) {
    watched?.end({ error });
    throw error;
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
   * Reads the rest of the stream, and returns the outcome of the question.
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
  let watched: Asking | undefined;
  try {
    const question = new Question<T, M>(of, prompt, options, beside);
    const observed = asking(question.agent);
    watched = observed;
    for (let attempt = 1; ; attempt += 1) {
      let answer = new Streamed();
      const call = new Clock("a call", { signal: clock.signal });
      const context = { signal: call.signal, attempt };
      const reply = await clock.during(() => observed.during(() => callLlm(question.messages(), context)));
      let session = question.session<Input>();
      const stream = pieces(reply);
      let isDone = false;
      let left: DeadEnd | undefined;
      try {
        while (!isDone) {
          const { done = false, value: piece } = await clock.during(() => observed.during(() => stream.next()));
          isDone = done;
          if (piece === undefined) break;
          if (piece.anew) {
            session.close();
            [session, answer] = [question.session<Input>(), new Streamed()];
          }
          answer.take(piece);
          if (piece.text === undefined) continue;
          const current = session;
          const { completeness, items, deadEnd } = current.push(piece.text);
          const event = { type: "progress", attempt, completeness, items, deadEnd } as const;
          yield Object.defineProperty(event, "partial", {
            enumerable: true,
            get: () => current.partial,
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
      const result = await clock.during(() => observed.during(() => question.take(reply, answer.said(), left)));
      yield { type: "attempt", attempt, outcome: question.attempts.at(-1) as Attempt };
      if (result !== undefined) {
        observed.end({ result });
        yield { type: "result", result };
        return;
      }
    }
  } catch (error) {
    watched?.end({ error });
    throw error;
  } finally {
    // Who left the loop wants no result.
    watched?.end({});
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
